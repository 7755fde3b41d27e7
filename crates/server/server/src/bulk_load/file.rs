//! The rows of BULK INSERT, from a file.
//!
//! - `fields-end-at-terminators`: as in SQL Server, a field ends at its terminator and nowhere else: the last of a row at
//!   the row's, all others at the field's. With FORMAT = 'CSV' both end a field, and quotes hide both (RFC 4180).

use std::fs::File;

use selenite_compiler::change::Insert;
use selenite_compiler::{Ends, SqlError};
use selenite_types::{ConversionFault, DataType, DateFormat, Family, Value, Width, convert};

use super::file_options::FileOptions;
use super::text_file::{FieldEnd, FileFault, TextFile};
use crate::memory;

/// The rows of a file.
pub(crate) struct FileRows {
    file: TextFile<File>,
    options: FileOptions,
    fields: Vec<Field>,
    date_format: DateFormat,
    field_size_max: usize,
    /// The number of the row that was read last.
    row_number: u64,
    /// The rows that the present batch may still take.
    batch_left: u64,
    is_ended: bool,
    /// The errors of rows that were left out.
    errors: Vec<SqlError>,
}

/// A field of a row.
struct Field {
    name: String,
    data_type: DataType,
    /// Whether an empty field has neither NULL nor a default.
    is_required: bool,
    is_stored: bool,
}

/// Why a row can't be used.
enum RowFault {
    /// It is left out, and counts against MAXERRORS.
    Row(SqlError),
    /// The load ends.
    Load(SqlError),
}

impl FileRows {
    pub fn new(file: File, options: FileOptions, date_format: DateFormat, field_size_max: usize) -> Self {
        Self {
            file: TextFile::new(file, options.encoding),
            fields: Vec::new(),
            date_format,
            field_size_max,
            row_number: 0,
            batch_left: 0,
            is_ended: false,
            errors: Vec::new(),
            options,
        }
    }

    /// Whether no batch follows.
    pub fn is_ended(&self) -> bool {
        self.is_ended
    }

    /// The errors of rows that were left out.
    pub fn take_errors(&mut self) -> Vec<SqlError> {
        std::mem::take(&mut self.errors)
    }

    /// Begins a batch.
    pub fn begin(&mut self, insert: &Insert) -> Vec<DataType> {
        self.batch_left = self.options.batch_size;
        let Some(bulk) = insert.bulk() else { return Vec::new() };
        let table = insert.table();
        let fields = bulk.fields.iter().filter_map(|field| {
            let column = table.columns.get(field.column)?;
            let has_default = column.default.is_some() && !bulk.keeps_nulls;
            Some(Field {
                name: column.name.clone(),
                data_type: field.data_type,
                is_required: !column.nullable && !has_default,
                is_stored: field.is_stored,
            })
        });
        self.fields = fields.collect();
        let stored = self.fields.iter().filter(|field| field.is_stored);
        stored.map(|field| field.data_type).collect()
    }

    /// Reads the next row that has no error.
    ///
    /// # Errors
    /// 4832, 4866, 4869; 4865 after more than MAXERRORS of 4863, 4864 and 4867.
    pub fn next_row(&mut self, row: &mut Vec<Value>) -> Result<bool, SqlError> {
        loop {
            if self.batch_left == 0 {
                self.is_ended = self.at_end()?;
                return Ok(false);
            }
            if self.at_end()? {
                self.is_ended = true;
                return Ok(false);
            }
            self.row_number += 1;
            let fields = self.read_fields()?;
            if self.row_number < self.options.first_row {
                continue;
            }
            match self.values(&fields, row) {
                Ok(()) => {
                    self.batch_left -= 1;
                    return Ok(true);
                }
                Err(RowFault::Load(error)) => return Err(error),
                Err(RowFault::Row(error)) => {
                    row.clear();
                    memory::reserve(0)?;
                    self.errors.push(error);
                    if self.errors.len() > self.options.error_count_max {
                        return Err(too_many_errors(self.options.error_count_max));
                    }
                }
            }
        }
    }

    fn at_end(&mut self) -> Result<bool, SqlError> {
        if self.row_number >= self.options.last_row {
            return Ok(true);
        }
        let row = self.row_number + 1;
        self.file.is_at_end().map_err(|fault| fault.at(row, 1))
    }

    /// The texts of a row's fields; `None` for an empty one.
    fn read_fields(&mut self) -> Result<Vec<Option<String>>, SqlError> {
        let (row, count) = (self.row_number, self.fields.len());
        let mut fields = Vec::with_capacity(count);
        for at in 0..count {
            let is_last = at + 1 == count;
            let read = match self.options.quote {
                Some(quote) => self.quoted_field(quote, is_last),
                None => self.plain_field(is_last),
            };
            fields.push(read.map_err(|fault| match fault {
                FieldFault::File(fault) => fault.at(row, at + 1),
                FieldFault::End => unexpected_end(),
                FieldFault::Shape => {
                    let text = format!(
                        "Bulk load data conversion error (type mismatch or invalid character for the specified \
                         codepage) for row {row}, column {}.",
                        at + 1
                    );
                    // 4864: a field of a data file that is no value of its column's type.
                    SqlError::new(4864, Ends::Statement, text)
                }
            })?);
        }
        Ok(fields)
    }

    fn plain_field(&mut self, is_last: bool) -> Result<Option<String>, FieldFault> {
        let mut field = String::new();
        let terminator = match is_last {
            true => &self.options.row_terminator,
            false => &self.options.field_terminator,
        };
        let end = self.file.take_until(terminator, &mut field, self.field_size_max)?;
        match end {
            FieldEnd::File if !is_last => Err(FieldFault::End),
            // A NUL stands for an empty text.
            FieldEnd::File | FieldEnd::Terminator if field == "\0" => Ok(Some(String::new())),
            FieldEnd::File | FieldEnd::Terminator => Ok(Some(field).filter(|field| !field.is_empty())),
        }
    }

    /// A field of FORMAT = 'CSV': quotes are doubled within quotes.
    fn quoted_field(&mut self, quote: char, is_last: bool) -> Result<Option<String>, FieldFault> {
        let mut buffer = [0; 4];
        let quote = &*quote.encode_utf8(&mut buffer);
        if !self.file.take_if(quote)? {
            let field = self.plain_field(is_last)?;
            // Both terminators end a field.
            let other = match is_last {
                true => &self.options.field_terminator,
                false => &self.options.row_terminator,
            };
            return match field.as_ref().is_some_and(|field| field.contains(other.as_str())) {
                true => Err(FieldFault::Shape),
                false => Ok(field),
            };
        }
        let mut field = String::new();
        loop {
            if self.file.take_until(quote, &mut field, self.field_size_max)? == FieldEnd::File {
                return Err(FieldFault::End);
            }
            if !self.file.take_if(quote)? {
                break;
            }
            field.push_str(quote);
        }
        let terminator = match is_last {
            true => &self.options.row_terminator,
            false => &self.options.field_terminator,
        };
        match self.file.take_if(terminator)? || is_last && self.file.is_at_end()? {
            true => Ok(Some(field)),
            false => Err(FieldFault::Shape),
        }
    }

    /// The values of the fields that are stored.
    fn values(&self, texts: &[Option<String>], row: &mut Vec<Value>) -> Result<(), RowFault> {
        for (at, (field, text)) in self.fields.iter().zip(texts).enumerate() {
            if !field.is_stored {
                continue;
            }
            let Some(text) = text else {
                if field.is_required {
                    return Err(RowFault::Load(self.null_in(at, field)));
                }
                row.push(Value::Null);
                continue;
            };
            row.push(self.value(at, field, text).map_err(RowFault::Row)?);
        }
        Ok(())
    }

    fn value(&self, at: usize, field: &Field, text: &str) -> Result<Value, SqlError> {
        let to = &field.data_type;
        if let (Family::Text, Some(Width::Limited(width))) = (to.family(), to.width())
            && to.text_length(text.trim_end_matches(' ')) > width.into()
        {
            return Err(self.conversion_error(4863, "truncation", at, field));
        }
        let mismatch = "type mismatch or invalid character for the specified codepage";
        if to.family() == Family::Binary {
            let bytes = bytes_of(text).ok_or_else(|| self.conversion_error(4864, mismatch, at, field))?;
            let from = DataType::VarBinary(Width::Max);
            let is_long = matches!(to.width(), Some(Width::Limited(width)) if bytes.len() > width.into());
            return match convert(&Value::Binary(bytes.into()), &from, to, None, self.date_format) {
                Ok(value) if !is_long => Ok(value),
                Ok(_) | Err(_) => Err(self.conversion_error(4863, "truncation", at, field)),
            };
        }
        let from = DataType::NVarChar(Width::Max);
        convert(&Value::Text(text.into()), &from, to, None, self.date_format).map_err(|error| {
            let is_overflow = matches!(
                error.fault,
                ConversionFault::IntegerRange
                    | ConversionFault::FloatRange
                    | ConversionFault::MoneyRange
                    | ConversionFault::NarrowDigits
                    | ConversionFault::IntDigits
                    | ConversionFault::Overflow
            );
            match is_overflow {
                true => self.conversion_error(4867, "overflow", at, field),
                false => self.conversion_error(4864, mismatch, at, field),
            }
        })
    }

    fn conversion_error(&self, number: i32, what: &str, at: usize, field: &Field) -> SqlError {
        let text = format!(
            "Bulk load data conversion error ({what}) for row {}, column {} ({}).",
            self.row_number,
            at + 1,
            field.name
        );
        SqlError::new(number, Ends::Statement, text)
    }

    /// 4869: an empty field of a column that is NOT NULL.
    fn null_in(&self, at: usize, field: &Field) -> SqlError {
        let text = format!(
            "The bulk load failed. Unexpected NULL value in data file row {}, column {}. The destination column ({}) is \
             defined as NOT NULL.",
            self.row_number,
            at + 1,
            field.name
        );
        SqlError::new(4869, Ends::Statement, text)
    }
}

/// What is wrong with a field.
enum FieldFault {
    File(FileFault),
    /// The file ends within a row.
    End,
    /// It has no place in the row, or something follows its quote.
    Shape,
}

impl From<FileFault> for FieldFault {
    fn from(fault: FileFault) -> Self {
        Self::File(fault)
    }
}

/// Bytes as hexadecimal digits, with or without 0x.
fn bytes_of(text: &str) -> Option<Vec<u8>> {
    let digits = text
        .strip_prefix("0x")
        .or_else(|| text.strip_prefix("0X"))
        .unwrap_or(text);
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    pairs
        .iter()
        .map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?))
        .collect()
}

/// 4832: a data file that ends within a row.
fn unexpected_end() -> SqlError {
    let text = "Bulk load: An unexpected end of file was encountered in the data file.";
    SqlError::new(4832, Ends::Statement, text)
}

/// 4865: more errors in a data file than MAXERRORS.
fn too_many_errors(count_max: usize) -> SqlError {
    let text = format!("Cannot bulk load because the maximum number of errors ({count_max}) was exceeded.");
    SqlError::new(4865, Ends::Statement, text)
}
