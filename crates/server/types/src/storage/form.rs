//! Values in SQLite's storage classes.

use std::borrow::Cow;

/// One of SQLite's five storage classes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum StorageClass {
    /// NULL.
    Null,
    /// Signed 64 bits.
    Integer,
    /// IEEE 754 binary64.
    Real,
    /// UTF-8.
    Text,
    /// Bytes.
    Blob,
}

/// A value to be bound or stored, which borrows from its T-SQL value where possible.
#[derive(Clone, PartialEq, Debug)]
pub enum Stored<'a> {
    /// NULL.
    Null,
    /// INTEGER.
    Integer(i64),
    /// REAL.
    Real(f64),
    /// TEXT.
    Text(Cow<'a, str>),
    /// BLOB.
    Blob(Cow<'a, [u8]>),
}

/// A value from SQLite: text is bytes, because SQLite does not guarantee valid UTF-8.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum StoredRef<'a> {
    /// NULL.
    Null,
    /// INTEGER.
    Integer(i64),
    /// REAL.
    Real(f64),
    /// TEXT.
    Text(&'a [u8]),
    /// BLOB.
    Blob(&'a [u8]),
}

impl StorageClass {
    /// The storage class's name in SQLite.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Null => "NULL",
            Self::Integer => "INTEGER",
            Self::Real => "REAL",
            Self::Text => "TEXT",
            Self::Blob => "BLOB",
        }
    }
}

impl Stored<'_> {
    /// The same value with owned data.
    #[must_use]
    pub fn into_owned(self) -> Stored<'static> {
        match self {
            Self::Null => Stored::Null,
            Self::Integer(value) => Stored::Integer(value),
            Self::Real(value) => Stored::Real(value),
            Self::Text(text) => Stored::Text(Cow::Owned(text.into_owned())),
            Self::Blob(bytes) => Stored::Blob(Cow::Owned(bytes.into_owned())),
        }
    }

    /// The same value, borrowed.
    #[must_use]
    pub fn as_stored_ref(&self) -> StoredRef<'_> {
        match self {
            Self::Null => StoredRef::Null,
            Self::Integer(value) => StoredRef::Integer(*value),
            Self::Real(value) => StoredRef::Real(*value),
            Self::Text(text) => StoredRef::Text(text.as_bytes()),
            Self::Blob(bytes) => StoredRef::Blob(bytes),
        }
    }
}

impl StoredRef<'_> {
    /// The value's storage class.
    #[must_use]
    pub fn class(self) -> StorageClass {
        match self {
            Self::Null => StorageClass::Null,
            Self::Integer(_) => StorageClass::Integer,
            Self::Real(_) => StorageClass::Real,
            Self::Text(_) => StorageClass::Text,
            Self::Blob(_) => StorageClass::Blob,
        }
    }
}
