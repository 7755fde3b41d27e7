//! Staged changes of keys, passed from Rust to the database file.
//!
//! A change needs SQLite's write lock, which only SQL can take; but keys must not appear in SQL
//! text or parameters. So the change is staged here, and `SELECT selenite_apply(token)` inside
//! BEGIN IMMEDIATE carries it out.

use selenite_keyring::Unlocked;

use crate::error::VfsError;
use crate::staged::Staged;

/// Makes a new superblock from the current one. The `bool` says whether the change removes access.
pub type Change = Box<dyn FnOnce(&Unlocked) -> Result<(Unlocked, bool), VfsError> + Send>;

static STAGED: Staged<Change> = Staged::new();

/// Keeps a change for `selenite_apply(token)`, once.
#[must_use]
pub fn stage(change: Change) -> i64 {
    STAGED.stage(change)
}

/// Drops a staged change that was not carried out, so that it cannot be applied later, to another
/// database.
pub fn withdraw(token: i64) {
    drop(take(token));
}

/// Takes a staged change.
pub(crate) fn take(token: i64) -> Option<Change> {
    STAGED.take(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal() -> Change {
        Box::new(|_| Err(VfsError::Setting("never made".to_owned())))
    }

    #[test]
    fn a_change_that_was_withdrawn_is_not_made() {
        let (first, second) = (stage(refusal()), stage(refusal()));
        withdraw(second);
        assert!(take(second).is_none());
        assert!(take(first).is_some());
    }
}
