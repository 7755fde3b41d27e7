//! A row that is to be written: converted, and looked at by the table's rules.

use std::sync::Arc;

use selenite_types::storage::Stored;
use selenite_types::{DataType, DateFormat, Family, Value, Width, convert, utf16_prefix};

use super::reference::References;
use crate::catalog::{ChangeVerb, Table, View, Violation};
use crate::query::{Clause, QueryBinder};
use crate::statement::{Binding, Call, NOTHING, Run, StoreError};
use crate::writer::{qualified, quoted, stored};
use crate::{ColumnRef, Expr, ExprKind, NodeMut, PlanError, Predicate};

/// What a table asks of its rows; expressions are over the row, column by column.
#[derive(Clone, Debug)]
pub(crate) struct RowRules {
    /// The table.
    pub table: Arc<Table>,
    /// Its computed columns.
    pub computed: Vec<(usize, Expr)>,
    /// The foreign keys that the change may break.
    pub references: References,
    checks: Vec<(Predicate, usize)>,
    null_keys: Box<[(usize, String)]>,
    /// What rows must fulfil that are written through views WITH CHECK OPTION.
    of_views: Box<[Predicate]>,
    /// The view that was named as the target.
    view: Option<Arc<View>>,
}

impl RowRules {
    /// The rules of a table that matter when these columns change.
    ///
    /// Errors: whatever is wrong with its checks.
    pub fn bind(
        binding: &Binding<'_>,
        table: &Arc<Table>,
        verb: ChangeVerb,
        changed: &dyn Fn(usize) -> bool,
    ) -> Result<Self, PlanError> {
        let mut binder = QueryBinder::new(binding.catalog, binding.variables);
        let bound = binder.plain_table(table);
        let number = bound.sources.first().map_or(0, |source| source.number);
        let (mut computed, mut checks) = (Vec::new(), Vec::new());
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
                let mut matters = false;
                condition.visit(&mut |node| {
                    let column = crate::query::walk::column_of(node);
                    let column = column.and_then(|column| usize::try_from(column.column).ok());
                    matters |= column.is_some_and(|column| changed(column) || is_computed(table, column));
                });
                condition.rewrite(&mut |node| over_row(node, number));
                if matters {
                    checks.push((condition, at));
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
            null_keys,
            of_views: Box::default(),
            view: None,
        })
    }

    /// The view that rows are changed through.
    pub fn view(&self) -> Option<&Arc<View>> {
        self.view.as_ref()
    }

    /// Lets rows be changed through views, the outermost last.
    pub fn through(&mut self, views: &[Arc<View>]) {
        self.view = views.last().cloned();
    }

    /// Adds what views ask of the rows that are written through them, the outermost last.
    ///
    /// Errors: whatever is wrong with a view's condition; 40510 for one that asks other tables.
    pub fn add_views(&mut self, binding: &Binding<'_>, views: &[Arc<View>]) -> Result<(), PlanError> {
        self.through(views);
        let mut conditions = Vec::new();
        for view in views.iter().filter(|view| view.check_option) {
            let filter = view
                .checked_filter()
                .ok_or_else(|| PlanError::unsupported(CHECK_OPTION))?;
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
            if !binder.parts.outsides.is_empty() {
                return Err(PlanError::unsupported(CHECK_OPTION));
            }
            condition.rewrite(&mut |node| over_row(node, number));
            conditions.push(condition);
        }
        self.of_views = conditions.into_boxed_slice();
        Ok(())
    }

    /// Whether SQLite's own rules are all that there are.
    pub fn is_plain(&self) -> bool {
        self.checks.is_empty() && self.null_keys.is_empty() && self.of_views.is_empty()
    }

    /// Computes the computed columns of a row, and sees that it keeps the table's rules.
    ///
    /// Errors: 515, 547.
    pub fn check(&self, run: &Run<'_>, row: &mut [Value], verb: ChangeVerb) -> Result<(), PlanError> {
        for (at, column) in self.table.columns.iter().enumerate() {
            if !column.nullable && column.computed.is_none() && row.get(at) == Some(&Value::Null) {
                return Err(self.table.null_in(at, verb));
            }
        }
        for (at, value) in &self.computed {
            let value = value.evaluate(&run.frame(row))?;
            if let Some(place) = row.get_mut(*at) {
                *place = value;
            }
        }
        for (condition, at) in &self.checks {
            if condition.evaluate(&run.frame(row))? == Some(false)
                && let Some(check) = self.table.checks.get(*at)
            {
                return Err(self.table.check_failed(check, verb));
            }
        }
        for condition in &self.of_views {
            if condition.evaluate(&run.frame(row))? != Some(true) {
                return Err(PlanError::check_option());
            }
        }
        Ok(())
    }

    /// Sees that a row's keys that hold NULL are there `count` times at most, the row itself not counted: SQL Server's keys hold NULL
    /// once, SQLite's any number of times.
    ///
    /// Errors: 2601, 2627.
    pub fn check_null_keys(&self, run: &Run<'_>, row: &[Value], count: u8) -> Result<(), PlanError> {
        for (at, sql) in &self.null_keys {
            let Some(key) = self.table.keys.get(*at) else { continue };
            if !key.columns.iter().any(|column| row.get(*column) == Some(&Value::Null)) {
                continue;
            }
            let mut parameters = self.stored(&key.columns, row)?;
            parameters.push(Stored::Integer(count.into()));
            if exists(run, sql, &parameters)? {
                return Err(self.table.duplicate(key, row));
            }
        }
        Ok(())
    }

    /// Columns of a row in their stored forms.
    ///
    /// Errors: 8624 for a value that is none of its column's type.
    pub fn stored(&self, columns: &[usize], row: &[Value]) -> Result<Vec<Stored<'static>>, PlanError> {
        stored_columns(&self.table, columns, row)
    }

    /// Whether a row that SQLite refuses may be taken once the statement's other rows are there.
    pub fn may_wait(&self, error: &StoreError) -> bool {
        let StoreError::Constraint(message) = error else {
            return false;
        };
        self.references.may_wait() && self.table.violation(message) == Violation::ForeignKey
    }

    /// What SQLite's refusal of a row is in T-SQL. `old` is the row before an UPDATE or DELETE.
    pub fn refusal(
        &self,
        run: &Run<'_>,
        error: StoreError,
        row: &[Value],
        old: Option<&[Value]>,
        verb: ChangeVerb,
    ) -> PlanError {
        let message = match error {
            StoreError::Failed(error) => return error,
            StoreError::Constraint(message) => message,
        };
        match self.table.violation(&message) {
            Violation::NotNull(column) => self.table.null_in(column, verb),
            Violation::Unique(key) => self.table.duplicate(key, row),
            Violation::ForeignKey => match self.references.broken(run, &self.table, (row, old), verb) {
                Ok(error) => error.unwrap_or_else(unbroken),
                Err(error) => error,
            },
            Violation::Unknown => PlanError::internal(&message),
        }
    }

    /// What is broken now that all rows are written.
    pub fn left_open<'r>(&self, run: &Run<'_>, rows: impl Iterator<Item = &'r [Value]>, verb: ChangeVerb) -> PlanError {
        match self.references.left_open(run, &self.table, rows, verb) {
            Ok(error) => error.unwrap_or_else(unbroken),
            Err(error) => error,
        }
    }
}

/// What WITH CHECK OPTION is supported for is said where it is refused.
const CHECK_OPTION: &str = "WITH CHECK OPTION of a view that is not over one table, or asks another";

fn unbroken() -> PlanError {
    PlanError::internal("a foreign key that nobody breaks")
}

/// Columns of a row in their stored forms.
///
/// Errors: 8624 for a value that is none of its column's type.
pub(super) fn stored_columns(
    table: &Table,
    columns: &[usize],
    row: &[Value],
) -> Result<Vec<Stored<'static>>, PlanError> {
    let value = |at: &usize| {
        let column = table.columns.get(*at).zip(row.get(*at));
        column.map_or(Ok(Stored::Null), |(column, value)| stored(value, &column.data_type))
    };
    columns.iter().map(value).collect()
}

/// A value as its column takes it.
///
/// Errors: 2628 for text or bytes that are too long, and what is wrong with the value otherwise.
pub(crate) fn fit(
    table: &Table,
    at: usize,
    value: Value,
    from: &DataType,
    format: DateFormat,
) -> Result<Value, PlanError> {
    let Some(column) = table.columns.get(at) else {
        return Err(PlanError::internal("a column beyond the last"));
    };
    let to = &column.data_type;
    if from == to || value == Value::Null {
        return Ok(value);
    }
    if let Some(kept) = cut(&value, from, to) {
        return Err(table.truncated(at, &kept));
    }
    Ok(convert(&value, from, to, None, format)?)
}

/// As much of a value as fits, if it does not fit whole. Blanks at the end of text are cut without a word.
fn cut(value: &Value, from: &DataType, to: &DataType) -> Option<String> {
    let Some(Width::Limited(width)) = to.width() else {
        return None;
    };
    let width = usize::from(width);
    match (from.family(), to.family(), value) {
        (Family::Text, Family::Text, Value::Text(text)) => {
            let long = to.text_length(text.trim_end_matches(' ')) > width;
            long.then(|| utf16_prefix(text, width).to_owned())
        }
        (Family::Binary, Family::Binary, Value::Binary(bytes)) => {
            // What messages show of bytes is their hexadecimal digits.
            let kept = bytes.get(..width).filter(|_| bytes.len() > width)?;
            Some(
                kept.iter()
                    .fold("0x".to_owned(), |text, byte| format!("{text}{byte:02X}")),
            )
        }
        _ => None,
    }
}

/// Whether a query has a row.
pub(super) fn exists(run: &Run<'_>, sql: &str, parameters: &[Stored<'static>]) -> Result<bool, PlanError> {
    let mut found = false;
    let call = Call {
        sql,
        parameters,
        compiled: &NOTHING,
    };
    let read = run.store.select(&call, &mut |_| {
        found = true;
        Ok(std::ops::ControlFlow::Break(()))
    });
    match read {
        Ok(()) => Ok(found),
        Err(StoreError::Failed(error)) => Err(error),
        Err(StoreError::Constraint(message)) => Err(PlanError::internal(&message)),
    }
}

/// Keys that may hold NULL, with the SQL that finds a row of the same key.
fn null_keys(table: &Table, changed: &dyn Fn(usize) -> bool) -> Result<Vec<(usize, String)>, PlanError> {
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

/// Lets a column of source `number` be read from its place in the row.
fn over_row(node: NodeMut<'_>, number: u32) {
    if let NodeMut::Expr(expr) = node
        && let ExprKind::Column(ColumnRef { source, column }) = expr.kind
        && source == number
    {
        expr.kind = ExprKind::Input(column);
    }
}
