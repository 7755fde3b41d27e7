//! sp_getapplock and sp_releaseapplock.

use selenite_types::Value;

use super::client::{Client, numbers, succeed};
use super::fixture::Fixture;

/// What sp_getapplock returns.
fn take(client: &mut Client, arguments: &str) -> i32 {
    client.int(&format!("DECLARE @r int EXEC @r = sp_getapplock {arguments} SELECT @r"))
}

#[test]
fn a_sessions_lock_is_held_until_it_is_released() {
    let fixture = Fixture::new();
    let (mut first, mut second) = (fixture.client(), fixture.client());
    assert_eq!(take(&mut first, "'a', 'Exclusive', 'Session'"), 0);
    assert_eq!(
        take(
            &mut second,
            "@Resource = 'a', @LockMode = 'Shared', @LockOwner = 'Session', @LockTimeout = 0"
        ),
        -1
    );
    // Another name, in the eyes of a lock.
    assert_eq!(take(&mut second, "'A', 'Shared', 'Session', 0"), 0);
    let seen = "SELECT CONCAT(resource_description, request_mode, request_status, request_owner_type) FROM \
                sys.dm_tran_locks WHERE resource_type = 'APPLICATION' AND request_mode = 'X'";
    assert_eq!(first.value(seen), Value::Text("0:[a]XGRANTSESSION".into()));
    let asked =
        "SELECT CONCAT(APPLOCK_MODE('public', 'a', 'Session'), APPLOCK_TEST('public', 'a', 'Shared', 'Session'))";
    assert_eq!(first.value(asked), Value::Text("Exclusive1".into()));
    assert_eq!(second.value(asked), Value::Text("NoLock0".into()));
    succeed(&mut first, "EXEC sp_releaseapplock 'a', 'Session'");
    assert_eq!(numbers(&first.batch("EXEC sp_releaseapplock 'a', 'Session'")), [1223]);
    assert_eq!(take(&mut second, "'a', 'Exclusive', 'Session', 0"), 0);
    drop(second);
    // It goes with its session; 1 says that there was a wait.
    let waited = take(&mut first, "'a', 'Exclusive', 'Session'");
    assert!((0..=1).contains(&waited), "{waited}");
}

#[test]
fn a_transactions_lock_ends_with_it() {
    let fixture = Fixture::new();
    let (mut first, mut second) = (fixture.client(), fixture.client());
    assert_eq!(numbers(&first.batch("EXEC sp_getapplock 'a', 'Exclusive'")), [3918]);
    for end in ["COMMIT", "ROLLBACK"] {
        succeed(&mut first, "BEGIN TRAN");
        assert_eq!(take(&mut first, "'a', 'Exclusive'"), 0);
        succeed(&mut first, "SAVE TRAN s ROLLBACK TRAN s");
        succeed(&mut second, "BEGIN TRAN");
        assert_eq!(take(&mut second, "'a', 'Shared', 'Transaction', 10"), -1);
        succeed(&mut first, end);
        assert_eq!(take(&mut second, "'a', 'Shared', 'Transaction', 0"), 0);
        succeed(&mut second, end);
    }
}

#[test]
fn who_completes_a_cycle_is_its_victim() {
    let fixture = Fixture::new();
    let (mut first, mut second) = (fixture.client(), fixture.client());
    succeed(&mut first, "CREATE DATABASE d");
    succeed(&mut first, "USE d CREATE TABLE t (a int)");
    succeed(&mut second, "USE d");
    succeed(&mut first, "BEGIN TRAN INSERT t VALUES (1)");
    assert_eq!(take(&mut second, "'a', 'Exclusive', 'Session'"), 0);
    second.ask("INSERT t VALUES (2)");
    // The second waits for the first's place in the queue of writers.
    let waits = "SELECT COUNT(*) FROM sys.dm_tran_locks WHERE resource_type = 'DATABASE' AND request_status = 'WAIT'";
    while first.int(waits) == 0 {}
    assert_eq!(take(&mut first, "'a', 'Exclusive'"), -3);
    succeed(&mut first, "ROLLBACK");
    assert_eq!(second.answer().unwrap().errors(), []);
}

#[test]
fn what_is_no_lock_is_an_error() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    for (number, arguments) in [
        (1224, "NULL, 'Shared', 'Session'"),
        (1225, "'a', 'Much', 'Session'"),
        (1226, "'a', 'Shared', 'Nobody'"),
        (1227, "'a', 'Shared', 'Session', -5"),
        (1230, "'a', 'Shared', 'Session', 0, 'nobody'"),
    ] {
        assert_eq!(
            numbers(&client.batch(&format!("EXEC sp_getapplock {arguments}"))),
            [number],
            "{arguments}"
        );
    }
    for (number, arguments) in [
        (1226, "'public', 'a', 'Nobody'"),
        (3918, "'public', 'a', 'Transaction'"),
    ] {
        let answer = client.batch(&format!("SELECT APPLOCK_MODE({arguments})"));
        assert_eq!(numbers(&answer), [number], "{arguments}");
    }
}
