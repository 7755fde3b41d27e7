//! The global temporary objects of a server: which there are, and which have lost their session.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The numbers of global temporary objects.
#[derive(Default)]
pub struct Globals(Mutex<State>);

#[derive(Default)]
struct State {
    known: HashSet<i32>,
    /// Those whose session has ended, and that could not be dropped.
    left: Vec<i32>,
}

impl Globals {
    /// A session has made one.
    pub fn note(&self, id: i32) {
        self.lock().known.insert(id);
    }

    /// Whether a session has made it.
    pub fn is_known(&self, id: i32) -> bool {
        self.lock().known.contains(&id)
    }

    /// It was dropped.
    pub fn forget(&self, id: i32) {
        self.lock().known.remove(&id);
    }

    /// Whether there are some that have lost their session.
    pub fn has_left(&self) -> bool {
        !self.lock().left.is_empty()
    }

    /// Those that have lost their session.
    pub fn take_left(&self) -> Vec<i32> {
        std::mem::take(&mut self.lock().left)
    }

    /// They have lost their session, and could not be dropped.
    pub fn leave(&self, ids: Vec<i32>) {
        self.lock().left.extend(ids);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
