//! Bound queries: every name found, every column typed.
//!
//! - `source-numbers-are-unique`: a source's number is unique in its statement, so a column of an
//!   outer query needs no path to it.
//! - `query-parts-by-number`: what an expression holds of a query (a subquery, an aggregate, a
//!   window function) is an [`Outside`] of the statement's [`Parts`], by its number.

use std::collections::HashMap;
use std::sync::Arc;

use selenite_tsql::ast::SetOperator;
use selenite_types::storage::StorageClass;
use selenite_types::{Comparison, DataType, Value};

use crate::budget::Budget;
use crate::catalog::{SystemRows, SystemView, Table, View};
use crate::{Aggregate, Collation, ColumnRef, Expr, ExprKind, OutsideRef, Predicate};

/// What the queries of one statement share.
#[derive(Clone, Default, Debug)]
pub(crate) struct Parts {
    /// What each [`OutsideRef`] refers to.
    pub outsides: Vec<Outside>,
    /// The columns of each source, by its number.
    pub sources: Vec<Vec<SqliteColumn>>,
    /// The common table expressions, in the order in which each may name those before it.
    pub commons: Vec<Common>,
    /// By which name a source's rowid is reached, by the source's number.
    pub row_ids: HashMap<u32, String>,
    /// The tables among the sources, by number.
    pub tables: HashMap<u32, Arc<Table>>,
    /// The views among the sources, by number.
    pub views: HashMap<u32, Arc<View>>,
    /// Whether a hint requires that what is read be held until the transaction ends.
    pub holds: bool,
    /// How much the statement may still cost.
    pub budget: Budget,
}

/// What a column of a source is in SQLite.
#[derive(Clone, Debug)]
pub(crate) enum SqliteColumn {
    /// A column of a table by its name.
    Named(String),
    /// An element of a row that is a JSON array, by its index, and how it is stored.
    Element(usize, StorageClass),
    /// A column of a query, by its position.
    Numbered(usize),
    /// What a query that was taken apart computes it from.
    Inlined(Expr),
}

/// A common table expression.
#[derive(Clone, Debug)]
pub(crate) struct Common {
    /// Its rows; `None` only while they are bound.
    pub query: Option<Query>,
    /// How its recursive part is counted.
    pub recursion: Option<Recursion>,
}

/// A recursive common table expression: its last column, which no name finds, is the level.
#[derive(Clone, Debug)]
pub(crate) struct Recursion {
    /// For each member the source through which it reads the rows before; `None` for anchors.
    pub members: Vec<Option<u32>>,
    /// The deepest level; 0 for any.
    pub level_max: u32,
}

/// Rows with typed columns.
#[derive(Clone, Debug)]
pub(crate) struct Query {
    /// Where they come from.
    pub body: Body,
    /// What they are called and of which type they are.
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
    /// How its text is compared.
    pub collation: Collation,
    /// The table's column that it is, untouched.
    pub origin: Option<ColumnRef>,
}

/// Where a query's rows come from.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    /// One SELECT.
    Select(Box<Select>),
    /// VALUES.
    Values(Vec<Vec<Expr>>),
    /// Several, combined from left to right.
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
    /// Whether its rows are groups: GROUP BY, HAVING or an aggregate.
    pub grouped: bool,
}

/// A table, or tables joined.
#[derive(Clone, Debug)]
pub(crate) enum From {
    /// One source.
    Leaf(Leaf),
    /// Two joined.
    Join(Box<Join>),
}

/// One source of a FROM.
#[derive(Clone, Debug)]
pub(crate) struct Leaf {
    /// Its number.
    pub source: u32,
    /// Its rows.
    pub rows: Rows,
}

/// What a source's rows are.
#[derive(Clone, Debug)]
pub(crate) enum Rows {
    /// A table.
    Table(Arc<Table>),
    /// A view of the server's own.
    System(Box<SystemView>),
    /// A function of the server's own, with its arguments.
    Function(SystemRows, Vec<Expr>),
    /// A query.
    Query(Box<Query>),
    /// A common table expression, by its index in [`Parts::commons`].
    Common(usize),
    /// A query that sees the columns of the sources before it: a JSON array of its rows, read by json_each.
    Lateral(Box<Query>),
}

/// Two sources joined.
#[derive(Clone, Debug)]
pub(crate) struct Join {
    /// How.
    pub kind: JoinKind,
    /// The left side.
    pub left: From,
    /// The right side; of a lateral join it sees the left's columns.
    pub right: From,
    /// ON; `None` for all pairs.
    pub on: Option<Predicate>,
}

/// How two sources are joined, as SQLite knows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum JoinKind {
    /// Pairs that match, or all pairs.
    Inner,
    /// And rows of the left without a match.
    Left,
    /// And rows of the right without a match.
    Right,
    /// And rows of either without a match.
    Full,
}

/// One term of ORDER BY.
#[derive(Clone, Debug)]
pub(crate) struct OrderTerm {
    /// By what.
    pub key: OrderKey,
    /// DESC.
    pub descending: bool,
}

/// What rows are ordered by.
#[derive(Clone, Debug)]
pub(crate) enum OrderKey {
    /// A column of the query, by its index.
    Output(usize),
    /// Any other value, which SELECT alone has.
    Value(Expr),
}

/// How many rows, and from where on.
#[derive(Clone, Debug)]
pub(crate) enum Limit {
    /// `TOP (n)`: a bigint.
    Top {
        /// How many.
        count: Expr,
        /// WITH TIES.
        ties: bool,
    },
    /// `TOP (n) PERCENT`: a float.
    Percent {
        /// How many of a hundred.
        count: Expr,
        /// WITH TIES.
        ties: bool,
    },
    /// `OFFSET skip ROWS FETCH NEXT fetch ROWS ONLY`: bigints.
    Offset {
        /// How many are left out.
        skip: Expr,
        /// How many are taken; all without.
        fetch: Option<Expr>,
    },
}

/// What an expression holds of a query.
#[derive(Clone, Debug)]
pub(crate) enum Outside {
    /// `(SELECT ..)` as a value.
    Scalar(Box<Query>),
    /// `EXISTS (SELECT ..)`.
    Exists(Box<Query>),
    /// `operand IN (SELECT ..)`: both of one type.
    In {
        /// What is looked for.
        operand: Expr,
        /// Among which rows.
        query: Box<Query>,
        /// How text is compared.
        collation: Collation,
    },
    /// `operand > ANY (SELECT ..)` and related ones: both of one type.
    Quantified(Box<Quantified>),
    /// An aggregate over a group.
    Aggregate(Box<AggregateCall>),
    /// A function over a window.
    Window(Box<WindowCall>),
    /// A value that no row changes, evaluated once before.
    Fixed(Expr),
}

/// A comparison with all rows of a query, or any.
#[derive(Clone, Debug)]
pub(crate) struct Quantified {
    /// What is compared.
    pub operand: Expr,
    /// How.
    pub comparison: Comparison,
    /// Whether it must hold for all rows.
    pub all: bool,
    /// The rows.
    pub query: Query,
    /// A number for the rows as a source.
    pub source: u32,
    /// How text is compared.
    pub collation: Collation,
}

/// An aggregate over a group.
#[derive(Clone, Debug)]
pub(crate) struct AggregateCall {
    /// Which, of what.
    pub aggregate: Aggregate,
    /// DISTINCT.
    pub distinct: bool,
    /// WITHIN GROUP.
    pub order: Vec<(Expr, bool)>,
}

/// A function over a window.
#[derive(Clone, Debug)]
pub(crate) struct WindowCall {
    /// Which.
    pub function: WindowFunction,
    /// PARTITION BY.
    pub partition: Vec<Expr>,
    /// ORDER BY, with DESC.
    pub order: Vec<(Expr, bool)>,
    /// ROWS or RANGE.
    pub frame: Option<selenite_tsql::ast::Frame>,
}

/// A function over a window.
#[derive(Clone, Debug)]
pub(crate) enum WindowFunction {
    /// ROW_NUMBER, a bigint.
    RowNumber,
    /// RANK, a bigint.
    Rank,
    /// DENSE_RANK, a bigint.
    DenseRank,
    /// NTILE, a bigint, of a bigint.
    Tile(Expr),
    /// PERCENT_RANK, a float.
    PercentRank,
    /// CUME_DIST, a float.
    CumulativeDistribution,
    /// LAG or LEAD.
    Shift {
        /// The value.
        value: Expr,
        /// How many rows before (a bigint).
        offset: Expr,
        /// What it is where there is no such row, of the value's type.
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

/// The column number of SQLite's rowid.
pub(crate) const ROW_ID: u32 = u32::MAX;

impl Parts {
    /// Takes a number for a source with these columns.
    pub fn add_source(&mut self, places: Vec<SqliteColumn>) -> u32 {
        let number = u32::try_from(self.sources.len()).unwrap_or(u32::MAX);
        self.sources.push(places);
        number
    }

    /// Takes a number for what an expression holds.
    pub fn add_outside(&mut self, outside: Outside) -> OutsideRef {
        let number = u32::try_from(self.outsides.len()).unwrap_or(u32::MAX);
        self.outsides.push(outside);
        OutsideRef(number)
    }

    /// What a number refers to.
    pub fn outside(&self, reference: OutsideRef) -> Option<&Outside> {
        self.outsides.get(usize::try_from(reference.0).ok()?)
    }

    /// A table's column as an error names it: `table 'dbo.t', column 'a'`.
    pub fn column_name(&self, column: ColumnRef) -> Option<String> {
        let table = self.tables.get(&column.source)?;
        let of_table = table.columns.get(usize::try_from(column.column).ok()?)?;
        Some(format!("table '{}', column '{}'", table.schema_name(), of_table.name))
    }

    /// What a column is in SQLite.
    pub fn place(&self, column: ColumnRef) -> Option<&SqliteColumn> {
        self.sources
            .get(usize::try_from(column.source).ok()?)?
            .get(usize::try_from(column.column).ok()?)
    }
}

impl Select {
    /// Whether all its rows are one group.
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

    /// Whether a column of it may be another value each time that it is evaluated, and nothing keeps its rows as they
    /// are.
    pub fn is_volatile(&self) -> bool {
        let select = self.plain();
        select.is_some_and(|select| select.items.iter().any(crate::expr::is_volatile))
    }

    /// Whether it is one SELECT of constants alone.
    pub fn is_constant(&self) -> bool {
        let select = self.plain();
        select.is_some_and(|select| select.from.is_none() && select.items.iter().all(crate::expr::is_fixed))
    }

    /// Whether it has at most one row, whatever its tables hold.
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

    /// The one SELECT that it is, if nothing cuts, orders or makes its rows distinct.
    pub fn plain(&self) -> Option<&Select> {
        match &self.body {
            Body::Select(select) if self.limit.is_none() && !select.distinct => Some(select),
            Body::Select(_) | Body::Values(_) | Body::Combined(..) => None,
        }
    }
}

impl From {
    /// Shows `visit` all joins.
    pub fn visit_joins(&self, visit: &mut dyn FnMut(&Join)) {
        if let Self::Join(join) = self {
            visit(join);
            join.left.visit_joins(visit);
            join.right.visit_joins(visit);
        }
    }

    /// Shows `visit` all single sources.
    pub fn visit_leaves<'a>(&'a self, visit: &mut dyn FnMut(&'a Leaf)) {
        match self {
            Self::Leaf(leaf) => visit(leaf),
            Self::Join(join) => {
                join.left.visit_leaves(visit);
                join.right.visit_leaves(visit);
            }
        }
    }

    /// Whether a source is one of its own.
    pub fn has_leaf(&self, source: u32) -> bool {
        let mut has = false;
        self.visit_leaves(&mut |leaf| has |= leaf.source == source);
        has
    }
}

/// What a column's values are.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct ColumnKind {
    /// Its type.
    pub data_type: DataType,
    /// Whether it may be NULL.
    pub nullable: bool,
    /// How its text is compared.
    pub collation: Collation,
}

impl QueryColumn {
    /// A column that is no table's.
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

    /// The column that an expression makes.
    pub fn of(name: String, expr: &Expr) -> Self {
        Self {
            name,
            data_type: expr.data_type,
            nullable: expr.nullable,
            collation: expr.collation,
            origin: None,
        }
    }

    /// The column as an expression, `reference` of a source.
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
