//! Writes what constructors make.

use std::collections::HashSet;
use std::sync::Arc;

use selenite_types::{XmlDocument, XmlNodeWriter, local_name, push_attribute_value, push_text};

use super::super::item::MadeAttribute;
use super::super::{Binding, Content, ElementConstructor, Item, MadeNode, QueryExpr};
use super::{Context, Evaluation};
use crate::{Ends, SqlError};

/// The content of an element while it is written.
#[derive(Default)]
pub(crate) struct NodeContent {
    /// Attributes: names with their prefixes, and values. Declarations of namespaces are among them.
    pub attributes: Vec<(Arc<str>, String)>,
    /// Their namespaces and local names; of a declaration the prefix.
    names: HashSet<(Arc<str>, Arc<str>)>,
    /// What is inside, as xml.
    pub xml: String,
    /// The text since the last node.
    text: String,
    /// Whether there is a node other than a text.
    has_nodes: bool,
}

impl Evaluation<'_> {
    /// The nodes of a constructor; empty of a text without a value.
    pub(super) fn made(&mut self, expr: &QueryExpr, context: Context<'_>) -> Result<Vec<Item>, SqlError> {
        let node = match expr {
            QueryExpr::Element(element) => MadeNode::Xml(self.element(element, context)?),
            QueryExpr::Markup(text) => MadeNode::Xml(text.to_string()),
            QueryExpr::TextNode(value) => {
                let items = self.evaluate(value, context)?;
                if items.is_empty() {
                    return Ok(Vec::new());
                }
                MadeNode::Text(self.joined(&items)?)
            }
            QueryExpr::Attribute((_, namespace), name, value) => {
                let items = self.evaluate(value, context)?;
                MadeNode::Attribute(MadeAttribute {
                    name: Arc::clone(name),
                    namespace: Arc::clone(namespace),
                    value: self.joined(&items)?,
                })
            }
            QueryExpr::Number(_)
            | QueryExpr::Text(_)
            | QueryExpr::External(_)
            | QueryExpr::Path(_)
            | QueryExpr::Compare(..)
            | QueryExpr::And(_)
            | QueryExpr::Or(_)
            | QueryExpr::Call(..)
            | QueryExpr::Sequence(_)
            | QueryExpr::Variable(_)
            | QueryExpr::Arithmetic(..)
            | QueryExpr::Negate(_)
            | QueryExpr::If(_)
            | QueryExpr::Flwor(_)
            | QueryExpr::Quantified(..) => return Err(SqlError::internal("no constructor")),
        };
        Ok(vec![Item::Made(Arc::new(node))])
    }

    fn element(&mut self, element: &ElementConstructor, context: Context<'_>) -> Result<String, SqlError> {
        let scoped = self.scope.len();
        let mut content = NodeContent::default();
        for binding in &element.declared {
            self.declare(binding, &mut content)?;
        }
        for binding in &element.used {
            if !self.binds(binding) {
                self.declare(binding, &mut content)?;
            }
        }
        for (name, namespace, value) in &element.attributes {
            let items = self.evaluate(value, context)?;
            let value = self.joined(&items)?;
            self.push_attribute(&mut content, name, namespace, value)?;
        }
        for part in &element.content {
            match part {
                Content::Text(text) => self.push_text(&mut content, text)?,
                Content::Expr(expr) => {
                    let items = self.evaluate(expr, context)?;
                    self.push_items(&mut content, &items)?;
                }
            }
        }
        content.flush();
        self.scope.truncate(scoped);
        let mut xml = format!("<{}", element.name);
        for (name, value) in &content.attributes {
            xml.push_str(&format!(" {name}=\""));
            push_attribute_value(&mut xml, value);
            xml.push('"');
        }
        self.reader.work(xml.len() + content.xml.len())?;
        self.reader.hold(xml.len() + content.xml.len())?;
        match content.xml.is_empty() {
            true => xml.push_str("/>"),
            false => xml.push_str(&format!(">{}</{}>", content.xml, element.name)),
        }
        Ok(xml)
    }

    /// Whether a prefix has this namespace where nodes are made.
    fn binds(&self, (prefix, namespace): &Binding) -> bool {
        let known = self.scope.iter().rev().find(|(known, _)| known == prefix);
        match known {
            Some((_, known)) => known == namespace,
            None => namespace.is_empty() || **prefix == *"xml",
        }
    }

    /// Declares a namespace on the element.
    ///
    /// Errors: 6308 if the element declares the prefix.
    fn declare(&mut self, (prefix, namespace): &Binding, content: &mut NodeContent) -> Result<(), SqlError> {
        let name = match prefix.is_empty() {
            true => Arc::from("xmlns"),
            false => Arc::from(format!("xmlns:{prefix}")),
        };
        let key = (Arc::from(XMLNS_NAMESPACE), Arc::clone(prefix));
        self.push_named(content, &name, key, namespace.to_string())?;
        self.scope.push((Arc::clone(prefix), Arc::clone(namespace)));
        Ok(())
    }

    /// Errors: 6308 for a name that the element has.
    fn push_attribute(
        &mut self,
        content: &mut NodeContent,
        name: &Arc<str>,
        namespace: &Arc<str>,
        value: String,
    ) -> Result<(), SqlError> {
        let key = (Arc::clone(namespace), Arc::from(local_name(name)));
        self.push_named(content, name, key, value)
    }

    fn push_named(
        &mut self,
        content: &mut NodeContent,
        name: &Arc<str>,
        key: (Arc<str>, Arc<str>),
        value: String,
    ) -> Result<(), SqlError> {
        self.reader.work(value.len() + 1)?;
        self.reader
            .hold(2 * name.len() + value.len() + 2 * size_of::<(Arc<str>, String)>())?;
        if !content.names.insert(key) {
            return Err(SqlError::xml_duplicate_attribute(name));
        }
        content.attributes.push((Arc::clone(name), value));
        Ok(())
    }

    fn push_text(&mut self, content: &mut NodeContent, text: &str) -> Result<(), SqlError> {
        self.reader.work(text.len())?;
        self.reader.hold(text.len())?;
        content.text.push_str(text);
        Ok(())
    }

    /// Appends items: values beside each other have a blank between them.
    ///
    /// Errors: 6307 for an attribute behind a node, 6308 for one twice.
    pub(crate) fn push_items(&mut self, content: &mut NodeContent, items: &[Item]) -> Result<(), SqlError> {
        let mut after_value = false;
        for item in items {
            let is_value = match item {
                Item::Text(_) | Item::Number(_) | Item::Boolean(_) => {
                    if after_value {
                        content.text.push(' ');
                    }
                    let text = self.reader.text(item)?;
                    content.text.push_str(&text);
                    true
                }
                Item::Node(id) => {
                    content.flush();
                    content.has_nodes = true;
                    self.copy(self.reader.document, *id, content)?;
                    false
                }
                Item::Attribute(id, at) => {
                    let document = self.reader.document;
                    if let Some(attribute) = document.attributes(*id).get(*at) {
                        let value = self.reader.text(item)?;
                        self.hoist(content, &attribute.name, &attribute.namespace, value)?;
                    }
                    false
                }
                Item::Made(node) => {
                    match &**node {
                        MadeNode::Text(text) => self.push_text(content, text)?,
                        MadeNode::Attribute(made) => {
                            self.hoist(content, &made.name, &made.namespace, made.value.clone())?;
                        }
                        MadeNode::Fragment(_) => return Err(SqlError::xml_outside_insert()),
                        MadeNode::Xml(xml) => {
                            content.flush();
                            content.has_nodes = true;
                            self.reader.work(xml.len())?;
                            self.reader.hold(xml.len())?;
                            content.xml.push_str(xml);
                        }
                    }
                    false
                }
            };
            after_value = is_value;
        }
        Ok(())
    }

    /// A copy of a node, whose namespaces are declared where they are not in force.
    pub(crate) fn copy(
        &mut self,
        document: &XmlDocument,
        id: selenite_types::XmlNodeId,
        content: &mut NodeContent,
    ) -> Result<(), SqlError> {
        let Self {
            reader,
            scope,
            prolog,
            made,
            ..
        } = self;
        let mut writer = XmlNodeWriter::new(document).of_query(prolog, *made);
        writer.write_in(id, scope, &mut content.xml, &mut |bytes| {
            reader.work(bytes + 1)?;
            reader.hold(bytes)
        })?;
        *made = writer.made();
        Ok(())
    }

    /// Places an attribute on the element whose content has it.
    fn hoist(
        &mut self,
        content: &mut NodeContent,
        name: &Arc<str>,
        namespace: &Arc<str>,
        value: String,
    ) -> Result<(), SqlError> {
        if content.has_nodes {
            return Err(SqlError::xml_late_attribute());
        }
        if let Some((prefix, _)) = name.split_once(':') {
            let binding = (Arc::from(prefix), Arc::clone(namespace));
            if !self.binds(&binding) {
                self.declare(&binding, content)?;
            }
        }
        self.push_attribute(content, name, namespace, value)
    }

    /// The values of items, with blanks between them.
    pub(crate) fn joined(&mut self, items: &[Item]) -> Result<String, SqlError> {
        let mut out = String::new();
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                out.push(' ');
            }
            self.reader.append_text(item, &mut out)?;
        }
        Ok(out)
    }
}

impl NodeContent {
    /// Whether there is an attribute of a name.
    pub fn has(&self, name: &str, namespace: &Arc<str>) -> bool {
        self.names
            .contains(&(Arc::clone(namespace), Arc::from(local_name(name))))
    }

    /// Whether a prefix is declared, the default for none.
    pub fn declares(&self, prefix: &str) -> bool {
        self.names.contains(&(Arc::from(XMLNS_NAMESPACE), Arc::from(prefix)))
    }

    /// Writes the text since the last node.
    pub fn flush(&mut self) {
        push_text(&mut self.xml, &self.text);
        self.text.clear();
    }
}

/// The namespace of declarations.
const XMLNS_NAMESPACE: &str = "http://www.w3.org/2000/xmlns/";

impl SqlError {
    /// 9342: xml from outside that is not inserted as it is.
    pub(crate) fn xml_outside_insert() -> Self {
        let text = "XQuery: An XML instance is only supported as the direct source of an insert using sql:column/sql:variable.";
        Self::new(9342, Ends::Batch, text)
    }

    /// 6308: two attributes of a name.
    pub(crate) fn xml_duplicate_attribute(name: &str) -> Self {
        let text = format!(
            "XML well-formedness check: Duplicate attribute '{name}'. Rewrite your XQuery so it returns well-formed XML."
        );
        Self::new(6308, Ends::Transaction, text)
    }

    /// 6307: an attribute behind a node.
    pub(crate) fn xml_late_attribute() -> Self {
        let text = "XML well-formedness check: Attribute cannot appear outside of element declaration. Rewrite your XQuery so \
                    it returns well-formed XML.";
        Self::new(6307, Ends::Transaction, text)
    }
}
