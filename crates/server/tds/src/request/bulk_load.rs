//! BulkLoadBCP (MS-TDS 2.2.6.1): the rows for INSERT BULK.
//!
//! - `one-row-is-held`: rows are parsed as their packets arrive. The reader holds the bytes of at most one value and one
//!   packet, and the values of one row, within a limit that the caller gives.
//! - `parsed-once`: a value is parsed when all of its bytes have arrived; chunks that were counted are not counted again.

use selenite_types::Value;

use crate::byte_reader::ByteReader;
use crate::token::{COLUMN_METADATA, DONE, NULL_BITMAP_ROW, ROW};
use crate::value::{ValueError, WireType, chunks};
use crate::{BulkPiece, MessagePart, TdsError, TypeInfo, type_byte};

/// Parses a bulk load, which is pushed in pieces.
pub struct BulkReader {
    bytes: Vec<u8>,
    /// The parsed bytes of `bytes`.
    at: usize,
    is_complete: bool,
    columns: Vec<WireType>,
    state: State,
    row: Vec<Value>,
    /// The bytes of the current row.
    row_size: usize,
    row_size_max: usize,
}

/// What was found in a bulk load.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BulkStep {
    /// A row.
    Row,
    /// The next piece is needed.
    More,
    /// There are no more rows.
    End,
}

enum State {
    Metadata,
    /// Before a token.
    Token,
    /// In a row.
    Row {
        /// NBCROW's bitmap; empty for ROW.
        nulls: Vec<u8>,
        /// The counted bytes of the current value, if it is in chunks.
        counted: usize,
    },
    End,
}

impl BulkReader {
    /// A reader of rows with at most so many bytes.
    #[must_use]
    pub fn new(row_size_max: usize) -> Self {
        Self {
            bytes: Vec::new(),
            at: 0,
            is_complete: false,
            columns: Vec::new(),
            state: State::Metadata,
            row: Vec::new(),
            row_size: 0,
            row_size_max,
        }
    }

    /// Adds a piece.
    pub fn push(&mut self, piece: BulkPiece) {
        self.is_complete = piece.is_last;
        if self.at == self.bytes.len() {
            self.bytes = piece.data;
        } else {
            self.bytes.drain(..self.at);
            self.bytes.extend_from_slice(&piece.data);
        }
        self.at = 0;
    }

    /// The types of the columns; `None` if the next piece is needed.
    ///
    /// Errors: `Cut`, `Malformed`, `TooLarge`, `BulkColumn`.
    pub fn columns(&mut self) -> Result<Option<Vec<TypeInfo>>, TdsError> {
        if matches!(self.state, State::Metadata) {
            let mut reader = ByteReader::new(&self.bytes, PART);
            match metadata(&mut reader) {
                Ok(columns) => {
                    self.at = self.bytes.len() - reader.rest().len();
                    self.columns = columns;
                    self.state = State::Token;
                }
                Err(TdsError::Cut { .. }) if !self.is_complete => {
                    return match self.bytes.len() > METADATA_SIZE_MAX {
                        true => Err(reader.malformed("the columns")),
                        false => Ok(None),
                    };
                }
                Err(error) => return Err(error),
            }
        }
        Ok(Some(self.columns.iter().map(|column| column.info).collect()))
    }

    /// Parses the next row into `row`, which is empty. After [`BulkReader::columns`].
    ///
    /// Errors: `Cut`, `Malformed`, `TooLarge`, `BulkColumn`.
    pub fn row(&mut self, row: &mut Vec<Value>) -> Result<BulkStep, TdsError> {
        loop {
            match &self.state {
                State::Metadata => return Ok(BulkStep::More),
                State::End => return Ok(BulkStep::End),
                State::Row { .. } => {
                    if !self.values()? {
                        return self.more();
                    }
                    self.state = State::Token;
                    std::mem::swap(row, &mut self.row);
                    return Ok(BulkStep::Row);
                }
                State::Token => match self.bytes.get(self.at) {
                    // FreeTDS sends no DONE.
                    None if self.is_complete => self.state = State::End,
                    None => return Ok(BulkStep::More),
                    Some(token) => {
                        if !self.token(*token)? {
                            return self.more();
                        }
                    }
                },
            }
        }
    }

    /// Begins a row, or ends the rows. False if more bytes are needed.
    fn token(&mut self, token: u8) -> Result<bool, TdsError> {
        let mut reader = ByteReader::new(self.bytes.get(self.at + 1..).unwrap_or_default(), PART);
        let nulls = match token {
            ROW => Vec::new(),
            NULL_BITMAP_ROW => match reader.take(self.columns.len().div_ceil(8)) {
                Ok(nulls) => nulls.to_vec(),
                Err(_) => return Ok(false),
            },
            DONE => {
                // Status, command and count, which say nothing here.
                if reader.take(DONE_SIZE).is_err() {
                    return Ok(false);
                }
                if !reader.is_empty() {
                    return Err(reader.malformed("what follows DONE"));
                }
                self.at = self.bytes.len();
                self.state = State::End;
                return Ok(true);
            }
            _ => return Err(reader.malformed("a token")),
        };
        self.at += 1 + nulls.len();
        self.row_size = 0;
        self.row.clear();
        self.state = State::Row { nulls, counted: 0 };
        Ok(true)
    }

    /// Parses the rest of the row's values. False if more bytes are needed.
    fn values(&mut self) -> Result<bool, TdsError> {
        let State::Row { nulls, counted } = &mut self.state else {
            return Ok(true);
        };
        while let Some(column) = self.columns.get(self.row.len()) {
            let index = self.row.len();
            if nulls.get(index / 8).is_some_and(|byte| byte >> (index % 8) & 1 == 1) {
                self.row.push(Value::Null);
                continue;
            }
            let bytes = self.bytes.get(self.at..).unwrap_or_default();
            let size = size_of_value(column, bytes, counted);
            if self.row_size + size.unwrap_or(bytes.len()) > self.row_size_max {
                let limit = u64::try_from(self.row_size_max).unwrap_or(u64::MAX);
                return Err(TdsError::TooLarge { part: PART, limit });
            }
            let Some(bytes) = size.and_then(|size| bytes.get(..size)) else {
                return Ok(false);
            };
            let value = parse(column, &mut ByteReader::new(bytes, PART));
            let number = u16::try_from(index + 1).unwrap_or(u16::MAX);
            self.row.push(value.map_err(|error| column_error(number, error))?);
            self.at += bytes.len();
            self.row_size += bytes.len();
            *counted = 0;
        }
        Ok(true)
    }

    fn more(&self) -> Result<BulkStep, TdsError> {
        match self.is_complete {
            true => Err(TdsError::Cut { part: PART }),
            false => Ok(BulkStep::More),
        }
    }
}

/// COLMETADATA (MS-TDS 2.2.7.4) as clients send it: text, ntext and image have the name of a table in one part.
fn metadata(reader: &mut ByteReader<'_>) -> Result<Vec<WireType>, TdsError> {
    if reader.u8()? != COLUMN_METADATA {
        return Err(reader.malformed("the columns"));
    }
    let count = reader.u16()?;
    if !(1..=COLUMN_COUNT_MAX).contains(&count) {
        return Err(reader.malformed("how many columns"));
    }
    let mut columns = Vec::with_capacity(count.into());
    for index in 1..=count {
        let _user_type = reader.u32()?;
        let _flags = reader.u16()?;
        let column = WireType::parse(reader).map_err(|error| column_error(index, error))?;
        if is_legacy(&column) {
            let size = reader.u16()?;
            reader.take(usize::from(size) * 2)?;
        }
        let size = reader.u8()?;
        reader.take(usize::from(size) * 2)?;
        columns.push(column);
    }
    Ok(columns)
}

/// The size of a value with its length; `None` if more bytes are needed to know it. `counted` are the bytes of complete
/// chunks.
fn size_of_value(column: &WireType, bytes: &[u8], counted: &mut usize) -> Option<usize> {
    let long = |at: usize| {
        let size = u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?);
        usize::try_from(size).ok()
    };
    if column.is_fixed() {
        return Some(column.size.into());
    }
    if column.is_in_chunks() {
        if *counted == 0 {
            if u64::from_le_bytes(*bytes.first_chunk()?) == chunks::NULL {
                return Some(8);
            }
            *counted = 8;
        }
        loop {
            let size = long(*counted)?;
            let end = counted.checked_add(4)?.checked_add(size)?;
            if size == 0 {
                return Some(end);
            }
            if end > bytes.len() {
                return None;
            }
            *counted = end;
        }
    }
    if is_legacy(column) {
        return match usize::from(*bytes.first()?) {
            0 => Some(1),
            pointer => {
                let at = 1 + pointer + TIMESTAMP_SIZE;
                match long(at)? {
                    NO_TEXT => Some(at + 4),
                    size => (at + 4).checked_add(size),
                }
            }
        };
    }
    if column.byte == type_byte::VARIANT {
        return long(0)?.checked_add(4);
    }
    if column.has_short_size() {
        return match u16::from_le_bytes(*bytes.first_chunk()?) {
            u16::MAX => Some(2),
            size => Some(2 + usize::from(size)),
        };
    }
    Some(1 + usize::from(*bytes.first()?))
}

fn parse(column: &WireType, reader: &mut ByteReader<'_>) -> Result<Value, ValueError> {
    if is_legacy(column) {
        // TextPointer and Timestamp (MS-TDS 2.2.7.19).
        let pointer = reader.short_bytes()?;
        if pointer.is_empty() {
            return Ok(Value::Null);
        }
        reader.take(TIMESTAMP_SIZE)?;
    }
    column.parse_value(reader)
}

fn is_legacy(column: &WireType) -> bool {
    matches!(column.byte, type_byte::TEXT | type_byte::NTEXT | type_byte::IMAGE)
}

fn column_error(index: u16, error: ValueError) -> TdsError {
    match error {
        ValueError::Stream(error) => error,
        ValueError::Value(fault) => TdsError::BulkColumn { index, fault },
    }
}

const PART: MessagePart = MessagePart::BulkLoad;
/// SQL Server's maximum of a table.
const COLUMN_COUNT_MAX: u16 = 1024;
/// 1 MiB: 1024 columns have at most some 300 KiB without names of tables, and 600 with the longest of them.
const METADATA_SIZE_MAX: usize = 1 << 20;
/// MS-TDS 2.2.7.6: status, command, count.
const DONE_SIZE: usize = 12;
const TIMESTAMP_SIZE: usize = 8;
/// The length of NULL.
const NO_TEXT: usize = 0xFFFF_FFFF;

#[cfg(test)]
mod tests;
