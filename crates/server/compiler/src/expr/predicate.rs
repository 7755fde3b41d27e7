//! Bound conditions.

use selenite_types::{Comparison, LikePattern};

use super::{Expr, QueryNodeRef, WholeCompare};
use crate::Collation;

/// A condition: true, false or unknown.
#[derive(Clone, PartialEq, Debug)]
pub enum Predicate {
    /// A comparison of two values of one type.
    Compare(Box<Compare>),
    /// A comparison of integers, the fast form.
    Whole(Box<WholeCompare>),
    /// AND.
    And(Vec<Predicate>),
    /// OR.
    Or(Vec<Predicate>),
    /// NOT; unknown stays unknown.
    Not(Box<Predicate>),
    /// `IS NULL`.
    IsNull(Box<Expr>),
    /// `IS NOT DISTINCT FROM`: as `=`, but NULL equals NULL; never unknown.
    Same(Box<Compare>),
    /// `operand BETWEEN low AND high`, converted to one type.
    Between {
        /// The compared value.
        operand: Box<Expr>,
        /// The lower bound.
        low: Box<Expr>,
        /// The upper bound.
        high: Box<Expr>,
        /// The collation of text.
        collation: Collation,
    },
    /// `operand IN (a, b)`, converted to one type.
    InList {
        /// The compared value.
        operand: Box<Expr>,
        /// The list.
        list: Vec<Expr>,
        /// The collation of text.
        collation: Collation,
    },
    /// `LIKE`.
    Like(Box<Like>),
    /// A node of the query binder: EXISTS, IN (SELECT ..). As an input it is a bit, NULL for unknown.
    QueryNode(QueryNodeRef),
    /// A value that is evaluated once, and a condition over it.
    Let(Box<LetPredicate>),
    /// Input `n`, from the frame's row, a bit: replaces [`Predicate::QueryNode`] in [`crate::Operations`].
    Input(u32),
}

/// A value that is evaluated once, and a condition over it.
#[derive(Clone, PartialEq, Debug)]
pub struct LetPredicate {
    /// The value of [`crate::ExprKind::Local`] in the body.
    pub value: Expr,
    /// The body.
    pub body: Predicate,
}

/// A comparison of two values of one type.
#[derive(Clone, PartialEq, Debug)]
pub struct Compare {
    /// The operator.
    pub comparison: Comparison,
    /// The left side.
    pub left: Expr,
    /// The right side.
    pub right: Expr,
    /// The collation of text.
    pub collation: Collation,
}

/// `operand LIKE pattern ESCAPE escape`, all text.
#[derive(Clone, PartialEq, Debug)]
pub struct Like {
    /// The matched text.
    pub operand: Expr,
    /// The pattern.
    pub pattern: Expr,
    /// The escape character.
    pub escape: Option<Expr>,
    /// The collation of letters.
    pub collation: Collation,
    /// The parsed pattern, if it is a constant.
    pub fixed: Option<LikePattern>,
}

impl Predicate {
    /// The negation.
    #[must_use]
    pub fn negate(self) -> Self {
        match self {
            Self::Not(inner) => *inner,
            Self::Compare(_)
            | Self::Whole(_)
            | Self::And(_)
            | Self::Or(_)
            | Self::IsNull(_)
            | Self::Same(_)
            | Self::Between { .. }
            | Self::InList { .. }
            | Self::Like(_)
            | Self::QueryNode(_)
            | Self::Let(_)
            | Self::Input(_) => Self::Not(Box::new(self)),
        }
    }
}
