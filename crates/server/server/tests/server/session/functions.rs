//! Functions of users: what they return, what they may do, and who may call them.

use selenite_types::Value;

use super::client::{Client, all_fail, succeed};
use super::fixture::Fixture;

pub(super) fn ints(client: &mut Client, sql: &str) -> Vec<Vec<i32>> {
    let answer = client.batch(sql);
    assert_eq!(answer.errors(), [], "{sql}: {answer:?}");
    let int = |value: &Value| match value {
        Value::Int(value) => *value,
        other => panic!("{sql}: {other:?}"),
    };
    answer.rows().iter().map(|row| row.iter().map(int).collect()).collect()
}

/// A database `d` with a table `t` of 1 to 4.
pub(super) fn client(fixture: &Fixture) -> Client {
    let mut client = fixture.client();
    succeed(&mut client, "CREATE DATABASE d");
    succeed(&mut client, "USE d");
    succeed(
        &mut client,
        "CREATE TABLE t (a INT PRIMARY KEY, b INT) INSERT t VALUES (1, 10), (2, 20), (3, NULL), (4, 40)",
    );
    client
}

#[test]
fn a_scalar_function_is_called_wherever_a_value_is() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE FUNCTION dbo.twice (@a INT) RETURNS INT AS BEGIN RETURN @a * 2 END",
    );
    assert_eq!(client.int("SELECT dbo.twice(21)"), 42);
    assert_eq!(
        client.int("DECLARE @x INT = dbo.twice(4) SET @x = dbo.twice(@x) + 1 SELECT @x"),
        17
    );
    assert_eq!(
        ints(
            &mut client,
            "SELECT a, dbo.twice(a) FROM t WHERE dbo.twice(a) > 4 ORDER BY dbo.twice(a) DESC"
        ),
        [[4, 8], [3, 6]]
    );
    assert_eq!(client.int("SELECT SUM(dbo.twice(a)) FROM t"), 20);
    assert_eq!(client.int("SELECT dbo.twice(COUNT(*)) FROM t"), 8);
    assert_eq!(
        ints(
            &mut client,
            "SELECT dbo.twice(a) / 4, COUNT(*) FROM t GROUP BY dbo.twice(a) / 4 ORDER BY 1"
        ),
        [[0, 1], [1, 2], [2, 1]]
    );
    assert_eq!(client.int("IF dbo.twice(1) = 2 SELECT 1 ELSE SELECT 0"), 1);
    assert_eq!(
        client.int("DECLARE @i INT = 0 WHILE dbo.twice(@i) < 10 SET @i += 1 SELECT @i"),
        5
    );
    assert_eq!(client.int("SELECT d.dbo.twice(dbo.twice(2))"), 8);
    succeed(&mut client, "UPDATE t SET b = dbo.twice(a) WHERE a = dbo.twice(1)");
    succeed(
        &mut client,
        "INSERT t VALUES (dbo.twice(50), dbo.twice(NULL)) DELETE t WHERE dbo.twice(a) = 200",
    );
    assert_eq!(client.int("SELECT b FROM t WHERE a = 2"), 4);
    all_fail(
        &mut client,
        &[
            (195, "SELECT twice(1)"),
            (4121, "SELECT dbo.thrice(1)"),
            (313, "SELECT dbo.twice()"),
            (8144, "SELECT dbo.twice(1, 2)"),
            (208, "SELECT * FROM dbo.twice(1)"),
            (8134, "SELECT dbo.twice(1 / (a - 1)) FROM t"),
            (8115, "SELECT dbo.twice(2000000000)"),
            (245, "SELECT dbo.twice('x')"),
        ],
    );
}

#[test]
fn a_body_computes_with_variables_tables_and_table_variables() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    for definition in [
        "CREATE FUNCTION dbo.total (@least INT = 2) RETURNS INT AS
         BEGIN
            DECLARE @sum INT, @count INT = 0
            SELECT @sum = SUM(b), @count = COUNT(*) FROM t WHERE a >= @least
            IF @count = 0 RETURN -1
            RETURN @sum
         END",
        "CREATE FUNCTION dbo.digits (@n INT) RETURNS VARCHAR(20) WITH SCHEMABINDING, RETURNS NULL ON NULL INPUT AS
         BEGIN
            DECLARE @text VARCHAR(20) = ''
            WHILE @n > 0
            BEGIN
                IF @n % 10 = 7 BREAK
                SET @text = CONVERT(VARCHAR(1), @n % 10) + @text
                SELECT @n = @n / 10
            END
            RETURN @text
         END",
        "CREATE FUNCTION dbo.sorted (@a INT, @b INT, @c INT) RETURNS VARCHAR(40) AS
         BEGIN
            DECLARE @rows TABLE (n INT IDENTITY, v INT)
            DECLARE @text VARCHAR(40) = ''
            INSERT @rows (v) VALUES (@a), (@b), (@c)
            UPDATE @rows SET v = v + 1 WHERE v > 1
            DELETE r FROM @rows AS r WHERE v = 99
            SELECT @text = @text + CONVERT(VARCHAR(9), n) + ':' + CONVERT(VARCHAR(9), v) + ' ' FROM @rows ORDER BY v
            RETURN @text
         END",
        "CREATE FUNCTION dbo.factorial (@n INT) RETURNS BIGINT AS
         BEGIN
            IF @n <= 1 RETURN 1
            RETURN @n * dbo.factorial(@n - 1)
         END",
        "CREATE FUNCTION dbo.nothing () RETURNS INT AS BEGIN IF 1 = 2 RETURN 5 RETURN NULL END",
    ] {
        succeed(&mut client, definition);
    }
    assert_eq!(client.int("SELECT dbo.total(DEFAULT)"), 60);
    assert_eq!(client.int("SELECT dbo.total(5)"), -1);
    assert_eq!(client.text("SELECT dbo.digits(1203)"), "1203");
    assert_eq!(client.text("SELECT dbo.digits(1275)"), "5");
    assert_eq!(client.value("SELECT dbo.digits(NULL)"), Value::Null);
    assert_eq!(client.value("SELECT dbo.nothing()"), Value::Null);
    assert_eq!(client.text("SELECT dbo.sorted(5, 1, 98)"), "2:1 1:6 ");
    let answer = client.batch("SELECT dbo.sorted(a, 1, b) FROM t ORDER BY a");
    let rows: Vec<String> = answer.rows().iter().map(|row| format!("{:?}", row[0])).collect();
    assert_eq!(rows.len(), 4);
    assert!(rows[0].contains("1:1 2:1 3:11 "), "{rows:?}");
    assert!(rows[3].contains("2:1 1:5 3:41 "), "{rows:?}");
    assert_eq!(
        client.value("SELECT dbo.factorial(20)"),
        Value::BigInt(2_432_902_008_176_640_000)
    );
    // What a function changes is its own: the session's identity and counts stay.
    assert_eq!(
        client.int("DECLARE @x VARCHAR(40) = dbo.sorted(1, 2, 3) SELECT CONVERT(INT, ISNULL(@@IDENTITY, -1))"),
        -1
    );
    all_fail(
        &mut client,
        &[(217, "SELECT dbo.factorial(33)"), (8115, "SELECT dbo.factorial(21)")],
    );
    assert_eq!(client.value("SELECT dbo.factorial(5)"), Value::BigInt(120));
}

#[test]
fn a_function_has_no_effect_outside() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    for (number, body) in [
        (443, "INSERT t VALUES (9, 9) RETURN 1"),
        (443, "UPDATE t SET a = 1 RETURN 1"),
        (443, "DELETE FROM t RETURN 1"),
        (443, "TRUNCATE TABLE t RETURN 1"),
        (443, "CREATE TABLE u (a INT) RETURN 1"),
        (443, "PRINT 'x' RETURN 1"),
        (443, "RAISERROR ('x', 16, 1) RETURN 1"),
        (
            443,
            "BEGIN TRY SET @a = 1 END TRY BEGIN CATCH SET @a = 2 END CATCH RETURN 1",
        ),
        (443, "BEGIN TRANSACTION COMMIT RETURN 1"),
        (443, "EXEC ('SELECT 1') RETURN 1"),
        (443, "SET NOCOUNT ON RETURN 1"),
        (443, "SET @a = RAND() RETURN @a"),
        (443, "DECLARE @g UNIQUEIDENTIFIER = NEWID() RETURN 1"),
        (444, "SELECT a FROM t RETURN 1"),
        (455, "SET @a = 1"),
        (455, "IF @a = 1 RETURN 1 ELSE RETURN 2"),
        (1075, "RETURN"),
        (137, "RETURN @b"),
        (557, "EXEC p RETURN 1"),
        (2772, "INSERT #t VALUES (1) RETURN 1"),
    ] {
        let sql = format!("CREATE FUNCTION dbo.f (@a INT) RETURNS INT AS BEGIN {body} END");
        let answer = client.batch(&sql);
        let first = answer.errors().first().map(|(number, _)| *number);
        assert_eq!(first, Some(number), "{sql}: {answer:?}");
    }
    all_fail(
        &mut client,
        &[
            (
                40510,
                "CREATE FUNCTION f () RETURNS INT WITH ENCRYPTION AS BEGIN RETURN 1 END",
            ),
            (1074, "CREATE FUNCTION #f () RETURNS INT AS BEGIN RETURN 1 END"),
            (
                181,
                "CREATE FUNCTION f (@a INT OUTPUT) RETURNS INT AS BEGIN RETURN 1 END",
            ),
            (
                134,
                "CREATE FUNCTION f (@a INT, @A INT) RETURNS INT AS BEGIN RETURN 1 END",
            ),
            (
                178,
                "CREATE FUNCTION f () RETURNS @t TABLE (a INT) AS BEGIN RETURN 1 END",
            ),
            (4511, "CREATE FUNCTION f () RETURNS TABLE AS RETURN SELECT 1"),
            (
                4506,
                "CREATE FUNCTION f () RETURNS TABLE AS RETURN SELECT 1 AS a, 2 AS A",
            ),
            (111, "SELECT 1; CREATE FUNCTION f () RETURNS INT AS BEGIN RETURN 1 END"),
            (156, "CREATE FUNCTION f () RETURNS INT AS BEGIN RETURN 1 END SELECT 1"),
        ],
    );
    succeed(
        &mut client,
        "CREATE FUNCTION f () RETURNS INT AS BEGIN DECLARE @x INT SELECT @x = a FROM #t RETURN 1 END",
    );
    all_fail(&mut client, &[(2772, "SELECT dbo.f()")]);
}

#[test]
fn an_inline_function_is_a_view_with_parameters() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE FUNCTION dbo.above (@least INT, @times INT = 1) RETURNS TABLE AS
         RETURN (SELECT a, b * @times AS many FROM t WHERE a > @least)",
    );
    succeed(
        &mut client,
        "CREATE FUNCTION dbo.topmost (@n INT) RETURNS TABLE AS
         RETURN WITH c AS (SELECT a FROM t WHERE a <= @n) SELECT TOP (1) a AS top_a FROM c ORDER BY a DESC",
    );
    assert_eq!(
        ints(&mut client, "SELECT a FROM dbo.above(2, DEFAULT) ORDER BY a"),
        [[3], [4]]
    );
    assert_eq!(ints(&mut client, "SELECT x.many FROM above(3, 2) AS x"), [[80]]);
    assert_eq!(ints(&mut client, "SELECT n FROM dbo.above(3, 2) AS x (m, n)"), [[80]]);
    assert_eq!(
        client.int("DECLARE @n INT = 1 SELECT COUNT(*) FROM dbo.above(@n, @n)"),
        3
    );
    assert_eq!(
        ints(
            &mut client,
            "SELECT o.a, x.a FROM t AS o CROSS APPLY dbo.above(o.a, 1) AS x WHERE o.a > 1 ORDER BY o.a, x.a"
        ),
        [[2, 3], [2, 4], [3, 4]]
    );
    assert_eq!(
        client.int("SELECT COUNT(*) FROM t OUTER APPLY dbo.above(t.a, 1) AS x WHERE x.a IS NULL"),
        1
    );
    assert_eq!(
        ints(
            &mut client,
            "SELECT t.a, x.top_a FROM t CROSS APPLY dbo.topmost(t.a - 1) AS x ORDER BY 1"
        ),
        [[2, 1], [3, 2], [4, 3]]
    );
    assert_eq!(
        ints(
            &mut client,
            "SELECT t.a FROM t JOIN dbo.above(2, 1) AS x ON x.a = t.a ORDER BY 1"
        ),
        [[3], [4]]
    );
    assert_eq!(
        ints(
            &mut client,
            "SELECT a, (SELECT COUNT(*) FROM dbo.above(t.a, 1)) FROM t ORDER BY a"
        ),
        [[1, 3], [2, 2], [3, 1], [4, 0]]
    );
}

#[test]
fn a_function_in_a_view_or_function_is_bound_in_its_text() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE FUNCTION dbo.above (@least INT, @times INT = 1) RETURNS TABLE AS
         RETURN (SELECT a, b * @times AS many FROM t WHERE a > @least)",
    );
    succeed(
        &mut client,
        "CREATE FUNCTION dbo.topmost (@n INT) RETURNS TABLE AS RETURN SELECT MAX(a) AS top_a FROM t WHERE a <= @n",
    );
    succeed(&mut client, "CREATE VIEW v AS SELECT a FROM dbo.above(1, 1)");
    succeed(
        &mut client,
        "CREATE FUNCTION dbo.both (@a INT) RETURNS TABLE AS RETURN SELECT x.a AS p, y.a AS q
         FROM dbo.above(@a, 1) AS x CROSS APPLY dbo.topmost(x.a) AS z JOIN dbo.above(@a + 1, 1) AS y ON y.a = z.top_a",
    );
    assert_eq!(client.int("SELECT COUNT(*) FROM v"), 3);
    assert_eq!(ints(&mut client, "SELECT p, q FROM dbo.both(2) ORDER BY 1"), [[4, 4]]);
    all_fail(
        &mut client,
        &[
            (313, "SELECT * FROM dbo.above(1)"),
            (8144, "SELECT * FROM dbo.above(1, 2, 3)"),
            (4121, "SELECT dbo.above(1, 2)"),
            (208, "SELECT * FROM dbo.below(1)"),
            (4104, "SELECT * FROM t JOIN dbo.above(t.a, 1) AS x ON 1 = 1"),
        ],
    );
}

#[test]
fn a_function_of_several_statements_returns_the_rows_of_its_variable() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE FUNCTION dbo.series (@from INT, @to INT) RETURNS @r TABLE (n INT PRIMARY KEY, half FLOAT, name NVARCHAR(9),
            bytes VARBINARY(4) NULL, CHECK (n < 1000)) AS
         BEGIN
            WHILE @from <= @to
            BEGIN
                INSERT @r VALUES (@from, @from / 2.0, N'\"' + CONVERT(NVARCHAR(9), @from) + N'\\', CONVERT(VARBINARY(4), @from))
                SET @from += 1
            END
            IF @to = 3 DELETE @r WHERE n = 2
            RETURN
         END",
    );
    assert_eq!(ints(&mut client, "SELECT n FROM dbo.series(1, 3)"), [[1], [3]]);
    let answer = client.batch("SELECT half, name, bytes FROM dbo.series(5, 5)");
    assert_eq!(
        answer.rows(),
        [vec![
            Value::Float(2.5),
            Value::Text("\"5\\".into()),
            Value::Binary([0, 0, 0, 5].as_slice().into())
        ]]
    );
    assert_eq!(
        ints(
            &mut client,
            "SELECT t.a, s.n FROM t CROSS APPLY dbo.series(t.a, 2) AS s ORDER BY 1, 2"
        ),
        [[1, 1], [1, 2], [2, 2]]
    );
    assert_eq!(
        client.int("SELECT COUNT(*) FROM t OUTER APPLY dbo.series(t.a, 2) AS s"),
        5
    );
    assert_eq!(
        ints(
            &mut client,
            "SELECT x.n FROM series(1, 4) AS x JOIN series(3, 9) y ON x.n = y.n ORDER BY 1"
        ),
        [[3], [4]]
    );
    succeed(&mut client, "SELECT n, half INTO u FROM dbo.series(1, 200)");
    assert_eq!(client.int("SELECT COUNT(*) FROM u"), 200);
    all_fail(
        &mut client,
        &[
            (547, "SELECT * FROM dbo.series(999, 1000)"),
            (313, "SELECT * FROM dbo.series(1)"),
            (4121, "SELECT dbo.series(1, 2)"),
        ],
    );
    assert_eq!(client.int("SELECT COUNT(*) FROM dbo.series(1, 9)"), 9);
    succeed(
        &mut client,
        "CREATE FUNCTION m () RETURNS @r TABLE (a INT, b AS a + 1) AS BEGIN INSERT @r VALUES (1) RETURN END",
    );
    assert_eq!(ints(&mut client, "SELECT a, b FROM dbo.m()"), [[1, 2]]);
}

#[test]
fn a_function_sees_its_transaction_and_none_of_its_statements_changes() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE FUNCTION dbo.rows () RETURNS INT AS BEGIN RETURN (SELECT COUNT(*) FROM t) END",
    );
    succeed(
        &mut client,
        "CREATE FUNCTION dbo.sum_b () RETURNS INT AS BEGIN DECLARE @s INT SELECT @s = SUM(b) FROM t RETURN @s END",
    );
    succeed(&mut client, "BEGIN TRANSACTION INSERT t VALUES (5, 0)");
    assert_eq!(client.int("SELECT dbo.rows()"), 5);
    let mut other = fixture.client();
    succeed(&mut other, "USE d");
    assert_eq!(other.int("SELECT dbo.rows()"), 4);
    succeed(&mut client, "ROLLBACK");
    assert_eq!(client.int("SELECT dbo.rows()"), 4);
    succeed(&mut client, "UPDATE t SET b = dbo.sum_b() + a");
    assert_eq!(
        ints(&mut client, "SELECT b FROM t ORDER BY a"),
        [[71], [72], [73], [74]]
    );
    succeed(&mut client, "INSERT t SELECT a + 10, dbo.rows() FROM t");
    assert_eq!(client.int("SELECT COUNT(*) FROM t WHERE a > 10 AND b = 4"), 4);
    succeed(&mut client, "INSERT t VALUES (21, dbo.rows()), (22, dbo.rows())");
    assert_eq!(client.int("SELECT COUNT(*) FROM t WHERE a > 20 AND b = 8"), 2);
    succeed(&mut client, "DELETE t WHERE dbo.rows() = 10 AND a > 4");
    assert_eq!(client.int("SELECT dbo.rows()"), 4);
}

#[test]
fn functions_are_described() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(&mut client, "CREATE SCHEMA s");
    succeed(
        &mut client,
        "CREATE FUNCTION s.f (@a INT, @b NVARCHAR(5) = N'x') RETURNS DECIMAL(9, 2) AS BEGIN RETURN @a END",
    );
    succeed(
        &mut client,
        "CREATE FUNCTION dbo.i (@a INT) RETURNS TABLE AS RETURN SELECT @a AS a, N'x' AS b",
    );
    succeed(
        &mut client,
        "CREATE OR ALTER FUNCTION dbo.m () RETURNS @r TABLE (a INT, b AS a + 1) AS BEGIN INSERT @r VALUES (1) RETURN END",
    );
    let answer =
        client.batch("SELECT name, type, type_desc FROM sys.objects WHERE type IN ('FN', 'IF', 'TF') ORDER BY name");
    let rows: Vec<String> = answer.rows().iter().map(|row| format!("{row:?}")).collect();
    assert!(
        rows[0].contains("FN") && rows[0].contains("SQL_SCALAR_FUNCTION"),
        "{rows:?}"
    );
    assert!(
        rows[1].contains("IF") && rows[1].contains("SQL_INLINE_TABLE_VALUED_FUNCTION"),
        "{rows:?}"
    );
    assert!(
        rows[2].contains("TF") && rows[2].contains("SQL_TABLE_VALUED_FUNCTION"),
        "{rows:?}"
    );
    assert_eq!(
        client.int("SELECT COUNT(*) FROM sys.parameters WHERE object_id = OBJECT_ID('s.f') AND (name <> '' OR parameter_id = 0)"),
        3
    );
    assert_eq!(
        client.int("SELECT COUNT(*) FROM sys.columns WHERE object_id IN (OBJECT_ID('i', 'IF'), OBJECT_ID('dbo.m'))"),
        4
    );
    assert_eq!(
        client.int("SELECT COUNT(*) FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_NAME IN ('i', 'm')"),
        0
    );
    assert_eq!(
        client.text("SELECT DATA_TYPE FROM INFORMATION_SCHEMA.ROUTINES WHERE ROUTINE_NAME = 'f'"),
        "decimal"
    );
    assert_eq!(
        client.text("SELECT DATA_TYPE FROM INFORMATION_SCHEMA.ROUTINES WHERE ROUTINE_NAME = 'i'"),
        "TABLE"
    );
    assert_eq!(
        client.int("SELECT COUNT(*) FROM INFORMATION_SCHEMA.PARAMETERS WHERE SPECIFIC_NAME = 'f'"),
        3
    );
    assert_eq!(
        client.int("SELECT OBJECTPROPERTY(OBJECT_ID('s.f'), 'IsScalarFunction')"),
        1
    );
    assert_eq!(
        client.int("SELECT OBJECTPROPERTY(OBJECT_ID('i'), 'IsInlineFunction')"),
        1
    );
    assert!(client.text("EXEC sp_helptext 's.f'").starts_with("CREATE FUNCTION s.f"));
    assert_eq!(client.int("SELECT COUNT(*) FROM sys.sql_modules"), 3);
}

#[test]
fn functions_are_altered_moved_and_dropped() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(&mut client, "CREATE SCHEMA s");
    succeed(&mut client, "CREATE FUNCTION s.f () RETURNS INT AS BEGIN RETURN 1 END");
    succeed(
        &mut client,
        "CREATE FUNCTION dbo.i (@a INT) RETURNS TABLE AS RETURN SELECT @a AS a, N'x' AS b",
    );
    succeed(
        &mut client,
        "CREATE FUNCTION m () RETURNS @r TABLE (a INT) AS BEGIN RETURN END",
    );
    succeed(
        &mut client,
        "ALTER FUNCTION s.f (@a INT) RETURNS INT AS BEGIN RETURN -@a END",
    );
    assert_eq!(client.int("SELECT s.f(3)"), -3);
    assert!(
        client
            .text("EXEC sp_helptext 's.f'")
            .starts_with("CREATE FUNCTION s.f (@a INT) RETURNS INT")
    );
    all_fail(
        &mut client,
        &[
            (2714, "CREATE FUNCTION dbo.i () RETURNS INT AS BEGIN RETURN 1 END"),
            (2714, "CREATE TABLE i (a INT)"),
            (2010, "ALTER FUNCTION dbo.i () RETURNS INT AS BEGIN RETURN 1 END"),
            (208, "ALTER FUNCTION dbo.none () RETURNS INT AS BEGIN RETURN 1 END"),
            (4909, "ALTER FUNCTION dbo.t () RETURNS INT AS BEGIN RETURN 1 END"),
            (3705, "DROP TABLE i"),
            (3705, "DROP PROCEDURE i"),
            (3705, "DROP FUNCTION t"),
            (3701, "DROP FUNCTION none"),
            (3729, "DROP SCHEMA s"),
        ],
    );
    succeed(&mut client, "BEGIN TRANSACTION DROP FUNCTION s.f, i ROLLBACK");
    assert_eq!(client.int("SELECT s.f(3)"), -3);
    succeed(&mut client, "ALTER SCHEMA dbo TRANSFER s.f");
    assert_eq!(client.int("SELECT dbo.f(3)"), -3);
    succeed(&mut client, "DROP FUNCTION dbo.f, i DROP FUNCTION IF EXISTS m, none");
    all_fail(&mut client, &[(4121, "SELECT dbo.f(3)")]);
    let fixture = fixture.restarted();
    let mut client = fixture.client();
    succeed(&mut client, "USE d");
    assert_eq!(client.int("SELECT COUNT(*) FROM sys.sql_modules"), 0);
}

const PASSWORD: &str = "Gruen-Tisch-3";

#[test]
fn a_caller_needs_the_function_and_not_what_it_reads() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE FUNCTION f () RETURNS INT AS BEGIN RETURN (SELECT COUNT(*) FROM dbo.t) END",
    );
    succeed(
        &mut client,
        "CREATE FUNCTION i () RETURNS TABLE AS RETURN SELECT a FROM dbo.t",
    );
    succeed(&mut client, &format!("CREATE LOGIN ann WITH PASSWORD = '{PASSWORD}'"));
    succeed(&mut client, "CREATE USER ann");
    let mut ann = fixture.client_as("ann", PASSWORD, "d");
    all_fail(
        &mut ann,
        &[
            (229, "SELECT dbo.f()"),
            (229, "SELECT * FROM dbo.i()"),
            (229, "SELECT * FROM dbo.t"),
            (262, "CREATE FUNCTION g () RETURNS INT AS BEGIN RETURN 1 END"),
            (3701, "DROP FUNCTION f"),
        ],
    );
    assert_eq!(
        ann.int("SELECT COUNT(*) FROM sys.objects WHERE type IN ('FN', 'IF')"),
        0
    );
    succeed(&mut client, "CREATE SCHEMA a AUTHORIZATION ann");
    succeed(
        &mut client,
        "CREATE FUNCTION a.f () RETURNS INT AS BEGIN RETURN dbo.f() END",
    );
    succeed(
        &mut client,
        "CREATE FUNCTION a.i () RETURNS TABLE AS RETURN SELECT a FROM dbo.i()",
    );
    // Her functions have another owner than those of dbo, which she may not call.
    all_fail(&mut ann, &[(229, "SELECT a.f()"), (229, "SELECT * FROM a.i()")]);
    succeed(
        &mut client,
        "GRANT EXECUTE ON dbo.f TO ann GRANT SELECT ON dbo.i TO ann",
    );
    assert_eq!(ann.int("SELECT a.f()"), 4);
    assert_eq!(ann.int("SELECT COUNT(*) FROM a.i()"), 4);
    all_fail(&mut ann, &[(229, "SELECT * FROM dbo.t")]);
}

#[test]
fn an_inline_function_has_rows_in_an_order() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE FUNCTION dbo.last (@n INT) RETURNS TABLE AS RETURN (SELECT TOP (@n) a FROM t ORDER BY a DESC)",
    );
    assert_eq!(ints(&mut client, "SELECT a FROM dbo.last(2) ORDER BY a"), [[3], [4]]);
    assert_eq!(
        client.int("DECLARE @i INT = 1 SELECT COUNT(*) FROM dbo.last(@i + 2)"),
        3
    );
    all_fail(
        &mut client,
        &[(40510, "SELECT x.a FROM t CROSS APPLY dbo.last(t.a) AS x")],
    );
    succeed(
        &mut client,
        "CREATE FUNCTION dbo.from_on (@n INT) RETURNS TABLE AS RETURN SELECT a FROM t ORDER BY a OFFSET @n * 2 ROWS",
    );
    assert_eq!(ints(&mut client, "SELECT a FROM dbo.from_on(1) ORDER BY a"), [[3], [4]]);
    succeed(
        &mut client,
        "CREATE FUNCTION dbo.ends () RETURNS TABLE AS RETURN (SELECT TOP 1 a FROM t ORDER BY a) UNION ALL (SELECT 9)",
    );
    assert_eq!(ints(&mut client, "SELECT a FROM dbo.ends() ORDER BY a"), [[1], [9]]);
    all_fail(
        &mut client,
        &[(
            1033,
            "CREATE FUNCTION dbo.wrong () RETURNS TABLE AS RETURN (SELECT a FROM t ORDER BY a)",
        )],
    );
}

#[test]
fn a_function_has_a_synonym_and_is_no_procedure() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE FUNCTION dbo.twice (@a INT) RETURNS INT AS BEGIN RETURN @a * 2 END",
    );
    succeed(
        &mut client,
        "CREATE FUNCTION dbo.above (@a INT) RETURNS TABLE AS RETURN (SELECT a FROM t WHERE a > @a)",
    );
    succeed(
        &mut client,
        "CREATE SYNONYM double_of FOR dbo.twice CREATE SYNONYM over_of FOR above",
    );
    assert_eq!(client.int("SELECT dbo.double_of(21)"), 42);
    assert_eq!(ints(&mut client, "SELECT a FROM dbo.over_of(2) ORDER BY a"), [[3], [4]]);
    all_fail(
        &mut client,
        &[
            (40510, "DECLARE @r INT EXEC @r = dbo.twice 1"),
            (2812, "EXEC dbo.thrice 1"),
        ],
    );
}
