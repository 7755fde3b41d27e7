//! Types of users: other names of types, and tables.

use std::sync::Arc;

use selenite_tds::{Parameter, ProcedureId, TableColumn, TableValue, TypeInfo};
use selenite_types::{DataType, Value, Width};

use super::client::{Client, all_fail, int, output, parameter, succeed};
use super::fixture::Fixture;

/// A database `d` with an alias type, a table type and a schema `s`.
pub fn client(fixture: &Fixture) -> Client {
    let mut client = fixture.client();
    succeed(&mut client, "CREATE DATABASE d");
    succeed(&mut client, "USE d");
    succeed(&mut client, "CREATE TYPE dbo.phone FROM VARCHAR(20) NOT NULL");
    succeed(
        &mut client,
        "CREATE TYPE dbo.lines AS TABLE (id INT IDENTITY PRIMARY KEY, number phone, amount INT DEFAULT 7, CHECK (amount > 0),
            UNIQUE (number))",
    );
    succeed(&mut client, "CREATE SCHEMA s");
    client
}

#[test]
fn an_alias_type_stands_wherever_a_type_does() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(&mut client, "CREATE TABLE t (a dbo.phone, b phone NULL, c AS a + '!')");
    succeed(&mut client, "INSERT t VALUES ('1', NULL)");
    all_fail(
        &mut client,
        &[
            (515, "INSERT t (b) VALUES ('2')"),
            (2628, "INSERT t (a) VALUES ('123456789012345678901')"),
        ],
    );
    assert_eq!(client.text("DECLARE @p phone = '12' SELECT @p + '3'"), "123");
    succeed(
        &mut client,
        "CREATE PROCEDURE p @a dbo.phone AS DECLARE @b PHONE = @a + '!' SELECT @b AS b",
    );
    succeed(
        &mut client,
        "CREATE FUNCTION f (@a phone) RETURNS dbo.phone AS BEGIN RETURN @a + '?' END",
    );
    succeed(&mut client, "CREATE VIEW v AS SELECT a FROM t");
    assert_eq!(client.text("EXEC p 'x'"), "x!");
    assert_eq!(client.text("SELECT dbo.f('x')"), "x?");
    assert_eq!(client.text("SELECT a FROM v"), "1");
    all_fail(
        &mut client,
        &[
            (3732, "DROP TYPE phone"),
            (2715, "DECLARE @x none"),
            (2715, "DECLARE @x s.none"),
            (243, "SELECT CAST(1 AS phone)"),
            (243, "SELECT TRY_CONVERT(dbo.phone, 1)"),
            (243, "SELECT CAST(1 AS s.none)"),
        ],
    );
    // Another database has no such type, and a program is compiled for the one in use.
    succeed(&mut client, "CREATE DATABASE e");
    succeed(&mut client, "USE e");
    all_fail(&mut client, &[(2715, "DECLARE @p phone = '12' SELECT @p + '3'")]);
    succeed(&mut client, "CREATE TYPE phone FROM INT");
    assert_eq!(client.int("DECLARE @p phone = 12 SELECT @p"), 12);
    succeed(&mut client, "USE d");
    assert_eq!(client.text("DECLARE @p phone = 12 SELECT @p"), "12");
    let fixture = fixture.restarted();
    let mut client = fixture.client();
    succeed(&mut client, "USE d");
    assert_eq!(client.text("EXEC p 'y'"), "y!");
}

#[test]
fn a_variable_of_a_table_type_is_a_table_variable() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    assert_eq!(
        client.int(
            "DECLARE @l dbo.lines, @m lines INSERT @l (number) VALUES ('a'), ('b') INSERT @m (number, amount) VALUES ('c', 1)
             SELECT SUM(amount) + MAX(id) FROM (SELECT * FROM @l UNION ALL SELECT * FROM @m) AS x",
        ),
        17
    );
    succeed(
        &mut client,
        "CREATE PROCEDURE q AS DECLARE @l lines INSERT @l (number) VALUES ('a') SELECT COUNT(*) AS n FROM @l",
    );
    assert_eq!(client.int("EXEC q"), 1);
    succeed(
        &mut client,
        "CREATE FUNCTION g () RETURNS INT AS
         BEGIN DECLARE @l lines INSERT @l (number) VALUES ('a'), ('b') RETURN (SELECT MAX(id) FROM @l) END",
    );
    assert_eq!(client.int("SELECT dbo.g() + dbo.g()"), 4);
    all_fail(
        &mut client,
        &[
            (547, "DECLARE @l lines INSERT @l (number, amount) VALUES ('a', 0)"),
            (2627, "DECLARE @l lines INSERT @l (number) VALUES ('a'), ('a')"),
            (515, "DECLARE @l lines INSERT @l (number) VALUES (NULL)"),
            (1077, "DECLARE @l lines INSERT @l (id, number) VALUES (5, 'a')"),
            (3732, "DROP TYPE lines"),
            (3732, "DROP TYPE phone"),
        ],
    );
    succeed(
        &mut client,
        "DROP PROCEDURE q DROP FUNCTION g DROP TYPE lines DROP TYPE phone DROP TYPE IF EXISTS phone",
    );
    all_fail(
        &mut client,
        &[
            (2715, "DECLARE @l lines"),
            (3701, "DROP TYPE lines"),
            (102, "DROP TYPE a, b"),
        ],
    );
}

#[test]
fn types_are_described_and_refused() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(&mut client, "CREATE TYPE s.money2 FROM DECIMAL(9, 2) NULL");
    assert_eq!(
        client.int("SELECT COUNT(*) FROM sys.types WHERE is_user_defined = 1"),
        3
    );
    assert_eq!(
        client.int("SELECT COUNT(*) FROM sys.table_types WHERE name = 'lines' AND is_table_type = 1"),
        1
    );
    assert_eq!(
        client.int(
            "SELECT COUNT(*) FROM sys.types WHERE name = 'money2' AND schema_id = SCHEMA_ID('s') AND is_nullable = 1
             AND system_type_id = 106 AND [precision] = 9 AND scale = 2 AND user_type_id = TYPE_ID('s.money2')"
        ),
        1
    );
    assert_eq!(client.text("SELECT TYPE_NAME(TYPE_ID('phone'))"), "phone");
    all_fail(
        &mut client,
        &[
            (219, "CREATE TYPE phone FROM INT"),
            (219, "CREATE TYPE dbo.lines AS TABLE (a INT)"),
            (219, "CREATE TYPE [int] FROM INT"),
            (2715, "CREATE TYPE x FROM none"),
            (2715, "CREATE TYPE x FROM phone"),
            (2715, "CREATE TYPE x FROM dbo.lines"),
            (2760, "CREATE TYPE none.x FROM INT"),
            (40510, "CREATE TYPE x AS TABLE (a INT REFERENCES t (a))"),
            (350, "CREATE TABLE x (a lines)"),
            (2715, "CREATE TABLE #x (a phone)"),
            (2705, "CREATE TYPE x AS TABLE (a INT, a INT)"),
            (3729, "DROP SCHEMA s"),
        ],
    );
    succeed(&mut client, "BEGIN TRANSACTION CREATE TYPE x FROM INT ROLLBACK");
    all_fail(&mut client, &[(2715, "DECLARE @x x")]);
    succeed(&mut client, "DROP TYPE s.money2 DROP SCHEMA s");
}

#[test]
fn a_column_of_an_alias_type_keeps_it() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE TYPE s.code FROM INT NOT NULL CREATE TABLE u (a s.code, b phone NULL) ALTER TABLE u ADD c dbo.phone NULL",
    );
    let described = "SELECT STRING_AGG(TYPE_NAME(user_type_id), ',') WITHIN GROUP (ORDER BY column_id) FROM sys.columns
        WHERE object_id = OBJECT_ID('u')";
    assert_eq!(client.text(described), "code,phone,phone");
    assert_eq!(
        client.text(
            "SELECT DOMAIN_SCHEMA + '.' + DOMAIN_NAME + ' ' + DATA_TYPE FROM INFORMATION_SCHEMA.COLUMNS
             WHERE TABLE_NAME = 'u' AND COLUMN_NAME = 'a'"
        ),
        "s.code int"
    );
    assert_eq!(
        client.text("SELECT DATA_TYPE FROM INFORMATION_SCHEMA.DOMAINS WHERE DOMAIN_NAME = 'phone' AND CHARACTER_MAXIMUM_LENGTH = 20"
        ),
        "varchar"
    );
    all_fail(
        &mut client,
        &[
            (3732, "DROP TYPE s.code"),
            (515, "INSERT u (b) VALUES ('x')"),
            (245, "INSERT u (a) VALUES ('x')"),
        ],
    );
    succeed(
        &mut client,
        "ALTER TABLE u ALTER COLUMN a BIGINT NOT NULL DROP TYPE s.code",
    );
    succeed(&mut client, "ALTER TABLE u ALTER COLUMN c CHAR(3)");
    assert_eq!(client.text(described), "bigint,phone,char");
    let fixture = fixture.restarted();
    let mut client = fixture.client();
    succeed(&mut client, "USE d");
    assert_eq!(client.text(described), "bigint,phone,char");
    assert_eq!(client.int("SELECT TYPEPROPERTY('dbo.phone', 'Precision')"), 20);
    assert_eq!(client.int("SELECT TYPEPROPERTY('phone', 'AllowsNull')"), 0);
    assert_eq!(
        client.int("SELECT TYPEPROPERTY('decimal', 'Scale') + TYPEPROPERTY('int', 'Precision')"),
        10
    );
    assert_eq!(client.value("SELECT TYPEPROPERTY('none', 'Scale')"), Value::Null);
    assert_eq!(client.value("SELECT TYPE_ID('s.phone')"), Value::Null);
}

#[test]
fn a_procedure_takes_a_table() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(&mut client, "CREATE TYPE dbo.numbers AS TABLE (n INT NOT NULL)");
    succeed(
        &mut client,
        "CREATE PROCEDURE p @factor INT, @n dbo.numbers READONLY AS
         DECLARE @own numbers INSERT @own SELECT n * @factor FROM @n SELECT SUM(x.n) AS s FROM @own AS x",
    );
    succeed(
        &mut client,
        "CREATE PROCEDURE outer_p @n numbers READONLY AS EXEC p 2, @n EXEC p @n = @n, @factor = 3",
    );
    let declare = "DECLARE @t numbers INSERT @t VALUES (1), (2), (3) ";
    assert_eq!(client.int(&format!("{declare} EXEC p 10, @t")), 60);
    let answer = client.batch(&format!(
        "{declare} BEGIN TRANSACTION EXEC outer_p @t ROLLBACK SELECT COUNT(*) AS c FROM @t"
    ));
    assert_eq!(answer.errors(), []);
    let rows: Vec<_> = answer.rows().iter().map(|row| row[0].clone()).collect();
    assert_eq!(rows, [Value::Int(12), Value::Int(18), Value::Int(3)]);
    // Without an argument it is empty.
    assert_eq!(client.value("EXEC p 1"), Value::Null);
    assert_eq!(client.value("EXEC p 1, DEFAULT"), Value::Null);
    assert_eq!(
        client.int(&format!(
            "{declare} EXEC sp_executesql N'SELECT COUNT(*) + @a FROM @x', N'@x dbo.numbers READONLY, @a INT', @t, @a = 4"
        )),
        7
    );
    let dml = [
        "INSERT @n VALUES (1)",
        "UPDATE @n SET n = 2",
        "DELETE @n",
        "DELETE x FROM @n AS x",
        "UPDATE x SET n = 1 FROM t JOIN @n AS x ON 1 = 1",
        "INSERT INTO u OUTPUT inserted.a INTO @n VALUES (1)",
    ];
    for statement in dml {
        let text = format!("CREATE PROCEDURE r @n numbers READONLY AS {statement}");
        all_fail(&mut client, &[(10700, &text)]);
    }
    all_fail(
        &mut client,
        &[
            (352, "CREATE PROCEDURE r @n numbers AS RETURN 1"),
            (346, "CREATE PROCEDURE r @n INT READONLY AS RETURN 1"),
            (2715, "CREATE PROCEDURE r @n none READONLY AS RETURN 1"),
            (134, "CREATE PROCEDURE r @n numbers READONLY, @n INT AS RETURN 1"),
            (137, "CREATE PROCEDURE r @n numbers READONLY AS SELECT @n"),
            (206, "DECLARE @t TABLE (n INT) EXEC p 1, @t"),
            (206, "DECLARE @t lines EXEC p 1, @t"),
            (206, "EXEC p 1, 2"),
            (206, "DECLARE @t numbers EXEC p @t, @t"),
            (8162, "DECLARE @t numbers EXEC p 1, @t OUTPUT"),
            (3732, "DROP TYPE numbers"),
        ],
    );
    assert_eq!(
        client.text(
            "SELECT TYPE_NAME(user_type_id) FROM sys.parameters WHERE is_readonly = 1 AND object_id = OBJECT_ID('p')"
        ),
        "numbers"
    );
    succeed(&mut client, "EXEC sp_sproc_columns 'p' EXEC sp_help 'p'");
}

#[test]
fn functions_take_tables() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(&mut client, "CREATE TYPE s.numbers AS TABLE (n INT PRIMARY KEY)");
    succeed(
        &mut client,
        "CREATE FUNCTION s.total (@n s.numbers READONLY, @plus INT) RETURNS INT AS BEGIN
            DECLARE @r INT = (SELECT SUM(n) FROM @n) RETURN @r + @plus END",
    );
    succeed(
        &mut client,
        "CREATE FUNCTION s.above (@n s.numbers READONLY, @least INT) RETURNS TABLE AS
         RETURN SELECT n, n * 2 AS twice FROM @n WHERE n >= @least",
    );
    succeed(
        &mut client,
        "CREATE FUNCTION s.all_of (@n s.numbers READONLY) RETURNS @r TABLE (n INT, t INT) AS BEGIN
            INSERT @r SELECT n, s.total(@n, n) FROM @n INSERT @r SELECT -1, SUM(twice) FROM s.above(@n, 2) RETURN END",
    );
    let declare = "DECLARE @t s.numbers, @u s.numbers INSERT @t VALUES (1), (2), (3) INSERT @u VALUES (10)";
    assert_eq!(
        client.int(&format!("{declare} SELECT s.total(@t, 1) * 100 + s.total(@u, 2)")),
        712
    );
    assert_eq!(
        client.int(&format!("{declare} DECLARE @x INT = s.total(@t, 1) SELECT @x")),
        7
    );
    assert_eq!(
        client.int(&format!("{declare} SELECT SUM(s.total(@t, x.n)) FROM @u AS x")),
        16
    );
    assert_eq!(
        client.int(&format!(
            "{declare} SELECT SUM(a.twice) + SUM(b.n) FROM s.above(@t, 3) AS a CROSS JOIN s.above(@u, 1) AS b"
        )),
        16
    );
    assert_eq!(client.int(&format!("{declare} SELECT SUM(t) FROM s.all_of(@t)")), 34);
    assert_eq!(
        client.int(&format!(
            "{declare} SELECT SUM(t) FROM s.all_of(@t) SELECT 1 WHERE 1 = 0"
        )),
        34
    );
    all_fail(
        &mut client,
        &[
            (206, "DECLARE @t lines SELECT s.total(@t, 1) FROM sys.types"),
            (206, "DECLARE @t TABLE (n INT) SELECT n FROM s.above(@t, 1)"),
            (206, "SELECT n FROM s.above(1, 1)"),
            (206, "DECLARE @t s.numbers SELECT s.total(@t, @t) FROM sys.types"),
            (
                352,
                "CREATE FUNCTION g (@n s.numbers) RETURNS INT AS BEGIN RETURN 1 END",
            ),
            (
                10700,
                "CREATE FUNCTION g (@n s.numbers READONLY) RETURNS INT AS BEGIN DELETE @n RETURN 1 END",
            ),
            (3732, "DROP TYPE s.numbers"),
        ],
    );
}

/// A table-valued parameter of `numbers` or another type.
pub fn table(
    name: &str,
    (schema, type_name): (&str, &str),
    columns: &[(DataType, bool)],
    values: Vec<Value>,
) -> Parameter {
    let sent = columns.iter().filter(|(_, is_default)| !is_default).count();
    let is_null = columns.is_empty();
    let columns = columns.iter().map(|(data_type, is_default)| TableColumn {
        type_info: TypeInfo {
            data_type: *data_type,
            collation: None,
        },
        is_default: *is_default,
    });
    let value = TableValue {
        schema: schema.to_owned(),
        name: type_name.to_owned(),
        columns: columns.collect(),
        row_count: u32::try_from(values.len().checked_div(sent).unwrap_or(0)).unwrap(),
        values,
    };
    Parameter {
        // A null table is sent as a default alone.
        is_default: is_null,
        table: Some(Arc::new(value)),
        ..parameter(name, DataType::Int, Value::Null)
    }
}

#[test]
fn a_client_sends_rows() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE PROCEDURE p @l dbo.lines READONLY, @plus INT = 0 AS
         SELECT id, number, amount + @plus AS amount FROM @l ORDER BY id",
    );
    let lines = ("dbo", "lines");
    let varchar = DataType::VarChar(Width::Limited(30));
    let words = |words: &[&str]| words.iter().map(|word| Value::Text((*word).into())).collect::<Vec<_>>();
    let columns = [(DataType::Int, true), (varchar, false), (DataType::Int, true)];
    let answer = client.call_by_name(
        "dbo.p",
        vec![table("@l", lines, &columns, words(&["a", "b"])), int("@plus", 3)],
    );
    assert_eq!(answer.errors(), []);
    let row = |id, number: &str, amount| vec![Value::Int(id), Value::Text(number.into()), Value::Int(amount)];
    assert_eq!(answer.rows(), [row(1, "a", 10), row(2, "b", 10)]);
    // By position, values for all columns but the identity, and the type without its schema.
    let columns = [(DataType::Int, true), (varchar, false), (DataType::BigInt, false)];
    let values = vec![
        Value::Text("c".into()),
        Value::BigInt(5),
        Value::Text("d".into()),
        Value::Null,
    ];
    let answer = client.call_by_name("p", vec![table("", ("", "LINES"), &columns, values)]);
    assert_eq!(answer.errors(), []);
    assert_eq!(answer.rows()[0], row(1, "c", 5));
    assert_eq!(answer.rows()[1][2], Value::Null);
    // No rows, and no columns.
    for columns in [&columns[..], &[]] {
        let answer = client.call_by_name("p", vec![table("@l", lines, columns, Vec::new())]);
        assert_eq!((answer.errors(), answer.rows().len()), (vec![], 0), "{answer:?}");
    }
    let wrong: [(i32, Parameter); 6] = [
        (206, table("@l", ("dbo", "other"), &columns, Vec::new())),
        (206, table("@l", ("s", "lines"), &columns, Vec::new())),
        (206, table("@plus", lines, &columns, Vec::new())),
        (500, table("@l", lines, &columns[..2], Vec::new())),
        (
            2627,
            table(
                "@l",
                lines,
                &[columns[0], columns[1], (DataType::Int, true)],
                words(&["x", "x"]),
            ),
        ),
        (
            515,
            table(
                "@l",
                lines,
                &[columns[0], columns[1], (DataType::Int, true)],
                vec![Value::Null],
            ),
        ),
    ];
    for (number, parameter) in wrong {
        let shown = format!("{parameter:?}");
        let answer = client.call_by_name("p", vec![parameter]);
        let first = answer.errors().first().map(|(number, _)| *number);
        assert_eq!(first, Some(number), "{shown} {answer:?}");
    }
    let answer = client.call_by_name("p", vec![int("@l", 1)]);
    assert_eq!(answer.errors().first().map(|(number, _)| *number), Some(206));
}

#[test]
fn a_text_takes_rows_of_a_client() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(&mut client, "CREATE TYPE s.pairs AS TABLE (a INT, b NVARCHAR(MAX))");
    let count = 5000;
    let values = (0..count).flat_map(|at| [Value::Int(at), Value::Text(format!("row {at}").into())]);
    let columns = [(DataType::Int, false), (DataType::NVarChar(Width::Max), false)];
    let rows = table("@p", ("s", "pairs"), &columns, values.collect());
    let ask = vec![
        words("SELECT COUNT(*) + MAX(a) + MAX(LEN(b)) FROM @p"),
        words("@p s.pairs READONLY"),
        rows.clone(),
    ];
    let answer = client.call(ProcedureId::ExecuteSql, ask);
    assert_eq!(answer.errors(), []);
    // LEN of a text of any length is a bigint.
    assert_eq!(answer.rows(), [vec![Value::BigInt(10_007)]]);
    // In a transaction, whose rollback leaves the rows.
    let ask = vec![
        words("BEGIN TRANSACTION CREATE TABLE v (a INT) INSERT v SELECT a FROM @p ROLLBACK SELECT COUNT(*) FROM @p"),
        words("@p s.pairs READONLY"),
        rows.clone(),
    ];
    let answer = client.call(ProcedureId::ExecuteSql, ask);
    assert_eq!(answer.errors(), []);
    assert_eq!(answer.rows(), [vec![Value::Int(count)]]);
    // Prepared, and run twice.
    let prepare = vec![
        output("", DataType::Int, Value::Null),
        words("@p s.pairs READONLY, @more INT"),
        words("SELECT COUNT(*) + @more FROM @p"),
        int("", 1),
    ];
    let answer = client.call(ProcedureId::Prepare, prepare);
    assert_eq!(answer.errors(), []);
    for more in [1, 2] {
        let answer = client.call(ProcedureId::Execute, vec![int("", 1), rows.clone(), int("", more)]);
        assert_eq!(answer.errors(), [], "{answer:?}");
        assert_eq!(answer.rows(), [vec![Value::Int(count + more)]]);
    }
}

fn words(text: &str) -> Parameter {
    super::client::text(text)
}

#[test]
fn types_are_transferred_and_mean_the_same_everywhere() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE TYPE code FROM INT ALTER SCHEMA s TRANSFER TYPE::dbo.code",
    );
    assert_eq!(client.int("DECLARE @c s.code = 5 SELECT @c"), 5);
    all_fail(
        &mut client,
        &[
            (2715, "DECLARE @c dbo.code"),
            (15151, "ALTER SCHEMA s TRANSFER TYPE::dbo.none"),
            (40510, "ALTER SCHEMA s TRANSFER TYPE::phone"),
        ],
    );
    // A name without a schema is looked up in the user's schema first, and later in the procedure's.
    all_fail(
        &mut client,
        &[(2715, "CREATE PROCEDURE s.p AS DECLARE @c code SELECT @c")],
    );
    succeed(&mut client, "CREATE PROCEDURE s.q AS DECLARE @p phone = 'x' SELECT @p");
    all_fail(&mut client, &[(40510, "CREATE TYPE s.phone FROM INT")]);
    assert_eq!(client.text("EXEC s.q"), "x");
}

#[test]
fn types_need_permissions() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE LOGIN ann WITH PASSWORD = 'Corr3ct-horse' CREATE USER ann FOR LOGIN ann
         CREATE TYPE numbers AS TABLE (n INT)",
    );
    succeed(&mut client, "CREATE SCHEMA a AUTHORIZATION ann");
    succeed(
        &mut client,
        "CREATE PROCEDURE takes @n numbers READONLY AS SELECT COUNT(*) FROM @n",
    );
    succeed(
        &mut client,
        "CREATE PROCEDURE has AS DECLARE @n numbers INSERT @n VALUES (1) SELECT COUNT(*) FROM @n",
    );
    succeed(
        &mut client,
        "GRANT EXECUTE ON takes TO ann GRANT EXECUTE ON has TO ann GRANT CREATE TABLE TO ann GRANT CREATE PROCEDURE TO ann",
    );
    let mut ann = fixture.client_as("ann", "Corr3ct-horse", "d");
    assert_eq!(ann.int("EXEC has"), 1);
    all_fail(
        &mut ann,
        &[
            (229, "DECLARE @n numbers EXEC takes @n"),
            (229, "CREATE PROCEDURE a.p AS DECLARE @n dbo.numbers"),
            (229, "CREATE TABLE a.t (p dbo.phone)"),
            (262, "CREATE TYPE a.x FROM INT"),
            (3701, "DROP TYPE numbers"),
            (15151, "GRANT EXECUTE ON TYPE::dbo.numbers TO public"),
        ],
    );
    let rows = || table("@n", ("dbo", "numbers"), &[(DataType::Int, false)], vec![Value::Int(1)]);
    let answer = ann.call_by_name("dbo.takes", vec![rows()]);
    assert_eq!(answer.errors().first().map(|(number, _)| *number), Some(229));
    assert_eq!(ann.int("SELECT HAS_PERMS_BY_NAME('dbo.numbers', 'TYPE', 'EXECUTE')"), 0);
    succeed(
        &mut client,
        "GRANT EXECUTE ON TYPE::dbo.numbers TO ann GRANT REFERENCES ON TYPE::phone TO ann",
    );
    assert_eq!(ann.int("SELECT HAS_PERMS_BY_NAME('dbo.numbers', 'TYPE', 'EXECUTE')"), 1);
    assert_eq!(ann.int("DECLARE @n numbers EXEC takes @n"), 0);
    let answer = ann.call_by_name("dbo.takes", vec![rows()]);
    assert_eq!(answer.rows(), [vec![Value::Int(1)]], "{answer:?}");
    succeed(&mut ann, "CREATE TABLE a.t (p dbo.phone)");
    assert_eq!(
        client.int(
            "SELECT COUNT(*) FROM sys.database_permissions WHERE class_desc = 'TYPE' AND major_id = TYPE_ID('numbers')"
        ),
        1
    );
    all_fail(
        &mut client,
        &[
            (4606, "GRANT SELECT ON TYPE::numbers TO ann"),
            (15151, "GRANT EXECUTE ON TYPE::none TO ann"),
        ],
    );
    succeed(&mut client, "REVOKE EXECUTE ON TYPE::numbers FROM ann");
    all_fail(&mut ann, &[(229, "DECLARE @n numbers")]);
    // A transfer needs CONTROL of the type, whatever else the user may define.
    succeed(
        &mut client,
        "CREATE TYPE other FROM INT ALTER ROLE db_ddladmin ADD MEMBER ann",
    );
    all_fail(&mut ann, &[(15151, "ALTER SCHEMA a TRANSFER TYPE::dbo.other")]);
    succeed(&mut client, "GRANT CONTROL ON TYPE::other TO ann");
    succeed(&mut ann, "ALTER SCHEMA a TRANSFER TYPE::dbo.other");
    assert_eq!(ann.int("DECLARE @c a.other = 5 SELECT @c"), 5);
}

#[test]
fn a_type_is_visible_to_who_has_a_permission_on_it() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE LOGIN ann WITH PASSWORD = 'Corr3ct-horse' CREATE USER ann FOR LOGIN ann
         ALTER ROLE db_datareader ADD MEMBER ann GRANT EXECUTE ON TYPE::lines TO public",
    );
    let mut ann = fixture.client_as("ann", "Corr3ct-horse", "d");
    let seen = "SELECT CONCAT(IIF(TYPE_ID('lines') IS NULL, 0, 1), IIF(TYPE_ID('phone') IS NULL, 0, 1),
                (SELECT COUNT(*) FROM sys.types WHERE is_user_defined = 1), (SELECT COUNT(*) FROM sys.table_types),
                (SELECT COUNT(*) FROM INFORMATION_SCHEMA.DOMAINS), (SELECT COUNT(*) FROM sys.objects WHERE type = 'TT'),
                (SELECT COUNT(*) FROM sys.columns WHERE name = 'amount'),
                (SELECT COUNT(*) FROM sys.database_permissions WHERE class = 6))";
    assert_eq!(client.text(seen), "11212111");
    assert_eq!(ann.text(seen), "10111111");
    succeed(&mut client, "REVOKE EXECUTE ON TYPE::lines FROM public");
    assert_eq!(ann.text(seen), "00000000");
    // Who may not see it may use it.
    assert_eq!(ann.text("DECLARE @p phone = 'x' SELECT @p"), "x");
    succeed(&mut client, "GRANT VIEW DEFINITION ON TYPE::lines TO ann");
    assert_eq!(ann.text(seen), "10111111");
    all_fail(&mut ann, &[(229, "DECLARE @l lines")]);
    succeed(
        &mut client,
        "REVOKE VIEW DEFINITION ON TYPE::lines FROM ann GRANT EXECUTE ON SCHEMA::dbo TO ann",
    );
    assert_eq!(ann.text(seen), "11212110");
    succeed(&mut client, "DENY VIEW DEFINITION ON TYPE::lines TO ann");
    assert_eq!(ann.text(seen), "01101000");
}

#[test]
fn a_text_needs_permission_for_what_it_declares_and_is_not_given() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE LOGIN ann WITH PASSWORD = 'Corr3ct-horse' CREATE USER ann FOR LOGIN ann",
    );
    let mut ann = fixture.client_as("ann", "Corr3ct-horse", "d");
    let asked = || vec![words("SELECT COUNT(*) FROM @l"), words("@l lines READONLY")];
    let answer = ann.call(ProcedureId::ExecuteSql, asked());
    assert_eq!(answer.errors().first().map(|(number, _)| *number), Some(229));
    succeed(&mut client, "GRANT EXECUTE ON TYPE::lines TO ann");
    let answer = ann.call(ProcedureId::ExecuteSql, asked());
    assert_eq!(answer.rows(), [vec![Value::Int(0)]]);
}
