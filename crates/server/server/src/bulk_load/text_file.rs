//! A text file, read in pieces and decoded.

use std::fs::File;
use std::io::{self, Read};

use selenite_compiler::{Ends, SqlError};
use selenite_types::code_page_char;

use crate::memory;

/// How a file is encoded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Encoding {
    /// Code page 1252.
    CodePage,
    /// UTF-8.
    Utf8,
    /// UTF-16, little-endian.
    Utf16,
}

/// A text file that is being read.
pub(crate) struct TextFile<R = File> {
    file: R,
    encoding: Encoding,
    /// Bytes that are not decoded: part of a character.
    raw: Vec<u8>,
    text: String,
    /// The taken bytes of `text`.
    at: usize,
    is_ended: bool,
    is_begun: bool,
}

/// The end of a field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FieldEnd {
    /// Its terminator.
    Terminator,
    /// The end of the file.
    File,
}

impl<R: Read> TextFile<R> {
    pub fn new(file: R, encoding: Encoding) -> Self {
        Self {
            file,
            encoding,
            raw: Vec::new(),
            text: String::new(),
            at: 0,
            is_ended: false,
            is_begun: false,
        }
    }

    /// Whether nothing is left.
    ///
    /// # Errors
    /// As [`TextFile::take_until`].
    pub fn is_at_end(&mut self) -> Result<bool, FileFault> {
        while self.at == self.text.len() && !self.is_ended {
            self.fill()?;
        }
        Ok(self.at == self.text.len())
    }

    /// Whether this text is next; if so it is taken.
    ///
    /// # Errors
    /// As [`TextFile::take_until`].
    pub fn take_if(&mut self, next: &str) -> Result<bool, FileFault> {
        while self.text.len() - self.at < next.len() && !self.is_ended {
            self.fill()?;
        }
        let is_next = self.rest().starts_with(next);
        if is_next {
            self.at += next.len();
        }
        Ok(is_next)
    }

    /// Appends to `field` what is before the terminator, and takes both. At the end of the file it takes the rest.
    ///
    /// # Errors
    /// Of the file; a field of more than `size_max` bytes; what is not text.
    pub fn take_until(&mut self, terminator: &str, field: &mut String, size_max: usize) -> Result<FieldEnd, FileFault> {
        let mut searched = 0;
        loop {
            let rest = self.rest();
            if let Some(found) = rest.get(searched..).and_then(|rest| rest.find(terminator)) {
                let size = searched + found;
                field.push_str(rest.get(..size).unwrap_or_default());
                self.at += size + terminator.len();
                return match field.len() > size_max {
                    true => Err(FileFault::TooLong),
                    false => Ok(FieldEnd::Terminator),
                };
            }
            if field.len() + rest.len() > size_max {
                return Err(FileFault::TooLong);
            }
            if self.is_ended {
                field.push_str(rest);
                self.at = self.text.len();
                return Ok(FieldEnd::File);
            }
            // The terminator may begin in what was searched.
            searched = rest.len().saturating_sub(terminator.len());
            while !rest.is_char_boundary(searched) {
                searched -= 1;
            }
            self.fill()?;
        }
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn fill(&mut self) -> Result<(), FileFault> {
        memory::reserve(PIECE_SIZE * 2)?;
        self.text.drain(..self.at);
        self.at = 0;
        let mut piece = vec![0; PIECE_SIZE];
        let size = loop {
            match self.file.read(&mut piece) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read.map_err(FileFault::Io)?,
            }
        };
        self.is_ended = size == 0;
        self.raw.extend_from_slice(piece.get(..size).unwrap_or_default());
        self.decode()?;
        if !self.is_begun && !self.text.is_empty() {
            self.is_begun = true;
            if self.encoding != Encoding::CodePage && self.text.starts_with(BYTE_ORDER_MARK) {
                self.text.drain(..BYTE_ORDER_MARK.len_utf8());
            }
        }
        Ok(())
    }

    /// Decodes all whole characters. At the end of the file there must be no others.
    fn decode(&mut self) -> Result<(), FileFault> {
        let decoded = match self.encoding {
            Encoding::CodePage => {
                self.text.extend(self.raw.iter().map(|byte| code_page_char(*byte)));
                self.raw.len()
            }
            Encoding::Utf8 => match std::str::from_utf8(&self.raw) {
                Ok(text) => {
                    self.text.push_str(text);
                    text.len()
                }
                Err(error) if error.error_len().is_none() => {
                    let valid = self.raw.get(..error.valid_up_to()).unwrap_or_default();
                    self.text.push_str(std::str::from_utf8(valid).unwrap_or_default());
                    valid.len()
                }
                Err(_) => return Err(FileFault::Encoding),
            },
            Encoding::Utf16 => {
                let (pairs, _) = self.raw.as_chunks::<2>();
                let units: Vec<u16> = pairs.iter().map(|pair| u16::from_le_bytes(*pair)).collect();
                let is_half = units.last().is_some_and(|last| (0xD800..0xDC00).contains(last));
                let count = units.len() - usize::from(is_half);
                let text = String::from_utf16(units.get(..count).unwrap_or_default());
                self.text.push_str(&text.map_err(|_| FileFault::Encoding)?);
                count * 2
            }
        };
        self.raw.drain(..decoded);
        match self.is_ended && !self.raw.is_empty() {
            true => Err(FileFault::Encoding),
            false => Ok(()),
        }
    }
}

/// What is wrong with a file.
#[derive(Debug)]
pub(crate) enum FileFault {
    /// It can't be read.
    Io(io::Error),
    /// It is not text of its encoding.
    Encoding,
    /// A field is too long.
    TooLong,
    /// Memory.
    Memory(SqlError),
}

impl FileFault {
    /// The error of a row and column of the file.
    pub fn at(self, row: u64, column: usize) -> SqlError {
        match self {
            Self::Memory(error) => error,
            Self::Io(error) => {
                let code = error.raw_os_error().unwrap_or_default();
                let text =
                    format!("Cannot bulk load because the file could not be read. Operating system error code {code}.");
                // 4861: a data file that can't be read.
                SqlError::new(4861, Ends::Statement, text)
            }
            Self::Encoding => {
                let text = format!(
                    "Bulk load data conversion error (type mismatch or invalid character for the specified codepage) for \
                     row {row}, column {column}."
                );
                // 4864: a field of a data file that is no value of its column's type.
                SqlError::new(4864, Ends::Statement, text)
            }
            Self::TooLong => {
                let text = format!(
                    "The bulk load failed. The column is too long in the data file for row {row}, column {column}. Verify \
                     that the field terminator and row terminator are specified correctly."
                );
                // 4866: a field of a data file that is too long.
                SqlError::new(4866, Ends::Statement, text)
            }
        }
    }
}

impl From<SqlError> for FileFault {
    fn from(error: SqlError) -> Self {
        Self::Memory(error)
    }
}

const BYTE_ORDER_MARK: char = '\u{FEFF}';
/// 64 KiB: a read of the disk.
const PIECE_SIZE: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives one byte at a time.
    struct Slow<'a>(&'a [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
            let size = self.0.len().min(1);
            room[..size].copy_from_slice(&self.0[..size]);
            self.0 = &self.0[size..];
            Ok(size)
        }
    }

    fn fields(bytes: &[u8], encoding: Encoding, terminator: &str) -> Vec<String> {
        let mut file = TextFile::new(Slow(bytes), encoding);
        let mut all = Vec::new();
        while !file.is_at_end().unwrap() {
            let mut field = String::new();
            file.take_until(terminator, &mut field, 100).unwrap();
            all.push(field);
        }
        all
    }

    #[test]
    fn text_is_decoded_however_it_is_read() {
        let text = "a\u{E9}||\u{20AC}|b||";
        let utf16: Vec<u8> = format!("\u{FEFF}{text}\u{1F600}")
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        assert_eq!(
            fields(&utf16, Encoding::Utf16, "||"),
            ["a\u{E9}", "\u{20AC}|b", "\u{1F600}"]
        );
        let utf8 = format!("\u{FEFF}{text}\u{1F600}");
        assert_eq!(
            fields(utf8.as_bytes(), Encoding::Utf8, "||"),
            ["a\u{E9}", "\u{20AC}|b", "\u{1F600}"]
        );
        assert_eq!(
            fields(b"a\xE9||\x80|b||", Encoding::CodePage, "||"),
            ["a\u{E9}", "\u{20AC}|b"]
        );
    }

    #[test]
    fn what_is_not_text_and_what_is_too_long_is_an_error() {
        for (bytes, encoding) in [
            (&b"a\xFFb"[..], Encoding::Utf8),
            (b"a\xC3", Encoding::Utf8),
            (b"a\0b", Encoding::Utf16),
            (b"\x00\xD8", Encoding::Utf16),
        ] {
            let mut file = TextFile::new(Slow(bytes), encoding);
            let taken = file.take_until("|", &mut String::new(), 100);
            assert!(matches!(taken, Err(FileFault::Encoding)), "{bytes:?}");
        }
        let mut file = TextFile::new(Slow(b"0123456789|"), Encoding::Utf8);
        let taken = file.take_until("|", &mut String::new(), 5);
        assert!(matches!(taken, Err(FileFault::TooLong)));
    }
}
