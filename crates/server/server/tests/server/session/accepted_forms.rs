//! Forms of T-SQL that are easily refused.

use selenite_tds::Done;
use selenite_tds::client::Token;
use selenite_types::{DataType, Value, Width};

use super::client::{Client, numbers, output, succeed, text};
use super::fixture::Fixture;

fn client(fixture: &Fixture) -> Client {
    let mut client = fixture.client();
    for text in [
        "CREATE DATABASE d",
        "USE d",
        "CREATE TABLE one (a int, b int)",
        "CREATE TABLE two (a int, b int)",
        "INSERT one VALUES (1, 1), (2, 2); INSERT two VALUES (1, 1), (3, 3)",
        "CREATE PROCEDURE sp_x AS SELECT 7 AS a",
    ] {
        succeed(&mut client, text);
    }
    client
}

fn ints(client: &mut Client, text: &str) -> Vec<Vec<Option<i32>>> {
    let value = |value: &Value| match value {
        Value::Int(value) => Some(*value),
        Value::Null => None,
        other => panic!("{text}: {other:?}"),
    };
    let rows = succeed(client, text).rows();
    rows.iter().map(|row| row.iter().map(value).collect()).collect()
}

#[test]
fn an_outer_join_without_a_row_of_the_target_changes_nothing_there() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    for join in [
        "two LEFT JOIN one ON two.a = one.a",
        "one RIGHT JOIN two ON two.a = one.a",
        "two LEFT JOIN one ON two.a = one.a LEFT JOIN two AS x ON x.a = one.a",
    ] {
        succeed(&mut client, &format!("BEGIN TRAN; UPDATE one SET b = 5 FROM {join}"));
        assert_eq!(client.int("SELECT @@ROWCOUNT"), 1, "{join}");
        assert_eq!(
            ints(&mut client, "SELECT a, b FROM one ORDER BY a"),
            [[Some(1), Some(5)], [Some(2), Some(2)]]
        );
        succeed(&mut client, "ROLLBACK");
        let answer = succeed(
            &mut client,
            &format!("BEGIN TRAN; DELETE one OUTPUT deleted.a FROM {join}"),
        );
        assert_eq!(answer.rows(), [[Value::Int(1)]], "{join}");
        assert_eq!(ints(&mut client, "SELECT a FROM one; ROLLBACK"), [[Some(2)]], "{join}");
    }
    assert_eq!(
        ints(
            &mut client,
            "BEGIN TRAN; UPDATE one SET b = two.b FROM one FULL JOIN two ON two.a = one.a; SELECT b FROM one; ROLLBACK"
        ),
        [[Some(1)], [None]]
    );
}

#[test]
fn a_procedure_is_called_by_names_of_several_parts() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    for text in [
        "EXEC ..sp_x",
        "EXEC .sp_x",
        "EXEC d..sp_x",
        "EXEC d.dbo.sp_executesql N'SELECT 7 AS a'",
        "EXEC d.sys.sp_executesql N'SELECT @a AS a', N'@a int', 7",
        "EXEC tempdb..sp_executesql N'SELECT CASE DB_NAME() WHEN ''tempdb'' THEN 7 END AS a'",
        "EXEC master.sys.sp_executesql N'SELECT CASE DB_NAME() WHEN ''master'' THEN 7 END AS a'",
        "DECLARE @p sysname = N'tempdb.sys.sp_executesql'; EXEC @p N'SELECT CASE DB_NAME() WHEN ''tempdb'' THEN 7 END AS a'",
        "SELECT TOP 1 7 AS a FROM ..one",
    ] {
        assert_eq!(ints(&mut client, text), [[Some(7)]], "{text}");
        assert_eq!(client.value("SELECT DB_NAME()"), Value::Text("d".into()), "{text}");
    }
    // Each call runs the same text in the procedure's database.
    let name = "SELECT DB_NAME()";
    for (procedure, expected) in [
        ("tempdb..sp_executesql", "tempdb"),
        ("sp_executesql", "d"),
        ("d..sp_executesql", "d"),
    ] {
        let answer = client.call_by_name(procedure, vec![text(name)]);
        assert_eq!(answer.rows(), [[Value::Text(expected.into())]], "{procedure}");
    }
    assert_eq!(numbers(&client.batch("EXEC none.sys.sp_executesql N'SELECT 1'")), [911]);
}

#[test]
fn queries_in_parentheses_have_an_order_of_their_own() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    for (text, expected) in [
        (
            "SELECT * FROM ((SELECT TOP 1 a FROM two ORDER BY a DESC) UNION (SELECT 8)) x ORDER BY 1",
            vec![3, 8],
        ),
        (
            "SELECT * FROM ((SELECT TOP 1 a FROM two ORDER BY a) UNION ALL (SELECT TOP 1 a FROM two ORDER BY a DESC)) x",
            vec![1, 3],
        ),
        (
            "SELECT * FROM (SELECT 8 AS a UNION ALL (SELECT TOP 1 a FROM two ORDER BY b DESC)) x",
            vec![8, 3],
        ),
        (
            "SELECT a FROM one WHERE a IN ((SELECT TOP 1 a FROM one ORDER BY a DESC) UNION SELECT 9)",
            vec![2],
        ),
        ("SELECT TOP (SELECT 1) a FROM two ORDER BY a DESC", vec![3]),
        (
            "SELECT TOP (SELECT COUNT(*) FROM one) a FROM two ORDER BY a",
            vec![1, 3],
        ),
        (
            "SELECT TOP ((SELECT MAX(a) - 1 FROM one)) a FROM two ORDER BY a",
            vec![1],
        ),
        (
            "DECLARE @n int = 1; SELECT TOP (SELECT @n) a FROM two ORDER BY a",
            vec![1],
        ),
        (
            "DELETE TOP (SELECT COUNT(*) - 1 FROM one) FROM two; SELECT COUNT(*) FROM two",
            vec![1],
        ),
    ] {
        let found: Vec<i32> = ints(&mut client, text).into_iter().map(|row| row[0].unwrap()).collect();
        assert_eq!(found, expected, "{text}");
    }
    for (number, text) in [
        (1014, "SELECT TOP (SELECT -1) a FROM two"),
        (1014, "SELECT TOP (SELECT CAST(NULL AS int)) a FROM two"),
        (1060, "SELECT TOP (SELECT 1.5) a FROM two"),
        (156, "(SELECT TOP 1 a FROM two ORDER BY a) UNION (SELECT 8)"),
        (
            1033,
            "SELECT * FROM ((SELECT a FROM two ORDER BY a) UNION (SELECT 8)) x",
        ),
    ] {
        assert_eq!(numbers(&client.batch(text)).first(), Some(&number), "{text}");
    }
}

#[test]
fn any_query_may_be_applied() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE TABLE three (a int, f float, r real, m money, d decimal(30, 5), s nvarchar(20), x varbinary(5), t datetime2, g bigint)
         INSERT three VALUES (1, 0.1, 0.1, 1.25, 12345678901234567890.5, N'o\"n\u{e9}', 0x00FF, '2024-01-02 03:04:05.1234567', 9007199254740993),
             (1, 1e300, 3.4e38, -1, -1, N'', 0x, '0001-01-01', -9223372036854775808), (1, 1e300, 3.4e38, -1, -1, N'', 0x, '0001-01-01',
             -9223372036854775808), (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)",
    );
    for (text, expected) in [
        (
            "SELECT t.a, x.n, x.b FROM two t OUTER APPLY (SELECT COUNT(*) AS n, b FROM one WHERE one.a = t.a GROUP BY b) x ORDER BY t.a",
            vec![vec![Some(1), Some(1), Some(1)], vec![Some(3), None, None]],
        ),
        (
            "SELECT t.a, x.n FROM two t CROSS APPLY (SELECT COUNT(*) AS n FROM one WHERE one.a < t.a GROUP BY b HAVING COUNT(*) > 0) x ORDER BY t.a",
            vec![vec![Some(3), Some(1)], vec![Some(3), Some(1)]],
        ),
        (
            "SELECT t.a, x.a FROM two t CROSS APPLY (SELECT DISTINCT one.b + t.a - t.a AS a FROM one WHERE one.a <= t.a) x ORDER BY t.a, x.a",
            vec![vec![Some(1), Some(1)], vec![Some(3), Some(1)], vec![Some(3), Some(2)]],
        ),
        (
            "SELECT t.a, x.n FROM two t CROSS APPLY (SELECT t.a + 1 AS n UNION ALL SELECT b FROM one WHERE a = t.a) x ORDER BY t.a, x.n",
            vec![vec![Some(1), Some(1)], vec![Some(1), Some(2)], vec![Some(3), Some(4)]],
        ),
        (
            "SELECT t.a, x.a FROM two t OUTER APPLY (SELECT TOP 1 o.a FROM one o JOIN two w ON w.a >= o.a WHERE o.a <= t.a ORDER BY o.a DESC) x
             ORDER BY t.a",
            vec![vec![Some(1), Some(1)], vec![Some(3), Some(2)]],
        ),
        (
            "SELECT t.a, x.n FROM two t CROSS APPLY (SELECT one.a + t.a AS n, ROW_NUMBER() OVER (ORDER BY a DESC) AS r FROM one) x WHERE x.r = 1
             ORDER BY t.a",
            vec![vec![Some(1), Some(3)], vec![Some(3), Some(5)]],
        ),
    ] {
        assert_eq!(ints(&mut client, text), expected, "{text}");
    }
    // A value is the same on either way.
    let columns = "f, r, m, d, s, x, t, g";
    let grouped = format!(
        "SELECT x.* FROM (SELECT 1 AS a UNION SELECT 3) k CROSS APPLY (SELECT {columns} FROM three WHERE a = k.a GROUP BY {columns}) x"
    );
    let plain = format!("SELECT DISTINCT {columns} FROM three");
    let sorted = |client: &mut Client, text: &str| {
        let mut rows: Vec<String> = succeed(client, text)
            .rows()
            .iter()
            .map(|row| format!("{row:?}"))
            .collect();
        rows.sort();
        rows
    };
    let expected = sorted(&mut client, &plain);
    assert_eq!(expected.len(), 3);
    assert_eq!(sorted(&mut client, &grouped), expected);
}

#[test]
fn small_forms_mean_what_they_mean_elsewhere() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    for (text, expected) in [
        ("SELECT 7\ndone:", 7),
        ("GOTO done; SELECT 1\ndone: SELECT 7", 7),
        ("SELECT MAX(a) + 5 FROM one done:", 7),
        (
            "SELECT 7 FROM tempdb.sys.schemas WHERE tempdb.sys.schemas.name = 'dbo'",
            7,
        ),
        ("SELECT UNICODE(NCHAR(0x07))", 7),
        ("SELECT ASCII(CHAR(0x07))", 7),
        ("SELECT COUNT(*) + 5 FROM ::fn_helpcollations()", 37),
        ("SELECT COUNT(*) + 5 FROM sys.fn_helpcollations()", 37),
        ("SELECT 28 >> 2", 7),
        ("SELECT CASE WHEN 1 << 3 > 7 THEN 7 END", 7),
    ] {
        assert_eq!(client.int(text), expected, "{text}");
    }
}

#[test]
fn definitions_are_read_as_sql_server_reads_them() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE TABLE key_of_another (a int, b int CONSTRAINT c PRIMARY KEY (a))",
    );
    succeed(&mut client, "INSERT key_of_another (a) VALUES (1)");
    succeed(&mut client, "CREATE TABLE names (a sysname, b sysname NULL, c int)");
    assert_eq!(
        succeed(
            &mut client,
            "SELECT is_nullable FROM sys.columns WHERE object_id = OBJECT_ID('names') ORDER BY column_id"
        )
        .rows(),
        [[Value::Bit(false)], [Value::Bit(true)], [Value::Bit(true)]]
    );
    for (number, text) in [
        (2627, "INSERT key_of_another (a) VALUES (1)"),
        (515, "INSERT key_of_another (b) VALUES (1)"),
        (515, "INSERT names (c) VALUES (1)"),
        (8111, "CREATE TABLE x (a int NULL, PRIMARY KEY (a))"),
        (8111, "CREATE TABLE x (a int NULL PRIMARY KEY)"),
        (1913, "CREATE TABLE x (a int, b int, INDEX i (a), INDEX i (b))"),
        (1913, "CREATE TABLE x (a int CONSTRAINT i UNIQUE, INDEX i (a))"),
        (2739, "DECLARE @a text"),
        (2739, "DECLARE @b ntext, @c int"),
        (2739, "DECLARE @a image = 0x00"),
        (154, "CREATE PROCEDURE p AS USE master"),
        (103, "BEGIN TRAN a23456789b123456789c123456789d12345; COMMIT"),
        (102, "DELETE TOP 2 FROM one"),
        (102, "UPDATE TOP 2 one SET a = 1"),
        (102, "INSERT TOP 2 one SELECT 1, 1"),
        // The compound operators are those of arithmetic and of &, ^ and |
        // (learn.microsoft.com/sql/t-sql/language-elements/compound-operators-transact-sql).
        (102, "DECLARE @a int = 1; SET @a <<= 3"),
        (102, "DECLARE @a int = 8; SET @a >>= 3"),
    ] {
        assert_eq!(numbers(&client.batch(text)).first(), Some(&number), "{text}");
    }
    succeed(&mut client, "CREATE INDEX i ON one (a)");
    assert_eq!(
        numbers(&client.batch("ALTER TABLE one ADD CONSTRAINT i UNIQUE (b)")),
        [1913]
    );
    assert_eq!(
        numbers(&client.batch("ALTER TABLE one ADD c int, d int, INDEX j (c), INDEX j (d)")),
        [1913]
    );
    // What a variable holds is cut.
    succeed(
        &mut client,
        "DECLARE @n varchar(50) = REPLICATE('a', 40); BEGIN TRAN @n; SAVE TRAN @n; ROLLBACK TRAN @n; ROLLBACK",
    );
}

#[test]
fn a_client_gets_an_output_in_the_type_that_it_gave() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE PROCEDURE p @b bit OUTPUT, @s varchar(20) OUTPUT, @i int OUTPUT, @d decimal(10, 2) OUTPUT
         AS SELECT @b = 1, @s = '12', @i = 3, @d = 4.5",
    );
    let varchar = |width| DataType::VarChar(Width::Limited(width));
    let cases = [
        (DataType::BigInt, varchar(20), DataType::Int, DataType::Float),
        (DataType::Int, DataType::Int, DataType::BigInt, varchar(10)),
        (varchar(5), varchar(1), DataType::Bit, DataType::Money),
    ];
    let expected = [
        [
            Value::BigInt(1),
            Value::Text("12".into()),
            Value::Int(3),
            Value::Float(4.5),
        ],
        [
            Value::Int(1),
            Value::Int(12),
            Value::BigInt(3),
            Value::Text("4.50".into()),
        ],
        [
            Value::Text("1".into()),
            Value::Text("1".into()),
            Value::Bit(true),
            Value::Money(45_000),
        ],
    ];
    for ((b, s, i, d), expected) in cases.into_iter().zip(expected) {
        let types = [b, s, i, d];
        let parameters = types
            .iter()
            .map(|data_type| output("", *data_type, Value::Null))
            .collect();
        let answer = client.call_by_name("p", parameters);
        assert_eq!(numbers(&answer), [0_i32; 0]);
        let returned = answer.0.iter().filter_map(|token| match token {
            Token::ReturnValue { value, type_info, .. } => Some((value.clone(), type_info.data_type)),
            _ => None,
        });
        assert_eq!(
            returned.collect::<Vec<_>>(),
            expected.into_iter().zip(types).collect::<Vec<_>>()
        );
    }
    // A value that the client's type does not take is an error of the call.
    succeed(&mut client, "CREATE PROCEDURE q @s varchar(20) OUTPUT AS SET @s = 'x'");
    let answer = client.call_by_name("q", vec![output("", DataType::Int, Value::Int(1))]);
    assert_eq!((numbers(&answer), answer.outputs().len()), (vec![8114], 0));
}

#[test]
fn an_error_of_severity_20_ends_the_connection() {
    let fixture = Fixture::new();
    let raise = "RAISERROR ('it is over', 20, 5) WITH LOG";
    for text in [
        raise.to_owned(),
        format!("BEGIN TRY {raise} END TRY BEGIN CATCH SELECT 1 END CATCH; SELECT 2"),
        format!("EXEC ('{}'); SELECT 2", raise.replace('\'', "''")),
        format!("EXEC sp_executesql N'{}'; SELECT 2", raise.replace('\'', "''")),
    ] {
        let mut client = client_of(&fixture);
        let answer = client.batch(&text);
        let said: Vec<_> = answer.said().iter().map(|said| (said.number, said.severity)).collect();
        assert_eq!(said, [(2745, 16), (50000, 20), (596, 21)], "{text}");
        // MS-TDS 2.2.7.6: DONE_SRVERROR, in place of DONE_ERROR.
        assert_eq!(answer.dones().last().unwrap().status, Done::SERVER_ERROR, "{text}");
        assert_eq!(answer.rows(), Vec::<Vec<Value>>::new(), "{text}");
        assert!(client.answer().is_err(), "{text}");
    }
    let mut client = client_of(&fixture);
    succeed(&mut client, "CREATE LOGIN l WITH PASSWORD = 'Passw0rd!x'");
    let mut other = fixture.client_as("l", "Passw0rd!x", "master");
    assert_eq!(numbers(&other.batch("RAISERROR ('x', 20, 1) WITH LOG")), [2778]);
    assert_eq!(numbers(&other.batch("RAISERROR ('x', 1, 1) WITH LOG")), [2778]);
    assert_eq!(numbers(&other.batch("RAISERROR ('x', 20, 1)")), [2754]);
}

fn client_of(fixture: &Fixture) -> Client {
    fixture.client()
}

#[test]
fn a_text_is_split_into_rows() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    let text = |text: &str| Value::Text(text.into());
    let rows = |client: &mut Client, sql: &str| succeed(client, sql).rows();
    assert_eq!(
        rows(&mut client, "SELECT * FROM STRING_SPLIT('a,,b', ',')"),
        [[text("a")], [text("")], [text("b")]]
    );
    assert_eq!(
        rows(
            &mut client,
            "SELECT * FROM STRING_SPLIT(N'x;y', ';', 1) ORDER BY ordinal DESC"
        ),
        [[text("y"), Value::BigInt(2)], [text("x"), Value::BigInt(1)]]
    );
    assert!(rows(&mut client, "SELECT value FROM STRING_SPLIT(NULL, ',')").is_empty());
    assert_eq!(
        ints(
            &mut client,
            "SELECT a FROM one WHERE a IN (SELECT value FROM STRING_SPLIT('2,3', ','))"
        ),
        [[Some(2)]]
    );
    succeed(
        &mut client,
        "CREATE TABLE tags (id int, names varchar(20)); INSERT tags VALUES (1, 'p q'), (2, 'r'), (3, NULL)",
    );
    assert_eq!(
        rows(
            &mut client,
            "SELECT t.id, s.value FROM tags t CROSS APPLY STRING_SPLIT(t.names, ' ') s ORDER BY s.value DESC"
        ),
        [
            [Value::Int(2), text("r")],
            [Value::Int(1), text("q")],
            [Value::Int(1), text("p")]
        ]
    );
    let parameter = "EXEC sp_executesql N'SELECT COUNT(*) FROM STRING_SPLIT(@p, @s) AS x', N'@p nvarchar(max), @s nchar(1)', N'1|2|3', N'|'";
    assert_eq!(client.int(parameter), 3);
    for (number, sql) in [
        (214, "SELECT value FROM STRING_SPLIT('a', 'bc')"),
        (313, "SELECT value FROM STRING_SPLIT('a')"),
        (207, "SELECT ordinal FROM STRING_SPLIT('a', ',')"),
        (207, "SELECT ordinal FROM STRING_SPLIT('a', ',', 0)"),
    ] {
        assert_eq!(numbers(&client.batch(sql)).first(), Some(&number), "{sql}");
    }
}
