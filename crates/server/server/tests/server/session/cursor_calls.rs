//! Cursors of procedures: sp_cursoropen and related ones, as drivers call them.

use selenite_tds::client::Token;
use selenite_tds::{Parameter, ProcedureId};
use selenite_types::{DataType, Value, Width};

use super::client::{Answer, Client, int, numbers, output, parameter, shown, succeed, text};
use super::fixture::Fixture;

const KEYSET: i32 = 1;
const DYNAMIC: i32 = 2;
const FORWARD_ONLY: i32 = 4;
const STATIC: i32 = 8;
const FAST_FORWARD: i32 = 16;
const PARAMETERIZED: i32 = 0x1000;
const READ_ONLY: i32 = 1;
const OPTIMISTIC: i32 = 8;
const ALLOW_DIRECT: i32 = 0x2000;

fn client(fixture: &Fixture) -> Client {
    let mut client = fixture.client();
    succeed(&mut client, "CREATE DATABASE d");
    succeed(&mut client, "USE d");
    succeed(
        &mut client,
        "CREATE TABLE t (id int PRIMARY KEY, n int NOT NULL, name varchar(20)); \
         INSERT t SELECT value, value * 10, CONCAT('n', value) FROM GENERATE_SERIES(1, 10)",
    );
    client
}

fn out(value: i32) -> Parameter {
    output("", DataType::Int, Value::Int(value))
}

fn opening(sql: &str, scroll: i32, concurrency: i32) -> Vec<Parameter> {
    vec![out(0), text(sql), out(scroll), out(concurrency), out(0)]
}

fn open(client: &mut Client, sql: &str, scroll: i32, concurrency: i32) -> Answer {
    client.call(ProcedureId::CursorOpen, opening(sql, scroll, concurrency))
}

/// The values of the output parameters.
fn outs(answer: &Answer) -> Vec<i32> {
    let whole = |(_, _, value): (u16, &str, &Value)| match value {
        Value::Int(value) => *value,
        other => panic!("{other:?}"),
    };
    answer.outputs().into_iter().map(whole).collect()
}

fn opened(client: &mut Client, sql: &str, scroll: i32, concurrency: i32) -> i32 {
    let answer = open(client, sql, scroll, concurrency);
    assert_eq!(numbers(&answer), [0_i32; 0], "{sql}: {answer:?}");
    outs(&answer)[0]
}

fn fetch(client: &mut Client, cursor: i32, kind: i32, at: i32, count: i32) -> Answer {
    client.call(
        ProcedureId::CursorFetch,
        vec![int("", cursor), int("", kind), int("", at), int("", count)],
    )
}

/// The first and the last column of the rows of a fetch; -1 for NULL.
#[track_caller]
fn fetches(client: &mut Client, cursor: i32, (kind, at, count): (i32, i32, i32), expected: &[i32]) {
    let answer = fetch(client, cursor, kind, at, count);
    assert_eq!(numbers(&answer), [0_i32; 0], "{answer:?}");
    let whole = |value: &Value| match value {
        Value::Int(value) => *value,
        Value::Null => -1,
        other => panic!("{other:?}"),
    };
    let rows = answer.rows();
    let first: Vec<i32> = rows.iter().map(|row| whole(&row[0])).collect();
    assert_eq!(first, expected, "{kind} {at} {count}");
    for row in &rows {
        assert_eq!(whole(row.last().unwrap()) == 1, whole(&row[0]) != -1);
    }
    assert_eq!(answer.return_status(), Some(0));
}

#[test]
fn a_cursor_is_opened_fetched_from_and_closed() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    for (scroll, granted, concurrency, count) in [
        (KEYSET, KEYSET, OPTIMISTIC, 10),
        (DYNAMIC, DYNAMIC, OPTIMISTIC, -1),
        (FORWARD_ONLY, FORWARD_ONLY, OPTIMISTIC, -1),
        (STATIC, STATIC, READ_ONLY, 10),
        (FAST_FORWARD, FAST_FORWARD, READ_ONLY, 10),
    ] {
        let answer = open(
            &mut client,
            "SELECT id, name AS called, n + 1 AS m FROM t",
            scroll,
            OPTIMISTIC,
        );
        assert_eq!(numbers(&answer), [0_i32; 0], "{answer:?}");
        let outs = outs(&answer);
        assert_eq!(outs[1..], [granted, concurrency, count]);
        assert_eq!((answer.rows().len(), answer.return_status()), (0, Some(0)));
        let mut shown = Vec::new();
        for token in &answer.0 {
            match token {
                Token::Columns(columns) => shown.push(format!("{} columns", columns.len())),
                Token::TableNames(names) => shown.push(format!("{names:?}")),
                Token::ColumnInfo(columns) => shown.push(format!("{columns:?}")),
                _ => {}
            }
        }
        let expected: &[&str] = match granted {
            STATIC | FAST_FORWARD => &["4 columns", "[(0, 4), (0, 4), (0, 4), (0, 20)]"],
            _ => &["4 columns", "[[\"dbo\", \"t\"]]", "[(1, 8), (1, 32), (0, 4), (0, 20)]"],
        };
        assert_eq!(shown, expected);
        fetches(&mut client, outs[0], (2, 0, 4), &[1, 2, 3, 4]);
        fetches(&mut client, outs[0], (2, 0, 4), &[5, 6, 7, 8]);
        fetches(&mut client, outs[0], (2, 0, 4), &[9, 10]);
        fetches(&mut client, outs[0], (2, 0, 4), &[]);
        let closed = client.call(ProcedureId::CursorClose, vec![int("", outs[0])]);
        assert_eq!((numbers(&closed), closed.return_status()), (Vec::new(), Some(0)));
        assert_eq!(numbers(&fetch(&mut client, outs[0], 2, 0, 1)), [16909]);
    }
}

#[test]
fn blocks_are_fetched_in_all_directions() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    for scroll in [KEYSET, STATIC, DYNAMIC] {
        let cursor = opened(&mut client, "SELECT id FROM t", scroll, READ_ONLY);
        fetches(&mut client, cursor, (8, 0, 3), &[8, 9, 10]);
        fetches(&mut client, cursor, (4, 0, 3), &[5, 6, 7]);
        fetches(&mut client, cursor, (32, -2, 3), &[3, 4, 5]);
        fetches(&mut client, cursor, (4, 0, 3), &[1, 2, 3]);
        fetches(&mut client, cursor, (4, 0, 3), &[]);
        fetches(&mut client, cursor, (2, 0, 2), &[1, 2]);
        fetches(&mut client, cursor, (32, 2, 2), &[3, 4]);
        fetches(&mut client, cursor, (128, 0, 0), &[3, 4]);
        fetches(&mut client, cursor, (1, 0, 1), &[1]);
        // PREV takes as many rows as it is asked for, PREV_NOADJUST none that come after.
        fetches(&mut client, cursor, (2, 0, 2), &[2, 3]);
        fetches(&mut client, cursor, (512, 0, 3), &[1]);
        fetches(&mut client, cursor, (512, 0, 3), &[]);
        fetches(&mut client, cursor, (2, 0, 4), &[1, 2, 3, 4]);
        fetches(&mut client, cursor, (8, 0, 0), &[]);
        fetches(&mut client, cursor, (512, 0, 3), &[8, 9, 10]);
        fetches(&mut client, cursor, (512, 0, 5), &[3, 4, 5, 6, 7]);
        fetches(&mut client, cursor, (4, 0, 5), &[1, 2, 3, 4, 5]);
        // To before the first row, and behind the last.
        fetches(&mut client, cursor, (1, 0, 0), &[]);
        fetches(&mut client, cursor, (2, 0, 2), &[1, 2]);
        fetches(&mut client, cursor, (8, 0, 0), &[]);
        fetches(&mut client, cursor, (4, 0, 2), &[9, 10]);
        if scroll == DYNAMIC {
            assert_eq!(numbers(&fetch(&mut client, cursor, 16, 9, 3)), [16925]);
            continue;
        }
        fetches(&mut client, cursor, (16, 9, 3), &[9, 10]);
        fetches(&mut client, cursor, (16, -2, 1), &[9]);
        let info = client.call(
            ProcedureId::CursorFetch,
            vec![int("", cursor), int("", 256), out(0), out(0)],
        );
        assert_eq!(outs(&info), [9, 10]);
    }
    let cursor = opened(&mut client, "SELECT id FROM t", FORWARD_ONLY, READ_ONLY);
    assert_eq!(numbers(&fetch(&mut client, cursor, 4, 0, 1)), [16911]);
    assert_eq!(numbers(&fetch(&mut client, cursor, 3, 0, 1)), [16902]);
    assert_eq!(numbers(&fetch(&mut client, cursor, 2, 0, 0)), [16902]);
}

#[test]
fn rows_that_are_gone_and_changes_are_told() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    let cursor = opened(&mut client, "SELECT n, name FROM t WHERE id < 5", KEYSET, OPTIMISTIC);
    succeed(&mut client, "DELETE t WHERE id = 2; UPDATE t SET n = 33 WHERE id = 3");
    fetches(&mut client, cursor, (2, 0, 10), &[10, -1, 33, 40]);
    let named = |name: &str, value| parameter(name, DataType::Int, Value::Int(value));
    let change = |operation, row, values: Vec<Parameter>| {
        let mut all = vec![int("", cursor), int("", operation), int("", row), text("t")];
        all.extend(values);
        all
    };
    // Of a row, of one that is gone, and of one that is not in the buffer.
    let answer = client.call(ProcedureId::Cursor, change(0x21, 3, vec![named("@n", 34)]));
    assert_eq!((numbers(&answer), answer.return_status()), (Vec::new(), Some(0)));
    let answer = client.call(ProcedureId::Cursor, change(0x22, 4, Vec::new()));
    assert_eq!(numbers(&answer), [0_i32; 0]);
    let answer = client.call(ProcedureId::Cursor, change(0x21, 2, vec![named("n", 0)]));
    assert_eq!(numbers(&answer), [16947]);
    let answer = client.call(ProcedureId::Cursor, change(0x21, 5, vec![named("n", 0)]));
    assert_eq!(numbers(&answer), [16930]);
    succeed(&mut client, "UPDATE t SET name = 'x' WHERE id = 1");
    let answer = client.call(ProcedureId::Cursor, change(0x21, 1, vec![named("n", 0)]));
    assert_eq!(numbers(&answer), [16934]);
    let answer = client.call(
        ProcedureId::Cursor,
        change(4, 0, vec![named("id", 11), named("n] = 1 --", 5)]),
    );
    assert_eq!(numbers(&answer), [207]);
    let answer = client.call(
        ProcedureId::Cursor,
        change(4, 0, vec![named("id", 11), named("n", 110)]),
    );
    assert_eq!(numbers(&answer), [0_i32; 0]);
    fetches(&mut client, cursor, (1, 0, 10), &[10, -1, 34, -1]);
    assert_eq!(client.int("SELECT SUM(n) FROM t WHERE id > 10"), 110);
    let cursor = opened(&mut client, "SELECT n FROM t", STATIC, OPTIMISTIC);
    fetches(&mut client, cursor, (2, 0, 1), &[10]);
    let answer = client.call(
        ProcedureId::Cursor,
        vec![int("", cursor), int("", 0x22), int("", 1), text("t")],
    );
    assert_eq!(numbers(&answer), [16929]);
}

#[test]
fn a_trigger_of_a_change_has_cursors_of_its_own() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE TRIGGER g ON t AFTER INSERT, UPDATE AS
         DECLARE c CURSOR LOCAL FOR SELECT n FROM t WHERE id = 1 FOR UPDATE
         OPEN c FETCH NEXT FROM c
         UPDATE t SET n = n + 1 WHERE CURRENT OF c",
    );
    let cursor = opened(&mut client, "SELECT n FROM t WHERE id < 5", KEYSET, OPTIMISTIC);
    fetches(&mut client, cursor, (2, 0, 10), &[10, 20, 30, 40]);
    let values = |operation, row| {
        let number = |name, value| parameter(name, DataType::Int, Value::Int(value));
        let mut all = vec![int("", cursor), int("", operation), int("", row), text("t")];
        all.extend(
            [number("n", 7)]
                .into_iter()
                .chain((operation == 4).then(|| number("id", 11))),
        );
        all
    };
    for (operation, row) in [(0x21, 3), (4, 2)] {
        let answer = client.call(ProcedureId::Cursor, values(operation, row));
        assert_eq!(numbers(&answer), [0_i32; 0], "{answer:?}");
    }
    let changed = succeed(&mut client, "SELECT n FROM t WHERE id IN (1, 2, 3, 11)");
    assert_eq!(shown(&changed), "12; 20; 7; 7");
}

#[test]
fn a_statement_with_parameters_is_prepared_and_executed() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    let sql = "SELECT id FROM t WHERE id > @a AND name <> @b ORDER BY n";
    let declared = "@a int, @b varchar(20)";
    let name = || parameter("", DataType::VarChar(Width::Limited(20)), Value::Text("n9".into()));
    let mut parameters = opening(sql, STATIC | PARAMETERIZED, READ_ONLY);
    parameters.extend([text(declared), int("", 6), name()]);
    let answer = client.call(ProcedureId::CursorOpen, parameters);
    assert_eq!(numbers(&answer), [0_i32; 0], "{answer:?}");
    fetches(&mut client, outs(&answer)[0], (2, 0, 9), &[7, 8, 10]);
    // As mssql-jdbc does.
    let prepared = client.call(
        ProcedureId::CursorPrepExec,
        vec![
            out(0),
            out(0),
            text(declared),
            text(sql),
            int("", KEYSET | PARAMETERIZED),
            int("", READ_ONLY | ALLOW_DIRECT),
            out(0),
            int("", 7),
            name(),
        ],
    );
    assert_eq!(numbers(&prepared), [0_i32; 0], "{prepared:?}");
    let [handle, cursor, count] = outs(&prepared)[..] else {
        panic!("{prepared:?}");
    };
    assert_eq!(count, 2);
    fetches(&mut client, cursor, (2, 0, 9), &[8, 10]);
    let executed = client.call(
        ProcedureId::CursorExecute,
        vec![
            int("", handle),
            out(0),
            int("", FAST_FORWARD),
            int("", READ_ONLY),
            out(0),
            int("", 9),
            name(),
        ],
    );
    let [other, count] = outs(&executed)[..] else {
        panic!("{executed:?}");
    };
    assert_eq!(count, 1);
    assert_ne!(other, cursor);
    fetches(&mut client, other, (2, 0, 9), &[10]);
    let executed = client.call(ProcedureId::Execute, vec![int("", handle), int("", 9), name()]);
    assert_eq!(numbers(&executed), [8179]);
    let released = client.call(ProcedureId::CursorUnprepare, vec![int("", handle)]);
    assert_eq!(released.return_status(), Some(0));
    let prepared = client.call(
        ProcedureId::CursorPrepare,
        vec![
            out(0),
            text(declared),
            text(sql),
            int("", 1),
            out(STATIC),
            out(READ_ONLY),
        ],
    );
    assert_eq!(numbers(&prepared), [0_i32; 0], "{prepared:?}");
    assert_eq!(prepared.return_status(), Some(0));
}

#[test]
fn what_is_no_query_is_run_or_refused() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    for sql in [
        "UPDATE t SET n = 0 WHERE id = 1",
        "SELECT 1 AS a; SELECT 2 AS b",
        "SELECT id INTO x FROM t",
        "SELECT id FROM t FOR JSON PATH",
    ] {
        assert_eq!(numbers(&open(&mut client, sql, STATIC, READ_ONLY)), [16937], "{sql}");
        let answer = open(&mut client, sql, STATIC, READ_ONLY | ALLOW_DIRECT);
        assert_eq!(numbers(&answer), [0_i32; 0], "{sql}");
        assert_eq!(outs(&answer)[0], 0, "{sql}");
    }
    assert_eq!(client.int("SELECT n FROM t WHERE id = 1"), 0);
    assert_eq!(
        numbers(&open(&mut client, "SELECT * FROM nothing", STATIC, READ_ONLY)),
        [208]
    );
    assert_eq!(numbers(&open(&mut client, "SELECT FROM", STATIC, READ_ONLY)), [156]);
    assert_eq!(
        numbers(&open(&mut client, "SELECT 1 / 0 AS a", STATIC, READ_ONLY)),
        [8134]
    );
    assert_eq!(numbers(&open(&mut client, "SELECT id FROM t", 3, READ_ONLY)), [16902]);
    // DYNAMIC is wanted alone, and is not to be had.
    let accepted = DYNAMIC | 0x8000 | 0x20000;
    let sql = "SELECT DISTINCT n FROM t";
    assert_eq!(numbers(&open(&mut client, sql, accepted, READ_ONLY)), [16955]);
    assert_eq!(
        numbers(&open(&mut client, sql, accepted | 0x80000, READ_ONLY)),
        [0_i32; 0]
    );
}

#[test]
fn rows_come_with_the_opening_if_the_client_asks_for_them() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    let fast = FAST_FORWARD | 0x2000 | 0x4000;
    let mut parameters = opening("SELECT id FROM t", fast, READ_ONLY);
    parameters[4] = out(4);
    let answer = client.call(ProcedureId::CursorOpen, parameters);
    assert_eq!(answer.rows().len(), 4, "{answer:?}");
    let [cursor, _, _, 4] = outs(&answer)[..] else {
        panic!("{answer:?}");
    };
    fetches(&mut client, cursor, (2, 0, 4), &[5, 6, 7, 8]);
    let answer = fetch(&mut client, cursor, 2, 0, 4);
    assert_eq!((answer.rows().len(), answer.return_status()), (2, Some(16)));
    assert_eq!(numbers(&fetch(&mut client, cursor, 2, 0, 4)), [16909]);
}

#[test]
fn a_cursor_gets_a_name_by_an_option() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    let cursor = opened(&mut client, "SELECT n FROM t", DYNAMIC, OPTIMISTIC);
    let named = client.call(
        ProcedureId::CursorOption,
        vec![int("", cursor), int("", 2), text("named")],
    );
    assert_eq!(named.return_status(), Some(0));
    fetches(&mut client, cursor, (2, 0, 2), &[10, 20]);
    succeed(&mut client, "UPDATE t SET n = 11 WHERE CURRENT OF named");
    assert_eq!(client.int("SELECT n FROM t WHERE id = 1"), 11);
    let refused = client.call(ProcedureId::CursorOption, vec![int("", cursor), int("", 1), int("", 1)]);
    assert_eq!(numbers(&refused), [40510]);
    let reset = client.batch_after_reset("SELECT 1");
    assert_eq!(numbers(&reset), [0_i32; 0]);
    assert_eq!(numbers(&fetch(&mut client, cursor, 2, 0, 1)), [16909]);
}
