//! Evaluates a query over a document.

use std::collections::HashSet;
use std::sync::Arc;

use selenite_types::{Comparison, XmlDocument, XmlNodeKind, local_name};

use super::call::{called, is_true, name_of};
use super::{Axis, Item, NodeTest, PathStart, QueryExpr, QueryPath, QueryStep};
use crate::SqlError;

/// A document with what a query may ask for besides.
pub(crate) struct Evaluation<'a> {
    /// The nodes.
    pub document: &'a XmlDocument,
    /// The values from outside; none for NULL.
    pub externals: Vec<Option<Item>>,
    /// Counts a step of the evaluation, which may be interrupted, and the bytes of the texts that it has made, for which
    /// memory is requested.
    pub step: &'a mut dyn FnMut(usize) -> Result<(), SqlError>,
}

/// Where an expression is evaluated.
#[derive(Clone, Copy)]
struct Context<'a> {
    item: &'a Item,
    /// From 1.
    position: usize,
    size: usize,
}

impl Evaluation<'_> {
    /// The items of an expression at a node.
    ///
    /// Errors: the error of an interruption.
    pub fn items(&mut self, expr: &QueryExpr, item: &Item) -> Result<Vec<Item>, SqlError> {
        let context = Context {
            item,
            position: 1,
            size: 1,
        };
        self.evaluate(expr, context)
    }

    fn evaluate(&mut self, expr: &QueryExpr, context: Context<'_>) -> Result<Vec<Item>, SqlError> {
        (self.step)(0)?;
        Ok(match expr {
            QueryExpr::Number(number) => vec![Item::Number(*number)],
            QueryExpr::Text(text) => vec![Item::Text(Arc::clone(text))],
            QueryExpr::External(at) => self.externals.get(*at).cloned().flatten().into_iter().collect(),
            QueryExpr::Path(path) => self.path(path, context)?,
            QueryExpr::Compare(comparison, left, right) => {
                let (left, right) = (self.evaluate(left, context)?, self.evaluate(right, context)?);
                vec![Item::Boolean(self.compares(*comparison, &left, &right)?)]
            }
            QueryExpr::And(parts) => {
                for part in parts {
                    if !is_true(&self.evaluate(part, context)?) {
                        return Ok(vec![Item::Boolean(false)]);
                    }
                }
                vec![Item::Boolean(true)]
            }
            QueryExpr::Or(parts) => {
                for part in parts {
                    if is_true(&self.evaluate(part, context)?) {
                        return Ok(vec![Item::Boolean(true)]);
                    }
                }
                vec![Item::Boolean(false)]
            }
            QueryExpr::Call(function, arguments) => {
                let mut values = Vec::with_capacity(arguments.len().max(1));
                for argument in arguments {
                    values.push(self.evaluate(argument, context)?);
                }
                // Without an argument a function is of the context.
                if values.is_empty() {
                    values.push(vec![context.item.clone()]);
                }
                let result = called(*function, &values, self.document, (context.position, context.size));
                (self.step)(result.iter().map(Item::text_size).sum())?;
                result
            }
            QueryExpr::Sequence(parts) => {
                let mut items = Vec::new();
                for part in parts {
                    items.extend(self.evaluate(part, context)?);
                }
                items
            }
        })
    }

    /// Whether a comparison is true of one item of each side.
    fn compares(&mut self, comparison: Comparison, left: &[Item], right: &[Item]) -> Result<bool, SqlError> {
        let is_number = |item: &Item| matches!(item, Item::Number(_));
        for first in left {
            for second in right {
                (self.step)(0)?;
                let order = match is_number(first) || is_number(second) {
                    true => first
                        .as_number(self.document)
                        .partial_cmp(&second.as_number(self.document)),
                    false => Some(first.text(self.document).cmp(&second.text(self.document))),
                };
                if order.is_some_and(|order| comparison.holds(order)) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    fn path(&mut self, path: &QueryPath, context: Context<'_>) -> Result<Vec<Item>, SqlError> {
        let start = match &path.start {
            PathStart::Context => vec![context.item.clone()],
            PathStart::Root => vec![Item::Node(self.document.root())],
            PathStart::Expr(expr) => self.evaluate(expr, context)?,
        };
        let mut items = self.filtered(start, &path.predicates)?;
        for step in &path.steps {
            let mut found = Vec::new();
            let mut known = HashSet::new();
            for item in &items {
                let selected = self.selected(step, item)?;
                for selected in self.filtered(selected, &step.predicates)? {
                    if selected.number().is_none_or(|number| known.insert(number)) {
                        found.push(selected);
                    }
                }
            }
            // Attributes are behind their element, and before what is in it.
            found.sort_by_key(|item| match item {
                Item::Node(id) => (id.0, 0),
                Item::Attribute(id, at) => (id.0, at + 1),
                Item::Text(_) | Item::Number(_) | Item::Boolean(_) => (0, 0),
            });
            items = found;
        }
        Ok(items)
    }

    /// The items that satisfy each predicate: a number is a position.
    fn filtered(&mut self, mut items: Vec<Item>, predicates: &[QueryExpr]) -> Result<Vec<Item>, SqlError> {
        for predicate in predicates {
            let size = items.len();
            let mut kept = Vec::new();
            for (at, item) in items.into_iter().enumerate() {
                let position = at + 1;
                let context = Context {
                    item: &item,
                    position,
                    size,
                };
                let result = self.evaluate(predicate, context)?;
                let keeps = match result.as_slice() {
                    [Item::Number(number)] => *number == super::call::count(position),
                    items => is_true(items),
                };
                if keeps {
                    kept.push(item);
                }
            }
            items = kept;
        }
        Ok(items)
    }

    /// The nodes of a step from a node, in document order.
    fn selected(&mut self, step: &QueryStep, item: &Item) -> Result<Vec<Item>, SqlError> {
        let document = self.document;
        let parent = |item: &Item| match item {
            Item::Node(id) => document.node(*id).and_then(|node| node.parent).map(Item::Node),
            Item::Attribute(id, _) => Some(Item::Node(*id)),
            Item::Text(_) | Item::Number(_) | Item::Boolean(_) => None,
        };
        let mut found = Vec::new();
        match (step.axis, item) {
            (Axis::Own, own) => found.push(own.clone()),
            (Axis::Parent, own) => found.extend(parent(own)),
            (Axis::DescendantOrSelf, own @ Item::Attribute(..)) => found.push(own.clone()),
            (Axis::Child, Item::Node(id)) => found.extend(document.children(*id).map(Item::Node)),
            (Axis::Attribute, Item::Node(id)) => {
                let attributes = document.attributes(*id);
                found.extend((0..attributes.len()).map(|at| Item::Attribute(*id, at)));
            }
            (Axis::Descendant, Item::Node(id)) => found.extend(document.descendants(*id).map(Item::Node)),
            (Axis::DescendantOrSelf, Item::Node(id)) => {
                found.push(item.clone());
                found.extend(document.descendants(*id).map(Item::Node));
            }
            (
                Axis::Child | Axis::Attribute | Axis::Descendant,
                Item::Attribute(..) | Item::Text(_) | Item::Number(_) | Item::Boolean(_),
            )
            | (Axis::DescendantOrSelf, Item::Text(_) | Item::Number(_) | Item::Boolean(_)) => {}
        }
        let mut kept = Vec::new();
        for node in found {
            (self.step)(0)?;
            if self.passes(&step.test, step.axis, &node) {
                kept.push(node);
            }
        }
        Ok(kept)
    }

    fn passes(&self, test: &NodeTest, axis: Axis, item: &Item) -> bool {
        let kind = match item {
            Item::Node(id) => self.document.node(*id).map(|node| &node.kind),
            Item::Attribute(..) | Item::Text(_) | Item::Number(_) | Item::Boolean(_) => None,
        };
        match test {
            NodeTest::Node => true,
            NodeTest::Text => matches!(kind, Some(XmlNodeKind::Text(_))),
            NodeTest::Comment => matches!(kind, Some(XmlNodeKind::Comment(_))),
            NodeTest::Instruction(target) => match kind {
                Some(XmlNodeKind::Instruction(found, _)) => target.as_ref().is_none_or(|target| target == found),
                Some(
                    XmlNodeKind::Root | XmlNodeKind::Element { .. } | XmlNodeKind::Text(_) | XmlNodeKind::Comment(_),
                )
                | None => false,
            },
            NodeTest::Name { namespace, local } => {
                let is_named = match axis {
                    Axis::Attribute => matches!(item, Item::Attribute(..)),
                    Axis::Child | Axis::Own | Axis::Parent | Axis::Descendant | Axis::DescendantOrSelf => {
                        matches!(kind, Some(XmlNodeKind::Element { .. }))
                    }
                };
                let (name, found) = name_of(item, self.document);
                is_named
                    && local.as_ref().is_none_or(|local| **local == *local_name(&name))
                    && namespace.as_ref().is_none_or(|namespace| *namespace == found)
            }
        }
    }
}
