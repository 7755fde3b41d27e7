//! A database in memory with the server's registered functions and identity counters.

use std::cell::Cell;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rusqlite::Connection;
use selenite_compiler::{Environment, SqlError};
use selenite_types::storage::StoredRef;

use super::TestEnvironment;
use crate::sqlite::{
    Cancellation, Executor, FunctionContext, Identities, IdentityJournal, LateSnapshot, LockTimeout, SessionSnapshot,
    SharedSnapshot, register,
};

pub(crate) struct Database {
    pub connection: Connection,
    pub functions: FunctionContext,
    /// The table of SET IDENTITY_INSERT.
    pub identity_insert: Cell<Option<i32>>,
    identities: Identities,
    identity_journal: IdentityJournal,
    cancellation: Cancellation,
    last_identity: Cell<Option<i128>>,
}

impl Database {
    pub fn new() -> Self {
        // Selenite's VFS provides `selenite_open_references` and T-SQL's collation.
        selenite::install().unwrap();
        let mut connection = Connection::open_in_memory().unwrap();
        let catalog =
            "PRAGMA foreign_keys = ON; CREATE TABLE selenite_catalog (object_id INTEGER PRIMARY KEY, next TEXT)";
        connection.execute_batch(catalog).unwrap();
        let functions = FunctionContext::default();
        register(&connection, &functions).unwrap();
        let cancellation = Cancellation::new(|| None);
        cancellation.attend(&mut connection, 2000).unwrap();
        Self {
            connection,
            functions,
            identity_insert: Cell::new(None),
            identities: Identities::default(),
            identity_journal: IdentityJournal::default(),
            cancellation,
            last_identity: Cell::new(None),
        }
    }

    /// The executor of a statement.
    pub fn executor(&self) -> Executor<'_> {
        Executor {
            connection: &self.connection,
            functions: &self.functions,
            session: LateSnapshot::new(&snapshot),
            identity_insert: self.identity_insert.get(),
            identities: &self.identities,
            identity_journal: &self.identity_journal,
            timeout: LockTimeout::of(Duration::ZERO),
            cancellation: &self.cancellation,
            last_identity: &self.last_identity,
        }
    }
}

fn snapshot() -> SharedSnapshot {
    Arc::new(Mutex::new(TestEnvironment::default()))
}

impl SessionSnapshot for TestEnvironment {
    fn environment(&self, evaluate: &mut dyn FnMut(&dyn Environment)) {
        evaluate(self);
    }

    fn system_rows(&self, name: &str, _: &[StoredRef<'_>]) -> Result<String, SqlError> {
        Err(SqlError::unknown_object(name))
    }
}
