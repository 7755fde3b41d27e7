//! A column of a result set.

use selenite_types::DataType;

use crate::Collation;

/// A column as COLMETADATA describes it (MS-TDS 2.2.7.4).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Column {
    /// The column's name: at most 128 UTF-16 units; may be empty.
    pub name: String,
    /// The type of the column's values.
    pub data_type: DataType,
    /// The collation of its text.
    pub collation: Collation,
    /// Whether the column allows NULL.
    pub is_nullable: bool,
    /// Whether it is an IDENTITY column.
    pub is_identity: bool,
    /// Whether it is computed: an expression, or a computed column of a table.
    pub is_computed: bool,
}

impl Column {
    /// Flags (MS-TDS 2.2.7.4). usUpdateable is read-only for what the server computes: a bulk load of some clients
    /// leaves these columns out. For others it is unknown: the server does not track it.
    pub(super) fn flags(&self) -> u16 {
        let nullable = if self.is_nullable { NULLABLE } else { 0 };
        let written = match (self.is_identity, self.is_computed) {
            (true, _) => IDENTITY,
            (false, true) => COMPUTED,
            (false, false) => UPDATABLE_UNKNOWN,
        };
        written | nullable
    }
}

pub(crate) const NULLABLE: u16 = 0x0001;
pub(crate) const UPDATABLE_UNKNOWN: u16 = 0x0008;
pub(crate) const IDENTITY: u16 = 0x0010;
pub(crate) const COMPUTED: u16 = 0x0020;
