//! An encrypted and an unencrypted database execute the same random SQL: the results must be equal.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError};
use rusqlite::Connection;
use rusqlite::types::Value;
use selenite_testing::{Disk, KeyFile, Opening};

/// One statement, or several that belong together.
#[derive(Clone, Debug)]
enum Step {
    Insert { id: u16, size: u16 },
    InsertMany { first: u16, count: u8, size: u16 },
    Update { id: u16, size: u16 },
    UpdateAll { add: i8 },
    Delete { below: u16 },
    Begin,
    Commit,
    Rollback,
    Savepoint,
    RollbackTo,
    Release,
    CreateIndex,
    DropIndex,
    CreateTable(u8),
    DropTable(u8),
    Vacuum,
    IncrementalVacuum,
    JournalMode(&'static str),
    Checkpoint(&'static str),
    CacheSize(u8),
    AttachAndWrite { id: u16 },
    TempTable { rows: u16 },
    Sort,
    FailHalfWay { id: u16 },
    IntegrityCheck,
    Reopen,
}

impl Step {
    fn sql(&self, other: &Opening) -> String {
        match self {
            Self::Insert { id, size } => {
                format!("INSERT OR REPLACE INTO t VALUES({id}, {size}, {})", body(*id, *size))
            }
            Self::InsertMany { first, count, size } => {
                let last = u32::from(*first) + u32::from(*count);
                format!(
                    "WITH RECURSIVE n(i) AS (SELECT {first} UNION ALL SELECT i + 1 FROM n WHERE i < {last})
                     INSERT OR IGNORE INTO t SELECT i, i % 7, {} FROM n",
                    body(*first, *size)
                )
            }
            Self::Update { id, size } => {
                format!(
                    "UPDATE t SET body = {}, number = number + 1 WHERE id >= {id}",
                    body(*id, *size)
                )
            }
            Self::UpdateAll { add } => format!("UPDATE t SET number = number + {add}"),
            Self::Delete { below } => format!("DELETE FROM t WHERE id < {below}"),
            Self::Begin => "BEGIN".to_owned(),
            Self::Commit => "COMMIT".to_owned(),
            Self::Rollback => "ROLLBACK".to_owned(),
            Self::Savepoint => "SAVEPOINT s".to_owned(),
            Self::RollbackTo => "ROLLBACK TO s".to_owned(),
            Self::Release => "RELEASE s".to_owned(),
            Self::CreateIndex => "CREATE INDEX by_number ON t(number, body)".to_owned(),
            Self::DropIndex => "DROP INDEX by_number".to_owned(),
            Self::CreateTable(name) => format!("CREATE TABLE more_{name} AS SELECT * FROM t"),
            Self::DropTable(name) => format!("DROP TABLE more_{name}"),
            Self::Vacuum => "VACUUM".to_owned(),
            Self::IncrementalVacuum => "PRAGMA incremental_vacuum(3)".to_owned(),
            Self::JournalMode(mode) => format!("PRAGMA journal_mode = {mode}"),
            Self::Checkpoint(kind) => format!("PRAGMA wal_checkpoint({kind})"),
            Self::CacheSize(pages) => format!("PRAGMA cache_size = {pages}"),
            Self::AttachAndWrite { id } => format!(
                "ATTACH '{}' AS other; CREATE TABLE IF NOT EXISTS other.o(id); BEGIN; INSERT INTO other.o VALUES({id});
                 UPDATE t SET number = {id} WHERE id = {id}; COMMIT; DETACH other",
                other.uri()
            ),
            Self::TempTable { rows } => format!(
                "CREATE TEMP TABLE IF NOT EXISTS x(id, body); INSERT INTO x SELECT id, body FROM t LIMIT {rows};
                 INSERT INTO x SELECT id, body || 'x' FROM x"
            ),
            Self::Sort => {
                "CREATE TEMP TABLE IF NOT EXISTS y AS SELECT id, body FROM t ORDER BY body, id DESC".to_owned()
            }
            Self::FailHalfWay { id } => format!("UPDATE t SET id = CASE WHEN id = {id} THEN 'text' ELSE id + 1000 END"),
            Self::IntegrityCheck => "PRAGMA integrity_check".to_owned(),
            Self::Reopen => String::new(),
        }
    }
}

fn body(seed: u16, size: u16) -> String {
    format!(
        "substr(replace(hex(zeroblob({})), '00', 'row {seed} '), 1, {size})",
        size / 4 + 1
    )
}

fn a_step() -> impl Strategy<Value = Step> {
    let id = 0..200_u16;
    let size = prop_oneof![4 => 0..200_u16, 1 => 200..6000_u16];
    let rows = prop_oneof![
        4 => (id.clone(), size.clone()).prop_map(|(id, size)| Step::Insert { id, size }),
        4 => (id.clone(), 1..60_u8, size.clone())
            .prop_map(|(first, count, size)| Step::InsertMany { first, count, size }),
        3 => (id.clone(), size).prop_map(|(id, size)| Step::Update { id, size }),
        2 => any::<i8>().prop_map(|add| Step::UpdateAll { add }),
        2 => id.clone().prop_map(|below| Step::Delete { below }),
        1 => id.clone().prop_map(|id| Step::FailHalfWay { id }),
        1 => id.clone().prop_map(|id| Step::AttachAndWrite { id }),
        1 => id.prop_map(|rows| Step::TempTable { rows }),
    ];
    let transactions = prop_oneof![
        4 => Just(Step::Begin),
        3 => Just(Step::Commit),
        1 => Just(Step::Rollback),
        3 => Just(Step::Savepoint),
        3 => Just(Step::RollbackTo),
        1 => Just(Step::Release),
    ];
    let others = prop_oneof![
        Just(Step::CreateIndex),
        Just(Step::DropIndex),
        (0..3_u8).prop_map(Step::CreateTable),
        (0..3_u8).prop_map(Step::DropTable),
        Just(Step::Vacuum),
        Just(Step::IncrementalVacuum),
        prop::sample::select(JOURNAL_MODES).prop_map(Step::JournalMode),
        prop::sample::select(CHECKPOINTS).prop_map(Step::Checkpoint),
        (1..40_u8).prop_map(Step::CacheSize),
        Just(Step::Sort),
        Just(Step::IntegrityCheck),
        Just(Step::Reopen),
    ];
    prop_oneof![5 => rows, 3 => transactions, 3 => others]
}

const JOURNAL_MODES: &[&str] = &["delete", "truncate", "persist", "wal", "memory"];
const CHECKPOINTS: &[&str] = &["passive", "full", "restart", "truncate"];

/// One of the two databases, and connections to it.
struct Twin {
    opening: Opening,
    other: Opening,
    connections: Vec<Connection>,
}

const CONNECTIONS: usize = 2;

/// All rows of all statements, or the error code.
type QueryResult = Result<Vec<Vec<Value>>, i32>;

impl Twin {
    fn new(opening: Opening, other: &str, page_size: u32, auto_vacuum: &str) -> Self {
        let mut twin = Self {
            other: opening.at(other),
            opening,
            connections: Vec::new(),
        };
        let first = twin.connect().unwrap();
        // With the same number of free bytes in every page, the unencrypted database has the same
        // pages.
        first
            .execute_batch(&format!(
                "PRAGMA page_size = {page_size}; SELECT selenite_reserve('main', 48); PRAGMA auto_vacuum = {auto_vacuum};
                 CREATE TABLE t(id INTEGER PRIMARY KEY, number INTEGER, body TEXT)"
            ))
            .unwrap();
        // A connection opened before the database had pages would have a cache for pages of the
        // default size.
        drop(first);
        while twin.connections.len() < CONNECTIONS {
            let next = twin.connect().unwrap();
            twin.connections.push(next);
        }
        twin
    }

    fn connect(&self) -> rusqlite::Result<Connection> {
        let connection = self.opening.connect()?;
        for pragma in ["synchronous = off", "temp_store = file", "cache_spill = 1"] {
            // The schema can't be read while another connection waits to write: then the defaults
            // apply, to both databases.
            let _ = connection.execute_batch(&format!("PRAGMA {pragma}"));
        }
        Ok(connection)
    }

    fn take(&mut self, who: usize, step: &Step) -> QueryResult {
        if let Step::Reopen = step {
            self.connections[who] = Connection::open_in_memory().map_err(|error| code_of(&error))?;
            self.connections[who] = self.connect().map_err(|error| code_of(&error))?;
            return Ok(Vec::new());
        }
        let answer = self.run(who, &step.sql(&self.other));
        if let Step::AttachAndWrite { .. } = step {
            // Needed if the statement failed in the middle.
            let _ = self.connections[who].execute_batch("DETACH other");
        }
        answer
    }

    fn run(&self, who: usize, sql: &str) -> QueryResult {
        let mut rows = Vec::new();
        for part in sql.split(';') {
            let mut statement = self.connections[who].prepare(part).map_err(|error| code_of(&error))?;
            let count = statement.column_count();
            let mut found = statement.query([]).map_err(|error| code_of(&error))?;
            while let Some(row) = found.next().map_err(|error| code_of(&error))? {
                rows.push((0..count).map(|column| row.get_unwrap(column)).collect());
            }
        }
        Ok(rows)
    }

    fn contents(&self, who: usize) -> QueryResult {
        self.run(
            who,
            "SELECT name FROM sqlite_schema ORDER BY name; SELECT count(*), sum(number), sum(length(body)) FROM t",
        )
    }

    fn all(&self) -> QueryResult {
        self.run(
            0,
            "SELECT * FROM t ORDER BY id; SELECT number, count(*) FROM t GROUP BY number ORDER BY number;
             PRAGMA page_count; PRAGMA freelist_count",
        )
    }
}

fn code_of(error: &rusqlite::Error) -> i32 {
    error.sqlite_error().map_or(-1, |error| error.extended_code)
}

fn check(page_size: u32, auto_vacuum: &str, steps: &[(usize, Step)]) -> Result<(), TestCaseError> {
    let (disk, key) = (Disk::new(), KeyFile::new(1));
    let _disk_guard = disk.enter();
    let sealed = Opening::encrypted("/twins/sealed.db", &key)
        .with("page_size", &page_size.to_string())
        .with("auto_vacuum", auto_vacuum);
    let mut sealed = Twin::new(sealed, "/twins/sealed-other.db", page_size, auto_vacuum);
    let plain = Opening::plain("/twins/plain.db");
    let mut plain = Twin::new(plain, "/twins/plain-other.db", page_size, auto_vacuum);
    for (number, (who, step)) in steps.iter().enumerate() {
        let (of_sealed, of_plain) = (sealed.take(*who, step), plain.take(*who, step));
        prop_assert_eq!(of_sealed, of_plain, "step {}: {}: {:?}", number, who, step);
        for who in 0..CONNECTIONS {
            let (of_sealed, of_plain) = (sealed.contents(who), plain.contents(who));
            prop_assert_eq!(
                of_sealed,
                of_plain,
                "as {} sees it after step {}: {:?}",
                who,
                number,
                step
            );
        }
    }
    // The content as new connections see it.
    for who in 0..CONNECTIONS {
        prop_assert_eq!(sealed.take(who, &Step::Reopen), plain.take(who, &Step::Reopen));
    }
    prop_assert_eq!(sealed.all(), plain.all());
    let found = sealed.run(0, "PRAGMA integrity_check");
    prop_assert_eq!(found, Ok(vec![vec![Value::Text("ok".to_owned())]]));
    Ok(())
}

/// `PROPTEST_CASES`, or a number that takes a few seconds.
fn cases() -> u32 {
    let set = std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok());
    set.unwrap_or(400)
}

proptest! {
    #![proptest_config(Config { failure_persistence: None, cases: cases(), ..Config::default() })]

    #[test]
    fn an_encrypted_database_and_a_plain_one_give_the_same_answers(
        page_size in prop::sample::select(&[1024_u32, 4096, 65536][..]),
        auto_vacuum in prop::sample::select(&["none", "full", "incremental"][..]),
        steps in prop::collection::vec((0..CONNECTIONS, a_step()), 1..60),
    ) {
        check(page_size, auto_vacuum, &steps)?;
    }
}
