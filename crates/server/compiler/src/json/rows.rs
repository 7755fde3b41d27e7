//! Rows of a table-valued function, as a JSON array that SQLite's `json_each` reads.

use std::fmt::Write;

use selenite_types::storage::{Stored, to_stored};
use selenite_types::{DataType, Value};

use crate::SqlError;

/// Writes rows as arrays of storage forms: bytes are hexadecimal digits.
pub(crate) struct RowWriter {
    text: String,
    is_row_empty: bool,
}

impl RowWriter {
    /// No rows.
    pub fn new() -> Self {
        Self {
            text: String::from("["),
            is_row_empty: true,
        }
    }

    /// Begins a row.
    pub fn begin(&mut self) {
        self.text.push_str(if self.text.len() == 1 { "[" } else { ",[" });
        self.is_row_empty = true;
    }

    /// Adds a value to the row.
    ///
    /// Errors: 8624 for a value that is not of its type.
    pub fn cell(&mut self, value: &Value, of: &DataType) -> Result<(), SqlError> {
        if !std::mem::replace(&mut self.is_row_empty, false) {
            self.text.push(',');
        }
        let stored = to_stored(value, of).map_err(|misfit| SqlError::internal(&misfit.to_string()))?;
        // Writing to a String can't fail.
        let _ = match &stored {
            Stored::Null => write!(self.text, "null"),
            Stored::Integer(number) => write!(self.text, "{number}"),
            Stored::Real(number) => write!(self.text, "{number:?}"),
            Stored::Text(text) => {
                self.quoted(text);
                Ok(())
            }
            Stored::Blob(bytes) => {
                self.text.push('"');
                for byte in bytes.iter() {
                    let _ = write!(self.text, "{byte:02x}");
                }
                self.text.push('"');
                Ok(())
            }
        };
        Ok(())
    }

    /// Ends a row.
    pub fn end(&mut self) {
        self.text.push(']');
    }

    /// The size of the text so far.
    pub fn size(&self) -> usize {
        self.text.len()
    }

    /// All rows.
    pub fn finish(mut self) -> String {
        self.text.push(']');
        self.text
    }

    fn quoted(&mut self, text: &str) {
        self.text.push('"');
        for character in text.chars() {
            match character {
                '"' => self.text.push_str("\\\""),
                '\\' => self.text.push_str("\\\\"),
                control if u32::from(control) < 0x20 => {
                    let _ = write!(self.text, "\\u{:04x}", u32::from(control));
                }
                other => self.text.push(other),
            }
        }
        self.text.push('"');
    }
}
