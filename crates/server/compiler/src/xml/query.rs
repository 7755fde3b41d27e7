//! The expressions of XQuery that the methods of xml take: paths with predicates, comparisons, functions.
//!
//! - `no-other-query`: FLWOR expressions, constructors, `if`, quantifiers, casts and arithmetic are refused by name.
//! - `order-is-of-the-document`: the nodes of a step are in document order, each once.

mod call;
mod evaluate;
mod item;
mod item_reader;
mod parser;
mod singleton;
mod token;

pub(crate) use evaluate::Evaluation;
pub(crate) use item::Item;
pub(crate) use item_reader::ItemReader;

use std::sync::Arc;

use selenite_types::Comparison;

pub(crate) use call::QueryFunction;

/// A parsed query.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct XmlQuery {
    /// The expression.
    pub root: QueryExpr,
    /// What sql:column and sql:variable name, in the order of [`QueryExpr::External`].
    pub externals: Vec<External>,
}

/// A value from outside of the document.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum External {
    /// sql:column: the parts of the name.
    Column(Vec<String>),
    /// sql:variable: the name, with its `@`.
    Variable(String),
}

/// An expression.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum QueryExpr {
    /// A number.
    Number(f64),
    /// A text.
    Text(Arc<str>),
    /// A value from outside.
    External(usize),
    /// A path.
    Path(Box<QueryPath>),
    /// A comparison, true if it is true of one item of each side.
    Compare(Comparison, Box<QueryExpr>, Box<QueryExpr>),
    /// `and`.
    And(Vec<QueryExpr>),
    /// `or`.
    Or(Vec<QueryExpr>),
    /// A call of a function.
    Call(QueryFunction, Vec<QueryExpr>),
    /// Several expressions in parentheses, one behind the other.
    Sequence(Vec<QueryExpr>),
}

/// A path: where it begins, and its steps.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct QueryPath {
    /// Where it begins.
    pub start: PathStart,
    /// Predicates of what it begins with.
    pub predicates: Vec<QueryExpr>,
    /// The steps.
    pub steps: Vec<QueryStep>,
}

/// Where a path begins.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum PathStart {
    /// At the context.
    Context,
    /// At the root of the document.
    Root,
    /// At the items of an expression.
    Expr(QueryExpr),
}

/// A step.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct QueryStep {
    /// The direction.
    pub axis: Axis,
    /// Which nodes.
    pub test: NodeTest,
    /// Conditions and positions.
    pub predicates: Vec<QueryExpr>,
}

/// The direction of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Axis {
    /// `child::`
    Child,
    /// `attribute::`, `@`
    Attribute,
    /// `self::`
    Own,
    /// `parent::`
    Parent,
    /// `descendant::`
    Descendant,
    /// `descendant-or-self::`
    DescendantOrSelf,
}

/// Which nodes a step selects.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum NodeTest {
    /// Elements, or attributes, of a name: the namespace and the local name, any for none.
    Name {
        /// The namespace.
        namespace: Option<Arc<str>>,
        /// The local name.
        local: Option<Arc<str>>,
    },
    /// `node()`
    Node,
    /// `text()`
    Text,
    /// `comment()`
    Comment,
    /// `processing-instruction()`, with the target.
    Instruction(Option<Arc<str>>),
}

impl NodeTest {
    /// Bytes of names that a node's are compared with.
    fn size(&self) -> usize {
        let size = |name: &Option<Arc<str>>| name.as_ref().map_or(0, |name| name.len());
        match self {
            Self::Name { namespace, local } => size(namespace) + size(local),
            Self::Instruction(target) => size(target),
            Self::Node | Self::Text | Self::Comment => 0,
        }
    }
}

#[cfg(test)]
mod tests;
