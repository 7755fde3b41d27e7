//! Bound expressions: every name found, every type decided, every conversion written out.
//!
//! - `type-is-fixed-by-binding`: an expression's value is NULL or of its `data_type`: evaluation
//!   never changes a type that binding decided.
//! - `predicates-are-no-expressions`: a predicate is not an expression: it is true, false or
//!   unknown, and has no type.
//! - `let-is-evaluated-once`: a [`Let`]'s value is evaluated once; [`ExprKind::Local`] is the value
//!   of the innermost one around it. What a statement's text holds in a body is bound before the
//!   body is made, so no other `Let` stands between the two.
//! - `equal-trees-equal-values`: expressions are trees of values: equal trees compute equal values,
//!   except where a function is declared volatile.

use selenite_types::{DataType, DatePart, Operator, UnaryOperator, Value};

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

pub(crate) use arguments::{Arguments, COPIES, HEAVY_SIZE, float_in, whole_in, within};
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

/// An expression whose type is known before it runs.
#[derive(Clone, PartialEq, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Its type.
    pub data_type: DataType,
    /// Whether it may be NULL.
    pub nullable: bool,
    /// How its text is compared; the default of any other type.
    pub collation: Collation,
}

/// What a bound expression is.
#[derive(Clone, PartialEq, Debug)]
pub enum ExprKind {
    /// A constant.
    Literal(Value),
    /// The word NULL, whose type is whatever is wanted; int where nothing is.
    Null,
    /// A variable's value.
    Variable(Slot),
    /// A column of a source: evaluated only as an [`ExprKind::Input`].
    Column(ColumnRef),
    /// What the query binder keeps: a subquery, an aggregate, a window function. Evaluated only as an
    /// [`ExprKind::Input`].
    Outside(OutsideRef),
    /// Value `n` of the frame's row: what columns become in an [`crate::Operations`].
    Input(u32),
    /// A conversion to the expression's type.
    Convert(Box<Convert>),
    /// A sign or `~`.
    Unary {
        /// Which.
        operator: UnaryOperator,
        /// To what.
        operand: Box<Expr>,
    },
    /// Arithmetic, bits, or concatenation: both sides as [`selenite_types`]' operators take them.
    Binary {
        /// Which.
        operator: Operator,
        /// The left side.
        left: Box<Expr>,
        /// The right side.
        right: Box<Expr>,
    },
    /// Arithmetic on whole numbers, the fast way.
    Whole(Box<WholeOperation>),
    /// CASE and IIF: results converted to one type.
    Case {
        /// Conditions with their results, in order.
        branches: Vec<(Predicate, Expr)>,
        /// What it is if none is true; NULL without.
        otherwise: Option<Box<Expr>>,
    },
    /// The first that is not NULL: COALESCE and ISNULL, values converted to one type.
    Coalesce(Vec<Expr>),
    /// CHOOSE: the value whose number, from 1, `index` is; NULL if there is no such value.
    Choose {
        /// An int.
        index: Box<Expr>,
        /// The values, converted to one type.
        values: Vec<Expr>,
    },
    /// A function of values.
    Call(Box<FunctionCall>),
    /// A value with a name, and an expression that uses it.
    Let(Box<Let>),
    /// The value of the innermost [`Let`] or [`LetPredicate`] around it.
    Local,
}

/// A value that is evaluated once, and an expression over it.
#[derive(Clone, PartialEq, Debug)]
pub struct Let {
    /// What [`ExprKind::Local`] is in the body; in itself it is that of the expression around.
    pub value: Expr,
    /// The expression.
    pub body: Expr,
}

/// What the query binder keeps behind a number of its own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct OutsideRef(pub u32);

/// A conversion.
#[derive(Clone, PartialEq, Debug)]
pub struct Convert {
    /// What is converted.
    pub operand: Expr,
    /// CONVERT's third argument, an int.
    pub style: Option<Expr>,
    /// Whether what can't be converted is NULL: TRY_CAST and TRY_CONVERT.
    pub is_try: bool,
}

/// A function with its arguments.
#[derive(Clone, PartialEq, Debug)]
pub struct FunctionCall {
    /// Which.
    pub function: &'static Function,
    /// The part of a date that it is about.
    pub part: Option<DatePart>,
    /// Its arguments, converted as it wants them.
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

    /// An expression that may be NULL, of the default collation.
    #[must_use]
    pub fn new(kind: ExprKind, data_type: DataType) -> Self {
        Self {
            kind,
            data_type,
            nullable: true,
            collation: Collation::default(),
        }
    }

    /// The same, which may or may not be NULL.
    #[must_use]
    pub fn with_nullable(mut self, nullable: bool) -> Self {
        self.nullable = nullable;
        self
    }

    /// The same with another collation.
    #[must_use]
    pub fn with_collation(mut self, collation: Collation) -> Self {
        self.collation = collation;
        self
    }

    /// Whether it is the word NULL.
    #[must_use]
    pub fn is_null_word(&self) -> bool {
        matches!(self.kind, ExprKind::Null)
    }
}
