//! A column of a result.

use selenite_types::DataType;

/// A column as COLMETADATA describes it (MS-TDS 2.2.7.4).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Column {
    /// May be empty; at most 128 units of UTF-16.
    pub name: String,
    /// What its values are.
    pub data_type: DataType,
    /// Whether NULL may be among them.
    pub is_nullable: bool,
    /// IDENTITY.
    pub is_identity: bool,
    /// Not a table's column but an expression.
    pub is_computed: bool,
}

impl Column {
    /// MS-TDS 2.2.7.4, Flags. Whether a table's column can be updated is not known.
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
