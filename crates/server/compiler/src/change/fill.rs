//! Rows put into a table, column by column.

use std::sync::Arc;

use selenite_tsql::ast;
use selenite_types::{DataType, Decimal, Value, convert};

use super::row::{RowRules, fit};
use crate::catalog::{ChangeVerb, Table};
use crate::query::{Clause, QueryBinder};
use crate::statement::{Binding, Run, StoreError};
use crate::writer::{qualified, quoted};
use crate::{Expr, PlanError};

/// What writes rows into a table.
#[derive(Clone, Debug)]
pub(crate) struct RowWriter {
    /// What the table asks.
    pub rules: RowRules,
    /// The columns that are given, in the order in which they are.
    pub targets: Vec<usize>,
    types: Vec<DataType>,
    /// What the columns are that are not given: by column.
    defaults: Vec<Option<Expr>>,
    stored: Vec<usize>,
    sql: String,
}

/// A row that is to be stored.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    /// Its values, column by column.
    pub row: Vec<Value>,
    number: Option<i128>,
}

/// A value that is given for a column.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Given {
    /// A value of this type.
    Value(Value, DataType),
    /// DEFAULT.
    Default,
}

impl RowWriter {
    /// What writes values of these types into columns of a table: the named ones, or all that can be given.
    ///
    /// Errors: 207, 213, 264, 271 and what is wrong with the table's rules.
    pub fn bind(
        binding: &Binding<'_>,
        table: &Arc<Table>,
        columns: &[ast::Name],
        types: Vec<DataType>,
    ) -> Result<Self, PlanError> {
        let targets = targets(table, columns)?;
        if targets.len() != types.len() {
            return Err(PlanError::table_count());
        }
        Self::of_targets(binding, table, targets, types)
    }

    /// What writes values of these types into these columns.
    ///
    /// Errors: 206 and 257 for types that do not convert; what is wrong with the table's rules.
    pub fn of_targets(
        binding: &Binding<'_>,
        table: &Arc<Table>,
        targets: Vec<usize>,
        types: Vec<DataType>,
    ) -> Result<Self, PlanError> {
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

    /// Writes a row of values of the types that were bound.
    ///
    /// Errors: as [`RowWriter::write_given`].
    pub fn write(&self, run: &mut Run<'_>, values: Vec<Value>, verb: ChangeVerb) -> Result<Vec<Value>, PlanError> {
        let given = values
            .into_iter()
            .zip(&self.types)
            .map(|(value, data_type)| Given::Value(value, *data_type));
        self.write_given(run, given.collect(), verb)
    }

    /// Writes a row, and gives it back as it is in the table.
    ///
    /// Errors: as [`RowWriter::prepare`] and [`RowWriter::store`].
    pub fn write_given(&self, run: &mut Run<'_>, given: Vec<Given>, verb: ChangeVerb) -> Result<Vec<Value>, PlanError> {
        let prepared = self.prepare(run, given, verb)?;
        self.store(run, &prepared)
            .map_err(|error| self.rules.refusal(run, error, &prepared.row, None, verb))?;
        Ok(prepared.row)
    }

    /// Computes a row: values converted, defaults filled in, its number taken, the table's own rules kept.
    ///
    /// Errors: 515, 544, 545, 547, 2628 and whatever is wrong with a value.
    pub fn prepare(&self, run: &mut Run<'_>, given: Vec<Given>, verb: ChangeVerb) -> Result<Prepared, PlanError> {
        let table = &self.rules.table;
        let format = run.environment.session().date_format;
        let mut row = vec![Value::Null; table.columns.len()];
        let mut is_given = vec![false; table.columns.len()];
        for (at, given) in self.targets.iter().zip(given) {
            let value = match given {
                Given::Value(value, from) => fit(table, *at, value, &from, format)?,
                Given::Default => self.default(run, *at)?,
            };
            if let (Some(place), Some(is_given)) = (row.get_mut(*at), is_given.get_mut(*at)) {
                *place = value;
                *is_given = true;
            }
        }
        for at in 0..table.columns.len() {
            if is_given.get(at) == Some(&false) {
                let value = self.default(run, at)?;
                if let Some(place) = row.get_mut(at) {
                    *place = value;
                }
            }
        }
        let number = self.number(run, &mut row, &is_given)?;
        self.rules.check(run, &mut row, verb)?;
        self.rules.check_null_keys(run, &row, 0)?;
        Ok(Prepared { row, number })
    }

    /// Stores a row.
    ///
    /// Errors: what SQLite refuses: keys, foreign keys.
    pub fn store(&self, run: &Run<'_>, prepared: &Prepared) -> Result<(), StoreError> {
        let parameters = self.rules.stored(&self.stored, &prepared.row)?;
        run.change(&self.sql, &parameters)?;
        if let Some(number) = prepared.number {
            run.store.identity_used(&self.rules.table, number)?;
        }
        Ok(())
    }

    fn default(&self, run: &Run<'_>, at: usize) -> Result<Value, PlanError> {
        match self.defaults.get(at) {
            Some(Some(default)) => {
                let value = default.evaluate(&run.frame(&[]))?;
                fit(
                    &self.rules.table,
                    at,
                    value,
                    &default.data_type,
                    run.environment.session().date_format,
                )
            }
            Some(None) | None => Ok(Value::Null),
        }
    }

    /// The number of a row in its identity, taken or given.
    fn number(&self, run: &Run<'_>, row: &mut [Value], is_given: &[bool]) -> Result<Option<i128>, PlanError> {
        let table = &self.rules.table;
        let Some(at) = table.identity() else { return Ok(None) };
        let given = is_given.get(at) == Some(&true);
        match (given, run.store.identity_insert(table)) {
            (true, false) => return Err(PlanError::identity_given(table)),
            (false, true) => return Err(PlanError::identity_missing(table)),
            (true, true) => return Ok(row.get(at).and_then(whole)),
            (false, false) => {}
        }
        let number = run.store.next_identity(table)?;
        let data_type = table
            .columns
            .get(at)
            .map_or(DataType::BigInt, |column| column.data_type);
        let value = Value::Decimal(Decimal {
            unscaled: number,
            scale: 0,
        });
        let from = DataType::Decimal {
            precision: 38,
            scale: 0,
        };
        let format = run.environment.session().date_format;
        let value = convert(&value, &from, &data_type, None, format)
            .map_err(|_| PlanError::identity_overflow(data_type.overflow_name()))?;
        if let Some(place) = row.get_mut(at) {
            *place = value;
        }
        Ok(Some(number))
    }
}

/// The columns of a list; without one, all that can be given.
///
/// Errors: 207, 264, 271.
pub(crate) fn targets(table: &Table, columns: &[ast::Name]) -> Result<Vec<usize>, PlanError> {
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
            .ok_or_else(|| PlanError::unknown_column(&name.text).on_line(line))?;
        let column = table.columns.get(at).map_or("", |column| column.name.as_str());
        if targets.contains(&at) {
            return Err(PlanError::column_given_twice(column).on_line(line));
        }
        if table.columns.get(at).is_some_and(|column| column.computed.is_some()) {
            return Err(PlanError::computed_change(column).on_line(line));
        }
        targets.push(at);
    }
    Ok(targets)
}

/// A column's default, of its own type; NULL's place is `None`.
///
/// Errors: whatever is wrong with its text.
pub(crate) fn default_of(binding: &Binding<'_>, table: &Table, at: usize) -> Result<Option<Expr>, PlanError> {
    let Some(column) = table.columns.get(at) else {
        return Ok(None);
    };
    let Some(default) = &column.default else {
        return Ok(None);
    };
    let mut binder = QueryBinder::new(binding.catalog, binding.variables);
    let value = binder.scoped(Vec::new(), |binder| binder.value(Clause::Where, &default.value));
    let value = value.map_err(constant_alone)?;
    if !binder.parts.outsides.is_empty() {
        return Err(PlanError::subquery_not_allowed());
    }
    Ok(Some(value))
}

/// A default names no columns: 128 is told instead of 207.
fn constant_alone(error: PlanError) -> PlanError {
    let name = error.text().strip_prefix("Invalid column name '");
    match name.and_then(|name| name.strip_suffix("'.")) {
        Some(name) if error.number() == UNKNOWN_COLUMN => PlanError::name_not_permitted(name),
        Some(_) | None => error,
    }
}

fn whole(value: &Value) -> Option<i128> {
    match value {
        Value::TinyInt(value) => Some(i128::from(*value)),
        Value::SmallInt(value) => Some(i128::from(*value)),
        Value::Int(value) => Some(i128::from(*value)),
        Value::BigInt(value) => Some(i128::from(*value)),
        Value::Decimal(decimal) => Some(decimal.unscaled),
        Value::Null
        | Value::Bit(_)
        | Value::Money(_)
        | Value::Real(_)
        | Value::Float(_)
        | Value::Text(_)
        | Value::Binary(_)
        | Value::Date(_)
        | Value::Time(_)
        | Value::DateTime(_)
        | Value::DateTimeOffset(_)
        | Value::Guid(_) => None,
    }
}

/// The number of an error that tells of no such column.
const UNKNOWN_COLUMN: i32 = 207;
