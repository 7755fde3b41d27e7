use std::sync::mpsc::channel;

use rusqlite::Connection;

use crate::engine::{Status, check_absent};
use crate::protocol::{Dataset, Hello, Share, Workload};
use crate::stock::{Stock, spec};
use crate::work::{Block, run_closed};

use super::*;

/// A test engine that encrypts nothing: the key of a file is the `application_id` in its header.
/// `change` is the SQL that a change of key runs.
struct TestEngine {
    change: &'static str,
    takes_key: bool,
    is_encrypted: bool,
}

/// Changes every page.
const CHANGE_EVERY_PAGE: &str = "PRAGMA journal_mode = delete; PRAGMA page_size = 8192; VACUUM";

const HONEST: TestEngine = TestEngine {
    change: CHANGE_EVERY_PAGE,
    takes_key: true,
    is_encrypted: true,
};

fn id(key_file: &Path) -> i32 {
    let key = fs::read(key_file).unwrap();
    i32::from_be_bytes([0, key[0], key[1], key[2]])
}

fn in_clear(database: &DatabaseSpec) -> DatabaseSpec {
    DatabaseSpec {
        cipher: PLAIN.to_owned(),
        ..database.clone()
    }
}

impl Engine for TestEngine {
    fn hello(&self) -> Result<Hello, WorkerError> {
        Stock.hello()
    }

    fn open(&self, database: &DatabaseSpec) -> Result<Connection, WorkerError> {
        let connection = Stock.open(&in_clear(database))?;
        let found: i32 = connection.query_row("PRAGMA application_id", [], |row| row.get(0))?;
        match database.cipher == PLAIN || found == id(&database.key_file) {
            true => Ok(connection),
            false => Err(WorkerError::Refused("another key".to_owned())),
        }
    }

    fn create(&self, database: &DatabaseSpec) -> Result<Connection, WorkerError> {
        check_absent(database)?;
        let connection = Stock.create(&in_clear(database))?;
        connection.pragma_update(None, "application_id", id(&database.key_file))?;
        Ok(connection)
    }

    fn status(&self, _: &Connection, _: &DatabaseSpec) -> Result<Status, WorkerError> {
        Ok(Status {
            encrypted: self.is_encrypted,
            ..Status::default()
        })
    }

    fn rekey(&self, database: &DatabaseSpec, key_file: &Path) -> Result<(), WorkerError> {
        let connection = self.open(database)?;
        if self.takes_key {
            connection.pragma_update(None, "application_id", id(key_file))?;
        }
        connection.execute_batch(self.change)?;
        connection.close().map_err(|(_, error)| error)?;
        Ok(())
    }
}

fn ran(engine: &dyn Engine, cipher: &str) -> (tempfile::TempDir, Digest, Result<Sample, WorkerError>) {
    let folder = tempfile::tempdir().unwrap();
    let database = DatabaseSpec {
        cipher: cipher.to_owned(),
        key_file: folder.path().join("key"),
        ..spec(&folder.path().join("a.db"))
    };
    fs::write(&database.key_file, [7; 32]).unwrap();
    let rows = Dataset::Statements { rows: 400, indexes: 0 };
    let loaded = crate::dataset::load(engine, &database, &rows, 5).unwrap();
    let before = fs::read(&database.path).unwrap();
    let (_sender, controls) = channel();
    let block = Block {
        seed: 5,
        process: Share { index: 0, count: 1 },
        start_at_ns: 0,
        controls: &controls,
    };
    let sample = run_closed(engine, &database, &Workload::Rekey, &block);
    assert!(before == fs::read(&database.path).unwrap(), "the twin was changed");
    let mut left: Vec<_> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    left.sort();
    assert_eq!(left, ["a.db", "key"]);
    let digest = Digest {
        digest: loaded.digest,
        rows: loaded.rows,
    };
    (folder, digest, sample)
}

#[test]
fn a_copy_gets_the_key_and_the_twin_keeps_its_own() {
    let (_folder, digest, sample) = ran(&HONEST, "toy");
    let sample = sample.unwrap();
    assert_eq!(sample.answer, format!("{} rows {}", digest.rows, digest.digest));
    assert_eq!(sample.operations, 1);
}

#[test]
fn in_clear_the_bytes_of_the_file_are_moved_and_nothing_else() {
    let (folder, digest, sample) = ran(&HONEST, PLAIN);
    let sample = sample.unwrap();
    assert_eq!(sample.answer, format!("{} rows {}", digest.rows, digest.digest));
    let size = folder.path().join("a.db").metadata().unwrap().len();
    for moved in [sample.read_chars, sample.write_chars] {
        // Other tests run in this process.
        assert!(moved >= size, "{moved} of {size}");
    }
}

#[test]
fn a_key_change_that_changes_nothing_is_detected() {
    for (engine, part) in [
        (
            TestEngine {
                takes_key: false,
                ..HONEST
            },
            "the old key still opens it",
        ),
        (TestEngine { change: "", ..HONEST }, "as they were"),
        (
            TestEngine {
                change: "DELETE FROM testtable WHERE rowid = 5; PRAGMA journal_mode = delete; PRAGMA page_size = 8192; VACUUM",
                ..HONEST
            },
            "other rows",
        ),
        (
            TestEngine {
                change: "PRAGMA application_id = 3; PRAGMA journal_mode = delete; PRAGMA page_size = 8192; VACUUM",
                ..HONEST
            },
            "another key",
        ),
        (
            TestEngine {
                is_encrypted: false,
                ..HONEST
            },
            "not encrypted",
        ),
    ] {
        let (_folder, _, sample) = ran(&engine, "toy");
        let error = sample.unwrap_err().to_string();
        assert!(error.contains(part), "{part}: {error}");
    }
}

#[test]
fn an_engine_without_rekey_refuses() {
    struct Fixed;
    impl Engine for Fixed {
        fn hello(&self) -> Result<Hello, WorkerError> {
            Stock.hello()
        }
        fn open(&self, database: &DatabaseSpec) -> Result<Connection, WorkerError> {
            HONEST.open(database)
        }
        fn create(&self, database: &DatabaseSpec) -> Result<Connection, WorkerError> {
            HONEST.create(database)
        }
        fn status(&self, connection: &Connection, database: &DatabaseSpec) -> Result<Status, WorkerError> {
            HONEST.status(connection, database)
        }
    }
    let (_folder, _, sample) = ran(&Fixed, "toy");
    assert!(matches!(sample, Err(WorkerError::Refused(_))), "{sample:?}");
}
