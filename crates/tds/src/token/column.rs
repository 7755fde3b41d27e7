//! A column of a result.

use selenite_types::DataType;

/// A column as COLMETADATA tells it (MS-TDS 2.2.7.4).
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
