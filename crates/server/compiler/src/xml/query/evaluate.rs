//! Evaluates a query over a document.

mod construct;
mod flwor;

pub(super) use construct::NodeContent;

use std::cmp::Ordering;
use std::collections::HashSet;
use std::sync::Arc;

use selenite_types::{Comparison, XmlNodeKind, local_name};

use super::call::{is_true, name_of};
use super::item::{boolean_in, number_in};
use super::item_reader::{ITEM_SIZE, ItemReader};
use super::{Arithmetic, Axis, Binding, Item, Kind, NodeTest, Number, PathStart, QueryExpr, QueryPath, QueryStep};
use crate::SqlError;

/// A document with what a query may ask for besides.
pub(crate) struct Evaluation<'a> {
    /// The nodes.
    pub reader: ItemReader<'a>,
    /// The values from outside; none for NULL.
    pub externals: Vec<Option<Item>>,
    /// The items of the variables of the expressions around.
    pub variables: Vec<Vec<Item>>,
    /// The namespaces that are in force where nodes are made, the innermost of a prefix last.
    pub scope: Vec<Binding>,
    /// The declarations of the query's prolog.
    pub prolog: &'a [Binding],
    /// How many prefixes were made for nodes that are written.
    pub made: usize,
}

/// Where an expression is evaluated.
#[derive(Clone, Copy)]
struct Context<'a> {
    item: &'a Item,
    /// From 1.
    position: usize,
    size: usize,
}

/// An item of a comparison.
enum Operand {
    Number(Number),
    Boolean(bool),
    /// A text or a value without a type, and the number in it.
    Text(String, Number),
}

impl Operand {
    /// Bytes that are compared.
    fn size(&self) -> usize {
        match self {
            Self::Number(_) | Self::Boolean(_) => 0,
            Self::Text(text, _) => text.len(),
        }
    }

    /// The order of two values: one without a type is cast to that of the other one. `None` if it is no value of that.
    fn order(&self, other: &Self, typed: bool) -> Result<Option<Ordering>, SqlError> {
        Ok(match (self, other) {
            (Self::Number(left), Self::Number(right)) => left.order(*right),
            (Self::Boolean(left), Self::Boolean(right)) => Some(left.cmp(right)),
            (Self::Text(left, _), Self::Text(right, _)) => Some(left.cmp(right)),
            (Self::Number(_), Self::Boolean(_)) | (Self::Boolean(_), Self::Number(_)) => return Err(incomparable()),
            (_, _) if typed => return Err(incomparable()),
            (Self::Number(left), Self::Text(_, right)) | (Self::Text(_, left), Self::Number(right)) => {
                left.order(*right)
            }
            (Self::Boolean(left), Self::Text(right, _)) => boolean_in(right).map(|right| left.cmp(&right)),
            (Self::Text(left, _), Self::Boolean(right)) => boolean_in(left).map(|left| left.cmp(right)),
        })
    }
}

fn incomparable() -> SqlError {
    SqlError::unsupported("XQuery: a comparison of values of two types")
}

impl<'a> Evaluation<'a> {
    /// An evaluation with values from outside, of a query with this prolog.
    pub fn new(reader: ItemReader<'a>, externals: Vec<Option<Item>>, prolog: &'a [Binding]) -> Self {
        Self {
            reader,
            externals,
            variables: Vec::new(),
            scope: Vec::new(),
            prolog,
            made: 0,
        }
    }
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
        self.reader.work(1)?;
        let held = self.reader.held;
        let items = self.result(expr, context)?;
        let texts: usize = items.iter().map(Item::text_size).sum();
        self.reader.held = held;
        self.reader
            .hold(texts.saturating_add(items.len().saturating_mul(ITEM_SIZE)))?;
        Ok(items)
    }

    fn result(&mut self, expr: &QueryExpr, context: Context<'_>) -> Result<Vec<Item>, SqlError> {
        Ok(match expr {
            QueryExpr::Number(number) => vec![Item::Number(*number)],
            QueryExpr::Text(text) => vec![Item::Text(Arc::clone(text))],
            QueryExpr::External(at) => self.externals.get(*at).cloned().flatten().into_iter().collect(),
            QueryExpr::Path(path) => self.path(path, context)?,
            QueryExpr::Compare(comparison, typed, left, right) => {
                let (left, right) = (self.evaluate(left, context)?, self.evaluate(right, context)?);
                vec![Item::Boolean(self.compares(*comparison, &left, &right, *typed)?)]
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
                let typed = arguments.first().is_some_and(|first| first.kind().is_typed());
                self.reader
                    .called(*function, &values, typed, (context.position, context.size))?
            }
            QueryExpr::Sequence(parts) => {
                let mut items = Vec::new();
                for part in parts {
                    items.extend(self.evaluate(part, context)?);
                }
                items
            }
            QueryExpr::Variable(variable) => self.variable(variable.at)?,
            QueryExpr::Arithmetic(first, rest) => self.arithmetic(first, rest, context)?,
            QueryExpr::Negate(value) => {
                let number = self.operand_of(value, context)?;
                number
                    .map(|number| Item::Number(number.negated()))
                    .into_iter()
                    .collect()
            }
            QueryExpr::If(parts) => {
                let [condition, then, otherwise] = &**parts;
                let chosen = if is_true(&self.evaluate(condition, context)?) {
                    then
                } else {
                    otherwise
                };
                self.evaluate(chosen, context)?
            }
            QueryExpr::Flwor(flwor) => self.flwor(flwor, context)?,
            QueryExpr::Quantified(every, variables, condition) => {
                vec![Item::Boolean(self.quantified(*every, variables, condition, context)?)]
            }
            QueryExpr::Element(_) | QueryExpr::Attribute(..) | QueryExpr::TextNode(_) | QueryExpr::Markup(_) => {
                self.made(expr, context)?
            }
        })
    }

    /// A copy of the items of a variable.
    fn variable(&mut self, at: usize) -> Result<Vec<Item>, SqlError> {
        let items = self.variables.get(at).map(Vec::as_slice).unwrap_or_default();
        self.reader.work(items.len())?;
        self.reader.hold(items.len().saturating_mul(ITEM_SIZE))?;
        Ok(items.to_vec())
    }

    /// The result of operators; the empty sequence if an operand is one, or no number.
    fn arithmetic(
        &mut self,
        first: &QueryExpr,
        rest: &[(Arithmetic, QueryExpr)],
        context: Context<'_>,
    ) -> Result<Vec<Item>, SqlError> {
        let mut result = self.operand_of(first, context)?;
        for (operator, operand) in rest {
            let operand = self.operand_of(operand, context)?;
            result = match (result, operand) {
                (Some(left), Some(right)) => left.combined(*operator, right)?,
                (_, _) => None,
            };
        }
        Ok(result.map(Item::Number).into_iter().collect())
    }

    fn operand_of(&mut self, expr: &QueryExpr, context: Context<'_>) -> Result<Option<Number>, SqlError> {
        let held = self.reader.held;
        let items = self.evaluate(expr, context)?;
        let number = match items.first() {
            Some(Item::Text(_) | Item::Boolean(_)) if expr.kind() == Kind::External => {
                return Err(SqlError::unsupported("XQuery: arithmetic of what is no number"));
            }
            Some(item) => Some(self.reader.number(item)?),
            None => None,
        };
        self.reader.held = held;
        Ok(number.filter(|number| !number.double().is_nan()))
    }

    /// Whether a comparison is true of one item of each side; `typed` if both have values of a type.
    ///
    /// Errors: 40510 for values of two types.
    fn compares(
        &mut self,
        comparison: Comparison,
        left: &[Item],
        right: &[Item],
        typed: bool,
    ) -> Result<bool, SqlError> {
        if left.is_empty() {
            return Ok(false);
        }
        let mut others = Vec::new();
        for item in right {
            self.reader.hold(size_of::<Operand>())?;
            others.push(self.operand(item)?);
        }
        for item in left {
            let held = self.reader.held;
            let one = self.operand(item)?;
            for other in &others {
                self.reader.work(1 + one.size().min(other.size()))?;
                if one.order(other, typed)?.is_some_and(|order| comparison.holds(order)) {
                    return Ok(true);
                }
            }
            self.reader.held = held;
        }
        Ok(false)
    }

    fn operand(&mut self, item: &Item) -> Result<Operand, SqlError> {
        Ok(match item {
            Item::Number(number) => Operand::Number(*number),
            Item::Boolean(value) => Operand::Boolean(*value),
            Item::Node(_) | Item::Attribute(..) | Item::Text(_) | Item::Made(_) => {
                let text = self.reader.text(item)?;
                let number = Number::Double(number_in(&text));
                Operand::Text(text, number)
            }
        })
    }

    fn path(&mut self, path: &QueryPath, context: Context<'_>) -> Result<Vec<Item>, SqlError> {
        let start = match &path.start {
            PathStart::Context => vec![context.item.clone()],
            PathStart::Root => vec![Item::Node(self.reader.document.root())],
            PathStart::Expr(expr) => self.evaluate(expr, context)?,
        };
        let mut items = self.filtered(start, &path.predicates)?;
        for step in &path.steps {
            let held = self.reader.held;
            let mut found = Vec::new();
            let mut known = HashSet::new();
            for item in &items {
                let held = self.reader.held;
                let selected = self.selected(step, item)?;
                let selected = self.filtered(selected, &step.predicates)?;
                self.reader.held = held;
                for selected in selected {
                    if selected.number().is_none_or(|number| known.insert(number)) {
                        // Its number is kept, too.
                        self.reader.hold(ITEM_SIZE)?;
                        self.reader.push(&mut found, selected)?;
                    }
                }
            }
            self.reader.held = held.saturating_add(found.len().saturating_mul(ITEM_SIZE));
            // Attributes are behind their element, and before what is in it.
            found.sort_by_key(|item| match item {
                Item::Node(id) => (id.0, 0),
                Item::Attribute(id, at) => (id.0, at + 1),
                Item::Text(_) | Item::Number(_) | Item::Boolean(_) | Item::Made(_) => (0, 0),
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
                    [Item::Number(number)] => number.order(Number::of_count(position)) == Some(Ordering::Equal),
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
        let document = self.reader.document;
        let parent = |item: &Item| match item {
            Item::Node(id) => document.node(*id).and_then(|node| node.parent).map(Item::Node),
            Item::Attribute(id, _) => Some(Item::Node(*id)),
            Item::Text(_) | Item::Number(_) | Item::Boolean(_) | Item::Made(_) => None,
        };
        let one = |item: Option<Item>| -> Box<dyn Iterator<Item = Item> + '_> { Box::new(item.into_iter()) };
        let selected = match (step.axis, item) {
            (Axis::Own, own) => one(Some(own.clone())),
            (Axis::Parent, own) => one(parent(own)),
            (Axis::DescendantOrSelf, own @ Item::Attribute(..)) => one(Some(own.clone())),
            (Axis::Child, Item::Node(id)) => Box::new(document.children(*id).map(Item::Node)),
            (Axis::Attribute, Item::Node(id)) => {
                let (id, count) = (*id, document.attributes(*id).len());
                Box::new((0..count).map(move |at| Item::Attribute(id, at)))
            }
            (Axis::Descendant, Item::Node(id)) => Box::new(document.descendants(*id).map(Item::Node)),
            (Axis::DescendantOrSelf, Item::Node(id)) => {
                let below = document.descendants(*id).map(Item::Node);
                Box::new(std::iter::once(item.clone()).chain(below))
            }
            (
                Axis::Child | Axis::Attribute | Axis::Descendant,
                Item::Attribute(..) | Item::Text(_) | Item::Number(_) | Item::Boolean(_) | Item::Made(_),
            )
            | (Axis::DescendantOrSelf, Item::Text(_) | Item::Number(_) | Item::Boolean(_) | Item::Made(_)) => one(None),
        };
        let mut kept = Vec::new();
        for node in selected {
            self.reader.work(1 + step.test.size())?;
            if self.passes(&step.test, step.axis, &node) {
                self.reader.push(&mut kept, node)?;
            }
        }
        Ok(kept)
    }

    fn passes(&self, test: &NodeTest, axis: Axis, item: &Item) -> bool {
        let kind = match item {
            Item::Node(id) => self.reader.document.node(*id).map(|node| &node.kind),
            Item::Attribute(..) | Item::Text(_) | Item::Number(_) | Item::Boolean(_) | Item::Made(_) => None,
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
                let (name, found) = name_of(item, self.reader.document);
                is_named
                    && local.as_ref().is_none_or(|local| **local == *local_name(&name))
                    && namespace.as_ref().is_none_or(|namespace| *namespace == found)
            }
        }
    }
}
