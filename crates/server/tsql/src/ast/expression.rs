//! Expressions that have values.

use super::{ColumnName, Condition, Literal, Name, ObjectName, OrderItem, Position, Query, TypeName};

/// An expression with a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where it stands, with the parentheses around it.
    pub position: Position,
}

/// What an expression is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExprKind {
    /// A constant.
    Literal(Literal),
    /// `{d '..'}` and related ones.
    OdbcLiteral(OdbcLiteral),
    /// `@name`, with its sign.
    Variable(String),
    /// `@@NAME`, with its signs, as written; a variable may have been declared with such a name.
    Global(String),
    /// A column; also a word that only the function around it understands, such as the `day` of DATEADD.
    Column(Box<ColumnName>),
    /// A sign or `~`.
    Unary {
        /// Which.
        operator: UnaryOperator,
        /// To what.
        operand: Box<Expr>,
    },
    /// Arithmetic, concatenation or bits.
    Binary {
        /// Which.
        operator: BinaryOperator,
        /// What stands before it.
        left: Box<Expr>,
        /// What stands after it.
        right: Box<Expr>,
    },
    /// `operand COLLATE collation`.
    Collate {
        /// What is collated.
        operand: Box<Expr>,
        /// The collation's name, or `database_default`.
        collation: Name,
    },
    /// A function with its arguments.
    Function(Box<FunctionCall>),
    /// CAST, CONVERT and their TRY_ forms.
    Cast(Box<Cast>),
    /// CASE.
    Case(Box<Case>),
    /// IIF.
    Iif(Box<Iif>),
    /// `(SELECT ..)` as a value.
    Subquery(Box<Query>),
}

/// An operator before its operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOperator {
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `~`
    BitNot,
}

/// An operator between two values; the comment gives its precedence, 1 binding most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOperator {
    /// `*`, 1
    Multiply,
    /// `/`, 1
    Divide,
    /// `%`, 1
    Modulo,
    /// `+`, 2: addition or concatenation, as the types have it
    Add,
    /// `-`, 2
    Subtract,
    /// `&`, 2
    BitAnd,
    /// `^`, 2
    BitXor,
    /// `|`, 2
    BitOr,
}

/// ODBC's escapes for constants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OdbcLiteral {
    /// `{d 'yyyy-mm-dd'}`.
    Date(String),
    /// `{t 'hh:mm:ss'}`.
    Time(String),
    /// `{ts 'yyyy-mm-dd hh:mm:ss'}`.
    Timestamp(String),
    /// `{guid '..'}`.
    Guid(String),
}

/// A function with its arguments, perhaps over a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionCall {
    /// The function: built in with one part, someone's with two or more.
    pub name: ObjectName,
    /// What stands in the parentheses.
    pub arguments: Arguments,
    /// `WITHIN GROUP (ORDER BY ..)`; empty without.
    pub within_group: Vec<OrderItem>,
    /// `IGNORE NULLS` or `RESPECT NULLS`.
    pub null_treatment: Option<NullTreatment>,
    /// `OVER (..)`.
    pub over: Option<Window>,
    /// Whether it was written `{fn ..}`: some functions have other names and meanings there.
    pub odbc: bool,
}

/// The arguments of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arguments {
    /// No parentheses at all: CURRENT_TIMESTAMP, USER and related ones.
    Absent,
    /// `(*)`.
    Star,
    /// `(a, b)`, `(ALL a)` or `()`.
    List(Vec<Expr>),
    /// `(DISTINCT a)`.
    Distinct(Vec<Expr>),
}

/// What a window function does with NULLs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NullTreatment {
    /// `IGNORE NULLS`.
    Ignore,
    /// `RESPECT NULLS`.
    Respect,
}

/// `OVER (..)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// `PARTITION BY`; empty without.
    pub partition_by: Vec<Expr>,
    /// `ORDER BY`; empty without.
    pub order_by: Vec<OrderItem>,
    /// `ROWS` or `RANGE`.
    pub frame: Option<Frame>,
}

/// A window's frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// What its bounds count.
    pub unit: FrameUnit,
    /// Where it begins.
    pub start: FrameBound,
    /// Where it ends; `None` without BETWEEN, which means the current row.
    pub end: Option<FrameBound>,
}

/// What a frame's bounds count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameUnit {
    /// Rows.
    Rows,
    /// Rows of equal order.
    Range,
}

/// One end of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameBound {
    /// `UNBOUNDED PRECEDING`
    UnboundedPreceding,
    /// `n PRECEDING`
    Preceding(u32),
    /// `CURRENT ROW`
    CurrentRow,
    /// `n FOLLOWING`
    Following(u32),
    /// `UNBOUNDED FOLLOWING`
    UnboundedFollowing,
}

/// A conversion to a named type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cast {
    /// How it was written, and whether it fails.
    pub kind: CastKind,
    /// What is converted.
    pub operand: Expr,
    /// To what.
    pub type_name: TypeName,
    /// CONVERT's third argument.
    pub style: Option<Expr>,
}

/// The four conversions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CastKind {
    /// `CAST(a AS t)`
    Cast,
    /// `TRY_CAST(a AS t)`
    TryCast,
    /// `CONVERT(t, a [, style])`
    Convert,
    /// `TRY_CONVERT(t, a [, style])`
    TryConvert,
}

/// CASE in both forms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The operand and the branches; at least one.
    pub branches: CaseBranches,
    /// `ELSE`.
    pub otherwise: Option<Expr>,
}

/// The WHENs of a CASE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CaseBranches {
    /// `CASE a WHEN b THEN ..`
    Simple {
        /// What each value is compared with.
        operand: Expr,
        /// The branches in order.
        branches: Vec<SimpleBranch>,
    },
    /// `CASE WHEN a = b THEN ..`
    Searched(Vec<SearchedBranch>),
}

/// `WHEN value THEN result`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimpleBranch {
    /// What the operand is compared with.
    pub value: Expr,
    /// What it then is.
    pub result: Expr,
}

/// `WHEN condition THEN result`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchedBranch {
    /// What must be true.
    pub condition: Condition,
    /// What it then is.
    pub result: Expr,
}

/// `IIF(condition, a, b)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Iif {
    /// What is asked.
    pub condition: Condition,
    /// The value if it is true.
    pub then: Expr,
    /// The value if it is false or unknown.
    pub otherwise: Expr,
}
