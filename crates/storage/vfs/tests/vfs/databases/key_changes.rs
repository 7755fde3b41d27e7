//! Changes of keys while other connections read and write.

use selenite_testing::own_process;
use std::fs;
use std::time::Duration;

use super::fixture::{Fixture, check, code, edit, fill};
use rusqlite::Connection;
use selenite_keyring::{Config, KeyError, Unlocked, change, epoch_change, load_identity, os_random};
use selenite_vfs::error::VfsError;

/// Changes keys as the engine does: the change is staged, and applied under SQLite's write lock.
pub fn apply(
    connection: &Connection,
    change: impl FnOnce(&Unlocked) -> Result<change::Change, KeyError> + Send + 'static,
) -> rusqlite::Result<()> {
    let token = selenite_vfs::change::stage(Box::new(move |unlocked| {
        let change = change(unlocked).map_err(VfsError::Key)?;
        Ok((change.unlocked, change.revokes_access))
    }));
    connection.execute_batch("BEGIN IMMEDIATE")?;
    let applied = connection.query_row("SELECT selenite_apply(?)", [token], |_| Ok(()));
    connection.execute_batch("COMMIT")?;
    applied
}

fn add(fixture: &Fixture, connection: &Connection, key: &str) {
    let spec = format!("raw:{}", fixture.path(key).display());
    apply(connection, move |unlocked| {
        let identity = load_identity(&spec, &Config::default())?.remove(0);
        change::add_slot(unlocked, identity.as_ref(), "second", 1, &mut os_random)
    })
    .unwrap();
}

fn remove_first(connection: &Connection) -> rusqlite::Result<()> {
    apply(connection, |unlocked| {
        change::remove_slot(unlocked, unlocked.superblock.slots[0].id)
    })
}

fn renew(connection: &Connection, fixture: &Fixture, key: &str) {
    let spec = format!("raw:{}", fixture.path(key).display());
    apply(connection, move |unlocked| {
        let identity = load_identity(&spec, &Config::default())?.remove(0);
        change::renew_master(unlocked, &[identity.as_ref()], 2, &mut os_random)
    })
    .unwrap();
}

#[test]
fn slots_are_added_and_removed_while_others_write() {
    own_process!();
    for mode in ["delete", "wal"] {
        let fixture = Fixture::new();
        fixture.write_key("second.key", 9);
        fixture.filled("a.db", "");
        let one = fixture.open("a.db", "").unwrap();
        one.pragma_update(None, "journal_mode", mode).unwrap();
        let other = fixture.open("a.db", "").unwrap();
        check(&other);
        add(&fixture, &one, "second.key");
        other
            .execute_batch("INSERT INTO t VALUES (1001, 'x', 'y'); DELETE FROM t WHERE id = 1001")
            .unwrap();
        check(&fixture.open_as("a.db", "second.key", "").unwrap());
        remove_first(&one).unwrap_or_else(|error| panic!("{error}: {}", Fixture::last_error()));
        drop((one, other));
        assert_ne!(code(fixture.open("a.db", "")), 0);
        let second = fixture.open_as("a.db", "second.key", "").unwrap();
        check(&second);
        assert_ne!(code(remove_first(&second)), 0, "the last slot was removed");
        check(&second);
    }
}

#[test]
fn a_renewed_master_key_is_adopted_by_open_connections() {
    own_process!();
    for mode in ["delete", "wal"] {
        let fixture = Fixture::new();
        fixture.filled("a.db", "");
        let one = fixture.open("a.db", "").unwrap();
        one.pragma_update(None, "journal_mode", mode).unwrap();
        let other = fixture.open("a.db", "").unwrap();
        check(&other);
        renew(&one, &fixture, "raw.key");
        other
            .execute_batch("INSERT INTO t VALUES (1001, 'x', 'y'); DELETE FROM t WHERE id = 1001")
            .unwrap();
        check(&one);
        check(&fixture.open("a.db", "").unwrap());
    }
}

fn generation(connection: &Connection) -> i64 {
    let sql = "SELECT value FROM selenite_status WHERE name = 'generation'";
    connection.query_row(sql, [], |row| row.get(0)).unwrap()
}

/// FORMAT 3.8. A writer checks the mark in the WAL index: it is set, and a change of keys changes
/// it.
#[test]
fn a_writer_of_a_log_sees_every_change_of_keys_before_it_seals() {
    own_process!();
    let fixture = Fixture::new();
    fixture.write_key("second.key", 9);
    let path = fixture.filled("a.db", "");
    let one = fixture.open("a.db", "").unwrap();
    one.pragma_update(None, "journal_mode", "wal").unwrap();
    let other = fixture.open("a.db", "").unwrap();
    let mark = || {
        let index = fs::read(path.with_file_name("a.db-shm")).unwrap();
        u32::from_ne_bytes(index[132..136].try_into().unwrap())
    };
    let write = |connection: &Connection| connection.execute_batch("BEGIN IMMEDIATE; COMMIT").unwrap();
    for change in 0..6 {
        write(&other);
        assert_eq!(i64::from(mark()), generation(&other), "no mark is left");
        let before = generation(&other);
        if change % 2 == 0 {
            add(&fixture, &one, "second.key");
        } else {
            renew(&one, &fixture, "raw.key");
        }
        assert_eq!(i64::from(mark()), generation(&one), "the mark outlives the keys");
        assert_ne!(i64::from(mark()), before);
        write(&other);
        // The writer has set it: querying the generation first would make this connection read the
        // superblock.
        assert_eq!(i64::from(mark()), generation(&one));
        assert!(generation(&one) > before);
    }
}

/// DESIGN: a change that removes access is in both copies before it is reported, so damage to one
/// copy restores nothing.
#[test]
fn a_restored_superblock_copy_does_not_restore_a_removed_slot() {
    own_process!();
    let fixture = Fixture::new();
    fixture.write_key("second.key", 9);
    let path = fixture.filled("a.db", "");
    let one = fixture.open("a.db", "").unwrap();
    add(&fixture, &one, "second.key");
    let before = fs::read(&path).unwrap();
    remove_first(&one).unwrap();
    drop(one);
    let after = fs::read(&path).unwrap();
    for place in [0..32768, 32768..65536] {
        edit(&path, |bytes| {
            bytes[place.clone()].copy_from_slice(&before[place.clone()])
        });
        assert_ne!(code(fixture.open("a.db", "")), 0, "{place:?} put back");
        check(&fixture.open_as("a.db", "second.key", "").unwrap());
        fs::write(&path, &after).unwrap();
        edit(&path, |bytes| bytes[place.start + 40] ^= 1);
        assert_ne!(code(fixture.open("a.db", "")), 0, "{place:?} damaged");
        check(&fixture.open_as("a.db", "second.key", "").unwrap());
        fs::write(&path, &after).unwrap();
    }
}

#[test]
fn keys_are_not_changed_without_the_write_lock() {
    own_process!();
    let fixture = Fixture::new();
    fixture.filled("a.db", "");
    let one = fixture.open("a.db", "").unwrap();
    let token = selenite_vfs::change::stage(Box::new(|_| unreachable!("applied without a lock")));
    assert_ne!(code(one.query_row("SELECT selenite_apply(?)", [token], |_| Ok(()))), 0);
    assert_ne!(
        code(one.query_row("SELECT selenite_apply(?)", [token], |_| Ok(()))),
        0,
        "a token serves once"
    );
}

/// In plain SQL, BEGIN IMMEDIATE must not be enough to make a live database unreadable.
#[test]
fn a_file_is_retired_under_the_exclusive_lock_only() {
    own_process!();
    for mode in ["delete", "wal"] {
        let fixture = Fixture::new();
        fixture.filled("a.db", "");
        let one = fixture.open("a.db", "").unwrap();
        one.pragma_update(None, "journal_mode", mode).unwrap();
        for begin in ["BEGIN", "BEGIN IMMEDIATE"] {
            one.execute_batch(begin).unwrap();
            assert_ne!(
                code(one.execute_batch("SELECT selenite_retire('main')")),
                0,
                "{mode}, {begin}"
            );
            one.execute_batch("ROLLBACK").unwrap();
        }
        check(&one);
        check(&fixture.open("a.db", "").unwrap());
    }
}

#[test]
fn a_retired_file_is_refused_by_connections_that_have_it_open() {
    own_process!();
    let fixture = Fixture::new();
    fixture.filled("a.db", "");
    let left_behind = fixture.open("a.db", "").unwrap();
    check(&left_behind);
    let one = fixture.open("a.db", "").unwrap();
    one.execute_batch("BEGIN EXCLUSIVE; SELECT selenite_retire('main'); COMMIT")
        .unwrap();
    assert_ne!(code(left_behind.query_row("SELECT count(*) FROM t", [], |_| Ok(()))), 0);
    assert!(
        Fixture::last_error().contains("replaced by another"),
        "{}",
        Fixture::last_error()
    );
    assert_ne!(code(fixture.open("a.db", "")), 0);
}

#[test]
fn a_retired_plain_file_is_refused_by_every_sqlite() {
    own_process!();
    let fixture = Fixture::new();
    let stock = Connection::open(fixture.path("plain.db")).unwrap();
    fill(&stock);
    drop(stock);
    let before = fs::read(fixture.path("plain.db")).unwrap();
    let one = fixture.open("plain.db", "&plain=allow").unwrap();
    one.execute_batch("BEGIN EXCLUSIVE; SELECT selenite_retire('main'); COMMIT")
        .unwrap();
    drop(one);
    let after = fs::read(fixture.path("plain.db")).unwrap();
    // Those of rollback mode, and what says that they are retired (FORMAT 3.14).
    assert_eq!(after[18..20], [1 + 253, 1 + 253]);
    assert_ne!(
        after[24..28],
        before[24..28],
        "who has it open does not look at its header again"
    );
    let stock = Connection::open(fixture.path("plain.db")).unwrap();
    assert_ne!(code(stock.query_row("SELECT count(*) FROM t", [], |_| Ok(()))), 0);
}

/// The result of a read with a slot's key, on a connection that stays open.
fn count(connection: &Connection) -> i32 {
    code(connection.query_row("SELECT count(*) FROM t", [], |_| Ok(())))
}

fn write(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("UPDATE t SET name = name || '.' WHERE id = 7")
}

fn revoke_slot(fixture: &Fixture, connection: &Connection, renews: bool) {
    if renews {
        renew(connection, fixture, "second.key");
    } else {
        remove_first(connection).unwrap();
    }
}

#[test]
fn a_key_without_a_slot_reads_nothing_from_the_next_transaction_on() {
    own_process!();
    for mode in ["delete", "truncate", "persist", "wal"] {
        for renews in [false, true] {
            let fixture = Fixture::new();
            fixture.write_key("second.key", 9);
            fixture.filled("a.db", "");
            let reader = fixture.open("a.db", "").unwrap();
            reader.pragma_update(None, "journal_mode", mode).unwrap();
            add(&fixture, &reader, "second.key");
            let other = fixture.open_as("a.db", "second.key", "").unwrap();
            check(&reader);
            reader.execute_batch("BEGIN").unwrap();
            assert_eq!(count(&reader), 0);
            if mode == "wal" {
                revoke_slot(&fixture, &other, renews);
                assert_eq!(count(&reader), 0, "the transaction that is open goes on");
                reader.execute_batch("COMMIT").unwrap();
            } else {
                reader.execute_batch("COMMIT").unwrap();
                revoke_slot(&fixture, &other, renews);
            }
            for _ in 0..2 {
                assert_ne!(count(&reader), 0, "{mode}, renewed: {renews}");
            }
            assert_ne!(code(write(&reader)), 0);
            check(&other);
            write(&other).unwrap();
            check(&other);
            assert_ne!(count(&reader), 0, "{mode}, renewed: {renews}, after a writer");
        }
    }
}

#[test]
fn a_key_with_a_slot_still_reads_after_each_change() {
    own_process!();
    for mode in ["delete", "wal"] {
        let fixture = Fixture::new();
        fixture.write_key("second.key", 9);
        fixture.filled("a.db", "");
        let one = fixture.open("a.db", "").unwrap();
        one.pragma_update(None, "journal_mode", mode).unwrap();
        let reader = fixture.open("a.db", "").unwrap();
        check(&reader);
        add(&fixture, &one, "second.key");
        check(&reader);
        write(&one).unwrap();
        check(&reader);
        apply(&one, |unlocked| {
            let suite = unlocked.superblock.epochs[0].suite;
            epoch_change::begin(unlocked, suite, 1, &mut os_random)
        })
        .unwrap();
        check(&reader);
        write(&one).unwrap();
        check(&reader);
    }
}

/// A connection in exclusive mode blocks all other changes of keys, makes its own, and then admits
/// others again.
#[test]
fn keys_are_changed_in_exclusive_locking_mode_by_who_holds_it_alone() {
    own_process!();
    const BUSY: i32 = 5;
    for mode in ["delete", "truncate", "persist", "wal"] {
        for is_exclusive_first in [false, true] {
            let fixture = Fixture::new();
            fixture.filled("a.db", "");
            let one = fixture.open("a.db", "").unwrap();
            let exclusive = |one: &Connection| one.execute_batch("PRAGMA locking_mode = exclusive").unwrap();
            if is_exclusive_first {
                exclusive(&one);
            }
            one.pragma_update(None, "journal_mode", mode).unwrap();
            exclusive(&one);
            let write = "INSERT INTO t VALUES (1001, 'x', 'y'); DELETE FROM t WHERE id = 1001";
            one.execute_batch(write).unwrap();
            let before = generation(&one);
            if let Ok(other) = fixture.open("a.db", "") {
                other.busy_timeout(Duration::ZERO).unwrap();
                let token = apply(&other, |unlocked| {
                    change::remove_slot(unlocked, unlocked.superblock.slots[0].id)
                });
                assert_eq!(code(token) & 0xff, BUSY, "{mode}");
            }
            assert_eq!(generation(&one), before);
            // Its own change: it continues under the new keys, and so do later connections.
            renew(&one, &fixture, "raw.key");
            assert!(generation(&one) > before);
            one.execute_batch(write).unwrap();
            check(&one);
            // In WAL mode SQLite keeps the lock until it leaves that mode; this is also so without
            // encryption.
            if mode == "wal" {
                one.pragma_update(None, "journal_mode", "delete").unwrap();
            }
            one.pragma_update(None, "locking_mode", "normal").unwrap();
            check(&one);
            let other = fixture.open("a.db", "").unwrap();
            check(&other);
            let between = generation(&other);
            renew(&other, &fixture, "raw.key");
            one.execute_batch(write).unwrap();
            assert!(generation(&one) > between, "{mode}");
            check(&one);
            drop((one, other));
            check(&fixture.open("a.db", "").unwrap());
        }
    }
}

/// If the slot is removed first, a connection that takes exclusive access is refused at its next
/// transaction.
#[test]
fn a_key_without_a_slot_gets_no_exclusive_lock() {
    own_process!();
    for mode in ["delete", "wal"] {
        let fixture = Fixture::new();
        fixture.write_key("second.key", 9);
        fixture.filled("a.db", "");
        let one = fixture.open("a.db", "").unwrap();
        one.pragma_update(None, "journal_mode", mode).unwrap();
        add(&fixture, &one, "second.key");
        let second = fixture.open_as("a.db", "second.key", "").unwrap();
        check(&second);
        remove_first(&second).unwrap();
        one.execute_batch("PRAGMA locking_mode = exclusive").unwrap();
        assert_ne!(
            code(one.execute_batch("BEGIN EXCLUSIVE; SELECT count(*) FROM t")),
            0,
            "{mode}"
        );
        drop(one);
        check(&second);
    }
}
