//! A database that is pinned in a keyring file, whose master key is renewed while others have it
//! open. An environment variable names the file, so each test runs in its own process.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use rusqlite::Connection;
use selenite_cipher::DatabaseId;
use selenite_keyring::{Config, KeyError, Keyring, Unlocked, change, load_identity, os_random};
use selenite_testing::own_process::test_command;

use super::fixture::{Fixture, check, code};
use super::key_changes::apply;

/// The id, and the current commitment.
fn pinned(connection: &Connection) -> (DatabaseId, [u8; 32]) {
    let found = Arc::new(Mutex::new(None));
    let inside = found.clone();
    let refused = apply(connection, move |unlocked: &Unlocked| {
        *inside.lock().unwrap() = Some((unlocked.superblock.database_id, unlocked.master.commitment()));
        Err(KeyError::NotUnderWay)
    });
    assert_ne!(code(refused), 0);
    found.lock().unwrap().unwrap()
}

/// Renews the master key as the engine does: both commitments are pinned first, and the caller
/// removes the old one.
fn renew(connection: &Connection, fixture: &Fixture, keyring: &Path) -> (DatabaseId, [u8; 32]) {
    let spec = format!("raw:{}", fixture.path("raw.key").display());
    let keyring = keyring.to_owned();
    apply(connection, move |unlocked| {
        let own = load_identity(&spec, &Config::default())?.remove(0);
        let changed = change::renew_master(unlocked, &[own.as_ref()], 2, &mut os_random)?;
        let (id, old) = (unlocked.superblock.database_id, unlocked.master.commitment());
        Keyring::update(&keyring, |pins| {
            pins.expect(Path::new("a.db"), id, old, changed.report.commitment.unwrap());
            Ok(())
        })?;
        Ok(changed)
    })
    .unwrap();
    pinned(connection)
}

fn insert(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("UPDATE t SET name = name WHERE id % 9 = 0")
}

#[test]
fn a_connection_to_a_pinned_database_continues_after_its_master_key_was_renewed() {
    play("open");
}

#[test]
fn a_kill_before_the_old_commitment_is_dropped_leaves_a_pin_that_holds() {
    play("killed");
}

#[test]
fn another_master_key_than_those_that_are_pinned_is_refused() {
    play("foreign");
}

fn play(part: &str) {
    let folder = tempfile::tempdir().unwrap();
    let keyring = folder.path().join("keyring.toml");
    Keyring::update(&keyring, |_| Ok(())).unwrap();
    let played = test_command("databases::pins::child")
        .env("SELENITE_KEYRING", &keyring)
        .env(PART, part)
        .output()
        .unwrap();
    assert!(
        played.status.success(),
        "{}{}",
        String::from_utf8_lossy(&played.stdout),
        String::from_utf8_lossy(&played.stderr)
    );
}

#[test]
fn child() {
    let Ok(part) = std::env::var(PART) else { return };
    let keyring = PathBuf::from(std::env::var_os("SELENITE_KEYRING").unwrap());
    for mode in ["delete", "wal"] {
        let fixture = Fixture::new();
        fixture.filled("a.db", "");
        let one = fixture.open("a.db", "").unwrap();
        one.pragma_update(None, "journal_mode", mode).unwrap();
        let (id, old) = pinned(&one);
        Keyring::update(&keyring, |pins| pins.add(id, old)).unwrap();
        let [writer, reader] = [(), ()].map(|()| fixture.open("a.db", "").unwrap());
        check(&reader);
        insert(&writer).unwrap();
        let (_, new) = renew(&one, &fixture, &keyring);
        assert_ne!(new, old);
        match part.as_str() {
            "open" => {
                Keyring::update(&keyring, |pins| {
                    pins.replace(id, new);
                    Ok(())
                })
                .unwrap();
                insert(&writer).unwrap();
                check(&reader);
                insert(&reader).unwrap();
            }
            "killed" => {
                insert(&writer).unwrap();
                check(&fixture.open("a.db", "").unwrap());
            }
            _ => {
                Keyring::update(&keyring, |pins| {
                    pins.replace(id, old);
                    Ok(())
                })
                .unwrap();
                assert_ne!(code(insert(&writer)), 0, "{mode}");
                assert_ne!(code(fixture.open("a.db", "")), 0, "{mode}");
            }
        }
    }
}

const PART: &str = "SELENITE_TEST_PART";
