//! Stock SQLite without encryption: the simplest engine, and the reference for other workers.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use crate::engine::{Engine, Status, check_absent, hello};
use crate::protocol::{DatabaseSpec, Hello, PLAIN};
use crate::{WorkerError, layout};

/// The SQLite that is linked in.
#[derive(Clone, Copy, Debug)]
pub struct Stock;

impl Engine for Stock {
    fn hello(&self) -> Result<Hello, WorkerError> {
        hello("stock", format!("SQLite {}", rusqlite::version()), Vec::new())
    }

    fn open(&self, database: &DatabaseSpec) -> Result<Connection, WorkerError> {
        let connection = self.connect(database)?;
        layout::apply(&connection, database)?;
        Ok(connection)
    }

    fn connect(&self, database: &DatabaseSpec) -> Result<Connection, WorkerError> {
        check_plain(database)?;
        Ok(Connection::open_with_flags(&database.path, FLAGS)?)
    }

    fn create(&self, database: &DatabaseSpec) -> Result<Connection, WorkerError> {
        check_plain(database)?;
        check_absent(database)?;
        let connection = Connection::open_with_flags(&database.path, FLAGS | OpenFlags::SQLITE_OPEN_CREATE)?;
        layout::set_page_size(&connection, database)?;
        layout::apply(&connection, database)?;
        Ok(connection)
    }

    fn status(&self, _: &Connection, _: &DatabaseSpec) -> Result<Status, WorkerError> {
        Ok(Status::default())
    }
}

/// How an unencrypted database is opened, with a layout for tests.
#[must_use]
pub fn spec(path: &Path) -> DatabaseSpec {
    DatabaseSpec {
        path: path.to_owned(),
        cipher: PLAIN.to_owned(),
        key_file: Path::new("").to_owned(),
        settings: std::collections::BTreeMap::new(),
        page_size: 4096,
        cache_kib: 2048,
        journal_mode: "wal".to_owned(),
        synchronous: "normal".to_owned(),
    }
}

fn check_plain(database: &DatabaseSpec) -> Result<(), WorkerError> {
    if database.cipher == PLAIN {
        return Ok(());
    }
    Err(WorkerError::Refused(format!(
        "there is no cipher {}: this is SQLite without encryption",
        database.cipher
    )))
}

/// Does not create a missing file; used by one thread at a time.
const FLAGS: OpenFlags = OpenFlags::SQLITE_OPEN_READ_WRITE.union(OpenFlags::SQLITE_OPEN_NO_MUTEX);
