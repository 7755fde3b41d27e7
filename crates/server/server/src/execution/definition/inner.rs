//! Statements of T-SQL's that a definition runs for itself: over rows that it moves, fills or checks.
//!
//! - `calls-are-checked`: the functions and sequences of their expressions need the session's permissions, as in a
//!   statement of its own: a default or check that is new calls what it names for each row.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::sync::Arc;

use selenite_compiler::catalog::{Catalog, Relation, Sequence, SystemFunction, Table, UserFunction};
use selenite_compiler::statement::{Binding, Statement};
use selenite_compiler::{SqlError, Variables, same_name};
use selenite_runtime::sqlite::{Executor, LateSnapshot, LockTimeout, TakenValues};
use selenite_runtime::statement::{ResultSink, Run};
use selenite_tsql::ast::ObjectName;
use selenite_types::Value;

use super::DefinitionContext;
use crate::catalog::schema::parsed;
use crate::execution::snapshot::shared;
use crate::memory;
use crate::names::named_relation::{NamedRelation, NamedUses};
use crate::names::row_permissions::check_reads;
use crate::names::session_catalog::SessionCatalog;
use crate::names::session_environment::{SequenceSource, SessionEnvironment};

/// A catalog of a few tables, with the functions and sequences of the database.
pub struct Few<'a> {
    /// The tables.
    pub tables: Vec<Arc<Table>>,
    /// Where functions and sequences are.
    pub catalog: &'a SessionCatalog,
    /// What was looked up there.
    uses: NamedUses,
}

impl Catalog for Few<'_> {
    fn sequence(&self, name: &ObjectName) -> Result<Option<Arc<Sequence>>, SqlError> {
        let found = self.catalog.sequence(name)?;
        if let Some(found) = &found {
            self.uses
                .push(NamedRelation::sequence(&self.catalog.database, found), 0, false);
        }
        Ok(found)
    }

    fn user_function(&self, name: &ObjectName) -> Result<Option<Arc<UserFunction>>, SqlError> {
        let found = self.catalog.user_function(name)?;
        if let Some(found) = &found {
            self.uses.push(NamedRelation::function(found), 0, false);
        }
        Ok(found)
    }

    fn relation(&self, name: &ObjectName) -> Result<Option<Relation>, SqlError> {
        let found = self.tables.iter().find(|table| same_name(&table.name, &name.name.text));
        Ok(found.map(|table| Relation::Table(table.clone())))
    }

    fn function(&self, _name: &ObjectName) -> Result<Option<Arc<SystemFunction>>, SqlError> {
        Ok(None)
    }

    fn table_variable(&self, _name: &str) -> Result<Option<Arc<Table>>, SqlError> {
        Ok(None)
    }
}

impl DefinitionContext<'_> {
    /// These tables, and the database's functions.
    pub(crate) fn few(&self, tables: Vec<Arc<Table>>) -> Few<'_> {
        Few {
            tables,
            catalog: self.catalog,
            uses: NamedUses::default(),
        }
    }

    /// Runs a statement, and returns how many rows it read or changed: of rows that it selects, one at most. Numbers
    /// for an identity may be given for the table with the number `identity_insert`.
    pub(crate) fn run(&self, text: &str, tables: Few<'_>, identity_insert: Option<i32>) -> Result<u64, SqlError> {
        self.run_into(text, &tables, identity_insert, &mut |_| Ok(ControlFlow::Break(())))
    }

    /// Runs a SELECT, and returns its rows.
    pub(crate) fn rows_of(&self, text: &str, tables: Vec<Arc<Table>>) -> Result<Vec<Vec<Value>>, SqlError> {
        let mut rows = Vec::new();
        self.run_into(text, &self.few(tables), None, &mut |row| {
            memory::reserve(0)?;
            rows.push(row.to_vec());
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(rows)
    }

    fn run_into(
        &self,
        text: &str,
        tables: &Few<'_>,
        identity_insert: Option<i32>,
        rows: &mut ResultSink<'_>,
    ) -> Result<u64, SqlError> {
        let tree = parsed(text)?;
        let statement = tree
            .statements
            .first()
            .ok_or_else(|| SqlError::internal("an inner statement"))?;
        let variables = Variables::default();
        let binding = Binding {
            catalog: tables,
            variables: &variables,
        };
        let bound = binding.statement(statement)?;
        // `calls-are-checked`.
        let uses = tables.uses.all();
        if !uses.is_empty() {
            check_reads(&uses, (&self.objects.permissions(), &self.catalog.database))?;
        }
        let last_identity = Cell::new(None);
        let take = || shared(self.state, self.objects);
        let executor = Executor {
            connection: &self.database.connection,
            functions: &self.database.functions,
            session: LateSnapshot::new(&take),
            identity_insert,
            identities: &self.database.shared.identities,
            identity_journal: &self.database.identity_journal,
            timeout: LockTimeout::of(self.state.lock_timeout()),
            cancellation: &self.database.cancellation,
            last_identity: &last_identity,
        };
        let taken = TakenValues::default();
        let environment = SessionEnvironment {
            state: self.state,
            objects: self.objects,
            sequences: Some(SequenceSource::of(self.database, &taken)),
        };
        let mut run = Run {
            executor: &executor,
            slots: &mut Vec::new(),
            environment: &environment,
            rows,
            changed: None,
        };
        match &bound {
            Statement::Rows(rows) => run.rows(rows),
            Statement::Insert(insert) => run.insert(insert),
            Statement::Update(update) => run.update(update),
            Statement::Assign(_)
            | Statement::Into(_)
            | Statement::Delete(_)
            | Statement::Merge(_)
            | Statement::Truncate(_) => Err(SqlError::internal("an inner statement")),
        }
    }
}
