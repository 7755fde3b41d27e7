//! Parameters of SQLite's own URIs: `nolock` and `psow` (sqlite.org/uri.html).

use selenite_testing::own_process;
use std::fs;

use super::fixture::{Fixture, check, edit, fill};

#[test]
fn a_new_database_is_made_without_locks() {
    own_process!();
    for mode in ["delete", "truncate", "memory", "off"] {
        let fixture = Fixture::new();
        let connection = fixture.open("a.db", "&nolock=1").unwrap();
        connection.pragma_update(None, "journal_mode", mode).unwrap();
        fill(&connection);
        check(&connection);
        connection
            .execute_batch("DELETE FROM t WHERE id > 300; VACUUM")
            .unwrap();
        connection.close().unwrap();
        check(&fixture.open("a.db", "&nolock=1").unwrap());
        check(&fixture.open("a.db", "").unwrap());
        // FORMAT 3.9: the superblock records that there are pages.
        edit(&fixture.path("a.db"), |bytes| bytes.truncate(65536));
        assert!(
            fixture
                .open("a.db", "")
                .and_then(|emptied| emptied.execute_batch("SELECT * FROM t"))
                .is_err()
        );
    }
}

/// With `psow=0` SQLite writes a journal's header into a separate sector (setSectorSize in
/// pager.c).
#[test]
fn journal_headers_have_the_size_of_a_sector_where_overwriting_is_not_powersafe() {
    own_process!();
    for (psow, page_size, header) in [(1, 4096, 512), (0, 4096, 4096), (0, 1024, 4096)] {
        let fixture = Fixture::new();
        let connection = fixture
            .open("a.db", &format!("&psow={psow}&page_size={page_size}"))
            .unwrap();
        fill(&connection);
        connection
            .execute_batch("PRAGMA journal_mode = persist; UPDATE t SET name = 'x' WHERE id = 1")
            .unwrap();
        let size = fs::metadata(fixture.path("a.db-journal")).unwrap().len();
        assert_eq!(size % (page_size + 8), header % (page_size + 8), "{size}");
    }
}

/// Rolls back a journal of several headers, the second of which follows 512 records without a gap.
#[test]
fn a_journal_with_headers_of_a_page_is_rolled_back() {
    own_process!();
    let fixture = Fixture::new();
    let connection = fixture.open("a.db", "&psow=0&page_size=4096").unwrap();
    fill(&connection);
    connection
        .execute_batch("INSERT INTO t SELECT id + 300, name, zeroblob(3500) FROM t; INSERT INTO t SELECT id + 600, name, body FROM t;")
        .unwrap();
    connection
        .execute_batch(
            "PRAGMA cache_size = 10; PRAGMA cache_spill = 1; BEGIN; UPDATE t SET body = zeroblob(3501);
             UPDATE t SET name = 'b', body = zeroblob(3502); ROLLBACK; DELETE FROM t WHERE id > 300",
        )
        .unwrap();
    check(&connection);
}

/// With `psow=0` SQLite fills the last sector of a commit with copies of its last frame, and splits
/// the last copy.
#[test]
fn a_log_is_padded_where_overwriting_is_not_powersafe() {
    own_process!();
    for page_size in [1024, 4096, 65536] {
        let fixture = Fixture::new();
        let connection = fixture.open("a.db", &format!("&psow=0&page_size={page_size}")).unwrap();
        connection
            .execute_batch("PRAGMA journal_mode = wal; PRAGMA synchronous = full; PRAGMA wal_autocheckpoint = 0")
            .unwrap();
        fill(&connection);
        let frames = || (fs::metadata(fixture.path("a.db-wal")).unwrap().len() - 32) / (24 + page_size);
        let before = frames();
        for round in 0..40 {
            connection
                .execute_batch(&format!("UPDATE t SET name = 'x{round}' WHERE id = 300"))
                .unwrap();
            check(&fixture.open("a.db", "").unwrap());
        }
        assert!(
            page_size == 65536 || frames() - before > 100,
            "it is not padded: {}",
            frames() - before
        );
        // Recovered from the files alone.
        for name in ["a.db", "a.db-wal"] {
            fs::copy(fixture.path(name), fixture.path(&name.replace("a.db", "copy.db"))).unwrap();
        }
        let copy = fixture.open("copy.db", "").unwrap();
        check(&copy);
        let name: String = copy
            .query_row("SELECT name FROM t WHERE id = 300", [], |row| row.get(0))
            .unwrap();
        assert_eq!(name, "x39");
    }
}
