//! The rows of a cursor: a few in memory, more in a nameless file.

use std::path::Path;

use rusqlite::{Connection, OpenFlags, params};
use selenite::Access;
use selenite_compiler::{SqlError, size_of};
use selenite_runtime::sqlite::tsql_error;
use selenite_types::storage::{Stored, StoredRef, from_stored, to_stored};
use selenite_types::{DataType, Value};

/// Rows in order, each of the same types.
pub(crate) struct RowStore {
    types: Vec<DataType>,
    /// The URI of a nameless database.
    uri: String,
    rows: Vec<Vec<Value>>,
    size: usize,
    count: u64,
    /// All rows, once there are too many for memory.
    file: Option<Connection>,
}

impl RowStore {
    pub fn new(access: &Access) -> Self {
        Self {
            types: Vec::new(),
            uri: access.uri(Path::new("")).as_str().to_owned(),
            rows: Vec::new(),
            size: 0,
            count: 0,
            file: None,
        }
    }

    /// The types of the rows.
    pub fn set_types(&mut self, types: impl Iterator<Item = DataType>) {
        self.types = types.collect();
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    /// How much memory it takes.
    pub fn memory_size(&self) -> u64 {
        match self.file {
            Some(_) => FILE_MEMORY,
            None => u64::try_from(self.size).unwrap_or(u64::MAX),
        }
    }

    /// Adds a row.
    ///
    /// # Errors
    /// SQLite's, such as that of a full disk.
    pub fn push(&mut self, row: &[Value]) -> Result<(), SqlError> {
        self.count += 1;
        if let Some(file) = &self.file {
            return write(file, self.count, &encoded(row, &self.types)?);
        }
        let values = row.iter().map(|value| size_of(value).saturating_add(VALUE_SIZE));
        self.size = self.size.saturating_add(values.sum());
        self.rows.push(row.to_vec());
        match self.size > MEMORY_MAX {
            true => self.spill(),
            false => Ok(()),
        }
    }

    /// The row of a number, from 1.
    ///
    /// # Errors
    /// SQLite's.
    pub fn row(&self, number: u64) -> Result<Vec<Value>, SqlError> {
        let missing = || SqlError::internal("a row of a cursor");
        let Some(file) = &self.file else {
            let index = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
            return index
                .and_then(|index| self.rows.get(index))
                .cloned()
                .ok_or_else(missing);
        };
        let number = i64::try_from(number).map_err(|_| missing())?;
        let mut query = file
            .prepare_cached("SELECT r FROM t WHERE n = ?1")
            .map_err(|error| tsql_error(&error))?;
        let bytes: Vec<u8> = query
            .query_row(params![number], |row| row.get(0))
            .map_err(|error| tsql_error(&error))?;
        decoded(&bytes, &self.types).ok_or_else(missing)
    }

    fn spill(&mut self) -> Result<(), SqlError> {
        let file = open(&self.uri).map_err(|error| tsql_error(&error))?;
        for (number, row) in (1..).zip(&self.rows) {
            write(&file, number, &encoded(row, &self.types)?)?;
        }
        self.rows = Vec::new();
        self.file = Some(file);
        Ok(())
    }
}

/// A nameless database that is never rolled back.
fn open(uri: &str) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(uri, flags)?;
    connection.execute_batch(&format!(
        "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -{CACHE_KIB};
         CREATE TABLE t (n INTEGER PRIMARY KEY, r BLOB); BEGIN"
    ))?;
    Ok(connection)
}

fn write(file: &Connection, number: u64, bytes: &[u8]) -> Result<(), SqlError> {
    let number = i64::try_from(number).map_err(|_| SqlError::internal("a row of a cursor"))?;
    let mut insert = file
        .prepare_cached("INSERT INTO t VALUES (?1, ?2)")
        .map_err(|error| tsql_error(&error))?;
    insert
        .execute(params![number, bytes])
        .map(drop)
        .map_err(|error| tsql_error(&error))
}

/// Values one after the other: a byte for the class, then eight bytes, or a length of eight and as many bytes.
fn encoded(row: &[Value], types: &[DataType]) -> Result<Vec<u8>, SqlError> {
    let mut bytes = Vec::new();
    for (value, data_type) in row.iter().zip(types) {
        let stored = to_stored(value, data_type).map_err(|misfit| SqlError::internal(&misfit.to_string()))?;
        match stored {
            Stored::Null => bytes.push(NULL),
            Stored::Integer(value) => {
                bytes.push(INTEGER);
                bytes.extend(value.to_be_bytes());
            }
            Stored::Real(value) => {
                bytes.push(REAL);
                bytes.extend(value.to_be_bytes());
            }
            Stored::Text(text) => put(&mut bytes, TEXT, text.as_bytes()),
            Stored::Blob(blob) => put(&mut bytes, BLOB, &blob),
        }
    }
    Ok(bytes)
}

fn put(bytes: &mut Vec<u8>, class: u8, content: &[u8]) {
    bytes.push(class);
    bytes.extend(u64::try_from(content.len()).unwrap_or(u64::MAX).to_be_bytes());
    bytes.extend(content);
}

/// The values; `None` for bytes that [`encoded`] has not made.
fn decoded(mut bytes: &[u8], types: &[DataType]) -> Option<Vec<Value>> {
    let mut row = Vec::with_capacity(types.len());
    for data_type in types {
        let (&class, rest) = bytes.split_first()?;
        bytes = rest;
        let stored = if class == NULL {
            StoredRef::Null
        } else {
            let (number, rest) = bytes.split_first_chunk::<8>()?;
            bytes = rest;
            match class {
                INTEGER => StoredRef::Integer(i64::from_be_bytes(*number)),
                REAL => StoredRef::Real(f64::from_be_bytes(*number)),
                _ => {
                    let length = usize::try_from(u64::from_be_bytes(*number)).ok()?;
                    let (content, rest) = bytes.split_at_checked(length)?;
                    bytes = rest;
                    match class {
                        TEXT => StoredRef::Text(content),
                        _ => StoredRef::Blob(content),
                    }
                }
            }
        };
        row.push(from_stored(stored, data_type).ok()?);
    }
    Some(row)
}

const NULL: u8 = 0;
const INTEGER: u8 = 1;
const REAL: u8 = 2;
const TEXT: u8 = 3;
const BLOB: u8 = 4;

/// 64 KiB of a cursor's rows in memory: most cursors have some hundred rows.
const MEMORY_MAX: usize = 64 << 10;
/// What a value takes besides its text or bytes.
const VALUE_SIZE: usize = std::mem::size_of::<Value>();
/// SQLite's cache of the file.
const CACHE_KIB: u32 = 128;
/// The cache, and about as much for the connection.
const FILE_MEMORY: u64 = 256 << 10;

#[cfg(test)]
mod tests;
