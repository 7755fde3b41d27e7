//! What statements answer, value by value, where SQL Server's answer is known.

use selenite_types::Value;

use crate::bench::Bench;
use crate::client::Client;

/// The rows of a batch: values parted by `|`, rows by `;`.
fn shown(client: &mut Client, sql: &str) -> String {
    let answer = client.batch(sql);
    if let Some((number, _)) = answer.errors().first() {
        return format!("!{number}");
    }
    let rows = answer.rows();
    let row = |row: &Vec<Value>| row.iter().map(value).collect::<Vec<_>>().join("|");
    rows.iter().map(row).collect::<Vec<_>>().join(";")
}

fn value(value: &Value) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Bit(bit) => i32::from(*bit).to_string(),
        Value::TinyInt(number) => number.to_string(),
        Value::SmallInt(number) => number.to_string(),
        Value::Int(number) => number.to_string(),
        Value::BigInt(number) => number.to_string(),
        Value::Decimal(number) => {
            let scale = usize::from(number.scale);
            let digits = format!("{:0>width$}", number.unscaled.unsigned_abs(), width = scale + 1);
            let (whole, fraction) = digits.split_at(digits.len() - scale);
            let sign = if number.unscaled < 0 { "-" } else { "" };
            let point = if scale == 0 { "" } else { "." };
            format!("{sign}{whole}{point}{fraction}")
        }
        Value::Money(number) => format!("{}.{:04}", number / 10_000, (number % 10_000).abs()),
        Value::Real(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Text(text) => text.to_string(),
        Value::Binary(bytes) => bytes
            .iter()
            .fold("0x".to_owned(), |text, byte| format!("{text}{byte:02X}")),
        other => format!("{other:?}"),
    }
}

fn client(bench: &Bench) -> Client {
    let mut client = bench.client();
    client.batch("CREATE DATABASE d");
    client.batch("USE d");
    client
}

/// Runs each statement and compares.
fn check(client: &mut Client, cases: &[(&str, &str)]) {
    let wrong: Vec<String> = cases
        .iter()
        .filter_map(|(sql, wanted)| {
            let shown = shown(client, sql);
            (shown != *wanted).then(|| format!("{sql}\n   gives {shown}\n   not   {wanted}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_rule_of_a_table_holds_no_subquery() {
    let bench = Bench::new();
    let mut client = client(&bench);
    check(
        &mut client,
        &[
            ("CREATE TABLE t (a INT CHECK (a > (SELECT 1)))", "!1046"),
            ("CREATE TABLE t (a INT, CHECK (EXISTS (SELECT 1)))", "!1046"),
            ("CREATE TABLE t (a INT DEFAULT (SELECT 1))", "!1046"),
            ("CREATE TABLE t (a INT, b AS (SELECT 1))", "!1046"),
            ("DECLARE @t TABLE (a INT CHECK (a IN (SELECT 1)))", "!1046"),
            (
                "CREATE TABLE t (a VARCHAR(9) CHECK (a <> 'SELECT'), [select] INT DEFAULT 1, CHECK ([select] > 0))",
                "",
            ),
            ("ALTER TABLE t ADD CONSTRAINT c CHECK (a IN (SELECT 'x'))", "!1046"),
            ("ALTER TABLE t ADD b INT DEFAULT (SELECT 1)", "!1046"),
            ("ALTER TABLE t ADD CONSTRAINT f DEFAULT (SELECT 'x') FOR a", "!1046"),
            ("INSERT t (a) VALUES ('x') SELECT * FROM t", "x|1"),
        ],
    );
}

#[test]
fn combined_rows_with_an_offset_are_compared_by_the_instant() {
    let bench = Bench::new();
    let mut client = client(&bench);
    let made = "CREATE TABLE o (n INT, at DATETIMEOFFSET(0), s VARCHAR(3))
        INSERT o VALUES (1, '2020-01-01 00:00 +01:00', 'a'), (2, '2019-12-31 23:00 +00:00', 'A'), (3, '2020-01-01 00:00 +00:00', 'a'),
        (4, NULL, NULL), (5, NULL, NULL)";
    check(
        &mut client,
        &[
            (made, ""),
            ("SELECT COUNT(*) FROM (SELECT at, s FROM o UNION SELECT at, s FROM o) u", "3"),
            ("SELECT COUNT(*) FROM (SELECT at FROM o UNION ALL SELECT at FROM o) u", "10"),
            ("SELECT COUNT(*) FROM (SELECT at, s FROM o WHERE n = 1 INTERSECT SELECT at, s FROM o WHERE n = 2) u", "1"),
            ("SELECT COUNT(*) FROM (SELECT at FROM o WHERE n > 3 INTERSECT SELECT at FROM o WHERE n = 5) u", "1"),
            ("SELECT COUNT(*) FROM (SELECT at, s FROM o EXCEPT SELECT at, s FROM o WHERE n IN (1, 4)) u", "1"),
            (
                "SELECT COUNT(*) FROM (SELECT at FROM o WHERE n = 1 UNION SELECT at FROM o WHERE n = 2 UNION ALL SELECT at FROM o WHERE n = 3
                 EXCEPT SELECT at FROM o WHERE n = 2) u",
                "1",
            ),
            ("SELECT n FROM o WHERE at IN (SELECT at FROM o WHERE n = 1 UNION SELECT at FROM o WHERE n = 5) ORDER BY n", "1;2"),
            ("WITH c AS (SELECT at FROM o WHERE n = 1 UNION SELECT at FROM o WHERE n = 3) SELECT COUNT(*) FROM c", "2"),
        ],
    );
}

#[test]
fn set_rowcount_limits_what_a_select_puts_into_a_table() {
    let bench = Bench::new();
    let mut client = client(&bench);
    check(
        &mut client,
        &[
            ("CREATE TABLE t (a INT) INSERT t VALUES (3), (1), (2)", ""),
            (
                "SET ROWCOUNT 2 SELECT a INTO u FROM t ORDER BY a SELECT @@ROWCOUNT SET ROWCOUNT 0",
                "2",
            ),
            ("SELECT a FROM u ORDER BY a", "1;2"),
            (
                "SET ROWCOUNT 2 SELECT TOP 1 a INTO v FROM t ORDER BY a DESC SET ROWCOUNT 0 SELECT a FROM v",
                "3",
            ),
            (
                "SET ROWCOUNT 2 SELECT TOP 9 a INTO w FROM t ORDER BY a DESC SET ROWCOUNT 0 SELECT a FROM w ORDER BY a",
                "2;3",
            ),
            (
                "SET ROWCOUNT 2 SELECT a INTO x FROM t UNION ALL SELECT a FROM t",
                "!40510",
            ),
            (
                "SET ROWCOUNT 0 SELECT a INTO x FROM t UNION ALL SELECT a FROM t SELECT COUNT(*) FROM x",
                "6",
            ),
        ],
    );
}
