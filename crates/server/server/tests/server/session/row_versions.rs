//! rowversion: changed by each change, its counter, optimistic concurrency, what is refused.

use selenite_types::{DataType, Value, Width};

use super::client::{Client, all_fail, fails, shown, succeed};
use super::fixture::Fixture;

fn client(fixture: &Fixture) -> Client {
    let mut client = fixture.client();
    succeed(&mut client, "CREATE DATABASE d");
    succeed(&mut client, "USE d");
    client
}

/// The versions of a query's rows, as numbers.
#[track_caller]
fn versions(client: &mut Client, sql: &str) -> Vec<i64> {
    let row = |row: Vec<Value>| match row.as_slice() {
        [Value::Binary(bytes), ..] => i64::from_be_bytes(bytes.as_ref().try_into().unwrap()),
        other => panic!("{other:?}"),
    };
    succeed(client, sql).rows().into_iter().map(row).collect()
}

#[test]
fn each_change_of_a_row_changes_its_version() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    assert_eq!(versions(&mut client, "SELECT @@DBTS"), [2000]);
    succeed(
        &mut client,
        "CREATE TABLE t (id int PRIMARY KEY, a int, rv rowversion); INSERT t (id, a) VALUES (1, 1), (2, 2); \
         INSERT t VALUES (3, 3, DEFAULT)",
    );
    let all = "SELECT rv FROM t ORDER BY id";
    assert_eq!(versions(&mut client, all), [2001, 2002, 2003]);
    succeed(&mut client, "UPDATE t SET a = a WHERE id = 2");
    assert_eq!(versions(&mut client, all), [2001, 2004, 2003]);
    // Only an assignment to a variable is no change.
    succeed(&mut client, "DECLARE @a int; UPDATE t SET @a = a");
    assert_eq!(versions(&mut client, all), [2001, 2004, 2003]);
    let changed = "UPDATE t SET a = 9 OUTPUT inserted.rv, deleted.rv WHERE id = 1";
    assert_eq!(versions(&mut client, changed), [2005]);
    succeed(
        &mut client,
        "MERGE t USING (VALUES (3, 30), (4, 40)) s (id, a) ON t.id = s.id WHEN MATCHED THEN UPDATE SET a = s.a \
         WHEN NOT MATCHED THEN INSERT (id, a) VALUES (s.id, s.a);",
    );
    assert_eq!(versions(&mut client, all), [2005, 2004, 2006, 2007]);
    succeed(&mut client, "DELETE t WHERE id = 4");
    assert_eq!(versions(&mut client, "SELECT @@DBTS"), [2007]);
    drop(client);
    fixture.stop();
}

#[test]
fn a_version_is_given_once_and_the_counter_is_the_databases() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE TABLE t (a int, rv timestamp); CREATE TABLE u (a int, timestamp); INSERT t (a) VALUES (1); \
         INSERT u (a) VALUES (1)",
    );
    succeed(&mut client, "BEGIN TRAN; INSERT t (a) VALUES (2)");
    assert_eq!(versions(&mut client, "SELECT MIN_ACTIVE_ROWVERSION()"), [2003]);
    succeed(&mut client, "ROLLBACK");
    assert_eq!(versions(&mut client, "SELECT MIN_ACTIVE_ROWVERSION()"), [2004]);
    succeed(&mut client, "INSERT u (a) VALUES (2)");
    assert_eq!(
        versions(&mut client, "SELECT timestamp FROM u ORDER BY a"),
        [2002, 2004]
    );
    let mut other = fixture.client();
    succeed(&mut other, "CREATE DATABASE e");
    succeed(
        &mut other,
        "USE e; CREATE TABLE t (a int, rv rowversion); INSERT t (a) VALUES (1)",
    );
    assert_eq!(versions(&mut other, "SELECT rv FROM t"), [2001]);
    succeed(
        &mut other,
        "CREATE TABLE #t (a int, rv rowversion); INSERT #t (a) VALUES (1)",
    );
    assert_eq!(versions(&mut other, "SELECT @@DBTS"), [2001]);
    drop((client, other));
    let fixture = fixture.restarted();
    let mut client = fixture.client();
    succeed(&mut client, "USE d; INSERT t (a) VALUES (3)");
    let last = versions(&mut client, "SELECT MAX(rv) FROM t");
    assert!(last[0] > 2004, "{last:?}");
    assert_eq!(versions(&mut client, "SELECT @@DBTS"), last);
    drop(client);
    fixture.stop();
}

#[test]
fn an_update_by_version_finds_the_row_unless_it_was_changed() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE TABLE t (id int IDENTITY PRIMARY KEY, a int, rv rowversion)",
    );
    // As Entity Framework does it.
    let insert = "INSERT INTO t (a) OUTPUT INSERTED.id, INSERTED.rv VALUES (1)";
    let rows = succeed(&mut client, insert).rows();
    let Value::Binary(version) = &rows[0][1] else {
        panic!("{rows:?}")
    };
    let update = |client: &mut Client, value: i32, version: &Value| {
        let sql = "SET IMPLICIT_TRANSACTIONS OFF; SET NOCOUNT ON; UPDATE t SET a = @p0 OUTPUT INSERTED.rv \
                   WHERE id = @p1 AND rv = @p2";
        let bytes = DataType::VarBinary(Width::Limited(8));
        let parameters = vec![
            super::client::text(sql),
            super::client::text("@p0 int, @p1 int, @p2 varbinary(8)"),
            super::client::int("@p0", value),
            super::client::int("@p1", 1),
            super::client::parameter("@p2", bytes, version.clone()),
        ];
        let answer = client.call_by_name("sp_executesql", parameters);
        assert_eq!(answer.errors(), []);
        answer.rows()
    };
    let first = Value::Binary(version.clone());
    let second = update(&mut client, 5, &first);
    assert_eq!(second.len(), 1);
    assert_eq!(update(&mut client, 6, &first), Vec::<Vec<Value>>::new());
    assert_eq!(update(&mut client, 7, &second[0][0]).len(), 1);
    assert_eq!(client.int("SELECT a FROM t"), 7);
    let compared = "SELECT COUNT(*) FROM t WHERE rv > 0x00000000000007D1 AND rv = CONVERT(bigint, rv) AND rv <= @@DBTS";
    assert_eq!(client.int(compared), 1);
    drop(client);
    fixture.stop();
}

#[test]
fn no_statement_assigns_a_version() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE TABLE t (a int, rv rowversion); CREATE TABLE p (id int PRIMARY KEY); INSERT p VALUES (1); \
         CREATE TABLE c (id int REFERENCES p ON UPDATE CASCADE ON DELETE CASCADE, rv rowversion); \
         INSERT c (id) VALUES (1)",
    );
    all_fail(
        &mut client,
        &[
            (273, "INSERT t (a, rv) VALUES (1, 0x01)"),
            (273, "INSERT t (a, rv) SELECT a, rv FROM t"),
            (213, "INSERT t VALUES (1)"),
            (272, "UPDATE t SET rv = 0x01"),
            (272, "UPDATE t SET rv = DEFAULT"),
            (273, "UPDATE p SET id = 1 OUTPUT inserted.id, 0x01 INTO t"),
            (2738, "CREATE TABLE u (a rowversion, b timestamp)"),
            (1755, "CREATE TABLE u (a rowversion DEFAULT 0x01)"),
            (4927, "ALTER TABLE t ALTER COLUMN a rowversion"),
            (4928, "ALTER TABLE t ALTER COLUMN rv int"),
            (2738, "ALTER TABLE t ADD other rowversion"),
            (40510, "UPDATE p SET id = 2"),
            (2716, "CREATE TABLE u (a rowversion(8))"),
            (206, "DECLARE @a rowversion = 1e0"),
        ],
    );
    succeed(&mut client, "DELETE p");
    assert_eq!(client.int("SELECT COUNT(*) FROM c"), 0);
    drop(client);
    fixture.stop();
}

#[test]
fn a_version_is_added_to_a_table_and_survives_other_changes_of_it() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE TABLE t (a int); INSERT t VALUES (1), (2); ALTER TABLE t ADD rv rowversion",
    );
    let all = "SELECT rv FROM t ORDER BY a";
    let added = versions(&mut client, all);
    assert_eq!(added, [2001, 2002]);
    succeed(&mut client, "ALTER TABLE t ALTER COLUMN a varchar(10)");
    assert_eq!(versions(&mut client, all), added);
    succeed(
        &mut client,
        "ALTER TABLE t ADD b int NOT NULL DEFAULT 1; CREATE UNIQUE INDEX i ON t (rv)",
    );
    assert_eq!(versions(&mut client, all), added);
    succeed(&mut client, "UPDATE t SET b = 2");
    assert_eq!(versions(&mut client, all), [2003, 2004]);
    succeed(&mut client, "SELECT a, rv INTO u FROM t");
    assert_eq!(versions(&mut client, "SELECT rv FROM u ORDER BY a"), [2003, 2004]);
    succeed(
        &mut client,
        "INSERT u (a) VALUES ('x'); DECLARE @t TABLE (a int, rv rowversion); INSERT @t (a) VALUES (1)",
    );
    assert_eq!(client.int("SELECT COUNT(*) FROM u WHERE rv IS NULL"), 0);
    drop(client);
    fixture.stop();
}

#[test]
fn a_version_is_described_as_timestamp() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(&mut client, "CREATE TABLE t (a int, rv rowversion, b int)");
    let sql = "SELECT TYPE_NAME(user_type_id), system_type_id, CONVERT(int, max_length), is_nullable FROM sys.columns \
               WHERE object_id = OBJECT_ID('t') AND name = 'rv'";
    let answer = succeed(&mut client, sql);
    assert_eq!(answer.rows()[0][0], Value::Text("timestamp".into()));
    assert_eq!(answer.rows()[0][2], Value::Int(8));
    assert_eq!(answer.rows()[0][3], Value::Bit(false));
    let sql = "SELECT DATA_TYPE FROM INFORMATION_SCHEMA.COLUMNS WHERE COLUMN_NAME = 'rv'";
    assert_eq!(client.text(sql), "timestamp");
    let answer = succeed(&mut client, "EXEC sp_special_columns 't', @col_type = 'V'");
    assert_eq!(answer.rows()[0][1], Value::Text("rv".into()));
    assert_eq!(
        shown(&succeed(
            &mut client,
            "SELECT name FROM sys.types WHERE system_type_id = 189"
        )),
        "timestamp"
    );
    let sql = "SELECT system_type_name FROM sys.dm_exec_describe_first_result_set(N'SELECT rv FROM t', NULL, 0)";
    assert_eq!(client.text(sql), "timestamp");
    drop(client);
    fixture.stop();
}

#[test]
fn a_bulk_load_makes_its_own_versions() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(&mut client, "CREATE TABLE t (a int, rv rowversion)");
    let row = |a| vec![Value::Int(a)];
    let answer = client.bulk("INSERT BULK t (a int)", &[("a", DataType::Int)], &[row(1), row(2)]);
    assert_eq!(answer.errors(), []);
    let columns = [("a", DataType::Int), ("rv", DataType::Binary(8))];
    let rows = [vec![Value::Int(3), Value::Binary([0; 8].into())]];
    let answer = client.bulk("INSERT BULK t (a int, rv timestamp)", &columns, &rows);
    assert_eq!(answer.errors(), []);
    assert_eq!(versions(&mut client, "SELECT rv FROM t ORDER BY a"), [2001, 2002, 2003]);
    fails(&mut client, 8116, "SELECT DECOMPRESS('a')");
    drop(client);
    fixture.stop();
}
