//! Parameters that a statement uses and does not declare, as ODBC and JDBC request their types.

use selenite_tds::client::Token;
use selenite_types::{DataType, Value, Width};

use super::client::{Answer, Client, parameter};
use super::fixture::Fixture;

const TABLE: &str = "CREATE TABLE t (id int IDENTITY PRIMARY KEY, i int, s smallint, b bigint, c char(30), v varchar(30), \
                     n nvarchar(20), d decimal(10,2), dt datetime2(3), bin varbinary(16), g uniqueidentifier)";

fn shop(fixture: &Fixture) -> Client {
    let mut client = fixture.client();
    assert_eq!(client.batch("CREATE DATABASE shop").errors(), []);
    assert_eq!(client.batch("USE shop").errors(), []);
    assert_eq!(client.batch(TABLE).errors(), []);
    client
}

fn ask(client: &mut Client, text: &str, declared: Option<&str>) -> Answer {
    let long = |text: &str| parameter("", DataType::NVarChar(Width::Max), Value::Text(text.into()));
    let mut parameters = vec![long(text)];
    parameters.extend(declared.map(long));
    client.call_by_name("[sys].sp_describe_undeclared_parameters", parameters)
}

/// Names and types, in order.
fn types(client: &mut Client, text: &str) -> Vec<(String, String)> {
    let answer = ask(client, text, None);
    assert_eq!(answer.errors(), [], "{text}: {answer:?}");
    let word = |value: &Value| match value {
        Value::Text(text) => text.to_string(),
        other => panic!("{text}: {other:?}"),
    };
    let rows = answer.rows();
    rows.iter().map(|row| (word(&row[1]), word(&row[3]))).collect()
}

#[track_caller]
fn check(client: &mut Client, text: &str, wanted: &[&str]) {
    let found = types(client, text);
    let found: Vec<&str> = found.iter().map(|(_, data_type)| data_type.as_str()).collect();
    assert_eq!(found, wanted, "{text}");
}

#[track_caller]
fn refused(client: &mut Client, text: &str, number: i32) {
    let answer = ask(client, text, None);
    let errors: Vec<i32> = answer.errors().iter().map(|(number, _)| *number).collect();
    assert_eq!(errors, [number], "{text}: {answer:?}");
}

#[test]
fn a_parameter_by_itself_is_of_the_type_that_it_meets() {
    let fixture = Fixture::new();
    let client = &mut shop(&fixture);
    check(
        client,
        "INSERT INTO t VALUES (@P1, @P2, @P3, @P4, @P5, @P6, @P7, @P8, @P9, @P10)",
        &[
            "int",
            "smallint",
            "bigint",
            "char(30)",
            "varchar(30)",
            "nvarchar(20)",
            "decimal(10,2)",
            "datetime2(3)",
            "varbinary(16)",
            "uniqueidentifier",
        ],
    );
    check(
        client,
        "INSERT t (v, i) VALUES (@P1, @P2), (@P3, 4)",
        &["varchar(30)", "int", "varchar(30)"],
    );
    assert_eq!(
        client
            .batch("CREATE VIEW w (number, id, txt) AS SELECT i, id, n FROM t")
            .errors(),
        []
    );
    check(
        client,
        "INSERT w (txt, number) VALUES (@P1, @P2)",
        &["nvarchar(20)", "int"],
    );
    check(client, "INSERT w VALUES (@P1, @P2)", &["int", "nvarchar(20)"]);
    check(
        client,
        "WITH w AS (SELECT d AS x, c FROM t) INSERT w SELECT @P1, @P2",
        &["decimal(10,2)", "char(30)"],
    );
    check(
        client,
        "INSERT t (i, v) SELECT @P1, n FROM t WHERE b = @P2",
        &["int", "bigint"],
    );
    check(
        client,
        "UPDATE t SET bin = @P1, d += @P2 WHERE c = @P3",
        &["varbinary(16)", "decimal(10,2)", "char(30)"],
    );
    check(
        client,
        "DELETE x FROM t AS x JOIN t AS y ON x.id = y.i WHERE y.dt = @P1",
        &["datetime2(3)"],
    );
    check(
        client,
        "SELECT * FROM t WHERE @P1 = n AND i IN (@P2, 3, @P3)",
        &["nvarchar(20)", "int", "int"],
    );
    check(client, "SELECT TOP (@P1) i FROM t ORDER BY i", &["bigint"]);
    check(
        client,
        "SELECT i FROM t ORDER BY i OFFSET @P1 ROWS FETCH NEXT @P2 ROWS ONLY",
        &["bigint", "bigint"],
    );
}

#[test]
fn a_parameter_deep_in_a_query_is_of_the_type_that_it_meets() {
    let fixture = Fixture::new();
    let client = &mut shop(&fixture);
    check(
        client,
        "SELECT CAST(@P1 AS date), CASE i WHEN @P2 THEN 1 END FROM t",
        &["date", "int"],
    );
    check(
        client,
        "SELECT i FROM t WHERE EXISTS (SELECT 1 FROM t u WHERE u.s = @P1 AND u.b = t.i)",
        &["smallint"],
    );
    check(
        client,
        "WITH w AS (SELECT v AS name FROM t WHERE d = @P1) SELECT * FROM w WHERE name = @P2",
        &["decimal(10,2)", "varchar(30)"],
    );
    check(
        client,
        "SELECT g FROM (SELECT g FROM t WHERE i = @P1) AS q WHERE g = @P2",
        &["int", "uniqueidentifier"],
    );
    check(
        client,
        "SELECT COUNT(*) FROM t GROUP BY i HAVING COUNT(*) = @P1",
        &["int"],
    );
    check(client, "IF @P1 = 1 SELECT 1", &["int"]);
    check(client, "SELECT 1", &[]);
}

#[test]
fn any_other_parameter_is_of_the_type_that_converts_least() {
    let fixture = Fixture::new();
    let client = &mut shop(&fixture);
    // The examples of the documentation.
    check(client, "SELECT * FROM t WHERE c > @P1", &["varchar(8000)"]);
    check(client, "SELECT * FROM t WHERE v > @P1", &["varchar(8000)"]);
    check(client, "SELECT * FROM t WHERE i = i + @P1", &["int"]);
    check(client, "SELECT * FROM t WHERE i = s + @P1", &["int"]);
    check(client, "SELECT @P1 + 2", &["int"]);
    check(client, "SELECT NULL + @P1", &["int"]);
    check(client, "SELECT * FROM t WHERE n LIKE @P1", &["nvarchar(4000)"]);
    check(client, "SELECT * FROM t WHERE v LIKE @P1 + '%'", &["varchar(8000)"]);
    check(client, "SELECT * FROM t WHERE d >= @P1", &["numeric(38,19)"]);
    check(
        client,
        "SELECT * FROM t WHERE dt BETWEEN @P1 AND @P2",
        &["datetime2(7)", "datetime2(7)"],
    );
    check(client, "SELECT DATEADD(day, @P1, dt) FROM t", &["int"]);
    check(client, "SELECT * FROM t WHERE v = UPPER(@P1)", &["varchar(8000)"]);
}

#[test]
fn what_the_rules_do_not_settle_is_an_error() {
    let fixture = Fixture::new();
    let client = &mut shop(&fixture);
    refused(client, "SELECT * FROM t WHERE @P1 = @P2", 11_503);
    refused(client, "SELECT * FROM t WHERE i = @P1 + @P2", 11_503);
    refused(client, "SELECT * FROM t WHERE @P1 = SUBSTRING(@P2, 2, 3)", 11_503);
    refused(client, "SELECT * FROM t WHERE i = @P1 OR s = @P1", 11_508);
    refused(client, "SELECT * FROM t WHERE @P1 IS NULL", 11_502);
    refused(client, "INSERT t (v) VALUES (COALESCE(@P1, ''))", 11_502);
    refused(client, "SELECT @P1", 11_506);
    refused(client, "SELECT * FROM nowhere WHERE i = @P1", 208);
    refused(client, "SELECT no FROM t WHERE i = @P1", 207);
    refused(client, "INSERT t (no) VALUES (@P1)", 207);
    refused(client, "SELECT i FROM WHERE i = @P1", 156);
    let told = ask(client, "SELECT * FROM t WHERE i = @P1 OR s = @P1", None);
    assert_eq!(
        told.said()[0].text,
        "The undeclared parameter '@P1' is used more than once in the batch being analyzed."
    );
}

#[test]
fn a_row_describes_a_parameter_for_binding() {
    let fixture = Fixture::new();
    let client = &mut shop(&fixture);
    let made = client.batch("CREATE PROCEDURE p @a int, @b nvarchar(10) OUTPUT AS SET @b = N'x'");
    assert_eq!(made.errors(), []);
    let told = ask(client, "EXEC p @P1, @b = @P2 OUTPUT", None);
    assert_eq!(told.errors(), [], "{told:?}");
    let columns = told.0.iter().find_map(|token| match token {
        Token::Columns(columns) => Some(columns.iter().map(|column| column.name.clone()).collect::<Vec<_>>()),
        _ => None,
    });
    let columns = columns.unwrap();
    assert_eq!(columns.len(), 24, "{columns:?}");
    assert_eq!(
        (columns[0].as_str(), columns[23].as_str()),
        ("parameter_ordinal", "suggested_tds_length")
    );
    let rows = told.rows();
    let text = |text: &str| Value::Text(text.into());
    let picked = |row: &[Value], places: &[usize]| places.iter().map(|at| row[*at].clone()).collect::<Vec<_>>();
    let places = [0, 1, 2, 3, 4, 5, 6, 19, 20, 21, 22, 23];
    assert_eq!(
        picked(&rows[0], &places),
        [
            Value::Int(1),
            text("@P1"),
            Value::Int(56),
            text("int"),
            Value::SmallInt(4),
            Value::TinyInt(10),
            Value::TinyInt(0),
            Value::Bit(true),
            Value::Bit(false),
            text("@a"),
            Value::Int(38),
            Value::Int(4),
        ]
    );
    assert_eq!(
        picked(&rows[1], &places),
        [
            Value::Int(2),
            text("@P2"),
            Value::Int(231),
            text("nvarchar(10)"),
            Value::SmallInt(20),
            Value::TinyInt(0),
            Value::TinyInt(0),
            Value::Bit(true),
            Value::Bit(true),
            text("@b"),
            Value::Int(231),
            Value::Int(20),
        ]
    );
    assert_eq!(told.return_status(), Some(0));
}

#[test]
fn as_many_are_described_as_a_call_may_have() {
    let fixture = Fixture::new();
    let client = &mut shop(&fixture);
    let text = |count: usize| {
        let rows: Vec<String> = (0..count).map(|at| format!("(@P{at})")).collect();
        format!("INSERT t (i) VALUES {}", rows.join(","))
    };
    assert_eq!(types(client, &text(900)).len(), 900);
    let list: Vec<String> = (0..2101).map(|at| format!("@P{at}")).collect();
    refused(
        client,
        &format!("SELECT 1 FROM t WHERE i IN ({})", list.join(",")),
        40_510,
    );
}

#[test]
fn declared_parameters_and_variables_are_left_out() {
    let fixture = Fixture::new();
    let client = &mut shop(&fixture);
    let told = ask(
        client,
        "UPDATE t SET i = @a, n = @b WHERE id = @c",
        Some("@a int, @c int -- both"),
    );
    assert_eq!(told.errors(), [], "{told:?}");
    assert_eq!(told.rows().len(), 1);
    assert_eq!(told.rows()[0][1], Value::Text("@b".into()));
    check(
        client,
        "DECLARE @x smallint = 1; SET @x = @P1; SELECT @x",
        &["smallint"],
    );
    let by_text = client.batch("EXEC sp_describe_undeclared_parameters N'SELECT 1 FROM t WHERE i = @P1'");
    assert_eq!(by_text.errors(), [], "{by_text:?}");
    assert_eq!(by_text.rows()[0][3], Value::Text("int".into()));
    let output = ask(client, "SET @P1 = 5", None);
    assert_eq!(output.errors(), [], "{output:?}");
    assert_eq!(output.rows()[0][19..21], [Value::Bit(false), Value::Bit(true)]);
}
