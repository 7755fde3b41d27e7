//! Writes nodes of a document as xml.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::document::{XmlDocument, XmlNodeId, XmlNodeKind, prefix_of};
use super::writer::{push_attribute_value, push_text};

/// Writes nodes of a document, each with the declarations of the namespaces that it uses from outside.
pub struct XmlNodeWriter<'a> {
    document: &'a XmlDocument,
    /// The places of declarations by prefix, of each element that was asked for them.
    declared: HashMap<XmlNodeId, HashMap<&'a str, usize>>,
}

/// A prefix and its namespace.
type Declaration = (Arc<str>, Arc<str>);

impl<'a> XmlNodeWriter<'a> {
    /// A writer of this document's nodes.
    #[must_use]
    pub fn new(document: &'a XmlDocument) -> Self {
        Self {
            document,
            declared: HashMap::new(),
        }
    }

    /// Appends a node. `step` is told of each node that is looked at, with the bytes of its names and texts.
    ///
    /// # Errors
    /// Those of `step`.
    pub fn write<E>(
        &mut self,
        id: XmlNodeId,
        out: &mut String,
        step: &mut impl FnMut(usize) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut used = HashSet::new();
        for inner in self.document.within(id) {
            step(0)?;
            if let Some(XmlNodeKind::Element { name, attributes, .. }) = self.kind(inner) {
                used.insert(prefix_of(name).unwrap_or_default());
                used.extend(attributes.iter().filter_map(|attribute| prefix_of(&attribute.name)));
            }
        }
        let outside = self.declared_outside(id, &used, step)?;
        self.write_within(id, &outside, out, step)
    }

    fn kind(&self, id: XmlNodeId) -> Option<&'a XmlNodeKind> {
        self.document.node(id).map(|node| &node.kind)
    }

    /// Of these prefixes the declarations that are in force outside of a node, the innermost ancestor's first.
    fn declared_outside<E>(
        &mut self,
        id: XmlNodeId,
        used: &HashSet<&str>,
        step: &mut impl FnMut(usize) -> Result<(), E>,
    ) -> Result<Vec<Declaration>, E> {
        let mut ancestors = Vec::new();
        let mut at = self.document.node(id).and_then(|node| node.parent);
        while let Some(ancestor) = at {
            ancestors.push(ancestor);
            at = self.document.node(ancestor).and_then(|node| node.parent);
        }
        let mut found = Vec::new();
        for prefix in used {
            for (distance, ancestor) in ancestors.iter().enumerate() {
                step(0)?;
                let declarations = self.document.declarations(*ancestor);
                if declarations.is_empty() {
                    continue;
                }
                let places = self.declared.entry(*ancestor).or_insert_with(|| {
                    let numbered = declarations.iter().enumerate();
                    numbered.map(|(place, (prefix, _))| (&**prefix, place)).collect()
                });
                if let Some(place) = places.get(prefix) {
                    found.push((distance, *place, &declarations[*place]));
                    break;
                }
            }
        }
        found.retain(|(_, _, (prefix, namespace))| !(prefix.is_empty() && namespace.is_empty()));
        found.sort_unstable_by_key(|(distance, place, _)| (*distance, *place));
        Ok(found
            .into_iter()
            .map(|(_, _, declaration)| declaration.clone())
            .collect())
    }

    fn write_within<E>(
        &self,
        id: XmlNodeId,
        outside: &[Declaration],
        out: &mut String,
        step: &mut impl FnMut(usize) -> Result<(), E>,
    ) -> Result<(), E> {
        match self.kind(id) {
            Some(XmlNodeKind::Root) => {
                for child in self.document.children(id) {
                    self.write_within(child, &[], out, step)?;
                }
            }
            Some(XmlNodeKind::Element { name, .. }) => self.write_element((id, name), outside, out, step)?,
            Some(XmlNodeKind::Text(text)) => {
                step(text.len())?;
                push_text(out, text);
            }
            Some(XmlNodeKind::Comment(text)) => {
                step(text.len())?;
                out.push_str("<!--");
                out.push_str(text);
                out.push_str("-->");
            }
            Some(XmlNodeKind::Instruction(target, content)) => {
                step(target.len() + content.len())?;
                out.push_str("<?");
                out.push_str(target);
                if !content.is_empty() {
                    out.push(' ');
                    out.push_str(content);
                }
                out.push_str("?>");
            }
            None => {}
        }
        Ok(())
    }

    fn write_element<E>(
        &self,
        (id, name): (XmlNodeId, &str),
        outside: &[Declaration],
        out: &mut String,
        step: &mut impl FnMut(usize) -> Result<(), E>,
    ) -> Result<(), E> {
        step(name.len() * 2)?;
        out.push('<');
        out.push_str(name);
        let declarations = self.document.declarations(id);
        let own: HashSet<&str> = match outside.is_empty() {
            true => HashSet::new(),
            false => declarations.iter().map(|(prefix, _)| &**prefix).collect(),
        };
        let inherited = outside.iter().filter(|(prefix, _)| !own.contains(&**prefix));
        for (prefix, namespace) in inherited.chain(declarations) {
            step(prefix.len() + namespace.len())?;
            out.push_str(if prefix.is_empty() { " xmlns" } else { " xmlns:" });
            out.push_str(prefix);
            push_value(out, namespace);
        }
        for attribute in self.document.attributes(id) {
            step(attribute.name.len() + attribute.value.len())?;
            out.push(' ');
            out.push_str(&attribute.name);
            push_value(out, &attribute.value);
        }
        let mut children = self.document.children(id).peekable();
        if children.peek().is_none() {
            out.push_str("/>");
            return Ok(());
        }
        out.push('>');
        for child in children {
            self.write_within(child, &[], out, step)?;
        }
        out.push_str("</");
        out.push_str(name);
        out.push('>');
        Ok(())
    }
}

/// Of an attribute or a declaration.
fn push_value(out: &mut String, value: &str) {
    out.push_str("=\"");
    push_attribute_value(out, value);
    out.push('"');
}
