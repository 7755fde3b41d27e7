//! The keys that a session has opened.
//!
//! - `of-the-session`: they are the session's alone, in every security context, until they are closed
//!   or the session ends or is reset.
//! - `wiped`: their bytes are wiped when they are closed.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use selenite_compiler::KeySecret;

/// An open symmetric key.
#[derive(Clone)]
pub struct OpenKey {
    /// The database that it is of.
    pub database_id: i32,
    /// Its GUID.
    pub guid: [u8; 16],
    /// When it was opened: seconds since 1970-01-01 UTC.
    pub opened: i64,
    secret: KeySecret,
}

/// All open keys of a session.
#[derive(Default)]
pub struct OpenKeys(Mutex<Open>);

#[derive(Default)]
struct Open {
    symmetric: Vec<OpenKey>,
    /// The master keys of databases, with their GUIDs.
    masters: HashMap<i32, ([u8; 16], KeySecret)>,
}

impl OpenKeys {
    fn with<R>(&self, run: impl FnOnce(&mut Open) -> R) -> R {
        run(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Opens a symmetric key; nothing changes if it is open.
    pub fn open(&self, (database_id, guid): (i32, [u8; 16]), secret: KeySecret, now: i64) {
        self.with(|open| {
            if !open.symmetric.iter().any(|key| key.is(database_id, &guid)) {
                open.symmetric.push(OpenKey {
                    database_id,
                    guid,
                    opened: now,
                    secret,
                });
            }
        });
    }

    /// The bytes of a symmetric key, if it is open.
    pub fn secret(&self, database_id: i32, guid: &[u8; 16]) -> Option<KeySecret> {
        self.with(|open| {
            let found = open.symmetric.iter().find(|key| key.is(database_id, guid))?;
            Some(KeySecret::clone(&found.secret))
        })
    }

    /// Closes a symmetric key. Returns whether it was open.
    pub fn close(&self, database_id: i32, guid: &[u8; 16]) -> bool {
        self.with(|open| {
            let before = open.symmetric.len();
            open.symmetric.retain(|key| !key.is(database_id, guid));
            open.symmetric.len() < before
        })
    }

    /// Closes the symmetric keys of all databases.
    pub fn close_all(&self) {
        self.with(|open| open.symmetric.clear());
    }

    /// The open symmetric keys, in the order in which they were opened.
    pub fn all(&self) -> Vec<OpenKey> {
        self.with(|open| open.symmetric.clone())
    }

    /// Opens the master key of a database.
    pub fn open_master(&self, database_id: i32, guid: [u8; 16], secret: KeySecret) {
        self.with(|open| drop(open.masters.insert(database_id, (guid, secret))));
    }

    /// The master key of a database, if that of the GUID is open.
    pub fn master(&self, database_id: i32, guid: &[u8; 16]) -> Option<KeySecret> {
        self.with(|open| {
            let (known, secret) = open.masters.get(&database_id)?;
            (known == guid).then(|| KeySecret::clone(secret))
        })
    }

    /// Closes the master key of a database.
    pub fn close_master(&self, database_id: i32) {
        self.with(|open| drop(open.masters.remove(&database_id)));
    }

    /// The session is reset.
    pub fn clear(&self) {
        self.with(|open| *open = Open::default());
    }
}

impl OpenKey {
    fn is(&self, database_id: i32, guid: &[u8; 16]) -> bool {
        self.database_id == database_id && self.guid == *guid
    }
}
