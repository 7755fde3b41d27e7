//! Every suite and every page size, with a rollback journal and with a log.

use super::fixture::{Fixture, check, code, fill};
use selenite_cipher::Suite;
use selenite_testing::own_process;

#[test]
fn every_suite_comes_back_in_every_journal_mode() {
    own_process!();
    for suite in Suite::ALL {
        for mode in ["delete", "truncate", "persist", "wal"] {
            let fixture = Fixture::new();
            let allow = "&deprecated=allow&plain=allow";
            let connection = fixture
                .open("a.db", &format!("&cipher={}{allow}", suite.name()))
                .unwrap();
            connection.pragma_update(None, "journal_mode", mode).unwrap();
            fill(&connection);
            connection.close().unwrap();
            let connection = fixture.open("a.db", allow).unwrap();
            check(&connection);
            let name: String = connection
                .query_row("SELECT value FROM selenite_status WHERE name = 'suite'", [], |row| {
                    row.get(0)
                })
                .unwrap();
            assert_eq!(name, suite.name());
        }
    }
}

#[test]
fn every_page_size_comes_back() {
    own_process!();
    for page_size in [1024, 2048, 4096, 8192, 16384, 32768, 65536] {
        for auto_vacuum in ["none", "full", "incremental"] {
            let fixture = Fixture::new();
            let parameters = format!("&page_size={page_size}&auto_vacuum={auto_vacuum}");
            let path = fixture.filled("a.db", &parameters);
            let connection = fixture.open("a.db", "").unwrap();
            check(&connection);
            let found: i64 = connection.query_row("PRAGMA page_size", [], |row| row.get(0)).unwrap();
            assert_eq!(found, page_size);
            connection
                .execute_batch("DELETE FROM t WHERE id % 2; PRAGMA incremental_vacuum; VACUUM")
                .unwrap();
            connection.close().unwrap();
            let size = i64::try_from(std::fs::metadata(path).unwrap().len()).unwrap();
            assert_eq!((size - 65536) % page_size, 0);
        }
    }
}

#[test]
fn the_deprecated_suite_is_refused_for_reading_and_writing() {
    own_process!();
    let fixture = Fixture::new();
    assert_ne!(code(fixture.open("a.db", "&cipher=TRIPLE_DES_3KEY")), 0);
    assert!(Fixture::last_error().contains("deprecated"));
    fixture.filled("b.db", "&cipher=TRIPLE_DES_3KEY&deprecated=allow");
    let connection = fixture.open("b.db", "").unwrap();
    assert_ne!(code(connection.query_row("SELECT count(*) FROM t", [], |_| Ok(()))), 0);
    assert!(Fixture::last_error().contains("deprecated"));
}

#[test]
fn none_is_refused_where_an_identity_is_in_force() {
    own_process!();
    let fixture = Fixture::new();
    fixture.filled("a.db", "&cipher=NONE&plain=allow");
    let refused = fixture
        .open("a.db", "")
        .and_then(|connection| connection.execute_batch("SELECT * FROM t"));
    assert_eq!(code(refused), 26);
    assert!(Fixture::last_error().contains("not encrypted"));
}
