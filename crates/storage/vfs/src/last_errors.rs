//! Why files were refused, for `selenite_last_error()`: SQLite has but a number for it.
//!
//! - kept-by-file: errors are kept by file: an older one of another file is never taken for a
//!   file's own.
//! - cleared-on-open: why a file could not be opened is forgotten when it is opened.

use std::collections::VecDeque;

use crate::error::VfsError;

/// What a file was last refused for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LastError {
    /// The file's path, as SQLite has it.
    pub path: String,
    /// In words, with the path before them.
    pub message: String,
    /// Whether a key is to blame: there is none, or not the right one. SQLite has the same code for
    /// it as for an unencrypted file.
    pub is_of_key: bool,
    number: u64,
    is_of_opening: bool,
}

/// Those of all files of one copy of SQLite, the latest last.
#[derive(Default)]
pub struct LastErrors {
    errors: VecDeque<LastError>,
    count: u64,
}

/// One of the files that a connection has open.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OpenFile {
    /// Its path, as SQLite has it.
    pub path: String,
    /// What [`LastErrors::opened`] answered.
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

    /// A file was opened. Answers a number that later errors are above.
    pub fn opened(&mut self, path: &str) -> u64 {
        self.errors.retain(|known| known.path != path || !known.is_of_opening);
        self.count
    }

    /// That of one file.
    pub fn of(&self, path: &str) -> Option<&LastError> {
        self.errors.iter().find(|known| known.path == path)
    }

    /// The latest that a connection may mean: of its files, or of one that could not be opened
    /// since its main database was. Of a connection without a file of ours: the latest of all.
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

/// Files whose errors are kept: more are not looked into by hand.
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
    fn what_kept_a_file_from_being_opened_is_forgotten_when_it_is() {
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
