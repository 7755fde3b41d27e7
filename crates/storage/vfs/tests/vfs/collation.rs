//! The collation of the server's text columns, in any SQLite that has the extension: indexes use it
//! for order and lookup.

use rusqlite::Connection;
use selenite_testing::{Disk, KeyFile, Opening};

fn names(connection: &Connection, sql: &str) -> Vec<String> {
    let mut statement = connection.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| row.get(0)).unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}

#[test]
fn text_is_ordered_found_and_held_unique_without_case_and_trailing_blanks() {
    let key = KeyFile::new(7);
    let disk = Disk::new();
    let _disk_guard = disk.enter();
    let connection = Opening::encrypted("/collation/main.db", &key).connect().unwrap();
    connection
        .execute_batch(
            "CREATE TABLE t (name TEXT COLLATE SQL_Latin1_General_CP1_CI_AS PRIMARY KEY, n INT);
             INSERT INTO t VALUES ('banana', 1), ('Apple', 2), ('cherry', 3), ('apricot', 4), ('BANANAS', 5);",
        )
        .unwrap();
    assert_eq!(
        names(&connection, "SELECT name FROM t ORDER BY name"),
        ["Apple", "apricot", "banana", "BANANAS", "cherry"]
    );
    assert_eq!(
        names(&connection, "SELECT name FROM t WHERE name = 'BANANA  '"),
        ["banana"]
    );
    let again = connection.execute("INSERT INTO t VALUES ('APPLE ', 6)", []);
    assert!(again.unwrap_err().to_string().contains("UNIQUE"));
    let plan: String = connection
        .query_row("EXPLAIN QUERY PLAN SELECT * FROM t WHERE name = 'x'", [], |row| {
            row.get(3)
        })
        .unwrap();
    assert!(plan.contains("USING INDEX"), "{plan}");
    let ok: String = connection
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(ok, "ok");
}

#[test]
fn bytes_that_are_no_text_have_their_place_too() {
    let key = KeyFile::new(7);
    let disk = Disk::new();
    let _disk_guard = disk.enter();
    let connection = Opening::encrypted("/collation/main.db", &key).connect().unwrap();
    let sql = "SELECT CAST(x'ff' AS TEXT) = CAST(x'ff20' AS TEXT) COLLATE SQL_Latin1_General_CP1_CI_AS,
                      CAST(x'ff' AS TEXT) = CAST(x'fe' AS TEXT) COLLATE SQL_Latin1_General_CP1_CI_AS,
                      '' = '   ' COLLATE SQL_Latin1_General_CP1_CI_AS";
    let answers = connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
    assert_eq!(answers, Ok((1, 0, 1)));
}
