//! The options of BULK INSERT.

use selenite_compiler::{Ends, SqlError};
use selenite_tsql::ast::{BulkLoad, Expr, ExprKind};
use selenite_types::code_page_char;

use super::text_file::Encoding;

/// The options of BULK INSERT.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct FileOptions {
    /// DATAFILETYPE and CODEPAGE.
    pub encoding: Encoding,
    /// FIELDTERMINATOR.
    pub field_terminator: String,
    /// ROWTERMINATOR.
    pub row_terminator: String,
    /// FIELDQUOTE, if FORMAT is CSV.
    pub quote: Option<char>,
    /// FIRSTROW, from 1.
    pub first_row: u64,
    /// LASTROW; `u64::MAX` for all.
    pub last_row: u64,
    /// MAXERRORS.
    pub error_count_max: usize,
    /// BATCHSIZE; `u64::MAX` for all rows.
    pub batch_size: u64,
}

impl FileOptions {
    /// Reads the options.
    ///
    /// # Errors
    /// 40517 for a value that is not supported, 4868 for a code page, 102-like ones for a value that is none.
    pub fn of(bulk: &BulkLoad) -> Result<Self, SqlError> {
        let is_csv = match bulk.value("FORMAT") {
            None => false,
            Some(format) if format.eq_ignore_ascii_case("CSV") => true,
            Some(format) => return Err(unsupported(&format!("FORMAT = '{format}'"))),
        };
        let quote = match bulk.value("FIELDQUOTE") {
            Some(_) if !is_csv => return Err(unsupported("FIELDQUOTE without FORMAT = 'CSV'")),
            None => '"',
            Some(text) => {
                let mut characters = text.chars();
                match (characters.next(), characters.next()) {
                    (Some(quote), None) => quote,
                    _ => return Err(invalid("FIELDQUOTE")),
                }
            }
        };
        let terminator = |name: &str, otherwise: &str| match bulk.value(name) {
            Some(text) => terminator(text).ok_or_else(|| invalid(name)),
            None => Ok(otherwise.to_owned()),
        };
        let count = |name: &str| match count(bulk, name) {
            Some(Some(0)) | None => Ok(None),
            Some(Some(count)) => Ok(Some(count)),
            Some(None) => Err(invalid(name)),
        };
        let error_count_max = match bulk.is_set("MAXERRORS") {
            true => count("MAXERRORS")?.unwrap_or(0),
            false => ERROR_COUNT_MAX,
        };
        Ok(Self {
            encoding: encoding(bulk)?,
            field_terminator: terminator("FIELDTERMINATOR", if is_csv { "," } else { "\t" })?,
            row_terminator: terminator("ROWTERMINATOR", "\r\n")?,
            quote: is_csv.then_some(quote),
            first_row: count("FIRSTROW")?.unwrap_or(1),
            last_row: count("LASTROW")?.unwrap_or(u64::MAX),
            error_count_max: usize::try_from(error_count_max).unwrap_or(usize::MAX),
            batch_size: count("BATCHSIZE")?.unwrap_or(u64::MAX),
        })
    }
}

fn encoding(bulk: &BulkLoad) -> Result<Encoding, SqlError> {
    match bulk.value("DATAFILETYPE").map(str::to_ascii_lowercase).as_deref() {
        None | Some("char") => {}
        Some("widechar") => return Ok(Encoding::Utf16),
        Some(other) => return Err(unsupported(&format!("DATAFILETYPE = '{other}'"))),
    }
    match bulk.value("CODEPAGE").map(str::to_ascii_uppercase).as_deref() {
        None | Some("ACP" | "RAW" | "1252") => Ok(Encoding::CodePage),
        Some("65001") => Ok(Encoding::Utf8),
        Some("OEM") => Err(unsupported("CODEPAGE = 'OEM'")),
        Some(other) => {
            let text = format!(
                "The bulk load failed. The codepage \"{other}\" is not installed. Install the codepage and run the \
                 command again."
            );
            // 4868: an unknown code page.
            Err(SqlError::new(4868, Ends::Statement, text))
        }
    }
}

/// The number of an option; `None` if it is not given.
fn count(bulk: &BulkLoad, name: &str) -> Option<Option<u64>> {
    let option = bulk.options.iter().find(|option| option.name.is(name))?;
    let is_negative = matches!(
        option.expr(),
        Some(Expr {
            kind: ExprKind::Unary { .. },
            ..
        })
    );
    match is_negative {
        true => Some(None),
        false => Some(bulk.value(name).and_then(|text| text.parse().ok())),
    }
}

/// A terminator: `\t`, `\n`, `\r`, `\\`, `\0`, or bytes as `0x0a`. As in SQL Server, `\n` stands for `\r\n`.
fn terminator(text: &str) -> Option<String> {
    if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"))
        && !digits.is_empty()
    {
        let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
        let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        let characters = pairs
            .iter()
            .map(|[high, low]| Some(code_page_char(digit(*high)? << 4 | digit(*low)?)));
        return characters.collect::<Option<String>>().filter(|_| rest.is_empty());
    }
    let mut terminator = String::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            terminator.push(character);
            continue;
        }
        match characters.next() {
            Some('n') if terminator.ends_with('\r') => terminator.push('\n'),
            Some('n') => terminator.push_str("\r\n"),
            Some('t') => terminator.push('\t'),
            Some('r') => terminator.push('\r'),
            Some('0') => terminator.push('\0'),
            Some('\\') | None => terminator.push('\\'),
            Some(other) => terminator.extend(['\\', other]),
        }
    }
    Some(terminator).filter(|terminator| !terminator.is_empty())
}

/// 40517.
fn unsupported(what: &str) -> SqlError {
    let text = format!(
        "Keyword or statement option 'BULK INSERT WITH {what}' is not supported in this version of SQL Server."
    );
    SqlError::new(40517, Ends::Statement, text)
}

/// 4862-like: a value that an option can't have.
fn invalid(name: &str) -> SqlError {
    let text = format!("Incorrect syntax near '{name}'.");
    SqlError::new(102, Ends::Statement, text).with_severity(15)
}

/// SQL Server's default.
const ERROR_COUNT_MAX: u64 = 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminators_have_escapes() {
        for (text, expected) in [
            (",", ","),
            ("\\t", "\t"),
            ("\\n", "\r\n"),
            ("\\r\\n", "\r\n"),
            ("|\\n", "|\r\n"),
            ("0x0a", "\n"),
            ("0x0D0A", "\r\n"),
            ("0x80", "\u{20AC}"),
            ("\\\\", "\\"),
            ("\\q", "\\q"),
            ("0x", "0x"),
        ] {
            assert_eq!(terminator(text).as_deref(), Some(expected), "{text}");
        }
        for text in ["", "0x0", "0xzz"] {
            assert_eq!(terminator(text), None, "{text}");
        }
    }
}
