//! XML text: names, escapes, and elements as FOR XML writes them.

mod default_namespace;
mod error;
mod explicit;
mod form;
mod name;
mod overflow;
pub(crate) mod query;
mod writer;

pub(crate) use default_namespace::without_default;
pub(crate) use explicit::{ExplicitColumn, parse_explicit_column};
pub(crate) use form::form_of;
pub(crate) use name::{encoded, first_invalid, first_invalid_part};
pub(crate) use overflow::Overflow;
pub(crate) use writer::{XSI, XmlWriter, value_text};
