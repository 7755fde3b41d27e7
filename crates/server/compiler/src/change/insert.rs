//! INSERT, run.

use std::ops::ControlFlow;
use std::sync::Arc;

use selenite_types::storage::{Stored, StoredRef};
use selenite_types::{DataType, Value};

use super::fill::{Given, Prepared, RowWriter};
use super::output::{Outputs, result_columns};
use crate::catalog::{ChangeVerb, Table, View};
use crate::execution::Compiled;
use crate::statement::inputs::InputColumn;
use crate::statement::{OutputColumn, Run, StoreError};
use crate::writer::{Parameter, SqlText};
use crate::{Expr, PlanError};

/// INSERT.
#[derive(Clone, Debug)]
pub struct Insert {
    pub(super) writer: RowWriter,
    pub(super) source: InsertSource,
    pub(super) limit: Option<Box<InsertLimit>>,
    pub(super) outputs: Vec<Outputs>,
}

/// How many rows of an INSERT are inserted, which is known before the first of them.
#[derive(Clone, Debug)]
pub(super) enum InsertLimit {
    /// So many.
    Count(Parameter),
    /// So many of a hundred, rounded up.
    Percent(Parameter),
    /// As many as a query tells.
    Query(SqlText, Arc<Compiled>),
}

/// The rows of an INSERT.
#[derive(Clone, Debug)]
pub(super) enum InsertSource {
    /// Values that no table has.
    Values(Vec<Vec<GivenExpr>>),
    /// A query's rows.
    Query {
        /// The query.
        text: SqlText,
        /// What it calls.
        compiled: Arc<Compiled>,
        /// Its columns.
        inputs: Vec<InputColumn>,
        /// Whether all must be read before the first is written.
        spool: bool,
    },
    /// Rows that a procedure gives: the server brings them.
    Execute,
}

/// A row that a procedure has given.
#[derive(Clone, Debug)]
pub struct GivenRow {
    /// Its values.
    pub values: Vec<Value>,
    /// Their types.
    pub types: Arc<[DataType]>,
}

/// A value of VALUES.
#[derive(Clone, Debug)]
pub(super) enum GivenExpr {
    /// A value.
    Value(Expr),
    /// DEFAULT.
    Default,
}

impl Insert {
    /// The table that is inserted into.
    #[must_use]
    pub fn table(&self) -> &Arc<Table> {
        &self.writer.rules.table
    }

    /// The view that was named as the target.
    #[must_use]
    pub fn view(&self) -> Option<&Arc<View>> {
        self.writer.rules.view()
    }

    /// All tables that it writes to.
    #[must_use]
    pub fn written(&self) -> Vec<&Arc<Table>> {
        let outputs = self.outputs.iter().filter_map(Outputs::filled);
        std::iter::once(self.table()).chain(outputs).collect()
    }

    /// The columns of OUTPUT's rows; none without.
    #[must_use]
    pub fn columns(&self) -> &[OutputColumn] {
        result_columns(&self.outputs)
    }

    /// The types of the columns that its rows fill, in order.
    #[must_use]
    pub fn filled_types(&self) -> Vec<DataType> {
        let columns = self
            .writer
            .targets
            .iter()
            .filter_map(|at| self.table().columns.get(*at));
        columns.map(|column| column.data_type).collect()
    }

    /// Whether its rows are those of a procedure, which [`Insert::run_given`] takes.
    #[must_use]
    pub fn is_execute(&self) -> bool {
        matches!(self.source, InsertSource::Execute)
    }

    /// Whether a hint of its query asks that what is read be held.
    pub(crate) fn holds(&self) -> bool {
        match &self.source {
            InsertSource::Query { compiled, .. } => compiled.holds() || self.limit_holds(),
            InsertSource::Values(_) | InsertSource::Execute => self.limit_holds(),
        }
    }

    fn limit_holds(&self) -> bool {
        match self.limit.as_deref() {
            Some(InsertLimit::Query(_, compiled)) => compiled.holds(),
            Some(InsertLimit::Count(_) | InsertLimit::Percent(_)) | None => false,
        }
    }

    /// Whether it writes one row only.
    #[must_use]
    pub fn is_single(&self) -> bool {
        let one = match &self.source {
            InsertSource::Values(rows) => rows.len() == 1,
            InsertSource::Query { .. } | InsertSource::Execute => false,
        };
        one && self.outputs.iter().all(Outputs::is_result)
    }

    /// Runs it, and tells how many rows it wrote.
    ///
    /// Errors: whatever ends the statement. 8624 for rows of a procedure, which the server brings.
    pub fn run(&self, run: &mut Run<'_>) -> Result<u64, PlanError> {
        let most = self.most(run)?;
        match &self.source {
            InsertSource::Values(rows) => {
                let mut count = 0;
                let mut waiting = Vec::new();
                for row in rows.iter().take(most.of(rows.len())) {
                    let given = self.evaluate(run, row)?;
                    self.put(run, given, &mut waiting)?;
                    count += 1;
                }
                self.put_waiting(run, &waiting)?;
                Ok(count)
            }
            InsertSource::Query {
                text,
                compiled,
                inputs,
                spool,
            } => self.run_query(run, text, compiled, inputs, *spool, most),
            InsertSource::Execute => Err(PlanError::internal("rows of a procedure")),
        }
    }

    /// Writes the rows that a procedure has given, and tells how many they were.
    ///
    /// Errors: 213 for another count of columns; 206, 257 for types that do not convert; whatever is wrong with the values or a row.
    pub fn run_given(&self, run: &mut Run<'_>, rows: Vec<GivenRow>) -> Result<u64, PlanError> {
        let most = self.most(run)?.of(rows.len());
        let mut count = 0;
        let mut waiting = Vec::new();
        let mut checked: Option<Arc<[DataType]>> = None;
        for row in rows.into_iter().take(most) {
            if checked.as_ref().is_none_or(|checked| !Arc::ptr_eq(checked, &row.types)) {
                self.check_types(&row.types)?;
                checked = Some(Arc::clone(&row.types));
            }
            let given = row.values.into_iter().zip(row.types.iter());
            let given = given.map(|(value, data_type)| Given::Value(value, *data_type));
            self.put(run, given.collect(), &mut waiting)?;
            count += 1;
        }
        self.put_waiting(run, &waiting)?;
        Ok(count)
    }

    /// Whether rows of these types can be inserted.
    ///
    /// Errors: 206, 213, 257.
    pub fn check_types(&self, types: &[DataType]) -> Result<(), PlanError> {
        if types.len() != self.writer.targets.len() {
            return Err(PlanError::table_count().with_state(7));
        }
        for (at, from) in self.writer.targets.iter().zip(types) {
            if let Some(column) = self.table().columns.get(*at) {
                selenite_types::Conversion::check_implicit(from, &column.data_type)?;
            }
        }
        Ok(())
    }

    fn run_query(
        &self,
        run: &mut Run<'_>,
        text: &SqlText,
        compiled: &Arc<Compiled>,
        inputs: &[InputColumn],
        spool: bool,
        most: Most,
    ) -> Result<u64, PlanError> {
        let mut count = 0;
        let (spool, first) = match most {
            Most::Rows(rows) => (spool, rows),
            Most::Percent(_) => (true, u64::MAX),
        };
        let mut rows = Vec::new();
        let mut waiting = Vec::new();
        run.select(text, compiled, &mut |run, row| {
            if count >= first {
                return Ok(ControlFlow::Break(()));
            }
            count += 1;
            let values = InputColumn::read(inputs, row)?;
            let given = |(value, input): (Value, &InputColumn)| Given::Value(value, input.data_type);
            let given: Vec<Given> = values.into_iter().zip(inputs).map(given).collect();
            if spool {
                rows.push(given);
            } else {
                self.put(run, given, &mut waiting)?;
            }
            Ok(ControlFlow::Continue(()))
        })?;
        if spool {
            let cut = most.of(rows.len());
            rows.truncate(cut);
            count = u64::try_from(rows.len()).unwrap_or(u64::MAX);
        }
        for given in rows {
            self.put(run, given, &mut waiting)?;
        }
        self.put_waiting(run, &waiting)?;
        Ok(count)
    }

    fn most(&self, run: &mut Run<'_>) -> Result<Most, PlanError> {
        let stored = match self.limit.as_deref() {
            None => return Ok(Most::Rows(u64::MAX)),
            Some(InsertLimit::Count(count) | InsertLimit::Percent(count)) => count.evaluate(&run.frame(&[]))?,
            Some(InsertLimit::Query(text, compiled)) => {
                let mut told = None;
                run.select(text, compiled, &mut |_, row| {
                    if let Some(StoredRef::Integer(count)) = row.first() {
                        told = Some(*count);
                    }
                    Ok(ControlFlow::Continue(()))
                })?;
                told.map_or(Stored::Null, Stored::Integer)
            }
        };
        match stored {
            Stored::Integer(count) => Ok(Most::Rows(u64::try_from(count).unwrap_or(0))),
            Stored::Real(percent) => Ok(Most::Percent(percent)),
            Stored::Null | Stored::Text(_) | Stored::Blob(_) => Err(PlanError::invalid_row_count()),
        }
    }

    fn evaluate(&self, run: &Run<'_>, row: &[GivenExpr]) -> Result<Vec<Given>, PlanError> {
        let given = row.iter().map(|given| match given {
            GivenExpr::Value(expr) => Ok(Given::Value(expr.evaluate(&run.frame(&[]))?, expr.data_type)),
            GivenExpr::Default => Ok(Given::Default),
        });
        given.collect()
    }

    /// Writes a row; one that refers to a row of its own table that is not there yet waits.
    fn put(&self, run: &mut Run<'_>, given: Vec<Given>, waiting: &mut Vec<Prepared>) -> Result<(), PlanError> {
        let prepared = self.writer.prepare(run, given, ChangeVerb::Insert)?;
        match self.writer.store(run, &prepared) {
            Ok(()) => self.tell(run, &prepared),
            Err(error) if !self.is_single() && self.writer.rules.may_wait(&error) => {
                waiting.push(prepared);
                Ok(())
            }
            Err(error) => Err(self.refusal(run, error, &prepared)),
        }
    }

    /// Writes rows that waited, for they may refer to one another.
    fn put_waiting(&self, run: &mut Run<'_>, waiting: &[Prepared]) -> Result<(), PlanError> {
        if waiting.is_empty() {
            return Ok(());
        }
        run.store.defer_references()?;
        let done = self.put_open(run, waiting);
        let is_open = run.store.settle_references();
        done?;
        if is_open? {
            let rows = waiting.iter().map(|prepared| prepared.row.as_slice());
            return Err(self.writer.rules.left_open(run, rows, ChangeVerb::Insert));
        }
        Ok(())
    }

    fn put_open(&self, run: &mut Run<'_>, waiting: &[Prepared]) -> Result<(), PlanError> {
        for prepared in waiting {
            let stored = self.writer.store(run, prepared);
            stored.map_err(|error| self.refusal(run, error, prepared))?;
            self.tell(run, prepared)?;
        }
        Ok(())
    }

    fn refusal(&self, run: &Run<'_>, error: StoreError, prepared: &Prepared) -> PlanError {
        self.writer
            .rules
            .refusal(run, error, &prepared.row, None, ChangeVerb::Insert)
    }

    fn tell(&self, run: &mut Run<'_>, prepared: &Prepared) -> Result<(), PlanError> {
        for output in &self.outputs {
            // Who takes no more rows ends none of the change.
            let _: ControlFlow<()> = output.row(run, &prepared.row)?;
        }
        Ok(())
    }
}

/// How many rows TOP leaves.
#[derive(Clone, Copy)]
enum Most {
    Rows(u64),
    Percent(f64),
}

impl Most {
    /// Of so many.
    fn of(self, count: usize) -> usize {
        match self {
            Self::Rows(rows) => usize::try_from(rows).unwrap_or(usize::MAX).min(count),
            Self::Percent(percent) => {
                let number = |count| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
                let is_in = |at: &usize| number(*at) * 100.0 < number(count) * percent;
                (0..count).take_while(is_in).count()
            }
        }
    }
}
