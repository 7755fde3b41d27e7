//! A column of a result set.

use selenite_types::DataType;

/// A column as COLMETADATA describes it (MS-TDS 2.2.7.4).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Column {
    /// The column's name: at most 128 UTF-16 units; may be empty.
    pub name: String,
    /// The type of the column's values.
    pub data_type: DataType,
    /// Whether the column allows NULL.
    pub is_nullable: bool,
    /// Whether it is an IDENTITY column.
    pub is_identity: bool,
    /// Whether it is an expression instead of a table's column.
    pub is_computed: bool,
}

impl Column {
    /// Flags (MS-TDS 2.2.7.4). usUpdateable is unknown: the server does not track it.
    pub(super) fn flags(&self) -> u16 {
        let updatable = if self.is_computed { COMPUTED } else { UPDATABLE_UNKNOWN };
        let nullable = if self.is_nullable { NULLABLE } else { 0 };
        let identity = if self.is_identity { IDENTITY } else { 0 };
        updatable | nullable | identity
    }
}

pub(crate) const NULLABLE: u16 = 0x0001;
pub(crate) const UPDATABLE_UNKNOWN: u16 = 0x0008;
pub(crate) const IDENTITY: u16 = 0x0010;
pub(crate) const COMPUTED: u16 = 0x0020;
