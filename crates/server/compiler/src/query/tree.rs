//! Bound queries: names are resolved and columns typed.
//!
//! - `source-numbers-are-unique`: a source's number is unique in its statement, so a column of an
//!   outer query needs no path to it.
//! - `query-parts-by-number`: a query node in an expression (a subquery, an aggregate, a window
//!   function) is the number of a [`QueryNode`] in the statement's [`Parts`].

use std::collections::HashMap;
use std::sync::Arc;

use selenite_tsql::ast::SetOperator;
use selenite_types::storage::StorageClass;
use selenite_types::{Comparison, DataType, Value};

use crate::budget::Budget;
use crate::catalog::{SystemRows, SystemView, Table, View};
use crate::{Aggregate, Collation, ColumnRef, Expr, ExprKind, Predicate, QueryNodeRef};

/// The shared parts of a statement's queries.
#[derive(Clone, Default, Debug)]
pub(crate) struct Parts {
    /// The query nodes that [`QueryNodeRef`]s refer to.
    pub query_nodes: Vec<QueryNode>,
    /// The columns of each source, by its number.
    pub sources: Vec<Vec<SqliteColumn>>,
    /// The common table expressions, in the order in which each may name those before it.
    pub commons: Vec<Common>,
    /// The names of sources' rowids, by the sources' numbers.
    pub row_ids: HashMap<u32, String>,
    /// The tables among the sources, by number.
    pub tables: HashMap<u32, Arc<Table>>,
    /// The views among the sources, by number.
    pub views: HashMap<u32, Arc<View>>,
    /// The catalog's numbers of sources whose columns it wants to know, by the sources' numbers.
    pub noted: HashMap<u32, usize>,
    /// Whether a hint requires that rows that are read be held until the transaction ends.
    pub holds: bool,
    /// The sequences of NEXT VALUE FOR, by number, each with the text of its OVER.
    pub sequences: Vec<(i32, String)>,
    /// Whether a function of a user is called, which may read any table.
    pub calls_functions: bool,
    /// The remaining cost of the statement.
    pub budget: Budget,
}

/// The SQL of a source's column in SQLite.
#[derive(Clone, Debug)]
pub(crate) enum SqliteColumn {
    /// A column of a table by its name.
    Named(String),
    /// An element of a row that is a JSON array, by its index, and its storage class.
    Element(usize, StorageClass),
    /// A column of a query, by its position.
    Numbered(usize),
    /// An expression from a query that was rewritten.
    Inlined(Expr),
}

/// A common table expression.
#[derive(Clone, Debug)]
pub(crate) struct Common {
    /// The rows; `None` only while they are bound.
    pub query: Option<Query>,
    /// The recursion, of a recursive one.
    pub recursion: Option<Recursion>,
}

/// A recursive common table expression: its last column, which has no name, is the recursion level.
#[derive(Clone, Debug)]
pub(crate) struct Recursion {
    /// For each member the source that is the recursive reference; `None` for anchors.
    pub members: Vec<Option<u32>>,
    /// The maximum level; 0 for no limit.
    pub level_max: u32,
}

/// A bound query.
#[derive(Clone, Debug)]
pub(crate) struct Query {
    /// The source of the rows.
    pub body: Body,
    /// The names and types of the columns.
    pub columns: Vec<QueryColumn>,
    /// ORDER BY.
    pub order: Vec<OrderTerm>,
    /// TOP, OFFSET and FETCH.
    pub limit: Option<Limit>,
}

/// A column of a query.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct QueryColumn {
    /// Its name; empty if it has none.
    pub name: String,
    /// Its type.
    pub data_type: DataType,
    /// Whether it may be NULL.
    pub nullable: bool,
    /// The collation of its text.
    pub collation: Collation,
    /// The table's column that it returns unchanged.
    pub origin: Option<ColumnRef>,
}

/// The body of a query.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    /// One SELECT.
    Select(Box<Select>),
    /// VALUES.
    Values(Vec<Vec<Expr>>),
    /// Several queries, combined from left to right.
    Combined(Box<Query>, Vec<(SetOperator, Query)>),
}

/// One SELECT.
#[derive(Clone, Default, Debug)]
pub(crate) struct Select {
    /// DISTINCT.
    pub distinct: bool,
    /// The columns.
    pub items: Vec<Expr>,
    /// FROM.
    pub from: Option<From>,
    /// WHERE.
    pub filter: Option<Predicate>,
    /// GROUP BY.
    pub group_by: Vec<Expr>,
    /// HAVING.
    pub having: Option<Predicate>,
    /// Whether rows are grouped: by GROUP BY, HAVING or an aggregate.
    pub grouped: bool,
}

/// A table, or tables joined.
#[derive(Clone, Debug)]
pub(crate) enum From {
    /// A single source.
    Leaf(Leaf),
    /// Two joined parts.
    Join(Box<Join>),
}

/// A single source of a FROM.
#[derive(Clone, Debug)]
pub(crate) struct Leaf {
    /// Its number.
    pub source: u32,
    /// Its rows.
    pub rows: Rows,
}

/// The rows of a source.
#[derive(Clone, Debug)]
pub(crate) enum Rows {
    /// A table.
    Table(Arc<Table>),
    /// A system view.
    System(Box<SystemView>),
    /// A system function, with its arguments.
    Function(SystemRows, Vec<Expr>),
    /// A query.
    Query(Box<Query>),
    /// A common table expression, by its index in [`Parts::commons`].
    Common(usize),
    /// A lateral query, which may use columns of the sources before it: a JSON array of its rows, read by json_each.
    Lateral(Box<Query>),
    /// Rows that an expression computes: a JSON array of arrays of storage forms.
    Computed(Box<Expr>),
}

/// Two joined parts of a FROM.
#[derive(Clone, Debug)]
pub(crate) struct Join {
    /// The kind.
    pub kind: JoinKind,
    /// The left side.
    pub left: From,
    /// The right side; in a lateral join it may use the left side's columns.
    pub right: From,
    /// ON; `None` is a cross join.
    pub on: Option<Predicate>,
}

/// The kind of a join in SQLite.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum JoinKind {
    /// INNER or CROSS.
    Inner,
    /// LEFT OUTER.
    Left,
    /// RIGHT OUTER.
    Right,
    /// FULL OUTER.
    Full,
}

/// One term of ORDER BY.
#[derive(Clone, Debug)]
pub(crate) struct OrderTerm {
    /// The key.
    pub key: OrderKey,
    /// DESC.
    pub descending: bool,
}

/// The key of an ORDER BY term.
#[derive(Clone, Debug)]
pub(crate) enum OrderKey {
    /// A column of the query, by its index.
    Output(usize),
    /// A value, only in the ORDER BY of a SELECT.
    Value(Expr),
}

/// The row limit of a query.
#[derive(Clone, Debug)]
pub(crate) enum Limit {
    /// `TOP (n)`: a bigint.
    Top {
        /// The number of rows.
        count: Expr,
        /// WITH TIES.
        ties: bool,
    },
    /// `TOP (n) PERCENT`: a float.
    Percent {
        /// The percentage.
        count: Expr,
        /// WITH TIES.
        ties: bool,
    },
    /// `OFFSET skip ROWS FETCH NEXT fetch ROWS ONLY`: bigints.
    Offset {
        /// The number of skipped rows.
        skip: Expr,
        /// The number of returned rows; `None` is all.
        fetch: Option<Expr>,
    },
}

/// A query node of an expression.
#[derive(Clone, Debug)]
pub(crate) enum QueryNode {
    /// `(SELECT ..)` as a value.
    Scalar(Box<Query>),
    /// `EXISTS (SELECT ..)`.
    Exists(Box<Query>),
    /// `operand IN (SELECT ..)`: both of one type.
    In {
        /// The compared value.
        operand: Expr,
        /// The subquery.
        query: Box<Query>,
        /// The collation of text.
        collation: Collation,
    },
    /// `operand > ANY (SELECT ..)` and similar: both of one type.
    Quantified(Box<Quantified>),
    /// An aggregate over a group.
    Aggregate(Box<AggregateCall>),
    /// A window function.
    Window(Box<WindowCall>),
    /// A value that does not depend on a row, evaluated once in advance.
    Fixed(Expr),
}

/// A comparison with ANY or ALL rows of a query.
#[derive(Clone, Debug)]
pub(crate) struct Quantified {
    /// The compared value.
    pub operand: Expr,
    /// The operator.
    pub comparison: Comparison,
    /// ALL.
    pub all: bool,
    /// The subquery.
    pub query: Query,
    /// A source number for the subquery.
    pub source: u32,
    /// The collation of text.
    pub collation: Collation,
}

/// An aggregate over a group.
#[derive(Clone, Debug)]
pub(crate) struct AggregateCall {
    /// The function with its operand.
    pub aggregate: Aggregate,
    /// DISTINCT.
    pub distinct: bool,
    /// WITHIN GROUP.
    pub order: Vec<(Expr, bool)>,
}

/// A call of a window function.
#[derive(Clone, Debug)]
pub(crate) struct WindowCall {
    /// The function.
    pub function: WindowFunction,
    /// PARTITION BY.
    pub partition: Vec<Expr>,
    /// ORDER BY, with DESC.
    pub order: Vec<(Expr, bool)>,
    /// ROWS or RANGE.
    pub frame: Option<selenite_tsql::ast::WindowFrame>,
}

/// A window function.
#[derive(Clone, Debug)]
pub(crate) enum WindowFunction {
    /// ROW_NUMBER, a bigint.
    RowNumber,
    /// RANK, a bigint.
    Rank,
    /// DENSE_RANK, a bigint.
    DenseRank,
    /// NTILE of a bigint, a bigint.
    Tile(Expr),
    /// PERCENT_RANK, a float.
    PercentRank,
    /// CUME_DIST, a float.
    CumulativeDistribution,
    /// LAG or LEAD.
    Shift {
        /// The value.
        value: Expr,
        /// The offset in rows (a bigint).
        offset: Expr,
        /// The value where there is no such row, of the value's type.
        default: Option<Expr>,
        /// LEAD.
        forward: bool,
    },
    /// FIRST_VALUE.
    First(Expr),
    /// LAST_VALUE.
    Last(Expr),
    /// An aggregate.
    Aggregate(Aggregate),
}

/// The column number that stands for SQLite's rowid.
pub(crate) const ROW_ID: u32 = u32::MAX;

/// The rowid of a source.
pub(crate) fn row_id(source: u32) -> Expr {
    let column = ColumnRef { source, column: ROW_ID };
    Expr::new(ExprKind::Column(column), DataType::BigInt).with_nullable(false)
}

impl Parts {
    /// Adds a source with these columns, and returns its number.
    pub fn add_source(&mut self, places: Vec<SqliteColumn>) -> u32 {
        let number = u32::try_from(self.sources.len()).unwrap_or(u32::MAX);
        self.sources.push(places);
        number
    }

    /// Adds a query node, and returns its number.
    pub fn add_query_node(&mut self, node: QueryNode) -> QueryNodeRef {
        let number = u32::try_from(self.query_nodes.len()).unwrap_or(u32::MAX);
        self.query_nodes.push(node);
        QueryNodeRef(number)
    }

    /// The query node with a number.
    pub fn query_node(&self, reference: QueryNodeRef) -> Option<&QueryNode> {
        self.query_nodes.get(usize::try_from(reference.0).ok()?)
    }

    /// A table's column in error messages: `table 'dbo.t', column 'a'`.
    pub fn column_name(&self, column: ColumnRef) -> Option<String> {
        let table = self.tables.get(&column.source)?;
        let of_table = table.columns.get(usize::try_from(column.column).ok()?)?;
        Some(format!("table '{}', column '{}'", table.schema_name(), of_table.name))
    }

    /// The SQL of a column in SQLite.
    pub fn place(&self, column: ColumnRef) -> Option<&SqliteColumn> {
        self.sources
            .get(usize::try_from(column.source).ok()?)?
            .get(usize::try_from(column.column).ok()?)
    }
}

impl Select {
    /// Whether all rows are one group.
    pub fn is_one_group(&self) -> bool {
        self.grouped && self.group_by.is_empty()
    }
}

impl Query {
    /// The rows of one SELECT.
    pub fn of_select(select: Select, columns: Vec<QueryColumn>) -> Self {
        Self {
            body: Body::Select(Box::new(select)),
            columns,
            order: Vec::new(),
            limit: None,
        }
    }

    /// Whether a column may have another value at each evaluation, and the rows are not materialized.
    pub fn is_volatile(&self) -> bool {
        let select = self.plain();
        select.is_some_and(|select| select.items.iter().any(crate::expr::is_volatile))
    }

    /// Whether it is one SELECT of constants only.
    pub fn is_constant(&self) -> bool {
        let select = self.plain();
        select.is_some_and(|select| select.from.is_none() && select.items.iter().all(crate::expr::is_fixed))
    }

    /// Whether it has at most one row, whatever its tables contain.
    pub fn is_single(&self) -> bool {
        match &self.body {
            Body::Select(select) => {
                let one = select.from.is_none() || select.is_one_group();
                one || matches!(&self.limit, Some(Limit::Top { count, ties: false }) if is_one(count))
            }
            Body::Values(rows) => rows.len() <= 1,
            Body::Combined(..) => false,
        }
    }

    /// The SELECT of a query without limit, order and DISTINCT; `None` for any other.
    pub fn plain(&self) -> Option<&Select> {
        match &self.body {
            Body::Select(select) if self.limit.is_none() && !select.distinct => Some(select),
            Body::Select(_) | Body::Values(_) | Body::Combined(..) => None,
        }
    }
}

impl From {
    /// Visits all joins.
    pub fn visit_joins(&self, visit: &mut dyn FnMut(&Join)) {
        if let Self::Join(join) = self {
            visit(join);
            join.left.visit_joins(visit);
            join.right.visit_joins(visit);
        }
    }

    /// Visits all single sources.
    pub fn visit_leaves<'a>(&'a self, visit: &mut dyn FnMut(&'a Leaf)) {
        match self {
            Self::Leaf(leaf) => visit(leaf),
            Self::Join(join) => {
                join.left.visit_leaves(visit);
                join.right.visit_leaves(visit);
            }
        }
    }

    /// Whether it contains a source.
    pub fn has_leaf(&self, source: u32) -> bool {
        let mut has = false;
        self.visit_leaves(&mut |leaf| has |= leaf.source == source);
        has
    }
}

/// The properties of a column's values.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct ColumnKind {
    /// Its type.
    pub data_type: DataType,
    /// Whether it may be NULL.
    pub nullable: bool,
    /// The collation of its text.
    pub collation: Collation,
}

impl QueryColumn {
    /// A column that is not a table's.
    pub fn named(name: String, kind: ColumnKind) -> Self {
        let ColumnKind {
            data_type,
            nullable,
            collation,
        } = kind;
        Self {
            name,
            data_type,
            nullable,
            collation,
            origin: None,
        }
    }

    /// The column of an expression.
    pub fn of(name: String, expr: &Expr) -> Self {
        Self {
            name,
            data_type: expr.data_type,
            nullable: expr.nullable,
            collation: expr.collation,
            origin: None,
        }
    }

    /// The column as an expression; `reference` is its place in a source.
    pub fn read(&self, reference: ColumnRef) -> Expr {
        Expr::new(ExprKind::Column(reference), self.data_type)
            .with_nullable(self.nullable)
            .with_collation(self.collation.of_column())
    }
}

/// Whether an expression is the constant 1.
fn is_one(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Literal(Value::BigInt(1) | Value::Int(1)))
}
