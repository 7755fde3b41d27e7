//! Writes rows into a table.

use std::sync::Arc;

use selenite_tsql::ast;
use selenite_types::DataType;

use super::row::RowRules;
use crate::binding::Binding;
use crate::catalog::{ChangeVerb, Table};
use crate::functions::{next_row_version, sequential_default};
use crate::query::{Clause, QueryBinder};
use crate::writer::{qualified, quoted};
use crate::{Expr, SqlError};

/// Writes rows into a table.
#[derive(Clone, Debug)]
pub struct RowWriter {
    /// The table's rules.
    pub rules: RowRules,
    /// The columns with explicit values, in the order of the values.
    pub targets: Vec<usize>,
    /// The types of the explicit values.
    pub types: Vec<DataType>,
    /// The defaults of all columns, by column.
    pub defaults: Vec<Option<Expr>>,
    /// The columns that SQLite stores: all but computed ones.
    pub stored: Vec<usize>,
    /// The INSERT of one row, with a parameter for each stored column.
    pub sql: String,
}

impl RowWriter {
    /// The writer of values of these types into columns of a table: the named ones, or all that can be set.
    ///
    /// Errors: 207, 213, 264, 271, 273 and errors of the table's rules.
    pub fn bind(
        binding: &Binding<'_>,
        table: &Arc<Table>,
        columns: &[ast::Name],
        types: Vec<DataType>,
    ) -> Result<Self, SqlError> {
        let targets = targets(table, columns)?;
        if targets.len() != types.len() {
            return Err(SqlError::table_count());
        }
        let mut given = targets.iter().filter_map(|at| table.columns.get(*at));
        if given.any(|column| column.data_type == DataType::RowVersion) {
            return Err(SqlError::row_version_given());
        }
        Self::of_targets(binding, table, targets, types)
    }

    /// The writer of values of these types into these columns.
    ///
    /// Errors: 206 and 257 for types that do not convert; errors of the table's rules.
    pub fn of_targets(
        binding: &Binding<'_>,
        table: &Arc<Table>,
        targets: Vec<usize>,
        types: Vec<DataType>,
    ) -> Result<Self, SqlError> {
        for (at, from) in targets.iter().zip(&types) {
            if let Some(column) = table.columns.get(*at) {
                selenite_types::Conversion::check_implicit(from, &column.data_type)?;
            }
        }
        let rules = RowRules::bind(binding, table, ChangeVerb::Insert, &|_| true)?;
        let mut defaults = Vec::with_capacity(table.columns.len());
        let mut stored = Vec::with_capacity(table.columns.len());
        let mut names = Vec::with_capacity(table.columns.len());
        for (at, column) in table.columns.iter().enumerate() {
            defaults.push(default_of(binding, table, at)?);
            if column.computed.is_none() {
                stored.push(at);
                names.push(quoted(&column.name)?);
            }
        }
        let places: Vec<String> = (1..=stored.len()).map(|number| format!("?{number}")).collect();
        let name = qualified(&table.sqlite)?;
        let sql = format!(
            "INSERT INTO {name} ({}) VALUES ({})",
            names.join(", "),
            places.join(", ")
        );
        Ok(Self {
            rules,
            targets,
            types,
            defaults,
            stored,
            sql,
        })
    }
}

/// The columns of a list; without a list, all that can be set.
///
/// Errors: 207, 264, 271.
pub(crate) fn targets(table: &Table, columns: &[ast::Name]) -> Result<Vec<usize>, SqlError> {
    if columns.is_empty() {
        let open = |(at, column): (usize, &crate::catalog::Column)| {
            (column.identity.is_none() && column.computed.is_none()).then_some(at)
        };
        return Ok(table.columns.iter().enumerate().filter_map(open).collect());
    }
    let mut targets = Vec::with_capacity(columns.len());
    for name in columns {
        let line = name.position.line;
        let at = table
            .column(&name.text)
            .ok_or_else(|| SqlError::unknown_column(&name.text).on_line(line))?;
        let column = table.columns.get(at).map_or("", |column| column.name.as_str());
        if targets.contains(&at) {
            return Err(SqlError::column_given_twice(column).on_line(line));
        }
        if table.columns.get(at).is_some_and(|column| column.computed.is_some()) {
            return Err(SqlError::computed_change(column).on_line(line));
        }
        targets.push(at);
    }
    Ok(targets)
}

/// A column's default, converted to its type; `None` for NULL.
///
/// Errors: any error of its expression.
pub(crate) fn default_of(binding: &Binding<'_>, table: &Table, at: usize) -> Result<Option<Expr>, SqlError> {
    let Some(column) = table.columns.get(at) else {
        return Ok(None);
    };
    if column.data_type == DataType::RowVersion {
        return Ok(Some(next_row_version(table.is_temporary())));
    }
    let Some(default) = &column.default else {
        return Ok(None);
    };
    if let Some(value) = sequential_default(&default.value)? {
        return Ok(Some(value));
    }
    let mut binder = QueryBinder::new(binding.catalog, binding.variables);
    let value = binder.scoped(Vec::new(), |binder| binder.value(Clause::Values, &default.value));
    let value = value.map_err(as_name_not_permitted)?;
    if !binder.parts.query_nodes.is_empty() {
        return Err(SqlError::subquery_not_allowed());
    }
    Ok(Some(value))
}

/// A default can't name columns: 128 is reported instead of 207.
fn as_name_not_permitted(error: SqlError) -> SqlError {
    let name = error.text().strip_prefix("Invalid column name '");
    match name.and_then(|name| name.strip_suffix("'.")) {
        Some(name) if error.number() == UNKNOWN_COLUMN => SqlError::name_not_permitted(name),
        Some(_) | None => error,
    }
}

/// The error of an unknown column.
const UNKNOWN_COLUMN: i32 = 207;
