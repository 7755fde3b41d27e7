//! Texts in any of SQLite's encodings, for insertion into a database with the same encoding.
//!
//! - byte-for-byte: a text is inserted byte for byte, valid or not. SQLite stores UTF-8 unchanged.
//!   It would decode and encode UTF-16, so such a text is bound as a blob and cast to text: "the
//!   bytes are interpreted as text in the database's encoding" (sqlite.org/lang_expr.html, CAST).

use rusqlite::Statement;
use rusqlite::types::{ToSqlOutput, ValueRef};

/// The encoding of a database's texts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Encoding {
    /// As UTF-8.
    Utf8,
    /// As UTF-16, the lower byte first.
    Utf16Le,
    /// As UTF-16, the higher byte first.
    Utf16Be,
    /// Unknown, as page 1 is lost: bytes that are not UTF-8, or have a zero, remain a blob.
    Unknown,
}

impl Encoding {
    /// The name that PRAGMA encoding uses.
    pub fn name(self) -> &'static str {
        match self {
            Self::Utf8 | Self::Unknown => "UTF-8",
            Self::Utf16Le => "UTF-16le",
            Self::Utf16Be => "UTF-16be",
        }
    }

    /// Decodes a text; `None` if it is not valid.
    pub fn decode(self, bytes: &[u8]) -> Option<String> {
        let (pairs, rest) = bytes.as_chunks::<2>();
        let units: Vec<u16> = match self {
            Self::Utf8 | Self::Unknown => return String::from_utf8(bytes.to_vec()).ok(),
            Self::Utf16Le => pairs.iter().map(|pair| u16::from_le_bytes(*pair)).collect(),
            Self::Utf16Be => pairs.iter().map(|pair| u16::from_be_bytes(*pair)).collect(),
        };
        rest.is_empty().then(|| String::from_utf16(&units).ok()).flatten()
    }

    /// The SQL expression for the value of this index, from 0.
    pub fn placeholder(self, index: usize) -> String {
        match self {
            Self::Utf8 | Self::Unknown => format!("?{}", index + 1),
            Self::Utf16Le | Self::Utf16Be => {
                let (flag, value) = (2 * index + 1, 2 * index + 2);
                format!("CASE ?{flag} WHEN 1 THEN CAST(?{value} AS TEXT) ELSE ?{value} END")
            }
        }
    }

    /// Binds the value of this index.
    ///
    /// # Errors
    /// The errors of rusqlite.
    pub fn bind(self, statement: &mut Statement<'_>, index: usize, value: ValueRef<'_>) -> Result<(), rusqlite::Error> {
        let is_wide = matches!(self, Self::Utf16Le | Self::Utf16Be);
        let value = match value {
            ValueRef::Text(bytes) if is_wide => {
                statement.raw_bind_parameter(2 * index + 1, 1)?;
                ValueRef::Blob(bytes)
            }
            ValueRef::Text(bytes) if self == Self::Unknown && !is_plain_text(bytes) => ValueRef::Blob(bytes),
            ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) | ValueRef::Text(_) | ValueRef::Blob(_) => {
                if is_wide {
                    statement.raw_bind_parameter(2 * index + 1, 0)?;
                }
                value
            }
        };
        let at = if is_wide { 2 * index + 2 } else { index + 1 };
        statement.raw_bind_parameter(at, ToSqlOutput::Borrowed(value))
    }

    /// Binds a text of this program.
    ///
    /// # Errors
    /// The errors of rusqlite.
    pub fn bind_str(self, statement: &mut Statement<'_>, index: usize, text: &str) -> Result<(), rusqlite::Error> {
        match self {
            Self::Utf8 | Self::Unknown => statement.raw_bind_parameter(index + 1, text),
            // Not cast: SQLite encodes it.
            Self::Utf16Le | Self::Utf16Be => {
                statement.raw_bind_parameter(2 * index + 1, 0)?;
                statement.raw_bind_parameter(2 * index + 2, text)
            }
        }
    }
}

fn is_plain_text(bytes: &[u8]) -> bool {
    !bytes.contains(&0) && std::str::from_utf8(bytes).is_ok()
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;

    /// Checks `byte-for-byte`.
    #[test]
    fn every_text_arrives_byte_for_byte() {
        let texts: [&[u8]; 7] = [
            b"",
            b"plain",
            "\u{20ac}\u{1f600}".as_bytes(),
            b"zero\0within",
            // Invalid in every encoding; and code units that SQLite replaces when it encodes
            // UTF-16 again.
            &[0xff, 0xfe, 0x00, 0xd8, 0x00, 0xd8],
            &[0xff, 0xff, 0xfe, 0xff],
            &[0xff, 0xfe],
        ];
        for encoding in [Encoding::Utf8, Encoding::Utf16Le, Encoding::Utf16Be] {
            let connection = Connection::open_in_memory().unwrap();
            let pragma = format!("PRAGMA encoding = '{}'; CREATE TABLE t (a)", encoding.name());
            connection.execute_batch(&pragma).unwrap();
            let sql = format!("INSERT INTO t VALUES ({})", encoding.placeholder(0));
            for text in texts
                .into_iter()
                .filter(|text| encoding == Encoding::Utf8 || text.len() % 2 == 0)
            {
                let mut statement = connection.prepare(&sql).unwrap();
                encoding.bind(&mut statement, 0, ValueRef::Text(text)).unwrap();
                statement.raw_execute().unwrap();
                let back: (String, Vec<u8>) = connection
                    .query_row(
                        "SELECT typeof(a), CAST(a AS BLOB) FROM t ORDER BY rowid DESC LIMIT 1",
                        [],
                        |row| Ok((row.get(0)?, row.get(1)?)),
                    )
                    .unwrap();
                assert_eq!(back, ("text".to_owned(), text.to_vec()), "{encoding:?}");
            }
        }
    }

    #[test]
    fn invalid_text_of_unknown_encoding_remains_a_blob() {
        let connection = Connection::open_in_memory().unwrap();
        for (bytes, kind) in [(&b"abc"[..], "text"), (b"a\0b\0", "blob"), (&[0xff], "blob")] {
            let mut statement = connection.prepare("SELECT typeof(?1)").unwrap();
            Encoding::Unknown
                .bind(&mut statement, 0, ValueRef::Text(bytes))
                .unwrap();
            let mut rows = statement.raw_query();
            let found: String = rows.next().unwrap().unwrap().get(0).unwrap();
            assert_eq!(found, kind);
        }
    }
}
