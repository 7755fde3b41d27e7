//! The items of a result.

use std::sync::Arc;

use selenite_types::{XmlDocument, XmlNodeId};

/// An item.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Item {
    /// A node other than an attribute.
    Node(XmlNodeId),
    /// An attribute: its element, and its place there.
    Attribute(XmlNodeId, usize),
    /// A text.
    Text(Arc<str>),
    /// A number.
    Number(f64),
    /// true or false.
    Boolean(bool),
}

impl Item {
    /// The number under which [`Item::of_number`] finds a node; `None` for what is no node.
    pub fn number(&self) -> Option<i64> {
        match self {
            Self::Node(id) => Some(i64::from(id.0)),
            Self::Attribute(id, at) => {
                let place = i64::try_from(*at).ok()?.checked_add(1)?;
                Some(i64::from(id.0) | place.checked_shl(32)?)
            }
            Self::Text(_) | Self::Number(_) | Self::Boolean(_) => None,
        }
    }

    /// The node of a number.
    pub fn of_number(number: i64) -> Option<Self> {
        let id = XmlNodeId(u32::try_from(number & 0xFFFF_FFFF).ok()?);
        match usize::try_from(number >> 32).ok()? {
            0 => Some(Self::Node(id)),
            place => Some(Self::Attribute(id, place - 1)),
        }
    }

    /// The size of a text in bytes; 0 of any other item.
    pub fn text_size(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Node(_) | Self::Attribute(..) | Self::Number(_) | Self::Boolean(_) => 0,
        }
    }

    /// The value as text.
    pub fn text(&self, document: &XmlDocument) -> String {
        match self {
            Self::Node(id) => document.string_value(*id),
            Self::Attribute(id, at) => {
                let found = document.attributes(*id).get(*at);
                found.map_or_else(String::new, |attribute| attribute.value.to_string())
            }
            Self::Text(text) => text.to_string(),
            Self::Number(number) => number_text(*number),
            Self::Boolean(value) => value.to_string(),
        }
    }
}

/// The number in a text, by the rules of xs:double; NaN if there is none.
pub(super) fn number_in(text: &str) -> f64 {
    let text = text.trim_matches([' ', '\t', '\r', '\n']);
    match text {
        "INF" => f64::INFINITY,
        "-INF" => f64::NEG_INFINITY,
        // Rust knows more names of numbers that are none.
        _ if text.contains(|sign: char| sign.is_ascii_alphabetic() && !matches!(sign, 'e' | 'E')) => f64::NAN,
        _ => text.parse().unwrap_or(f64::NAN),
    }
}

/// A number without a fraction has no point.
fn number_text(number: f64) -> String {
    match number.fract() == 0.0 && number.abs() < 1e15 {
        true => format!("{number:.0}"),
        false => format!("{number:?}"),
    }
}
