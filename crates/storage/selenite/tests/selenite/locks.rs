//! While a database is converted in place no other connection gets a lock on it, and none of its
//! files is deleted by name.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use rusqlite::{Connection, ErrorCode, OpenFlags};
use selenite::{Encrypt, EngineError, Target, decrypt, encrypt};

use crate::pausing::{Pausing, Steps, watch};
use crate::support::{Fixture, query_plain};

/// Tries to read and to write at every step from the first draft to the rename; after the rename
/// it creates a WAL under the new name, as the next user would.
struct ConcurrentProcess {
    path: PathBuf,
    uri: String,
    seen: Mutex<Vec<String>>,
    refused: Mutex<u32>,
    user: Mutex<Option<Connection>>,
}

impl ConcurrentProcess {
    fn open(&self) -> Connection {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_URI;
        let connection = Connection::open_with_flags(&self.uri, flags).unwrap();
        connection.busy_timeout(std::time::Duration::ZERO).unwrap();
        connection
    }
}

impl Steps for ConcurrentProcess {
    fn step(&self, name: &str) {
        let mut seen = self.seen.lock().unwrap();
        let begun = seen.iter().any(|step| step == "create");
        let renamed = seen.iter().any(|step| step == "renamed");
        let is_repeated = seen.last().is_some_and(|step| step == name);
        seen.push(name.to_owned());
        if name == "renamed" {
            let user = Connection::open_with_flags(
                format!("file:{}?vfs=unix", self.path.display()),
                OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_URI,
            )
            .unwrap();
            // Only an unencrypted file can be used without a key.
            if user
                .execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE mine (a); INSERT INTO mine VALUES (1)")
                .is_ok()
            {
                *self.user.lock().unwrap() = Some(user);
            }
        }
        if !begun || renamed || name == "renamed" || is_repeated {
            return;
        }
        for sql in ["BEGIN IMMEDIATE", "SELECT count(*) FROM sqlite_schema"] {
            let error = self.open().execute_batch(sql).unwrap_err();
            assert_eq!(
                error.sqlite_error_code(),
                Some(ErrorCode::DatabaseBusy),
                "{sql} at {name}: {error}"
            );
            *self.refused.lock().unwrap() += 1;
        }
    }
}

fn intruder(path: &std::path::Path, uri: String) -> Arc<ConcurrentProcess> {
    Arc::new(ConcurrentProcess {
        path: path.to_owned(),
        uri,
        seen: Mutex::default(),
        refused: Mutex::default(),
        user: Mutex::default(),
    })
}

const NOTES: &str = "CREATE TABLE note (a, b);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
    INSERT INTO note SELECT i, hex(zeroblob(100)) FROM n;";

#[test]
fn no_connection_gets_a_lock_while_a_database_is_encrypted() {
    for mode in ["DELETE", "WAL", "PERSIST", "TRUNCATE"] {
        let fixture = Fixture::new();
        let path = fixture.plain("app.db", &format!("PRAGMA journal_mode = {mode}; {NOTES}"));
        let steps = intruder(&path, format!("file:{}?vfs=unix", path.display()));
        let storage = Pausing(steps.clone());
        encrypt(&storage, &path, &fixture.access(), &Encrypt::default(), &watch(&steps)).unwrap();
        assert!(*steps.refused.lock().unwrap() > 10, "{mode}");
        assert_eq!(fixture.names(), ["app.db"], "{mode}");
    }
}

/// The new database is in use before the old connection is closed: files that SQLite deletes by
/// name would be the user's.
#[test]
fn the_logs_of_a_new_user_survive_the_old_connection() {
    for mode in ["DELETE", "WAL"] {
        let fixture = Fixture::new();
        let access = fixture.access();
        let path = fixture.plain("app.db", &format!("PRAGMA journal_mode = {mode}; {NOTES}"));
        encrypt(
            &selenite::storage::Disk,
            &path,
            &access,
            &Encrypt::default(),
            &selenite::Watch::none(),
        )
        .unwrap();
        let steps = intruder(
            &path,
            format!(
                "file:{}?vfs=selenite&selenite_identity={}",
                path.display(),
                fixture.spec("key")
            ),
        );
        let storage = Pausing(steps.clone());
        decrypt(&storage, &path, &access, &Target::InPlace, &watch(&steps)).unwrap();
        assert!(steps.user.lock().unwrap().is_some(), "{mode}");
        assert!(
            fixture.names().contains(&"app.db-wal".to_owned()),
            "{mode}: {:?}",
            fixture.names()
        );
        steps.user.lock().unwrap().take();
        assert_eq!(query_plain(&path, "SELECT a FROM mine").len(), 1, "{mode}");
        assert_eq!(query_plain(&path, "SELECT a FROM note").len(), 2000, "{mode}");
    }
}

/// A connection that was idle meanwhile, with the old file still open, fails instead of writing to
/// a file without a name.
#[test]
fn a_connection_to_the_old_file_fails_at_its_next_read() {
    for mode in ["DELETE", "PERSIST"] {
        let fixture = Fixture::new();
        let path = fixture.plain("app.db", &format!("PRAGMA journal_mode = {mode}; {NOTES}"));
        let steps = Arc::new(LeaveBehind {
            path: path.clone(),
            connection: Mutex::default(),
        });
        let storage = Pausing(steps.clone());
        encrypt(&storage, &path, &fixture.access(), &Encrypt::default(), &watch(&steps)).unwrap();
        let connection = steps.connection.lock().unwrap().take().unwrap();
        let error = connection.execute_batch("INSERT INTO note VALUES (1, 2)").unwrap_err();
        assert_eq!(error.sqlite_error_code(), Some(ErrorCode::NotADatabase), "{error}");
    }
}

/// Opens the database before the lock is taken, and reads from it.
struct LeaveBehind {
    path: PathBuf,
    connection: Mutex<Option<Connection>>,
}

impl Steps for LeaveBehind {
    fn step(&self, name: &str) {
        // The last step before the lock: the file was inspected already.
        if name == "attributes" && self.connection.lock().unwrap().is_none() && has_been_inspected() {
            let connection = open_through_ours(&self.path);
            connection
                .query_row("SELECT count(*) FROM note", [], |row| row.get::<_, i64>(0))
                .unwrap();
            *self.connection.lock().unwrap() = Some(connection);
        }
        if name == "open" {
            INSPECTED.with(|inspected| inspected.set(true));
        }
    }
}

/// In one process a file has to be opened through one VFS: the other would release its locks.
fn open_through_ours(path: &std::path::Path) -> Connection {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_URI;
    Connection::open_with_flags(format!("file:{}?vfs=selenite&plain=allow", path.display()), flags).unwrap()
}

thread_local! {
    static INSPECTED: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

fn has_been_inspected() -> bool {
    INSPECTED.with(std::cell::Cell::get)
}

#[test]
fn a_reader_makes_it_busy_and_nothing_is_left() {
    for mode in ["DELETE", "WAL"] {
        let fixture = Fixture::new();
        let path = fixture.plain("app.db", &format!("PRAGMA journal_mode = {mode}; {NOTES}"));
        let before = std::fs::read(&path).unwrap();
        let steps = Arc::new(Reader {
            path: path.clone(),
            connection: Mutex::default(),
        });
        let storage = Pausing(steps.clone());
        let refused = encrypt(&storage, &path, &fixture.access(), &Encrypt::default(), &watch(&steps));
        assert!(matches!(refused, Err(EngineError::Busy { .. })), "{mode}: {refused:?}");
        steps.connection.lock().unwrap().take();
        assert_eq!(std::fs::read(&path).unwrap(), before, "{mode}");
        assert_eq!(fixture.names(), ["app.db"], "{mode}");
    }
}

/// Begins to read before the lock is taken, and continues.
struct Reader {
    path: PathBuf,
    connection: Mutex<Option<Connection>>,
}

impl Steps for Reader {
    fn step(&self, name: &str) {
        let mut connection = self.connection.lock().unwrap();
        if name == "attributes" && connection.is_none() && has_been_inspected() {
            let new = open_through_ours(&self.path);
            new.execute_batch("BEGIN; SELECT * FROM note LIMIT 1").unwrap();
            *connection = Some(new);
        }
        if name == "open" {
            INSPECTED.with(|inspected| inspected.set(true));
        }
    }
}
