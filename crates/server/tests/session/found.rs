//! What attackers found: answers that were wrong, and rows that were told to who may not see them.

use selenite_types::Value;

use crate::bench::Bench;
use crate::client::{Answer, Client};

const PASSWORD: &str = "Corr3ct-horse";

fn numbers(answer: &Answer) -> Vec<i32> {
    answer.errors().iter().map(|(number, _)| *number).collect()
}

fn succeed(client: &mut Client, sql: &str) -> Answer {
    let answer = client.batch(sql);
    assert_eq!(numbers(&answer), [0_i32; 0], "{sql}: {answer:?}");
    answer
}

#[test]
fn string_agg_has_its_separator() {
    let bench = Bench::new();
    let mut client = bench.client();
    let joined = |value: &str| Value::Text(value.into());
    let plain = "SELECT STRING_AGG(x, ',') FROM (VALUES ('a'), ('b'), (NULL), ('c')) v (x)";
    assert_eq!(client.value(plain), joined("a,b,c"));
    let ordered = "SELECT STRING_AGG(x, '; ') WITHIN GROUP (ORDER BY x DESC) FROM (VALUES ('a'), ('b'), ('c')) v (x)";
    assert_eq!(client.value(ordered), joined("c; b; a"));
}

#[test]
fn a_datetime_is_compared_with_a_datetime2_by_its_thirds() {
    let bench = Bench::new();
    let mut client = bench.client();
    let compared = |left: &str, right: &str| {
        format!(
            "DECLARE @d DATETIME = '2020-01-01 00:00:00.003'
             SELECT CASE WHEN {left} = {right} THEN 1 WHEN {left} > {right} THEN 2 ELSE 3 END"
        )
    };
    let moment = "CAST('2020-01-01 00:00:00.0030001' AS DATETIME2)";
    assert_eq!(client.value(&compared("CAST(@d AS DATETIME2)", "@d")), Value::Int(1));
    assert_eq!(client.value(&compared("@d", moment)), Value::Int(2));
    let exact = "CAST('2020-01-01 00:00:00.003' AS DATETIME2(3))";
    assert_eq!(client.value(&compared("@d", exact)), Value::Int(2));
}

#[test]
fn who_may_write_reads_nothing_through_a_common_table_expression() {
    let bench = Bench::new();
    let mut client = bench.client();
    let setting = [
        "CREATE DATABASE d",
        "USE d",
        "CREATE TABLE t (n INT, s VARCHAR(10)) INSERT t VALUES (1, 'secret')",
    ];
    for sql in setting {
        succeed(&mut client, sql);
    }
    succeed(&mut client, &format!("CREATE LOGIN ann WITH PASSWORD = '{PASSWORD}'"));
    succeed(
        &mut client,
        "CREATE USER ann FOR LOGIN ann ALTER ROLE db_datawriter ADD MEMBER ann",
    );
    let mut ann = bench.client_as("ann", PASSWORD, "d");
    let refused = [
        "WITH c AS (SELECT n FROM t WHERE s LIKE 'sec%') UPDATE c SET n = 5",
        "WITH c AS (SELECT n, CAST(s AS INT) AS q FROM t WHERE CAST(s AS INT) = 1) UPDATE c SET n = 5",
        "WITH c AS (SELECT * FROM t WHERE s LIKE 'secret_') DELETE c",
        "WITH c AS (SELECT * FROM t) DELETE c",
    ];
    for sql in refused {
        assert_eq!(numbers(&ann.batch(sql)), [229], "{sql}");
    }
    succeed(&mut ann, "UPDATE t SET n = 7");
}

#[test]
fn an_owner_of_one_database_has_dbcc_look_into_no_other() {
    let bench = Bench::new();
    let mut client = bench.client();
    for sql in [
        "CREATE DATABASE other",
        "CREATE DATABASE d",
        "USE d",
        "CREATE TABLE t (n INT)",
    ] {
        succeed(&mut client, sql);
    }
    succeed(&mut client, &format!("CREATE LOGIN ann WITH PASSWORD = '{PASSWORD}'"));
    succeed(
        &mut client,
        "CREATE USER ann FOR LOGIN ann ALTER ROLE db_owner ADD MEMBER ann",
    );
    let mut ann = bench.client_as("ann", PASSWORD, "d");
    let refused = [
        "DBCC CHECKDB('other')",
        "DBCC CHECKDB(1)",
        "DBCC CHECKDB([master])",
        "DBCC CHECKTABLE('other.dbo.t')",
        "DBCC OPENTRAN('other')",
    ];
    for sql in refused {
        assert_eq!(numbers(&ann.batch(sql)).first(), Some(&2571), "{sql}");
    }
    for sql in ["DBCC CHECKDB", "DBCC CHECKDB('d')", "DBCC CHECKTABLE('dbo.t')"] {
        let answer = ann.batch(sql);
        assert!(!numbers(&answer).contains(&2571), "{sql}: {answer:?}");
    }
}

#[test]
fn views_that_double_with_each_level_are_refused() {
    let bench = Bench::new();
    let mut client = bench.client();
    for sql in [
        "CREATE DATABASE d",
        "USE d",
        "CREATE TABLE t (a INT)",
        "CREATE VIEW e0 AS SELECT a FROM t",
    ] {
        succeed(&mut client, sql);
    }
    let mut refused = None;
    for level in 1..=24 {
        let below = level - 1;
        let view = format!("CREATE VIEW e{level} AS SELECT x.a FROM e{below} x JOIN e{below} y ON x.a = y.a");
        refused = numbers(&client.batch(&view)).first().copied();
        if refused.is_some() {
            break;
        }
    }
    assert_eq!(refused, Some(106));
}
