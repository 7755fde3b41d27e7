//! JSON text: documents, paths into them, and values as JSON.
//!
//! - `source-text-is-kept`: a document is a tree of ranges of its text: what a function returns or leaves unchanged
//!   keeps its spaces and the order of its members.
//! - `read-until-settled`: a document is read from left to right, and a fault behind what a path names is not reported;
//!   functions that read the whole document report it.

mod document;
mod error;
mod mark;
mod path;
mod rows;
mod value;

pub(crate) use document::{Document, Kind};
pub(crate) use mark::{NullsInJson, json_values, marked};
pub(crate) use path::{Found, Path, Step};
pub(crate) use rows::RowWriter;
pub(crate) use value::{
    exact_text, from_base64, is_json_call, push_quoted, push_value, scalar_text, unescaped as unescaped_name,
};
