//! Key slots: which identities can open a database.

use selenite::reencrypt::{Goal, Reencrypt, reencrypt};
use selenite::storage::Disk;
use selenite::{Class, Database, EngineError, Layout, PageSize, Watch, keys, status};

use crate::support::{Fixture, query};

const NOTES: &str = "CREATE TABLE note (a); INSERT INTO note VALUES ('x'), ('y');";

fn made(fixture: &Fixture) -> std::path::PathBuf {
    let path = fixture.path("app.db");
    let database = Database::create(&Disk, &path, &fixture.access(), &Layout::default()).unwrap();
    database.run(NOTES, &mut crate::support::Collected::default()).unwrap();
    path
}

fn opens(fixture: &Fixture, path: &std::path::Path, key: &str) -> bool {
    match query(path, &fixture.access_by(key), "SELECT * FROM note") {
        Ok(rows) => {
            assert_eq!(rows.len(), 2);
            true
        }
        Err(error) => {
            assert_eq!(error.class(), Class::Key, "{error}");
            assert!(!error.advice().is_empty());
            false
        }
    }
}

#[test]
fn a_new_slot_opens_the_database_and_a_removed_one_does_not() {
    let fixture = Fixture::new();
    let path = made(&fixture);
    assert!(opens(&fixture, &path, "key") && !opens(&fixture, &path, "other-key"));

    let added = keys::add(&Disk, &path, &fixture.access(), &fixture.spec("other-key"), "the other").unwrap();
    let new = added.report.added[0].clone();
    assert!(opens(&fixture, &path, "key") && opens(&fixture, &path, "other-key"));
    let list = keys::list(&Disk, &path).unwrap();
    assert_eq!((list.slots.len(), list.slots[1].label.as_str()), (2, "the other"));
    let again = keys::add(&Disk, &path, &fixture.access(), &fixture.spec("other-key"), "");
    assert!(matches!(again, Err(EngineError::Usage { .. })), "{again:?}");

    let old = list.slots[0].id.to_string();
    keys::remove(&Disk, &path, &fixture.access_by("other-key"), &old[..8], true).unwrap();
    assert!(!opens(&fixture, &path, "key") && opens(&fixture, &path, "other-key"));
    let last = keys::remove(&Disk, &path, &fixture.access_by("other-key"), &new.id.to_string(), true);
    assert_eq!(last.unwrap_err().class(), Class::Other, "no one could open it any more");

    keys::replace(
        &Disk,
        &path,
        &fixture.access_by("other-key"),
        &new.id.to_string(),
        &fixture.spec("key"),
        "",
    )
    .unwrap();
    assert!(opens(&fixture, &path, "key") && !opens(&fixture, &path, "other-key"));
}

#[test]
fn keys_change_in_wal_mode_while_others_read() {
    let fixture = Fixture::new();
    let path = made(&fixture);
    let access = fixture.access();
    query(&path, &access, "PRAGMA journal_mode = WAL").unwrap();
    let reader = Database::open(&Disk, &path, &access).unwrap();
    let mut rows = crate::support::Collected::default();
    reader.run("BEGIN; SELECT * FROM note", &mut rows).unwrap();
    keys::add(&Disk, &path, &access, &fixture.spec("other-key"), "").unwrap();
    reader
        .run("SELECT * FROM note; COMMIT; INSERT INTO note VALUES ('z')", &mut rows)
        .unwrap();
    assert_eq!(
        query(&path, &fixture.access_by("other-key"), "SELECT * FROM note")
            .unwrap()
            .len(),
        3
    );
}

#[test]
fn keys_change_in_rollback_mode_while_others_read() {
    let fixture = Fixture::new();
    let path = made(&fixture);
    let access = fixture.access();
    let reader = Database::open(&Disk, &path, &access).unwrap();
    let mut rows = crate::support::Collected::default();
    reader
        .run("BEGIN IMMEDIATE; ROLLBACK; BEGIN; SELECT * FROM note", &mut rows)
        .unwrap();
    keys::add(&Disk, &path, &access, &fixture.spec("other-key"), "").unwrap();
    reader
        .run("SELECT * FROM note; COMMIT; INSERT INTO note VALUES ('z')", &mut rows)
        .unwrap();
    assert_eq!(
        query(&path, &fixture.access_by("other-key"), "SELECT * FROM note")
            .unwrap()
            .len(),
        3
    );
}

#[test]
fn a_writer_makes_a_change_of_keys_wait_and_then_busy() {
    let fixture = Fixture::new();
    let path = made(&fixture);
    let writer = Database::open(&Disk, &path, &fixture.access()).unwrap();
    writer
        .run("BEGIN IMMEDIATE", &mut crate::support::Collected::default())
        .unwrap();
    let busy = keys::add(&Disk, &path, &fixture.access(), &fixture.spec("other-key"), "");
    assert!(matches!(busy, Err(EngineError::Busy { .. })), "{busy:?}");
}

#[test]
fn renewing_drops_no_slot_without_consent() {
    let fixture = Fixture::new();
    let path = made(&fixture);
    let access = fixture.access();
    keys::add(&Disk, &path, &access, &fixture.spec("other-key"), "").unwrap();
    let before = generation(&fixture, &path);

    let refused = keys::renew(&Disk, &path, &access, &[], false);
    assert!(matches!(refused, Err(EngineError::WouldDrop { .. })), "{refused:?}");
    assert_eq!(generation(&fixture, &path), before, "nothing was written");

    let renewed = keys::renew(&Disk, &path, &access, &[fixture.spec("other-key")], false).unwrap();
    assert_eq!(renewed.report.rewrapped.len(), 2);
    // A renewed master key revokes rights: both superblocks are written.
    assert_eq!(generation(&fixture, &path), before + 2);
    assert!(opens(&fixture, &path, "key") && opens(&fixture, &path, "other-key"));

    let dropped = keys::renew(&Disk, &path, &access, &[], true).unwrap();
    assert_eq!(dropped.report.dropped.len(), 1);
    assert!(opens(&fixture, &path, "key") && !opens(&fixture, &path, "other-key"));
}

fn generation(fixture: &Fixture, path: &std::path::Path) -> u64 {
    status(&Disk, path, &fixture.access())
        .unwrap()
        .sealed
        .unwrap()
        .generation
}

#[test]
fn status_without_a_key_has_the_unauthenticated_superblock() {
    let fixture = Fixture::new();
    let path = fixture.path("app.db");
    let layout = Layout {
        page_size: PageSize::MIN,
        ..Layout::default()
    };
    drop(Database::create(&Disk, &path, &fixture.access(), &layout).unwrap());
    let with = status(&Disk, &path, &fixture.access()).unwrap().sealed.unwrap();
    assert!(with.authentic && with.opened_by.is_some());
    assert_eq!(
        (with.page_size, with.suite, with.state_word()),
        (1024, "AES_256", "steady")
    );
    assert_eq!(with.page_count, 1);
    let without = status(&Disk, &path, &fixture.access_by("other-key"))
        .unwrap()
        .sealed
        .unwrap();
    assert!(!without.authentic && without.why_not.is_some());
    assert_eq!((without.database_id, without.slots), (with.database_id, with.slots));
}

#[test]
fn a_new_database_is_made_once() {
    let fixture = Fixture::new();
    let path = made(&fixture);
    let again = Database::create(&Disk, &path, &fixture.access(), &Layout::default());
    assert!(matches!(again.err().unwrap(), EngineError::Exists { .. }));
    assert!(opens(&fixture, &path, "key"));
}

/// FORMAT 3.7: a removal, a new master key and the end of a new data key, each interrupted between
/// its two writes.
#[test]
fn an_interrupted_change_is_reported_and_finished_by_resuming() {
    type Change = fn(&Fixture, &std::path::Path);
    let changes: [Change; 3] = [
        |fixture, path| {
            let slot = keys::list(&Disk, path).unwrap().slots[1].id.to_string();
            keys::remove(&Disk, path, &fixture.access(), &slot, true).unwrap();
        },
        |fixture, path| {
            keys::renew(&Disk, path, &fixture.access(), &[fixture.spec("other-key")], false).unwrap();
        },
        |fixture, path| {
            let how = Reencrypt::default();
            reencrypt(&Disk, path, &fixture.access(), &how, &Watch::none()).unwrap();
        },
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let fixture = Fixture::new();
        let path = made(&fixture);
        keys::add(&Disk, &path, &fixture.access(), &fixture.spec("other-key"), "").unwrap();
        let before = std::fs::read(&path).unwrap();
        change(&fixture, &path);
        let found = || status(&Disk, &path, &fixture.access()).unwrap().sealed.unwrap();
        assert!(!found().superblocks.keeps_dropped);

        // The second write is the one with the higher generation: it is replaced by what was there
        // before the change.
        let mut bytes = std::fs::read(&path).unwrap();
        let generation = |at: usize| u64::from_be_bytes(bytes[at + 32..at + 40].try_into().unwrap());
        let (older, newer) = if generation(0) < generation(32768) {
            (0, 32768)
        } else {
            (32768, 0)
        };
        assert_eq!(generation(older) + 1, generation(newer));
        bytes[newer..newer + 32768].copy_from_slice(&before[newer..newer + 32768]);
        std::fs::write(&path, bytes).unwrap();
        let cut = found();
        assert!(cut.superblocks.are_whole() && cut.superblocks.keeps_dropped, "{number}");

        let how = Reencrypt {
            goal: Goal::GoOn,
            ..Reencrypt::default()
        };
        let gone_on = reencrypt(&Disk, &path, &fixture.access(), &how, &Watch::none());
        assert!(matches!(gone_on, Err(EngineError::Key(_))), "{gone_on:?}");
        let mended = found();
        assert!(
            mended.superblocks.are_whole() && !mended.superblocks.keeps_dropped,
            "{number}"
        );
        assert!(mended.generation > cut.generation && opens(&fixture, &path, "key"));
    }
}
