//! Queries, sources of FROM, expressions and conditions, which contain each other.

use super::{ColumnName, Literal, Name, ObjectName, Position, TypeName};

/// SELECT as a statement, and as the body of a view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SelectStatement {
    /// `WITH a AS (..)`; empty without.
    pub with: Vec<CommonTable>,
    /// The query.
    pub query: Query,
    /// `OPTION (..)`; empty without.
    pub options: Vec<Setting>,
}

/// A common table expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommonTable {
    /// Its name.
    pub name: Name,
    /// Its columns' names; empty if the query names them.
    pub columns: Vec<Name>,
    /// Its rows; may name the table itself (then it is recursive).
    pub query: Query,
    /// Its position.
    pub position: Position,
}

/// Rows: SELECTs combined, ordered and cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// The rows.
    pub body: QueryBody,
    /// `ORDER BY`; empty without.
    pub order_by: Vec<OrderItem>,
    /// `OFFSET .. FETCH ..`; only with ORDER BY.
    pub offset: Option<Offset>,
    /// Its position, with the parentheses around it.
    pub position: Position,
}

/// One SELECT, or several combined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueryBody {
    /// One.
    Select(Box<Select>),
    /// Several.
    Combined(Box<Combination>),
    /// A query in parentheses of its own, with an ORDER BY that says which rows its TOP or OFFSET takes.
    Nested(Box<Query>),
}

/// SELECTs combined from left to right; INTERSECTs, which bind more, are a combination of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Combination {
    /// The first.
    pub first: QueryBody,
    /// What is combined with it, in order; at least one.
    pub rest: Vec<SetTerm>,
    /// Its position.
    pub position: Position,
}

/// One link of a combination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetTerm {
    /// How it is combined with all before it.
    pub operator: SetOperator,
    /// The rows.
    pub body: QueryBody,
}

/// How rows are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetOperator {
    /// `UNION`
    Union,
    /// `UNION ALL`
    UnionAll,
    /// `EXCEPT`
    Except,
    /// `INTERSECT`
    Intersect,
}

/// One SELECT.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Select {
    /// `DISTINCT`.
    pub distinct: bool,
    /// `TOP (n)`.
    pub top: Option<Top>,
    /// The columns; at least one.
    pub items: Vec<SelectItem>,
    /// `INTO`.
    pub into: Option<ObjectName>,
    /// `FROM a, b`; empty without.
    pub from: Vec<TableSource>,
    /// `WHERE`.
    pub filter: Option<Condition>,
    /// `GROUP BY`; empty without.
    pub group_by: Vec<Expr>,
    /// `HAVING`.
    pub having: Option<Condition>,
    /// Its position.
    pub position: Position,
}

/// `TOP (count) [PERCENT] [WITH TIES]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Top {
    /// How many.
    pub count: Expr,
    /// `PERCENT`.
    pub percent: bool,
    /// `WITH TIES`.
    pub with_ties: bool,
}

/// One item of the list after SELECT or OUTPUT.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SelectItem {
    /// `*` or `t.*`.
    Star {
        /// The table.
        table: Option<ObjectName>,
        /// Its position.
        position: Position,
    },
    /// An expression, perhaps with a name: `a AS b`, `a b` and `b = a` are the same.
    Value {
        /// The expression.
        value: Expr,
        /// Its name.
        alias: Option<Name>,
    },
    /// `@a = value`.
    Assign {
        /// The variable, with its sign.
        variable: String,
        /// `=` or a compound one.
        operator: AssignmentOperator,
        /// What it is set to.
        value: Expr,
        /// Its position.
        position: Position,
    },
}

/// One item of ORDER BY.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderItem {
    /// By what; an integer constant is a column's number; COLLATE is part of it.
    pub value: Expr,
    /// `DESC`.
    pub descending: bool,
}

/// `OFFSET skip ROWS [FETCH NEXT fetch ROWS ONLY]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offset {
    /// How many rows are left out.
    pub skip: Expr,
    /// How many are taken; all without.
    pub fetch: Option<Expr>,
}

/// A table, or tables joined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableSource {
    /// What it is.
    pub kind: TableSourceKind,
    /// Its position.
    pub position: Position,
}

/// What a table source is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TableSourceKind {
    /// A table or view, or a common table expression.
    Table {
        /// Its name.
        name: ObjectName,
        /// Its other name.
        alias: Option<Name>,
        /// `WITH (NOLOCK)`; empty without.
        hints: Vec<Setting>,
    },
    /// A table variable.
    Variable {
        /// Its name, with its sign.
        name: String,
        /// Its other name.
        alias: Option<Name>,
        /// `WITH (..)`; empty without.
        hints: Vec<Setting>,
    },
    /// A function that gives a table.
    Function {
        /// The function.
        call: Box<FunctionCall>,
        /// Its name and its columns' names.
        alias: Option<DerivedAlias>,
    },
    /// `(SELECT ..) AS a`.
    Derived {
        /// The rows.
        query: Box<Query>,
        /// Its name and its columns' names.
        alias: DerivedAlias,
    },
    /// `(VALUES (1), (2)) AS a(x)`.
    Values {
        /// The rows; at least one, all of equally many values.
        rows: Vec<Vec<Expr>>,
        /// Its name and its columns' names.
        alias: DerivedAlias,
    },
    /// Two sources joined.
    Join(Box<Join>),
}

/// `AS name(columns)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DerivedAlias {
    /// The name.
    pub name: Name,
    /// The columns' names; empty if they keep their own.
    pub columns: Vec<Name>,
}

/// Two sources joined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Join {
    /// How.
    pub kind: JoinKind,
    /// With which algorithm.
    pub hint: Option<JoinHint>,
    /// The left side.
    pub left: TableSource,
    /// The right side.
    pub right: TableSource,
    /// `ON`: always with inner, left, right and full, never with the rest.
    pub on: Option<Condition>,
}

/// How two sources are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JoinKind {
    /// `[INNER] JOIN`
    Inner,
    /// `LEFT [OUTER] JOIN`
    Left,
    /// `RIGHT [OUTER] JOIN`
    Right,
    /// `FULL [OUTER] JOIN`
    Full,
    /// `CROSS JOIN`
    Cross,
    /// `CROSS APPLY`: the right side sees the left's columns.
    CrossApply,
    /// `OUTER APPLY`
    OuterApply,
}

/// A join's algorithm, as advised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JoinHint {
    /// `LOOP`
    Loop,
    /// `HASH`
    Hash,
    /// `MERGE`
    Merge,
    /// `REMOTE`
    Remote,
}

/// An expression with a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Its position, with the parentheses around it.
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
        /// The left side.
        left: Box<Expr>,
        /// The right side.
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
    /// The function: built in with one part, user-defined with two or more.
    pub name: ObjectName,
    /// The contents of the parentheses.
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
    /// The condition.
    pub condition: Condition,
    /// The value if it is true.
    pub then: Expr,
    /// The value if it is false or unknown.
    pub otherwise: Expr,
}

/// A condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// What it is.
    pub kind: ConditionKind,
    /// Its position, with the parentheses around it.
    pub position: Position,
}

/// What a condition is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConditionKind {
    /// All of these, at least two; an `And` in it was in parentheses.
    And(Vec<Condition>),
    /// One of these, at least two; an `Or` in it was in parentheses.
    Or(Vec<Condition>),
    /// `NOT`.
    Not(Box<Condition>),
    /// `left = right` and related ones.
    Compare {
        /// Which.
        operator: Comparison,
        /// The left side.
        left: Box<Expr>,
        /// The right side.
        right: Box<Expr>,
    },
    /// `left = ANY (SELECT ..)`.
    Quantified {
        /// Which comparison.
        operator: Comparison,
        /// What is compared.
        left: Box<Expr>,
        /// With all rows or any.
        quantifier: Quantifier,
        /// The rows, of one column.
        query: Box<Query>,
    },
    /// `operand IS [NOT] NULL`.
    IsNull {
        /// The value that is tested.
        operand: Box<Expr>,
        /// With NOT.
        negated: bool,
    },
    /// `left IS [NOT] DISTINCT FROM right`.
    IsDistinctFrom {
        /// The left side.
        left: Box<Expr>,
        /// The right side.
        right: Box<Expr>,
        /// With NOT.
        negated: bool,
    },
    /// `operand [NOT] BETWEEN low AND high`.
    Between {
        /// What is compared.
        operand: Box<Expr>,
        /// The lower bound.
        low: Box<Expr>,
        /// The upper bound.
        high: Box<Expr>,
        /// With NOT.
        negated: bool,
    },
    /// `operand [NOT] IN (a, b)`.
    InList {
        /// What is looked for.
        operand: Box<Expr>,
        /// Among these, at least one.
        list: Vec<Expr>,
        /// With NOT.
        negated: bool,
    },
    /// `operand [NOT] IN (SELECT ..)`.
    InQuery {
        /// What is looked for.
        operand: Box<Expr>,
        /// Among these rows, of one column.
        query: Box<Query>,
        /// With NOT.
        negated: bool,
    },
    /// `operand [NOT] LIKE pattern [ESCAPE escape]`.
    Like {
        /// What is matched.
        operand: Box<Expr>,
        /// With what.
        pattern: Box<Expr>,
        /// The escape character.
        escape: Option<Box<Expr>>,
        /// With NOT.
        negated: bool,
    },
    /// `EXISTS (SELECT ..)`.
    Exists(Box<Query>),
}

/// A comparison of two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `=`
    Equal,
    /// `<>` or `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=` or `!>`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=` or `!<`
    GreaterOrEqual,
}

/// Which rows a comparison must hold for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantifier {
    /// `ALL`.
    All,
    /// `ANY` or `SOME`.
    Any,
}

/// One option of a list: `NAME`, `NAME value`, `NAME = value` or `NAME (list)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Its name as written; of several words divided by one blank, as `HASH JOIN`; a
    /// variable has its sign.
    pub name: Name,
    /// Whether `=` is between the name and the value.
    pub equals: bool,
    /// Its value.
    pub value: Option<SettingValue>,
    /// Its position.
    pub position: Position,
}

impl Setting {
    /// The value's word, if it is one: `ON`, `SIMPLE`.
    #[must_use]
    pub fn word(&self) -> Option<&Name> {
        match &self.value {
            Some(SettingValue::Word(word)) => Some(word),
            Some(SettingValue::Value(_) | SettingValue::Values(_) | SettingValue::Settings(_)) | None => None,
        }
    }

    /// Whether the option of this name is `ON` in a list.
    #[must_use]
    pub fn is_on(options: &[Self], name: &str) -> bool {
        let is_on = |option: &Self| option.word().is_some_and(|word| word.is_word("ON"));
        options.iter().any(|option| option.name.is_word(name) && is_on(option))
    }

    /// The value's expression, if it is one.
    #[must_use]
    pub fn expr(&self) -> Option<&Expr> {
        match &self.value {
            Some(SettingValue::Value(value)) => Some(value),
            Some(SettingValue::Word(_) | SettingValue::Values(_) | SettingValue::Settings(_)) | None => None,
        }
    }
}

/// An option's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingValue {
    /// A word or name: `ON`, `OFF`, `SIMPLE`, `[a]`; also a number with its unit, as `60 SECONDS`.
    Word(Name),
    /// A constant, perhaps with a sign, or a variable.
    Value(Expr),
    /// `(1, a)`: constants, variables, and names (which are columns with one part).
    Values(Vec<Expr>),
    /// `(A = ON, B = 5)`.
    Settings(Vec<Setting>),
}

/// `=` and its compounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AssignmentOperator {
    /// `=`
    Set,
    /// `+=`
    Add,
    /// `-=`
    Subtract,
    /// `*=`
    Multiply,
    /// `/=`
    Divide,
    /// `%=`
    Modulo,
    /// `&=`
    BitAnd,
    /// `^=`
    BitXor,
    /// `|=`
    BitOr,
}
