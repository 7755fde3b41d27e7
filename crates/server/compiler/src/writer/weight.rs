//! Estimates the size of SQL after SQLite's substitutions.
//!
//! SQLite substitutes the expressions of a derived table's columns for their uses
//! (sqlite.org/optoverview.html#flattening), and copies a common table expression for each of its uses. Both double
//! with each level of a statement that uses two columns, or one table twice, so that a few hundred bytes become
//! gigabytes in sqlite3_prepare, which can't be interrupted.

use std::collections::{HashMap, HashSet};

use super::Writer;
use crate::query::tree::{Body, From, Leaf, Query, QueryNode, Rows, Select, SqliteColumn};
use crate::query::walk::{column_of, query_node_ref};
use crate::{ColumnRef, Expr, ExprKind, Predicate, QueryNodeRef, SqlError};

/// The sizes of sources.
#[derive(Default)]
pub(super) struct Weights {
    /// The number of nodes that a column is substituted by; 1 without an entry.
    columns: HashMap<ColumnRef, u64>,
    /// The number of nodes that a query node is substituted by.
    query_nodes: HashMap<QueryNodeRef, u64>,
    /// The number of tables of each measured source, where SQLite joins those of a derived table with the outer ones.
    tables: HashMap<u32, u64>,
    /// The common table expressions.
    commons: HashMap<usize, Weight>,
    /// Derived tables that SQLite must not flatten.
    fenced: HashSet<u32>,
    /// The common table expression that is being written; `None` for the statement itself.
    pub common: Option<usize>,
    /// The number of sources, and the common table expressions, that each of them refers to.
    uses: HashMap<Option<usize>, Uses>,
}

/// The size of a query.
#[derive(Clone)]
struct Weight {
    /// The weight of each column; empty for a common table expression that is materialized.
    columns: Vec<u64>,
    /// The number of tables in SQLite's join.
    tables: u64,
}

impl Weight {
    const MATERIALIZED: Self = Self {
        columns: Vec::new(),
        tables: 1,
    };
}

#[derive(Default)]
struct Uses {
    count: u64,
    commons: Vec<usize>,
}

impl Writer {
    /// Measures the sources of a FROM before their uses are written, and returns the number of tables in SQLite's join.
    ///
    /// Errors: 8623 if the statement is too large.
    pub(super) fn weigh_from(&mut self, from: &From) -> Result<u64, SqlError> {
        let mut leaves = Vec::new();
        from.visit_leaves(&mut |leaf| leaves.push(leaf));
        let mut total = 0_u64;
        let mut wide = Vec::new();
        for leaf in leaves {
            let tables = match self.weights.tables.get(&leaf.source) {
                Some(tables) => *tables,
                None => self.weigh_leaf(leaf)?,
            };
            total = total.saturating_add(tables);
            if tables > 1 {
                wide.push((tables, leaf));
            }
        }
        wide.sort_by_key(|(tables, _)| *tables);
        while total > JOINED_MAX
            && let Some((tables, leaf)) = wide.pop()
        {
            self.keep_apart(leaf);
            total -= tables - 1;
        }
        Ok(total)
    }

    fn weigh_leaf(&mut self, leaf: &Leaf) -> Result<u64, SqlError> {
        let source = leaf.source;
        self.weights.tables.insert(source, 1);
        let weight = match &leaf.rows {
            Rows::Query(query) => {
                let weight = self.measure(query)?;
                if is_heavy(&weight.columns) {
                    self.weights.fenced.insert(source);
                    return Ok(1);
                }
                weight
            }
            Rows::Common(index) => self.weigh_common(*index)?,
            Rows::Lateral(query) => {
                // Its columns are elements of one value.
                self.measure(query)?;
                return Ok(1);
            }
            Rows::Table(_) | Rows::System(_) | Rows::Function(..) | Rows::Computed(_) => return Ok(1),
        };
        for (column, weight) in (0..).zip(weight.columns) {
            self.weights.columns.insert(ColumnRef { source, column }, weight);
        }
        self.weights.tables.insert(source, weight.tables);
        Ok(weight.tables)
    }

    /// Keeps SQLite from flattening a source whose tables would exceed the limit of 64 in a join.
    fn keep_apart(&mut self, leaf: &Leaf) {
        match &leaf.rows {
            Rows::Query(_) => {
                self.weights.fenced.insert(leaf.source);
            }
            Rows::Common(index) => {
                self.weights.commons.insert(*index, Weight::MATERIALIZED);
            }
            Rows::Table(_) | Rows::System(_) | Rows::Function(..) | Rows::Lateral(_) | Rows::Computed(_) => {}
        }
        self.weights.tables.insert(leaf.source, 1);
    }

    /// Whether SQLite is to materialize a common table expression.
    ///
    /// Errors: as [`Writer::weigh_from`].
    pub(super) fn is_materialized(&mut self, index: usize) -> Result<bool, SqlError> {
        Ok(self.weigh_common(index)?.columns.is_empty())
    }

    fn weigh_common(&mut self, index: usize) -> Result<Weight, SqlError> {
        if let Some(weight) = self.weights.commons.get(&index) {
            return Ok(weight.clone());
        }
        // A recursive reference finds this entry.
        self.weights.commons.insert(index, Weight::MATERIALIZED);
        let query = self.parts.commons.get(index).and_then(|common| common.query.clone());
        let mut weight = match &query {
            Some(query) => self.measure(query)?,
            None => Weight::MATERIALIZED,
        };
        if is_heavy(&weight.columns) {
            weight = Weight::MATERIALIZED;
        }
        self.weights.commons.insert(index, weight.clone());
        Ok(weight)
    }

    /// Whether SQLite must not flatten a derived table.
    pub(super) fn is_fenced(&self, source: u32) -> bool {
        self.weights.fenced.contains(&source)
    }

    /// The number of nodes that a column is substituted by.
    ///
    /// Errors: as [`Writer::weigh_from`].
    pub(super) fn column_weight(&mut self, column: ColumnRef) -> Result<u64, SqlError> {
        if let Some(weight) = self.weights.columns.get(&column) {
            return Ok(*weight);
        }
        let weight = match self.parts.place(column) {
            Some(SqliteColumn::Inlined(expr)) => {
                let expr = expr.clone();
                self.weigh(&expr)?
            }
            Some(SqliteColumn::Named(_) | SqliteColumn::Element(..) | SqliteColumn::Numbered(_)) | None => 1,
        };
        self.weights.columns.insert(column, weight);
        Ok(weight)
    }

    /// Records a use of a source: the number of its copies is known at the end.
    pub(super) fn note_source(&mut self, common: Option<usize>) {
        let uses = self.weights.uses.entry(self.weights.common).or_default();
        uses.count += 1;
        uses.commons.extend(common);
    }

    /// Checks the number of sources after SQLite's copies.
    ///
    /// Errors: 8623.
    pub(super) fn check_sources(&self) -> Result<(), SqlError> {
        let mut totals: Vec<u64> = Vec::with_capacity(self.parts.commons.len());
        let mut total_of = |at: Option<usize>| {
            let total = match self.weights.uses.get(&at) {
                // A recursive or forward reference is not copied there.
                Some(uses) => {
                    let copied = uses.commons.iter().filter_map(|common| totals.get(*common));
                    copied.fold(uses.count, |sum, total| sum.saturating_add(*total))
                }
                None => 0,
            };
            totals.push(total);
            total
        };
        let mut most = 0;
        for at in 0..self.parts.commons.len() {
            most = total_of(Some(at)).max(most);
        }
        let count_max = match self.parts.commons.is_empty() {
            true => SOURCE_COUNT_MAX,
            false => COMMON_SOURCE_COUNT_MAX,
        };
        match most.max(total_of(None)) > count_max {
            true => Err(SqlError::no_plan()),
            false => Ok(()),
        }
    }

    /// The weight of each column of a query.
    fn weigh_query(&mut self, query: &Query) -> Result<Vec<u64>, SqlError> {
        Ok(self.measure(query)?.columns)
    }

    fn measure(&mut self, query: &Query) -> Result<Weight, SqlError> {
        match &query.body {
            Body::Select(select) => self.weigh_select(select),
            Body::Values(_) => Ok(Weight {
                columns: vec![1; query.columns.len()],
                tables: 1,
            }),
            Body::Combined(first, rest) => {
                let mut heaviest = self.measure(first)?;
                for (_, member) in rest {
                    let member = self.measure(member)?;
                    heaviest.tables = heaviest.tables.max(member.tables);
                    for (most, weight) in heaviest.columns.iter_mut().zip(member.columns) {
                        *most = weight.max(*most);
                    }
                }
                Ok(heaviest)
            }
        }
    }

    fn weigh_select(&mut self, select: &Select) -> Result<Weight, SqlError> {
        let tables = match &select.from {
            Some(from) => self.weigh_from(from)?,
            None => 1,
        };
        let columns: Result<Vec<u64>, SqlError> = select.items.iter().map(|item| self.weigh(item)).collect();
        let columns = columns?;
        Ok(Weight { columns, tables })
    }

    /// The number of nodes of an expression after substitution of its columns.
    fn weigh(&mut self, expr: &Expr) -> Result<u64, SqlError> {
        let mut sum = 1_u64;
        if let ExprKind::Case { branches, otherwise } = &expr.kind {
            for (condition, result) in branches {
                sum = sum.saturating_add(self.weigh_predicate(condition)?);
                sum = sum.saturating_add(self.weigh(result)?);
            }
            if let Some(otherwise) = otherwise {
                sum = sum.saturating_add(self.weigh(otherwise)?);
            }
            return Ok(sum);
        }
        if let ExprKind::Coalesce(values) = &expr.kind {
            for value in values {
                sum = sum.saturating_add(self.weigh(value)?);
            }
            return Ok(sum);
        }
        // An operation: its inputs are written once.
        let mut found = NodeScan::default();
        expr.visit(&mut |node| found.note(node));
        found.columns.sort_unstable();
        found.columns.dedup();
        self.sum(found)
    }

    fn weigh_predicate(&mut self, predicate: &Predicate) -> Result<u64, SqlError> {
        let mut found = NodeScan::default();
        predicate.visit(&mut |node| found.note(node));
        self.sum(found)
    }

    fn sum(&mut self, found: NodeScan) -> Result<u64, SqlError> {
        self.parts.budget.spend(found.count)?;
        let mut sum = found.count;
        for column in found.columns {
            sum = sum.saturating_add(self.column_weight(column)?);
        }
        for node in found.query_nodes {
            sum = sum.saturating_add(self.query_node_weight(node)?);
        }
        Ok(sum)
    }

    fn query_node_weight(&mut self, reference: QueryNodeRef) -> Result<u64, SqlError> {
        if let Some(weight) = self.weights.query_nodes.get(&reference) {
            return Ok(*weight);
        }
        let weight = match self.parts.query_node(reference).cloned() {
            Some(QueryNode::Scalar(query) | QueryNode::Exists(query)) => self.weigh_subquery(&query)?,
            Some(QueryNode::In { operand, query, .. }) => {
                let operand = self.weigh(&operand)?;
                self.weigh_subquery(&query)?.saturating_add(operand)
            }
            Some(QueryNode::Quantified(quantified)) => {
                let operand = self.weigh(&quantified.operand)?;
                let rows = self.weigh_subquery(&quantified.query)?;
                // Both are written twice.
                rows.saturating_add(operand).saturating_mul(2)
            }
            Some(QueryNode::Aggregate(call)) => match &call.aggregate.operand {
                Some(operand) => self.weigh(operand)?,
                None => 1,
            },
            Some(QueryNode::Window(_) | QueryNode::Fixed(_)) | None => 1,
        };
        self.weights.query_nodes.insert(reference, weight);
        Ok(weight)
    }

    fn weigh_subquery(&mut self, query: &Query) -> Result<u64, SqlError> {
        let columns = self.weigh_query(query)?;
        let mut sum = columns.into_iter().fold(SUBQUERY_NODE_COUNT, u64::saturating_add);
        if let Body::Select(select) = &query.body
            && let Some(filter) = &select.filter
        {
            sum = sum.saturating_add(self.weigh_predicate(filter)?);
        }
        Ok(sum)
    }
}

fn is_heavy(columns: &[u64]) -> bool {
    columns.iter().any(|weight| *weight > FLATTENED_MAX)
}

/// The parts of an expression.
#[derive(Default)]
struct NodeScan {
    count: u64,
    columns: Vec<ColumnRef>,
    query_nodes: Vec<QueryNodeRef>,
}

impl NodeScan {
    fn note(&mut self, node: crate::Node<'_>) {
        self.count += 1;
        self.columns.extend(column_of(node));
        self.query_nodes.extend(query_node_ref(node));
    }
}

/// SQLite's limit of tables in a join.
const JOINED_MAX: u64 = 64;

/// 990 sources in a statement with common table expressions: SQLite copies none if there are 1,000
/// (SQLITE_MAX_EXPR_DEPTH), and has a few more than are written.
const COMMON_SOURCE_COUNT_MAX: u64 = 990;

/// 2,000 nodes: more than a column has in SQL written by hand, and few enough to be copied for each use.
const FLATTENED_MAX: u64 = 2000;

/// 100: SQLite needs the time of so many nodes for a subquery, whose copies count as well. So a statement has 10,000
/// at most, which SQLite prepares in half a second; joins within them poll.
pub(super) const SUBQUERY_NODE_COUNT: u64 = 100;

/// 4,096 sources: SQLite prepares so many in a third of a second, in joins or in subqueries of conditions.
const SOURCE_COUNT_MAX: u64 = 4096;
