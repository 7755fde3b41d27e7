//! Queries, table sources, expressions and conditions, which are mutually recursive.

use super::{
    AssignmentOperator, BinaryOperator, CastKind, ColumnName, Comparison, ForClause, JoinHint, JoinKind, JsonColumn,
    Literal, Name, NullTreatment, ObjectName, OdbcLiteral, Position, Quantifier, SetOperator, TypeName, UnaryOperator,
    WindowFrame,
};

/// A query expression with ORDER BY and OFFSET.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// The query expression.
    pub body: QueryBody,
    /// `ORDER BY`; empty if absent.
    pub order_by: Vec<OrderItem>,
    /// `OFFSET .. FETCH ..`; only with ORDER BY.
    pub offset: Option<Offset>,
    /// `FOR JSON` or `FOR XML`.
    pub for_clause: Option<Box<ForClause>>,
    /// The position, including surrounding parentheses.
    pub position: Position,
}

/// One SELECT, or a combination by set operators.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueryBody {
    /// One SELECT.
    Select(Box<Select>),
    /// A combination by set operators.
    Combined(Box<Combination>),
    /// A parenthesized query with its own ORDER BY, which applies to its TOP or OFFSET.
    Nested(Box<Query>),
}

/// SELECTs combined from left to right; INTERSECT has higher precedence and forms a nested combination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Combination {
    /// The first operand.
    pub first: QueryBody,
    /// The other operands in order; at least one.
    pub rest: Vec<SetTerm>,
    /// The position of the node.
    pub position: Position,
}

/// A set operator with its right operand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetTerm {
    /// The operator that combines the operand with all operands before it.
    pub operator: SetOperator,
    /// The right operand.
    pub body: QueryBody,
}

/// One SELECT without ORDER BY.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Select {
    /// `DISTINCT`.
    pub distinct: bool,
    /// `TOP (n)`.
    pub top: Option<Top>,
    /// The select list; at least one item.
    pub items: Vec<SelectItem>,
    /// `INTO`.
    pub into: Option<ObjectName>,
    /// `FROM a, b`; empty if absent.
    pub from: Vec<TableSource>,
    /// `WHERE`.
    pub filter: Option<Condition>,
    /// `GROUP BY`; empty if absent.
    pub group_by: Vec<GroupItem>,
    /// `HAVING`.
    pub having: Option<Condition>,
    /// `WINDOW`; empty if absent.
    pub windows: Vec<NamedWindow>,
    /// The position of the node.
    pub position: Position,
}

/// `TOP (count) [PERCENT] [WITH TIES]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Top {
    /// The number of rows, or the percentage.
    pub count: Expr,
    /// `PERCENT`.
    pub percent: bool,
    /// `WITH TIES`.
    pub with_ties: bool,
}

/// One item of a select list or of OUTPUT.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SelectItem {
    /// `*` or `t.*`.
    Star {
        /// The qualifier.
        table: Option<ObjectName>,
        /// The position of the node.
        position: Position,
    },
    /// An expression with an optional alias: `a AS b`, `a b` and `b = a` are equivalent.
    Value {
        /// The expression.
        value: Expr,
        /// The alias.
        alias: Option<Name>,
    },
    /// `@a = value`.
    Assign {
        /// The variable, with its `@`.
        variable: String,
        /// `=` or a compound assignment operator.
        operator: AssignmentOperator,
        /// The assigned value.
        value: Expr,
        /// The position of the node.
        position: Position,
    },
}

/// One item of ORDER BY.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderItem {
    /// The sort key, with its COLLATE; an integer constant is a column number.
    pub value: Expr,
    /// `DESC`.
    pub descending: bool,
}

/// `OFFSET skip ROWS [FETCH NEXT fetch ROWS ONLY]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offset {
    /// The number of skipped rows.
    pub skip: Expr,
    /// The number of returned rows; all if absent.
    pub fetch: Option<Expr>,
}

/// A table, or a join of tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableSource {
    /// The kind of source.
    pub kind: TableSourceKind,
    /// The position of the node.
    pub position: Position,
}

/// The kind of a table source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TableSourceKind {
    /// A table or view, or a common table expression.
    Table {
        /// The name of the table, view or common table expression.
        name: ObjectName,
        /// The alias.
        alias: Option<Name>,
        /// `WITH (NOLOCK)`; empty if absent.
        hints: Vec<Setting>,
    },
    /// A table variable.
    Variable {
        /// The variable's name, with its `@`.
        name: String,
        /// The alias.
        alias: Option<Name>,
        /// `WITH (..)`; empty if absent.
        hints: Vec<Setting>,
    },
    /// A table-valued function.
    Function {
        /// The function call.
        call: Box<FunctionCall>,
        /// `WITH (..)` of OPENJSON; empty if absent.
        schema: Vec<JsonColumn>,
        /// The alias and the column names.
        alias: Option<DerivedAlias>,
    },
    /// `OPENROWSET (BULK 'file', SINGLE_CLOB)`: the contents of a file, as one row.
    BulkFile {
        /// The path.
        path: String,
        /// What the contents are.
        contents: BulkContents,
        /// The alias and the column names; SQL Server requires one.
        alias: Option<DerivedAlias>,
    },
    /// `(SELECT ..) AS a`.
    Derived {
        /// The query.
        query: Box<Query>,
        /// The alias and the column names.
        alias: DerivedAlias,
    },
    /// `(VALUES (1), (2)) AS a(x)`.
    Values {
        /// The rows; at least one, all with the same number of values.
        rows: Vec<Vec<Expr>>,
        /// The alias and the column names.
        alias: DerivedAlias,
    },
    /// A join of two sources.
    Join(Box<Join>),
    /// PIVOT.
    Pivot(Box<Pivot>),
    /// UNPIVOT.
    Unpivot(Box<Unpivot>),
}

/// The contents of a file that OPENROWSET reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BulkContents {
    /// `SINGLE_BLOB`: bytes.
    Bytes,
    /// `SINGLE_CLOB`: characters of the code page.
    Text,
    /// `SINGLE_NCLOB`: UTF-16.
    NationalText,
}

impl BulkContents {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Bytes, Self::Text, Self::NationalText];

    /// The option that asks for them.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Bytes => "SINGLE_BLOB",
            Self::Text => "SINGLE_CLOB",
            Self::NationalText => "SINGLE_NCLOB",
        }
    }
}

/// `AS name(columns)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DerivedAlias {
    /// The alias.
    pub name: Name,
    /// The column names; empty if the source's names apply.
    pub columns: Vec<Name>,
}

/// A join of two sources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Join {
    /// The kind of join.
    pub kind: JoinKind,
    /// The join hint.
    pub hint: Option<JoinHint>,
    /// The left source.
    pub left: TableSource,
    /// The right source.
    pub right: TableSource,
    /// `ON`: required for inner, left, right and full joins, absent for the others.
    pub on: Option<Condition>,
}

/// An expression: a node with a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expr {
    /// The kind of expression.
    pub kind: ExprKind,
    /// The position, including surrounding parentheses.
    pub position: Position,
}

/// The kind of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExprKind {
    /// A constant.
    Literal(Literal),
    /// `{d '..'}` and other ODBC literals.
    OdbcLiteral(OdbcLiteral),
    /// `@name`, including the `@`.
    Variable(String),
    /// `@@NAME`, including the `@@`, as written; a variable can be declared with such a name.
    Global(String),
    /// A column; also a keyword that only the enclosing function interprets, such as the `day` of DATEADD.
    Column(Box<ColumnName>),
    /// A unary operator: a sign or `~`.
    Unary {
        /// The operator.
        operator: UnaryOperator,
        /// The operand.
        operand: Box<Expr>,
    },
    /// A binary operator: arithmetic, concatenation or bitwise.
    Binary {
        /// The operator.
        operator: BinaryOperator,
        /// The left operand.
        left: Box<Expr>,
        /// The right operand.
        right: Box<Expr>,
    },
    /// `operand COLLATE collation`.
    Collate {
        /// The operand.
        operand: Box<Expr>,
        /// The collation's name, or `database_default`.
        collation: Name,
    },
    /// `operand AT TIME ZONE zone`.
    TimeZone {
        /// The operand.
        operand: Box<Expr>,
        /// The name of the time zone.
        zone: Box<Expr>,
    },
    /// A function call.
    Function(Box<FunctionCall>),
    /// CAST, CONVERT and their TRY_ forms.
    Cast(Box<Cast>),
    /// CASE.
    Case(Box<Case>),
    /// IIF.
    Iif(Box<Iif>),
    /// `(SELECT ..)` as a scalar subquery.
    Subquery(Box<Query>),
    /// `NEXT VALUE FOR`.
    NextValue(Box<NextValue>),
    /// `DEFAULT`, only as an argument of a function.
    Default,
}

/// `NEXT VALUE FOR sequence [OVER (ORDER BY ..)]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextValue {
    /// The sequence.
    pub sequence: ObjectName,
    /// `OVER (..)`.
    pub over: Option<Window>,
}

/// A function call with an optional window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionCall {
    /// The function: a built-in one has one part, a user-defined one two or more.
    pub name: ObjectName,
    /// The contents of the parentheses.
    pub arguments: Arguments,
    /// `WITHIN GROUP (ORDER BY ..)`; empty if absent.
    pub within_group: Vec<OrderItem>,
    /// `IGNORE NULLS` or `RESPECT NULLS`.
    pub null_treatment: Option<NullTreatment>,
    /// `OVER (..)`.
    pub over: Option<Window>,
    /// Whether it is written as `{fn ..}`: some functions have other names and meanings there.
    pub odbc: bool,
    /// How it is written.
    pub form: CallForm,
}

/// How a call is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallForm {
    /// `name(..)`
    Function,
    /// `a.value(..)`, a method of xml: the first argument stands before the name.
    Method,
    /// `SET a.modify(..)`, which the compiler makes of the assignment.
    Mutator,
}

/// The arguments of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arguments {
    /// No parentheses: CURRENT_TIMESTAMP, USER and others.
    Absent,
    /// `(*)`.
    Star,
    /// `(a, b)`, `(ALL a)` or `()`.
    List(Vec<Expr>),
    /// `(DISTINCT a)`.
    Distinct(Vec<Expr>),
    /// The arguments of JSON_OBJECT and JSON_ARRAY.
    Json(JsonArguments),
}

/// A conversion to a named type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cast {
    /// The function, which determines whether an error is NULL.
    pub kind: CastKind,
    /// The operand.
    pub operand: Expr,
    /// The target type.
    pub type_name: TypeName,
    /// CONVERT's third argument, or the culture of PARSE.
    pub style: Option<Expr>,
}

/// CASE in both forms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The branches with their operand; at least one branch.
    pub branches: CaseBranches,
    /// `ELSE`.
    pub otherwise: Option<Expr>,
}

/// The WHENs of a CASE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CaseBranches {
    /// `CASE a WHEN b THEN ..`
    Simple {
        /// The operand, which is compared with each branch's value.
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
    /// The value that the operand is compared with.
    pub value: Expr,
    /// The result of the branch.
    pub result: Expr,
}

/// `WHEN condition THEN result`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchedBranch {
    /// The condition.
    pub condition: Condition,
    /// The result of the branch.
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

/// A condition (search condition): true, false or unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// The kind of condition.
    pub kind: ConditionKind,
    /// The position, including surrounding parentheses.
    pub position: Position,
}

/// The kind of a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConditionKind {
    /// The operands, at least two; an `And` among them was parenthesized.
    And(Vec<Condition>),
    /// The operands, at least two; an `Or` among them was parenthesized.
    Or(Vec<Condition>),
    /// `NOT`.
    Not(Box<Condition>),
    /// `left = right` and the other comparisons.
    Compare {
        /// The operator.
        operator: Comparison,
        /// The left operand.
        left: Box<Expr>,
        /// The right operand.
        right: Box<Expr>,
    },
    /// `left = ANY (SELECT ..)`.
    Quantified {
        /// The operator.
        operator: Comparison,
        /// The left operand.
        left: Box<Expr>,
        /// `ALL` or `ANY`.
        quantifier: Quantifier,
        /// The subquery, with one column.
        query: Box<Query>,
    },
    /// `operand IS [NOT] NULL`.
    IsNull {
        /// The tested value.
        operand: Box<Expr>,
        /// Whether NOT is present.
        negated: bool,
    },
    /// `left IS [NOT] DISTINCT FROM right`.
    IsDistinctFrom {
        /// The left operand.
        left: Box<Expr>,
        /// The right operand.
        right: Box<Expr>,
        /// Whether NOT is present.
        negated: bool,
    },
    /// `operand [NOT] BETWEEN low AND high`.
    Between {
        /// The tested value.
        operand: Box<Expr>,
        /// The lower bound.
        low: Box<Expr>,
        /// The upper bound.
        high: Box<Expr>,
        /// Whether NOT is present.
        negated: bool,
    },
    /// `operand [NOT] IN (a, b)`.
    InList {
        /// The tested value.
        operand: Box<Expr>,
        /// The list; at least one value.
        list: Vec<Expr>,
        /// Whether NOT is present.
        negated: bool,
    },
    /// `operand [NOT] IN (SELECT ..)`.
    InQuery {
        /// The tested value.
        operand: Box<Expr>,
        /// The subquery, with one column.
        query: Box<Query>,
        /// Whether NOT is present.
        negated: bool,
    },
    /// `operand [NOT] LIKE pattern [ESCAPE escape]`.
    Like {
        /// The tested value.
        operand: Box<Expr>,
        /// The pattern.
        pattern: Box<Expr>,
        /// The escape character.
        escape: Option<Box<Expr>>,
        /// Whether NOT is present.
        negated: bool,
    },
    /// `EXISTS (SELECT ..)`.
    Exists(Box<Query>),
    /// `UPDATE (column)`, in a trigger.
    Updated(Name),
}

/// One option of a list: `NAME`, `NAME value`, `NAME = value` or `NAME (list)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The name as written; multiple words are separated by one space, as in `HASH JOIN`; a variable includes its `@`.
    pub name: Name,
    /// Whether `=` is between the name and the value.
    pub equals: bool,
    /// The value.
    pub value: Option<SettingValue>,
    /// The position of the node.
    pub position: Position,
}

impl Setting {
    /// The value if it is a word: `ON`, `SIMPLE`.
    #[must_use]
    pub fn word(&self) -> Option<&Name> {
        match &self.value {
            Some(SettingValue::Word(word)) => Some(word),
            Some(SettingValue::Value(_) | SettingValue::Values(_) | SettingValue::Settings(_)) | None => None,
        }
    }

    /// Whether the option with this name is `ON`.
    #[must_use]
    pub fn is_on(options: &[Self], name: &str) -> bool {
        let is_on = |option: &Self| option.word().is_some_and(|word| word.is_word("ON"));
        options.iter().any(|option| option.name.is_word(name) && is_on(option))
    }

    /// The value if it is an expression.
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
    /// A word or name: `ON`, `OFF`, `SIMPLE`, `[a]`; also a number with its unit, such as `60 SECONDS`.
    Word(Name),
    /// A constant with an optional sign, or a variable.
    Value(Expr),
    /// `(1, a)`: constants, variables, and names (which are columns with one part).
    Values(Vec<Expr>),
    /// `(A = ON, B = 5)`.
    Settings(Vec<Setting>),
}

/// An item of GROUP BY, or of a list in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GroupItem {
    /// An expression.
    Value(Expr),
    /// `(a, b)`: several expressions in the place of one; `()` has none.
    Tuple(Vec<Expr>),
    /// `ROLLUP (a, b)`, also written as `a, b WITH ROLLUP`.
    Rollup(Vec<GroupItem>),
    /// `CUBE (a, b)`, also written as `a, b WITH CUBE`.
    Cube(Vec<GroupItem>),
    /// `GROUPING SETS (a, (a, b), ())`.
    Sets(Vec<GroupItem>),
}

/// `name AS (PARTITION BY a ORDER BY b)` of WINDOW.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedWindow {
    /// The name.
    pub name: Name,
    /// The window.
    pub window: Window,
}

/// `OVER (..)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// The window of WINDOW that this one extends.
    pub base: Option<Name>,
    /// `PARTITION BY`; empty if absent.
    pub partition_by: Vec<Expr>,
    /// `ORDER BY`; empty if absent.
    pub order_by: Vec<OrderItem>,
    /// `ROWS` or `RANGE`.
    pub frame: Option<WindowFrame>,
}

/// `source PIVOT (SUM(a) FOR b IN ([x], [y])) AS p`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pivot {
    /// The source of the rows.
    pub source: TableSource,
    /// The aggregate.
    pub aggregate: Expr,
    /// The column whose values become columns.
    pub column: Expr,
    /// Its values.
    pub values: Vec<Name>,
    /// The alias.
    pub alias: DerivedAlias,
}

/// `source UNPIVOT (a FOR b IN ([x], [y])) AS u`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unpivot {
    /// The source of the rows.
    pub source: TableSource,
    /// The new column of the values.
    pub value: Name,
    /// The new column of the names.
    pub name: Name,
    /// The columns that become rows.
    pub columns: Vec<Name>,
    /// The alias.
    pub alias: DerivedAlias,
}

/// The arguments of JSON_OBJECT and JSON_ARRAY.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonArguments {
    /// The values; of JSON_OBJECT each after its name.
    pub list: Vec<Expr>,
    /// Whether the values have names.
    pub named: bool,
    /// `NULL ON NULL` (true) or `ABSENT ON NULL`.
    pub null_on_null: Option<bool>,
}
