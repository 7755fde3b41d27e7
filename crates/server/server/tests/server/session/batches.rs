//! Batches: DONEs, rows, messages.

use selenite_tds::client::Token;
use selenite_tds::{Done, DoneKind, PacketSize};
use selenite_types::Value;

use super::fixture::Fixture;

#[test]
fn a_row_comes_between_its_columns_and_its_done() {
    let fixture = Fixture::new();
    let answer = fixture.client().batch("SELECT 1 AS one, N'\u{e9}' AS e, NULL");
    let [Token::Columns(columns), Token::Row(row), Token::Done(done)] = answer.0.as_slice() else {
        panic!("{answer:?}");
    };
    let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(names, ["one", "e", ""]);
    assert_eq!(*row, [Value::Int(1), Value::Text("\u{e9}".into()), Value::Null]);
    assert_eq!(
        (done.status, done.command, done.row_count),
        (Done::COUNT, Done::SELECT, 1)
    );
}

#[test]
fn a_loop_has_a_done_for_each_test_and_each_statement_of_each_turn() {
    let fixture = Fixture::new();
    let answer = fixture
        .client()
        .batch("DECLARE @cnt int = 0 WHILE @cnt < 1000 BEGIN SET @cnt = @cnt + 1 END");
    let dones = answer.dones();
    // DECLARE with a value, and the test that ends the loop.
    assert_eq!(dones.len(), 2 * 1000 + 2);
    assert_eq!(answer.0.len(), dones.len());
    let (last, others) = dones.split_last().unwrap();
    assert!(others.iter().all(|done| done.status & Done::MORE != 0));
    assert_eq!(last.status & Done::MORE, 0);
}

#[test]
fn loops_fill_packets_of_any_size() {
    let fixture = Fixture::new();
    for size in [512, 4096, 32767] {
        let mut client = fixture.client_of(PacketSize::nearest(size));
        let answer = client.batch("DECLARE @i int = 0 WHILE @i < 10000 SET @i += 1 SELECT @i");
        assert_eq!(answer.dones().len(), 20_003, "{size}");
        assert_eq!(answer.rows(), [[Value::Int(10_000)]], "{size}");
        let long = client.batch("SELECT REPLICATE(CAST(N'x' AS nvarchar(max)), 100000)");
        assert_eq!(long.rows(), [[Value::Text("x".repeat(100_000).into())]], "{size}");
    }
}

#[test]
fn results_prints_and_errors_come_in_their_order_with_their_lines() {
    let fixture = Fixture::new();
    let answer = fixture
        .client()
        .batch("SELECT 1\nPRINT 'here'\nSELECT 1 / 0\nRAISERROR('mine %d', 16, 3, 7)\nSELECT 2");
    let order: Vec<String> = answer
        .0
        .iter()
        .filter_map(|token| match token {
            Token::Row(row) => Some(format!("{row:?}")),
            Token::Error(said) => Some(format!(
                "{} {} {} {}",
                said.number, said.severity, said.state, said.line
            )),
            Token::Info(said) => Some(format!("{} {} {}", said.number, said.text, said.line)),
            _ => None,
        })
        .collect();
    assert_eq!(
        order,
        ["[Int(1)]", "0 here 2", "8134 16 1 3", "50000 16 3 4", "[Int(2)]"]
    );
    assert!(
        answer
            .said()
            .iter()
            .all(|said| said.server == fixture.running.instance().name())
    );
    let failed = answer.dones().into_iter().filter(|done| done.status & Done::ERROR != 0);
    assert_eq!(failed.count(), 2);
}

#[test]
fn a_syntax_error_runs_nothing() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    let answer = client.batch("SELECT 1\nSELEC 2 FROM\nSELECT 3 3");
    assert_eq!(answer.errors().len(), 1);
    assert_eq!(answer.rows(), Vec::<Vec<Value>>::new());
    assert_eq!(answer.statuses(), [(DoneKind::Statement, Done::ERROR, 0)]);
    let answer = client.batch("SELECT 1\nSELECT @nobody");
    assert_eq!(answer.errors(), [(137, 2)]);
    assert_eq!(client.int("SELECT 4"), 4);
}

#[test]
fn a_catch_sees_the_error_and_the_client_does_not() {
    let fixture = Fixture::new();
    let answer = fixture.client().batch(
        "BEGIN TRY\nSELECT 1/0\nEND TRY\nBEGIN CATCH\nSELECT ERROR_NUMBER(), ERROR_LINE(), ERROR_SEVERITY()\nEND CATCH",
    );
    assert_eq!(answer.errors(), []);
    assert_eq!(answer.rows(), [[Value::Int(8134), Value::Int(2), Value::Int(16)]]);
}

#[test]
fn an_empty_batch_has_one_done() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    for text in ["", "  -- nothing", "DECLARE @a int"] {
        assert_eq!(client.batch(text).statuses(), [(DoneKind::Statement, 0, 0)], "{text}");
    }
}

#[test]
fn a_session_knows_itself_and_its_server() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    let answer = client.batch("SELECT @@SPID, SUSER_SNAME(), HOST_NAME(), APP_NAME(), @@SERVERNAME, DB_NAME()");
    let name = fixture.running.instance().name();
    let text = |text: &str| Value::Text(text.into());
    assert_eq!(
        answer.rows(),
        [[
            Value::SmallInt(51),
            text("sa"),
            text("host"),
            text("test"),
            text(name),
            text("master")
        ]]
    );
    let Value::Text(version) = client.value("SELECT @@VERSION") else {
        panic!("@@VERSION is text");
    };
    assert!(version.starts_with("Microsoft "), "SQLAlchemy looks for it: {version}");
    assert!(
        version.contains("Selenite") && version.contains(" - 16.0."),
        "{version}"
    );
    let second = fixture.client().batch("SELECT @@SPID").rows();
    assert_eq!(second, [[Value::SmallInt(52)]]);
}

#[test]
fn clocks_stand_still_within_a_statement() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    assert_eq!(
        client.int("SELECT DATEDIFF(millisecond, GETDATE(), CURRENT_TIMESTAMP)"),
        0
    );
    assert_eq!(
        client.int("SELECT ABS(DATEDIFF(minute, SYSUTCDATETIME(), SYSDATETIMEOFFSET()))"),
        0
    );
    let answer = client.batch("SELECT NEWID(), RAND() SELECT NEWID(), RAND()");
    let rows = answer.rows();
    assert!(rows[0][0] != rows[1][0] && rows[0][1] != rows[1][1], "{rows:?}");
}

#[test]
fn use_reports_the_database() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    let answer = client.batch("USE TempDB\nSELECT DB_NAME()");
    assert_eq!(answer.rows(), [[Value::Text("tempdb".into())]]);
    assert_eq!(answer.changes(), [1]);
    let said = answer.said();
    assert_eq!(
        (said[0].number, said[0].text.as_str()),
        (5701, "Changed database context to 'tempdb'.")
    );
    let answer = client.batch("USE nowhere SELECT 1");
    assert_eq!(answer.errors(), [(911, 1)]);
    assert_eq!(client.value("SELECT DB_NAME()"), Value::Text("tempdb".into()));
}

#[test]
fn a_text_of_exec_runs_in_its_own_frame() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    let answer = client.batch("EXEC ('SET NOCOUNT ON SELECT 1')\nSELECT @@OPTIONS & 512");
    assert_eq!(answer.rows(), [[Value::Int(1)], [Value::Int(0)]]);
    let answer = client.batch("EXEC ('SELECT 1 1')\nEXEC no_such_procedure\nSELECT 5");
    let numbers: Vec<i32> = answer.errors().iter().map(|error| error.0).collect();
    assert_eq!(numbers, [102, 2812]);
    assert_eq!(answer.rows(), [[Value::Int(5)]]);
}

#[test]
fn sp_executesql_runs_within_a_batch() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    let answer = client.batch(
        "DECLARE @out int, @status int\n\
         EXEC @status = sp_executesql N'SET @b = @a * 2 SELECT @a', N'@a int, @b int OUTPUT', 21, @out OUTPUT\n\
         SELECT @out, @status",
    );
    assert_eq!(answer.errors(), []);
    assert_eq!(
        answer.rows(),
        [vec![Value::Int(21)], vec![Value::Int(42), Value::Int(0)]]
    );
    assert_eq!(client.batch("EXEC sp_executesql 5").errors(), [(214, 1)]);
    let answer = client.batch("EXEC sp_executesql N'SELECT 1 1' SELECT 5");
    assert_eq!(
        (answer.errors(), answer.rows()),
        (vec![(102, 1)], vec![vec![Value::Int(5)]])
    );
    assert_eq!(client.batch("EXEC sys.sp_unprepare 5").errors(), [(40510, 1)]);
}

#[test]
fn an_open_quote_is_two_errors() {
    let fixture = Fixture::new();
    let answer = fixture.client().batch("SELECT 1\nSELECT 'open");
    assert_eq!(answer.errors(), [(105, 2), (102, 2)]);
    assert_eq!(answer.dones().len(), 1);
}
