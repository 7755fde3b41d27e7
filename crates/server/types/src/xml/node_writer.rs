//! Writes nodes of a document as xml.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::document::{XmlDocument, XmlNodeId, XmlNodeKind, prefix_of};
use super::edit::{XmlEdit, XmlPlace};
use super::writer::{push_attribute_value, push_text};

/// Writes nodes of a document, each with the declarations of the namespaces that it uses from outside.
pub struct XmlNodeWriter<'a> {
    document: &'a XmlDocument,
    edit: Option<&'a XmlEdit>,
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
            edit: None,
            declared: HashMap::new(),
        }
    }

    /// A writer of this document's nodes that makes a change.
    #[must_use]
    pub fn editing(document: &'a XmlDocument, edit: &'a XmlEdit) -> Self {
        Self {
            document,
            edit: Some(edit),
            declared: HashMap::new(),
        }
    }

    /// Appends a node where these declarations are in force, the innermost of a prefix last.
    ///
    /// # Errors
    /// Those of `step`.
    pub fn write_in<E>(
        &mut self,
        id: XmlNodeId,
        scope: &[Declaration],
        out: &mut String,
        step: &mut impl FnMut(usize) -> Result<(), E>,
    ) -> Result<(), E> {
        if let Some(XmlNodeKind::Root) = self.kind(id) {
            for child in self.document.children(id) {
                self.write_in(child, scope, out, step)?;
            }
            return Ok(());
        }
        let used = self.used_in(id, step)?;
        let mut outside = self.declared_outside(id, &used, step)?;
        let in_force = |prefix: &str| scope.iter().rev().find(|(known, _)| **known == *prefix);
        step(scope.len().saturating_mul(outside.len() + 1))?;
        outside.retain(|(prefix, namespace)| in_force(prefix).is_none_or(|(_, known)| known != namespace));
        let is_declared = outside.iter().any(|(prefix, _)| prefix.is_empty());
        let default = in_force("").is_some_and(|(_, known)| !known.is_empty());
        // An element without a namespace is none of the default one.
        if default && !is_declared && used.contains("") && self.default_outside(id).is_empty() {
            outside.insert(0, (Arc::from(""), Arc::from("")));
        }
        self.write_within(id, &outside, out, step)
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
        let used = self.used_in(id, step)?;
        let outside = self.declared_outside(id, &used, step)?;
        self.write_within(id, &outside, out, step)
    }

    /// The prefixes that a node and what is in it use.
    fn used_in<E>(&self, id: XmlNodeId, step: &mut impl FnMut(usize) -> Result<(), E>) -> Result<HashSet<&'a str>, E> {
        let mut used = HashSet::new();
        for inner in self.document.within(id) {
            step(0)?;
            if let Some(XmlNodeKind::Element { name, attributes, .. }) = self.kind(inner) {
                used.insert(prefix_of(name).unwrap_or_default());
                used.extend(attributes.iter().filter_map(|attribute| prefix_of(&attribute.name)));
            }
        }
        Ok(used)
    }

    /// The default namespace outside of a node.
    fn default_outside(&self, id: XmlNodeId) -> Arc<str> {
        let scope = self.document.node(id).and_then(|node| node.parent);
        let scope = scope.map(|parent| self.document.scope(parent)).unwrap_or_default();
        let default = scope.into_iter().rev().find(|(prefix, _)| prefix.is_empty());
        default.map_or_else(|| Arc::from(""), |(_, namespace)| namespace)
    }

    fn inserted(&self, id: XmlNodeId, place: XmlPlace) -> &'a str {
        self.edit.map_or("", |edit| edit.inserted(id, place))
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
        if self.edit.is_some_and(|edit| edit.deletes(id)) {
            return Ok(());
        }
        self.insert(id, XmlPlace::Before, out, step)?;
        match self.kind(id) {
            Some(XmlNodeKind::Root) => {
                self.insert(id, XmlPlace::First, out, step)?;
                for child in self.document.children(id) {
                    self.write_within(child, &[], out, step)?;
                }
                self.insert(id, XmlPlace::Last, out, step)?;
            }
            Some(XmlNodeKind::Element { name, .. }) => self.write_element((id, name), outside, out, step)?,
            Some(XmlNodeKind::Text(text)) => {
                let text = self.edit.and_then(|edit| edit.replaced(id, None)).unwrap_or(text);
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
        self.insert(id, XmlPlace::After, out, step)
    }

    fn insert<E>(
        &self,
        id: XmlNodeId,
        place: XmlPlace,
        out: &mut String,
        step: &mut impl FnMut(usize) -> Result<(), E>,
    ) -> Result<(), E> {
        let xml = self.inserted(id, place);
        step(xml.len())?;
        out.push_str(xml);
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
        // A new attribute stands behind each one that was there, declarations among them, and the others last.
        let mut added = self.edit.map_or(&[][..], |edit| edit.attributes(id)).iter();
        for (prefix, namespace) in inherited.chain(declarations) {
            step(prefix.len() + namespace.len())?;
            out.push_str(if prefix.is_empty() { " xmlns" } else { " xmlns:" });
            out.push_str(prefix);
            push_value(out, namespace);
            push_added(&mut added, out, step)?;
        }
        for (at, attribute) in self.document.attributes(id).iter().enumerate() {
            if self.edit.is_some_and(|edit| edit.deletes_attribute(id, at)) {
                continue;
            }
            let value = self.edit.and_then(|edit| edit.replaced(id, Some(at)));
            let value = value.unwrap_or(&attribute.value);
            step(attribute.name.len() + value.len())?;
            push_attribute(out, &attribute.name, value);
            push_added(&mut added, out, step)?;
        }
        while push_added(&mut added, out, step)? {}
        out.push('>');
        let start = out.len();
        self.insert(id, XmlPlace::First, out, step)?;
        for child in self.document.children(id) {
            self.write_within(child, &[], out, step)?;
        }
        self.insert(id, XmlPlace::Last, out, step)?;
        if out.len() == start {
            out.insert(start - 1, '/');
            return Ok(());
        }
        out.push_str("</");
        out.push_str(name);
        out.push('>');
        Ok(())
    }
}

/// Whether there was one more.
fn push_added<E>(
    added: &mut std::slice::Iter<'_, (Arc<str>, String)>,
    out: &mut String,
    step: &mut impl FnMut(usize) -> Result<(), E>,
) -> Result<bool, E> {
    let Some((name, value)) = added.next() else {
        return Ok(false);
    };
    step(name.len() + value.len())?;
    push_attribute(out, name, value);
    Ok(true)
}

fn push_attribute(out: &mut String, name: &str, value: &str) {
    out.push(' ');
    out.push_str(name);
    push_value(out, value);
}

/// Of an attribute or a declaration.
fn push_value(out: &mut String, value: &str) {
    out.push_str("=\"");
    push_attribute_value(out, value);
    out.push('"');
}
