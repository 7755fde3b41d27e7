//! The statement that runs on a connection, as SQLite's functions see it.

use std::sync::{Arc, Mutex, PoisonError};

use selenite_compiler::compiled::Compiled;
use selenite_compiler::{Environment, PlanError};
use selenite_types::storage::StoredRef;

use crate::names::session_environment::SessionEnvironment;
use crate::names::session_objects::SessionObjects;
use crate::session_state::SessionState;
use crate::system_views::Sight;

/// Shared by a connection's functions and whoever runs statements on it; both are on the session's thread.
#[derive(Clone, Default)]
pub struct Running(Arc<Mutex<Present>>);

#[derive(Default)]
struct Present {
    call: Option<RunningCall>,
    /// The first error of a function in this statement.
    error: Option<PlanError>,
    /// Whether an aggregate left out a NULL: warning 8153.
    left_out_null: bool,
}

/// What one statement of SQLite's calls.
#[derive(Clone)]
pub struct RunningCall {
    /// By number.
    pub compiled: Arc<Compiled>,
    /// What is around it.
    pub scene: Arc<Mutex<Scene>>,
}

/// The session while a statement of T-SQL's runs.
pub struct Scene {
    /// Its state when the statement began.
    pub state: SessionState,
    /// What names mean.
    pub objects: SessionObjects,
}

impl Running {
    /// Makes a call the one that functions see; answers the one before, which is to be put back.
    pub fn begin(&self, call: Option<RunningCall>) -> Option<RunningCall> {
        std::mem::replace(&mut self.present().call, call)
    }

    /// The error that a function ended the statement with.
    pub fn take_error(&self) -> Option<PlanError> {
        self.present().error.take()
    }

    /// Whether NULLs were left out since the last time.
    pub fn take_left_out_null(&self) -> bool {
        std::mem::take(&mut self.present().left_out_null)
    }

    /// Notes that NULLs were left out.
    pub fn note_null(&self) {
        self.present().left_out_null = true;
    }

    /// Runs what a function does; its error is kept, and SQLite gets words that nobody reads.
    pub fn evaluate<R>(
        &self,
        body: impl FnOnce(&Compiled, &dyn Environment) -> Result<R, PlanError>,
    ) -> Result<R, rusqlite::Error> {
        let call = self.present().call.clone();
        let Some(call) = call else {
            return Err(self.refuse(PlanError::internal("a function outside a statement")));
        };
        let scene = call.scene.lock().unwrap_or_else(PoisonError::into_inner);
        let environment = SessionEnvironment {
            state: &scene.state,
            objects: &scene.objects,
        };
        body(&call.compiled, &environment).map_err(|error| self.refuse(error))
    }

    /// The rows of a view or function of the server's own, as JSON.
    pub fn rows(&self, name: &str, arguments: &[StoredRef<'_>]) -> Result<String, rusqlite::Error> {
        let call = self.present().call.clone();
        let Some(call) = call else {
            return Err(self.refuse(PlanError::internal("a function outside a statement")));
        };
        let scene = call.scene.lock().unwrap_or_else(PoisonError::into_inner);
        let (objects, name) = match name.split_once(':') {
            None => (Some(&scene.objects), name),
            Some((id, name)) => (scene.objects.of_place(id), name),
        };
        let Some(objects) = objects else {
            return Err(self.refuse(PlanError::internal("a view of a database that was not asked for")));
        };
        let objects = objects.seen();
        let sight = Sight {
            objects: &objects,
            state: &scene.state,
        };
        crate::system_views::json(name, arguments, &sight).map_err(|error| self.refuse(error))
    }

    /// Keeps an error of a function.
    pub fn refuse(&self, error: PlanError) -> rusqlite::Error {
        let text = format!("T-SQL error {}", error.number());
        self.present().error.get_or_insert(error);
        rusqlite::Error::UserFunctionError(text.into())
    }

    fn present(&self) -> std::sync::MutexGuard<'_, Present> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
