//! Bound conditions.

use selenite_types::{Comparison, LikePattern};

use super::{Expr, OutsideRef, WholeCompare};
use crate::Collation;

/// A condition: true, false or unknown.
#[derive(Clone, PartialEq, Debug)]
pub enum Predicate {
    /// A comparison of two values of one type.
    Compare(Box<Compare>),
    /// A comparison of whole numbers, the fast way.
    Whole(Box<WholeCompare>),
    /// All of these.
    And(Vec<Predicate>),
    /// One of these.
    Or(Vec<Predicate>),
    /// The opposite; unknown stays unknown.
    Not(Box<Predicate>),
    /// `IS NULL`.
    IsNull(Box<Expr>),
    /// `IS NOT DISTINCT FROM`: as `=`, but NULL is NULL; never unknown.
    Same(Box<Compare>),
    /// `operand BETWEEN low AND high`, converted to one type.
    Between {
        /// What is compared.
        operand: Box<Expr>,
        /// The lower bound.
        low: Box<Expr>,
        /// The upper bound.
        high: Box<Expr>,
        /// How text is compared.
        collation: Collation,
    },
    /// `operand IN (a, b)`, converted to one type.
    InList {
        /// What is looked for.
        operand: Box<Expr>,
        /// Among these.
        list: Vec<Expr>,
        /// How text is compared.
        collation: Collation,
    },
    /// `LIKE`.
    Like(Box<Like>),
    /// What the query binder keeps: EXISTS, IN (SELECT ..). As an input it is a bit, NULL for unknown.
    Outside(OutsideRef),
    /// A value with a name, and a condition that uses it.
    Let(Box<LetPredicate>),
    /// Value `n` of the frame's row, a bit: what [`Predicate::Outside`] becomes in an [`crate::Operations`].
    Input(u32),
}

/// A value that is evaluated once, and a condition over it.
#[derive(Clone, PartialEq, Debug)]
pub struct LetPredicate {
    /// What [`crate::ExprKind::Local`] is in the body.
    pub value: Expr,
    /// The condition.
    pub body: Predicate,
}

/// A comparison of two values of one type.
#[derive(Clone, PartialEq, Debug)]
pub struct Compare {
    /// Which.
    pub comparison: Comparison,
    /// The left side.
    pub left: Expr,
    /// The right side.
    pub right: Expr,
    /// How text is compared.
    pub collation: Collation,
}

/// `operand LIKE pattern ESCAPE escape`, all text.
#[derive(Clone, PartialEq, Debug)]
pub struct Like {
    /// What is matched.
    pub operand: Expr,
    /// With what.
    pub pattern: Expr,
    /// The escape character.
    pub escape: Option<Expr>,
    /// How letters are compared.
    pub collation: Collation,
    /// The pattern, read already, if it is a constant.
    pub fixed: Option<LikePattern>,
}

impl Predicate {
    /// The opposite.
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
            | Self::Outside(_)
            | Self::Let(_)
            | Self::Input(_) => Self::Not(Box::new(self)),
        }
    }
}
