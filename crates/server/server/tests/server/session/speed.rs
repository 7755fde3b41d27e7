//! What a statement costs over loopback, beside the same one prepared in-process on a file of the same kind.
//!
//! Nothing is asserted of times: `make serve-speed` prints them. The CPU is
//! that of all threads of the process but the client's own.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use selenite_tds::{PacketSize, ProcedureId};
use selenite_types::{DataType, Value, Width};

use super::client::{Client, bulk, int, output, parameter, text};
use super::fixture::Fixture;

/// Runs `body` so many times, and prints what one costs.
fn measured(what: &str, count: i32, mut body: impl FnMut(i32)) {
    for number in 0..count / 10 {
        body(number);
    }
    let (began, client, all) = (
        Instant::now(),
        cpu(ClockId::ThreadCPUTime),
        cpu(ClockId::ProcessCPUTime),
    );
    for number in 0..count {
        body(number);
    }
    let elapsed = began.elapsed();
    let client = cpu(ClockId::ThreadCPUTime) - client;
    let others = (cpu(ClockId::ProcessCPUTime) - all).saturating_sub(client);
    let each = |time: Duration| time.as_secs_f64() * 1e6 / f64::from(count);
    let rate = f64::from(count) / elapsed.as_secs_f64();
    println!(
        "{what:34} {rate:9.0}/s  {:7.1} us each, CPU: server {:6.1} us, this thread {:6.1} us",
        each(elapsed),
        each(others),
        each(client)
    );
}

fn cpu(clock: ClockId) -> Duration {
    Duration::try_from(clock_gettime(clock)).unwrap_or_default()
}

fn ok(answer: &super::client::Answer, rows: usize) {
    assert_eq!((answer.errors().len(), answer.rows().len()), (0, rows), "{answer:?}");
}

fn name(number: i32) -> selenite_tds::Parameter {
    let value = Value::Text(format!("name {number}").into());
    parameter("@b", DataType::NVarChar(Width::Limited(50)), value)
}

/// The handle of a prepared statement.
fn prepare(client: &mut Client, declared: &str, statement: &str) -> i32 {
    let answer = client.call(
        ProcedureId::Prepare,
        vec![
            output("", DataType::Int, Value::Null),
            text(declared),
            text(statement),
            int("", 1),
        ],
    );
    match answer.outputs().first() {
        Some((_, _, Value::Int(handle))) => *handle,
        other => panic!("{other:?} {answer:?}"),
    }
}

const INSERT: &str = "INSERT INTO t (b) VALUES (@b)";
const SELECT: &str = "SELECT b FROM t WHERE a = @a";

#[test]
#[ignore = "make serve-speed: it measures for a minute"]
fn what_an_insert_costs() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    ok(&client.batch("CREATE DATABASE d"), 0);
    for table in ["t", "twin"] {
        let made = format!("USE d CREATE TABLE {table} (a INT IDENTITY PRIMARY KEY, b NVARCHAR(50) NOT NULL)");
        ok(&client.batch(&made), 0);
    }
    for synchronous in ["FULL", "NORMAL"] {
        println!("synchronous {synchronous}");
        let count = if synchronous == "FULL" { 1000 } else { 10_000 };
        let twin = fixture.in_sqlite("d");
        twin.execute_batch(&format!("PRAGMA synchronous = {synchronous}"))
            .unwrap();
        let mut statement = twin.prepare("INSERT INTO twin (b) VALUES (?1)").unwrap();
        measured("  in-process, prepared", count, |number| {
            statement.execute([format!("name {number}")]).unwrap();
        });
        drop(statement);
        drop(twin);
        if synchronous == "NORMAL" {
            ok(&client.batch("ALTER DATABASE d SET DELAYED_DURABILITY = FORCED"), 0);
        }
        measured("  batches of different texts", count, |number| {
            ok(
                &client.batch(&format!("INSERT INTO t (b) VALUES (N'name {number}')")),
                0,
            );
        });
        measured("  batches of one text", count, |_| {
            ok(&client.batch("INSERT INTO t (b) VALUES (N'name')"), 0);
        });
        measured("  sp_executesql", count, |number| {
            let parameters = vec![text(INSERT), text("@b nvarchar(50)"), name(number)];
            ok(&client.call(ProcedureId::ExecuteSql, parameters), 0);
        });
        let handle = prepare(&mut client, "@b nvarchar(50)", INSERT);
        measured("  sp_execute", count, |number| {
            ok(
                &client.call(ProcedureId::Execute, vec![int("", handle), name(number)]),
                0,
            );
        });
    }
}

#[test]
#[ignore = "make serve-speed: it measures for a minute"]
fn what_a_point_select_costs() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    ok(&client.batch("CREATE DATABASE d"), 0);
    ok(
        &client.batch("USE d CREATE TABLE t (a INT IDENTITY PRIMARY KEY, b NVARCHAR(50) NOT NULL)"),
        0,
    );
    ok(
        &client.batch(
            "BEGIN TRAN DECLARE @i INT = 0 WHILE @i < 10000 BEGIN INSERT INTO t (b) VALUES (N'name') SET @i += 1 END COMMIT",
        ),
        0,
    );
    let twin = fixture.in_sqlite("d");
    let mut statement = twin.prepare("SELECT b FROM t WHERE a = ?1").unwrap();
    let key = |number: i32| number * 7919 % 10_000 + 1;
    measured("  in-process, prepared", 30_000, |number| {
        let _: String = statement.query_row([key(number)], |row| row.get(0)).unwrap();
    });
    measured("  SELECT 1: no table", 30_000, |_| {
        ok(&client.batch("SELECT 1"), 1);
    });
    measured("  batches of different texts", 30_000, |number| {
        ok(&client.batch(&format!("SELECT b FROM t WHERE a = {}", key(number))), 1);
    });
    measured("  batches of one text", 30_000, |_| {
        ok(&client.batch("SELECT b FROM t WHERE a = 4711"), 1);
    });
    measured("  sp_executesql", 30_000, |number| {
        let parameters = vec![text(SELECT), text("@a int"), int("@a", key(number))];
        ok(&client.call(ProcedureId::ExecuteSql, parameters), 1);
    });
    let handle = prepare(&mut client, "@a int", SELECT);
    measured("  sp_execute", 30_000, |number| {
        ok(
            &client.call(ProcedureId::Execute, vec![int("", handle), int("@a", key(number))]),
            1,
        );
    });
}

/// A hundred thousand rows of ten columns by INSERT BULK, encoded beforehand: the server's time alone counts.
#[test]
#[ignore = "make serve-speed: it measures for a minute"]
fn what_a_bulk_load_costs() {
    let fixture = Fixture::new();
    let mut client = fixture.client_of(PacketSize::MAX);
    ok(&client.batch("CREATE DATABASE d"), 0);
    let columns = "i1 int, i2 int, i3 int, i4 int, i5 int, t1 varchar(50), t2 nvarchar(50), t3 varchar(50), \
                   t4 nvarchar(50), t5 varchar(50)";
    ok(&client.batch(&format!("USE d; CREATE TABLE t ({columns})")), 0);
    let (narrow, wide) = (
        DataType::VarChar(Width::Limited(50)),
        DataType::NVarChar(Width::Limited(50)),
    );
    let mut types = vec![("i", DataType::Int); 5];
    types.extend([("t", narrow), ("t", wide), ("t", narrow), ("t", wide), ("t", narrow)]);
    let rows: Vec<Vec<Value>> = (0..BULK_ROWS)
        .map(|number| {
            let number_of = |at: i32| Value::Int(number * 7 + at);
            let text_of = |at: i32| Value::Text(format!("text {at} of row {number}").into());
            (0..5).map(number_of).chain((0..5).map(text_of)).collect()
        })
        .collect();
    let message = bulk(&types, &rows, PacketSize::MAX);
    for _ in 0..5 {
        ok(
            &client.batch(&format!("TRUNCATE TABLE t; INSERT BULK t ({columns})")),
            0,
        );
        let (began, all, own) = (
            Instant::now(),
            cpu(ClockId::ProcessCPUTime),
            cpu(ClockId::ThreadCPUTime),
        );
        client.send(&message).unwrap();
        ok(&client.answer().unwrap(), 0);
        let (elapsed, own) = (began.elapsed(), cpu(ClockId::ThreadCPUTime) - own);
        let server = (cpu(ClockId::ProcessCPUTime) - all).saturating_sub(own);
        let rate = |time: Duration| f64::from(BULK_ROWS) / time.as_secs_f64();
        println!(
            "bulk load of ten columns: {:7.0} rows/s, {:7.0} rows per second of the server's CPU",
            rate(elapsed),
            rate(server)
        );
    }
    drop(client);
    fixture.stop();
}

/// Rows of the bulk load that is measured.
const BULK_ROWS: i32 = 100_000;
