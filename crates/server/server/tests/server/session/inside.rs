//! The server seen from inside: sessions, requests, waits.

use selenite_types::Value;

use super::client::{Client, int, text as parameter};
use super::fixture::Fixture;

fn big(client: &mut Client, question: &str) -> i64 {
    match client.value(question) {
        Value::BigInt(number) => number,
        Value::Int(number) => number.into(),
        other => panic!("{question}: {other:?}"),
    }
}

fn text(client: &mut Client, question: &str) -> String {
    match client.value(question) {
        Value::Text(text) => text.trim_end().to_owned(),
        other => panic!("{question}: {other:?}"),
    }
}

fn waits(client: &mut Client, kind: &str) -> (i64, i64) {
    let of = |column: &str| format!("SELECT {column} FROM sys.dm_os_wait_stats WHERE wait_type = '{kind}'");
    (
        big(client, &of("waiting_tasks_count")),
        big(client, &of("wait_time_ms")),
    )
}

/// Asks until the answer is not empty: another session is on its way there.
pub fn wait_for(client: &mut Client, question: &str) -> Vec<Value> {
    for _ in 0..100_000 {
        let answer = client.batch(question);
        assert_eq!(answer.errors(), [], "{question}");
        if let Some(row) = answer.rows().into_iter().next() {
            return row;
        }
        std::thread::yield_now();
    }
    panic!("never: {question}");
}

#[test]
fn every_view_has_rows_of_its_types() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    client.batch("CREATE DATABASE d");
    client.batch("USE d CREATE TABLE t (a INT) BEGIN TRAN INSERT INTO t VALUES (1)");
    for (view, least) in [
        ("dm_exec_sessions", 1),
        ("dm_exec_connections", 1),
        ("dm_exec_requests", 1),
        ("dm_os_waiting_tasks", 0),
        ("sysprocesses", 1),
        ("dm_tran_locks", 1),
        ("dm_tran_active_transactions", 1),
        ("dm_tran_session_transactions", 1),
        ("dm_os_wait_stats", 5),
        ("dm_os_schedulers", 1),
        ("dm_os_sys_info", 1),
        ("dm_os_process_memory", 1),
        ("dm_os_performance_counters", 3),
    ] {
        let answer = client.batch(&format!("SELECT * FROM sys.{view}"));
        assert_eq!(answer.errors(), [], "{view}");
        assert!(answer.rows().len() >= least, "{view}: {answer:?}");
    }
}

/// The first script of the source on encryption and context switches, with fewer turns.
#[test]
fn the_script_about_context_switches_runs_as_it_is_written() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    let script = "select @@spid

DBCC SQLPERF('sys.dm_os_wait_stats', CLEAR);

select @@VERSION

select encrypt_option from sys.dm_exec_connections where session_id = @@SPID 

DECLARE @starttime datetime, @endtime datetime
DECLARE @cnt int = 0, @ts_start int ;
DECLARE @context_switches_before int, @context_switches_after int ;

SET @starttime =getdate() ;
select @context_switches_before = sum(context_switches_count) 
  from sys.dm_os_schedulers ;

--load  
BEGIN
    WHILE @cnt < 100000
\tBEGIN
\t   SET @cnt = @cnt + 1;
\tEND;
END

select @context_switches_after = sum(context_switches_count) 
  from sys.dm_os_schedulers ;

select ( @context_switches_after  -  @context_switches_before ) context_switches ;

SET @endtime = GETDATE() ;
SELECT Datediff(s, @starttime, @endtime) elapsed_seconds

select * from sys.dm_os_wait_stats where wait_type = 'PREEMPTIVE_OS_ENCRYPTMESSAGE' ;
";
    let answer = client.batch(script);
    assert_eq!(answer.errors(), []);
    let rows = answer.rows();
    assert_eq!(rows.len(), 6, "{rows:?}");
    assert_eq!(rows[2], [Value::Text("FALSE".into())]);
    let Value::Int(switches) = rows[3][0] else {
        panic!("{rows:?}");
    };
    assert!((0..1_000_000).contains(&switches), "{switches}");
    assert_eq!(
        rows[5][..2],
        [Value::Text("PREEMPTIVE_OS_ENCRYPTMESSAGE".into()), Value::BigInt(0)]
    );
}

#[test]
fn another_session_sees_the_time_of_a_request_while_it_runs() {
    let fixture = Fixture::new();
    let (mut busy, mut client) = (fixture.client(), fixture.client());
    busy.ask("SET NOCOUNT ON DECLARE @i INT = 0 WHILE @i < 2000000000 SET @i += 1");
    let sampled = "select cpu_time,total_elapsed_time, status, wait_type, wait_time, 
	  scheduler_id
	  from sys.dm_exec_requests r 
	  where session_id = 51 and cpu_time > 0";
    // The answer is not read: sooner or later the request waits for that.
    let row = wait_for(&mut client, sampled);
    assert!(matches!(row[0], Value::Int(cpu) if cpu > 0), "{row:?}");
    let waiting = "SELECT wait_type, status FROM sys.dm_exec_requests WHERE session_id = 51 AND wait_type IS NOT NULL";
    let row = wait_for(&mut client, waiting);
    assert_eq!(
        row,
        [Value::Text("ASYNC_NETWORK_IO".into()), Value::Text("suspended".into())]
    );
    busy.cancel();
    busy.wait_for_attention();
    assert!(waits(&mut client, "ASYNC_NETWORK_IO").0 > 0);
    // The client may know the answer before the session is idle.
    let asleep = "SELECT status FROM sys.dm_exec_sessions WHERE session_id = 51 AND status = 'sleeping'";
    wait_for(&mut client, asleep);
}

#[test]
fn a_session_that_waits_for_another_says_for_which() {
    let fixture = Fixture::new();
    let (mut holder, mut late, mut client) = (fixture.client(), fixture.client(), fixture.client());
    holder.batch("CREATE DATABASE d");
    holder.batch("USE d CREATE TABLE t (a INT) BEGIN TRAN INSERT INTO t VALUES (1)");
    late.batch("USE d");
    late.ask("INSERT INTO t VALUES (2)");
    let question = "SELECT command, blocking_session_id, wait_type, wait_resource FROM sys.dm_exec_requests
                    WHERE session_id = 52 AND blocking_session_id <> 0";
    let row = wait_for(&mut client, question);
    let expected = ["INSERT", "LCK_M_X", "DATABASE: 5"].map(|text| Value::Text(text.into()));
    assert_eq!(row[0], expected[0]);
    assert_eq!(row[1], Value::SmallInt(51));
    assert_eq!(row[2..], expected[1..]);
    let blocked = text(&mut client, "SELECT loginame FROM sysprocesses WHERE blocked = 51");
    assert_eq!(blocked, "sa");
    let locks = client.batch(
        "SELECT request_session_id, request_status FROM sys.dm_tran_locks WHERE resource_database_id = 5
         ORDER BY request_session_id",
    );
    let words = ["GRANT", "WAIT"].map(|word| Value::Text(word.into()));
    let [granted, waiting] = words;
    assert_eq!(locks.rows(), [[Value::Int(51), granted], [Value::Int(52), waiting]]);
    holder.batch("COMMIT");
    assert_eq!(late.answer().unwrap().errors(), []);
    let (count, _) = waits(&mut client, "LCK_M_X");
    assert_eq!(count, 1);
    assert_eq!(client.batch("SELECT * FROM sys.dm_tran_locks").rows().len(), 0);
}

#[test]
fn waits_are_counted_by_type_until_they_are_cleared() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    client.batch("CREATE DATABASE d");
    client.batch("USE d CREATE TABLE t (a INT)");
    client.batch("DBCC SQLPERF ('sys.dm_os_wait_stats', CLEAR)");
    client.batch("WAITFOR DELAY '00:00:00.020'");
    let (count, time) = waits(&mut client, "WAITFOR");
    assert_eq!(count, 1);
    assert!(time >= 20, "{time}");
    assert_eq!(waits(&mut client, "WRITELOG").0, 0);
    client.batch("INSERT INTO t VALUES (1)");
    client.batch("INSERT INTO t VALUES (1)");
    assert!(waits(&mut client, "WRITELOG").0 >= 2);
    assert_eq!(waits(&mut client, "PREEMPTIVE_OS_ENCRYPTMESSAGE"), (0, 0));
    client.batch("DBCC SQLPERF ('sys.dm_os_wait_stats', CLEAR)");
    assert_eq!(
        (waits(&mut client, "WAITFOR").0, waits(&mut client, "WRITELOG").0),
        (0, 0)
    );
}

#[test]
fn a_sessions_last_text_is_found_by_its_handle() {
    let fixture = Fixture::new();
    let (mut first, mut client) = (fixture.client(), fixture.client());
    first.batch("CREATE DATABASE d");
    first.batch("USE d CREATE TABLE t (a INT IDENTITY)");
    first.batch("INSERT INTO t DEFAULT VALUES ;");
    let answer = client.batch(
        "SELECT spid, cpu, physical_io, memusage, st.text FROM sysprocesses AS sp
         CROSS APPLY sys.dm_exec_sql_text(sp.sql_handle) st WHERE spid IN (51)",
    );
    assert_eq!(answer.errors(), []);
    let rows = answer.rows();
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!(rows[0][0], Value::SmallInt(51));
    assert!(
        matches!(rows[0][2], Value::BigInt(accesses) if accesses > 3),
        "{rows:?}"
    );
    assert_eq!(rows[0][4], Value::Text("INSERT INTO t DEFAULT VALUES ;".into()));
    // A call's text, too.
    first.call_by_name(
        "sp_executesql",
        vec![parameter("SELECT @a"), parameter("@a INT"), int("@a", 1)],
    );
    let called = text(
        &mut client,
        "SELECT t.text FROM sys.dm_exec_connections AS c
         CROSS APPLY sys.dm_exec_sql_text(c.most_recent_sql_handle) AS t WHERE c.session_id = 51",
    );
    assert_eq!(called, "SELECT @a");
    let none = client.batch("SELECT * FROM sys.dm_exec_sql_text(0x0200)");
    assert_eq!((none.errors(), none.rows().len()), (vec![], 0));
}

#[test]
fn connections_and_sessions_are_shown_as_they_are() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    let row = client.batch(
        "SELECT c.session_id, net_transport, protocol_type, encrypt_option, auth_scheme, net_packet_size, client_net_address
         FROM sys.dm_exec_connections AS c JOIN sys.dm_exec_sessions AS s ON s.session_id = c.session_id",
    );
    let words = ["TCP", "TSQL", "FALSE", "SQL"].map(|word| Value::Text(word.into()));
    let rows = row.rows();
    assert_eq!(rows[0][0], Value::Int(51));
    assert_eq!(rows[0][1..5], words);
    assert_eq!(rows[0][5..], [Value::Int(4096), Value::Text("127.0.0.1".into())]);
    let sent = "SELECT num_writes FROM sys.dm_exec_connections WHERE session_id = @@SPID";
    let before = client.int(sent);
    assert_eq!(client.int(sent), before + 1);
    let level = "SELECT CAST(transaction_isolation_level AS INT) FROM sys.dm_exec_sessions WHERE session_id = @@SPID";
    assert_eq!(client.int(level), 2);
    client.batch("SET TRANSACTION ISOLATION LEVEL SNAPSHOT BEGIN TRAN one");
    assert_eq!(client.int(level), 5);
    assert_eq!(
        text(&mut client, "SELECT name FROM sys.dm_tran_active_transactions"),
        "one"
    );
    client.batch("COMMIT");
    // Others see what was set when the last request had ended, which its client may know before.
    let mut other = fixture.client();
    wait_for(
        &mut other,
        "SELECT 1 FROM sys.sysprocesses WHERE spid = 51 AND cmd = 'AWAITING COMMAND'",
    );
    let seen = "SELECT CAST(transaction_isolation_level AS INT) FROM sys.dm_exec_sessions WHERE session_id = 51";
    assert_eq!(other.int(seen), 5);
}

#[test]
fn the_machine_is_shown_as_far_as_it_is_known() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    let processors = client.int("SELECT cpu_count FROM sys.dm_os_sys_info");
    assert_eq!(
        usize::try_from(processors).unwrap(),
        std::thread::available_parallelism().unwrap().get()
    );
    assert!(
        big(
            &mut client,
            "SELECT physical_memory_in_use_kb FROM sys.dm_os_process_memory"
        ) > 1000
    );
    let _second = fixture.client();
    let users = "SELECT cntr_value FROM sys.dm_os_performance_counters WHERE counter_name = 'User Connections'";
    assert_eq!(big(&mut client, users), 2);
}
