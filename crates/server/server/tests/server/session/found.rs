//! Earlier attacks: answers that were wrong, and rows that were shown to logins that may not see them.

use selenite_types::Value;

use super::client::{numbers, succeed};
use super::fixture::Fixture;

const PASSWORD: &str = "Corr3ct-horse";

#[test]
fn string_agg_has_its_separator() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    let joined = |value: &str| Value::Text(value.into());
    let plain = "SELECT STRING_AGG(x, ',') FROM (VALUES ('a'), ('b'), (NULL), ('c')) v (x)";
    assert_eq!(client.value(plain), joined("a,b,c"));
    let ordered = "SELECT STRING_AGG(x, '; ') WITHIN GROUP (ORDER BY x DESC) FROM (VALUES ('a'), ('b'), ('c')) v (x)";
    assert_eq!(client.value(ordered), joined("c; b; a"));
}

#[test]
fn a_datetime_is_compared_with_a_datetime2_by_its_thirds() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
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
    let fixture = Fixture::new();
    let mut client = fixture.client();
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
    let mut ann = fixture.client_as("ann", PASSWORD, "d");
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
    let fixture = Fixture::new();
    let mut client = fixture.client();
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
    let mut ann = fixture.client_as("ann", PASSWORD, "d");
    let refused = [
        "DBCC CHECKDB('other')",
        "DBCC CHECKDB(1)",
        "DBCC CHECKDB([master])",
        "DBCC CHECKTABLE('other.dbo.t')",
        "DBCC OPENTRAN('other')",
        // With an N before it, it is another one's name.
        "DBCC CHECKDB(Nd)",
        "DBCC CHECKDB(NNd)",
        "DBCC OPENTRAN([Nd])",
        "DBCC CHECKTABLE('[d.x].[dbo].t')",
    ];
    for sql in refused {
        assert_eq!(numbers(&ann.batch(sql)).first(), Some(&2571), "{sql}");
    }
    for sql in [
        "DBCC CHECKDB",
        "DBCC CHECKDB('d')",
        "DBCC CHECKDB(N'd')",
        "DBCC CHECKDB([d])",
        "DBCC CHECKTABLE('dbo.t')",
        "DBCC CHECKTABLE('[d].[dbo].t')",
    ] {
        let answer = ann.batch(sql);
        assert!(!numbers(&answer).contains(&2571), "{sql}: {answer:?}");
    }
}

#[test]
fn views_that_double_with_each_level_are_refused() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
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

#[test]
fn a_temporary_table_is_found_by_the_name_of_tempdb() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    let twice = "IF OBJECT_ID('tempdb..#a') IS NOT NULL DROP TABLE #a; CREATE TABLE #a (i INT)";
    for _ in 0..2 {
        succeed(&mut client, twice);
    }
    let asked = "DROP TABLE #a CREATE TABLE #a (i INT)
                 SELECT IIF(OBJECT_ID('tempdb.dbo.#a', 'U') IS NULL, 0, 1) * 100 + IIF(OBJECT_ID('#a') IS NULL, 0, 1) * 10
                      + IIF(OBJECT_ID('tempdb..#b') IS NULL, 0, 1)";
    assert_eq!(client.int(asked), 100);
    assert_eq!(
        client.int("DROP TABLE #a SELECT IIF(OBJECT_ID('tempdb..#a') IS NULL, 0, 1)"),
        0
    );
}

#[test]
fn too_many_columns_and_common_tables_are_errors_of_the_batch() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    let list: Vec<String> = (0..4097).map(|number| number.to_string()).collect();
    let list = list.join(", ");
    for sql in [
        format!("SELECT {list}"),
        format!("\nSELECT {list} FROM (VALUES (1)) v (a)"),
    ] {
        assert_eq!(numbers(&client.batch(&sql)), [1056]);
        assert_eq!(client.int("SELECT 1"), 1);
    }
    let chain: Vec<String> = (1..2000)
        .map(|at| format!("c{at} AS (SELECT a FROM c{})", at - 1))
        .collect();
    let chain = format!("WITH c0 AS (SELECT 1 a), {} SELECT a FROM c1999", chain.join(", "));
    assert_eq!(numbers(&client.batch(&chain)), [191]);
    let chain: Vec<String> = (1..250)
        .map(|at| format!("c{at} AS (SELECT a FROM c{})", at - 1))
        .collect();
    let chain = format!("WITH c0 AS (SELECT 1 a), {} SELECT a FROM c249", chain.join(", "));
    assert_eq!(client.int(&chain), 1);
}

#[test]
fn names_outside_of_tables_statements_mean_what_they_mean_now() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    succeed(&mut client, "CREATE DATABASE d");
    succeed(&mut client, "USE d");
    let is_there = "SELECT IIF(OBJECT_ID('w') IS NULL, 0, 1)";
    assert_eq!(client.int(is_there), 0);
    let mut other = fixture.client();
    for sql in ["USE d", "CREATE TABLE w (a INT)"] {
        succeed(&mut other, sql);
    }
    assert_eq!(client.int(is_there), 1);
    succeed(&mut other, "ALTER TABLE w ADD b VARCHAR(7)");
    assert_eq!(client.int("DECLARE @n INT SET @n = COL_LENGTH('w', 'b') SELECT @n"), 7);
    let made_anew = "IF OBJECT_ID('w') IS NOT NULL DROP TABLE w CREATE TABLE w (a INT)";
    for _ in 0..2 {
        succeed(&mut client, made_anew);
        succeed(&mut other, made_anew);
        succeed(&mut fixture.client_as("sa", fixture.password(), "d"), made_anew);
    }
    succeed(
        &mut client,
        "BEGIN TRAN CREATE TABLE x (a INT) INSERT x VALUES (1) ROLLBACK",
    );
    assert_eq!(client.int("SELECT IIF(OBJECT_ID('x') IS NULL, 0, 1)"), 0);
    let databases = "CREATE DATABASE e DECLARE @n INT = IIF(DB_ID('e') IS NULL, 0, 10)
                     DROP DATABASE e SET @n += IIF(DB_ID('e') IS NULL, 0, 1) SELECT @n";
    assert_eq!(client.int(databases), 10);
}

#[test]
fn a_database_that_others_make_is_found_by_its_name() {
    let fixture = Fixture::new();
    let (mut one, mut other) = (fixture.client(), fixture.client());
    for sql in [
        "CREATE DATABASE shop",
        "USE shop",
        "CREATE TABLE t (a INT)",
        "SELECT a FROM t",
    ] {
        succeed(&mut one, sql);
    }
    for sql in [
        "CREATE DATABASE late",
        "USE late",
        "CREATE TABLE t (a INT)",
        "INSERT t VALUES (5)",
    ] {
        succeed(&mut other, sql);
    }
    assert_eq!(one.int("SELECT a FROM late.dbo.t"), 5);
    succeed(&mut one, "INSERT t SELECT a FROM late.dbo.t");
    assert_eq!(one.int("SELECT COUNT(*) FROM t JOIN late.dbo.t u ON u.a = t.a"), 1);
    succeed(&mut other, "USE master DROP DATABASE late");
    assert_eq!(numbers(&one.batch("SELECT a FROM late.dbo.t")), [208]);
}

#[test]
fn who_sees_no_texts_sees_no_default_of_a_column() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    for sql in [
        "CREATE DATABASE d",
        &format!("CREATE LOGIN ann WITH PASSWORD = '{PASSWORD}'"),
        "USE d",
        "CREATE USER ann",
        "ALTER ROLE db_datawriter ADD MEMBER ann",
        "CREATE TABLE t (a INT DEFAULT 31337)",
    ] {
        succeed(&mut client, sql);
    }
    let default = |answer: &super::client::Answer| answer.rows()[0][12].clone();
    let own = client.batch("EXEC sp_columns 't'");
    assert_ne!(default(&own), Value::Null, "{own:?}");
    let hers = fixture.client_as("ann", PASSWORD, "d").batch("EXEC sp_columns 't'");
    assert_eq!(default(&hers), Value::Null, "{hers:?}");
}
