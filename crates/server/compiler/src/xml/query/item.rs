//! The items of a result.

use std::sync::Arc;

use selenite_types::{XmlDocument, XmlNodeId};

use super::Number;

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
    Number(Number),
    /// true or false.
    Boolean(bool),
    /// A node that a constructor made.
    Made(Arc<MadeNode>),
}

/// A node that a constructor made. Its prefixes are declared in it, or where the constructor stands.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum MadeNode {
    /// An element, a comment or an instruction, as xml.
    Xml(String),
    /// A text.
    Text(String),
    /// An attribute.
    Attribute(MadeAttribute),
    /// Nodes of a value from outside, as xml with declarations of its own.
    Fragment(String),
}

/// An attribute that a constructor made.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct MadeAttribute {
    /// The name, with its prefix.
    pub name: Arc<str>,
    /// The namespace; empty for none.
    pub namespace: Arc<str>,
    /// The value.
    pub value: String,
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
            Self::Text(_) | Self::Number(_) | Self::Boolean(_) | Self::Made(_) => None,
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

    /// The size of a text or of a node that was made, in bytes; 0 of any other item.
    pub fn text_size(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Made(node) => match &**node {
                MadeNode::Xml(text) | MadeNode::Text(text) | MadeNode::Fragment(text) => text.len(),
                MadeNode::Attribute(attribute) => attribute.name.len() + attribute.value.len(),
            },
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
            Self::Number(number) => number.text(),
            Self::Boolean(value) => value.to_string(),
            Self::Made(node) => match &**node {
                MadeNode::Text(text) => text.clone(),
                // The parser refuses to read it.
                MadeNode::Xml(_) | MadeNode::Attribute(_) | MadeNode::Fragment(_) => String::new(),
            },
        }
    }
}

/// The truth in a text, by the rules of xs:boolean.
pub(super) fn boolean_in(text: &str) -> Option<bool> {
    match text.trim_matches([' ', '\t', '\r', '\n']) {
        "true" | "1" => Some(true),
        "false" | "0" => Some(false),
        _ => None,
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
