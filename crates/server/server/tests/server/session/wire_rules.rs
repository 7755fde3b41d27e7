//! What clients rely on: each of the feasibility study's rules that no other test shows.

use selenite_tds::client::{Token, batch};
use selenite_tds::{Isolation, PacketSize, ProcedureId, Reset, TransactionStep};
use selenite_types::{DataType, Value, Width};

use super::client::{Answer, Client, HEADERS, int, output, succeed, text};
use super::fixture::Fixture;

fn word(word: &str) -> Value {
    Value::Text(word.into())
}

fn isolation(client: &mut Client) -> Value {
    client.value("SELECT transaction_isolation_level FROM sys.dm_exec_sessions WHERE session_id = @@SPID")
}

#[test]
fn a_request_begins_a_transaction_of_a_name_and_an_isolation() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    let levels = [
        (Isolation::ReadUncommitted, 1),
        (Isolation::ReadCommitted, 2),
        (Isolation::RepeatableRead, 3),
        (Isolation::Serializable, 4),
        (Isolation::Unchanged, 4),
        (Isolation::Snapshot, 5),
    ];
    for (level, number) in levels {
        let began = client.transaction(TransactionStep::Begin {
            isolation: level,
            name: "outer".to_owned(),
        });
        assert_eq!((began.errors(), began.changes()), (vec![], vec![8]), "{level:?}");
        assert_eq!(isolation(&mut client), Value::SmallInt(number), "{level:?}");
        // Its own name is no savepoint's: all of it goes.
        let ended = client.transaction(TransactionStep::Rollback {
            name: "outer".to_owned(),
            next: None,
        });
        assert_eq!((ended.errors(), ended.changes()), (vec![], vec![10]), "{level:?}");
        assert_eq!(client.int("SELECT @@TRANCOUNT"), 0);
    }
}

#[test]
fn a_session_is_reset_without_its_transaction_where_none_is_open() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    let ask = |client: &mut Client, text: &str| {
        let bytes = batch(&HEADERS, text, PacketSize::DEFAULT, Reset::SessionKeepingTransaction).unwrap();
        client.send(&bytes).unwrap();
        client.answer().unwrap()
    };
    client.batch("SET DATEFIRST 3");
    let answer = ask(&mut client, "SELECT @@DATEFIRST");
    assert_eq!(
        (answer.rows(), answer.changes()),
        (vec![vec![Value::TinyInt(7)]], vec![18])
    );
    client.batch("BEGIN TRANSACTION");
    let answer = ask(&mut client, "SELECT 1");
    assert_eq!(answer.errors()[0].0, 40510);
    assert!(answer.said()[0].text.contains("RESETCONNECTIONSKIPTRAN"));
    assert!(client.answer().is_err(), "nothing is done that the client did not mean");
}

#[test]
fn statements_are_prepared_by_the_names_of_procedures_too() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    let handle = || output("", DataType::Int, Value::Null);
    let number = |answer: &Answer| match answer.outputs()[..] {
        [(0, _, Value::Int(number))] => *number,
        _ => panic!("{answer:?}"),
    };
    let prepared = client.call_by_name(
        "sp_prepare",
        vec![handle(), text("@a int"), text("SELECT @a * 2"), int("", 1)],
    );
    let first = number(&prepared);
    let run = client.call_by_name("sys.sp_execute", vec![int("", first), int("", 4)]);
    assert_eq!(run.rows(), [[Value::Int(8)]]);
    let again = client.call_by_name(
        "[sys].[sp_prepexec]",
        vec![handle(), text("@a int"), text("SELECT @a"), int("", 3)],
    );
    assert_eq!(again.rows(), [[Value::Int(3)]]);
    for handle in [first, number(&again)] {
        let let_go = client.call_by_name("sp_unprepare", vec![int("", handle)]);
        assert_eq!((let_go.errors(), let_go.return_status()), (vec![], Some(0)));
    }
    assert_eq!(
        client
            .call_by_name("sp_execute", vec![int("", first), int("", 4)])
            .errors()[0]
            .0,
        8179
    );
}

#[test]
fn a_call_of_a_procedure_is_prepared_and_run_again() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    assert_eq!(client.batch("CREATE DATABASE d").errors(), []);
    assert_eq!(client.batch("USE d").errors(), []);
    let made = client.batch("CREATE PROCEDURE p @a int, @b int OUTPUT AS SELECT @a SET @b = @a + 1 RETURN 5");
    assert_eq!(made.errors(), []);
    let called = client.call(
        ProcedureId::PrepExecRpc,
        vec![
            output("", DataType::Int, Value::Null),
            text("{call p (?, ?)}"),
            int("", 7),
            output("", DataType::Int, Value::Null),
        ],
    );
    assert_eq!((called.errors(), called.rows()), (vec![], vec![vec![Value::Int(7)]]));
    assert_eq!(called.return_status(), Some(5));
    let outputs = called.outputs();
    let handles: Vec<&Value> = outputs
        .iter()
        .filter(|(at, ..)| *at == 0)
        .map(|(.., value)| *value)
        .collect();
    let [Value::Int(handle)] = handles[..] else {
        panic!("{called:?}");
    };
    assert!(
        outputs
            .iter()
            .any(|(at, _, value)| *at == 3 && **value == Value::Int(8)),
        "{outputs:?}"
    );
    let again = vec![int("", *handle), int("", 1), output("", DataType::Int, Value::Null)];
    let again = client.call(ProcedureId::Execute, again);
    assert_eq!((again.errors(), again.rows()), (vec![], vec![vec![Value::Int(1)]]));
}

#[test]
fn what_sqlalchemy_asks_at_connect_is_answered() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    let none: Vec<(i32, u32)> = Vec::new();
    for text in [
        "use [master]",
        "select @@version",
        "SELECT CAST('test max support' AS NVARCHAR(max))",
        "SELECT CAST(com.value AS nvarchar(max)) FROM fn_listextendedproperty('MS_Description', 'schema', \
         CAST('dbo' AS NVARCHAR(max)), 'table', CAST('t' AS NVARCHAR(max)), NULL, NULL) AS com",
    ] {
        assert_eq!(client.batch(text).errors(), none, "{text}");
    }
    assert_eq!(client.value("SELECT schema_name()"), word("dbo"));
    let views = client
        .batch("SELECT name FROM sys.system_views WHERE name IN ('dm_exec_sessions', 'dm_pdw_nodes_exec_sessions')");
    assert_eq!(views.rows(), [[word("dm_exec_sessions")]]);
    let level = client.value(
        "SELECT CASE transaction_isolation_level WHEN 0 THEN NULL WHEN 1 THEN 'READ UNCOMMITTED' WHEN 2 THEN 'READ COMMITTED' \
         WHEN 3 THEN 'REPEATABLE READ' WHEN 4 THEN 'SERIALIZABLE' WHEN 5 THEN 'SNAPSHOT' END AS TRANSACTION_ISOLATION_LEVEL \
         FROM sys.dm_exec_sessions where session_id = @@SPID",
    );
    assert_eq!(level, word("READ COMMITTED"));
}

#[test]
fn freetds_calls_a_procedure_without_exec() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    let told = client.batch("sp_datatype_info_100 -3,3");
    assert_eq!(told.errors(), []);
    assert!(told.rows().iter().any(|row| row[0] == word("varbinary")), "{told:?}");
}

#[test]
fn jdbc_begins_transactions_by_an_option() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    client.batch("CREATE DATABASE d");
    client.batch("USE d CREATE TABLE t (a int)");
    assert_eq!(client.batch("set implicit_transactions on").errors(), []);
    let inserted = client.batch("INSERT INTO t VALUES (1)");
    assert_eq!(inserted.changes(), [8]);
    assert_eq!(client.batch("IF @@TRANCOUNT > 0 COMMIT TRAN").changes(), [9]);
    client.batch("DELETE FROM t");
    assert_eq!(client.batch("IF @@TRANCOUNT > 0 ROLLBACK TRAN").changes(), [10]);
    assert_eq!(client.batch("set implicit_transactions off").errors(), []);
    assert_eq!(client.int("SELECT COUNT(*) FROM t"), 1);
    assert_eq!(client.int("SELECT @@TRANCOUNT"), 0);
}

/// Every type with a value, as declared.
const TYPES: [(&str, &str, DataType); 26] = [
    ("bit", "1", DataType::Bit),
    ("tinyint", "1", DataType::TinyInt),
    ("smallint", "1", DataType::SmallInt),
    ("int", "1", DataType::Int),
    ("bigint", "1", DataType::BigInt),
    (
        "decimal(10,2)",
        "1.25",
        DataType::Decimal {
            precision: 10,
            scale: 2,
        },
    ),
    (
        "numeric(38,4)",
        "1.25",
        DataType::Numeric {
            precision: 38,
            scale: 4,
        },
    ),
    ("smallmoney", "1", DataType::SmallMoney),
    ("money", "1", DataType::Money),
    ("real", "1", DataType::Real),
    ("float", "1", DataType::Float),
    ("char(5)", "'a'", DataType::Char(5)),
    ("varchar(6)", "'a'", DataType::VarChar(Width::Limited(6))),
    ("varchar(max)", "'a'", DataType::VarChar(Width::Max)),
    ("nchar(5)", "N'a'", DataType::NChar(5)),
    ("nvarchar(6)", "N'a'", DataType::NVarChar(Width::Limited(6))),
    ("nvarchar(max)", "N'a'", DataType::NVarChar(Width::Max)),
    ("binary(4)", "0x01", DataType::Binary(4)),
    ("varbinary(4)", "0x01", DataType::VarBinary(Width::Limited(4))),
    ("varbinary(max)", "0x01", DataType::VarBinary(Width::Max)),
    ("date", "'2020-02-29'", DataType::Date),
    ("time(3)", "'12:34:56.789'", DataType::Time(3)),
    ("smalldatetime", "'2020-02-29 12:34'", DataType::SmallDateTime),
    ("datetime", "'2020-02-29 12:34:56.790'", DataType::DateTime),
    ("datetime2(5)", "'2020-02-29 12:34:56.789'", DataType::DateTime2(5)),
    (
        "datetimeoffset(2)",
        "'2020-02-29 12:34:56 +02:00'",
        DataType::DateTimeOffset(2),
    ),
];

#[test]
fn a_declared_type_is_kept_through_variables_columns_and_expressions() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    client.batch("CREATE DATABASE d");
    client.batch("USE d");
    for (name, value, data_type) in TYPES {
        let answer = client.batch(&format!(
            "DROP TABLE IF EXISTS t CREATE TABLE t (a {name}) INSERT INTO t VALUES ({value}), (NULL) DECLARE @v {name} = {value} \
             SELECT @v, CAST({value} AS {name}), CASE WHEN 1 = 2 THEN @v END, NULLIF(@v, @v) SELECT a, MAX(a) OVER () FROM t \
             SELECT q.b FROM (SELECT ISNULL(a, @v) AS b FROM t) AS q UNION ALL SELECT a FROM t"
        ));
        let has_no_maximum = name == "bit";
        let answer = if has_no_maximum {
            assert_eq!(answer.errors()[0].0, 8117);
            client.batch(&format!(
                "DECLARE @v {name} = {value} SELECT @v, CAST({value} AS {name}), ISNULL(NULL, @v)"
            ))
        } else {
            answer
        };
        assert_eq!(answer.errors(), [], "{name}");
        let told = answer.0.iter().filter_map(|token| match token {
            Token::Columns(columns) => Some(columns),
            _ => None,
        });
        let types: Vec<DataType> = told.flatten().map(|column| column.type_info.data_type).collect();
        assert!(
            types.len() >= 3 && types.iter().all(|found| *found == data_type),
            "{name}: {types:?}"
        );
    }
}

/// MS-TDS 2.2.7.4: usUpdateable (0x0C) is read-only for identities and computed columns, which clients leave out of
/// a bulk load.
#[test]
fn columns_tell_what_the_server_computes() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    succeed(
        &mut client,
        "CREATE TABLE #t (id int IDENTITY, a int NOT NULL, b int, c AS (a + 1), d AS (b))",
    );
    for (text, told) in [
        ("SELECT TOP 0 * FROM #t", [0x10, 0x08, 0x09, 0x20, 0x21]),
        (
            "SELECT id, a + 1, a, c AS x, c + 1 AS y FROM #t",
            [0x10, 0x20, 0x08, 0x20, 0x08],
        ),
    ] {
        let answer = succeed(&mut client, text);
        let Some(Token::Columns(columns)) = answer.0.first() else {
            panic!("{text}: no columns");
        };
        let flags: Vec<u16> = columns.iter().map(|column| column.flags).collect();
        assert_eq!(flags, told, "{text}");
    }
}
