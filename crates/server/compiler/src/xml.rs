//! XML text: names, escapes, and elements as FOR XML writes them.

mod error;
mod explicit;
mod name;
pub(crate) mod query;
mod writer;

pub(crate) use explicit::{ExplicitColumn, parse_explicit_column};
pub(crate) use name::{encoded, first_invalid};
pub(crate) use writer::{XSI, XmlWriter, value_text};
