//! What the calling thread was last refused: a page that is not authentic, a file that is not what it should be.
//!
//! - reason-by-thread: SQLite has only a number for it, and `selenite_last_error()` is of the whole
//!   process. SQLite calls the VFS in the thread that called SQLite, so what a thread finds here is
//!   of its own calls.

use std::cell::RefCell;

use crate::error::VfsError;
use crate::role::Role;

/// Why a file was refused, and which.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// The file's path, as SQLite has it.
    pub path: String,
    /// The page that did not open, and in which of the database's files it was met.
    pub page: Option<(Role, u32)>,
    /// In words.
    pub text: String,
}

impl Refusal {
    /// What is told of an error.
    fn of(path: &str, error: &VfsError) -> Self {
        let page = if let VfsError::Unauthentic { role, page_no } | VfsError::UnknownEpoch { role, page_no, .. } = error
        {
            Some((*role, *page_no))
        } else {
            None
        };
        Self {
            path: path.to_owned(),
            page,
            text: error.to_string(),
        }
    }
}

/// What this thread was refused since it last asked.
#[must_use]
pub fn take() -> Option<Refusal> {
    LAST.with(|last| last.borrow_mut().take())
}

/// Keeps it for [`take`].
pub(crate) fn note(path: &str, error: &VfsError) {
    LAST.with(|last| *last.borrow_mut() = Some(Refusal::of(path, error)));
}

thread_local! {
    static LAST: RefCell<Option<Refusal>> = const { RefCell::new(None) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_finds_its_own_refusal_once() {
        let page_no = 7;
        let error = VfsError::Unauthentic {
            role: Role::Main,
            page_no,
        };
        note("/a", &VfsError::BothDamaged);
        note("/b", &error);
        let other = std::thread::spawn(take);
        assert_eq!(other.join().unwrap(), None);
        let found = take().unwrap();
        assert_eq!((found.path.as_str(), found.page), ("/b", Some((Role::Main, 7))));
        assert!(found.text.contains("page 7"), "{}", found.text);
        assert_eq!(take(), None);
    }
}
