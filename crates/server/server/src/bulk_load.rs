//! The rows of bulk loads.
//!
//! - `rows-are-fed-one-by-one`: no source holds more than a row and a piece of its input.

mod allowed_file;
mod file;
mod file_options;
mod stream;
mod text_file;

pub(crate) use allowed_file::{ReadFiles, open_allowed, read_allowed};
pub(crate) use file::FileRows;
pub(crate) use file_options::FileOptions;
use selenite_compiler::SqlError;
use selenite_compiler::change::Insert;
use selenite_types::{DataType, Value};
pub(crate) use stream::{BulkStream, stream_error};

/// The source of a bulk load's rows.
pub(crate) enum BulkFeed {
    /// INSERT BULK: a message of the client's.
    Stream(BulkStream),
    /// BULK INSERT: a file.
    File(FileRows),
}

impl BulkFeed {
    /// Begins to read, and tells the types of the values.
    ///
    /// # Errors
    /// What is wrong with the rows' columns, or interrupts the request.
    pub fn begin(&mut self, insert: &Insert) -> Result<Vec<DataType>, SqlError> {
        match self {
            Self::Stream(stream) => stream.begin(insert),
            Self::File(rows) => Ok(rows.begin(insert)),
        }
    }

    /// Fills an empty row; false at the end.
    ///
    /// # Errors
    /// What is wrong with the row, or interrupts the request.
    pub fn next_row(&mut self, row: &mut Vec<Value>) -> Result<bool, SqlError> {
        match self {
            Self::Stream(stream) => stream.next_row(row),
            Self::File(rows) => rows.next_row(row),
        }
    }
}
