//! Statements on tables, bound: what the server runs.
//!
//! S1. A statement is bound once and run often: it holds no values, and no rows.
//! S2. Its rows are computed here, not in SQLite's change statements: values are converted, checked and numbered with T-SQL's
//!     errors, which tell the row; SQLite stores them.
//! S3. Whatever it changes before an error must be undone by whoever runs it: a savepoint around it, unless
//!     [`Statement::is_single`].

use std::ops::ControlFlow;
use std::sync::{Arc, LazyLock};

use selenite_tsql::ast;
use selenite_types::storage::{Stored, StoredRef};
use selenite_types::{DataType, Value};

use crate::catalog::{Catalog, IdentityRule, SqliteName, Table};
use crate::change::{Delete, Insert, Update};
use crate::execution::Compiled;
use crate::writer::SqlText;
use crate::{Collation, Environment, Expr, Frame, PlanError, Slot, Variables};

mod assign;
pub(crate) mod inputs;
mod rows;
pub(crate) mod select;

#[cfg(test)]
pub(crate) mod sqlite;

pub use assign::Assign;
pub use rows::Rows;
pub use select::{Into, IntoColumn};

/// A statement on tables.
#[derive(Clone, Debug)]
pub enum Statement {
    /// SELECT: rows to the client.
    Rows(Rows),
    /// `SELECT @a = ..`: the last row's values into variables.
    Assign(Assign),
    /// `SELECT .. INTO t`: a new table.
    Into(Into),
    /// INSERT.
    Insert(Insert),
    /// UPDATE.
    Update(Update),
    /// DELETE.
    Delete(Delete),
    /// `TRUNCATE TABLE`.
    Truncate(Truncate),
}

/// `TRUNCATE TABLE`: all rows go, and numbering restarts.
#[derive(Clone, Debug)]
pub struct Truncate {
    /// Which table; its identity, if it has one, begins at the seed again.
    pub table: Arc<Table>,
    /// What takes the rows away.
    pub sql: String,
}

/// A column of a result.
#[derive(Clone, PartialEq, Debug)]
pub struct OutputColumn {
    /// Its name; empty if it has none.
    pub name: String,
    /// Its type: what its values' stored form is.
    pub data_type: DataType,
    /// Whether it may be NULL.
    pub nullable: bool,
    /// How its text is compared.
    pub collation: Collation,
    /// How it is numbered, if it is a table's own column of that kind.
    pub identity: Option<IdentityRule>,
    /// The table and column that it is, as errors name them; empty for what is computed.
    pub place: String,
}

/// SQL to run, with the values of its parameters and what it calls.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// One statement of SQLite's.
    pub sql: &'a str,
    /// `?1` and those behind it.
    pub parameters: &'a [Stored<'static>],
    /// What its functions call by number.
    pub compiled: &'a Arc<Compiled>,
}

/// What takes the rows of a [`Store::select`].
pub type RowSink<'a> = dyn FnMut(&[StoredRef<'_>]) -> Result<ControlFlow<()>, PlanError> + 'a;

/// What takes a result's rows, decoded.
pub type ResultSink<'a> = dyn FnMut(&[Value]) -> Result<ControlFlow<()>, PlanError> + 'a;

/// What takes the rows that a running statement reads.
type RunSink<'s, 'a> = dyn FnMut(&mut Run<'a>, &[StoredRef<'_>]) -> Result<ControlFlow<()>, PlanError> + 's;

/// Where a statement's rows are: SQLite, as the server has it.
///
/// A statement may change rows from within the sink of a select, of a table that the select does not read: what the select calls by
/// number must then be in force again when it goes on. An error that one of our functions gives SQLite comes back as it was,
/// not as SQLite tells it.
pub trait Store {
    /// Runs SQL and shows `row` each row, until it breaks.
    ///
    /// Errors: those of `row`, of the functions that SQLite calls, and of SQLite itself.
    fn select(&self, call: &Call<'_>, row: &mut RowSink<'_>) -> Result<(), StoreError>;

    /// Runs SQL that changes rows, and tells how many.
    ///
    /// Errors: as [`Store::select`]; a broken constraint is one of its own.
    fn change(&self, call: &Call<'_>) -> Result<u64, StoreError>;

    /// Takes the next number of a table's identity.
    ///
    /// Errors: whatever keeps the number from being taken.
    fn next_identity(&self, table: &Table) -> Result<i128, PlanError>;

    /// Tells that a row was inserted with this number, given or taken: `@@IDENTITY`; a given one beyond the last moves it.
    ///
    /// Errors: whatever keeps it from being noted.
    fn identity_used(&self, table: &Table, value: i128) -> Result<(), PlanError>;

    /// Lets foreign keys be broken from now on, until [`Store::settle_references`].
    ///
    /// Errors: what SQLite says.
    fn defer_references(&self) -> Result<(), PlanError>;

    /// Has foreign keys looked at as ever, and tells whether one is broken: then whoever runs the statement must undo it.
    ///
    /// Errors: what SQLite says.
    fn settle_references(&self) -> Result<bool, PlanError>;

    /// Whether SET IDENTITY_INSERT is on for the table.
    fn identity_insert(&self, table: &Table) -> bool;
}

/// Why SQLite did not do what it was told.
#[derive(Clone, Debug)]
pub enum StoreError {
    /// A T-SQL error, of our functions or the sink, or what the server made of SQLite's own.
    Failed(PlanError),
    /// A constraint was broken: SQLite's message.
    Constraint(String),
}

impl From<PlanError> for StoreError {
    fn from(error: PlanError) -> Self {
        Self::Failed(error)
    }
}

/// What a statement runs on.
pub struct Run<'a> {
    /// The rows.
    pub store: &'a dyn Store,
    /// The variables.
    pub slots: &'a mut Vec<Value>,
    /// What is outside.
    pub environment: &'a dyn Environment,
    /// What takes the result's rows, decoded.
    pub rows: &'a mut ResultSink<'a>,
}

/// What a statement is bound against.
#[derive(Clone, Copy)]
pub struct Binding<'a> {
    /// What knows the tables.
    pub catalog: &'a dyn Catalog,
    /// The batch's variables.
    pub variables: &'a Variables,
}

impl Binding<'_> {
    /// Binds a statement on tables: SELECT, INSERT, UPDATE, DELETE, TRUNCATE.
    ///
    /// Errors: whatever is wrong with it; 8624 for any other statement.
    pub fn statement(&self, statement: &ast::Statement) -> Result<Statement, PlanError> {
        let kind = &statement.kind;
        let bound = if let ast::StatementKind::Select(select) = kind {
            self.select(select)
        } else if let ast::StatementKind::Insert(insert) = kind {
            self.insert(insert).map(Statement::Insert)
        } else if let ast::StatementKind::Update(update) = kind {
            self.update(update).map(Statement::Update)
        } else if let ast::StatementKind::Delete(delete) = kind {
            self.delete(delete).map(Statement::Delete)
        } else if let ast::StatementKind::Truncate(name) = kind {
            self.truncate(name).map(Statement::Truncate)
        } else {
            Err(PlanError::internal("not a statement on tables"))
        };
        bound.map_err(|error| error.on_line(statement.position.line))
    }
}

impl Statement {
    /// Whether a hint asks that what it reads be held until the transaction ends.
    #[must_use]
    pub fn holds(&self) -> bool {
        match self {
            Self::Rows(rows) => rows.compiled.holds(),
            Self::Assign(assign) => assign.compiled.holds(),
            Self::Into(into) => into.compiled.holds(),
            Self::Insert(insert) => insert.holds(),
            Self::Update(update) => update.compiled.holds(),
            Self::Delete(delete) => delete.compiled.holds(),
            Self::Truncate(_) => false,
        }
    }

    /// The columns of its result; none if it has no result.
    #[must_use]
    pub fn columns(&self) -> &[OutputColumn] {
        match self {
            Self::Rows(rows) => &rows.columns,
            Self::Insert(insert) => insert.columns(),
            Self::Update(update) => update.columns(),
            Self::Delete(delete) => delete.columns(),
            Self::Assign(_) | Self::Into(_) | Self::Truncate(_) => &[],
        }
    }

    /// Whether it changes rows.
    #[must_use]
    pub fn changes(&self) -> bool {
        match self {
            Self::Rows(_) | Self::Assign(_) => false,
            Self::Into(_) | Self::Insert(_) | Self::Update(_) | Self::Delete(_) | Self::Truncate(_) => true,
        }
    }

    /// The tables that it writes rows to; that of SELECT INTO is not made yet.
    #[must_use]
    pub fn written(&self) -> Vec<&Arc<Table>> {
        match self {
            Self::Rows(_) | Self::Assign(_) | Self::Into(_) => Vec::new(),
            Self::Insert(insert) => insert.written(),
            Self::Update(update) => update.written(),
            Self::Delete(delete) => delete.written(),
            Self::Truncate(truncate) => vec![&truncate.table],
        }
    }

    /// Whether it is one statement of SQLite's at most that changes anything, so that nothing is left of it when it fails.
    #[must_use]
    pub fn is_single(&self) -> bool {
        match self {
            Self::Rows(_) | Self::Assign(_) | Self::Truncate(_) => true,
            Self::Into(_) => false,
            Self::Insert(insert) => insert.is_single(),
            Self::Update(update) => update.is_single(),
            Self::Delete(delete) => delete.is_single(),
        }
    }
}

impl<'a> Run<'a> {
    /// The frame in which values are evaluated: the variables as they are now.
    pub(crate) fn frame<'f>(&'f self, row: &'f [Value]) -> Frame<'f> {
        Frame {
            slots: self.slots,
            row,
            local: None,
            environment: self.environment,
        }
    }

    /// Runs a query, and shows `row` each row.
    ///
    /// Errors: those of its parameters, of SQLite and of `row`.
    pub(crate) fn select(
        &mut self,
        text: &SqlText,
        compiled: &Arc<Compiled>,
        row: &mut RunSink<'_, 'a>,
    ) -> Result<(), PlanError> {
        let parameters = text.evaluate(&self.frame(&[]))?;
        let call = Call {
            sql: &text.sql,
            parameters: &parameters,
            compiled,
        };
        let store = self.store;
        match store.select(&call, &mut |values| row(self, values)) {
            Ok(()) => Ok(()),
            Err(StoreError::Failed(error)) => Err(error),
            Err(StoreError::Constraint(message)) => Err(PlanError::internal(&message)),
        }
    }

    /// Runs SQL that changes rows and calls nothing.
    pub(crate) fn change(&self, sql: &str, parameters: &[Stored<'static>]) -> Result<u64, StoreError> {
        self.store.change(&Call {
            sql,
            parameters,
            compiled: &NOTHING,
        })
    }
}

impl SqlText {
    /// The values of the parameters.
    ///
    /// Errors: whatever evaluating them gives.
    pub fn evaluate(&self, frame: &Frame<'_>) -> Result<Vec<Stored<'static>>, PlanError> {
        self.parameters
            .iter()
            .map(|parameter| parameter.evaluate(frame))
            .collect()
    }
}

/// What SQL calls that calls nothing.
pub(crate) static NOTHING: LazyLock<Arc<Compiled>> = LazyLock::new(Arc::default);

/// What a variable is set to for each row.
#[derive(Clone, PartialEq, Debug)]
pub struct SlotValue {
    /// Which variable.
    pub slot: Slot,
    /// Its value, of the variable's type, over the row's inputs.
    pub value: Expr,
}

/// A table's SQL to read its columns by name.
pub(crate) fn table_sql(name: &SqliteName) -> Result<String, PlanError> {
    crate::writer::qualified(name)
}

#[cfg(test)]
mod tests;
