//! The state that a connection's functions share with the running statement.

use std::sync::{Arc, Mutex, PoisonError};

use selenite_compiler::compiled::Compiled;
use selenite_compiler::{Environment, SqlError};
use selenite_types::storage::StoredRef;

/// The session when a statement calls its first function.
pub trait SessionSnapshot: Send {
    /// Calls `evaluate` with the environment of expressions.
    fn environment(&self, evaluate: &mut dyn FnMut(&dyn Environment));

    /// The rows of a system view or function, as JSON.
    ///
    /// # Errors
    /// Any error that ends the statement.
    fn system_rows(&self, name: &str, arguments: &[StoredRef<'_>]) -> Result<String, SqlError>;
}

/// A snapshot that all calls of a statement share.
pub type SharedSnapshot = Arc<Mutex<dyn SessionSnapshot>>;

/// The state of a connection's functions. The functions share it with the executor; both run on the session's
/// thread.
#[derive(Clone, Default)]
pub struct FunctionContext(Arc<Mutex<CallState>>);

#[derive(Default)]
struct CallState {
    call: Option<CurrentCall>,
    /// The first error of a function in this statement.
    error: Option<SqlError>,
    /// Whether an aggregate skipped a NULL: warning 8153.
    left_out_null: bool,
    left_out_duplicate: bool,
}

/// The functions' view of one statement of SQLite's.
#[derive(Clone)]
pub struct CurrentCall {
    /// The operations and aggregates, by number.
    pub compiled: Arc<Compiled>,
    /// The session.
    pub session: SharedSnapshot,
}

impl FunctionContext {
    /// Sets the current call; returns the previous one, which must be restored.
    pub fn begin(&self, call: Option<CurrentCall>) -> Option<CurrentCall> {
        std::mem::replace(&mut self.present().call, call)
    }

    /// The error with which a function ended the statement.
    pub fn take_error(&self) -> Option<SqlError> {
        self.present().error.take()
    }

    /// Whether NULLs were skipped since the last call.
    pub fn take_left_out_null(&self) -> bool {
        std::mem::take(&mut self.present().left_out_null)
    }

    /// Whether rows with a key of other rows were left out since the last call.
    pub fn take_duplicate(&self) -> bool {
        std::mem::take(&mut self.present().left_out_duplicate)
    }

    /// Records that a row with a key of another row was left out.
    pub fn note_duplicate(&self) {
        self.present().left_out_duplicate = true;
    }

    /// Records that NULLs were skipped.
    pub fn note_null(&self) {
        self.present().left_out_null = true;
    }

    /// Runs a function's code; its error is kept ([`FunctionContext::take_error`]), and SQLite gets a placeholder.
    pub fn evaluate<R>(
        &self,
        body: impl FnOnce(&Compiled, &dyn Environment) -> Result<R, SqlError>,
    ) -> Result<R, rusqlite::Error> {
        let call = self.present().call.clone();
        let Some(call) = call else {
            return Err(self.refuse(SqlError::internal("a function outside a statement")));
        };
        let session = call.session.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut body, mut done) = (Some(body), None);
        session.environment(&mut |environment| {
            done = body.take().map(|body| body(&call.compiled, environment));
        });
        let done = done.unwrap_or_else(|| Err(SqlError::internal("a session without an environment")));
        done.map_err(|error| self.refuse(error))
    }

    /// The rows of a system view or function, as JSON.
    pub fn rows(&self, name: &str, arguments: &[StoredRef<'_>]) -> Result<String, rusqlite::Error> {
        let call = self.present().call.clone();
        let Some(call) = call else {
            return Err(self.refuse(SqlError::internal("a function outside a statement")));
        };
        let session = call.session.lock().unwrap_or_else(PoisonError::into_inner);
        session.system_rows(name, arguments).map_err(|error| self.refuse(error))
    }

    /// Keeps a function's error.
    pub fn refuse(&self, error: SqlError) -> rusqlite::Error {
        let text = format!("T-SQL error {}", error.number());
        self.present().error.get_or_insert(error);
        rusqlite::Error::UserFunctionError(text.into())
    }

    fn present(&self) -> std::sync::MutexGuard<'_, CallState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
