//! The last refusal on the calling thread: a page that is not authentic, or a file that is not what
//! it should be.
//!
//! - reason-by-thread: SQLite reports only a code, and `selenite_last_error()` covers the whole
//!   process. SQLite calls the VFS in the thread that called SQLite, so a thread finds only errors
//!   of its own calls here.

use std::cell::RefCell;

use crate::error::VfsError;
use crate::role::Role;

/// Why a file was refused, and which.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// The file's path in SQLite's form.
    pub path: String,
    /// The page that could not be opened, and the role of the file that contains it.
    pub page: Option<(Role, u32)>,
    /// The message.
    pub text: String,
}

impl Refusal {
    /// Converts an error.
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

/// Removes and returns the last refusal on this thread.
#[must_use]
pub fn take() -> Option<Refusal> {
    LAST.with(|last| last.borrow_mut().take())
}

/// Keeps an error for [`take`].
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
