//! The changes of modify().

use std::collections::HashSet;

use selenite_types::{XmlDocument, XmlEdit, XmlNodeId, XmlNodeKind, XmlNodeWriter, XmlPlace};

use super::evaluate::NodeContent;
use super::{Binding, Evaluation, External, Item, MadeNode, QueryExpr};
use crate::{Ends, SqlError};

/// A parsed change.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct XmlChange {
    /// What it does.
    pub kind: XmlChangeKind,
    /// What sql:column and sql:variable name, in the order of [`QueryExpr::External`].
    pub externals: Vec<External>,
    /// Which of them are inserted as they are, and may be xml.
    pub inserted: Vec<usize>,
    /// The declarations of its prolog, the last one of a prefix counts.
    pub prolog: Vec<Binding>,
}

/// What a change does.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum XmlChangeKind {
    /// `insert`: the nodes, the place, and what it is a place of.
    Insert(QueryExpr, InsertPlace, QueryExpr),
    /// `delete`.
    Delete(QueryExpr),
    /// `replace value of`: the node, and the value.
    Replace(QueryExpr, QueryExpr),
}

/// Where nodes are inserted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum InsertPlace {
    /// `as first into`
    First,
    /// `into` and `as last into`
    Last,
    /// `before`
    Before,
    /// `after`
    After,
}

impl Evaluation<'_> {
    /// The document with a change; `None` if there is nothing to change.
    ///
    /// Errors: 2207, 2240, 2249, 2258, 2264, 6308, 6320, 6325, and any error of the expressions.
    pub fn changed(&mut self, change: &XmlChange) -> Result<Option<String>, SqlError> {
        let root = Item::Node(self.reader.document.root());
        let edit = match &change.kind {
            XmlChangeKind::Delete(target) => {
                let targets = self.items(target, &root)?;
                self.deletion(&targets)?
            }
            XmlChangeKind::Replace(target, value) => match self.items(target, &root)?.first() {
                Some(target) => Some(self.replacement(target, value, &root)?),
                None => None,
            },
            XmlChangeKind::Insert(source, place, target) => match self.items(target, &root)?.first() {
                Some(target) => Some(self.insertion(source, *place, target, &root)?),
                None => None,
            },
        };
        let Some(edit) = edit else { return Ok(None) };
        let mut out = String::new();
        let document = self.reader.document;
        XmlNodeWriter::editing(document, &edit).write(document.root(), &mut out, &mut |bytes| {
            self.reader.work(bytes + 1)?;
            self.reader.hold(bytes)
        })?;
        Ok(Some(out))
    }

    fn deletion(&mut self, targets: &[Item]) -> Result<Option<XmlEdit>, SqlError> {
        let (mut nodes, mut attributes) = (HashSet::new(), HashSet::new());
        for target in targets {
            self.reader.hold(2 * size_of::<(XmlNodeId, usize)>())?;
            match target {
                Item::Node(id) if *id != self.reader.document.root() => {
                    nodes.insert(*id);
                }
                Item::Attribute(id, at) => {
                    attributes.insert((*id, *at));
                }
                Item::Node(_) => return Err(SqlError::xml_not_deleted("document")),
                Item::Text(_) | Item::Number(_) | Item::Boolean(_) | Item::Made(_) => {
                    return Err(SqlError::xml_not_deleted("xdt:untypedAtomic"));
                }
            }
        }
        Ok((!targets.is_empty()).then_some(XmlEdit::Delete(nodes, attributes)))
    }

    fn replacement(&mut self, target: &Item, value: &QueryExpr, root: &Item) -> Result<XmlEdit, SqlError> {
        let (id, attribute) = match target {
            Item::Attribute(id, at) => (*id, Some(*at)),
            Item::Node(id) => (*id, None),
            Item::Text(_) | Item::Number(_) | Item::Boolean(_) | Item::Made(_) => {
                return Err(SqlError::xml_not_replaced("xdt:untypedAtomic ?"));
            }
        };
        if attribute.is_none() && !matches!(self.kind_of(id), Some(XmlNodeKind::Text(_))) {
            return Err(SqlError::xml_not_replaced("node() ?"));
        }
        let items = self.items(value, root)?;
        if items.is_empty() && attribute.is_some() {
            return Err(SqlError::xml_emptied_attribute());
        }
        let is_written = matches!(value, QueryExpr::Sequence(parts) if parts.is_empty());
        if items.is_empty() && !is_written {
            return Err(SqlError::xml_emptied_text());
        }
        Ok(XmlEdit::Replace(id, attribute, self.joined(&items)?))
    }

    fn insertion(
        &mut self,
        source: &QueryExpr,
        place: InsertPlace,
        target: &Item,
        root: &Item,
    ) -> Result<XmlEdit, SqlError> {
        let (at, kind) = match target {
            Item::Node(id) => (*id, self.kind_of(*id)),
            Item::Attribute(id, _) => (*id, None),
            Item::Text(_) | Item::Number(_) | Item::Boolean(_) | Item::Made(_) => {
                return Err(SqlError::internal("nodes are inserted by a value"));
            }
        };
        let is_inside = matches!(place, InsertPlace::First | InsertPlace::Last);
        match (is_inside, kind) {
            (true, Some(XmlNodeKind::Element { .. } | XmlNodeKind::Root)) => {}
            (true, _) => return Err(SqlError::xml_not_inserted_into("node() ?")),
            (false, None | Some(XmlNodeKind::Root)) => return Err(SqlError::xml_not_inserted_beside("node() ?")),
            (false, Some(_)) => {}
        }
        let around = match is_inside {
            true => Some(at),
            false => self.reader.document.node(at).and_then(|node| node.parent),
        };
        self.scope = around.map(|id| self.reader.document.scope(id)).unwrap_or_default();
        let items = self.items(source, root)?;
        let content = self.inserted_content(&items)?;
        if !content.attributes.is_empty() {
            if !is_inside {
                return Err(SqlError::xml_attribute_beside("attribute(*,xdt:untypedAtomic)"));
            }
            self.check_new_attributes(at, &content)?;
        }
        Ok(XmlEdit::Insert {
            at,
            place: match place {
                InsertPlace::First => XmlPlace::First,
                InsertPlace::Last => XmlPlace::Last,
                InsertPlace::Before => XmlPlace::Before,
                InsertPlace::After => XmlPlace::After,
            },
            xml: content.xml,
            attributes: content.attributes,
        })
    }

    /// What is inserted: attributes may be among the nodes.
    fn inserted_content(&mut self, items: &[Item]) -> Result<NodeContent, SqlError> {
        let mut content = NodeContent::default();
        let is_attribute = |item: &Item| match item {
            Item::Attribute(..) => true,
            Item::Made(node) => matches!(**node, MadeNode::Attribute(_)),
            Item::Node(_) | Item::Text(_) | Item::Number(_) | Item::Boolean(_) => false,
        };
        for item in items {
            if let Item::Text(_) | Item::Number(_) | Item::Boolean(_) = item {
                return Err(SqlError::xml_not_inserted("xdt:untypedAtomic"));
            }
        }
        let (attributes, nodes): (Vec<Item>, Vec<Item>) = items.iter().cloned().partition(is_attribute);
        self.push_items(&mut content, &attributes)?;
        for node in &nodes {
            match node {
                Item::Made(made) => match &**made {
                    // sql:variable and sql:column: its namespaces are not those of the place.
                    MadeNode::Fragment(xml) => {
                        content.flush();
                        self.reader.hold(XmlDocument::size_max(xml))?;
                        let fragment =
                            XmlDocument::parse(xml).map_err(|error| SqlError::internal(&error.to_string()))?;
                        self.copy(&fragment, fragment.root(), &mut content)?;
                    }
                    MadeNode::Xml(_) | MadeNode::Text(_) | MadeNode::Attribute(_) => {
                        self.push_items(&mut content, std::slice::from_ref(node))?;
                    }
                },
                Item::Node(_) | Item::Attribute(..) | Item::Text(_) | Item::Number(_) | Item::Boolean(_) => {
                    self.push_items(&mut content, std::slice::from_ref(node))?;
                }
            }
        }
        content.flush();
        Ok(content)
    }

    /// Errors: 6308 for an attribute that the element has; 40510 for another namespace of one of its prefixes.
    fn check_new_attributes(&mut self, at: XmlNodeId, content: &NodeContent) -> Result<(), SqlError> {
        let document = self.reader.document;
        if !matches!(self.kind_of(at), Some(XmlNodeKind::Element { .. })) {
            return Err(SqlError::xml_late_attribute());
        }
        // What is in the element may use the prefix, too.
        if document.scope(at).iter().any(|(prefix, _)| content.declares(prefix)) {
            return Err(SqlError::unsupported(
                "An attribute whose prefix has another namespace in its element",
            ));
        }
        let known = document.attributes(at);
        let twice = known.iter().find(|known| content.has(&known.name, &known.namespace));
        self.reader.work(known.len() + content.attributes.len())?;
        match twice {
            Some(attribute) => Err(SqlError::xml_duplicate_attribute(&attribute.name)),
            None => Ok(()),
        }
    }

    fn kind_of(&self, id: XmlNodeId) -> Option<&XmlNodeKind> {
        self.reader.document.node(id).map(|node| &node.kind)
    }
}

impl SqlError {
    fn of_change(number: i32, text: String) -> Self {
        Self::new(number, Ends::Batch, format!("XQuery [modify()]: {text}"))
    }

    /// 2207: a value where a node is inserted.
    pub(crate) fn xml_not_inserted(found: &str) -> Self {
        Self::of_change(
            2207,
            format!("Only non-document nodes can be inserted. Found \"{found}\"."),
        )
    }

    /// 2226: a place that is not one node.
    pub(crate) fn xml_insert_not_single(found: &str) -> Self {
        let text = format!("The target of 'insert' must be a single node, found '{found}'");
        Self::of_change(2226, text)
    }

    /// 2240: a place that has no content.
    pub(crate) fn xml_not_inserted_into(found: &str) -> Self {
        let text = format!("The target of 'insert into' must be an element/document node, found '{found}'");
        Self::of_change(2240, text)
    }

    /// 2249: a place that has no siblings.
    pub(crate) fn xml_not_inserted_beside(found: &str) -> Self {
        let text =
            format!("The target of 'insert before/after' must be an element/PI/comment/text node, found '{found}'");
        Self::of_change(2249, text)
    }

    /// 2258: an attribute before or behind a node.
    pub(crate) fn xml_attribute_beside(found: &str) -> Self {
        let text = format!("The position may not be specified when inserting an attribute node, found '{found}'");
        Self::of_change(2258, text)
    }

    /// 2264: what is no node is not deleted.
    pub(crate) fn xml_not_deleted(found: &str) -> Self {
        Self::of_change(2264, format!("Only non-document nodes may be deleted, found '{found}'"))
    }

    /// 2337: several nodes that get a value.
    pub(crate) fn xml_replace_not_single(found: &str) -> Self {
        let text = format!("The target of 'replace' must be at most one node, found '{found}'");
        Self::of_change(2337, text)
    }

    /// 2356: a node that has no value of its own.
    pub(crate) fn xml_not_replaced(found: &str) -> Self {
        let text = format!(
            "The target of 'replace value of' must be a non-metadata attribute or an element with simple typed content, found \
             '{found}'"
        );
        Self::of_change(2356, text)
    }

    /// 6320: an attribute without a value.
    fn xml_emptied_attribute() -> Self {
        let text = "XQuery: Only nillable elements or text nodes can be updated with empty sequence";
        Self::new(6320, Ends::Transaction, text)
    }

    /// 6325: a text without a value.
    fn xml_emptied_text() -> Self {
        let text = "XQuery: Replacing the value of a node with an empty sequence is allowed only if '()' is used as the new value \
                    expression. The new value expression evaluated to an empty sequence but it is not '()'.";
        Self::new(6325, Ends::Transaction, text)
    }
}
