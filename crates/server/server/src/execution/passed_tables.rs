//! Table-valued parameters of a program that begins.
//!
//! - `passed-by-name`: a table variable of the caller is the callee's under another name: nothing changes it.
//! - `rows-are-inserted`: rows that a client has sent are inserted into a table of the callee's as those of INSERT ..
//!   EXECUTE: with the defaults, rules and conversions of its type. Nothing changes the table after that.
//! - `types-are-executed` of [`crate::catalog::permission`]: a variable that a batch declares, and rows that a client has
//!   sent, need EXECUTE on their type.

use std::sync::Arc;

use selenite_compiler::definition::{TableDefinition, bracketed};
use selenite_compiler::statement::ResultColumn;
use selenite_compiler::{Ends, NameKey, SqlError};
use selenite_runtime::machine::{Failure, PassedTable, TableArgument};
use selenite_tds::TableValue;
use selenite_tsql::ast::TableType;

use crate::catalog::permission::check_type;
use crate::catalog::permission_kind::PermissionKind;
use crate::catalog::table_variables::{TableVariable, Variables, parameter_table};
use crate::execution::session_executor::SessionExecutor;

impl SessionExecutor<'_> {
    /// The tables of the table-valued parameters of the frame that begins, those of rows empty; `before` is the
    /// caller's database, if that is another one. In a text (`is_text`), an empty table is one that the text declares.
    ///
    /// # Errors
    /// 40510 in another database; 229; SQLite's error.
    pub(crate) fn passed_variables(&mut self, before: Option<i32>, is_text: bool) -> Result<Variables, Failure> {
        let passed = std::mem::take(&mut self.passed_tables);
        if passed.is_empty() {
            return Ok(Variables::new());
        }
        if before.is_some() {
            return Err(SqlError::unsupported("A table-valued parameter of a procedure of another database").into());
        }
        self.refresh()?;
        for sent in passed
            .iter()
            .filter(|passed| passed.is_sent() || is_text && passed.from.is_none())
        {
            self.check_execute(&sent.table_type, None)?;
        }
        let mut variables = Variables::new();
        if let Err(error) = self.make_passed(&passed, &mut variables) {
            let connection = &self.transactions.connected()?.database.connection;
            for made in variables.values().filter(|made| !made.is_passed) {
                made.drop_in(connection)?;
            }
            return Err(error.into());
        }
        Ok(variables)
    }

    /// Protects a table-valued parameter of the frame that has begun, whose rows are there.
    pub(crate) fn protect(&mut self, name: &str) {
        self.frames.protect(&NameKey::new(name));
    }

    /// 229: a variable of a table type in a program whose module has this owner, or none.
    pub(crate) fn check_execute(&self, table_type: &TableType, owner: Option<i32>) -> Result<(), SqlError> {
        let catalog = &self.scope.objects.catalog;
        let named = catalog.schema.names().named(&table_type.schema);
        if owner.is_some() && named.map(|schema| schema.owner) == owner {
            return Ok(());
        }
        let who = (&self.permissions, catalog.database.as_ref());
        check_type(PermissionKind::Execute, (&table_type.schema, &table_type.name), who)
    }

    fn make_passed(&self, passed: &[PassedTable], variables: &mut Variables) -> Result<(), SqlError> {
        let callers = self.frames.variables();
        let depth = self.frames.depth() + 1;
        let connection = &self.transactions.connected()?.database.connection;
        for PassedTable { name, table_type, from } in passed {
            let variable = match from {
                Some(TableArgument::Variable(source)) => {
                    let found = callers.get(&NameKey::new(&source.name));
                    let found = found.ok_or_else(|| SqlError::internal("a table variable that is not there"))?;
                    found.as_parameter(name)
                }
                Some(TableArgument::Rows(_)) | None => {
                    let declared = parameter_table(name, table_type);
                    let made = TableVariable::make(connection, &declared, depth)?;
                    match from {
                        // Its rows are still to come.
                        Some(_) => made,
                        None => made.protected(),
                    }
                }
            };
            variables.insert(NameKey::new(name), Arc::new(variable));
        }
        Ok(())
    }
}

/// An INSERT of rows that a client has sent into a table-valued parameter, which the text declares.
pub(crate) struct RowsInsert {
    /// The text.
    pub text: String,
    /// The columns of the rows.
    pub columns: Vec<ResultColumn>,
}

impl RowsInsert {
    /// That of rows; `None` if there are none.
    ///
    /// # Errors
    /// 500 for another number of columns than the type has; 40510 if a client sends no column.
    pub fn of(passed: &PassedTable, rows: &TableValue) -> Result<Option<Self>, SqlError> {
        if rows.columns.is_empty() {
            return Ok(None);
        }
        let declared = parameter_table(&passed.name, &passed.table_type);
        let definition = TableDefinition::of_elements(("dbo", declared.name), declared.elements, 0)?;
        if definition.columns.len() != rows.columns.len() {
            return Err(column_count(rows.columns.len(), definition.columns.len()));
        }
        if rows.row_count == 0 {
            return Ok(None);
        }
        let mut names = Vec::new();
        let mut columns = Vec::new();
        let sent = definition.columns.iter().zip(&rows.columns);
        for (column, sent) in sent.filter(|(_, sent)| !sent.is_default) {
            names.push(bracketed(&column.name));
            columns.push(ResultColumn {
                name: column.name.clone(),
                data_type: sent.type_info.data_type,
                nullable: true,
                collation: selenite_compiler::Collation::default(),
                identity: None,
                is_computed: false,
                place: String::new(),
            });
        }
        if names.is_empty() {
            return Err(SqlError::unsupported("A table-valued parameter of defaults alone"));
        }
        let (name, names) = (&passed.name, names.join(", "));
        Ok(Some(Self {
            // What its type means now does not matter: the table is there, and the declaration does not run.
            text: format!("DECLARE {name} TABLE (p INT) INSERT {name} ({names}) EXECUTE p"),
            columns,
        }))
    }
}

/// 500: rows of another number of columns than the type has.
fn column_count(given: usize, wanted: usize) -> SqlError {
    let text = format!(
        "Trying to pass a table-valued parameter with {given} column(s) where the corresponding user-defined table type \
         requires {wanted} column(s)."
    );
    SqlError::new(500, Ends::Statement, text)
}
