//! The pages next to the lock bytes: SQLite counts fewer pages than the file has room for (FORMAT
//! 2.3, 2.4).

use selenite_testing::own_process;
use std::fs::OpenOptions;

use rusqlite::Connection;
use selenite_cipher::Suite;
use selenite_keyring::{epoch_change, os_random};

use super::fixture::Fixture;
use super::key_changes::apply;

const PAGE_SIZE: u64 = 32768;
/// The displaced page X is stored at the number of the page L: between them is one page that SQLite
/// does not count.
const DISPLACED: u32 = 32767;
const LOCK: u64 = 32769;

/// Makes SQLite count `DISPLACED` pages, without writing a gigabyte: the pages in between are a
/// hole, which is not read here.
fn stretched(fixture: &Fixture) -> Connection {
    let connection = fixture.open("a.db", "&page_size=32768").unwrap();
    connection.execute_batch("CREATE TABLE t(x)").unwrap();
    let mut first: Vec<u8> = connection
        .query_row("SELECT data FROM sqlite_dbpage WHERE pgno = 1", [], |row| row.get(0))
        .unwrap();
    first[28..32].copy_from_slice(&DISPLACED.to_be_bytes());
    connection
        .execute("UPDATE sqlite_dbpage SET data = ?1 WHERE pgno = 1", [first])
        .unwrap();
    drop(connection);
    let file = OpenOptions::new().write(true).open(fixture.path("a.db")).unwrap();
    file.set_len(65536 + LOCK * PAGE_SIZE).unwrap();
    drop(file);
    fixture.open("a.db", "").unwrap()
}

fn old_pages(connection: &Connection) -> String {
    connection
        .query_row("SELECT selenite_old_pages('main', 32768, 100, 9)", [], |row| row.get(0))
        .unwrap()
}

#[test]
fn a_page_that_sqlite_does_not_count_is_sealed_again_by_the_cut() {
    own_process!();
    let fixture = Fixture::new();
    let connection = stretched(&fixture);
    let pages = |sql| -> u32 { connection.query_row(sql, [], |row| row.get(0)).unwrap() };
    assert_eq!(pages("PRAGMA page_count"), DISPLACED);
    apply(&connection, |unlocked| {
        epoch_change::begin(unlocked, Suite::Aes256, 1, &mut os_random)
    })
    .unwrap();
    assert_eq!(old_pages(&connection), "0 32768-32768");

    connection
        .execute_batch("BEGIN IMMEDIATE; SELECT selenite_cut('main')")
        .unwrap();
    assert_eq!(old_pages(&connection), "0");
    connection.execute_batch("ROLLBACK").unwrap();

    // When SQLite counts it, it is a page of zeros.
    let file = std::fs::metadata(fixture.path("a.db")).unwrap();
    assert_eq!(file.len(), 65536 + LOCK * PAGE_SIZE);
    let zeros: Vec<u8> = {
        let sql = "UPDATE sqlite_dbpage SET data = ?1 WHERE pgno = 1";
        let mut first: Vec<u8> = connection
            .query_row("SELECT data FROM sqlite_dbpage WHERE pgno = 1", [], |row| row.get(0))
            .unwrap();
        first[28..32].copy_from_slice(&(DISPLACED + 1).to_be_bytes());
        connection.execute(sql, [first]).unwrap();
        let other = fixture.open("a.db", "").unwrap();
        let sql = "SELECT data FROM sqlite_dbpage WHERE pgno = 32768";
        other.query_row(sql, [], |row| row.get(0)).unwrap()
    };
    assert!(zeros.iter().all(|&byte| byte == 0));
}
