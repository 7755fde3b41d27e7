//! The encoding of types and values (MS-TDS 2.2.5.4 to 2.2.5.6).
//!
//! - `sent-as-declared`: a value is sent as its declared type; the only conversion here is the
//!   encoding of text.
//! - `checked-against-its-type`: input is validated against its declared type before it becomes a
//!   value.

mod cell;
pub(crate) mod chunks;
mod code_page;
mod collation;
mod moment;
mod type_info;
mod value_error;
mod value_parser;
mod value_writer;
mod variant;

pub(crate) use cell::Cell;
pub use collation::Collation;
pub use type_info::TypeInfo;
pub(crate) use type_info::WireType;
pub(crate) use value_error::ValueError;
