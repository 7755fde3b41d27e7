//! The session while a statement runs, as SQLite's functions see it.

use std::sync::{Arc, Mutex};

use selenite_compiler::{Environment, SqlError};
use selenite_runtime::sqlite::{SessionSnapshot, SharedSnapshot};
use selenite_types::storage::StoredRef;

use crate::names::session_environment::SessionEnvironment;
use crate::names::session_objects::SessionObjects;
use crate::session_state::SessionState;
use crate::system_views::{self, ViewContext};

/// A session's state and the meaning of names in it, both at the beginning of the statement.
struct Snapshot {
    state: SessionState,
    objects: SessionObjects,
}

/// Copies what functions see of a session.
pub fn shared(state: &SessionState, objects: &SessionObjects) -> SharedSnapshot {
    Arc::new(Mutex::new(Snapshot {
        state: state.clone(),
        objects: objects.clone(),
    }))
}

impl SessionSnapshot for Snapshot {
    fn environment(&self, evaluate: &mut dyn FnMut(&dyn Environment)) {
        evaluate(&SessionEnvironment {
            state: &self.state,
            objects: &self.objects,
            sequences: None,
        });
    }

    fn system_rows(&self, name: &str, arguments: &[StoredRef<'_>]) -> Result<String, SqlError> {
        let (objects, name) = match name.split_once(':') {
            None => (Some(&self.objects), name),
            Some((id, name)) => (self.objects.of_place(id), name),
        };
        let objects = objects
            .ok_or_else(|| SqlError::internal("a view of a database that was not asked for"))?
            .seen();
        let context = ViewContext {
            objects: &objects,
            state: &self.state,
        };
        system_views::json(name, arguments, &context)
    }
}
