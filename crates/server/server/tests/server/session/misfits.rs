//! Values in the file that do not fit their declared type: another program wrote them.

use super::client::Client;
use super::fixture::Fixture;

fn made(fixture: &Fixture) -> Client {
    let mut client = fixture.client();
    client.batch("CREATE DATABASE d");
    let made = client.batch(
        "USE d CREATE TABLE t (a INT PRIMARY KEY, i SMALLINT, d DATETIME2(3), m DECIMAL(9, 2), v VARCHAR(4), g UNIQUEIDENTIFIER,
            f BIT, n CHAR(3))
         INSERT INTO t VALUES (1, 7, '2024-05-06 07:08:09.123', 1.25, 'abcd', NULL, 1, 'x')
         INSERT INTO t VALUES (2, 7, '2024-05-06 07:08:09.123', 1.25, 'abcd', NULL, 1, 'x')",
    );
    assert_eq!(made.errors(), []);
    client
}

#[test]
fn a_value_that_does_not_fit_is_an_error_that_names_table_and_column() {
    let fixture = Fixture::new();
    let mut client = made(&fixture);
    let sqlite = fixture.in_sqlite("d");
    for (column, value) in [
        ("i", "40000"),
        ("i", "'seven'"),
        ("i", "7.5"),
        ("d", "'yesterday'"),
        ("d", "20240506"),
        ("d", "'2024-02-30 00:00:00.000'"),
        ("m", "12345678901"),
        ("m", "'1.25'"),
        ("m", "x'00'"),
        ("v", "'longer'"),
        ("v", "x'61'"),
        ("g", "'6F9619FF-8B86-D011-B42D-00C04FC964FF'"),
        ("g", "x'00'"),
        ("f", "2"),
        ("n", "'wxyz'"),
    ] {
        let update = format!("UPDATE t SET {column} = {value} WHERE a = 2");
        sqlite.execute_batch(&update).unwrap();
        let answer = client.batch(&format!("SELECT a, {column} FROM t ORDER BY a"));
        let errors: Vec<i32> = answer.errors().iter().map(|error| error.0).collect();
        assert_eq!(errors, [50_823], "{update}");
        let text = &answer.said()[0].text;
        let told = format!("table 'dbo.t', column '{column}'");
        assert!(text.contains(&told), "{update}: {text}");
        // What was valid was sent before the error.
        assert_eq!(answer.rows().len(), 1, "{update}");
        // In an expression, too.
        let answer = client.batch(&format!("SELECT COUNT(*) FROM t WHERE CONCAT({column}, '!') = '?'"));
        assert_eq!(answer.errors().first().map(|error| error.0), Some(50_823), "{update}");
        assert!(answer.said()[0].text.contains(&told), "{update}: {answer:?}");
        // Other columns and rows are read as ever.
        assert_eq!(client.int("SELECT COUNT(*) FROM t"), 2);
        assert_eq!(
            client.batch(&format!("SELECT {column} FROM t WHERE a = 1")).errors(),
            []
        );
        let mend = format!("UPDATE t SET {column} = (SELECT {column} FROM t WHERE a = 1) WHERE a = 2");
        assert_eq!(client.batch(&mend).errors(), [], "{mend}");
    }
}

#[test]
fn what_reads_a_misfit_changes_nothing() {
    let fixture = Fixture::new();
    let mut client = made(&fixture);
    let sqlite = fixture.in_sqlite("d");
    sqlite.execute_batch("UPDATE t SET i = 'seven' WHERE a = 2").unwrap();
    for text in [
        "UPDATE t SET m = i",
        "UPDATE t SET i = i + 1",
        "DELETE FROM t WHERE i + 1 > 0",
        "INSERT INTO t (a, i) SELECT a + 10, i FROM t",
        "DELETE FROM t OUTPUT deleted.i",
    ] {
        let answer = client.batch(text);
        assert_eq!(
            answer.errors().first().map(|error| error.0),
            Some(50_823),
            "{text}: {answer:?}"
        );
    }
    assert_eq!(client.int("SELECT COUNT(*) FROM t"), 2);
    assert_eq!(client.int("SELECT CAST(SUM(m * 100) AS INT) FROM t"), 250);
}

#[test]
fn a_null_in_a_not_null_column_is_refused() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    client.batch("CREATE DATABASE d");
    client.batch("USE d CREATE TABLE t (a INT NOT NULL)");
    let sqlite = fixture.in_sqlite("d");
    // SQLite's own table has the constraint as well.
    assert!(sqlite.execute_batch("INSERT INTO t VALUES (NULL)").is_err());
    assert_eq!(client.int("SELECT COUNT(*) FROM t"), 0);
}

#[test]
fn a_table_that_somebody_else_made_is_read_by_its_declared_types() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    client.batch("CREATE DATABASE d");
    client.batch("USE d");
    let sqlite = fixture.in_sqlite("d");
    sqlite
        .execute_batch("CREATE TABLE u (a INTEGER, b TEXT, c REAL, s SMALLINT); INSERT INTO u VALUES (1, 'x', 1.5, 2), (2, 'y', 2.5, 70000)")
        .unwrap();
    assert_eq!(client.int("SELECT CAST(a AS INT) FROM u WHERE b = N'X'"), 1);
    let answer = client.batch("SELECT s FROM u ORDER BY a");
    assert_eq!(answer.errors(), [(50_823, 1)]);
    assert!(
        answer.said()[0].text.contains("table 'dbo.u', column 's'"),
        "{answer:?}"
    );
    // What another process defines is seen by the next statement.
    sqlite.execute_batch("ALTER TABLE u ADD COLUMN e INT").unwrap();
    assert_eq!(client.int("SELECT COUNT(*) FROM u WHERE e IS NULL"), 2);
}

#[test]
fn a_check_finds_every_value_that_does_not_fit() {
    let fixture = Fixture::new();
    let mut client = made(&fixture);
    assert_eq!(client.batch("DBCC CHECKDB").errors(), []);
    let sqlite = fixture.in_sqlite("d");
    sqlite
        .execute_batch("UPDATE t SET i = 'seven', g = x'00' WHERE a = 2")
        .unwrap();
    for command in [
        "DBCC CHECKDB",
        "USE master DBCC CHECKDB (d)",
        "USE d DBCC CHECKTABLE ('t')",
    ] {
        let answer = client.batch(command);
        let errors: Vec<i32> = answer.errors().iter().map(|error| error.0).collect();
        assert_eq!(errors, [2570, 2570], "{command}: {answer:?}");
        for (said, column) in answer.said().iter().filter(|said| said.number == 2570).zip(["i", "g"]) {
            let told = format!("('dbo.t'). Column \"{column}\" value is out of range");
            assert!(said.text.contains(&told), "{said:?}");
            assert!(said.text.starts_with("Row 2 in object ID "), "{said:?}");
        }
        let sum = answer
            .infos()
            .into_iter()
            .find(|text| text.contains("consistency errors"));
        assert!(
            sum.unwrap().contains(" 0 allocation errors and 2 consistency errors"),
            "{answer:?}"
        );
    }
    let physical = client.batch("DBCC CHECKDB WITH PHYSICAL_ONLY");
    assert_eq!(physical.errors(), [], "{physical:?}");
}

#[test]
fn changes_name_the_column_whose_value_does_not_fit() {
    let fixture = Fixture::new();
    let mut client = made(&fixture);
    let sqlite = fixture.in_sqlite("d");
    sqlite.execute_batch("UPDATE t SET i = 'seven' WHERE a = 2").unwrap();
    for change in [
        "UPDATE t SET f = 0 OUTPUT deleted.i",
        "DELETE t OUTPUT deleted.*",
        "UPDATE t SET m = m + 1 FROM t JOIN (SELECT 1 AS one) o ON 1 = 1",
        "DECLARE @i SMALLINT SELECT @i = i FROM t",
        "INSERT INTO t (a, i) SELECT a + 10, i FROM t",
    ] {
        let answer = client.batch(change);
        assert_eq!(
            answer.errors().first().map(|error| error.0),
            Some(50_823),
            "{change}: {answer:?}"
        );
        assert!(
            answer.said()[0].text.contains("table 'dbo.t', column 'i'"),
            "{change}: {answer:?}"
        );
    }
    assert_eq!(client.int("SELECT COUNT(*) FROM t"), 2);
}
