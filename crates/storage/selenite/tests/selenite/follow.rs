//! Databases that are followed while other processes write, and restored from the result.
//!
//! Writers keep a ledger: each commit adds a row with the sum of all amounts so far, and
//! increments its writer's count. Every commit that was acknowledged before a turn began is
//! restored after that turn has ended, whichever process is killed then.
//!
//! `SELENITE_SOAK_MINUTES` sets the duration of the soak test; `SELENITE_SEED` repeats the random
//! choices, as far as timing allows.

mod child;
mod kills;
mod places;
mod quiet;
mod rest;
mod turns;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use selenite::backup::Backup;
use selenite::follow::{Follow, Status, follow};
use selenite::restore::{Restore, Restored, Which, restore};
use selenite::storage::Disk;
use selenite::{Access, Database, EngineError, Layout, Watch};
use selenite_backup::{Destination, Folder};
use selenite_testing::KeyFile;

pub(crate) struct Fixture {
    folder: tempfile::TempDir,
    key: KeyFile,
    restored: AtomicU32,
}

impl Fixture {
    /// With an empty ledger in WAL mode.
    pub(crate) fn new() -> Self {
        selenite::install().unwrap();
        let fixture = Self {
            folder: tempfile::tempdir().unwrap(),
            key: KeyFile::new(1),
            restored: AtomicU32::new(0),
        };
        let database = Database::create(&Disk, &fixture.path(), &fixture.access(), &Layout::default()).unwrap();
        let sql = "PRAGMA journal_mode = WAL;
             CREATE TABLE ledger(id INTEGER PRIMARY KEY, writer INTEGER, number INTEGER, amount INTEGER, total INTEGER, body BLOB);
             CREATE TABLE counted(writer INTEGER PRIMARY KEY, number INTEGER);
             INSERT INTO ledger VALUES (0, -1, 0, 0, 0, NULL);";
        database.run(sql, &mut quiet::Nothing).unwrap();
        fixture
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("app.db")
    }

    pub(crate) fn backups(&self) -> PathBuf {
        self.folder.path().join("backups")
    }

    pub(crate) fn spec(&self) -> String {
        self.key.spec()
    }

    pub(crate) fn access(&self) -> Access {
        access(&self.key.spec())
    }

    pub(crate) fn open(&self) -> Database {
        Database::open(&Disk, &self.path(), &self.access()).unwrap()
    }

    /// One turn that sends everything.
    pub(crate) fn once(&self) -> Result<Status, EngineError> {
        follow_to(
            &self.path(),
            &self.backups(),
            &self.spec(),
            true,
            &Watch::none(),
            &mut |_| {},
        )
    }

    pub(crate) fn restore(&self, which: Which) -> Result<(PathBuf, Restored), EngineError> {
        let number = self.restored.fetch_add(1, Ordering::Relaxed);
        let to = self.folder.path().join(format!("restored-{}.db", number));
        let how = Restore {
            which,
            ..Restore::new(&to)
        };
        let restored = restore(
            &Disk,
            &Folder::new(&self.backups()),
            &self.access(),
            &how,
            &Watch::none(),
        )?;
        Ok((to, restored))
    }

    /// Checks the ledger in a file; returns the last number of each writer.
    pub(crate) fn check(&self, path: &Path) -> Vec<u64> {
        let database = Database::open(&Disk, path, &self.access()).unwrap();
        let ask = |sql: &str| {
            let mut rows = quiet::Texts::default();
            database.run(sql, &mut rows).unwrap();
            rows.0
        };
        assert_eq!(ask("PRAGMA integrity_check"), ["ok"]);
        let wrong = "SELECT CAST(count(*) AS TEXT) FROM ledger AS one JOIN ledger AS two ON two.id = one.id + 1
             WHERE two.total != one.total + two.amount";
        assert_eq!(ask(wrong), ["0"]);
        let gaps = "SELECT CAST(max(id) + 1 - min(id) - count(*) AS TEXT) FROM ledger";
        assert_eq!(ask(gaps), ["0"]);
        // Each writer's rows are numbered without a gap, up to its count.
        let counts = "SELECT CAST(count(*) AS TEXT) FROM counted JOIN
                 (SELECT writer, min(number) AS first, max(number) AS last, count(*) AS rows FROM ledger GROUP BY writer) USING (writer)
             WHERE number != last OR last + 1 - first != rows";
        assert_eq!(ask(counts), ["0"]);
        let lost = "SELECT CAST(count(*) AS TEXT) FROM ledger WHERE writer >= 0 AND writer NOT IN (SELECT writer FROM counted)";
        assert_eq!(ask(lost), ["0"]);
        // Each row, including deleted ones, is counted once.
        let sum = "SELECT CAST((SELECT ifnull(sum(number), 0) FROM counted) - max(id) AS TEXT) FROM ledger";
        assert_eq!(ask(sum), ["0"]);
        // 0 for a writer without a commit.
        let numbers = ask("WITH RECURSIVE writers(writer) AS
                 (SELECT 0 UNION ALL SELECT writer + 1 FROM writers WHERE writer < (SELECT max(writer) FROM counted))
             SELECT CAST(ifnull(number, 0) AS TEXT) FROM writers LEFT JOIN counted USING (writer) ORDER BY writer");
        numbers.iter().map(|number| number.parse().unwrap()).collect()
    }
}

pub(crate) fn access(spec: &str) -> Access {
    Access {
        identity: Some(spec.parse().unwrap()),
        busy_wait: Duration::from_secs(60),
        ..Access::default()
    }
}

/// Adds a row to the ledger, and removes an old one, so that its size is bounded.
pub(crate) fn add(database: &Database, writer: u64, bytes: u32) -> Result<(), EngineError> {
    database.run(
        &format!(
            "BEGIN IMMEDIATE;
             INSERT INTO counted VALUES ({writer}, 1) ON CONFLICT DO UPDATE SET number = number + 1;
             INSERT INTO ledger SELECT id + 1, {writer}, (SELECT number FROM counted WHERE writer = {writer}), id % 7 + 1,
                     total + id % 7 + 1, randomblob({bytes})
                 FROM ledger ORDER BY id DESC LIMIT 1;
             DELETE FROM ledger WHERE id <= (SELECT max(id) FROM ledger) - {LEDGER_ROWS_MAX};
             COMMIT"
        ),
        &mut quiet::Nothing,
    )
}

pub(crate) fn follow_to(
    path: &Path,
    backups: &Path,
    spec: &str,
    once: bool,
    watch: &Watch,
    tell: &mut dyn FnMut(&Status),
) -> Result<Status, EngineError> {
    let destination: Arc<dyn Destination> = Arc::new(Folder::new(backups));
    follow_with((path, &destination), spec, once, watch, tell)
}

pub(crate) fn follow_with(
    (path, destination): (&Path, &Arc<dyn Destination>),
    spec: &str,
    once: bool,
    watch: &Watch,
    tell: &mut dyn FnMut(&Status),
) -> Result<Status, EngineError> {
    let how = Follow {
        anchoring: None,
        lag: Duration::from_millis(100),
        renew_every: Duration::from_secs(86400),
        log_size_max: 1 << 30,
        once,
        backup: Backup::default(),
    };
    follow(&Disk, path, &access(spec), how, destination, watch, tell)
}

#[test]
fn child() {
    child::play();
}

/// The maximum number of rows in the ledger.
const LEDGER_ROWS_MAX: u32 = 20_000;
