//! DELETE and TRUNCATE.

use std::sync::Arc;

use selenite_tsql::ast;

use super::output::{Layout, Outputs, check_client_output, result_columns};
use super::row::RowRules;
use super::target::Target;
use super::update::{others, row_query};
use crate::binding::{Binding, InputColumn, Inputs, ResultColumn};
use crate::catalog::{ChangeVerb, Relation, Table, View};
use crate::compiled::{CHECK_CANCELLED_FUNCTION, Compiled};
use crate::query::tree::Limit;
use crate::query::{Clause, QueryBinder};
use crate::writer::{SqlText, Writer, qualified};
use crate::{Predicate, SqlError, written_object};

/// DELETE.
#[derive(Clone, Debug)]
pub struct Delete {
    /// The table's rules.
    pub rules: RowRules,
    /// How to execute it.
    pub strategy: DeleteStrategy,
    /// The operations and aggregates of its SQL.
    pub compiled: Arc<Compiled>,
    /// Its OUTPUT clauses.
    pub outputs: Vec<Outputs>,
}

/// How to execute a DELETE.
#[derive(Clone, Debug)]
pub enum DeleteStrategy {
    /// As one statement of SQLite's.
    Whole(SqlText),
    /// Row by row: the query returns the rowid, the table's columns and further inputs.
    Rows(SqlText, Vec<InputColumn>, String),
}

/// `TRUNCATE TABLE`: deletes all rows and restarts the identity.
#[derive(Clone, Debug)]
pub struct Truncate {
    /// The table; its identity, if it has one, restarts at the seed.
    pub table: Arc<Table>,
    /// The SQL that deletes the rows.
    pub sql: String,
    /// What keeps it from running, for those who may run it.
    pub refused: Option<SqlError>,
}

impl Binding<'_> {
    /// Binds a DELETE.
    ///
    /// Errors: any error of the statement.
    pub(crate) fn delete(&self, delete: &ast::Delete) -> Result<Delete, SqlError> {
        let mut binder = QueryBinder::new(self.catalog, self.variables);
        binder.options(&delete.options)?;
        binder.with_commons(&delete.with, |binder| {
            let limit = binder.bind_limit(delete.top.as_ref(), None, false)?;
            let target = binder.bind_target(&delete.target, &delete.from, (&[ChangeVerb::Delete], None))?;
            let filter = binder.scoped(target.bound.sources.clone(), |binder| match &delete.filter {
                Some(filter) => binder.condition(Clause::Where, filter).map(Some),
                None => self.current_row(&target, delete.current_of.as_ref()),
            })?;
            self.delete_of(binder, target, filter, limit, &delete.output)
        })
    }

    fn delete_of(
        &self,
        binder: &mut QueryBinder<'_>,
        target: Target,
        filter: Option<Predicate>,
        limit: Option<Limit>,
        output: &[ast::Output],
    ) -> Result<Delete, SqlError> {
        let table = Arc::clone(&target.table);
        let mut rules = RowRules::bind(self, &table, ChangeVerb::Delete, &|_| false)?;
        rules.through(&target.views);
        let name = qualified(&table.sqlite)?;
        // The violated foreign key is found by searching for the referencing row; with a single candidate no search is
        // needed.
        let tells = rules.references.referring_count() <= 1;
        let computes = table.columns.iter().any(|column| column.computed.is_some());
        // A function that reads the table must see all of its rows.
        let is_plain = target.alone && !binder.parts.calls_functions && !table.fires.on(ChangeVerb::Delete);
        if is_plain && limit.is_none() && output.is_empty() && tells && !computes {
            let mut writer = Writer::new(std::mem::take(&mut binder.parts));
            let mut sql = format!("DELETE FROM {name} AS t{}", target.source);
            match &filter {
                Some(filter) => sql.push_str(&format!(
                    " WHERE {CHECK_CANCELLED_FUNCTION}() AND ({})",
                    writer.condition(filter)?
                )),
                // Without a condition SQLite deletes all rows at once, unless references to them must be checked.
                None if table.referenced_by.is_empty() => {}
                None => sql.push_str(&format!(" WHERE {CHECK_CANCELLED_FUNCTION}()")),
            }
            let with = writer.commons()?;
            let text = writer.finish(format!("{with}{sql}"))?;
            let compiled = Arc::new(writer.compiled());
            return Ok(Delete {
                rules,
                strategy: DeleteStrategy::Whole(text),
                compiled,
                outputs: Vec::new(),
            });
        }
        let mut inputs = Inputs::from(1 + table.columns.len());
        let layout = Layout {
            deleted: Some(1),
            inserted: None,
            is_partial: false,
        };
        let noted = binder.parts.noted.get(&target.exposed).copied();
        let changed = (&table, target.through.as_deref(), noted);
        let outputs = Outputs::bind(self, binder, output, changed, layout, &others(&target), &mut inputs)?;
        check_client_output(&table, ChangeVerb::Delete, &outputs)?;
        let query = row_query(&target, filter, limit, inputs.items);
        let inputs = InputColumn::all(&binder.parts, &query);
        let mut writer = Writer::new(std::mem::take(&mut binder.parts));
        let text = writer.statement(&query)?;
        let sql = delete_sql(&table)?;
        let compiled = Arc::new(writer.compiled());
        Ok(Delete {
            rules,
            strategy: DeleteStrategy::Rows(text, inputs, sql),
            compiled,
            outputs,
        })
    }

    /// Binds a TRUNCATE TABLE.
    ///
    /// Errors: 4701 for an unknown table.
    pub(crate) fn truncate(&self, name: &ast::ObjectName) -> Result<Truncate, SqlError> {
        let line = name.position.line;
        let table = match self.catalog.relation(name)? {
            Some(Relation::Table(table)) => table,
            Some(Relation::System(_)) => return Err(SqlError::system_change().on_line(line)),
            Some(Relation::View(_)) | None => {
                return Err(SqlError::truncate_unknown(&written_object(name)).on_line(line));
            }
        };
        let is_referenced = !table.referenced_by.is_empty();
        let refused = is_referenced.then(|| SqlError::truncate_referenced(&written_object(name)).on_line(line));
        let sql = format!("DELETE FROM {}", qualified(&table.sqlite)?);
        Ok(Truncate { table, sql, refused })
    }
}

/// The SQL that deletes rows, whose parameter is the JSON array of their rowids.
///
/// Errors: a name that SQLite can't take.
pub(super) fn delete_sql(table: &Table) -> Result<String, SqlError> {
    let row_id = table
        .row_id()
        .ok_or_else(|| SqlError::unsupported("A table whose columns hide its rowid"))?;
    let name = qualified(&table.sqlite)?;
    Ok(format!(
        "DELETE FROM {name} WHERE {row_id} IN (SELECT value FROM json_each(?1)) AND {CHECK_CANCELLED_FUNCTION}()"
    ))
}

impl Delete {
    /// The table whose rows are deleted.
    #[must_use]
    pub fn table(&self) -> &Arc<Table> {
        &self.rules.table
    }

    /// The views that rows are changed through, the one that was named as the target last.
    #[must_use]
    pub fn views(&self) -> &[Arc<View>] {
        self.rules.views()
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

    /// Whether it is one statement of SQLite's.
    #[must_use]
    pub fn is_single(&self) -> bool {
        matches!(self.strategy, DeleteStrategy::Whole(_))
    }
}
