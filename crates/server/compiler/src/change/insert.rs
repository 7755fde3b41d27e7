//! INSERT.

use std::sync::Arc;

use selenite_tsql::ast;
use selenite_types::DataType;

use super::bulk::{BulkRows, fires_triggers};
use super::output::{Layout, Outputs, check_client_output, result_columns};
use super::row_writer::{RowWriter, targets};
use super::target::ThroughColumn;
use super::through::InsertTarget;
use crate::binding::{Binding, InputColumn, Inputs, ResultColumn, take_inputs};
use crate::catalog::{ChangeVerb, Relation, Table, View};
use crate::compiled::Compiled;
use crate::query::tree::{Limit, Query};
use crate::query::{Clause, QueryBinder, advances, check_always_evaluated, check_not_for};
use crate::writer::{Parameter, ParameterValue, SqlText, Writer, qualified};
use crate::{Expr, SqlError, common_type, same_name};

/// INSERT.
#[derive(Clone, Debug)]
pub struct Insert {
    /// Writes the rows.
    pub writer: RowWriter,
    /// The source of the rows.
    pub source: InsertSource,
    /// TOP.
    pub limit: Option<Box<InsertLimit>>,
    /// Its OUTPUT clauses.
    pub outputs: Vec<Outputs>,
    /// Whether it takes values of a sequence.
    pub advances: bool,
}

/// The limit of the number of inserted rows, which is evaluated before the first row.
#[derive(Clone, Debug)]
pub enum InsertLimit {
    /// A number of rows.
    Count(Parameter),
    /// A percentage of the rows, rounded up.
    Percent(Parameter),
    /// The result of a query.
    Query(SqlText, Arc<Compiled>),
}

/// The source of an INSERT's rows.
#[derive(Clone, Debug)]
pub enum InsertSource {
    /// Values without subqueries.
    Values(Vec<Vec<GivenExpr>>),
    /// A query's rows.
    Query {
        /// The query.
        text: SqlText,
        /// The operations and aggregates of its SQL.
        compiled: Arc<Compiled>,
        /// Its columns.
        inputs: Vec<InputColumn>,
        /// The values over its columns that are computed outside SQLite; empty if its columns are the values.
        values: Vec<Expr>,
        /// Whether all rows must be read before the first is written.
        spool: bool,
    },
    /// The result of a procedure, which the server supplies.
    Execute,
    /// The rows of a bulk load, which the server supplies.
    Bulk(BulkRows),
}

impl InsertSource {
    /// Whether it takes values of a sequence.
    fn advances(&self) -> bool {
        match self {
            Self::Values(rows) => rows.iter().flatten().any(|given| match given {
                GivenExpr::Value(value) => advances(value),
                GivenExpr::Default => false,
            }),
            Self::Query { values, .. } => !values.is_empty(),
            Self::Execute | Self::Bulk(_) => false,
        }
    }
}

/// A value of VALUES.
#[derive(Clone, Debug)]
pub enum GivenExpr {
    /// A value.
    Value(Expr),
    /// DEFAULT.
    Default,
}

impl GivenExpr {
    pub(super) fn value_mut(&mut self) -> Option<&mut Expr> {
        match self {
            Self::Value(value) => Some(value),
            Self::Default => None,
        }
    }
}

impl Insert {
    /// The table that rows are inserted into.
    #[must_use]
    pub fn table(&self) -> &Arc<Table> {
        &self.writer.rules.table
    }

    /// The views that rows are changed through, the one that was named as the target last.
    #[must_use]
    pub fn views(&self) -> &[Arc<View>] {
        self.writer.rules.views()
    }

    /// All tables that the statement writes to.
    #[must_use]
    pub fn written(&self) -> Vec<&Arc<Table>> {
        let outputs = self.outputs.iter().filter_map(Outputs::filled);
        std::iter::once(self.table()).chain(outputs).collect()
    }

    /// The columns of OUTPUT's rows; empty without OUTPUT.
    #[must_use]
    pub fn columns(&self) -> &[ResultColumn] {
        result_columns(&self.outputs)
    }

    /// The types of the target columns, in order.
    #[must_use]
    pub fn filled_types(&self) -> Vec<DataType> {
        let columns = self
            .writer
            .targets
            .iter()
            .filter_map(|at| self.table().columns.get(*at));
        columns.map(|column| column.data_type).collect()
    }

    /// Whether its rows are a procedure's result, which the caller supplies.
    #[must_use]
    pub fn is_execute(&self) -> bool {
        matches!(self.source, InsertSource::Execute)
    }

    /// Whether values of the identity column are given.
    #[must_use]
    pub fn gives_identity(&self) -> bool {
        let identity = self.table().identity();
        identity.is_some_and(|identity| self.writer.targets.contains(&identity))
    }

    /// The rows of a bulk load, which the caller supplies.
    #[must_use]
    pub fn bulk(&self) -> Option<&BulkRows> {
        match &self.source {
            InsertSource::Bulk(bulk) => Some(bulk),
            InsertSource::Values(_) | InsertSource::Query { .. } | InsertSource::Execute => None,
        }
    }

    /// Whether a hint of its query holds the rows that are read.
    pub(crate) fn holds(&self) -> bool {
        match &self.source {
            InsertSource::Query { compiled, .. } => compiled.holds() || self.limit_holds(),
            InsertSource::Values(_) | InsertSource::Execute | InsertSource::Bulk(_) => self.limit_holds(),
        }
    }

    fn limit_holds(&self) -> bool {
        match self.limit.as_deref() {
            Some(InsertLimit::Query(_, compiled)) => compiled.holds(),
            Some(InsertLimit::Count(_) | InsertLimit::Percent(_)) | None => false,
        }
    }

    /// Whether it writes a single row.
    #[must_use]
    pub fn is_single(&self) -> bool {
        let one = match &self.source {
            InsertSource::Values(rows) => rows.len() == 1,
            InsertSource::Query { .. } | InsertSource::Execute | InsertSource::Bulk(_) => false,
        };
        one && self.outputs.iter().all(Outputs::is_result)
    }

    /// Whether rows of these types can be inserted.
    ///
    /// Errors: 206, 213, 257.
    pub fn check_types(&self, types: &[DataType]) -> Result<(), SqlError> {
        if types.len() != self.writer.targets.len() {
            return Err(SqlError::table_count().with_state(7));
        }
        for (at, from) in self.writer.targets.iter().zip(types) {
            if let Some(column) = self.table().columns.get(*at) {
                selenite_types::Conversion::check_implicit(from, &column.data_type)?;
            }
        }
        Ok(())
    }
}

impl Binding<'_> {
    /// Binds an INSERT.
    ///
    /// Errors: any error of the statement.
    pub(crate) fn insert(&self, insert: &ast::Insert) -> Result<Insert, SqlError> {
        let mut binder = QueryBinder::new(self.catalog, self.variables);
        binder.options(&insert.options)?;
        let fires = match &insert.source {
            ast::InsertSource::Bulk(bulk) => fires_triggers(bulk),
            ast::InsertSource::Values(_)
            | ast::InsertSource::Query(_)
            | ast::InsertSource::Execute(_)
            | ast::InsertSource::DefaultValues => true,
        };
        let InsertTarget {
            table,
            through,
            views,
            mut noted,
        } = QueryBinder::new(self.catalog, self.variables)
            .with_commons(&insert.with, |binder| binder.insert_target(&insert.target, fires))?;
        if !insert.output.is_empty() && views.is_empty() && through.is_none() {
            noted = self.catalog.note_source(&Relation::Table(Arc::clone(&table)), &[]);
        }
        let targets = match &through {
            None => targets(&table, &insert.columns)?,
            Some((view, columns)) => view_targets(&table, (view, columns), &insert.columns)?,
        };
        let has_list = !insert.columns.is_empty();
        let limit = self.insert_limit(insert.top.as_ref(), &insert.with)?;
        let mut inputs = Inputs::from(table.columns.len());
        let layout = Layout {
            deleted: None,
            inserted: Some(0),
            is_partial: false,
        };
        let changed = (&table, through.as_ref().map(|(_, columns)| columns.as_slice()), noted);
        let outputs = binder.with_commons(&insert.with.without_tables(), |binder| {
            Outputs::bind(self, binder, &insert.output, changed, layout, &[], &mut inputs)
        })?;
        if !inputs.items.is_empty() {
            return Err(SqlError::unsupported("A subquery in OUTPUT"));
        }
        check_client_output(&table, ChangeVerb::Insert, &outputs)?;
        let bound = binder.with_commons(&insert.with, |binder| match &insert.source {
            ast::InsertSource::Values(rows) => binder.insert_values(&table, &targets, has_list, rows),
            ast::InsertSource::Query(query) => {
                check_not_for(query, "INSERT")?;
                let query = binder.bind_query(query)?;
                check_select(&table, &targets, has_list, query.columns.len())?;
                Ok(Source::Query(query))
            }
            ast::InsertSource::DefaultValues => Ok(Source::Values(vec![Vec::new()], Vec::new())),
            ast::InsertSource::Execute(_) => Ok(Source::Execute),
            ast::InsertSource::Bulk(bulk) => {
                let columns = through.as_ref().map(|(_, columns)| columns.as_slice());
                Ok(Source::Bulk(BulkRows::bind(bulk, (&table, columns), &targets)?))
            }
        })?;
        check_row_version(&table, &targets, |place| bound.gives(place))?;
        let (source, targets, types) = self.insert_source(binder, &table, targets, bound)?;
        if limit.is_some() && source.advances() {
            return Err(SqlError::next_value_limited());
        }
        let mut writer = RowWriter::of_targets(self, &table, targets, types)?;
        writer.rules.add_views(self, &views)?;
        let advances = source.advances() || writer.defaults.iter().flatten().any(advances);
        Ok(Insert {
            writer,
            source,
            limit,
            outputs,
            advances,
        })
    }

    /// TOP.
    pub(super) fn insert_limit(
        &self,
        top: Option<&ast::Top>,
        with: &ast::With,
    ) -> Result<Option<Box<InsertLimit>>, SqlError> {
        let Some(top) = top else { return Ok(None) };
        let mut binder = QueryBinder::new(self.catalog, self.variables);
        let bound = binder.with_commons(with, |binder| binder.bind_limit(Some(top), None, false))?;
        let parameter = |value, data_type| Parameter { value, data_type };
        let limit = match bound {
            Some(Limit::Top { count, .. } | Limit::Percent { count, .. }) if count.holds_query() => {
                let query = binder.values(vec![vec![count]])?;
                let mut writer = Writer::new(binder.parts);
                let text = writer.statement(&query)?;
                InsertLimit::Query(text, Arc::new(writer.compiled()))
            }
            Some(Limit::Top { count, .. }) => {
                InsertLimit::Count(parameter(ParameterValue::RowCount(count), DataType::BigInt))
            }
            Some(Limit::Percent { count, .. }) => {
                InsertLimit::Percent(parameter(ParameterValue::Percent(count), DataType::Float))
            }
            Some(Limit::Offset { .. }) | None => return Ok(None),
        };
        Ok(Some(Box::new(limit)))
    }

    /// The bound source of the rows, its target columns, and the types of its values.
    fn insert_source(
        &self,
        binder: QueryBinder<'_>,
        table: &Arc<Table>,
        targets: Vec<usize>,
        bound: Source,
    ) -> Result<(InsertSource, Vec<usize>, Vec<DataType>), SqlError> {
        match bound {
            Source::Values(rows, types) => {
                let targets = if types.is_empty() { Vec::new() } else { targets };
                Ok((InsertSource::Values(rows), targets, types))
            }
            Source::Query(query) => {
                let mut query = query;
                let types: Vec<DataType> = query.columns.iter().map(|column| column.data_type).collect();
                let values = match binder.advances() {
                    true => take_inputs(&mut query),
                    false => Vec::new(),
                };
                let inputs = InputColumn::all(&binder.parts, &query);
                let calls_functions = binder.parts.calls_functions;
                let mut writer = Writer::new(binder.parts);
                let text = writer.statement(&query)?;
                // The SQL of a query names each table that it reads; a function's does not.
                let spool = calls_functions || text.sql.contains(&qualified(&table.sqlite)?);
                let compiled = Arc::new(writer.compiled());
                let source = InsertSource::Query {
                    text,
                    compiled,
                    inputs,
                    values,
                    spool,
                };
                Ok((source, targets, types))
            }
            Source::Execute => {
                // The columns of a procedure's result are known at run time.
                let columns = targets.iter().filter_map(|at| table.columns.get(*at));
                let types = columns.map(|column| column.data_type).collect();
                Ok((InsertSource::Execute, targets, types))
            }
            Source::Bulk(bulk) => {
                let (targets, types) = bulk.filled(table);
                Ok((InsertSource::Bulk(bulk), targets, types))
            }
        }
    }
}

/// The table's columns that an INSERT through a view fills: those of the column list, or all that can be set.
///
/// Errors: 207, 264, 271; 4406 for a computed column of the view.
pub(super) fn view_targets(
    table: &Table,
    (view, columns): (&str, &[ThroughColumn]),
    given: &[ast::Name],
) -> Result<Vec<usize>, SqlError> {
    let derived = || SqlError::derived_column(view);
    if given.is_empty() {
        let mut all = Vec::with_capacity(columns.len());
        for (_, at) in columns {
            let at = at.ok_or_else(derived)?;
            let column = table.columns.get(at);
            if column.is_some_and(|column| column.identity.is_none() && column.computed.is_none()) {
                all.push(at);
            }
        }
        return Ok(all);
    }
    let mut own = Vec::with_capacity(given.len());
    for name in given {
        let line = name.position.line;
        let found = columns.iter().find(|(column, _)| same_name(column, &name.text));
        let (_, at) = found.ok_or_else(|| SqlError::unknown_column(&name.text).on_line(line))?;
        let column = at
            .and_then(|at| table.columns.get(at))
            .ok_or_else(|| derived().on_line(line))?;
        own.push(ast::Name {
            text: column.name.clone(),
            ..name.clone()
        });
    }
    targets(table, &own)
}

/// The source of an INSERT's rows while it is bound.
enum Source {
    Values(Vec<Vec<GivenExpr>>, Vec<DataType>),
    Query(Query),
    Execute,
    Bulk(BulkRows),
}

impl Source {
    /// Whether a row has a value for the target at a place, and not DEFAULT.
    fn gives(&self, place: usize) -> bool {
        match self {
            Self::Values(rows, _) => rows
                .iter()
                .any(|row| matches!(row.get(place), Some(GivenExpr::Value(_)))),
            Self::Query(_) | Self::Execute => true,
            Self::Bulk(_) => false,
        }
    }
}

/// Checks that no value is given for a rowversion column.
///
/// Errors: 273.
pub(super) fn check_row_version(
    table: &Table,
    targets: &[usize],
    is_given: impl Fn(usize) -> bool,
) -> Result<(), SqlError> {
    let version = table.row_version();
    match targets.iter().position(|at| Some(*at) == version) {
        Some(place) if is_given(place) => Err(SqlError::row_version_given()),
        Some(_) | None => Ok(()),
    }
}

impl QueryBinder<'_> {
    /// Rows of VALUES: the values of a column have one type, as in UNION ALL.
    fn insert_values(
        &mut self,
        table: &Arc<Table>,
        targets: &[usize],
        has_list: bool,
        rows: &[Vec<ast::ValueOrDefault>],
    ) -> Result<Source, SqlError> {
        let mut bound: Vec<Vec<Option<Expr>>> = Vec::with_capacity(rows.len());
        for row in rows {
            check_values(table, targets, has_list, row.len())?;
            let mut values = Vec::with_capacity(row.len());
            for (value, at) in row.iter().zip(targets) {
                values.push(match value {
                    ast::ValueOrDefault::Value(value) => {
                        let value = self.scoped(Vec::new(), |binder| binder.value(Clause::Values, value))?;
                        check_always_evaluated(&value)?;
                        Some(value)
                    }
                    ast::ValueOrDefault::Default(position) => {
                        if table.columns.get(*at).is_some_and(|column| column.identity.is_some()) {
                            return Err(SqlError::default_identity().on_line(position.line));
                        }
                        None
                    }
                });
            }
            bound.push(values);
        }
        let types = self.shared_types(table, targets, &mut bound)?;
        if self.parts.query_nodes.is_empty() {
            let given = |value: Option<Expr>| value.map_or(GivenExpr::Default, GivenExpr::Value);
            let rows = bound
                .into_iter()
                .map(|row| row.into_iter().map(given).collect())
                .collect();
            return Ok(Source::Values(rows, types));
        }
        // SQLite evaluates values that contain subqueries.
        let mut values = Vec::with_capacity(bound.len());
        for row in bound {
            let row: Option<Vec<Expr>> = row.into_iter().collect();
            values.push(row.ok_or_else(|| SqlError::unsupported("DEFAULT beside a subquery in VALUES"))?);
        }
        Ok(Source::Query(self.values(values)?))
    }

    fn shared_types(
        &mut self,
        table: &Table,
        targets: &[usize],
        rows: &mut [Vec<Option<Expr>>],
    ) -> Result<Vec<DataType>, SqlError> {
        let mut types = Vec::with_capacity(targets.len());
        for (place, at) in targets.iter().enumerate() {
            let samples: Vec<Expr> = rows
                .iter()
                .filter_map(|row| row.get(place).cloned().flatten())
                .collect();
            let all_null = samples.iter().all(Expr::is_null_word);
            let data_type = match samples.as_slice() {
                // NULL and DEFAULT have the column's own type.
                _ if all_null => table.columns.get(*at).map_or(DataType::Int, |column| column.data_type),
                [only] => only.data_type,
                [] | [_, ..] => common_type(&samples)?,
            };
            for value in rows.iter_mut().filter_map(|row| row.get_mut(place)).flatten() {
                *value = value.clone().converted_to(&data_type)?;
            }
            types.push(data_type);
        }
        Ok(types)
    }
}

pub(super) fn check_values(table: &Table, targets: &[usize], has_list: bool, count: usize) -> Result<(), SqlError> {
    if count == targets.len() {
        return Ok(());
    }
    if has_list {
        return Err(SqlError::values_count(targets.len(), count));
    }
    check_whole(table, targets, count)
}

fn check_select(table: &Table, targets: &[usize], has_list: bool, count: usize) -> Result<(), SqlError> {
    if count == targets.len() {
        return Ok(());
    }
    if has_list {
        return Err(SqlError::select_count(targets.len(), count));
    }
    check_whole(table, targets, count)
}

/// A value for each column, including the identity, requires a column list.
fn check_whole(table: &Table, targets: &[usize], count: usize) -> Result<(), SqlError> {
    if table.identity().is_some() && count == targets.len() + 1 {
        return Err(SqlError::identity_without_list(table));
    }
    Err(SqlError::table_count())
}
