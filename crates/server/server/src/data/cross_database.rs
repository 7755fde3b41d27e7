//! A transaction that writes to more than one database.
//!
//! M1. Its databases are committed one after the other, by rising id: SQLite has no commit over several files that a log is written
//!     for each of (sqlite.org/lang_attach.html). The client is warned before it depends on more.
//! M2. Syncs come after the last commit, so that what lies between the first and the last is as short as can be.

use selenite_compiler::{Ends, PlanError};
use selenite_runtime::machine::{Failure, Message};

use super::session_executor::SessionExecutor;
use super::used_database::Used;
use crate::workbench::ExecutionContext;

impl SessionExecutor<'_> {
    /// Commits in all databases of the transaction, and waits for the disk. `said` is the COMMIT's DELAYED_DURABILITY.
    ///
    /// # Errors
    /// What SQLite says; 50824 if it says so when other databases are committed already.
    pub(super) fn commit(&mut self, said: Option<bool>) -> Result<(), PlanError> {
        let mut ids: Vec<i32> = self.open.keys().copied().collect();
        ids.sort_unstable();
        let mut done = Ok(());
        let mut noted = Vec::new();
        let mut names = Vec::new();
        for id in &ids {
            let Some(used) = self.open.get_mut(id) else {
                continue;
            };
            let changed = used.transaction.has_changed();
            if done.is_err() {
                used.transaction.rollback(&used.database);
                continue;
            }
            match used.transaction.commit_unsynced(&used.database, said) {
                Ok(commit) => {
                    noted.push((*id, commit));
                    if changed {
                        names.push(used.database.shared.record.name.clone());
                    }
                }
                Err(error) => done = Err((used.database.shared.record.name.clone(), error)),
            }
        }
        let mut on_disk = Ok(());
        for (id, commit) in noted {
            if let Some(used) = self.open.get(&id) {
                on_disk = on_disk.and(used.database.wait_for_disk(commit));
            }
        }
        match done {
            Ok(()) => on_disk,
            Err((_, error)) if names.is_empty() => Err(error),
            Err((name, error)) => Err(torn(&names, &name, &error)),
        }
    }

    /// Undoes what `undo` does in every database; table variables stay as they are.
    ///
    /// # Errors
    /// What SQLite says.
    pub(super) fn roll_back(&mut self, undo: impl Fn(&mut Used) -> Result<(), PlanError>) -> Result<(), PlanError> {
        // A rollback always succeeds: what can't be kept of a table variable is lost with it.
        let kept = self.keep_variables().unwrap_or_default();
        for used in self.open.values_mut() {
            let was_writing = used.transaction.writes();
            undo(used)?;
            if was_writing {
                used.database.reload_temporary()?;
                self.temporary_version += 1;
            }
        }
        self.put_back(&kept)
    }

    /// Tells the client once that its transaction writes to a second database.
    pub(super) fn warn_of_several(&mut self, execution: &mut ExecutionContext<'_>) -> Result<(), Failure> {
        let mut names: Vec<&str> = Vec::new();
        for used in self.open.values() {
            if used.transaction.is_open() && used.transaction.has_changed() {
                names.push(&used.database.shared.record.name);
            }
        }
        if names.len() != 2 || self.is_warned {
            return Ok(());
        }
        names.sort_unstable();
        let text = format!(
            "Warning: the transaction changes the databases '{}'. They are committed one after the other, not as one.",
            names.join("' and '")
        );
        self.is_warned = true;
        Ok(execution.receiver.message(&Message {
            number: 50_825,
            severity: 10,
            state: 1,
            line: 0,
            procedure: "",
            text: &text,
            to_log: false,
        })?)
    }
}

/// 50824: a part of a transaction is committed.
fn torn(committed: &[String], name: &str, error: &PlanError) -> PlanError {
    let text = format!(
        "The transaction is committed in '{}' and rolled back in '{name}' and all databases behind it: {}",
        committed.join("', '"),
        error.text()
    );
    PlanError::new(50_824, Ends::Transaction, text)
}
