//! sql_variant: columns, variables, parameters, its order, its conversions, what is refused.

use selenite_tds::ProcedureId;
use selenite_types::{DataType, SqlVariant, Value, Width};

use super::client::{Client, all_fail, fails, int, output, parameter, shown, succeed, text};
use super::fixture::Fixture;

fn client(fixture: &Fixture) -> Client {
    let mut client = fixture.client();
    succeed(&mut client, "CREATE DATABASE d");
    succeed(&mut client, "USE d");
    client
}

/// A client with a table `t` of values of many types.
fn filled(fixture: &Fixture) -> Client {
    let mut client = client(fixture);
    succeed(&mut client, "CREATE TABLE t (n int PRIMARY KEY, v sql_variant NULL)");
    // Rows of one VALUES have one type.
    for (number, value) in (1..).zip([
        "5",
        "CAST(5 AS bigint)",
        "CAST(5.00 AS decimal(10,2))",
        "$5",
        "5e0",
        "'5'",
        "N'5'",
        "0x05",
        "NULL",
        "CAST('20260131' AS date)",
        "CAST('2026-01-31 00:00' AS datetime)",
        "NEWID()",
        "'a'",
        "N'A '",
        "6",
    ]) {
        succeed(&mut client, &format!("INSERT t VALUES ({number}, {value})"));
    }
    client
}

fn variant(data_type: DataType, value: Value) -> Value {
    SqlVariant::of(data_type, value).unwrap()
}

fn nvarchar(text: &str) -> Value {
    let length = u16::try_from(text.len()).unwrap();
    variant(DataType::NVarChar(Width::Limited(length)), Value::Text(text.into()))
}

const VARIANT: DataType = DataType::SqlVariant;

#[test]
fn a_value_comes_back_with_its_type() {
    let fixture = Fixture::new();
    let mut client = filled(&fixture);
    let rows = succeed(&mut client, "SELECT v FROM t WHERE n IN (1, 4, 7, 9) ORDER BY n").rows();
    assert_eq!(
        rows,
        [
            [variant(DataType::Int, Value::Int(5))],
            [variant(DataType::Money, Value::Money(50_000))],
            [nvarchar("5")],
            [Value::Null],
        ]
    );
    let properties = "SELECT SQL_VARIANT_PROPERTY(v, 'BaseType'), SQL_VARIANT_PROPERTY(v, 'Precision'),
        SQL_VARIANT_PROPERTY(v, 'Scale'), SQL_VARIANT_PROPERTY(v, 'TotalBytes'),
        SQL_VARIANT_PROPERTY(v, 'Collation'), SQL_VARIANT_PROPERTY(v, 'MaxLength'), SQL_VARIANT_PROPERTY(v, 'x')";
    let mut told = |from: &str| {
        let row = succeed(&mut client, &format!("{properties} FROM {from}"))
            .rows()
            .remove(0);
        let value = |value: &Value| match value {
            Value::SqlVariant(variant) => selenite_types::text_of(variant.value(), variant.data_type()).unwrap(),
            Value::Null => "-".to_owned(),
            other => panic!("{other:?}"),
        };
        row.iter().map(value).collect::<Vec<String>>().join(",")
    };
    assert_eq!(told("t WHERE n = 1"), "int,10,0,6,-,4,-");
    assert_eq!(told("t WHERE n = 3"), "decimal,10,2,9,-,9,-");
    assert_eq!(
        told("t WHERE n = 7"),
        "nvarchar,0,0,10,SQL_Latin1_General_CP1_CI_AS,2,-"
    );
    assert_eq!(told("t WHERE n = 9"), "-,-,-,-,-,-,-");
    assert_eq!(
        told("(SELECT CAST(N'abc' AS nvarchar(20)) AS v) AS x"),
        "nvarchar,0,0,14,SQL_Latin1_General_CP1_CI_AS,40,-"
    );
    assert_eq!(told("(SELECT CAST('10:00' AS time(3)) AS v) AS x"), "time,12,3,7,-,4,-");
    drop(client);
    // The file has it, too.
    let fixture = fixture.restarted();
    let mut client = fixture.client();
    assert_eq!(
        client.value("SELECT v FROM d..t WHERE n = 1"),
        variant(DataType::Int, Value::Int(5))
    );
    drop(client);
    fixture.stop();
}

#[test]
fn values_are_compared_grouped_and_sorted_by_families() {
    let fixture = Fixture::new();
    let mut client = filled(&fixture);
    let mut all = |sql: &str| shown(&succeed(&mut client, sql));
    assert_eq!(all("SELECT n FROM t WHERE v = 5 ORDER BY n"), "1; 2; 3; 4");
    assert_eq!(all("SELECT n FROM t WHERE v = '5' ORDER BY n"), "6; 7");
    assert_eq!(all("SELECT n FROM t WHERE v IN (5e0, 0x05) ORDER BY n"), "5; 8");
    assert_eq!(all("SELECT n FROM t WHERE v > 5 ORDER BY n"), "5; 10; 11; 15");
    assert_eq!(
        all("SELECT n FROM t WHERE v BETWEEN 5 AND 6.0 ORDER BY n"),
        "1; 2; 3; 4; 15"
    );
    assert_eq!(
        all("DECLARE @v sql_variant = 5 SELECT n FROM t WHERE v = @v ORDER BY n"),
        "1; 2; 3; 4"
    );
    assert_eq!(
        all("DECLARE @v sql_variant = 5 IF @v = 5.0 AND @v <> '5' AND @v < 5e0 SELECT 1 AS a"),
        "1"
    );
    assert_eq!(
        all("SELECT n FROM t ORDER BY v DESC, n"),
        "10; 11; 5; 15; 1; 2; 3; 4; 13; 14; 6; 7; 8; 12; 9"
    );
    assert_eq!(all("SELECT n FROM t WHERE v IS NULL"), "9");
    assert_eq!(
        all("SELECT COUNT(*), MIN(n) FROM t GROUP BY v ORDER BY v"),
        "1,9; 1,12; 1,8; 2,6; 2,13; 4,1; 1,15; 1,5; 2,10"
    );
    assert_eq!(all("SELECT COUNT(*) FROM (SELECT DISTINCT v FROM t) AS x"), "9");
    assert_eq!(all("SELECT COUNT(DISTINCT v), COUNT(v) FROM t"), "8,14");
    assert_eq!(
        all("SELECT COUNT(*) FROM (SELECT v FROM t UNION SELECT v FROM t UNION SELECT 5) AS x"),
        "9"
    );
    assert_eq!(
        all("SELECT COUNT(*) FROM (SELECT v FROM t EXCEPT SELECT 5.0) AS x"),
        "8"
    );
    assert_eq!(
        all("SELECT x.n FROM t AS x JOIN t AS y ON x.v = y.v WHERE y.n = 4 ORDER BY 1"),
        "1; 2; 3; 4"
    );
    assert_eq!(
        all("SELECT n FROM t WHERE v IN (SELECT v FROM t WHERE n = 2) ORDER BY n"),
        "1; 2; 3; 4"
    );
    assert_eq!(
        all("SELECT n FROM t WHERE v >= ALL (SELECT v FROM t WHERE v IS NOT NULL) ORDER BY n"),
        "10; 11"
    );
    assert_eq!(
        all("SELECT CAST(MAX(v) AS int), CAST(MIN(v) AS int) FROM t WHERE n IN (1, 6, 15)"),
        "6,5"
    );
    assert_eq!(
        all("SELECT n, RANK() OVER (ORDER BY v) FROM t WHERE n IN (1, 2, 15) ORDER BY n"),
        "1,1; 2,1; 15,3"
    );
}

#[test]
fn a_sql_variant_becomes_another_type_by_cast_alone() {
    let fixture = Fixture::new();
    let mut client = filled(&fixture);
    let mut all = |sql: &str| shown(&succeed(&mut client, sql));
    assert_eq!(
        all("SELECT CAST(v AS int), CONVERT(varchar(20), v), DATALENGTH(v) FROM t WHERE n = 3"),
        "5,5.00,5"
    );
    assert_eq!(
        all("SELECT CAST(v AS nvarchar(max)), CONVERT(char(8), v, 112) FROM t WHERE n = 10"),
        "2026-01-31,20260131"
    );
    assert_eq!(
        all("SELECT TRY_CAST(v AS int) FROM t WHERE n IN (6, 13) ORDER BY n"),
        "5; -"
    );
    assert_eq!(
        all("DECLARE @n sql_variant SELECT CAST(ISNULL(@n, 7) AS int), CAST(COALESCE(@n, NULL, 'x') AS varchar(5))"),
        "7,x"
    );
    assert_eq!(
        all("SELECT CAST(CASE WHEN n = 1 THEN v ELSE 'none' END AS varchar(9)) FROM t WHERE n IN (1, 2)"),
        "5; none"
    );
    assert_eq!(
        all("SELECT CAST(x.v AS varchar(9)) FROM (VALUES (CAST(1 AS sql_variant)), ('a')) AS x (v)"),
        "1; a"
    );
    for (number, sql) in [
        (257, "DECLARE @i int = (SELECT v FROM t WHERE n = 1)"),
        (257, "INSERT t (n) SELECT v FROM t"),
        (257, "DECLARE @v sql_variant = 1 SELECT @v + 1"),
        (257, "DECLARE @v sql_variant = 1 SELECT 'a' + @v"),
        (257, "DECLARE @v sql_variant = 1 PRINT @v"),
        (8117, "DECLARE @v sql_variant = 1 SELECT @v * @v"),
        (8117, "SELECT SUM(v) FROM t"),
        (8117, "SELECT AVG(v) FROM t"),
        (8117, "SELECT -v FROM t"),
        (8116, "SELECT * FROM t WHERE v LIKE '5%'"),
        (8116, "SELECT LEN(v) FROM t"),
        (8116, "SELECT UPPER(v) FROM t"),
        (8116, "SELECT ABS(v) FROM t"),
        (8116, "SELECT DATEADD(day, 1, v) FROM t"),
        (8116, "SELECT ISNUMERIC(v) FROM t"),
        (206, "DECLARE @m varchar(max) = 'a' DECLARE @v sql_variant = @m"),
        (206, "INSERT t VALUES (99, CAST('a' AS nvarchar(max)))"),
        (206, "INSERT t VALUES (99, CAST(0x01 AS varbinary(max)))"),
        (
            206,
            "SELECT SQL_VARIANT_PROPERTY(CAST('a' AS varchar(max)), 'BaseType')",
        ),
        (529, "SELECT CAST(CAST('a' AS varchar(max)) AS sql_variant)"),
        (245, "SELECT CAST(v AS int) FROM t WHERE n = 13"),
        (529, "SELECT CAST(v AS date) FROM t WHERE n = 1"),
        (2716, "DECLARE @v sql_variant(5)"),
        (40510, "SELECT CAST('a' COLLATE Latin1_General_BIN2 AS sql_variant)"),
    ] {
        fails(&mut client, number, sql);
    }
}

#[test]
fn a_column_may_be_one_but_not_a_key() {
    let fixture = Fixture::new();
    let mut client = filled(&fixture);
    all_fail(
        &mut client,
        &[
            (40510, "CREATE TABLE k (v sql_variant PRIMARY KEY)"),
            (40510, "CREATE TABLE k (v sql_variant UNIQUE)"),
            (40510, "CREATE INDEX i ON t (v)"),
            (40510, "CREATE INDEX i ON t (n) WHERE v IS NOT NULL"),
            (40510, "CREATE TABLE k (v sql_variant REFERENCES t (n))"),
            (2749, "CREATE TABLE k (v sql_variant IDENTITY)"),
        ],
    );
    succeed(&mut client, "CREATE INDEX i ON t (n) INCLUDE (v)");
    succeed(
        &mut client,
        "CREATE TABLE c (n int IDENTITY, v sql_variant NOT NULL DEFAULT 7 CHECK (v <> 'no'), w AS CAST(v AS varchar(9)));
         INSERT c DEFAULT VALUES; INSERT c (v) VALUES ('yes'); UPDATE c SET v = $1 WHERE n = 2; SELECT v INTO e FROM c;
         ALTER TABLE c ADD x int NULL; UPDATE c SET x = n; ALTER TABLE c ALTER COLUMN x sql_variant",
    );
    all_fail(
        &mut client,
        &[
            (547, "INSERT c (v) VALUES ('no')"),
            (515, "INSERT c (v) VALUES (NULL)"),
            (257, "ALTER TABLE c ALTER COLUMN x int"),
        ],
    );
    let mut all = |sql: &str| shown(&succeed(&mut client, sql));
    assert_eq!(
        all("SELECT w, CAST(v AS int), CAST(x AS int) FROM c ORDER BY n"),
        "7,7,1; 1.00,1,2"
    );
    assert_eq!(
        all("SELECT CAST(SQL_VARIANT_PROPERTY(x, 'BaseType') AS sysname) FROM c WHERE n = 1"),
        "int"
    );
    assert_eq!(
        all("SELECT t.name, CAST(c.system_type_id AS int), CAST(c.max_length AS int), c.collation_name FROM sys.columns AS c
             JOIN sys.types AS t ON t.user_type_id = c.user_type_id WHERE c.object_id = OBJECT_ID('e')"),
        "sql_variant,98,8016,-"
    );
    assert_eq!(
        all(
            "SELECT DATA_TYPE, CHARACTER_MAXIMUM_LENGTH, COLLATION_NAME FROM INFORMATION_SCHEMA.COLUMNS
             WHERE TABLE_NAME = 'e'"
        ),
        "sql_variant,0,-"
    );
    assert_eq!(
        all(
            "SELECT system_type_name, system_type_id FROM sys.dm_exec_describe_first_result_set('SELECT v FROM t', NULL, 0)"
        ),
        "sql_variant,98"
    );
    assert_eq!(all("SELECT TYPE_NAME(98), TYPE_ID('sql_variant')"), "sql_variant,98");
    assert_eq!(
        all("MERGE c USING (SELECT 1 AS n, CAST('m' AS sql_variant) AS v) AS s ON c.n = s.n WHEN MATCHED THEN UPDATE SET v = s.v;
             SELECT w FROM c WHERE n = 1 FOR JSON AUTO"),
        "[{\"w\":\"m\"}]"
    );
    assert_eq!(
        all("SELECT v FROM t WHERE n IN (1, 6, 9) ORDER BY n FOR JSON PATH, INCLUDE_NULL_VALUES"),
        "[{\"v\":5},{\"v\":\"5\"},{\"v\":null}]"
    );
}

#[test]
fn parameters_and_results_of_modules_are_sql_variants() {
    let fixture = Fixture::new();
    let mut client = filled(&fixture);
    succeed(
        &mut client,
        "CREATE PROCEDURE p @v sql_variant, @o sql_variant = 3 OUTPUT AS SET @o = CAST(@v AS varchar(20)) + '!'; SELECT @v",
    );
    succeed(
        &mut client,
        "CREATE FUNCTION f (@v sql_variant) RETURNS sql_variant AS BEGIN RETURN ISNULL(@v, 'none') END",
    );
    let mut all = |sql: &str| shown(&succeed(&mut client, sql));
    assert_eq!(
        all("SELECT CAST(dbo.f(v) AS varchar(20)) FROM t WHERE n IN (3, 9) ORDER BY n"),
        "5.00; none"
    );
    assert_eq!(
        all(
            "DECLARE @o sql_variant; DECLARE @r TABLE (v sql_variant); INSERT @r EXEC p 2.5, @o OUTPUT;
             SELECT CAST(@o AS varchar(9)), CAST(v AS varchar(9)) FROM @r"
        ),
        "2.5!,2.5"
    );
    assert_eq!(
        all(
            "DECLARE c CURSOR STATIC FOR SELECT v FROM t WHERE n = 3; DECLARE @v sql_variant; OPEN c; FETCH c INTO @v;
             SELECT CAST(@v AS varchar(9)); CLOSE c; DEALLOCATE c"
        ),
        "5.00"
    );
    let sent = nvarchar("abc");
    let answer = client.call_by_name(
        "p",
        vec![
            parameter("@v", VARIANT, sent.clone()),
            output("@o", VARIANT, Value::Null),
        ],
    );
    assert_eq!(answer.errors(), [], "{answer:?}");
    assert_eq!(answer.rows(), [[sent.clone()]]);
    let told = variant(DataType::VarChar(Width::Limited(21)), Value::Text("abc!".into()));
    assert_eq!(answer.outputs(), [(1, "@o", &told)]);
    // A parameter of another type is converted; NULL has no type.
    let answer = client.call_by_name("p", vec![int("@v", 5)]);
    assert_eq!(answer.rows(), [[variant(DataType::Int, Value::Int(5))]]);
    let asked = vec![
        text("SELECT @v"),
        text("@v sql_variant"),
        parameter("@v", VARIANT, Value::Null),
    ];
    assert_eq!(client.call(ProcedureId::ExecuteSql, asked).rows(), [[Value::Null]]);
    let asked = vec![
        text("SELECT @i"),
        text("@i int"),
        parameter("@i", VARIANT, sent.clone()),
    ];
    let answer = client.call(ProcedureId::ExecuteSql, asked);
    assert_eq!(
        answer.errors().first().map(|(number, _)| *number),
        Some(257),
        "{answer:?}"
    );
}

#[test]
fn rows_of_clients_have_sql_variants() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(&mut client, "CREATE TYPE tt AS TABLE (v sql_variant)");
    let sent = nvarchar("abc");
    let rows = super::types_of_users::table(
        "@t",
        ("dbo", "tt"),
        &[(VARIANT, false)],
        vec![sent.clone(), Value::Null],
    );
    let asked = vec![text("SELECT v FROM @t"), text("@t tt READONLY"), rows];
    assert_eq!(
        client.call(ProcedureId::ExecuteSql, asked).rows(),
        [[sent.clone()], [Value::Null]]
    );
    succeed(&mut client, "CREATE TABLE b (v sql_variant)");
    let answer = client.bulk(
        "INSERT BULK b (v sql_variant)",
        &[("v", VARIANT)],
        &[vec![sent.clone()], vec![Value::Null]],
    );
    assert_eq!(answer.errors(), [], "{answer:?}");
    assert_eq!(
        succeed(&mut client, "SELECT v FROM b ORDER BY v").rows(),
        [[Value::Null], [sent]]
    );
}

#[test]
fn what_another_program_wrote_is_no_sql_variant() {
    let fixture = Fixture::new();
    let mut client = filled(&fixture);
    succeed(&mut client, "CREATE TABLE x (v sql_variant)");
    let sqlite = fixture.in_sqlite("d");
    for form in ["int five", "int 99999999999", "sql_variant int 5", "5", ""] {
        sqlite.execute("INSERT INTO x VALUES (?1)", [form]).unwrap();
        fails(&mut client, 50_823, "SELECT v FROM x");
        succeed(&mut client, "DELETE x");
    }
}

#[test]
fn the_servers_own_values_are_sql_variants() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(&mut client, "CREATE SEQUENCE s AS int START WITH 5 INCREMENT BY 2");
    succeed(
        &mut client,
        "CREATE TABLE i (n smallint IDENTITY(3, 4)); INSERT i DEFAULT VALUES",
    );
    succeed(
        &mut client,
        "EXEC sp_addextendedproperty N'a', 5; EXEC sp_addextendedproperty N'b', N'text'",
    );
    let base = |of: &str| format!("CAST(SQL_VARIANT_PROPERTY({of}, 'BaseType') AS sysname), CAST({of} AS varchar(50))");
    for (of, from, expected) in [
        ("SERVERPROPERTY('EngineEdition')", "", "int,3"),
        (
            "SERVERPROPERTY('Collation')",
            "",
            "nvarchar,SQL_Latin1_General_CP1_CI_AS",
        ),
        ("DATABASEPROPERTYEX('d', 'Status')", "", "nvarchar,ONLINE"),
        ("DATABASEPROPERTYEX('d', 'IsAutoClose')", "", "int,0"),
        (
            "value",
            "FROM sys.extended_properties ORDER BY name",
            "int,5; nvarchar,text",
        ),
        (
            "value",
            "FROM fn_listextendedproperty(N'a', NULL, NULL, NULL, NULL, NULL, NULL)",
            "int,5",
        ),
        ("start_value", "FROM sys.sequences", "int,5"),
        ("maximum_value", "FROM sys.sequences", "int,2147483647"),
        ("current_value", "FROM sys.sequences", "int,5"),
        ("increment_value", "FROM sys.identity_columns", "smallint,4"),
        ("last_value", "FROM sys.identity_columns", "smallint,3"),
        (
            "minimum",
            "FROM sys.configurations WHERE configuration_id = 103",
            "int,0",
        ),
    ] {
        let sql = format!("SELECT {} {from}", base(of));
        assert_eq!(shown(&succeed(&mut client, &sql)), expected, "{of}");
    }
    assert_eq!(
        client.value("SELECT SERVERPROPERTY('EngineEdition')"),
        variant(DataType::Int, Value::Int(3))
    );
    succeed(
        &mut client,
        "IF SERVERPROPERTY('EngineEdition') <> 3 THROW 50000, 'x', 1",
    );
    succeed(
        &mut client,
        "DECLARE @f sql_variant; EXEC sp_sequence_get_range 's', 2, @f OUTPUT; IF @f <> 5 THROW 50000, 'x', 1",
    );
}

#[test]
fn a_session_has_a_context() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    assert_eq!(client.value("SELECT SESSION_CONTEXT(N'user')"), Value::Null);
    succeed(
        &mut client,
        "EXEC sp_set_session_context N'user', 5; EXEC sp_set_session_context @key = N'b', @value = N'x', @read_only = 1",
    );
    assert_eq!(
        client.value("SELECT SESSION_CONTEXT(N'User')"),
        variant(DataType::Int, Value::Int(5))
    );
    assert_eq!(client.value("SELECT SESSION_CONTEXT(N'b')"), nvarchar("x"));
    let answer = client.call_by_name(
        "sp_set_session_context",
        vec![
            parameter(
                "@key",
                DataType::NVarChar(Width::Limited(128)),
                Value::Text("user".into()),
            ),
            parameter("@value", VARIANT, nvarchar("abc")),
        ],
    );
    assert_eq!(answer.errors(), []);
    assert_eq!(client.value("SELECT SESSION_CONTEXT(N'user')"), nvarchar("abc"));
    all_fail(
        &mut client,
        &[
            (15_664, "EXEC sp_set_session_context N'b', 6"),
            (8116, "SELECT SESSION_CONTEXT('b')"),
            (201, "EXEC sp_set_session_context N'b'"),
            (
                206,
                "DECLARE @m nvarchar(max) = N'a'; EXEC sp_set_session_context N'c', @m",
            ),
        ],
    );
    assert_eq!(shown(&client.batch_after_reset("SELECT SESSION_CONTEXT(N'b')")), "-");
}
