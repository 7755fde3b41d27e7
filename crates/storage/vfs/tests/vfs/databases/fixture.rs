//! A folder with a key and encrypted databases, opened with the linked SQLite.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Once;

use rusqlite::{Connection, OpenFlags};
use tempfile::TempDir;

/// A folder that is deleted at the end of the test.
pub struct Fixture {
    folder: TempDir,
}

impl Fixture {
    pub fn new() -> Self {
        install();
        let fixture = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        fixture.write_key("raw.key", 7);
        fixture
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write_key(&self, name: &str, byte: u8) {
        fs::write(self.path(name), [byte; 32]).unwrap();
    }

    /// Opens `name` with raw.key; `parameters` are additional URI parameters, each preceded by an
    /// ampersand.
    pub fn open(&self, name: &str, parameters: &str) -> rusqlite::Result<Connection> {
        self.open_as(name, "raw.key", parameters)
    }

    pub fn open_as(&self, name: &str, key: &str, parameters: &str) -> rusqlite::Result<Connection> {
        let key = self.path(key);
        let uri = format!(
            "file:{}?vfs=selenite&selenite_identity=raw:{}{parameters}",
            self.path(name).display(),
            key.display()
        );
        Connection::open_with_flags(uri, flags())
    }

    /// A database of some hundred rows, in a few dozen pages.
    pub fn filled(&self, name: &str, parameters: &str) -> PathBuf {
        let connection = self.open(name, parameters).unwrap();
        fill(&connection);
        connection.close().unwrap();
        self.path(name)
    }

    /// The reason for the last refusal of a file.
    pub fn last_error() -> String {
        let connection = Connection::open_in_memory().unwrap();
        connection
            .query_row("SELECT ifnull(selenite_last_error(), '')", [], |row| row.get(0))
            .unwrap()
    }
}

pub fn flags() -> OpenFlags {
    OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_URI
}

pub fn fill(connection: &Connection) {
    connection
        .execute_batch(
            "CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT, body BLOB);
             CREATE INDEX by_name ON t(name);
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
             INSERT INTO t SELECT i, printf('name %06d', i * 7919 % 1000), zeroblob(200) FROM n;",
        )
        .unwrap();
}

pub fn check(connection: &Connection) {
    let verdict: String = connection
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(verdict, "ok");
    let count: i64 = connection
        .query_row("SELECT count(*) FROM t", [], |row| row.get(0))
        .unwrap();
    assert_eq!(count, 300);
}

/// SQLite's extended result code of a failed call.
pub fn code<T>(result: rusqlite::Result<T>) -> i32 {
    match result {
        Err(rusqlite::Error::SqliteFailure(error, _)) => error.extended_code,
        Err(other) => panic!("not an error of SQLite's: {other}"),
        Ok(_) => 0,
    }
}

/// Applies `change` to a file's bytes.
pub fn edit(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(path).unwrap();
    change(&mut bytes);
    fs::write(path, bytes).unwrap();
}

fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        selenite_vfs::ffi::install_linked(selenite_vfs::installer(), rusqlite::ffi::sqlite3_auto_extension).unwrap();
        drop(Connection::open_in_memory().unwrap());
    });
}
