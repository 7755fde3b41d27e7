//! DBCC, KILL, CHECKPOINT and SHUTDOWN.

use std::os::unix::fs::FileExt;

use selenite_types::Value;

use super::client::{Answer, Client};
use super::fixture::Fixture;

const COMPLETED: &str = "DBCC execution completed. If DBCC printed error messages, contact your system administrator.";

/// A client in a database of its own with a table of some pages.
fn with_table(fixture: &Fixture) -> Client {
    let mut client = fixture.client();
    client.batch("CREATE DATABASE shop");
    let long = "x".repeat(200);
    let made =
        format!("USE shop CREATE TABLE t (a INT IDENTITY PRIMARY KEY, b VARCHAR(200) NOT NULL DEFAULT '{long}')");
    assert_eq!(client.batch(&made).errors(), []);
    let answer = client.batch(
        "BEGIN TRAN DECLARE @i INT = 0 WHILE @i < 500 BEGIN INSERT INTO t DEFAULT VALUES SET @i += 1 END COMMIT",
    );
    assert_eq!(answer.errors(), []);
    client
}

fn text(value: &Value) -> String {
    match value {
        Value::Text(text) => text.trim_end().to_owned(),
        other => panic!("{other:?}"),
    }
}

fn texts(answer: &Answer) -> Vec<Vec<String>> {
    let rows = answer.rows().into_iter();
    rows.map(|row| row.iter().map(text).collect()).collect()
}

#[test]
fn a_sound_database_has_no_errors_and_its_rows_are_counted() {
    let fixture = Fixture::new();
    let mut client = with_table(&fixture);
    let answer = client.batch("DBCC CHECKDB");
    assert_eq!(answer.errors(), [], "{answer:?}");
    let infos = answer.infos();
    assert_eq!(infos[..2], ["DBCC results for 'shop'.", "DBCC results for 't'."]);
    assert!(infos[2].starts_with("There are 500 rows in "), "{infos:?}");
    assert!(infos[2].ends_with(" pages for object \"t\"."), "{infos:?}");
    let sum = "CHECKDB found 0 allocation errors and 0 consistency errors in database 'shop'.";
    assert_eq!(infos[3..], [sum, COMPLETED]);
    for said in answer.said() {
        assert_eq!((said.severity, said.line), (0, 1));
    }
    let answer = client.batch("USE master DBCC CHECKDB ('SHOP') WITH PHYSICAL_ONLY, ALL_ERRORMSGS");
    assert_eq!(answer.infos()[1..], ["DBCC results for 'shop'.", sum, COMPLETED]);
    let answer = client.batch("DBCC CHECKDB (shop, NOINDEX) WITH NO_INFOMSGS");
    assert_eq!((answer.errors(), answer.infos().len()), (vec![], 0));
    let answer = client.batch("DBCC CHECKDB ('shop') WITH TABLERESULTS, NO_INFOMSGS");
    assert_eq!(answer.rows().len(), 0);
    let answer = client.batch("DBCC CHECKDB ('shop') WITH TABLERESULTS");
    assert_eq!(answer.rows().len(), 4);
    assert_eq!(answer.infos(), [COMPLETED]);
    let answer = client.batch("USE shop DBCC CHECKTABLE ('dbo.t')");
    assert!(answer.infos()[2].starts_with("There are 500 rows in "), "{answer:?}");
    assert_eq!(client.batch("DBCC CHECKTABLE ('none')").errors(), [(2501, 1)]);
}

#[test]
fn a_damaged_page_is_an_error_that_names_it() {
    let fixture = Fixture::new();
    let mut client = with_table(&fixture);
    assert_eq!(client.batch("CHECKPOINT").errors(), []);
    let path = fixture.data_folder().join("shop.db");
    let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    // FORMAT 2.1: pages of 4096 bytes begin after 64 KiB.
    file.write_all_at(&[0x5A; 16], 65_536 + 5 * 4096 + 300).unwrap();
    for question in ["DBCC CHECKDB ('shop') WITH PHYSICAL_ONLY, NO_INFOMSGS", "DBCC CHECKDB"] {
        let answer = client.batch(question);
        let errors = answer.errors();
        assert_eq!(errors, [(824, 1)], "{question}: {answer:?}");
        let said = answer.said();
        let first = said.iter().find(|said| said.number == 824).unwrap();
        assert_eq!(first.severity, 16);
        let end = "It occurred during a read of page (1:6) in database 'shop' (database ID 5).";
        assert!(first.text.ends_with(end), "{}", first.text);
        let sum = "CHECKDB found 0 allocation errors and 1 consistency errors in database 'shop'.";
        assert!(answer.infos().contains(&sum), "{answer:?}");
    }
    // Closed after the server's own: closing it gives up the process's locks.
    fixture.stop();
    drop(file);
}

#[test]
fn what_cannot_be_checked_is_refused_by_name() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    for (question, number) in [
        ("DBCC CHECKDB ('none')", 911),
        ("DBCC CHECKDB (master, REPAIR_ALLOW_DATA_LOSS)", 40510),
        ("DBCC CHECKDB (master) WITH ESTIMATEONLY", 40510),
        ("DBCC CHECKDB (master) WITH NONSENSE", 155),
        ("DBCC CHECKDB (master, NONSENSE)", 2526),
        ("DBCC NONSENSE", 2526),
        ("DBCC SHRINKDATABASE (master)", 40510),
        ("DBCC TRACEON (3604)", 40510),
        ("DBCC FREEPROCCACHE ('pool')", 40510),
        ("DBCC SQLPERF ('sys.dm_os_latch_stats', CLEAR)", 40510),
        ("DBCC SQLPERF (NONSENSE)", 2526),
        ("DBCC DROPCLEANBUFFERS WITH PHYSICAL_ONLY", 2526),
        ("DBCC INPUTBUFFER (77)", 7955),
        ("DBCC INPUTBUFFER (1.5)", 2526),
        ("SHUTDOWN", 40510),
        ("SHUTDOWN WITH NOWAIT", 40510),
    ] {
        assert_eq!(client.batch(question).errors(), [(number, 1)], "{question}");
    }
    let shutdown = client.batch("SHUTDOWN");
    assert_eq!(shutdown.said()[0].text, "SHUTDOWN is not supported.");
    assert_eq!(client.batch("DBCC TRACEOFF (3604) WITH NO_INFOMSGS").said().len(), 0);
    assert_eq!(client.batch("DBCC TRACESTATUS (-1)").infos(), [COMPLETED]);
}

/// Logical, physical and read-ahead reads of a statement, by its message.
fn reads(client: &mut Client, question: &str, table: &str) -> Vec<u64> {
    let answer = client.batch(&format!("SET STATISTICS IO ON {question}"));
    let told = answer.said();
    let told: Vec<_> = told.iter().filter(|said| said.number == 3615).collect();
    assert_eq!(told.len(), 1, "{answer:?}");
    let rest = told[0].text.strip_prefix(&format!("Table '{table}'. ")).unwrap();
    let counts = rest.trim_end_matches('.').split(", ");
    let counts = counts.map(|part| part.rsplit(' ').next().unwrap().parse().unwrap());
    counts.collect()
}

#[test]
fn reads_are_reported_and_repeated_after_buffers_were_dropped() {
    let fixture = Fixture::new();
    let mut client = with_table(&fixture);
    client.batch("CHECKPOINT");
    let scan = "SELECT COUNT(*) FROM t WHERE b = 'y'";
    client.batch(scan);
    let warm = reads(&mut client, scan, "t");
    assert!(warm[0] > 20, "{warm:?}");
    assert_eq!(warm[1..], [0, 0], "{warm:?}");
    let mut other = fixture.client();
    other.batch("USE shop");
    other.batch(scan);
    assert_eq!(reads(&mut other, scan, "t")[1..], [0, 0]);
    let answer = client.batch("DBCC DROPCLEANBUFFERS");
    assert_eq!((answer.errors(), answer.infos()), (vec![], vec![COMPLETED]));
    // Those of the other session go as well.
    for session in [&mut client, &mut other] {
        let cold = reads(session, scan, "t");
        assert_eq!(cold[0], warm[0]);
        assert!(cold[1] + cold[2] > 0, "{cold:?}");
        session.batch("DBCC DROPCLEANBUFFERS");
    }
    let joined = reads(&mut client, "SELECT COUNT(*) FROM t AS x JOIN t AS y ON x.a = y.a", "t");
    assert!(joined[0] > warm[0]);
    client.batch("SET STATISTICS IO OFF");
    let answer = client.batch(scan);
    assert_eq!(answer.infos().len(), 0);
}

#[test]
fn programs_and_bound_statements_are_forgotten_and_made_anew() {
    let fixture = Fixture::new();
    let mut client = with_table(&fixture);
    assert_eq!(client.int("SELECT COUNT(*) FROM t"), 500);
    for question in [
        "DBCC FREEPROCCACHE",
        "DBCC FREESYSTEMCACHE ('ALL')",
        "DBCC FREEPROCCACHE WITH NO_INFOMSGS",
    ] {
        assert_eq!(client.batch(question).errors(), [], "{question}");
        assert_eq!(client.int("SELECT COUNT(*) FROM t"), 500);
    }
    // A program that runs is its own.
    assert_eq!(client.int("DBCC FREEPROCCACHE SELECT COUNT(*) FROM t"), 500);
}

#[test]
fn logs_have_the_size_of_their_files() {
    let fixture = Fixture::new();
    let mut client = with_table(&fixture);
    let find = |answer: &Answer| -> (f32, f32) {
        let rows = answer.rows();
        let row = rows.iter().find(|row| text(&row[0]) == "shop").unwrap();
        match (&row[1], &row[2], &row[3]) {
            (Value::Real(size), Value::Real(used), Value::Int(0)) => (*size, *used),
            other => panic!("{other:?}"),
        }
    };
    let (size, used) = find(&client.batch("DBCC SQLPERF (LOGSPACE)"));
    let log = std::fs::metadata(fixture.data_folder().join("shop.db-wal"))
        .unwrap()
        .len();
    let expected = f64::from(u32::try_from(log).unwrap()) / 1_048_576.0;
    assert!((f64::from(size) - expected).abs() < 1e-6, "{size} {expected}");
    assert!(used > 50.0 && used <= 100.0, "{used}");
    client.batch("CHECKPOINT 5");
    let (_, used) = find(&client.batch("DBCC SQLPERF ('logspace')"));
    assert!(used < 1.0, "{used}");
    // In a transaction that writes, too.
    client.batch("BEGIN TRAN INSERT INTO t DEFAULT VALUES");
    assert_eq!(client.batch("CHECKPOINT").errors(), []);
    assert_eq!(client.batch("DBCC SQLPERF (LOGSPACE)").errors(), []);
    assert_eq!(client.batch("COMMIT").errors(), []);
}

#[test]
fn opentran_reports_the_writing_transaction_and_its_session() {
    let fixture = Fixture::new();
    let mut client = with_table(&fixture);
    let answer = client.batch("DBCC OPENTRAN");
    assert_eq!(answer.infos(), ["No active open transactions.", COMPLETED]);
    client.batch("BEGIN TRAN sale INSERT INTO t DEFAULT VALUES");
    let mut other = fixture.client();
    let answer = other.batch("DBCC OPENTRAN ('shop')");
    let told = answer.infos()[0];
    assert!(told.starts_with("Transaction information for database 'shop'.\n\nOldest active transaction:\n"));
    assert!(told.contains("SPID (server process ID): 51\n"), "{told}");
    assert!(told.contains("Name          : sale\n"), "{told}");
    let rows = texts(&other.batch("DBCC OPENTRAN ('shop') WITH TABLERESULTS"));
    assert_eq!(rows[0], ["OLDACT_SPID", "51"]);
    client.batch("ROLLBACK");
    assert_eq!(
        other.batch("DBCC OPENTRAN ('shop')").infos()[0],
        "No active open transactions."
    );
}

#[test]
fn a_sessions_options_and_its_last_text_can_be_asked_for() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    client.batch("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE SET DATEFIRST 1 SET NOCOUNT ON SET LOCK_TIMEOUT 5");
    let rows = texts(&client.batch("DBCC USEROPTIONS"));
    for (name, value) in [
        ("language", "us_english"),
        ("dateformat", "mdy"),
        ("datefirst", "1"),
        ("lock_timeout", "5"),
        ("nocount", "SET"),
        ("ansi_nulls", "SET"),
        ("isolation level", "serializable"),
    ] {
        assert!(
            rows.iter().any(|row| row[0] == name && row[1] == value),
            "{name}: {rows:?}"
        );
    }
    let mut other = fixture.client();
    let answer = other.batch("DBCC INPUTBUFFER (51)");
    let row = &answer.rows()[0];
    assert_eq!(
        (text(&row[0]), text(&row[2])),
        ("Language Event".to_owned(), "DBCC USEROPTIONS".to_owned())
    );
    let own = other.batch("DECLARE @me INT = @@SPID DBCC INPUTBUFFER (@me)");
    assert!(text(&own.rows()[0][2]).starts_with("DECLARE @me"));
    assert_eq!(
        text(&other.batch("DBCC INPUTBUFFER (@@SPID)").rows()[0][2]),
        "DBCC INPUTBUFFER (@@SPID)"
    );
    let fresh = fixture.client();
    let spid = 53;
    let answer = other.batch(&format!("DBCC INPUTBUFFER ({spid})"));
    assert_eq!(text(&answer.rows()[0][0]), "No Event");
    drop(fresh);
}

#[test]
fn a_session_that_is_killed_is_gone_and_its_transaction_undone() {
    let fixture = Fixture::new();
    let mut victim = with_table(&fixture);
    victim.batch("BEGIN TRAN DELETE FROM t");
    let mut killer = fixture.client();
    for (question, number) in [
        ("KILL 0", 6101),
        ("KILL -5", 6101),
        ("KILL 40000", 6101),
        ("KILL 99", 6106),
        ("KILL 52", 6104),
        ("KILL 51 WITH STATUSONLY", 6120),
        ("KILL 'D5499C66-E398-45CA-BF7E-DC9C194B48CF'", 40510),
        ("BEGIN TRAN KILL 51", 6115),
    ] {
        assert_eq!(killer.batch(question).errors(), [(number, 1)], "{question}");
    }
    killer.batch("ROLLBACK");
    assert_eq!(
        killer.batch("KILL 51").said(),
        Vec::<&selenite_tds::client::ServerMessage>::new()
    );
    assert!(victim.answer().is_err());
    // The victim's thread gives up its turn before any other session gets it.
    let answer = killer.batch("USE shop INSERT INTO t DEFAULT VALUES SELECT COUNT(*) FROM t");
    assert_eq!(answer.rows(), [[Value::Int(501)]]);
    // What runs ends, too.
    let mut busy = fixture.client();
    let spid = busy.int("SELECT CAST(@@SPID AS INT)");
    busy.ask("WHILE 1 = 1 SET NOCOUNT ON");
    let running = format!("SELECT session_id FROM sys.dm_exec_requests WHERE session_id = {spid}");
    while killer.batch(&running).rows().is_empty() {}
    assert_eq!(killer.batch(&format!("KILL {spid}")).errors(), []);
    assert!(busy.message().is_err());
}
