//! Changes of keys on their way from Rust to the database file.
//!
//! A change needs SQLite's write lock, which only SQL takes; but keys have no place in SQL text or parameters. So the
//! change is staged here, and `SELECT selenite_apply(token)` inside BEGIN IMMEDIATE carries it out.

use std::sync::{Mutex, PoisonError};

use selenite_keyring::{Unlocked, os_random};

use crate::error::VfsError;

/// Makes a new superblock of the present one, and says whether it takes a right away.
pub type Change = Box<dyn FnOnce(&Unlocked) -> Result<(Unlocked, bool), VfsError> + Send>;

static STAGED: Mutex<Vec<(i64, Change)>> = Mutex::new(Vec::new());

/// Keeps a change for `selenite_apply(token)`, once. The token is random: whoever was not given it cannot have the
/// change made to another database, by guessing or because a number came round again.
#[must_use]
pub fn stage(change: Change) -> i64 {
    let mut token = [0; 8];
    os_random(&mut token);
    let token = i64::from_le_bytes(token);
    STAGED
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push((token, change));
    token
}

/// Drops a change that was staged, if it was not carried out: nobody else is to do it later, to another database.
pub fn withdraw(token: i64) {
    drop(take(token));
}

/// Takes a staged change.
pub(crate) fn take(token: i64) -> Option<Change> {
    let mut staged = STAGED.lock().unwrap_or_else(PoisonError::into_inner);
    let index = staged.iter().position(|(known, _)| *known == token)?;
    Some(staged.remove(index).1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal() -> Change {
        Box::new(|_| Err(VfsError::Setting("never made".to_owned())))
    }

    #[test]
    fn a_token_serves_once_and_not_after_it_was_withdrawn() {
        let (first, second) = (stage(refusal()), stage(refusal()));
        assert_ne!(first, second);
        withdraw(second);
        assert!(take(second).is_none());
        assert!(take(first).is_some());
        assert!(take(first).is_none());
    }
}
