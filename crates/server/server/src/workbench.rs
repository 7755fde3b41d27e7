//! The seam between sessions and data.
//!
//! K1. A [`Workshop`] is there once for the server, a [`Workbench`] once for each session, on the session's thread.
//! K2. The session owns what expressions see ([`SessionState`]) and lends it for each statement; the executor keeps none of it. What
//!     outlives a statement, such as a function that SQLite calls, takes a clone.
//! K3. The executor writes rows and messages through the [`Receiver`] it is lent, and no DONE, which is the machine's.
//! K4. A failure is told by the machine: the executor does not tell it as well.

mod receiver;
mod session_environment;
mod session_state;

use std::sync::Arc;

use selenite_compiler::program::Program;
use selenite_compiler::statement::Statement;
use selenite_compiler::{
    ColumnFacts, ColumnKey, DatabaseFacts, IdentityFacts, Key, ObjectFacts, ObjectKey, PlanError, PrincipalFacts,
    SchemaFacts,
};
use selenite_runtime::machine::{Affected, Call, Callee, Failure, FrameKind, TableStatement, TransactionStep};
use selenite_tsql::ast;
use selenite_types::{DataType, Value};

pub use receiver::Receiver;
pub use session_environment::SessionEnvironment;
pub use session_state::{CurrentDatabase, SessionState};

use crate::master::{DatabaseRecord, LoginRecord};
use crate::{Instance, Interrupts, LoginInfo, SessionEntry};

/// What holds the databases of a server.
pub trait Workshop: Send + Sync {
    /// Whether a login may use a database that exists.
    fn admits(&self, instance: &Instance, login: &LoginRecord, database: &DatabaseRecord) -> bool;

    /// The server has started: what was under way in the background goes on. Called once, before the first session.
    fn begin(&self, _instance: &Arc<Instance>) {}

    /// A session's executor, with the login's database in use.
    ///
    /// # Errors
    /// Whatever keeps the session from beginning: it is told, and the connection is closed.
    fn open<'a>(&'a self, session_info: SessionInfo<'a>) -> Result<Box<dyn Workbench + 'a>, PlanError>;

    /// Ends what runs in the background. Called once, when no session is left.
    fn close(&self);
}

/// The session that an executor belongs to.
pub struct SessionInfo<'a> {
    /// The server.
    pub instance: &'a Arc<Instance>,
    /// The login.
    pub login_info: &'a LoginInfo,
    /// What others see of the session.
    pub entry: &'a Arc<SessionEntry>,
    /// To be asked in whatever takes long.
    pub interrupts: Interrupts,
}

/// What a statement is done with.
pub struct ExecutionContext<'a> {
    /// What expressions see. `identity`, `scope_identity` and `context_info` of its session are the executor's to write.
    pub state: &'a mut SessionState,
    /// Where rows and messages go.
    pub receiver: &'a mut dyn Receiver,
}

/// How a session reaches data. When it is dropped the session is over: what is open is rolled back and closed.
pub trait Workbench {
    /// How many bytes of memory it keeps from one request to the next, besides SQLite's.
    fn kept_memory(&self) -> u64;

    /// What names meant when a statement on tables ran last, or [`Workbench::look_at_names`].
    fn objects(&self) -> &dyn Objects;

    /// Looks at what names mean now: others may have defined something.
    ///
    /// # Errors
    /// What keeps the database in use from being read.
    fn look_at_names(&mut self) -> Result<(), PlanError>;

    /// USE: the database of that name is in use from now on.
    ///
    /// # Errors
    /// 911 if there is none, 916 if the login may not use it.
    fn use_database(&mut self, name: &str, execution: ExecutionContext<'_>) -> Result<CurrentDatabase, Failure>;

    /// Runs what the machine leaves to its host: a statement on tables, of definitions or of administration. `slots` are all variables
    /// of the program; those that the statement assigns are written.
    ///
    /// # Errors
    /// The statement's. Nothing of it is left behind in the data.
    fn statement(
        &mut self,
        statement: &TableStatement<'_>,
        slots: &mut [Value],
        execution: ExecutionContext<'_>,
    ) -> Result<Affected, Failure>;

    /// Sees whether an INSERT .. EXECUTE can be run, before what it calls is, and gives it.
    ///
    /// # Errors
    /// What is wrong with the INSERT.
    fn bind_insert(
        &mut self,
        statement: &TableStatement<'_>,
        execution: ExecutionContext<'_>,
    ) -> Result<Arc<Statement>, Failure>;

    /// A text is about to run as sp_executesql of a database: of another than the one in use its frame begins there.
    ///
    /// # Errors
    /// 911 if there is none, 916 if the login may not use it.
    fn run_in(&mut self, database: Option<&ast::Name>, program: &Arc<Program>) -> Result<(), Failure>;

    /// Finds a procedure, or is it; `None` if there is none of that name. The session's own (sp_executesql and related ones) do not come here.
    ///
    /// # Errors
    /// The procedure's own, if the executor is it.
    fn call(&mut self, call: &Call<'_>, execution: ExecutionContext<'_>) -> Result<Option<Callee>, Failure>;

    /// A frame begins: temporary tables of a procedure or text and table variables of any are its own.
    ///
    /// # Errors
    /// Whatever keeps it from running.
    fn enter(&mut self, program: &Arc<Program>, kind: FrameKind) -> Result<(), Failure>;

    /// The frame that began last ends.
    fn leave(&mut self);

    /// A step of the transaction; the machine has checked counts and names. Its isolation is the state's, which may change between two
    /// statements.
    ///
    /// # Errors
    /// Of a commit that did not succeed, or a savepoint's. A rollback always succeeds.
    fn transaction(&mut self, step: TransactionStep<'_>, execution: ExecutionContext<'_>) -> Result<(), Failure>;

    /// SET IDENTITY_INSERT.
    ///
    /// # Errors
    /// 8106 and related ones.
    fn identity_insert(
        &mut self,
        table: &ast::ObjectName,
        on: bool,
        execution: ExecutionContext<'_>,
    ) -> Result<(), Failure>;

    /// RESETCONNECTION: temporary tables go, and the login's database is in use again. No transaction is open.
    ///
    /// # Errors
    /// Whatever keeps the session from going on.
    fn reset(&mut self, execution: ExecutionContext<'_>) -> Result<CurrentDatabase, Failure>;
}

/// What names and ids of the current database and the server mean: [`selenite_compiler::Environment`]'s questions about data.
pub trait Objects {
    /// Whether the request is to stop.
    fn is_interrupted(&self) -> bool;

    /// A database.
    ///
    /// # Errors
    /// Whatever ends the statement; what is unknown is `None`. So of all others.
    fn database(&self, key: Key<'_>) -> Result<Option<DatabaseFacts>, PlanError>;

    /// A schema.
    ///
    /// # Errors
    /// As [`Objects::database`].
    fn schema(&self, key: Key<'_>) -> Result<Option<SchemaFacts>, PlanError>;

    /// An object.
    ///
    /// # Errors
    /// As [`Objects::database`].
    fn object(&self, key: ObjectKey<'_>) -> Result<Option<ObjectFacts>, PlanError>;

    /// A column.
    ///
    /// # Errors
    /// As [`Objects::database`].
    fn column(&self, table_id: i32, key: ColumnKey<'_>) -> Result<Option<ColumnFacts>, PlanError>;

    /// A table's identity.
    ///
    /// # Errors
    /// As [`Objects::database`].
    fn identity(&self, table_id: i32) -> Result<Option<IdentityFacts>, PlanError>;

    /// A user or role of the current database.
    ///
    /// # Errors
    /// As [`Objects::database`].
    fn user(&self, key: Key<'_>) -> Result<Option<PrincipalFacts>, PlanError>;

    /// A login or role of the server.
    ///
    /// # Errors
    /// As [`Objects::database`].
    fn login(&self, key: Key<'_>) -> Result<Option<PrincipalFacts>, PlanError>;

    /// An alias type of the current database.
    ///
    /// # Errors
    /// As [`Objects::database`].
    fn alias_type(&self, key: Key<'_>) -> Result<Option<(i32, String, DataType)>, PlanError>;
}
