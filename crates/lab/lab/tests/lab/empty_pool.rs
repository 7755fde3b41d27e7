//! The precondition of a cold block: without connections, the page pool is empty.
//!
//! The pool belongs to the process: no other test opens a database in it.

use rusqlite::Connection;
use selenite_lab::native::Native;
use selenite_testing::own_process;
use selenite_worker::protocol::{DatabaseSpec, Dataset};
use selenite_worker::stock::spec;
use selenite_worker::{Engine, dataset};

#[test]
fn the_page_pool_is_empty_when_a_database_is_opened_again() {
    own_process!();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("key"), [7; 32]).unwrap();
    let mut database = DatabaseSpec {
        cipher: "AES_256".to_owned(),
        key_file: folder.path().join("key"),
        cache_kib: 64,
        ..spec(&folder.path().join("app.db"))
    };
    database.settings.insert("pool_size".to_owned(), (8 << 20).to_string());
    dataset::load(&Native, &database, &Dataset::Scan { bytes: 1 << 20 }, 7).unwrap();
    let scan = |connection: &Connection| {
        connection
            .query_row("SELECT sum(Id) FROM SomeData", [], |row| row.get::<_, i64>(0))
            .unwrap()
    };
    let pooled = |connection: &Connection| {
        let status = Native.status(connection, &database).unwrap();
        status.values["pool.bytes"].parse::<u64>().unwrap()
    };
    let connection = Native.open(&database).unwrap();
    assert!((0..4).all(|_| scan(&connection) > 0));
    assert!(pooled(&connection) > 1 << 19);
    connection.close().map_err(|(_, error)| error).unwrap();
    let connection = Native.open(&database).unwrap();
    assert_eq!(pooled(&connection), 0);
}
