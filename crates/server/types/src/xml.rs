//! The type xml: its text in one form, and its nodes.
//!
//! - `one-form-of-text`: a value is a text without declaration and CDATA, in double quotes, with the
//!   characters escaped that SQL Server escapes; [`normalized`] makes it of any other.
//! - `no-entities-but-characters`: there is no DTD, and so no entity but the five of XML and
//!   references to characters: nothing expands.
//! - `depth-is-bounded`: elements are nested 128 deep at most, as in SQL Server.
//! - `parsing-is-interrupted`: a caller that has a poll function is asked with each tag, text and instruction.

mod characters;
mod document;
mod edit;
mod error;
mod name_characters;
mod node_writer;
mod parser;
mod tag;
mod writer;

pub use characters::{is_xml_character, is_xml_name, is_xml_name_part, is_xml_name_start};
pub use document::{XmlAttribute, XmlDocument, XmlNode, XmlNodeId, XmlNodeKind, local_name};
pub use edit::{XmlEdit, XmlPlace};
pub use error::{XmlError, XmlFault};
pub use node_writer::XmlNodeWriter;
pub use tag::referenced_character;
pub use writer::{push_attribute_value, push_text};

use parser::{TextEncoding, parse};
use writer::Normalizer;

/// The form of a value with this text.
///
/// Text that consists of white space is dropped, unless `keeps_space`, or `xml:space` is `preserve` there.
///
/// Errors: the text is not a sequence of well-formed elements, texts, comments and instructions.
pub fn normalized(text: &str, keeps_space: bool) -> Result<String, XmlError> {
    normalized_while(XmlSource::Wide(text), keeps_space, &mut |_| true)
}

/// As [`normalized`], of text in code page 1252, which may be UTF-8 by its declaration.
///
/// Errors: as [`normalized`].
pub fn normalized_narrow(text: &str, keeps_space: bool) -> Result<String, XmlError> {
    normalized_while(XmlSource::Narrow(text), keeps_space, &mut |_| true)
}

/// As [`normalized`], of bytes: UTF-16 by a byte order mark, else UTF-8.
///
/// Errors: as [`normalized`]; another encoding.
pub fn normalized_bytes(bytes: &[u8], keeps_space: bool) -> Result<String, XmlError> {
    normalized_while(XmlSource::Bytes(bytes), keeps_space, &mut |_| true)
}

/// What becomes xml.
#[derive(Clone, Copy, Debug)]
pub enum XmlSource<'a> {
    /// Text of nchar and nvarchar.
    Wide(&'a str),
    /// Text of char and varchar, as [`normalized_narrow`] takes it.
    Narrow(&'a str),
    /// Bytes, as [`normalized_bytes`] takes them.
    Bytes(&'a [u8]),
}

/// As [`normalized`]; `poll` is told of the bytes that were parsed since its last call, and says whether to go on.
///
/// Errors: as [`normalized`]; an interruption.
pub fn normalized_while(
    source: XmlSource<'_>,
    keeps_space: bool,
    poll: &mut dyn FnMut(usize) -> bool,
) -> Result<String, XmlError> {
    let decoded;
    let (text, encoding) = match source {
        XmlSource::Wide(text) => (text, TextEncoding::Wide),
        XmlSource::Narrow(text) => (text, TextEncoding::Narrow),
        XmlSource::Bytes(bytes) => {
            decoded = parser::decoded(bytes)?;
            (decoded.as_str(), TextEncoding::Decoded)
        }
    };
    let mut normalizer = Normalizer::new(text.len());
    parse(text, encoding, keeps_space, &mut normalizer, poll)?;
    Ok(normalizer.into_text())
}

#[cfg(test)]
mod tests;
