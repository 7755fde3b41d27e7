//! Syncs the copy while the rest is being copied, and records the runs that are synced.

use std::path::Path;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::done_runs::{self, DoneRun};
use crate::EngineError;
use crate::error::io_error;
use crate::storage::WriteAt;

/// Runs in one thread; other threads report the runs that they have written.
pub struct Syncer<'a> {
    target: (&'a dyn WriteAt, &'a Path),
    notes: (&'a dyn WriteAt, &'a Path),
    noted_every: u64,
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

struct Waiting {
    runs: Vec<DoneRun>,
    /// Their size in bytes.
    size: u64,
    /// No more runs will be added.
    is_ended: bool,
    notes_end: u64,
}

impl<'a> Syncer<'a> {
    /// Syncs `target` after every `noted_every` bytes, and then writes the runs to `notes`.
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

    /// Adds a run that was written.
    pub fn add(&self, run: DoneRun, size: u64) {
        let mut waiting = self.lock();
        waiting.runs.push(run);
        waiting.size += size;
        if waiting.size >= self.noted_every {
            self.changed.notify_one();
        }
    }

    /// Ends the work: no more runs will be added.
    pub fn end(&self) {
        self.lock().is_ended = true;
        self.changed.notify_one();
    }

    /// Syncs until [`Syncer::end`]. What is written later is synced by the caller when it finishes
    /// the copy.
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
