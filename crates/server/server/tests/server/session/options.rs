//! SET, and what of it a reset takes back.

use selenite_types::Value;

use super::fixture::Fixture;

#[test]
fn what_clients_send_after_the_login_is_taken() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    let texts = [
        // pymssql
        "SET ARITHABORT ON;SET CONCAT_NULL_YIELDS_NULL ON;SET ANSI_NULLS ON;SET ANSI_NULL_DFLT_ON ON;SET ANSI_PADDING ON;\
         SET ANSI_WARNINGS ON;SET ANSI_NULL_DFLT_ON ON;SET CURSOR_CLOSE_ON_COMMIT ON;SET QUOTED_IDENTIFIER ON;\
         SET TEXTSIZE 2147483647;",
        // tedious
        "set ansi_nulls on\nset ansi_null_dflt_on on\nset ansi_padding on\nset ansi_warnings on\nset arithabort on\n\
         set concat_null_yields_null on\nset cursor_close_on_commit off\nset datefirst 7\nset dateformat mdy\n\
         set implicit_transactions off\nset language us_english\nset numeric_roundabort off\nset quoted_identifier on\n\
         set textsize 2147483647\nset transaction isolation level read committed\nset xact_abort off",
        "SET DEADLOCK_PRIORITY LOW SET LOCK_TIMEOUT 1000 SET FMTONLY OFF SET NO_BROWSETABLE ON SET ROWCOUNT 0",
    ];
    for text in texts {
        let answer = client.batch(text);
        assert_eq!(answer.errors(), [], "{text}");
    }
    assert_eq!(client.int("SELECT @@LOCK_TIMEOUT"), 1000);
}

#[test]
fn options_are_carried_out() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    let answer =
        client.batch("SET DATEFIRST 1 SET DATEFORMAT dmy SELECT @@DATEFIRST, DAY(CAST('03/02/2001' AS datetime))");
    assert_eq!(answer.rows(), [[Value::TinyInt(1), Value::Int(3)]]);
    let answer = client.batch("SET LANGUAGE English SELECT @@DATEFIRST");
    assert_eq!(answer.infos(), ["Changed language setting to us_english."]);
    assert_eq!(answer.changes(), [2]);
    assert_eq!(answer.rows(), [[Value::TinyInt(7)]]);
    let answer = client.batch("SET TEXTSIZE 10 SELECT CAST('abcdefghijklmn' AS varchar(max)), CAST(N'abcdefgh' AS nvarchar(max)), 'abcdefghijklmn'");
    let text = |text: &str| Value::Text(text.into());
    assert_eq!(
        answer.rows(),
        [[text("abcdefghij"), text("abcde"), text("abcdefghijklmn")]]
    );
}

#[test]
fn an_option_that_is_not_supported_is_refused_by_name() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    let cases = [
        ("SET ANSI_NULLS OFF", 40517),
        ("SET CONCAT_NULL_YIELDS_NULL OFF", 40517),
        ("SET NOEXEC ON", 40517),
        ("SET STATISTICS COST ON", 195),
        ("SET NO_SUCH_OPTION ON", 195),
        ("SET LANGUAGE Deutsch", 2740),
        ("SET DATEFIRST 8", 2742),
        ("SET DATEFORMAT abc", 2741),
    ];
    for (text, number) in cases {
        let answer = client.batch(text);
        assert_eq!(answer.errors(), [(number, 1)], "{text}");
    }
}

#[test]
fn time_statistics_precede_each_done() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    client.batch("SET STATISTICS TIME ON");
    let answer = client.batch("SELECT 1");
    let numbers: Vec<i32> = answer.said().iter().map(|said| said.number).collect();
    assert_eq!(numbers, [3613, 3612]);
    let infos = answer.infos();
    assert!(
        infos[0].starts_with("SQL Server parse and compile time: \n   CPU time = "),
        "{infos:?}"
    );
    assert!(
        infos[1].starts_with("\n SQL Server Execution Times:\n   CPU time = "),
        "{infos:?}"
    );
    // It waits, and works little meanwhile.
    let answer = client.batch("WAITFOR DELAY '00:00:00.300'");
    let times = numbers_in(answer.infos()[1]);
    assert!(times[0] < 200 && times[1] >= 300, "{times:?}");
    // A batch that can't be read has taken its time to be read, and none to run.
    let numbers: Vec<i32> = client
        .batch("SELECT FROM")
        .said()
        .iter()
        .map(|said| said.number)
        .collect();
    assert_eq!(numbers, [3613, 156]);
    client.batch("SET STATISTICS TIME OFF");
    assert_eq!(client.batch("SELECT 1").said().len(), 0);
}

fn numbers_in(text: &str) -> Vec<u64> {
    let words = text.split(|char: char| !char.is_ascii_digit());
    words
        .filter(|word| !word.is_empty())
        .map(|word| word.parse().unwrap())
        .collect()
}

#[test]
fn a_reset_sets_the_session_back() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    client.batch("USE tempdb SET DATEFIRST 3 SET XACT_ABORT ON SET LOCK_TIMEOUT 5 BEGIN TRANSACTION");
    let answer =
        client.batch_after_reset("SELECT DB_NAME(), @@DATEFIRST, @@OPTIONS & 16384, @@LOCK_TIMEOUT, @@TRANCOUNT");
    assert_eq!(
        answer.rows(),
        [[
            Value::Text("master".into()),
            Value::TinyInt(7),
            Value::Int(0),
            Value::Int(-1),
            Value::Int(0)
        ]]
    );
    assert_eq!(answer.changes(), [10, 18]);
}

#[test]
fn quoted_identifier_decides_how_later_batches_are_read() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    client.batch("SET QUOTED_IDENTIFIER OFF");
    assert_eq!(client.value("SELECT \"text\""), Value::Text("text".into()));
    client.batch("SET QUOTED_IDENTIFIER ON");
    assert_eq!(client.batch("SELECT \"text\"").errors(), [(207, 1)]);
}
