//! ATTENTION: what it ends, how it is answered, and what is left.

use selenite_tds::{Done, DoneKind};
use selenite_types::Value;

use super::client::{Answer, Client};
use super::fixture::Fixture;

/// Ten rows in each of twelve tables: 10^12 in all, which SQLite counts one by one.
const ENDLESS_SELECT: &str = "SELECT COUNT(*) FROM t a, t b, t c, t d, t e, t f, t g, t h, t i, t j, t k, t l \
    WHERE a.n + b.n + c.n + d.n + e.n + f.n + g.n + h.n + i.n + j.n + k.n + l.n < 0";
const ENDLESS_LOOP: &str = "DECLARE @i bigint = 0 WHILE @i < 1000000000000 SET @i = @i + 1";

/// A table of ten rows in a database of its own.
fn ten_rows(client: &mut Client) {
    let made = client.batch("CREATE DATABASE ten");
    assert_eq!(made.errors(), []);
    let filled = client.batch(
        "USE ten CREATE TABLE t (n int NOT NULL) \
         INSERT INTO t VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)",
    );
    assert_eq!(filled.errors(), []);
}

/// What answers a cancelled request: its own answer, which ends well-formed, and a message with nothing but the
/// ATTENTION's DONE.
fn two_messages(client: &mut Client) -> Answer {
    let first = client.answer().unwrap();
    let statuses = first.statuses();
    assert_eq!(
        statuses.last(),
        Some(&(DoneKind::Statement, Done::FINAL, 0)),
        "{statuses:?}"
    );
    let second = client.answer().unwrap();
    assert_eq!(second.statuses(), [(DoneKind::Statement, Done::ATTENTION, 0)]);
    assert_eq!(second.0.len(), 1);
    first
}

#[test]
fn a_cancelled_request_is_answered_before_its_attention() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    client.ask("SELECT 5 WAITFOR DELAY '01:00:00' SELECT 6");
    client.cancel();
    // What came before the wait may or may not have been sent.
    let first = two_messages(&mut client);
    assert!(
        first.rows().is_empty() || first.rows() == [[Value::Int(5)]],
        "{first:?}"
    );
    assert_eq!(client.int("SELECT 7"), 7);
    client.ask(ENDLESS_LOOP);
    client.cancel();
    two_messages(&mut client);
    assert_eq!(client.int("SELECT 7"), 7);
}

#[test]
fn an_attention_ends_a_statement_within_sqlite() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    ten_rows(&mut client);
    for _ in 0..3 {
        client.ask(ENDLESS_SELECT);
        client.cancel();
        let first = two_messages(&mut client);
        assert_eq!((first.errors(), first.rows()), (vec![], vec![]));
        assert_eq!(client.int("SELECT COUNT(*) FROM t"), 10);
    }
}

#[test]
fn an_attention_ends_a_statement_that_sends_rows() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    ten_rows(&mut client);
    client.ask("SELECT a.n FROM t a, t b, t c, t d, t e, t f, t g, t h, t i, t j, t k, t l");
    client.cancel();
    let first = two_messages(&mut client);
    assert_eq!(first.errors(), []);
    assert_eq!(client.int("SELECT COUNT(*) FROM t"), 10);
}

#[test]
fn a_change_that_an_attention_ends_is_undone() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    ten_rows(&mut client);
    client.ask("INSERT INTO t SELECT a.n FROM t a, t b, t c, t d, t e, t f, t g, t h, t i, t j, t k, t l");
    client.cancel();
    two_messages(&mut client);
    assert_eq!(client.int("SELECT COUNT(*) FROM t"), 10);
    // A transaction outlives it, with what was done before.
    client.batch("BEGIN TRANSACTION INSERT INTO t VALUES (10)");
    client.ask("INSERT INTO t SELECT a.n FROM t a, t b, t c, t d, t e, t f, t g, t h, t i, t j, t k, t l");
    client.cancel();
    two_messages(&mut client);
    assert_eq!(client.int("SELECT @@TRANCOUNT"), 1);
    assert_eq!(client.int("SELECT COUNT(*) FROM t"), 11);
    client.batch("ROLLBACK");
    assert_eq!(client.int("SELECT COUNT(*) FROM t"), 10);
}

#[test]
fn an_attention_ends_the_wait_for_a_lock() {
    let fixture = Fixture::new();
    let mut holder = fixture.client();
    ten_rows(&mut holder);
    assert_eq!(
        holder
            .batch("BEGIN TRANSACTION UPDATE t SET n = 11 WHERE n = 1")
            .errors(),
        []
    );
    let mut waiting = fixture.client();
    waiting.batch("USE ten");
    waiting.ask("UPDATE t SET n = 12 WHERE n = 1");
    waiting.cancel();
    two_messages(&mut waiting);
    assert_eq!(holder.batch("COMMIT").errors(), []);
    // A session that was stopped holds no place in the queue, and changed nothing.
    assert_eq!(holder.int("SELECT COUNT(*) FROM t WHERE n = 11"), 1);
    assert_eq!(waiting.batch("UPDATE t SET n = 12 WHERE n = 11").errors(), []);
}

#[test]
fn an_attention_of_a_client_that_did_not_read_is_answered_behind_what_was_sent() {
    let fixture = Fixture::new();
    let mut other = fixture.client();
    let mut deaf = fixture.client();
    deaf.ask(ENDLESS_LOOP);
    let registry = fixture.running.instance().registry();
    let sent = || registry.session(52).unwrap().traffic();
    // Until the buffers of both ends are full.
    let mut before = sent();
    loop {
        assert_eq!(
            other.int("DECLARE @i int = 0 WHILE @i < 20000 SET @i += 1 SELECT @i"),
            20_000
        );
        let now = sent();
        if now == before && now.packets_written > 0 {
            break;
        }
        before = now;
    }
    deaf.cancel();
    two_messages(&mut deaf);
    assert_eq!(deaf.int("SELECT 7"), 7);
}

#[test]
fn a_call_that_is_cancelled_is_answered_as_a_batch_is() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    let call = vec![super::client::text("WAITFOR DELAY '01:00:00'")];
    client.ask_call(selenite_tds::ProcedureId::ExecuteSql, call);
    client.cancel();
    two_messages(&mut client);
    assert_eq!(client.int("SELECT 7"), 7);
}

#[test]
fn a_second_attention_is_answered_too() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    client.ask("WAITFOR DELAY '01:00:00'");
    client.cancel();
    client.cancel();
    two_messages(&mut client);
    let second = client.answer().unwrap();
    assert_eq!(second.statuses(), [(DoneKind::Statement, Done::ATTENTION, 0)]);
    assert_eq!(client.int("SELECT 7"), 7);
}

/// A table of 100,000 rows beside a transaction that has written one.
fn many_rows_within_a_transaction(client: &mut Client) {
    ten_rows(client);
    let filled = client.batch(
        "CREATE TABLE big (id int NOT NULL PRIMARY KEY, n int NOT NULL, m int NULL) \
         INSERT INTO big SELECT a.n + 10 * b.n + 100 * c.n + 1000 * d.n + 10000 * e.n, 1, NULL FROM t a, t b, t c, t d, t e \
         BEGIN TRANSACTION INSERT INTO t VALUES (10)",
    );
    assert_eq!(filled.errors(), []);
}

/// ATTENTION cancels a change within a transaction: the change is undone, and earlier changes are kept.
#[track_caller]
fn is_undone_alone(client: &mut Client, change: &str) {
    // On a busy machine the change may be done before the ATTENTION comes.
    let mut is_cancelled = false;
    for _ in 0..20 {
        client.ask(change);
        client.cancel();
        let first = client.answer().unwrap();
        let second = client.answer().unwrap();
        assert_eq!(second.statuses(), [(DoneKind::Statement, Done::ATTENTION, 0)]);
        is_cancelled = first.statuses().last() == Some(&(DoneKind::Statement, Done::FINAL, 0));
        if is_cancelled {
            break;
        }
        let restored = client.batch("ROLLBACK BEGIN TRANSACTION INSERT INTO t VALUES (10)");
        assert_eq!(restored.errors(), []);
    }
    assert!(is_cancelled, "{change}");
    let left =
        client.batch("SELECT @@TRANCOUNT SELECT COUNT(*) FROM t SELECT SUM(n) FROM big SELECT COUNT(m) FROM big");
    assert_eq!(left.errors(), [], "{change}");
    let wanted = [
        [Value::Int(1)],
        [Value::Int(11)],
        [Value::Int(100_000)],
        [Value::Int(0)],
    ];
    assert_eq!(left.rows(), wanted, "{change}");
}

#[test]
fn a_transaction_outlives_a_change_that_an_attention_ends() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    many_rows_within_a_transaction(&mut client);
    // One statement of SQLite's, without and with a condition; row by row; at once, by a list of rows.
    is_undone_alone(&mut client, "UPDATE big SET n = n + 1");
    is_undone_alone(&mut client, "UPDATE big SET m = 1 WHERE n > 0");
    is_undone_alone(&mut client, "UPDATE big SET id = id + 1");
    is_undone_alone(&mut client, "UPDATE big SET n = 2 OUTPUT inserted.id");
    is_undone_alone(&mut client, "DELETE FROM big WHERE id >= 0 AND n < 5");
    is_undone_alone(&mut client, "DELETE b FROM big b JOIN t ON t.n = b.n");
    is_undone_alone(&mut client, "INSERT INTO big SELECT id + 100000, 1, NULL FROM big");
    assert_eq!(client.batch("COMMIT").errors(), []);
    assert_eq!(client.int("SELECT COUNT(*) FROM t"), 11);
}

#[test]
fn xact_abort_takes_the_transaction_along() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    many_rows_within_a_transaction(&mut client);
    client.batch("SET XACT_ABORT ON");
    client.ask("UPDATE big SET n = n + 1");
    client.cancel();
    two_messages(&mut client);
    assert_eq!(client.int("SELECT @@TRANCOUNT"), 0);
    assert_eq!(client.int("SELECT COUNT(*) FROM t"), 10);
}

#[test]
fn a_query_within_a_change_is_interrupted_all_the_same() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    many_rows_within_a_transaction(&mut client);
    client.ask(&format!("DELETE FROM big WHERE n = ({ENDLESS_SELECT})"));
    client.cancel();
    two_messages(&mut client);
    // SQLite has rolled all back: nothing is done any more until the client has been told.
    let next = client.batch("SELECT COUNT(*) FROM t");
    let errors: Vec<i32> = next.errors().iter().map(|(number, _)| *number).collect();
    assert!(errors.is_empty() || errors == [3998], "{next:?}");
    client.batch("IF @@TRANCOUNT > 0 ROLLBACK");
    assert_eq!(client.int("SELECT COUNT(*) FROM t"), 10);
    assert_eq!(client.int("SELECT COUNT(*) FROM big"), 100_000);
}
