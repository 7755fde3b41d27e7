//! A database that ends at the lock bytes: the file has one place more than SQLite counts pages
//! (FORMAT 2.4).

use selenite::reencrypt::Goal;
use selenite::storage::Disk;
use selenite::{Database, Layout, PageSize, Watch, verify};

use super::{Fixture, conversions, quiet};

/// X of FORMAT 2.3 for pages of 32 KiB, which has the place of L = 32769: SQLite does not use the
/// place in between.
const DISPLACED: i64 = 32767;

fn open(fixture: &Fixture) -> Database {
    Database::open(&Disk, &fixture.path(), &fixture.access()).unwrap()
}

fn run(database: &Database, sql: &str) {
    database.run(sql, &mut quiet::Nothing).unwrap();
}

fn page_count(database: &Database) -> i64 {
    let mut rows = quiet::Numbers::default();
    database.run("PRAGMA page_count", &mut rows).unwrap();
    rows.0[0]
}

/// One row per page.
fn grow(database: &Database, by: u32) {
    run(
        database,
        &format!(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {by})
             INSERT INTO t SELECT zeroblob(32600) FROM n"
        ),
    );
}

/// Re-encrypts it, and verifies every page.
fn seal(fixture: &Fixture) -> u32 {
    let done = conversions::seal(fixture, Goal::NewKey, &Watch::none()).unwrap();
    let report = verify::physical(&Disk, &fixture.path(), &fixture.access(), &Watch::none()).unwrap();
    assert!(report.is_good(), "{:?}", report.bad);
    done.epoch
}

#[test]
#[ignore = "make soak: a database of 1 GiB, re-encrypted twice"]
fn a_database_that_ends_at_the_lock_bytes_is_re_encrypted() {
    let fixture = Fixture::new();
    let layout = Layout {
        page_size: PageSize::try_from(32768).unwrap(),
        ..Layout::default()
    };
    let database = Database::create(&Disk, &fixture.path(), &fixture.access(), &layout).unwrap();
    let sql = "PRAGMA auto_vacuum = FULL; VACUUM; PRAGMA synchronous = OFF; CREATE TABLE t(x BLOB)";
    run(&database, sql);
    grow(&database, 32700);
    while page_count(&database) < DISPLACED {
        grow(&database, 1);
    }
    assert_eq!(page_count(&database), DISPLACED);
    drop(database);
    assert_eq!(seal(&fixture), 2);

    // Beyond the lock page, and back.
    let database = open(&fixture);
    grow(&database, 9);
    assert!(page_count(&database) > DISPLACED + 2);
    while page_count(&database) > DISPLACED {
        run(&database, "DELETE FROM t WHERE rowid = (SELECT max(rowid) FROM t)");
    }
    assert_eq!(page_count(&database), DISPLACED);
    drop(database);
    assert_eq!(seal(&fixture), 3);
}
