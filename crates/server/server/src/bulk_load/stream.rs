//! The rows of INSERT BULK, as the client sends them.

use selenite_compiler::change::Insert;
use selenite_compiler::{Ends, SqlError};
use selenite_tds::{BulkPiece, BulkReader, BulkStep, ParameterFault, TdsError};
use selenite_types::{DataType, Value, Width};

use crate::memory;
use crate::wire::{BulkInput, Inlet};

/// A client's rows.
pub(crate) struct BulkStream {
    inlet: Inlet,
    reader: BulkReader,
    /// Whether the message has ended.
    is_read: bool,
    /// The columns whose declared types are shorter than those that the client sends.
    limits: Vec<(usize, DataType, usize)>,
}

impl BulkStream {
    /// The rows of a message that begins with this piece.
    pub fn new(inlet: Inlet, first: BulkPiece, row_size_max: usize) -> Self {
        let mut reader = BulkReader::new(row_size_max);
        let is_read = first.is_last;
        reader.push(first);
        Self {
            inlet,
            reader,
            is_read,
            limits: Vec::new(),
        }
    }

    /// Whether all of the message has been received.
    pub fn is_read(&self) -> bool {
        self.is_read
    }

    /// Receives the rest of the message, unless it is abandoned.
    pub fn skip_rest(&mut self) {
        while !self.is_read {
            match self.inlet.next_skipped() {
                BulkInput::Piece(piece) => self.is_read = piece.is_last,
                BulkInput::Withdrawn => self.is_read = true,
                BulkInput::Interrupted => return,
            }
        }
    }

    /// Reads the columns.
    ///
    /// # Errors
    /// 4816 for those that are not the statement's; 4002, 4804; what interrupts the request.
    pub fn begin(&mut self, insert: &Insert) -> Result<Vec<DataType>, SqlError> {
        let columns = loop {
            match self.reader.columns().map_err(|error| stream_error(&error))? {
                Some(columns) => break columns,
                None => self.receive()?,
            }
        };
        let fields = insert.bulk().map_or(&[][..], |bulk| bulk.fields.as_slice());
        if columns.len() != fields.len() {
            return Err(column_error(columns.len().min(fields.len()), ParameterFault::Status));
        }
        for (at, (column, field)) in columns.iter().zip(fields).enumerate() {
            let (sent, declared) = (column.data_type, field.data_type);
            if sent.family() != declared.family() {
                return Err(column_error(at, ParameterFault::Status));
            }
            if let Some(Width::Limited(width)) = declared.width()
                && sent.width().is_none_or(|sent| sent != Width::Limited(width))
            {
                self.limits.push((at, declared, width.into()));
            }
        }
        Ok(columns.iter().map(|column| column.data_type).collect())
    }

    /// Reads a row.
    ///
    /// # Errors
    /// 4815 for a value that is longer than declared, 4002, 4804, 9803; what interrupts the request.
    pub fn next_row(&mut self, row: &mut Vec<Value>) -> Result<bool, SqlError> {
        loop {
            match self.reader.row(row).map_err(|error| stream_error(&error))? {
                BulkStep::Row => break,
                BulkStep::More => self.receive()?,
                BulkStep::End if self.is_read => return Ok(false),
                BulkStep::End => self.receive()?,
            }
        }
        for (at, declared, width) in &self.limits {
            let length = match row.get(*at) {
                Some(Value::Text(text)) if text.len() > *width => declared.text_length(text.trim_end_matches(' ')),
                Some(Value::Binary(bytes)) => bytes.len(),
                Some(_) | None => 0,
            };
            if length > *width {
                return Err(column_error(*at, ParameterFault::Length(0)));
            }
        }
        Ok(true)
    }

    fn receive(&mut self) -> Result<(), SqlError> {
        match self.inlet.next_piece() {
            BulkInput::Piece(piece) => {
                memory::reserve(piece.data.len())?;
                self.is_read = piece.is_last;
                self.reader.push(piece);
                Ok(())
            }
            BulkInput::Withdrawn => {
                self.is_read = true;
                let part = selenite_tds::MessagePart::BulkLoad;
                Err(stream_error(&TdsError::Cut { part }))
            }
            BulkInput::Interrupted => Err(SqlError::interrupted()),
        }
    }
}

/// What is wrong with a stream, as an error of the statement.
pub(crate) fn stream_error(error: &TdsError) -> SqlError {
    match error.complaint() {
        Some(complaint) => {
            SqlError::new(complaint.number, Ends::Statement, complaint.text).with_severity(complaint.severity)
        }
        None => SqlError::internal(&error.to_string()),
    }
}

fn column_error(at: usize, fault: ParameterFault) -> SqlError {
    let index = u16::try_from(at + 1).unwrap_or(u16::MAX);
    stream_error(&TdsError::BulkColumn { index, fault })
}
