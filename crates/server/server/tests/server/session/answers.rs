//! What statements answer, value by value, where SQL Server's answer is known.

use selenite_types::Value;

use super::client::Client;
use super::fixture::Fixture;

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

fn client(fixture: &Fixture) -> Client {
    let mut client = fixture.client();
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
    let fixture = Fixture::new();
    let mut client = client(&fixture);
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
    let fixture = Fixture::new();
    let mut client = client(&fixture);
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
    let fixture = Fixture::new();
    let mut client = client(&fixture);
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

#[test]
fn numbers_are_sql_servers() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    check(
        &mut client,
        &[
            (
                "SELECT 7/2, -7/2, -7%3, 7%-3, 7/2.0, 1/3.0, CAST(1 AS DECIMAL(5,2))/3",
                "3|-3|-1|1|3.500000|0.333333|0.333333",
            ),
            (
                "SELECT 1.10*2.25, 1.1+2.25, 1.0/3*3, CAST(2 AS MONEY)*1.5",
                "2.4750|3.35|0.999999|3.00000",
            ),
            (
                "SELECT CAST(1 AS DECIMAL(38,10))*CAST(1 AS DECIMAL(38,10)), CAST(10 AS DECIMAL(38,20))/CAST(3 AS DECIMAL(38,20))",
                "1.000000|3.333333",
            ),
            ("SELECT CAST(2 AS MONEY)/3, CAST(10 AS SMALLMONEY)/4", "0.6666|2.5000"),
            (
                "SELECT ROUND(2.5,0), ROUND(-2.5,0), ROUND(123.456,-1), ROUND(123.456,1), ROUND(123.456,1,1), ROUND(750,-3)",
                "3.0|-3.0|120.000|123.500|123.400|1000",
            ),
            ("SELECT ROUND(748.58,-3)", "!8115"),
            (
                "SELECT ROUND(748.58,-4), FLOOR(-1.5), CEILING(-1.5), POWER(2,-1), POWER(2.0,-1)",
                "0.00|-2|-1|0|0.5",
            ),
            (
                "SELECT STR(123.45,6,1), STR(12345.6,3), STR(-1.5,5,2)",
                " 123.5|***|-1.50",
            ),
            ("SELECT 2147483647 + 1", "!8115"),
            ("SELECT CAST(300 AS TINYINT)", "!220"),
            (
                "SELECT CAST(1.55 AS DECIMAL(3,1)), CAST(-1.5 AS INT), CAST(1.9 AS INT), CAST(CAST(1.5 AS MONEY) AS INT)",
                "1.6|-1|1|2",
            ),
            (
                "SELECT SUM(CAST(2147483647 AS INT)) FROM (VALUES (1),(2)) q(a)",
                "!8115",
            ),
            (
                "SELECT AVG(a), AVG(a*1.0), SUM(a*1.0), COUNT_BIG(*) FROM (VALUES (1),(2)) q(a)",
                "1|1.500000|3.0|2",
            ),
            (
                "SELECT 5 & 3, 5 | 3, 5 ^ 3, ~5, 2 + 3 * 4, 10 % 3.5, 1 + '2', '1' + '2'",
                "1|7|6|-6|14|3.0|3|12",
            ),
            (
                "SELECT CAST('' AS INT), CAST(' 12 ' AS INT), CAST('$1,234.5' AS MONEY), CAST('1e3' AS FLOAT)",
                "0|12|1234.5000|1000",
            ),
            ("SELECT CAST('1,000' AS INT)", "!245"),
        ],
    );
}

#[test]
fn types_of_choices_and_nulls_are_sql_servers() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    check(
        &mut client,
        &[
            (
                "SELECT ISNULL(CAST(NULL AS VARCHAR(3)),'abcdef'), COALESCE(CAST(NULL AS VARCHAR(3)),'abcdef')",
                "abc|abcdef",
            ),
            (
                "SELECT ISNULL(1, 2.5), COALESCE(NULL, 1, 2.5), CASE WHEN 1=1 THEN 1 ELSE 2.5 END, NULLIF('a','A ')",
                "1|1.0|1.0|NULL",
            ),
            ("SELECT CASE WHEN 1=1 THEN 'x' ELSE 1 END", "!245"),
            ("SELECT 1 WHERE 1 NOT IN (2, NULL)", ""),
            ("SELECT 1 WHERE 1 IN (1, NULL)", "1"),
            ("SELECT 1 WHERE NOT (NULL = 1)", ""),
            (
                "SELECT CASE WHEN 2 > ALL (SELECT v FROM (VALUES (1),(NULL)) q(v)) THEN 1 ELSE 0 END",
                "0",
            ),
            (
                "SELECT COUNT(*), SUM(1), MAX(1) FROM (SELECT 1 AS a WHERE 1=0) z",
                "0|NULL|NULL",
            ),
            ("SELECT 1 HAVING 1 = 0", ""),
            ("DECLARE @v INT = 7 SELECT @v = 1 WHERE 1=0 SELECT @v", "7"),
            ("DECLARE @v INT = 7 SET @v = (SELECT 1 WHERE 1=0) SELECT @v", "NULL"),
            ("SELECT CONCAT('a',NULL,1,2.5), 'a'+NULL", "a12.5|NULL"),
        ],
    );
}

#[test]
fn texts_and_dates_are_sql_servers() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    check(
        &mut client,
        &[
            (
                "CREATE TABLE k (a CHAR(5), b VARCHAR(5)) INSERT k VALUES ('ab','ab  ')
                 SELECT a+'|', b+'|', LEN(a), LEN(b), DATALENGTH(a), DATALENGTH(b) FROM k WHERE a = b AND a LIKE 'ab' AND b LIKE 'ab'",
                "ab   ||ab  ||2|2|5|4",
            ),
            ("SELECT 1 WHERE 'a_b' LIKE 'a!_b' ESCAPE '!' AND 'axb' NOT LIKE 'a!_b' ESCAPE '!' AND 'a[b' LIKE 'a[[]b' AND 'abc' NOT LIKE 'abc '", "1"),
            ("SELECT PATINDEX('%b_d%', 'abcd bxd'), PATINDEX('ab%', 'ABcd'), PATINDEX('%cd', 'abcd'), PATINDEX('b', 'abc'), PATINDEX('%[^a-c]%','abcx')", "2|1|3|0|4"),
            ("SELECT LEFT('abc',5), SUBSTRING('abcdef',0,3), CHARINDEX('c','abcabc',4), STUFF('abcdef',2,3,'X'), REPLACE('aAa','a','b')", "abc|ab|6|aXef|bbb"),
            ("SELECT CAST(12345 AS VARCHAR(3)), CAST(1234 AS CHAR(2))", "*|* "),
            ("SELECT CONVERT(NVARCHAR(2), 12345)", "!8115"),
            ("SELECT CONVERT(VARCHAR(20), CAST(1234567.891 AS MONEY), 1), CAST(CAST(1234567.891 AS FLOAT) AS VARCHAR(30))", "1,234,567.89|1.23457e+006"),
            ("SELECT DATEDIFF(year,'2019-12-31','2020-01-01'), DATEDIFF(week,'2020-01-04','2020-01-05'), DATEDIFF(hour,'2020-01-01 10:59','2020-01-01 11:00')", "1|1|1"),
            ("SELECT CONVERT(VARCHAR(30), CAST('2020-02-03 04:05:06.789' AS DATETIME), 0), CONVERT(VARCHAR(30), CAST('2020-02-03 04:05:06.789' AS DATETIME), 121)", "Feb  3 2020  4:05AM|2020-02-03 04:05:06.790"),
            ("SELECT CONVERT(VARCHAR(30), CAST('2020-01-01 23:59:59.999' AS DATETIME), 121), CONVERT(VARCHAR(30), CAST('2020-01-01 12:00:29.998' AS SMALLDATETIME), 120)", "2020-01-02 00:00:00.000|2020-01-01 12:00:00"),
            ("SELECT CONVERT(VARCHAR(30), DATEADD(month,1,'2020-01-31'), 23), DATEPART(iso_week,'2021-01-01'), DATENAME(weekday,'2020-02-03')", "2020-02-29|53|Monday"),
            ("SELECT CONVERT(VARBINARY(2), 65537), CAST('ab' AS BINARY(4)), CAST(0x0102030405 AS INT), CAST(N'ab' AS VARBINARY(8))", "0x0001|0x61620000|33752069|0x61006200"),
        ],
    );
}

#[test]
fn rows_are_sql_servers() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    let made = "CREATE TABLE w (g INT, v INT) INSERT w VALUES (1,10),(1,20),(1,20),(2,5),(2,NULL),(3,7)
        CREATE TABLE e (id INT PRIMARY KEY, v INT) CREATE TABLE f (id INT, w INT) INSERT e VALUES (1,10),(2,20),(3,30) INSERT f VALUES (1,5),(2,6),(2,7)";
    check(
        &mut client,
        &[
            (made, ""),
            ("SELECT TOP 2 WITH TIES v FROM w WHERE g=1 ORDER BY v DESC", "20;20"),
            (
                "SELECT TOP (50) PERCENT v FROM w WHERE v IS NOT NULL ORDER BY v",
                "5;7;10",
            ),
            (
                "SELECT SUM(v) OVER (ORDER BY v ROWS BETWEEN 1 PRECEDING AND CURRENT ROW), SUM(v) OVER (ORDER BY v) FROM w WHERE g = 1 ORDER BY v",
                "10|10;30|50;40|50",
            ),
            (
                "WITH r AS (SELECT 1 AS n UNION ALL SELECT n+1 FROM r WHERE n < 5) SELECT SUM(n) FROM r",
                "15",
            ),
            (
                "WITH r AS (SELECT 1 AS n UNION ALL SELECT n+1 FROM r) SELECT COUNT(*) FROM r",
                "!530",
            ),
            (
                "SELECT g.g, x.v FROM (SELECT DISTINCT g FROM w) g OUTER APPLY (SELECT TOP 1 v FROM w WHERE w.g = g.g AND v > 6 ORDER BY v) x ORDER BY g.g",
                "1|10;2|NULL;3|7",
            ),
            (
                "UPDATE e SET v = v + w OUTPUT deleted.v, inserted.v, f.w FROM e JOIN f ON e.id = f.id WHERE e.id = 1",
                "10|15|5",
            ),
            (
                "DELETE e OUTPUT deleted.* FROM e JOIN f ON e.id = f.id WHERE w = 6",
                "2|20",
            ),
            (
                "SELECT a.x, b.x FROM (VALUES (1),(2)) a(x) FULL JOIN (VALUES (2),(3)) b(x) ON a.x = b.x ORDER BY a.x, b.x",
                "NULL|3;1|NULL;2|2",
            ),
            ("SELECT DISTINCT a FROM (VALUES (1,2),(1,3)) q(a,b) ORDER BY b", "!145"),
            ("SELECT a, b FROM (VALUES (1,2),(1,3)) q(a,b) GROUP BY a", "!8120"),
            ("SELECT (SELECT a FROM (VALUES (1),(2)) q(a))", "!512"),
            ("SELECT a AS z FROM (VALUES (1)) q(a) WHERE z = 1", "!207"),
            ("SELECT SUM(COUNT(*)) FROM (VALUES (1)) q(a)", "!130"),
        ],
    );
}

#[test]
fn identities_and_transactions_are_sql_servers() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    check(
        &mut client,
        &[
            (
                "CREATE TABLE t (id INT IDENTITY PRIMARY KEY, v INT UNIQUE) INSERT t (v) VALUES (1) BEGIN TRAN INSERT t (v) VALUES (2) ROLLBACK
                 INSERT t (v) VALUES (3) SELECT SCOPE_IDENTITY(), @@IDENTITY, IDENT_CURRENT('t'), MAX(id) FROM t",
                "3|3|3|3",
            ),
            ("INSERT t (v) VALUES (1)", "!2627"),
            ("INSERT t (v) VALUES (4) SELECT id FROM t WHERE v = 4", "5"),
            ("SET IDENTITY_INSERT t ON INSERT t (id, v) VALUES (100, 5) SET IDENTITY_INSERT t OFF INSERT t (v) VALUES (6) SELECT MAX(id) FROM t", "101"),
            ("BEGIN TRAN SAVE TRAN s INSERT t (v) VALUES (50) ROLLBACK TRAN s SELECT @@TRANCOUNT, COUNT(*) FROM t WHERE v = 50 COMMIT", "1|0"),
            ("SET XACT_ABORT ON BEGIN TRAN INSERT t (v) VALUES (60) INSERT t (v) VALUES (1)", "!2627"),
            ("SET XACT_ABORT OFF SELECT @@TRANCOUNT, XACT_STATE(), COUNT(*) FROM t WHERE v = 60", "0|0|0"),
            ("SET XACT_ABORT ON BEGIN TRY BEGIN TRAN SELECT 1/0 END TRY BEGIN CATCH SELECT XACT_STATE(), @@TRANCOUNT ROLLBACK END CATCH SET XACT_ABORT OFF", "-1|1"),
            ("BEGIN TRY SELECT * FROM not_there END TRY BEGIN CATCH SELECT 'caught' END CATCH", "!208"),
            ("DECLARE @t TABLE (a INT) INSERT @t VALUES (1) BEGIN TRAN DELETE @t ROLLBACK SELECT COUNT(*) FROM @t", "0"),
            ("CREATE TABLE u (a INT, CHECK (nope > 1))", "!207"),
            ("CREATE TABLE u (a INT, b AS nope + 1)", "!207"),
            ("CREATE TABLE u (a INT DEFAULT nope)", "!128"),
            ("CREATE TABLE u (a INT) ALTER TABLE u ADD b INT DEFAULT nope", "!128"),
            ("SELECT COUNT(*) FROM u", "0"),
        ],
    );
}

/// Found by tests/clients/tds/differential.
#[test]
fn a_number_that_has_no_room_in_its_type_is_an_error() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    check(
        &mut client,
        &[
            ("SELECT ROUND(CAST(9223372036854775807 AS BIGINT), -1)", "!8115"),
            ("SELECT ROUND(CAST(-9223372036854775808 AS BIGINT), -1)", "!8115"),
            (
                "SELECT ROUND(CAST(9223372036854775807 AS BIGINT), -1, 1)",
                "9223372036854775800",
            ),
            (
                "CREATE TABLE t (n INT, d DECIMAL(18, 6), i INT, b BIGINT) INSERT t VALUES (1, 999999999999, 2147483647, 5), (2, 1, 1, 1)",
                "",
            ),
            ("SELECT n FROM t WHERE CONVERT(DECIMAL(16, 7), d) = 1", "!8115"),
            (
                "SELECT n FROM t WHERE CONVERT(DECIMAL(16, 7), d) BETWEEN 0 AND 1",
                "!8115",
            ),
            ("SELECT n FROM t WHERE CAST(i AS DECIMAL(7, 5)) IN (1, 2)", "!8115"),
            ("SELECT n FROM t WHERE 5 > CAST(i AS DECIMAL(7, 5))", "!8115"),
            ("SELECT n FROM t WHERE CAST(i AS DECIMAL(15, 5)) IN (1, 2)", "2"),
            ("SELECT n FROM t WHERE i = 1.0 AND d = 1 AND b = 1.00", "2"),
        ],
    );
}

/// Found by tests/clients/tds/differential.
#[test]
fn a_number_beside_a_real_is_a_real() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    check(
        &mut client,
        &[
            (
                "SELECT CAST(1.00003 AS DECIMAL(19, 5)) + CAST(-1 AS REAL)",
                "0.000030040741",
            ),
            ("SELECT CAST(1 AS REAL) + 16777217", "16777216"),
            ("SELECT CAST(1 AS REAL) + CAST(16777217 AS FLOAT)", "16777218"),
        ],
    );
}

/// Found by tests/clients/tds/differential.
#[test]
fn a_key_of_grouping_sets_may_be_null_though_its_column_may_not() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    check(
        &mut client,
        &[
            (
                "CREATE TABLE t (n INT NOT NULL, v INT NOT NULL) INSERT t VALUES (1, 2), (3, 4)",
                "",
            ),
            (
                "SELECT n, SUM(v) FROM t GROUP BY ROLLUP (n) ORDER BY 2",
                "1|2;3|4;NULL|6",
            ),
            (
                "SELECT n, v, COUNT(*) FROM t GROUP BY GROUPING SETS ((n), (v)) ORDER BY 1, 2",
                "NULL|2|1;NULL|4|1;1|NULL|1;3|NULL|1",
            ),
            (
                "SELECT n + 1, COUNT(*) FROM t GROUP BY CUBE (n) ORDER BY 1",
                "NULL|2;2|1;4|1",
            ),
            (
                "SELECT ISNULL(n, -1), COUNT(*) FROM t GROUP BY ROLLUP (n) ORDER BY 1",
                "-1|2;1|1;3|1",
            ),
            (
                "SELECT COALESCE(n, -1), CASE WHEN n IS NULL THEN 'all' END FROM t GROUP BY ROLLUP (n) ORDER BY 1",
                "-1|all;1|NULL;3|NULL",
            ),
            ("SELECT COUNT(*) FROM t GROUP BY ROLLUP (n) HAVING n IS NULL", "2"),
            (
                "SELECT k FROM (SELECT n FROM t GROUP BY ROLLUP (n)) q (k) WHERE k IS NULL",
                "NULL",
            ),
            ("SELECT COUNT(k) FROM (SELECT n FROM t GROUP BY ROLLUP (n)) q (k)", "2"),
            (
                "SELECT n FROM t GROUP BY ROLLUP (n) UNION SELECT n FROM t ORDER BY 1",
                "NULL;1;3",
            ),
        ],
    );
}

/// Found by tests/clients/tds/differential.
#[test]
fn rows_of_one_instant_are_sorted_by_the_keys_that_follow() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    let made = "CREATE TABLE o (n INT, at DATETIMEOFFSET(0)) INSERT o VALUES (1, '2020-01-01 10:00 +01:00'), (2, '2020-01-01 09:00 +00:00'),
        (3, '2020-01-01 08:30 -00:30'), (4, '2020-01-01 09:00 +00:00'), (5, '2020-01-01 08:59 +00:00')";
    check(
        &mut client,
        &[
            (made, ""),
            (
                "SELECT n FROM (SELECT TOP 2 at, n FROM o ORDER BY at DESC, n DESC) q ORDER BY n",
                "3;4",
            ),
            (
                "SELECT n FROM (SELECT at, n FROM o ORDER BY at, n OFFSET 1 ROW FETCH NEXT 3 ROWS ONLY) q ORDER BY n",
                "1;2;3",
            ),
            (
                "SELECT n FROM (SELECT TOP 3 at, n FROM o ORDER BY at, n * -1) q ORDER BY n",
                "3;4;5",
            ),
            (
                "SELECT n FROM (SELECT at, n FROM o UNION ALL SELECT at, n FROM o ORDER BY at DESC, n OFFSET 1 ROW FETCH NEXT 1 ROW ONLY) q",
                "1",
            ),
            ("SELECT n FROM o ORDER BY at, n", "5;1;2;3;4"),
        ],
    );
}
