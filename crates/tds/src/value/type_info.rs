//! TYPE_INFO (MS-TDS 2.2.5.6).

use selenite_types::DataType;

use super::Collation;

/// A type as the wire tells it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TypeInfo {
    /// The type. Legacy text, ntext and image are their `max`; money and the like of four bytes are SMALLMONEY and its like.
    pub data_type: DataType,
    /// Of text.
    pub collation: Option<Collation>,
}
