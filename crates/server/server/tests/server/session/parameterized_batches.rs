//! Batches that differ in constants alone share a program: their answers are those of batches that do not.

use super::client::{Client, all_fail, succeed};
use super::fixture::Fixture;

const COLUMNS: [(&str, &str); 19] = [
    ("tiny", "TINYINT"),
    ("small", "SMALLINT"),
    ("whole", "INT"),
    ("big", "BIGINT"),
    ("bits", "BIT"),
    ("dec", "DECIMAL(5,2)"),
    ("fl", "FLOAT"),
    ("re", "REAL"),
    ("mon", "MONEY"),
    ("ch", "CHAR(5)"),
    ("vc", "VARCHAR(5)"),
    ("nc", "NCHAR(4)"),
    ("nvc", "NVARCHAR(4)"),
    ("u8", "VARCHAR(6) COLLATE Latin1_General_100_CI_AS_SC_UTF8"),
    ("cs", "VARCHAR(5) COLLATE Latin1_General_BIN2"),
    ("da", "DATE"),
    ("dt", "DATETIME"),
    ("guid", "UNIQUEIDENTIFIER"),
    ("va", "SQL_VARIANT"),
];
const CONSTANTS: [&str; 16] = [
    "0",
    "1",
    "-1",
    "300",
    "- 70000",
    "2147483647",
    "''",
    "'1'",
    "'abc'",
    "'ABC  '",
    "N'abc'",
    "N'\u{e4}\u{3bb}\u{1f600}'",
    "'it''s'",
    "'a long text'",
    "'2024-02-29'",
    "'6F9619FF-8B86-D011-B42D-00C04FC964FF'",
];

/// The same batch with and without parameters: a text with a variable has none.
fn answers_alike(client: &mut Client, sql: &str) {
    let with = client.batch(sql);
    let without = client.batch(&format!("DECLARE @never INT; {sql}"));
    assert_eq!(with, without, "{sql}");
}

fn with_table(fixture: &Fixture) -> Client {
    let mut client = fixture.client();
    let columns: Vec<String> = COLUMNS
        .iter()
        .map(|(name, data_type)| format!("{name} {data_type}"))
        .collect();
    let table = format!("CREATE TABLE t (id INT IDENTITY PRIMARY KEY, {})", columns.join(", "));
    succeed(&mut client, &table);
    for value in ["1", "'abc'", "N'\u{e4}'", "300", "'2024-02-29'"] {
        for (name, _) in COLUMNS {
            // What a type can't hold is not there.
            client.batch(&format!("DECLARE @never INT; INSERT t ({name}) VALUES ({value})"));
        }
    }
    client
}

#[test]
fn comparisons_answer_as_without_parameters() {
    let fixture = Fixture::new();
    let mut client = with_table(&fixture);
    for (name, _) in COLUMNS {
        for constant in CONSTANTS {
            for operator in ["=", "<>", "<=", "!<"] {
                answers_alike(
                    &mut client,
                    &format!("SELECT id FROM t WHERE {name} {operator} {constant} ORDER BY 1"),
                );
            }
        }
    }
}

#[test]
fn what_is_stored_is_stored_as_without_parameters() {
    let fixture = Fixture::new();
    let mut client = with_table(&fixture);
    let stored = "SQL_VARIANT_PROPERTY(va, 'BaseType') AS b, SQL_VARIANT_PROPERTY(va, 'MaxLength') AS l";
    for (name, _) in COLUMNS {
        for constant in CONSTANTS {
            for change in [
                format!("INSERT INTO t ({name}, dec) VALUES ({constant}, 1), (NULL, 2)"),
                format!("UPDATE t SET {name} = {constant}, vc = 'x' WHERE id = 3"),
            ] {
                let both: Vec<_> = [change.clone(), format!("DECLARE @never INT; {change}")]
                    .into_iter()
                    .map(|change| {
                        succeed(&mut client, "BEGIN TRANSACTION");
                        let changed = client.batch(&change);
                        let rows = client.batch(&format!("SELECT {name}, vc, dec, {stored} FROM t ORDER BY id DESC"));
                        client.batch("IF @@TRANCOUNT > 0 ROLLBACK");
                        (format!("{:?}", changed.said()), changed.statuses(), rows.rows())
                    })
                    .collect();
                assert_eq!(both[0], both[1], "{change}");
            }
        }
    }
}

#[test]
fn errors_are_those_of_the_text() {
    let fixture = Fixture::new();
    let mut client = with_table(&fixture);
    all_fail(
        &mut client,
        &[
            (207, "SELECT id FROM t WHERE none = 1"),
            (208, "SELECT id FROM nowhere WHERE a = 1"),
            (102, "SELECT id FROM t WHERE id = 1)"),
            (245, "SELECT id FROM t WHERE whole = 'x'"),
            (8134, "SELECT 1 / (id - id) FROM t WHERE id = 1"),
            (2628, "INSERT t (vc) VALUES ('too long')"),
        ],
    );
    for sql in [
        "SELECT id\nFROM t\nWHERE whole\n= 'x'",
        "SELECT id,\n none FROM t WHERE id = 1",
        "INSERT t (tiny)\nVALUES (1),\n(300)",
        "SELECT id FROM t WHERE id = 1 AND",
        "SELECT FROM t WHERE id = 1",
        "DELETE t WHERE id = 'two\nlines'",
    ] {
        answers_alike(&mut client, sql);
    }
}

#[test]
fn others_see_the_text_that_the_client_sent() {
    let fixture = Fixture::new();
    let mut client = with_table(&fixture);
    let spid = client.int("SELECT CAST(@@SPID AS INT)");
    let mut other = fixture.client();
    for sql in ["SELECT id FROM t WHERE id = 41", "SELECT id FROM t WHERE id = 42"] {
        client.batch(sql);
        let sent = format!(
            "SELECT x.text FROM sys.dm_exec_connections c CROSS APPLY sys.dm_exec_sql_text(c.most_recent_sql_handle) x
             WHERE c.session_id = {spid}"
        );
        assert_eq!(other.text(&sent), sql);
    }
}

#[test]
fn a_program_outlives_changes_of_its_table() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    succeed(
        &mut client,
        "CREATE TABLE t (a INT, b VARCHAR(9)) INSERT t VALUES (1, 'one'), (2, 'two')",
    );
    assert_eq!(client.text("SELECT b FROM t WHERE a = 1"), "one");
    succeed(&mut client, "ALTER TABLE t ALTER COLUMN a VARCHAR(9)");
    assert_eq!(client.text("SELECT b FROM t WHERE a = 2"), "two");
    succeed(&mut client, "CREATE INDEX i ON t (a) WHERE a = '2'");
    assert_eq!(client.text("SELECT b FROM t WHERE a = '2'"), "two");
    succeed(
        &mut client,
        "DROP TABLE t CREATE TABLE t (b VARCHAR(9), a INT) INSERT t VALUES ('new', 2)",
    );
    assert_eq!(client.text("SELECT b FROM t WHERE a = 2"), "new");
}
