//! Changes of keys on their way from Rust to the database file.
//!
//! A change needs SQLite's write lock, which only SQL takes; but keys have no place in SQL text or parameters. So the
//! change is staged here, and `SELECT selenite_apply(token)` inside BEGIN IMMEDIATE carries it out.

use selenite_keyring::Unlocked;

use crate::error::VfsError;
use crate::staged::Staged;

/// Makes a new superblock of the present one, and says whether it takes a right away.
pub type Change = Box<dyn FnOnce(&Unlocked) -> Result<(Unlocked, bool), VfsError> + Send>;

static STAGED: Staged<Change> = Staged::new();

/// Keeps a change for `selenite_apply(token)`, once.
#[must_use]
pub fn stage(change: Change) -> i64 {
    STAGED.stage(change)
}

/// Drops a change that was staged, if it was not carried out: no one else is to do it later, to another database.
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
