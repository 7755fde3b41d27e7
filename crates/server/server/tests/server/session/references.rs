//! Keys and foreign keys, which are checked when a statement ends.

use super::client::{Answer, Client};
use super::fixture::Fixture;

fn rows(answer: &Answer) -> Vec<String> {
    let shown = |row: &Vec<selenite_types::Value>| {
        row.iter()
            .map(|value| format!("{value:?}"))
            .collect::<Vec<_>>()
            .join(" ")
    };
    answer.rows().iter().map(shown).collect()
}

/// Runs each statement, which must not fail.
fn runs(client: &mut Client, statements: &[&str]) {
    for sql in statements {
        assert_eq!(client.batch(sql).errors(), [], "{sql}");
    }
}

/// Whether a query's rows are these: numbers and texts parted by blanks.
fn shows(client: &mut Client, sql: &str, wanted: &[&str]) {
    let answer = client.batch(sql);
    assert_eq!(answer.errors(), [], "{sql}");
    let shown: Vec<String> = rows(&answer)
        .iter()
        .map(|row| row.replace("Int(", "").replace("Text(", "").replace([')', '"'], ""))
        .collect();
    assert_eq!(shown, wanted, "{sql}");
}

/// Whether a statement fails with this number and words, and leaves `query` as it is.
fn fails(client: &mut Client, sql: &str, (number, words): (i32, &str), query: &str) {
    let before = rows(&client.batch(query));
    let answer = client.batch(sql);
    let errors = answer.errors();
    assert_eq!(
        errors.first().map(|(number, _)| *number),
        Some(number),
        "{sql}: {answer:?}"
    );
    let told = format!("{answer:?}");
    assert!(told.contains(words), "{sql}: {told}");
    assert_eq!(rows(&client.batch(query)), before, "{sql}");
}

fn client(fixture: &Fixture, script: &[&str]) -> Client {
    let mut client = fixture.client();
    runs(&mut client, &["CREATE DATABASE d", "USE d"]);
    runs(&mut client, script);
    client
}

#[test]
fn rows_of_one_insert_may_refer_to_each_other() {
    let fixture = Fixture::new();
    let mut client = client(
        &fixture,
        &["CREATE TABLE t (id INT PRIMARY KEY, up INT CONSTRAINT fk_up REFERENCES t (id))"],
    );
    runs(
        &mut client,
        &[
            "INSERT t VALUES (1, 2), (2, 1)",
            "INSERT t VALUES (9, 8), (8, 7), (7, 9)",
            "INSERT t SELECT id + 20, up + 20 FROM t WHERE id < 3",
            "BEGIN TRAN INSERT t VALUES (30, 31), (31, 30) COMMIT",
        ],
    );
    shows(&mut client, "SELECT COUNT(*) FROM t", &["9"]);
    let broken = (547, "FOREIGN KEY SAME TABLE constraint \\\"fk_up\\\"");
    let all = "SELECT * FROM t";
    fails(&mut client, "INSERT t VALUES (50, 51), (51, 52)", broken, all);
    fails(&mut client, "INSERT t VALUES (50, 51)", broken, all);
    fails(&mut client, "BEGIN TRAN INSERT t VALUES (50, 51)", broken, all);
    fails(
        &mut client,
        "INSERT t VALUES (50, 51), (51, 50), (1, 1)",
        (2627, "(1)"),
        all,
    );
    runs(&mut client, &["ROLLBACK", "DELETE t"]);
    // What was put off is not put off for ever.
    fails(&mut client, "INSERT t VALUES (1, 2)", broken, all);
}

#[test]
fn keys_that_are_referred_to_are_exchanged() {
    let fixture = Fixture::new();
    let mut client = client(
        &fixture,
        &["CREATE TABLE p (id INT PRIMARY KEY, name NVARCHAR(9) UNIQUE, v INT)
           CREATE TABLE c (id INT CONSTRAINT fk_id REFERENCES p (id), name NVARCHAR(9) CONSTRAINT fk_name REFERENCES p (name))
           INSERT p VALUES (1, N'a', 10), (2, N'b', 20), (3, N'c', 30) INSERT c VALUES (1, N'a'), (2, N'b')"],
    );
    runs(&mut client, &["UPDATE p SET id = 3 - id WHERE id < 3"]);
    shows(
        &mut client,
        "SELECT id, v FROM p ORDER BY id",
        &["1 20", "2 10", "3 30"],
    );
    runs(
        &mut client,
        &["UPDATE p SET name = CASE name WHEN N'a' THEN N'b' WHEN N'b' THEN N'a' ELSE name END"],
    );
    shows(
        &mut client,
        "SELECT name, v FROM p ORDER BY name",
        &["a 20", "b 10", "c 30"],
    );
    runs(&mut client, &["BEGIN TRAN UPDATE p SET id = id % 3 + 1 COMMIT"]);
    shows(
        &mut client,
        "SELECT id, v FROM p ORDER BY id",
        &["1 30", "2 20", "3 10"],
    );
    let all = "SELECT * FROM p ORDER BY id";
    let refused = (
        547,
        "The UPDATE statement conflicted with the REFERENCE constraint \\\"fk_id\\\"",
    );
    fails(&mut client, "UPDATE p SET id = id + 1", refused, all);
    fails(&mut client, "UPDATE p SET id = 9 WHERE id = 1", refused, all);
    fails(
        &mut client,
        "UPDATE p SET name = name + N'x'",
        (547, "\\\"fk_name\\\""),
        all,
    );
    fails(
        &mut client,
        "UPDATE p SET id = CASE id WHEN 1 THEN 2 WHEN 2 THEN 1 ELSE 2 END",
        (2627, "PRIMARY KEY"),
        all,
    );
    shows(&mut client, "SELECT * FROM c ORDER BY id", &["1 a", "2 b"]);
}

#[test]
fn swapped_keys_cascade() {
    let fixture = Fixture::new();
    let mut client = client(
        &fixture,
        &["CREATE TABLE p (id INT PRIMARY KEY, code VARBINARY(4) UNIQUE)
           CREATE TABLE c (n INT, id INT REFERENCES p (id) ON UPDATE CASCADE, code VARBINARY(4) REFERENCES p (code) ON UPDATE SET NULL)
           CREATE TABLE one (id INT PRIMARY KEY REFERENCES p (id) ON UPDATE CASCADE)
           INSERT p VALUES (1, 0x01), (2, 0x02) INSERT c VALUES (1, 1, 0x01), (2, 2, 0x02) INSERT one VALUES (1), (2)"],
    );
    runs(&mut client, &["UPDATE p SET id = 3 - id"]);
    shows(&mut client, "SELECT n, id FROM c ORDER BY n", &["1 2", "2 1"]);
    shows(&mut client, "SELECT id FROM one ORDER BY id", &["1", "2"]);
    runs(
        &mut client,
        &["UPDATE p SET code = CASE code WHEN 0x01 THEN 0x02 ELSE 0x01 END"],
    );
    shows(&mut client, "SELECT COUNT(*) FROM c WHERE code IS NULL", &["2"]);
    shows(&mut client, "SELECT id FROM p WHERE code = 0x01", &["1"]);
    runs(&mut client, &["UPDATE p SET id = id + 5"]);
    shows(&mut client, "SELECT n, id FROM c ORDER BY n", &["1 7", "2 6"]);
}

#[test]
fn keys_of_every_kind_are_exchanged() {
    let fixture = Fixture::new();
    let mut client = client(&fixture, &[]);
    for (kind, one, two) in [
        ("TINYINT", "1", "2"),
        ("BIGINT", "-9223372036854775808", "0"),
        ("DECIMAL(9, 2)", "1.5", "2.5"),
        ("DECIMAL(30, 2)", "1.5", "2.5"),
        ("FLOAT", "1.5", "2.5"),
        ("MONEY", "1.5", "2.5"),
        ("CHAR(3)", "'a'", "'b'"),
        ("NVARCHAR(40)", "N'a'", "N'b'"),
        ("VARBINARY(8)", "0x01", "0x02"),
        (
            "UNIQUEIDENTIFIER",
            "'00000000-0000-0000-0000-000000000001'",
            "'00000000-0000-0000-0000-000000000002'",
        ),
        ("DATE", "'2020-01-01'", "'2020-01-02'"),
        ("DATETIME2(3)", "'2020-01-01'", "'2020-01-02'"),
        (
            "DATETIMEOFFSET(0)",
            "'2020-01-01 00:00 +01:00'",
            "'2020-01-01 00:00 +02:00'",
        ),
        ("BIT", "0", "1"),
    ] {
        for key in ["PRIMARY KEY", "NULL UNIQUE", "NULL"] {
            let text = format!(
                "CREATE TABLE t (k {kind} {key}, v INT)
                 {} INSERT t VALUES ({one}, 1), ({two}, 2)
                 UPDATE t SET k = CASE WHEN v = 1 THEN CAST({two} AS {kind}) ELSE {one} END",
                if key == "NULL" {
                    "CREATE UNIQUE INDEX i ON t (k)"
                } else {
                    ""
                }
            );
            runs(&mut client, &[&text]);
            let query = format!("SELECT v FROM t WHERE k = CAST({one} AS {kind})");
            shows(&mut client, &query, &["2"]);
            if key != "PRIMARY KEY" {
                runs(
                    &mut client,
                    &[&format!(
                        "UPDATE t SET k = NULL WHERE v = 1 UPDATE t SET k = CASE v WHEN 2 THEN NULL ELSE {two} END"
                    )],
                );
                shows(&mut client, "SELECT v FROM t WHERE k IS NULL", &["2"]);
                let number = if key == "NULL" { 2601 } else { 2627 };
                fails(
                    &mut client,
                    "UPDATE t SET k = NULL",
                    (number, "<NULL>"),
                    "SELECT v FROM t WHERE k IS NULL",
                );
            }
            runs(&mut client, &["DROP TABLE t"]);
        }
    }
}

#[test]
fn the_error_names_the_violated_key() {
    let fixture = Fixture::new();
    let mut client = client(
        &fixture,
        &["CREATE TABLE a (id INT PRIMARY KEY)
           CREATE TABLE b (id INT PRIMARY KEY, a INT CONSTRAINT fk_a REFERENCES a (id) ON DELETE CASCADE ON UPDATE CASCADE)
           CREATE TABLE c (b INT CONSTRAINT fk_b REFERENCES b (id))
           INSERT a VALUES (1), (2), (3) INSERT b VALUES (10, 1), (20, 2) INSERT c VALUES (10)"],
    );
    let all = "SELECT id FROM a";
    let refused = (
        547,
        "The DELETE statement conflicted with the REFERENCE constraint \\\"fk_b\\\". The conflict occurred in database \\\"d\\\", table \\\"dbo.c\\\", column 'b'.",
    );
    fails(&mut client, "DELETE a WHERE id = 1", refused, all);
    fails(&mut client, "DELETE a WHERE id < 3", refused, all);
    runs(&mut client, &["DELETE a WHERE id = 2", "UPDATE a SET id = 4 - id"]);
    shows(&mut client, "SELECT id, a FROM b", &["10 3"]);
}

#[test]
fn many_keys_are_shuffled_in_linear_time() {
    let fixture = Fixture::new();
    let mut client = client(
        &fixture,
        &["CREATE TABLE t (id INT PRIMARY KEY, v INT, up INT REFERENCES t (id))
           DECLARE @i INT = 0 BEGIN TRAN WHILE @i < 5003 BEGIN INSERT t VALUES (@i, @i, NULL) SET @i += 1 END COMMIT
           UPDATE t SET up = (id + 1) % 5003"],
    );
    // Its own processor time: what else the machine does is not in it.
    let cpu_ms = "SELECT cpu_time FROM sys.dm_exec_sessions WHERE session_id = @@SPID";
    let before = client.int(cpu_ms);
    runs(&mut client, &["UPDATE t SET id = id * 2 % 5003"]);
    let took = client.int(cpu_ms) - before;
    shows(&mut client, "SELECT COUNT(*) FROM t WHERE id = v * 2 % 5003", &["5003"]);
    assert!(took < 20_000, "{took} ms");
}
