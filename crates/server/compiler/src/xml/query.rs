//! The expressions of XQuery that the methods of xml take, and the changes of modify().
//!
//! - `no-other-query`: casts, types, sets of nodes and what else SQL Server has are refused by name.
//! - `order-is-of-the-document`: the nodes of a step are in document order, each once.
//! - `made-nodes-are-not-read`: a node that a constructor made is written where it stands. What would read it, a path or
//!   a variable among others, is refused when the query is parsed (2373), so that no node but the document's has a number.
//! - `depth-is-bounded`: expressions are nested 64 deep at most, and so are the calls that evaluate them.

mod call;
mod change;
mod evaluate;
mod item;
mod item_reader;
mod kind;
mod number;
mod parser;
mod singleton;
mod token;

pub(crate) use change::{InsertPlace, XmlChange, XmlChangeKind};
pub(crate) use evaluate::Evaluation;
pub(crate) use item::{Item, MadeNode};
pub(crate) use item_reader::ItemReader;
pub(crate) use number::Number;

use std::sync::Arc;

use selenite_types::Comparison;

pub(crate) use call::QueryFunction;
use kind::Kind;
use number::Arithmetic;

/// A parsed query.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct XmlQuery {
    /// The expression.
    pub root: QueryExpr,
    /// What sql:column and sql:variable name, in the order of [`QueryExpr::External`].
    pub externals: Vec<External>,
    /// The declarations of its prolog, the last one of a prefix counts.
    pub prolog: Vec<Binding>,
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
    Number(Number),
    /// A text.
    Text(Arc<str>),
    /// A value from outside.
    External(usize),
    /// A path.
    Path(Box<QueryPath>),
    /// A comparison, true if it is true of one item of each side; whether both sides have a type.
    Compare(Comparison, bool, Box<QueryExpr>, Box<QueryExpr>),
    /// `and`.
    And(Vec<QueryExpr>),
    /// `or`.
    Or(Vec<QueryExpr>),
    /// A call of a function.
    Call(QueryFunction, Vec<QueryExpr>),
    /// Several expressions in parentheses, one behind the other.
    Sequence(Vec<QueryExpr>),
    /// A variable of an expression around it.
    Variable(QueryVariable),
    /// Operators of one precedence, from left to right.
    Arithmetic(Box<QueryExpr>, Vec<(Arithmetic, QueryExpr)>),
    /// The number with the other sign.
    Negate(Box<QueryExpr>),
    /// `if`: the condition, and both results.
    If(Box<[QueryExpr; 3]>),
    /// `for` and `let`.
    Flwor(Box<Flwor>),
    /// `some` (false) and `every` (true): the items of each variable, and the condition.
    Quantified(bool, Vec<QueryExpr>, Box<QueryExpr>),
    /// An element.
    Element(Box<ElementConstructor>),
    /// `attribute name {..}`: prefix and namespace, the name, the value.
    Attribute(Binding, Arc<str>, Box<QueryExpr>),
    /// `text {..}`.
    TextNode(Box<QueryExpr>),
    /// A comment or an instruction, as xml.
    Markup(Arc<str>),
}

/// A prefix, empty for the default, and its namespace.
pub(crate) type Binding = (Arc<str>, Arc<str>);

/// A variable.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct QueryVariable {
    /// Its place among the variables around it, the outermost first.
    pub at: usize,
    /// Whether it is at most one item.
    pub single: bool,
    /// What its items are.
    kind: Kind,
}

/// A FLWOR expression.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Flwor {
    /// The variables: whether each is of `let`, and its items.
    pub variables: Vec<(bool, QueryExpr)>,
    /// `where`.
    pub filter: Option<QueryExpr>,
    /// `order by`: the keys, and whether each is descending.
    pub order: Vec<(QueryExpr, bool)>,
    /// `return`.
    pub result: QueryExpr,
}

/// An element that a constructor makes.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct ElementConstructor {
    /// The name, with its prefix.
    pub name: Arc<str>,
    /// The declarations that are written in it.
    pub declared: Vec<Binding>,
    /// The namespaces that its name and the names of its attributes have.
    pub used: Vec<Binding>,
    /// The attributes: names with their prefixes, namespaces, and values.
    pub attributes: Vec<(Arc<str>, Arc<str>, QueryExpr)>,
    /// What is in it.
    pub content: Vec<Content>,
}

/// A part of an element's content.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Content {
    /// A text.
    Text(Arc<str>),
    /// An expression, in braces or a constructor.
    Expr(QueryExpr),
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
