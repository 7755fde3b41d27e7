//! Converts SQLite's errors to [`EngineError`].

use std::path::Path;

use selenite_keyring::shell_word;

use crate::EngineError;
use crate::error::{Class, NO_DATABASE, ONLY_NONE, only_none_advice};

/// The [`EngineError`] for an error of SQLite about the database at `path`.
///
/// SQLite passes on only an error code of the VFS; the message is in `selenite_last_error()`.
pub fn translate(error: rusqlite::Error, path: &Path) -> EngineError {
    translate_either(error, path, None)
}

/// The same for a statement that reads one database and writes another.
pub fn translate_either(error: rusqlite::Error, path: &Path, other: Option<&Path>) -> EngineError {
    let code = error.sqlite_error().map_or(0, |failure| failure.extended_code);
    let message = error.to_string();
    match code & 0xff {
        BUSY | LOCKED => {
            return EngineError::Busy {
                path: path.to_owned(),
                what: "another connection has locked it",
            };
        }
        INTERRUPT => return EngineError::Interrupted,
        FULL => {
            return EngineError::NoRoom {
                path: other.unwrap_or(path).to_owned(),
                needed: 0,
                next: String::new(),
            };
        }
        _ => {}
    }
    let from_vfs = is_from_vfs(code)
        .then(|| last_error(path).or_else(|| last_error(other?)))
        .flatten();
    let is_of_key = from_vfs.as_ref().is_some_and(|(_, is_of_key)| *is_of_key);
    let from_vfs = from_vfs.map(|(text, _)| text);
    // SQLite has the same code for an unencrypted file and for a key that does not open it.
    let class = if is_of_key { Class::Key } else { class_of(code) };
    let (what, next) = match (from_vfs, class) {
        (Some(text), _) => split(&text),
        (None, Class::Data) => (message, "restore the file from a backup".to_owned()),
        (None, Class::Io) => (message, "check the path, its permissions and the free space".to_owned()),
        (None, Class::NotEncrypted) => (message, "check that this is the file you meant".to_owned()),
        (None, Class::Other | Class::Usage | Class::Key | Class::Busy | Class::Interrupted) => (message, String::new()),
    };
    let next = match class {
        // The VFS gives advice on URIs, which the callers of operations do not write.
        Class::NotEncrypted if what.contains(NO_DATABASE) => "check that this is the file you meant".to_owned(),
        Class::NotEncrypted if what.contains(ONLY_NONE) => only_none_advice(path),
        Class::NotEncrypted => format!("encrypt it: selenite encrypt {}", shell_word(path)),
        Class::Data if next.is_empty() => {
            "restore it from a backup, and find out who could write to the file".to_owned()
        }
        _ if code == PERM => "add --allow-deprecated, and change the suite soon".to_owned(),
        Class::Other | Class::Usage | Class::Key | Class::Data | Class::Io | Class::Busy | Class::Interrupted => next,
    };
    EngineError::Sqlite {
        class,
        what: format!("{}: {what}", path.display()),
        next,
    }
}

fn class_of(code: i32) -> Class {
    match code {
        AUTH_USER | IOERR_AUTH | IOERR_BADKEY => return Class::Key,
        IOERR_DATA | IOERR_VNODE => return Class::Data,
        PERM => return Class::Usage,
        _ => {}
    }
    match code & 0xff {
        NOTADB => Class::NotEncrypted,
        CORRUPT => Class::Data,
        IOERR | CANTOPEN | READONLY | NOMEM => Class::Io,
        _ => Class::Other,
    }
}

/// Whether the code may be from the VFS (`VfsError::code`).
fn is_from_vfs(code: i32) -> bool {
    matches!(
        code,
        AUTH_USER
            | IOERR_AUTH
            | IOERR_BADKEY
            | IOERR_DATA
            | IOERR_VNODE
            | PERM
            | NOTADB
            | CORRUPT
            | CANTOPEN
            | MISMATCH
    )
}

/// The last error of the VFS for this file, without the file's name, and whether a key was the
/// cause.
fn last_error(path: &Path) -> Option<(String, bool)> {
    let error = selenite_vfs::selenite::last_error_at(path)?;
    let prefix = format!("selenite: {}: ", error.path);
    Some((error.message.strip_prefix(&prefix)?.to_owned(), error.is_of_key))
}

/// The two parts of `what; next`: what happened, and what to do.
fn split(text: &str) -> (String, String) {
    match text.split_once("; ") {
        Some((what, next)) => (what.to_owned(), next.to_owned()),
        None => (text.to_owned(), String::new()),
    }
}

// <https://sqlite.org/rescode.html>
const PERM: i32 = 3;
const BUSY: i32 = 5;
const LOCKED: i32 = 6;
const NOMEM: i32 = 7;
const READONLY: i32 = 8;
const INTERRUPT: i32 = 9;
const IOERR: i32 = 10;
const CORRUPT: i32 = 11;
const FULL: i32 = 13;
const CANTOPEN: i32 = 14;
const MISMATCH: i32 = 20;
const AUTH_USER: i32 = 23 | (1 << 8);
const NOTADB: i32 = 26;
const IOERR_VNODE: i32 = IOERR | (27 << 8);
const IOERR_BADKEY: i32 = IOERR | (35 << 8);
const IOERR_AUTH: i32 = IOERR | (28 << 8);
const IOERR_DATA: i32 = IOERR | (32 << 8);
