//! `selenite exec`.

use crate::fixture::{Fixture, NOTES, flip_page, run};

#[test]
fn rows_are_divided_by_tabs_where_no_terminal_is() {
    let (fixture, _) = Fixture::encrypted();
    let sql = "SELECT 1, NULL, 2.5, 'a' || char(9, 10, 92) || 'b', x'00ff'; SELECT 'two'";
    let ran = fixture.run(&["-i", "key.txt", "exec", "app.db", sql]).done();
    assert_eq!(ran.out, "1\t\t2.5\ta\\t\\n\\\\b\t00ff\ntwo\n");
}

#[test]
fn json_is_an_object_for_each_statement_that_answers_rows() {
    let (fixture, _) = Fixture::encrypted();
    let sql = "CREATE TABLE t (a); SELECT 1 AS a, 'x' AS a, NULL, 1.5, x'ff'; SELECT a FROM t";
    let ran = fixture.run(&["-i", "key.txt", "exec", "--json", "app.db", sql]).done();
    let lines: Vec<serde_json::Value> = ran
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0]["columns"][1], "a");
    assert_eq!(
        lines[0]["rows"],
        serde_json::json!([[1, "x", null, 1.5, { "blob": "ff" }]])
    );
    assert_eq!(lines[1]["rows"], serde_json::json!([]));
}

#[test]
fn a_new_database_is_created_only_on_request() {
    let fixture = Fixture::new();
    let sql = "CREATE TABLE t (a); INSERT INTO t VALUES (7); SELECT * FROM t";
    fixture
        .run(&["-i", "key.txt", "exec", "new.db", sql])
        .failed(6, "no such file");
    assert_eq!(fixture.names(), Vec::<String>::new());
    fixture.run(&["exec", "new.db", sql, "--create"]).failed(4, "no key");
    assert_eq!(fixture.names(), Vec::<String>::new());
    let words = [
        "-i",
        "key.txt",
        "exec",
        "new.db",
        sql,
        "--create",
        "--cipher",
        "CHACHA20",
        "--page-size",
        "8192",
    ];
    assert_eq!(fixture.run(&words).done().out, "7\n");
    fixture.run(&words).failed(2, "already exists");
    let json = fixture.run(&["status", "new.db", "--json"]).done().json();
    assert_eq!(json["superblock"]["suite"], "CHACHA20");
    assert_eq!(json["superblock"]["page_size"], 8192);
}

#[test]
fn errors_of_sql_and_of_data_differ() {
    let (fixture, path) = Fixture::encrypted();
    let ran = fixture.run(&["-i", "key.txt", "exec", "app.db", "SELECT missing FROM note"]);
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(ran.err.contains("no such column: missing"), "{ran:?}");
    flip_page(&path, 2);
    fixture
        .run(&["-i", "key.txt", "exec", "app.db", "SELECT * FROM note"])
        .failed(5, "page 2 of the database");
    fixture.plain("clear.db", NOTES);
    fixture
        .run(&["-i", "key.txt", "exec", "clear.db", "SELECT 1"])
        .failed(3, "not encrypted");
    run(fixture
        .command(&["-i", "key.txt", "exec", "clear.db", "SELECT 1"])
        .env("SELENITE_PLAIN", "allow"))
    .done();
}

/// `selenite exec ...
/// head -1`: the reader has ended, which is not reported as an error.
#[test]
fn a_reader_that_stops_is_no_error() {
    use std::io::{BufRead, BufReader, Read};
    use std::process::Stdio;
    let (fixture, _) = Fixture::encrypted();
    let sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000) SELECT i FROM n";
    let mut child = fixture
        .command(&["-i", "key.txt", "exec", "app.db", sql])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    assert_eq!(line, "1\n");
    let mut err = String::new();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(err, "");
}

#[test]
fn a_value_that_a_setting_cannot_have_is_refused_with_both_its_names() {
    let (mut fixture, _) = Fixture::encrypted();
    fixture.variables = vec![("SELENITE_METER", "2".to_owned())];
    let ran = fixture.run(&["-i", "key.txt", "exec", "app.db", "SELECT 1"]);
    assert_ne!(ran.status, 0, "{ran:?}");
    assert!(
        ran.err.contains("invalid meter=2, of the URI or SELENITE_METER"),
        "{ran:?}"
    );
    assert!(ran.err.contains("use 1 or 0"), "{ran:?}");
}
