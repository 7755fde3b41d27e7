//! A row to write: converted, and checked by the table's rules.

use std::sync::Arc;

use super::reference::References;
use crate::binding::Binding;
use crate::catalog::{ChangeVerb, Table, View};
use crate::query::{Clause, QueryBinder};
use crate::writer::{qualified, quoted};
use crate::{ColumnRef, Expr, ExprKind, Node, NodeMut, Predicate, SqlError};

/// A table's rules for its rows; expressions are over the row's columns.
#[derive(Clone, Debug)]
pub struct RowRules {
    /// The table.
    pub table: Arc<Table>,
    /// Its computed columns.
    pub computed: Vec<(usize, Expr)>,
    /// The foreign keys that the change may break.
    pub references: References,
    /// The conditions of CHECK constraints, each with its index in [`Table::checks`].
    pub checks: Vec<(Predicate, usize)>,
    /// Those that call functions of users, which may read the table: they see the row that is checked.
    pub checks_of_written: Vec<(Predicate, usize)>,
    /// Keys with nullable columns, by their index in [`Table::keys`], each with the SQL that finds another row with the
    /// same key.
    pub null_keys: Box<[(usize, String)]>,
    /// The conditions of views WITH CHECK OPTION.
    pub of_views: Box<[Predicate]>,
    /// The views that rows are changed through, the one that was named as the target last.
    views: Box<[Arc<View>]>,
}

impl RowRules {
    /// The rules of a table for a change of these columns.
    ///
    /// Errors: any error of the checks.
    pub fn bind(
        binding: &Binding<'_>,
        table: &Arc<Table>,
        verb: ChangeVerb,
        changed: &dyn Fn(usize) -> bool,
    ) -> Result<Self, SqlError> {
        let mut binder = QueryBinder::new(binding.catalog, binding.variables);
        let bound = binder.plain_table(table);
        let number = bound.sources.first().map_or(0, |source| source.number);
        let (mut computed, mut checks, mut checks_of_written) = (Vec::new(), Vec::new(), Vec::new());
        binder.scoped(bound.sources, |binder| {
            for (at, column) in table.columns.iter().enumerate() {
                if let Some(rule) = &column.computed {
                    let mut value = binder
                        .value(Clause::Where, &rule.value)?
                        .converted_to(&column.data_type)?;
                    value.rewrite(&mut |node| over_row(node, number));
                    computed.push((at, value));
                }
            }
            for (at, check) in table.checks.iter().enumerate() {
                let mut condition = binder.condition(Clause::Where, &check.condition)?;
                // A check that names no column is of every new row.
                let mut matters = verb == ChangeVerb::Insert;
                let mut calls_functions = false;
                condition.visit(&mut |node| {
                    calls_functions |= matches!(node, Node::Expr(expr) if matches!(expr.kind, ExprKind::UserCall(_)));
                    let column = crate::query::walk::column_of(node);
                    let column = column.and_then(|column| usize::try_from(column.column).ok());
                    matters |= column.is_some_and(|column| changed(column) || is_computed(table, column));
                });
                condition.rewrite(&mut |node| over_row(node, number));
                match (matters, calls_functions) {
                    (false, _) => {}
                    (true, false) => checks.push((condition, at)),
                    (true, true) => checks_of_written.push((condition, at)),
                }
            }
            Ok(())
        })?;
        let null_keys = null_keys(table, changed)?.into_boxed_slice();
        Ok(Self {
            table: Arc::clone(table),
            computed,
            references: References::bind(table, verb, changed)?,
            checks,
            checks_of_written,
            null_keys,
            of_views: Box::default(),
            views: Box::default(),
        })
    }

    /// The views that rows are changed through, the one that was named as the target last.
    #[must_use]
    pub fn views(&self) -> &[Arc<View>] {
        &self.views
    }

    /// Whether it is the view itself whose rows INSTEAD OF triggers insert.
    #[must_use]
    pub fn is_of_view(&self) -> bool {
        self.views
            .last()
            .is_some_and(|view| view.object_id == self.table.object_id)
    }

    /// Sets the views that rows are changed through, the outermost last.
    pub fn through(&mut self, views: &[Arc<View>]) {
        self.views = views.into();
    }

    /// Adds the conditions of the views that rows are written through, the outermost last.
    ///
    /// Errors: any error of a view's condition; 40510 for one that reads other tables.
    pub fn add_views(&mut self, binding: &Binding<'_>, views: &[Arc<View>]) -> Result<(), SqlError> {
        self.through(views);
        let mut conditions = Vec::new();
        for view in views.iter().filter(|view| view.check_option) {
            let filter = view
                .checked_filter()
                .ok_or_else(|| SqlError::unsupported(CHECK_OPTION))?;
            let Some((filter, alias)) = filter else { continue };
            let mut binder = QueryBinder::new(binding.catalog, binding.variables);
            let mut bound = binder.plain_table(&self.table);
            let number = bound.sources.first().map_or(0, |source| source.number);
            for source in &mut bound.sources {
                source.alias = alias.to_owned();
                source.database_and_schema = Some((self.table.database.clone(), self.table.schema.clone()));
            }
            let bound = binder.scoped(bound.sources, |binder| binder.condition(Clause::Where, filter));
            let mut condition = bound?;
            if !binder.parts.query_nodes.is_empty() {
                return Err(SqlError::unsupported(CHECK_OPTION));
            }
            condition.rewrite(&mut |node| over_row(node, number));
            conditions.push(condition);
        }
        self.of_views = conditions.into_boxed_slice();
        Ok(())
    }

    /// Whether SQLite enforces all rules.
    pub fn is_plain(&self) -> bool {
        self.checks.is_empty()
            && self.checks_of_written.is_empty()
            && self.null_keys.is_empty()
            && self.of_views.is_empty()
    }
}

/// The error says where WITH CHECK OPTION is supported.
const CHECK_OPTION: &str = "WITH CHECK OPTION of a view that is not over one table, or asks another";

/// Keys with nullable columns, with the SQL that finds a row with the same key.
fn null_keys(table: &Table, changed: &dyn Fn(usize) -> bool) -> Result<Vec<(usize, String)>, SqlError> {
    let mut keys = Vec::new();
    for (at, key) in table.keys.iter().enumerate() {
        let columns = || {
            key.columns
                .iter()
                .filter_map(|column| Some((*column, table.columns.get(*column)?)))
        };
        let nullable = columns().any(|(_, column)| column.nullable);
        if key.is_filtered || !nullable || !columns().any(|(column, _)| changed(column)) {
            continue;
        }
        let mut conditions = Vec::with_capacity(key.columns.len());
        for (number, (_, column)) in columns().enumerate() {
            conditions.push(format!("{} IS ?{}", quoted(&column.name)?, number + 1));
        }
        let number = conditions.len() + 1;
        let name = qualified(&table.sqlite)?;
        let conditions = conditions.join(" AND ");
        keys.push((
            at,
            format!("SELECT 1 FROM {name} WHERE {conditions} LIMIT 1 OFFSET ?{number}"),
        ));
    }
    Ok(keys)
}

fn is_computed(table: &Table, column: usize) -> bool {
    table
        .columns
        .get(column)
        .is_some_and(|column| column.computed.is_some())
}

/// Replaces a column of source `number` by the row's input.
fn over_row(node: NodeMut<'_>, number: u32) {
    if let NodeMut::Expr(expr) = node
        && let ExprKind::Column(ColumnRef { source, column }) = expr.kind
        && source == number
    {
        expr.kind = ExprKind::Input(column);
    }
}
