//! Processes that would be left behind (`none-is-left-behind`).

use std::time::{Duration, Instant};

use super::{PAUSE_STEP, Run};
use crate::error::Class;
use crate::lock_holders::{self, Looking, Strangers};
use crate::{EngineError, platform};

impl Run<'_> {
    fn strangers(&self, looking: Looking) -> Result<Strangers, EngineError> {
        let found = lock_holders::strangers(&self.path, looking);
        let mut found = found.ok_or_else(|| {
            EngineError::usage(
                "this system does not list the processes that have a database open (/proc/locks)",
                "do it without --online",
            )
        })?;
        if !self.was_in_rollback_mode || self.limits.ignores_unseen {
            found.unseen.clear();
        }
        Ok(found)
    }

    /// Whether a process would be left behind now. Others wait meanwhile: of a database that always was in WAL mode only
    /// the locks are looked at.
    pub fn has_strangers(&self) -> Result<bool, EngineError> {
        let looking = match self.was_in_rollback_mode {
            true => Looking::AtAll,
            false => Looking::AtLocks,
        };
        let found = self.strangers(looking)?;
        Ok(!found.known.is_empty() || !found.unseen.is_empty())
    }

    /// # Errors
    /// Names the processes that would be left behind. This process is in a transaction, or in WAL mode.
    pub fn check_strangers(&self) -> Result<(), EngineError> {
        let until = Instant::now() + REGISTRATION_WAIT;
        let mut strangers = self.strangers(Looking::AtAll)?;
        // A process that has just opened the database, or moved, is not registered yet.
        while !strangers.known.is_empty() && Instant::now() < until {
            self.watch.check()?;
            std::thread::sleep(PAUSE_STEP);
            strangers = self.strangers(Looking::AtAll)?;
        }
        if !strangers.known.is_empty() {
            return Err(self.refused(
                "open in processes that would not move",
                &strangers.known,
                "end them, or let them open it by the extension, with plain=allow and an identity, and without \
                 database_id= and commitment=, on all of their connections",
            ));
        }
        if !strangers.unseen.is_empty() {
            return Err(self.refused(
                "in rollback mode, where a process that has it open is only seen by its open files; not to be seen are \
                 those of",
                &strangers.unseen,
                "do it as root; or with --ignore-unseen if none of them uses it; or without --online",
            ));
        }
        Ok(())
    }

    fn refused(&self, what: &str, pids: &[u32], next: &str) -> EngineError {
        let named = pids
            .iter()
            .take(NAMED_MAX)
            .map(|pid| match platform::process_name(*pid) {
                Some(name) => format!("{pid} ({name})"),
                None => pid.to_string(),
            });
        let mut named: Vec<String> = named.collect();
        if pids.len() > NAMED_MAX {
            named.push(format!("{} more", pids.len() - NAMED_MAX));
        }
        EngineError::Sqlite {
            class: Class::Busy,
            what: format!("{}: {what}: {}", self.path.display(), named.join(", ")),
            next: next.to_owned(),
        }
    }
}

/// How long a process may take between its first lock and being registered.
const REGISTRATION_WAIT: Duration = Duration::from_millis(500);
/// How many processes a message names.
const NAMED_MAX: usize = 10;
