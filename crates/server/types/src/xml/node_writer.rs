//! Writes nodes of a document as xml.
//!
//! - `names-keep-their-namespaces`: a name whose prefix is not bound where it is written gets one that is: of the nodes
//!   around, of the query, or a new one, `p1` and so on, as SQL Server has it.

mod scope;

use std::sync::Arc;

use super::document::{XmlDocument, XmlNodeId, XmlNodeKind};
use super::edit::{XmlEdit, XmlPlace};
use super::writer::{push_attribute_value, push_text};
use scope::Scope;

/// Writes nodes of a document, each with the declarations of the namespaces that it uses from outside.
pub struct XmlNodeWriter<'a> {
    document: &'a XmlDocument,
    edit: Option<&'a XmlEdit>,
    /// The declarations of the query, the last one of a prefix counts.
    prolog: &'a [Declaration],
    scope: Scope,
}

/// A prefix, empty for the default, and its namespace.
pub(super) type Declaration = (Arc<str>, Arc<str>);

impl<'a> XmlNodeWriter<'a> {
    /// A writer of this document's nodes.
    #[must_use]
    pub fn new(document: &'a XmlDocument) -> Self {
        Self {
            document,
            edit: None,
            prolog: &[],
            scope: Scope::default(),
        }
    }

    /// A writer of this document's nodes that makes a change.
    #[must_use]
    pub fn editing(document: &'a XmlDocument, edit: &'a XmlEdit) -> Self {
        Self {
            edit: Some(edit),
            ..Self::new(document)
        }
    }

    /// With the declarations of a query, for which so many prefixes were made before.
    #[must_use]
    pub fn of_query(mut self, prolog: &'a [Declaration], made: usize) -> Self {
        self.prolog = prolog;
        self.scope.made = made;
        self
    }

    /// How many prefixes were made for the query.
    #[must_use]
    pub fn made(&self) -> usize {
        self.scope.made
    }

    /// Appends a node where these declarations are in force, the innermost of a prefix last.
    ///
    /// # Errors
    /// Those of `step`.
    pub fn write_in<E>(
        &mut self,
        id: XmlNodeId,
        around: &[Declaration],
        out: &mut String,
        step: &mut impl FnMut(usize) -> Result<(), E>,
    ) -> Result<(), E> {
        step(around.len())?;
        around.iter().for_each(|declaration| self.scope.push(declaration));
        let done = self.write(id, out, step);
        around.iter().for_each(|declaration| self.scope.pop(declaration));
        done
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
        if self.edit.is_some_and(|edit| edit.deletes(id)) {
            return Ok(());
        }
        step(0)?;
        self.insert(id, XmlPlace::Before, out, step)?;
        match self.kind(id) {
            Some(XmlNodeKind::Root) => {
                self.insert(id, XmlPlace::First, out, step)?;
                for child in self.document.children(id) {
                    self.write(child, out, step)?;
                }
                self.insert(id, XmlPlace::Last, out, step)?;
            }
            Some(XmlNodeKind::Element { .. }) => self.write_element(id, out, step)?,
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

    fn inserted(&self, id: XmlNodeId, place: XmlPlace) -> &'a str {
        self.edit.map_or("", |edit| edit.inserted(id, place))
    }

    fn kind(&self, id: XmlNodeId) -> Option<&'a XmlNodeKind> {
        self.document.node(id).map(|node| &node.kind)
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
        &mut self,
        id: XmlNodeId,
        out: &mut String,
        step: &mut impl FnMut(usize) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(XmlNodeKind::Element { name, namespace, .. }) = self.kind(id) else {
            return Ok(());
        };
        let declarations = self.document.declarations(id);
        declarations.iter().for_each(|declaration| self.scope.push(declaration));
        step(name.len() * 2 + declarations.len())?;
        let (name, added) = self.scope.written(name, namespace, false, self.prolog);
        out.push('<');
        out.push_str(&name);
        let mut all_added = Vec::new();
        self.declare(added, &mut all_added, out, step)?;
        // A new attribute stands behind each one that was there, declarations among them, and the others last.
        let mut new = self.edit.map_or(&[][..], |edit| edit.attributes(id)).iter();
        for (prefix, namespace) in declarations {
            step(prefix.len() + namespace.len())?;
            push_declaration(out, prefix, namespace);
            push_added(&mut new, out, step)?;
        }
        for (at, attribute) in self.document.attributes(id).iter().enumerate() {
            if self.edit.is_some_and(|edit| edit.deletes_attribute(id, at)) {
                continue;
            }
            let value = self.edit.and_then(|edit| edit.replaced(id, Some(at)));
            let value = value.unwrap_or(&attribute.value);
            step(attribute.name.len() + value.len())?;
            let (name, added) = self
                .scope
                .written(&attribute.name, &attribute.namespace, true, self.prolog);
            self.declare(added, &mut all_added, out, step)?;
            push_attribute(out, &name, value);
            push_added(&mut new, out, step)?;
        }
        while push_added(&mut new, out, step)? {}
        self.write_content(id, &name, out, step)?;
        all_added
            .iter()
            .chain(declarations)
            .for_each(|declaration| self.scope.pop(declaration));
        Ok(())
    }

    /// Ends the start tag, and writes what is in the element and its end tag.
    fn write_content<E>(
        &mut self,
        id: XmlNodeId,
        name: &str,
        out: &mut String,
        step: &mut impl FnMut(usize) -> Result<(), E>,
    ) -> Result<(), E> {
        out.push('>');
        let start = out.len();
        self.insert(id, XmlPlace::First, out, step)?;
        for child in self.document.children(id) {
            self.write(child, out, step)?;
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

    /// Writes a declaration that the document does not have here.
    fn declare<E>(
        &mut self,
        added: Option<Declaration>,
        all: &mut Vec<Declaration>,
        out: &mut String,
        step: &mut impl FnMut(usize) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(declaration) = added else { return Ok(()) };
        let (prefix, namespace) = &declaration;
        // It was looked for in the query.
        step(self.prolog.len())?;
        step(prefix.len() + namespace.len())?;
        push_declaration(out, prefix, namespace);
        self.scope.push(&declaration);
        all.push(declaration);
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

fn push_declaration(out: &mut String, prefix: &str, namespace: &str) {
    out.push_str(if prefix.is_empty() { " xmlns" } else { " xmlns:" });
    out.push_str(prefix);
    push_value(out, namespace);
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
