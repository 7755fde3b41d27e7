//! Numbers of IDENTITY after a rollback, and after a table is emptied, dropped and altered.

use selenite_types::Value;

use super::client::{Client, numbers, succeed};
use super::fixture::Fixture;

fn client(fixture: &Fixture) -> Client {
    let mut client = fixture.client();
    succeed(&mut client, "CREATE DATABASE d");
    succeed(&mut client, "USE d");
    client
}

/// The numbers of table g in order.
fn ids(client: &mut Client) -> Vec<i32> {
    let rows = succeed(client, "SELECT id FROM g ORDER BY id").rows();
    let id = |row: &Vec<Value>| match row[0] {
        Value::Int(id) => id,
        _ => panic!("{row:?}"),
    };
    rows.iter().map(id).collect()
}

const MADE: &str = "CREATE TABLE g (id int IDENTITY, v int); INSERT g (v) VALUES (1), (2), (3)";

/// The table that the batch leaves continues at its next number.
fn goes_on(batch: &str, expected: &[i32]) {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(&mut client, MADE);
    succeed(&mut client, batch);
    succeed(&mut client, "INSERT g (v) VALUES (6), (7)");
    assert_eq!(ids(&mut client), expected, "{batch}");
    let row = &succeed(&mut client, "SELECT IDENT_CURRENT('g'), @@IDENTITY, SCOPE_IDENTITY()").rows()[0];
    assert!(row[0] == row[1] && row[1] == row[2], "{batch}: {row:?}");
}

#[test]
fn a_table_whose_drop_is_rolled_back_goes_on_where_it_was() {
    goes_on(
        "BEGIN TRAN; DROP TABLE g; CREATE TABLE g (id int IDENTITY, v int); INSERT g (v) VALUES (0); ROLLBACK",
        &[1, 2, 3, 4, 5],
    );
    goes_on("BEGIN TRAN; DROP TABLE g; ROLLBACK", &[1, 2, 3, 4, 5]);
    goes_on(
        "BEGIN TRAN; SAVE TRAN s; DROP TABLE g; CREATE TABLE g (id int IDENTITY, v int); INSERT g (v) VALUES (0); \
         ROLLBACK TRAN s; COMMIT",
        &[1, 2, 3, 4, 5],
    );
    goes_on(
        "BEGIN TRAN; UPDATE g SET v = 9; SAVE TRAN s; DROP TABLE g; SELECT a = 1 INTO g; ROLLBACK TRAN s; COMMIT",
        &[1, 2, 3, 4, 5],
    );
}

#[test]
fn a_table_whose_truncation_is_rolled_back_goes_on_where_it_was() {
    goes_on(
        "BEGIN TRAN; TRUNCATE TABLE g; INSERT g (v) VALUES (0); ROLLBACK",
        &[1, 2, 3, 4, 5],
    );
    goes_on(
        "BEGIN TRAN; UPDATE g SET v = 9; SAVE TRAN s; TRUNCATE TABLE g; INSERT g (v) VALUES (0); ROLLBACK TRAN s; COMMIT",
        &[1, 2, 3, 4, 5],
    );
    goes_on("TRUNCATE TABLE g", &[1, 2]);
    goes_on(
        "BEGIN TRAN; TRUNCATE TABLE g; INSERT g (v) VALUES (0); COMMIT",
        &[1, 2, 3],
    );
}

#[test]
fn numbers_that_were_given_are_not_given_again_after_a_rollback() {
    goes_on("BEGIN TRAN; INSERT g (v) VALUES (0); ROLLBACK", &[1, 2, 3, 5, 6]);
    goes_on(
        "BEGIN TRAN; SAVE TRAN s; INSERT g (v) VALUES (0); ROLLBACK TRAN s; COMMIT",
        &[1, 2, 3, 5, 6],
    );
    goes_on(
        "BEGIN TRAN; INSERT g (v) VALUES (0); TRUNCATE TABLE g; ROLLBACK",
        &[1, 2, 3, 5, 6],
    );
}

#[test]
fn a_table_that_was_never_made_leaves_no_number_to_the_next() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    for undone in [
        "CREATE TABLE g (id int IDENTITY, v int)",
        "SELECT a = 1 INTO f; DROP TABLE f; CREATE TABLE g (id int IDENTITY, v int)",
    ] {
        succeed(
            &mut client,
            &format!("BEGIN TRAN; {undone}; INSERT g (v) VALUES (1), (2), (3); ROLLBACK"),
        );
        succeed(
            &mut client,
            "CREATE TABLE g (id int IDENTITY, v int); INSERT g (v) VALUES (1)",
        );
        assert_eq!(ids(&mut client), [1], "{undone}");
        succeed(&mut client, "DROP TABLE g");
    }
}

#[test]
fn an_altered_table_goes_on_at_the_next_number() {
    goes_on("ALTER TABLE g ALTER COLUMN v varchar(10)", &[1, 2, 3, 4, 5]);
    goes_on(
        "ALTER TABLE g ALTER COLUMN id bigint; ALTER TABLE g ALTER COLUMN id int",
        &[1, 2, 3, 4, 5],
    );
    goes_on(
        "BEGIN TRAN; ALTER TABLE g ALTER COLUMN v varchar(10); INSERT g (v) VALUES (0); ROLLBACK",
        &[1, 2, 3, 5, 6],
    );
    goes_on(
        "DELETE g WHERE id > 1; ALTER TABLE g DROP COLUMN id; ALTER TABLE g ADD id int IDENTITY",
        &[1, 2, 3],
    );
    goes_on(
        "BEGIN TRAN; ALTER TABLE g DROP COLUMN id; ALTER TABLE g ADD id int IDENTITY (10, 10); ROLLBACK",
        &[1, 2, 3, 4, 5],
    );
}

#[test]
fn a_number_counts_as_the_last_one_although_its_statement_failed() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE TABLE g (id int IDENTITY, v int CHECK (v < 10)); INSERT g (v) VALUES (1)",
    );
    assert_eq!(numbers(&client.batch("INSERT g (v) VALUES (10)")), [547]);
    assert_eq!(client.int("SELECT CAST(@@IDENTITY AS int)"), 2);
    assert_eq!(client.int("SELECT CAST(IDENT_CURRENT('g') AS int)"), 2);
}

#[test]
fn an_insert_without_numbers_leaves_no_last_one() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE TABLE plain (v int); CREATE TABLE g (id int IDENTITY, v int); INSERT g (v) VALUES (1)",
    );
    let row = succeed(
        &mut client,
        "INSERT plain VALUES (1); SELECT @@IDENTITY, CAST(SCOPE_IDENTITY() AS int)",
    )
    .rows();
    assert_eq!(row, [[Value::Null, Value::Int(1)]]);
    let row = succeed(
        &mut client,
        "INSERT g (v) VALUES (2); UPDATE plain SET v = 2; SELECT CAST(@@IDENTITY AS int), CAST(SCOPE_IDENTITY() AS int)",
    )
    .rows();
    assert_eq!(row, [[Value::Int(2), Value::Int(2)]]);
}

#[test]
fn numbers_are_given_by_hand_in_one_table_of_one_database() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    for text in [
        MADE,
        "CREATE TABLE h (id int IDENTITY)",
        "CREATE PROCEDURE p AS SET IDENTITY_INSERT h ON; INSERT h (id) VALUES (1)",
        "CREATE DATABASE other",
        "USE other",
        MADE,
        "SET IDENTITY_INSERT g ON",
        "INSERT g (id, v) VALUES (10, 10)",
        "USE d",
    ] {
        succeed(&mut client, text);
    }
    assert_eq!(numbers(&client.batch("INSERT g (id, v) VALUES (10, 10)")), [544]);
    assert_eq!(numbers(&client.batch("SET IDENTITY_INSERT g ON")), [8107]);
    succeed(&mut client, "USE other; SET IDENTITY_INSERT g OFF; USE d");
    // What a procedure or a text sets ends with it.
    succeed(
        &mut client,
        "EXEC p; EXEC ('SET IDENTITY_INSERT h ON; INSERT h (id) VALUES (2)')",
    );
    assert_eq!(numbers(&client.batch("INSERT h (id) VALUES (3)")), [544]);
    // Another table of the name is another table.
    succeed(&mut client, "SET IDENTITY_INSERT g ON; DROP TABLE g");
    succeed(&mut client, MADE);
    assert_eq!(numbers(&client.batch("INSERT g (id, v) VALUES (10, 10)")), [544]);
    succeed(&mut client, "SET IDENTITY_INSERT h ON; INSERT h (id) VALUES (4)");
}

#[test]
fn a_temporary_table_has_numbers_of_its_own_whatever_is_rolled_back() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE TABLE #g (id int IDENTITY, v int); INSERT #g (v) VALUES (1), (2), (3)
         BEGIN TRAN; DROP TABLE #g; CREATE TABLE #g (id int IDENTITY, v int); INSERT #g (v) VALUES (0); ROLLBACK
         BEGIN TRAN; TRUNCATE TABLE #g; INSERT #g (v) VALUES (0); ROLLBACK; DELETE #g WHERE id = 3",
    );
    assert_eq!(numbers(&client.batch("DROP TABLE #g, #none")), [3701]);
    succeed(&mut client, "INSERT #g (v) VALUES (4)");
    assert_eq!(client.int("SELECT MAX(id) FROM #g"), 4);
}

#[test]
fn savepoint_names_are_case_sensitive() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE TABLE t (a int); BEGIN TRAN; INSERT t VALUES (0); SAVE TRAN S; INSERT t VALUES (1); SAVE TRAN s
         INSERT t VALUES (2); ROLLBACK TRAN S; COMMIT",
    );
    assert_eq!(client.int("SELECT COUNT(*) FROM t"), 1);
}

/// SELECT INTO: "the new column inherits the IDENTITY property" unless there is a join, a union or an expression.
#[test]
fn an_identity_is_seen_through_views_and_beside_computed_columns() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE TABLE t (id int IDENTITY(5, 2), a int, c AS (a + 1), d AS (id)) INSERT t (a) VALUES (1), (2)",
    );
    succeed(&mut client, "CREATE VIEW v AS SELECT a, id, id + 0 AS no, c FROM t");
    succeed(&mut client, "CREATE VIEW w AS SELECT v.id FROM v JOIN t ON t.id = v.id");
    let told = "SELECT STRING_AGG(CONCAT(OBJECT_NAME(object_id), '.', name), ' ') WITHIN GROUP (ORDER BY object_id) \
                FROM sys.columns WHERE is_identity = 1 AND object_id IN (OBJECT_ID('v'), OBJECT_ID('w'))";
    assert_eq!(client.text(told), "v.id");
    assert_eq!(
        client.int("SELECT COLUMNPROPERTY(OBJECT_ID('v'), 'id', 'IsIdentity')"),
        1
    );
    for (text, is_kept) in [
        ("SELECT * INTO n FROM t", true),
        ("SELECT id, a INTO n FROM v", true),
        ("SELECT id INTO n FROM (SELECT id FROM v) AS x", true),
        ("SELECT no INTO n FROM v", false),
        ("SELECT d INTO n FROM t", false),
        ("SELECT id INTO n FROM w", false),
        (
            "SELECT id INTO n FROM (SELECT id FROM t UNION ALL SELECT 1) AS x",
            false,
        ),
        ("SELECT id INTO n FROM (SELECT DISTINCT id FROM t) AS x", false),
    ] {
        succeed(&mut client, text);
        let seed = client.int("SELECT ISNULL(CAST(IDENT_SEED('n') AS int), 0)");
        assert_eq!(seed, if is_kept { 5 } else { 0 }, "{text}");
        succeed(&mut client, "DROP TABLE n");
    }
}

#[test]
fn an_identity_of_more_digits_than_a_bigint_has_goes_on_after_a_restart() {
    let fixture = Fixture::new();
    let mut first = client(&fixture);
    succeed(
        &mut first,
        "CREATE TABLE g (id numeric(25, 0) IDENTITY(10000000000000000000000, -1), v int); INSERT g (v) VALUES (1), (2)",
    );
    drop(first);
    let fixture = fixture.restarted();
    let mut client = fixture.client();
    succeed(&mut client, "USE d");
    succeed(
        &mut client,
        "DBCC CHECKIDENT ('g'); DBCC CHECKIDENT ('g', NORESEED); INSERT g (v) VALUES (3)",
    );
    let asked = "SELECT COUNT(DISTINCT id) FROM g WHERE id BETWEEN 9999999999999999990000 AND 10000000000000000000000";
    assert_eq!(client.value(asked), Value::Int(3));
}
