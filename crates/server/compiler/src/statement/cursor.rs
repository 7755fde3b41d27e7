//! The query of a cursor that reads its rows when they are fetched.
//!
//! - `hidden-slots-follow`: what a read is about is in slots behind those of the program's variables.
//! - `hidden-columns-follow`: what finds a row again is in columns behind those of the query.

use std::sync::Arc;

use selenite_tsql::ast;
use selenite_types::{Comparison, DataType};

use super::Rows;
use super::select::rows_statement;
use crate::bind::compared;
use crate::binding::Binding;
use crate::catalog::{KeyKind, Table};
use crate::query::QueryBinder;
use crate::query::tree::{
    Body, From, Limit, OrderKey, OrderTerm, Query, QueryColumn, QueryNode, Rows as SourceRows, Select, row_id,
};
use crate::{ColumnRef, Expr, ExprKind, Predicate, Slot, SqlError};

/// What is read of a cursor's query at once.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CursorRead {
    /// The keys of all rows, in the query's order: the hidden columns are the key's.
    Keys,
    /// The row with a key, whether or not it satisfies the query's condition: the hidden slots are the key's values,
    /// the hidden column is the rowid.
    Row,
    /// Rows by ascending rowid. The hidden slots are the first rowid that may be one, how many rows to skip, and how
    /// many to read, all bigint; the hidden column is the rowid.
    Upwards,
    /// The same by descending rowid.
    Downwards,
}

/// What is known of a cursor's query.
#[derive(Clone, Debug)]
pub struct CursorForm {
    /// The table's columns that the query returns unchanged, in the order of the query's.
    pub origins: Vec<Option<usize>>,
    /// The table whose rows are the query's; otherwise why there is none.
    pub table: Result<Arc<Table>, NoTable>,
    /// The columns of the key that finds a row of the table; empty for a table without one.
    pub key: Vec<usize>,
    /// Whether the query's order is that of the rowid: ascending, or descending.
    pub walk: Option<CursorRead>,
}

/// Why the rows of a query are not those of a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoTable {
    /// SQL Server has no row of a table for it: DISTINCT, GROUP BY, UNION, or no FROM.
    Computed,
    /// More than one table, a view, or a query.
    Source,
}

impl<'a> Binding<'a> {
    /// Finds out how the rows of a cursor can be read.
    ///
    /// Errors: any error of the query.
    pub fn cursor_form(&self, select: &ast::SelectStatement) -> Result<CursorForm, SqlError> {
        let (binder, query) = self.cursor_query(select)?;
        Ok(CursorForm::of(&binder, &query))
    }

    /// Binds one read of a cursor's rows; `declared` is the table when it was declared.
    ///
    /// Errors: any error of the query; 16943 if the table is another one.
    pub fn cursor_rows(
        &self,
        select: &ast::SelectStatement,
        read: CursorRead,
        declared: &Table,
    ) -> Result<Rows, SqlError> {
        let (binder, mut query) = self.cursor_query(select)?;
        let found = table_of(&binder, &query).ok();
        let Some((source, table)) = found.filter(|(_, table)| is_same(table, declared)) else {
            return Err(SqlError::cursor_schema_changed());
        };
        let hidden = match read {
            CursorRead::Keys => key_of(&table).iter().map(|at| column(source, &table, *at)).collect(),
            CursorRead::Row | CursorRead::Upwards | CursorRead::Downwards => vec![row_id(source)],
        };
        let Body::Select(select) = &mut query.body else {
            return Err(SqlError::cursor_schema_changed());
        };
        for value in hidden {
            query.columns.push(QueryColumn::of(String::new(), &value));
            select.items.push(value);
        }
        match read {
            CursorRead::Keys => {}
            CursorRead::Row => {
                select.filter = Some(self.has_key(source, &table)?);
                query.order = Vec::new();
                query.limit = None;
            }
            CursorRead::Upwards | CursorRead::Downwards => self.walk_from(&mut query, source, read)?,
        }
        rows_statement(binder, query)
    }

    fn cursor_query(&self, select: &ast::SelectStatement) -> Result<(QueryBinder<'a>, Query), SqlError> {
        let mut binder = QueryBinder::new(self.catalog, self.variables);
        binder.options(&select.options)?;
        let query = binder.with_commons(&select.with, |binder| binder.bind_statement(&select.query))?;
        Ok((binder, query))
    }

    /// `hidden-slots-follow`.
    fn hidden_slot(&self, number: u32, data_type: DataType) -> Expr {
        let first = u32::try_from(self.variables.slot_count()).unwrap_or(u32::MAX);
        Expr::new(ExprKind::Variable(Slot(first.saturating_add(number))), data_type)
    }

    /// The condition that a row has the key in the hidden slots.
    fn has_key(&self, source: u32, table: &Table) -> Result<Predicate, SqlError> {
        let mut parts = Vec::new();
        for (number, at) in (0_u32..).zip(key_of(table)) {
            let left = column(source, table, at);
            let right = self.hidden_slot(number, left.data_type);
            parts.push(compared(Comparison::Equal, left, right)?);
        }
        Ok(Predicate::And(parts))
    }

    /// Some rows from a rowid on.
    fn walk_from(&self, query: &mut Query, source: u32, read: CursorRead) -> Result<(), SqlError> {
        let Body::Select(select) = &mut query.body else {
            return Err(SqlError::cursor_schema_changed());
        };
        let descending = read == CursorRead::Downwards;
        let comparison = match descending {
            true => Comparison::LessOrEqual,
            false => Comparison::GreaterOrEqual,
        };
        let from = compared(comparison, row_id(source), self.hidden_slot(0, DataType::BigInt))?;
        select.filter = Some(match select.filter.take() {
            Some(filter) => Predicate::And(vec![from, filter]),
            None => from,
        });
        query.order = vec![OrderTerm {
            key: OrderKey::Value(row_id(source)),
            descending,
        }];
        query.limit = Some(Limit::Offset {
            skip: self.hidden_slot(1, DataType::BigInt),
            fetch: Some(self.hidden_slot(2, DataType::BigInt)),
        });
        Ok(())
    }
}

/// Whether a table is what it was.
fn is_same(table: &Table, before: &Table) -> bool {
    let columns = table.columns.iter().zip(&before.columns);
    table.object_id == before.object_id
        && table.columns.len() == before.columns.len()
        && columns
            .into_iter()
            .all(|(now, then)| now.name == then.name && now.data_type == then.data_type)
        && key_of(table) == key_of(before)
        && table.row_id_column == before.row_id_column
}

impl CursorForm {
    fn of(binder: &QueryBinder<'_>, query: &Query) -> Self {
        let found = table_of(binder, query);
        let key = found.as_ref().map_or(Vec::new(), |(_, table)| key_of(table));
        let walk = found
            .as_ref()
            .ok()
            .and_then(|(source, table)| walk(query, *source, table));
        let source = found.as_ref().ok().map(|(source, _)| *source);
        let origin = |column: &QueryColumn| {
            let origin = column.origin.filter(|origin| Some(origin.source) == source)?;
            usize::try_from(origin.column).ok()
        };
        Self {
            origins: query.columns.iter().map(origin).collect(),
            key,
            walk,
            table: found.map(|(_, table)| table),
        }
    }
}

/// The only table of a query, each of whose rows is one of the table, with its source.
fn table_of(binder: &QueryBinder<'_>, query: &Query) -> Result<(u32, Arc<Table>), NoTable> {
    let Body::Select(select) = &query.body else {
        return Err(NoTable::Computed);
    };
    let Select {
        distinct,
        from,
        group_by,
        having,
        grouped,
        ..
    } = &**select;
    if *distinct || *grouped || !group_by.is_empty() || having.is_some() {
        return Err(NoTable::Computed);
    }
    let Some(from) = from else {
        return Err(NoTable::Computed);
    };
    let mut nodes = binder.parts.query_nodes.iter();
    let is_ranked = nodes.any(|node| matches!(node, QueryNode::Window(_)));
    if is_ranked || binder.advances() {
        return Err(NoTable::Source);
    }
    let From::Leaf(leaf) = from else {
        return Err(NoTable::Source);
    };
    // A table with computed columns is a query.
    let is_table = matches!(leaf.rows, SourceRows::Table(_) | SourceRows::Query(_));
    let table = binder.parts.tables.get(&leaf.source);
    match table.filter(|table| is_table && !table.is_logical() && table.row_id().is_some()) {
        Some(table) => Ok((leaf.source, Arc::clone(table))),
        None => Err(NoTable::Source),
    }
}

/// The columns that find a row: those of the primary key, or of another key without NULL.
fn key_of(table: &Table) -> Vec<usize> {
    let is_stored = |at: &usize| {
        let column = table.columns.get(*at);
        column.is_some_and(|column| !column.nullable && column.computed.is_none())
    };
    let mut keys: Vec<_> = table.keys.iter().filter(|key| !key.is_filtered).collect();
    keys.sort_by_key(|key| key.kind != KeyKind::Primary);
    let found = keys.into_iter().find(|key| key.columns.iter().all(is_stored));
    found.map_or(Vec::new(), |key| key.columns.clone())
}

/// The direction in which rows are in the order of their rowids.
fn walk(query: &Query, source: u32, table: &Table) -> Option<CursorRead> {
    if query.limit.is_some() {
        return None;
    }
    let [term] = query.order.as_slice() else {
        return query.order.is_empty().then_some(CursorRead::Upwards);
    };
    let value = match (&term.key, &query.body) {
        (OrderKey::Value(value), _) => value,
        (OrderKey::Output(at), Body::Select(select)) => select.items.get(*at)?,
        (OrderKey::Output(_), Body::Values(_) | Body::Combined(..)) => return None,
    };
    let ExprKind::Column(column) = value.kind else {
        return None;
    };
    let is_row_id = column.source == source && table.row_id_column == usize::try_from(column.column).ok();
    is_row_id.then_some(match term.descending {
        true => CursorRead::Downwards,
        false => CursorRead::Upwards,
    })
}

fn column(source: u32, table: &Table, at: usize) -> Expr {
    let number = u32::try_from(at).unwrap_or(u32::MAX);
    let kind = ExprKind::Column(ColumnRef { source, column: number });
    match table.columns.get(at) {
        Some(of_table) => Expr::new(kind, of_table.data_type)
            .with_nullable(of_table.nullable)
            .with_collation(of_table.collation.of_column()),
        None => Expr::new(kind, DataType::Int),
    }
}
