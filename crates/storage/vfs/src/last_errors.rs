//! Why files were refused, for `selenite_last_error()`: SQLite reports only a code.
//!
//! - kept-by-file: errors are kept by file: an older error of another file is never reported for a
//!   file.
//! - cleared-on-open: the error of opening a file is removed when the file is opened, or when the
//!   VFS below cannot open it: that failure has another reason.

use std::collections::VecDeque;

use crate::error::VfsError;

/// The last error of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LastError {
    /// The file's path in SQLite's form.
    pub path: String,
    /// The message, with the path in front.
    pub message: String,
    /// Whether the cause is a missing or wrong key. SQLite's code for it is the same as for an
    /// unencrypted file.
    pub is_of_key: bool,
    number: u64,
    is_of_opening: bool,
}

/// The last errors of all files of one copy of SQLite, the latest last.
#[derive(Default)]
pub struct LastErrors {
    errors: VecDeque<LastError>,
    count: u64,
}

/// One of the files that a connection has open.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OpenFile {
    /// The file's path in SQLite's form.
    pub path: String,
    /// The result of [`LastErrors::opened`].
    pub since: u64,
}

impl LastErrors {
    /// Keeps an error.
    pub fn keep(&mut self, path: &str, error: &VfsError, is_of_opening: bool) {
        self.put(path, &error.to_string(), error.is_of_key(), is_of_opening);
    }

    /// Keeps a text.
    pub fn keep_text(&mut self, path: &str, text: &str, is_of_opening: bool) {
        self.put(path, text, false, is_of_opening);
    }

    fn put(&mut self, path: &str, text: &str, is_of_key: bool, is_of_opening: bool) {
        self.errors.retain(|known| known.path != path);
        if self.errors.len() >= COUNT_MAX {
            self.errors.pop_front();
        }
        self.count += 1;
        self.errors.push_back(LastError {
            path: path.to_owned(),
            message: format!("selenite: {path}: {text}"),
            is_of_key,
            number: self.count,
            is_of_opening,
        });
    }

    /// Notes that a file was opened. Returns a number below those of all later errors.
    pub fn opened(&mut self, path: &str) -> u64 {
        self.forget_opening(path);
        self.count
    }

    /// Removes the error of opening a file.
    pub fn forget_opening(&mut self, path: &str) {
        self.errors.retain(|known| known.path != path || !known.is_of_opening);
    }

    /// The last error of one file.
    pub fn of(&self, path: &str) -> Option<&LastError> {
        self.errors.iter().find(|known| known.path == path)
    }

    /// The latest error relevant to a connection: of its files, or of a file that could not be
    /// opened since its main database was. For a connection without a file of this VFS: the latest
    /// of all.
    pub fn of_connection(&self, main: Option<&OpenFile>, attached: &[String]) -> Option<&LastError> {
        let Some(main) = main else {
            return self.errors.back();
        };
        let is_meant = |known: &&LastError| {
            known.path == main.path
                || attached.contains(&known.path)
                || (known.is_of_opening && known.number > main.since)
        };
        self.errors.iter().rev().find(is_meant)
    }
}

/// The maximal number of files whose errors are kept: more are not inspected by hand.
const COUNT_MAX: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    fn message(error: Option<&LastError>) -> Option<&str> {
        error.map(|error| error.message.as_str())
    }

    #[test]
    fn an_error_is_of_its_file() {
        let mut errors = LastErrors::default();
        errors.keep("/a", &VfsError::BothDamaged, true);
        let main = OpenFile {
            path: "/b".to_owned(),
            since: errors.opened("/b"),
        };
        assert_eq!(
            errors.of_connection(Some(&main), &[]),
            None,
            "an older one of another file"
        );
        assert!(
            message(errors.of_connection(None, &[]))
                .unwrap()
                .starts_with("selenite: /a: ")
        );
        errors.keep("/c", &VfsError::Retired, false);
        assert_eq!(errors.of_connection(Some(&main), &[]), None, "another connection's");
        assert!(errors.of_connection(Some(&main), &["/c".to_owned()]).is_some());
        errors.keep("/d", &VfsError::BothDamaged, true);
        assert_eq!(
            errors.of_connection(Some(&main), &[]).unwrap().path,
            "/d",
            "what it may have attached"
        );
        errors.keep("/b", &VfsError::Retired, false);
        assert_eq!(errors.of_connection(Some(&main), &[]).unwrap().path, "/b");
        assert_eq!(errors.of("/a").unwrap().path, "/a");
        assert_eq!(errors.of("/e"), None);
    }

    #[test]
    fn the_error_of_opening_a_file_is_removed_when_it_is_opened() {
        let mut errors = LastErrors::default();
        errors.keep("/a", &VfsError::BothDamaged, true);
        errors.opened("/a");
        assert_eq!(errors.of("/a"), None);
        errors.keep("/a", &VfsError::Retired, false);
        errors.opened("/a");
        assert!(errors.of("/a").is_some());
    }

    #[test]
    fn no_more_than_a_few_are_kept() {
        let mut errors = LastErrors::default();
        for number in 0..1000 {
            errors.keep(&format!("/{number}"), &VfsError::BothDamaged, true);
        }
        assert_eq!(errors.errors.len(), COUNT_MAX);
        assert_eq!(errors.of("/0"), None);
        assert!(errors.of("/999").is_some());
    }
}
