//! Bound expressions: names are resolved, types decided, and conversions explicit.
//!
//! - `type-is-fixed-by-binding`: an expression's value is NULL or of its `data_type`: evaluation
//!   never changes a type that binding decided.
//! - `predicates-are-no-expressions`: a predicate is not an expression: it is true, false or
//!   unknown, and has no type.
//! - `let-is-evaluated-once`: a [`Let`]'s value is evaluated once; [`ExprKind::Local`] is the value
//!   of the innermost one around it. An operand in a body is bound before the body is constructed,
//!   so no other `Let` stands between the two.
//! - `equal-trees-equal-values`: expressions are trees of values: equal trees compute equal values,
//!   except where a function is declared volatile.

use std::sync::Arc;

use selenite_types::{DataType, DatePart, Operator, UnaryOperator, Value};

use crate::catalog::UserFunction;
use crate::{Collation, ColumnRef, Slot};

pub(crate) mod arguments;
mod fixed;
mod function;
mod predicate;
pub(crate) mod rule;
mod shape;
pub(crate) mod typing;
mod walk;
mod whole;

pub(crate) use arguments::{Arguments, COPIES, HEAVY_SIZE, Polls, float_in, within};
pub(crate) use fixed::{
    is_fixed, is_fixed_predicate, is_once, is_safe, is_volatile, is_volatile_predicate, literal_of,
};
pub(crate) use function::{Code, Nulls};
pub use function::{Function, Volatility};
pub use predicate::{Compare, LetPredicate, Like, Predicate};
pub(crate) use rule::{Rule, SYSNAME, seconds_scale};
pub(crate) use typing::{NATIONAL_WIDTH_MAX, Typing, WIDTH_MAX, collation_of, constant_whole, widest, with_digits};
pub use walk::{Node, NodeMut};
pub use whole::{Whole, WholeCompare, WholeOperand, WholeOperation};

/// A typed expression.
#[derive(Clone, PartialEq, Debug)]
pub struct Expr {
    /// The node.
    pub kind: ExprKind,
    /// Its type.
    pub data_type: DataType,
    /// Whether it may be NULL.
    pub nullable: bool,
    /// The collation of its text; the default for any other type.
    pub collation: Collation,
}

/// A node of a bound expression.
#[derive(Clone, PartialEq, Debug)]
pub enum ExprKind {
    /// A constant.
    Literal(Value),
    /// The literal NULL, which takes any required type; int without one.
    Null,
    /// A variable's value.
    Variable(Slot),
    /// A column of a source: evaluated only as an [`ExprKind::Input`].
    Column(ColumnRef),
    /// A node of the query binder: a subquery, an aggregate, a window function. Evaluated only as an
    /// [`ExprKind::Input`].
    QueryNode(QueryNodeRef),
    /// Input `n`, from the frame's row: replaces columns in [`crate::Operations`].
    Input(u32),
    /// A conversion to the expression's type.
    Convert(Box<Convert>),
    /// A unary operator: a sign or `~`.
    Unary {
        /// The operator.
        operator: UnaryOperator,
        /// The operand.
        operand: Box<Expr>,
    },
    /// An arithmetic, bitwise or concatenation operator, whose operands have types that [`selenite_types`] supports.
    Binary {
        /// The operator.
        operator: Operator,
        /// The left side.
        left: Box<Expr>,
        /// The right side.
        right: Box<Expr>,
    },
    /// Integer arithmetic, the fast form.
    Whole(Box<WholeOperation>),
    /// CASE and IIF: results are converted to one type.
    Case {
        /// Conditions with their results, in order.
        branches: Vec<(Predicate, Expr)>,
        /// The result if no condition is true; `None` is NULL.
        otherwise: Option<Box<Expr>>,
    },
    /// COALESCE and ISNULL: the first value that is not NULL; values are converted to one type.
    Coalesce(Vec<Expr>),
    /// CHOOSE: value number `index`, from 1; NULL if there is none.
    Choose {
        /// The index, an int.
        index: Box<Expr>,
        /// The values, converted to one type.
        values: Vec<Expr>,
    },
    /// A call of a scalar function.
    Call(Box<FunctionCall>),
    /// A call of a function of a user.
    UserCall(Box<UserCall>),
    /// A value that is evaluated once, and an expression over it.
    Let(Box<Let>),
    /// The value of the innermost [`Let`] or [`LetPredicate`] around it.
    Local,
}

/// A value that is evaluated once, and an expression over it.
#[derive(Clone, PartialEq, Debug)]
pub struct Let {
    /// The value of [`ExprKind::Local`] in the body; a `Local` in the value itself is that of the `Let` around.
    pub value: Expr,
    /// The body.
    pub body: Expr,
}

/// The number of a node of the query binder.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct QueryNodeRef(pub u32);

/// A conversion.
#[derive(Clone, PartialEq, Debug)]
pub struct Convert {
    /// The operand.
    pub operand: Expr,
    /// CONVERT's third argument, an int.
    pub style: Option<Expr>,
    /// Whether a value that does not convert becomes NULL: TRY_CAST and TRY_CONVERT.
    pub is_try: bool,
}

/// A call of a function.
#[derive(Clone, PartialEq, Debug)]
pub struct FunctionCall {
    /// The function.
    pub function: &'static Function,
    /// The date part.
    pub part: Option<DatePart>,
    /// The arguments, converted by the function's rules.
    pub arguments: Vec<Expr>,
}

/// A call of a function of a user: its value, or its rows as a JSON array as in [`crate::catalog::SystemRows::Json`].
#[derive(Clone, PartialEq, Debug)]
pub struct UserCall {
    /// The function.
    pub function: Arc<UserFunction>,
    /// The arguments, of the parameters' types.
    pub arguments: Vec<Expr>,
}

impl Expr {
    /// A constant; nullable only if it is NULL.
    #[must_use]
    pub fn literal(value: Value, data_type: DataType) -> Self {
        let nullable = value == Value::Null;
        Self {
            kind: ExprKind::Literal(value),
            data_type,
            nullable,
            collation: Collation::default(),
        }
    }

    /// A nullable expression with the default collation.
    #[must_use]
    pub fn new(kind: ExprKind, data_type: DataType) -> Self {
        Self {
            kind,
            data_type,
            nullable: true,
            collation: Collation::default(),
        }
    }

    /// Sets whether it may be NULL.
    #[must_use]
    pub fn with_nullable(mut self, nullable: bool) -> Self {
        self.nullable = nullable;
        self
    }

    /// Sets the collation.
    #[must_use]
    pub fn with_collation(mut self, collation: Collation) -> Self {
        self.collation = collation;
        self
    }

    /// Whether it is the literal NULL.
    #[must_use]
    pub fn is_null_word(&self) -> bool {
        matches!(self.kind, ExprKind::Null)
    }
}
