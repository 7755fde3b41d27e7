//! Has what was copied on disk while the rest is being copied, and notes what is.

use std::path::Path;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::done_runs::{self, DoneRun};
use crate::EngineError;
use crate::error::io_error;
use crate::storage::WriteAt;

/// One thread's work; others tell it what they have done.
pub struct Syncer<'a> {
    target: (&'a dyn WriteAt, &'a Path),
    notes: (&'a dyn WriteAt, &'a Path),
    noted_every: u64,
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

struct Waiting {
    runs: Vec<DoneRun>,
    /// Of how many bytes they are.
    size: u64,
    /// No more will come.
    is_ended: bool,
    notes_end: u64,
}

impl<'a> Syncer<'a> {
    /// Syncs `target` after so many bytes, and writes to `notes` what is done.
    pub fn new(
        target: (&'a dyn WriteAt, &'a Path),
        notes: (&'a dyn WriteAt, &'a Path),
        noted_every: u64,
    ) -> Result<Self, EngineError> {
        let notes_end = done_runs::end(notes.0).map_err(io_error("read", notes.1))?;
        Ok(Self {
            target,
            notes,
            noted_every,
            waiting: Mutex::new(Waiting {
                runs: Vec::new(),
                size: 0,
                is_ended: false,
                notes_end,
            }),
            changed: Condvar::new(),
        })
    }

    /// Is told of a run that was written.
    pub fn add(&self, run: DoneRun, size: u64) {
        let mut waiting = self.lock();
        waiting.runs.push(run);
        waiting.size += size;
        if waiting.size >= self.noted_every {
            self.changed.notify_one();
        }
    }

    /// Is told that no more will come.
    pub fn end(&self) {
        self.lock().is_ended = true;
        self.changed.notify_one();
    }

    /// Syncs, until no more comes. What is left then is synced by who ends the copy.
    pub fn work(&self) -> Result<(), EngineError> {
        loop {
            let (runs, offset, is_ended) = self.next();
            if !runs.is_empty() {
                self.target.0.sync().map_err(io_error("sync", self.target.1))?;
                let end = done_runs::write(self.notes.0, &runs, offset).map_err(io_error("write", self.notes.1))?;
                self.lock().notes_end = end;
            }
            if is_ended {
                return Ok(());
            }
        }
    }

    fn next(&self) -> (Vec<DoneRun>, u64, bool) {
        let mut waiting = self.lock();
        while waiting.size < self.noted_every && !waiting.is_ended {
            waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        waiting.size = 0;
        (std::mem::take(&mut waiting.runs), waiting.notes_end, waiting.is_ended)
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
