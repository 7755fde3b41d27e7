//! The nodes of a value of xml.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;

use super::parser::{TextEncoding, XML_NAMESPACE, XmlSink, parse};
use super::{XmlError, tag};

/// The nodes of a value, in document order; node 0 is the root, which has no name.
#[derive(Clone, Debug)]
pub struct XmlDocument {
    nodes: Vec<XmlNode>,
}

/// The number of a node in its document.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct XmlNodeId(pub u32);

/// A node.
#[derive(Clone, Debug)]
pub struct XmlNode {
    /// What it is.
    pub kind: XmlNodeKind,
    /// The node that it is a child of; none of the root.
    pub parent: Option<XmlNodeId>,
    /// The node behind its last descendant.
    end: u32,
}

/// What a node is.
#[derive(Clone, Debug)]
pub enum XmlNodeKind {
    /// The root.
    Root,
    /// An element.
    Element {
        /// The name as it is written, with its prefix.
        name: Arc<str>,
        /// Its namespace; empty for none.
        namespace: Arc<str>,
        /// Its attributes, without declarations of namespaces.
        attributes: Vec<XmlAttribute>,
        /// The declarations of namespaces: prefixes, empty for the default, and namespaces.
        declarations: Vec<(Arc<str>, Arc<str>)>,
    },
    /// A text.
    Text(Arc<str>),
    /// A comment.
    Comment(Arc<str>),
    /// A processing instruction: its target and content.
    Instruction(Arc<str>, Arc<str>),
}

/// An attribute.
#[derive(Clone, Debug)]
pub struct XmlAttribute {
    /// The name as it is written, with its prefix.
    pub name: Arc<str>,
    /// Its namespace; empty for none.
    pub namespace: Arc<str>,
    /// Its value.
    pub value: Arc<str>,
}

/// What a node of a document takes in memory.
pub(super) const NODE_SIZE: usize = size_of::<XmlNode>() + 64;
/// What an allocation takes besides its content.
const ALLOCATION_SIZE: usize = 32;

impl XmlDocument {
    /// The nodes of a value.
    ///
    /// Errors: as [`super::normalized`], which values of the type never have.
    pub fn parse(text: &str) -> Result<Self, XmlError> {
        Self::parse_while(text, &mut |_| true)
    }

    /// As [`Self::parse`]; `poll` is told of the bytes that were parsed since its last call, and says whether to go on.
    ///
    /// # Errors
    /// As [`Self::parse`]; an interruption.
    pub fn parse_while(text: &str, poll: &mut dyn FnMut(usize) -> bool) -> Result<Self, XmlError> {
        let mut builder = Builder {
            nodes: vec![XmlNode {
                kind: XmlNodeKind::Root,
                parent: None,
                end: 1,
            }],
            open: vec![XmlNodeId(0)],
            namespaces: HashMap::from([("xml".into(), vec![XML_NAMESPACE.into()])]),
            declared: Vec::new(),
            known: HashMap::new(),
        };
        parse(text, TextEncoding::Decoded, true, &mut builder, poll)?;
        builder.finish(XmlNodeId(0));
        Ok(Self { nodes: builder.nodes })
    }

    /// At most what the nodes of a text take in memory.
    #[must_use]
    pub fn size_max(text: &str) -> usize {
        let node_count = text.matches(['<', '=']).count() + 2;
        node_count.saturating_mul(NODE_SIZE).saturating_add(text.len())
    }

    /// What the nodes take in memory; a name or a namespace that several have counts for each.
    #[must_use]
    pub fn size(&self) -> usize {
        let of_attribute =
            |attribute: &XmlAttribute| size_of::<XmlAttribute>() + ALLOCATION_SIZE + attribute.value.len();
        let of_node = |node: &XmlNode| match &node.kind {
            XmlNodeKind::Root => 0,
            XmlNodeKind::Element {
                attributes,
                declarations,
                ..
            } => {
                let attributes: usize = attributes.iter().map(of_attribute).sum();
                attributes + declarations.len() * size_of::<(Arc<str>, Arc<str>)>()
            }
            XmlNodeKind::Text(text) | XmlNodeKind::Comment(text) | XmlNodeKind::Instruction(_, text) => {
                text.len() + ALLOCATION_SIZE
            }
        };
        let contents: usize = self.nodes.iter().map(of_node).sum();
        self.nodes.capacity() * size_of::<XmlNode>() + contents
    }

    /// The root.
    #[must_use]
    pub fn root(&self) -> XmlNodeId {
        XmlNodeId(0)
    }

    /// A node, if it is one of the document.
    #[must_use]
    pub fn node(&self, id: XmlNodeId) -> Option<&XmlNode> {
        self.nodes.get(index(id))
    }

    /// The node's children.
    pub fn children(&self, id: XmlNodeId) -> impl Iterator<Item = XmlNodeId> + '_ {
        let end = self.end(id);
        let mut next = id.0 + 1;
        std::iter::from_fn(move || {
            let child = XmlNodeId(next);
            (next < end).then(|| {
                next = self.end(child).max(next + 1);
                child
            })
        })
    }

    /// The node's descendants, without itself.
    pub fn descendants(&self, id: XmlNodeId) -> impl Iterator<Item = XmlNodeId> + '_ {
        (id.0 + 1..self.end(id)).map(XmlNodeId)
    }

    /// The attributes of an element; none of any other node.
    #[must_use]
    pub fn attributes(&self, id: XmlNodeId) -> &[XmlAttribute] {
        match self.node(id).map(|node| &node.kind) {
            Some(XmlNodeKind::Element { attributes, .. }) => attributes,
            Some(XmlNodeKind::Root | XmlNodeKind::Text(_) | XmlNodeKind::Comment(_) | XmlNodeKind::Instruction(..))
            | None => &[],
        }
    }

    /// The declarations of namespaces of an element; none of any other node.
    pub(super) fn declarations(&self, id: XmlNodeId) -> &[(Arc<str>, Arc<str>)] {
        match self.node(id).map(|node| &node.kind) {
            Some(XmlNodeKind::Element { declarations, .. }) => declarations,
            Some(XmlNodeKind::Root | XmlNodeKind::Text(_) | XmlNodeKind::Comment(_) | XmlNodeKind::Instruction(..))
            | None => &[],
        }
    }

    /// The string value: all texts below the root or an element, else the node's own.
    #[must_use]
    pub fn string_value(&self, id: XmlNodeId) -> String {
        let mut out = String::new();
        let Ok(()) = self.append_string_value(id, &mut out, &mut |_| Ok::<(), Infallible>(()));
        out
    }

    /// Appends the string value. `step` is told of each node that is looked at, with the bytes that it appends.
    ///
    /// # Errors
    /// Those of `step`.
    pub fn append_string_value<E>(
        &self,
        id: XmlNodeId,
        out: &mut String,
        step: &mut impl FnMut(usize) -> Result<(), E>,
    ) -> Result<(), E> {
        for inner in self.within(id) {
            let text = match self.node(inner).map(|node| &node.kind) {
                Some(XmlNodeKind::Text(text)) => text,
                Some(XmlNodeKind::Comment(text) | XmlNodeKind::Instruction(_, text)) if inner == id => text,
                Some(
                    XmlNodeKind::Root
                    | XmlNodeKind::Element { .. }
                    | XmlNodeKind::Comment(_)
                    | XmlNodeKind::Instruction(..),
                )
                | None => "",
            };
            step(text.len())?;
            out.push_str(text);
        }
        Ok(())
    }

    /// The numbers of a node and of its descendants.
    pub(super) fn within(&self, id: XmlNodeId) -> impl Iterator<Item = XmlNodeId> + use<> {
        (id.0..self.end(id)).map(XmlNodeId)
    }

    fn end(&self, id: XmlNodeId) -> u32 {
        self.node(id).map_or(id.0, |node| node.end)
    }
}

/// The part of a name behind its prefix.
#[must_use]
pub fn local_name(name: &str) -> &str {
    name.split_once(':').map_or(name, |(_, local)| local)
}

pub(super) fn prefix_of(name: &str) -> Option<&str> {
    name.split_once(':').map(|(prefix, _)| prefix)
}

fn index(id: XmlNodeId) -> usize {
    usize::try_from(id.0).unwrap_or(usize::MAX)
}

/// Makes the nodes.
struct Builder {
    nodes: Vec<XmlNode>,
    /// The open nodes, the root first.
    open: Vec<XmlNodeId>,
    /// The namespaces of each prefix in scope, innermost last.
    namespaces: HashMap<Arc<str>, Vec<Arc<str>>>,
    /// The prefixes that each open element declares.
    declared: Vec<Vec<Arc<str>>>,
    /// Names and namespaces, each once.
    known: HashMap<String, Arc<str>>,
}

impl Builder {
    fn push(&mut self, kind: XmlNodeKind) -> XmlNodeId {
        let id = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        self.nodes.push(XmlNode {
            kind,
            parent: self.open.last().copied(),
            end: id.saturating_add(1),
        });
        XmlNodeId(id)
    }

    fn finish(&mut self, id: XmlNodeId) {
        let end = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        if let Some(node) = self.nodes.get_mut(index(id)) {
            node.end = end;
        }
    }

    fn shared(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.known.get(text) {
            return Arc::clone(known);
        }
        let made: Arc<str> = Arc::from(text);
        self.known.insert(text.to_owned(), Arc::clone(&made));
        made
    }

    fn namespace(&mut self, name: &str, is_attribute: bool) -> Arc<str> {
        let prefix = prefix_of(name).unwrap_or_default();
        if prefix.is_empty() && is_attribute {
            return self.shared("");
        }
        match self.namespaces.get(prefix).and_then(|known| known.last()) {
            Some(namespace) => Arc::clone(namespace),
            None => self.shared(""),
        }
    }
}

impl XmlSink for Builder {
    fn start(&mut self, name: &str, attributes: Vec<(&str, String)>) {
        let mut declarations = Vec::new();
        let mut own = Vec::new();
        for (name, value) in attributes {
            match tag::declared_prefix(name) {
                Some(prefix) => declarations.push((self.shared(prefix), self.shared(&value))),
                None => own.push((name, value)),
            }
        }
        for (prefix, namespace) in &declarations {
            let known = self.namespaces.entry(Arc::clone(prefix)).or_default();
            known.push(Arc::clone(namespace));
        }
        let prefixes = declarations.iter().map(|(prefix, _)| Arc::clone(prefix));
        self.declared.push(prefixes.collect());
        let attributes = own
            .into_iter()
            .map(|(name, value)| XmlAttribute {
                name: self.shared(name),
                namespace: self.namespace(name, true),
                value: value.into(),
            })
            .collect();
        let kind = XmlNodeKind::Element {
            name: self.shared(name),
            namespace: self.namespace(name, false),
            attributes,
            declarations,
        };
        let id = self.push(kind);
        self.open.push(id);
    }

    fn end(&mut self) {
        if let Some(id) = self.open.pop() {
            self.finish(id);
        }
        for prefix in self.declared.pop().unwrap_or_default() {
            if let Some(known) = self.namespaces.get_mut(&prefix) {
                known.pop();
            }
        }
    }

    fn text(&mut self, text: &str) {
        self.push(XmlNodeKind::Text(text.into()));
    }

    fn comment(&mut self, text: &str) {
        self.push(XmlNodeKind::Comment(text.into()));
    }

    fn instruction(&mut self, target: &str, content: &str) {
        let target = self.shared(target);
        self.push(XmlNodeKind::Instruction(target, content.into()));
    }
}
