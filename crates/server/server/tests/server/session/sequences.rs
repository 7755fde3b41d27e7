//! Sequences: NEXT VALUE FOR wherever it may stand, their limits, rollbacks and restarts.

use selenite_types::Value;

use super::client::{Answer, Client, numbers, succeed};
use super::fixture::Fixture;

fn client(fixture: &Fixture) -> Client {
    let mut client = fixture.client();
    succeed(&mut client, "CREATE DATABASE d");
    succeed(&mut client, "USE d");
    client
}

/// The rows of whole numbers.
fn wholes(answer: &Answer) -> Vec<Vec<i64>> {
    let whole = |value: &Value| match value {
        Value::TinyInt(value) => i64::from(*value),
        Value::Int(value) => i64::from(*value),
        Value::BigInt(value) => *value,
        Value::Decimal(value) => i64::try_from(value.unscaled).unwrap(),
        Value::Bit(value) => i64::from(*value),
        Value::Null => -1,
        other => panic!("{other:?}"),
    };
    let row = |row: &Vec<Value>| row.iter().map(whole).collect();
    answer.rows().iter().map(row).collect()
}

#[track_caller]
fn selects(client: &mut Client, sql: &str, expected: &[&[i64]]) {
    let answer = succeed(client, sql);
    assert_eq!(wholes(&answer), expected, "{sql}");
}

#[track_caller]
fn fails(client: &mut Client, sql: &str, number: i32) {
    let answer = client.batch(sql);
    assert_eq!(numbers(&answer), [number], "{sql}: {answer:?}");
}

#[test]
fn a_sequence_counts_wherever_a_value_may_stand() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE SEQUENCE s AS int START WITH 10 INCREMENT BY 5; CREATE TABLE t (a int, b int)",
    );
    selects(
        &mut client,
        "SELECT NEXT VALUE FOR s, NEXT VALUE FOR dbo.s + 1",
        &[&[10, 11]],
    );
    selects(
        &mut client,
        "DECLARE @a int = NEXT VALUE FOR s, @b int; SET @b = NEXT VALUE FOR s * 2; SELECT @a, @b",
        &[&[15, 40]],
    );
    succeed(
        &mut client,
        "INSERT t VALUES (NEXT VALUE FOR s, NEXT VALUE FOR s), (NEXT VALUE FOR s, 0)",
    );
    selects(&mut client, "SELECT a, b FROM t ORDER BY a", &[&[25, 25], &[30, 0]]);
    succeed(&mut client, "INSERT t (b, a) SELECT NEXT VALUE FOR s, a FROM t");
    selects(&mut client, "SELECT b FROM t WHERE b > 30 ORDER BY b", &[&[35], &[40]]);
    succeed(&mut client, "UPDATE t SET b = NEXT VALUE FOR s WHERE b > 30");
    selects(&mut client, "SELECT b FROM t WHERE b > 30 ORDER BY b", &[&[45], &[50]]);
    succeed(
        &mut client,
        "CREATE TABLE w (id int DEFAULT NEXT VALUE FOR dbo.s PRIMARY KEY, v int)",
    );
    succeed(
        &mut client,
        "INSERT w (v) VALUES (1), (2); INSERT w (v) SELECT a FROM t WHERE a = 30 AND b = 0",
    );
    selects(&mut client, "SELECT id FROM w ORDER BY id", &[&[55], &[60], &[65]]);
    // Each row has one value, whatever takes it.
    succeed(
        &mut client,
        "CREATE TABLE x (a int DEFAULT NEXT VALUE FOR s, b int DEFAULT NEXT VALUE FOR s, c int)",
    );
    succeed(&mut client, "INSERT x (c) VALUES (NEXT VALUE FOR s)");
    selects(&mut client, "SELECT a, b, c FROM x", &[&[70, 70, 70]]);
    succeed(
        &mut client,
        "DECLARE @t TABLE (a int); INSERT @t VALUES (NEXT VALUE FOR s); SELECT * FROM @t",
    );
    selects(&mut client, "SELECT NEXT VALUE FOR s FROM x", &[&[80]]);
}

#[test]
fn over_gives_values_in_its_order() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE SEQUENCE s START WITH 1; CREATE TABLE t (a int); INSERT t VALUES (30), (10), (20)",
    );
    selects(
        &mut client,
        "SELECT a, NEXT VALUE FOR s OVER (ORDER BY a DESC) FROM t ORDER BY a",
        &[&[10, 3], &[20, 2], &[30, 1]],
    );
    succeed(
        &mut client,
        "CREATE TABLE u (n bigint, a int); INSERT u SELECT NEXT VALUE FOR s OVER (ORDER BY a), a FROM t",
    );
    selects(
        &mut client,
        "SELECT n, a FROM u ORDER BY n",
        &[&[4, 10], &[5, 20], &[6, 30]],
    );
    fails(
        &mut client,
        "SELECT NEXT VALUE FOR s OVER (PARTITION BY a ORDER BY a) FROM t",
        11716,
    );
    fails(&mut client, "SELECT NEXT VALUE FOR s OVER () FROM t", 11718);
    fails(
        &mut client,
        "SELECT NEXT VALUE FOR s, NEXT VALUE FOR s OVER (ORDER BY a) FROM t",
        11727,
    );
    fails(
        &mut client,
        "UPDATE t SET a = NEXT VALUE FOR s OVER (ORDER BY a)",
        11717,
    );
}

#[test]
fn values_that_were_taken_are_not_given_again() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE SEQUENCE s START WITH 1; CREATE TABLE t (a int PRIMARY KEY)",
    );
    selects(&mut client, "BEGIN TRAN; SELECT NEXT VALUE FOR s; ROLLBACK", &[&[1]]);
    succeed(&mut client, "INSERT t VALUES (2)");
    fails(&mut client, "INSERT t VALUES (NEXT VALUE FOR s)", 2627);
    selects(
        &mut client,
        "BEGIN TRAN; SAVE TRAN p; SELECT NEXT VALUE FOR s; ROLLBACK TRAN p; COMMIT; SELECT NEXT VALUE FOR s",
        &[&[3], &[4]],
    );
    // A definition is undone.
    selects(
        &mut client,
        "BEGIN TRAN; ALTER SEQUENCE s RESTART WITH 100; SELECT NEXT VALUE FOR s; ROLLBACK; SELECT NEXT VALUE FOR s",
        &[&[100], &[5]],
    );
    selects(
        &mut client,
        "BEGIN TRAN; DROP SEQUENCE s; CREATE SEQUENCE s START WITH 50; SELECT NEXT VALUE FOR s; ROLLBACK; SELECT NEXT VALUE FOR s",
        &[&[50], &[6]],
    );
    let fixture = fixture.restarted();
    let mut client = fixture.client();
    // A restart leaves a gap of what was reserved.
    let after = wholes(&succeed(&mut client, "USE d; SELECT NEXT VALUE FOR s"))[0][0];
    assert!((7..=200).contains(&after), "{after}");
    succeed(
        &mut client,
        "CREATE SEQUENCE plain NO CACHE START WITH 1; DECLARE @a bigint = NEXT VALUE FOR plain",
    );
    let fixture = fixture.restarted();
    let mut client = fixture.client();
    selects(&mut client, "USE d; SELECT NEXT VALUE FOR plain", &[&[2]]);
}

#[test]
fn a_sequence_ends_or_cycles_at_its_limit() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(&mut client, "CREATE SEQUENCE s AS tinyint START WITH 254");
    selects(
        &mut client,
        "SELECT NEXT VALUE FOR s; SELECT NEXT VALUE FOR s",
        &[&[254], &[255]],
    );
    fails(&mut client, "SELECT NEXT VALUE FOR s", 11728);
    selects(
        &mut client,
        "SELECT is_exhausted, CAST(current_value AS int), CAST(last_used_value AS int) FROM sys.sequences WHERE name = 's'",
        &[&[1, 255, 255]],
    );
    succeed(&mut client, "ALTER SEQUENCE s CYCLE MINVALUE 7");
    selects(&mut client, "SELECT NEXT VALUE FOR s", &[&[7]]);
    succeed(&mut client, "ALTER SEQUENCE s RESTART WITH 8 INCREMENT BY -1");
    selects(
        &mut client,
        "SELECT NEXT VALUE FOR s; SELECT NEXT VALUE FOR s; SELECT NEXT VALUE FOR s",
        &[&[8], &[7], &[255]],
    );
    succeed(
        &mut client,
        "CREATE SEQUENCE wide AS decimal(38, 0) START WITH 99999999999999999999 NO CACHE",
    );
    let row = succeed(&mut client, "SELECT NEXT VALUE FOR wide").rows();
    assert!(matches!(row[0][0], Value::Decimal(value) if value.unscaled == 99_999_999_999_999_999_999));
}

#[test]
fn options_of_a_sequence_are_checked() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    for (sql, number) in [
        ("CREATE SEQUENCE s INCREMENT BY 0", 11700),
        ("CREATE SEQUENCE s MINVALUE 1 MAXVALUE 3 INCREMENT BY 5", 11701),
        ("CREATE SEQUENCE s AS decimal(5, 1)", 11702),
        ("CREATE SEQUENCE s AS float", 11702),
        ("CREATE SEQUENCE s START WITH 0 MINVALUE 1", 11703),
        ("CREATE SEQUENCE s MINVALUE 3 MAXVALUE 3", 11705),
        ("CREATE SEQUENCE s CACHE 0", 11706),
        ("CREATE SEQUENCE s AS tinyint START WITH 256", 11708),
        ("CREATE SEQUENCE s RESTART", 11709),
        ("ALTER SEQUENCE s RESTART", 208),
        ("DROP SEQUENCE s", 3701),
    ] {
        fails(&mut client, sql, number);
    }
    succeed(&mut client, "DROP SEQUENCE IF EXISTS s; CREATE SEQUENCE s START WITH 5");
    for (sql, number) in [
        ("CREATE SEQUENCE s", 2714),
        ("ALTER SEQUENCE s START WITH 1", 11710),
        ("ALTER SEQUENCE s AS int", 11711),
        ("ALTER SEQUENCE s", 11715),
        ("ALTER SEQUENCE s MAXVALUE 4", 11704),
        ("CREATE TABLE s (a int)", 2714),
        ("CREATE SEQUENCE nowhere.s", 2760),
    ] {
        fails(&mut client, sql, number);
    }
    succeed(
        &mut client,
        "CREATE TABLE t (a int CONSTRAINT df DEFAULT (NEXT VALUE FOR s))",
    );
    fails(&mut client, "DROP SEQUENCE s", 3729);
    fails(&mut client, "SELECT NEXT VALUE FOR t", 11726);
    fails(&mut client, "SELECT NEXT VALUE FOR nothing", 208);
    fails(&mut client, "DROP SEQUENCE t", 3705);
    succeed(&mut client, "DROP TABLE t; DROP SEQUENCE s");
}

#[test]
fn next_value_is_refused_where_rows_are_not_what_they_seem() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE SEQUENCE s START WITH 1; CREATE TABLE t (a int); INSERT t VALUES (1)",
    );
    for (sql, number) in [
        ("SELECT DISTINCT NEXT VALUE FOR s FROM t", 11721),
        ("SELECT NEXT VALUE FOR s UNION ALL SELECT 1", 11721),
        ("SELECT NEXT VALUE FOR s FROM t ORDER BY a", 11723),
        ("SELECT TOP (1) NEXT VALUE FOR s FROM t", 11739),
        ("SELECT CASE WHEN a = 1 THEN NEXT VALUE FOR s END FROM t", 11741),
        ("SELECT ISNULL(NEXT VALUE FOR s, 1) FROM t", 11741),
        ("SELECT a FROM t WHERE a = NEXT VALUE FOR s", 11720),
        ("SELECT a FROM t ORDER BY NEXT VALUE FOR s", 11720),
        ("SELECT SUM(NEXT VALUE FOR s) FROM t", 11725),
        ("SELECT * FROM (SELECT NEXT VALUE FOR s AS n) x", 11719),
        ("SELECT (SELECT NEXT VALUE FOR s)", 11719),
        ("WITH c AS (SELECT NEXT VALUE FOR s AS n) SELECT n FROM c", 11719),
        ("CREATE TABLE u (a AS NEXT VALUE FOR s, b int)", 11719),
        ("INSERT TOP (1) t SELECT NEXT VALUE FOR s FROM t", 11739),
        ("UPDATE t SET a = IIF(a = 1, NEXT VALUE FOR s, 1)", 11741),
        ("IF NEXT VALUE FOR s = 1 SELECT 1", 11741),
    ] {
        fails(&mut client, sql, number);
    }
    // Nothing was taken.
    selects(&mut client, "SELECT NEXT VALUE FOR s", &[&[1]]);
}

#[test]
fn a_range_is_taken_at_once() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE SEQUENCE s AS int START WITH 1 MAXVALUE 10 MINVALUE 1 CYCLE",
    );
    selects(
        &mut client,
        "DECLARE @first int, @last int, @cycles int; \
         EXEC sp_sequence_get_range N'dbo.s', 4, @first OUTPUT, @last OUTPUT; SELECT @first, @last; \
         EXEC sys.sp_sequence_get_range @sequence_name = N's', @range_size = 8, @range_first_value = @first OUTPUT, \
         @range_cycle_count = @cycles OUTPUT, @range_last_value = @last OUTPUT; SELECT @first, @last, @cycles",
        &[&[1, 4], &[5, 2, 1]],
    );
    selects(&mut client, "SELECT NEXT VALUE FOR s", &[&[3]]);
    succeed(&mut client, "ALTER SEQUENCE s NO CYCLE");
    fails(
        &mut client,
        "DECLARE @a int; EXEC sp_sequence_get_range 's', 8, @a OUTPUT",
        11732,
    );
    fails(
        &mut client,
        "DECLARE @a int; EXEC sp_sequence_get_range 's', 0, @a OUTPUT",
        11733,
    );
    fails(
        &mut client,
        "DECLARE @a int; EXEC sp_sequence_get_range 'x', 1, @a OUTPUT",
        208,
    );
}

#[test]
fn any_number_of_values_is_reserved() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(&mut client, "CREATE SEQUENCE s AS int START WITH 1 CACHE 2147483647");
    succeed(
        &mut client,
        "CREATE SEQUENCE c AS tinyint START WITH 250 INCREMENT BY 3 CYCLE CACHE 100",
    );
    selects(
        &mut client,
        "SELECT NEXT VALUE FOR s; SELECT NEXT VALUE FOR s",
        &[&[1], &[2]],
    );
    selects(
        &mut client,
        "SELECT NEXT VALUE FOR c FROM (VALUES (1), (2), (3), (4)) AS x (a)",
        &[&[250], &[253], &[0], &[3]],
    );
}

#[test]
fn the_views_show_sequences() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(&mut client, "CREATE SCHEMA x");
    succeed(
        &mut client,
        "CREATE SEQUENCE x.s AS smallint START WITH 3 INCREMENT BY 2 MINVALUE 1 MAXVALUE 9 CYCLE CACHE 4",
    );
    selects(
        &mut client,
        "SELECT CAST(start_value AS int), CAST(increment AS int), CAST(minimum_value AS int), CAST(maximum_value AS int), \
         is_cycling, is_cached, cache_size, system_type_id, precision, CAST(current_value AS int), is_exhausted, \
         CAST(last_used_value AS int) FROM sys.sequences",
        &[&[3, 2, 1, 9, 1, 1, 4, 52, 5, 3, 0, -1]],
    );
    let of_standard = "SELECT CONCAT_WS(' ', SEQUENCE_CATALOG, SEQUENCE_SCHEMA, SEQUENCE_NAME, DATA_TYPE, \
                       NUMERIC_PRECISION, NUMERIC_PRECISION_RADIX, NUMERIC_SCALE, START_VALUE, MINIMUM_VALUE, \
                       MAXIMUM_VALUE, INCREMENT, CYCLE_OPTION) FROM INFORMATION_SCHEMA.SEQUENCES";
    let database = client.text("SELECT DB_NAME()");
    assert_eq!(
        client.text(of_standard),
        format!("{database} x s smallint 5 10 0 3 1 9 2 1")
    );
    let rows = succeed(
        &mut client,
        "SELECT type, type_desc, SCHEMA_NAME(schema_id) FROM sys.objects WHERE object_id = OBJECT_ID('x.s')",
    )
    .rows();
    let texts: Vec<Value> = ["SO", "SEQUENCE_OBJECT", "x"]
        .map(|text| Value::Text(text.into()))
        .to_vec();
    assert_eq!(rows, [texts]);
    fails(&mut client, "DROP SCHEMA x", 3729);
    succeed(
        &mut client,
        "ALTER SCHEMA dbo TRANSFER x.s; DROP SCHEMA x; DROP SEQUENCE s",
    );
}
