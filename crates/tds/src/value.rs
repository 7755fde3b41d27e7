//! Types and values as bytes (MS-TDS 2.2.5.4 to 2.2.5.6).

mod collation;
mod type_info;

pub use collation::Collation;
pub use type_info::TypeInfo;
