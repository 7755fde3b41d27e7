//! Changes of a document, which are made while it is written.

use std::collections::HashSet;
use std::sync::Arc;

use super::{XmlDocument, XmlNodeId};

/// A change of a document.
#[derive(Clone, Debug)]
pub enum XmlEdit {
    /// Without these nodes, and without these attributes.
    Delete(HashSet<XmlNodeId>, HashSet<(XmlNodeId, usize)>),
    /// Another text of a text, or of the attribute at a place of an element.
    Replace(XmlNodeId, Option<usize>, String),
    /// With further nodes, as xml, and attributes.
    Insert {
        /// The node that they are placed by.
        at: XmlNodeId,
        /// Where.
        place: XmlPlace,
        /// The nodes.
        xml: String,
        /// Names and values, of an element that is the node itself.
        attributes: Vec<(Arc<str>, String)>,
    },
}

/// A place by a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum XmlPlace {
    /// Before it.
    Before,
    /// Behind it.
    After,
    /// Before its children.
    First,
    /// Behind its children.
    Last,
}

impl XmlEdit {
    /// What is inserted at a place of a node.
    pub(super) fn inserted(&self, id: XmlNodeId, wanted: XmlPlace) -> &str {
        match self {
            Self::Insert { at, place, xml, .. } if *at == id && *place == wanted => xml,
            Self::Insert { .. } | Self::Delete(..) | Self::Replace(..) => "",
        }
    }

    /// The attributes that a node gets.
    pub(super) fn attributes(&self, id: XmlNodeId) -> &[(Arc<str>, String)] {
        match self {
            Self::Insert { at, attributes, .. } if *at == id => attributes,
            Self::Insert { .. } | Self::Delete(..) | Self::Replace(..) => &[],
        }
    }

    /// Whether a node is deleted.
    pub(super) fn deletes(&self, id: XmlNodeId) -> bool {
        matches!(self, Self::Delete(nodes, _) if nodes.contains(&id))
    }

    /// Whether an attribute is deleted.
    pub(super) fn deletes_attribute(&self, id: XmlNodeId, at: usize) -> bool {
        matches!(self, Self::Delete(_, attributes) if attributes.contains(&(id, at)))
    }

    /// The text that a text or an attribute gets.
    pub(super) fn replaced(&self, id: XmlNodeId, attribute: Option<usize>) -> Option<&str> {
        match self {
            Self::Replace(node, of, text) if *node == id && *of == attribute => Some(text),
            Self::Insert { .. } | Self::Delete(..) | Self::Replace(..) => None,
        }
    }
}

impl XmlDocument {
    /// The namespaces that are declared where the content of a node stands, the innermost declaration of a prefix last.
    #[must_use]
    pub fn scope(&self, id: XmlNodeId) -> Vec<(Arc<str>, Arc<str>)> {
        let mut levels = Vec::new();
        let mut at = Some(id);
        while let Some(node) = at {
            levels.push(self.declarations(node));
            at = self.node(node).and_then(|node| node.parent);
        }
        levels.into_iter().rev().flatten().cloned().collect()
    }
}
