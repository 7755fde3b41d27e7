//! Turn by turn, in one process: other operations run in the follower's status callback.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use selenite::backup::{Backup, backup};
use selenite::follow::{Follow, Status, follow};
use selenite::restore::{Restore, Which, restore};
use selenite::storage::Disk;
use selenite::{Class, Database, EngineError, Layout, Observer, Progress, Watch};
use selenite_backup::{ArchiveName, BackupError, Destination, Folder, Object, StoreError, Traffic};

use super::{Fixture, add, follow_to, follow_with, quiet};

/// Follows until `each` returns false.
pub(crate) fn follow_while(fixture: &Fixture, each: impl FnMut(&Status) -> bool) -> Result<Status, EngineError> {
    let destination: Arc<dyn Destination> = Arc::new(Folder::new(&fixture.backups()));
    follow_while_to(fixture, &destination, each)
}

/// The same, to another destination.
pub(crate) fn follow_while_to(
    fixture: &Fixture,
    destination: &Arc<dyn Destination>,
    mut each: impl FnMut(&Status) -> bool,
) -> Result<Status, EngineError> {
    let stop = Arc::new(Stop(AtomicBool::new(false)));
    let watch = Watch::new(stop.clone());
    let mut tell = |status: &Status| {
        if !each(status) {
            stop.0.store(true, Ordering::SeqCst);
        }
    };
    follow_with(
        (&fixture.path(), destination),
        &fixture.spec(),
        false,
        &watch,
        &mut tell,
    )
}

struct Stop(AtomicBool);

impl Observer for Stop {
    fn progress(&self, _: Progress) {}

    fn is_interrupted(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

#[test]
fn commits_since_the_backup_are_restored() {
    let fixture = Fixture::new();
    let database = fixture.open();
    for _ in 0..50 {
        add(&database, 0, 200).unwrap();
    }
    let first = fixture.once().unwrap();
    assert_eq!(first.objects.0, 1, "where the backup was taken");
    for _ in 0..70 {
        add(&database, 0, 5000).unwrap();
    }
    let second = fixture.once().unwrap();
    assert_eq!((&second.archive, second.objects.0), (&first.archive, 2));
    add(&database, 1, 10).unwrap();
    let third = fixture.once().unwrap();
    assert_eq!((&third.archive, third.objects.0), (&first.archive, 3));
    assert_eq!(fixture.once().unwrap().objects.0, 3, "nothing came");
    let (to, restored) = fixture.restore(Which::Newest).unwrap();
    assert_eq!(fixture.check(&to), [120, 1]);
    assert_eq!(restored.log_count, 3);
    // The backup alone is unchanged.
    let (to, restored) = fixture.restore(Which::Named(first.archive.unwrap())).unwrap();
    assert_eq!(fixture.check(&to), [50]);
    assert_eq!(restored.log_count, 0);
}

#[test]
fn a_chain_has_at_most_seven_backups() {
    let fixture = Fixture::new();
    add(&fixture.open(), 0, 200).unwrap();
    let destination: Arc<dyn Destination> = Arc::new(Folder::new(&fixture.backups()));
    let mut names: Vec<ArchiveName> = Vec::new();
    let stop = Arc::new(Stop(AtomicBool::new(false)));
    let mut tell = |status: &Status| {
        if let Some(name) = status.archive.as_ref().filter(|name| names.last() != Some(*name)) {
            names.push(name.clone());
        }
        stop.0.store(names.len() >= 9, Ordering::SeqCst);
    };
    let how = Follow {
        anchoring: None,
        lag: Duration::from_millis(10),
        renew_every: Duration::ZERO,
        log_size_max: 1 << 30,
        once: false,
        backup: Backup::default(),
    };
    let (access, watch) = (fixture.access(), Watch::new(stop.clone()));
    follow(&Disk, &fixture.path(), &access, how, &destination, &watch, &mut tell).unwrap();
    let links = |name: &ArchiveName| fixture.restore(Which::Named(name.clone())).unwrap().1.link_count;
    let counts: Vec<usize> = names.iter().map(links).collect();
    assert_eq!(counts[..9], [1, 2, 3, 4, 5, 6, 7, 1, 2]);
}

#[test]
fn a_backup_made_by_hand_meanwhile_hides_no_commit() {
    let fixture = Fixture::new();
    let database = fixture.open();
    add(&database, 0, 200).unwrap();
    let first = fixture.once().unwrap();
    add(&database, 0, 200).unwrap();
    fixture.once().unwrap();
    let by_hand = || {
        let destination: Arc<dyn Destination> = Arc::new(Folder::new(&fixture.backups()));
        let how = Backup::default();
        backup(
            &Disk,
            &fixture.path(),
            &fixture.access(),
            how,
            &destination,
            &Watch::none(),
        )
        .unwrap()
    };
    by_hand();
    // It is followed as before, and a restore has the followed commits.
    add(&database, 0, 200).unwrap();
    assert_eq!(fixture.once().unwrap().archive, first.archive);
    for which in [Which::Newest, Which::At(u64::from(u32::MAX))] {
        let (to, restored) = fixture.restore(which).unwrap();
        assert_eq!(fixture.check(&to), [3]);
        assert_eq!(Some(restored.name), first.archive);
    }
    // A later backup by hand is the newest, and stays so although the log of the followed one ends
    // with an earlier turn.
    add(&database, 0, 200).unwrap();
    let last = by_hand();
    let (to, restored) = fixture.restore(Which::Newest).unwrap();
    assert_eq!((fixture.check(&to), restored.name), (vec![4], last.name));
}

#[test]
fn a_restore_at_a_time_has_the_commits_up_to_then() {
    let fixture = Fixture::new();
    let database = fixture.open();
    let second = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    add(&database, 0, 200).unwrap();
    fixture.once().unwrap();
    add(&database, 0, 200).unwrap();
    fixture.once().unwrap();
    let between = second() + 1;
    let mut added = 2;
    // Commits until a turn is of a later second.
    while second() <= between {
        add(&database, 0, 10).unwrap();
        added += 1;
    }
    fixture.once().unwrap();
    let (to, restored) = fixture.restore(Which::At(between)).unwrap();
    assert_eq!((fixture.check(&to), restored.log_count), (vec![2], 2));
    assert!(restored.made <= between);
    let (to, _) = fixture.restore(Which::At(second() + 1)).unwrap();
    assert_eq!(fixture.check(&to), [added]);
    let before = fixture.restore(Which::At(1_000_000_000)).unwrap_err();
    assert!(
        matches!(before, EngineError::Backup(BackupError::NotThere { .. })),
        "{before}"
    );
}

/// A destination that returns another object under one name, from the second request on.
struct Forked {
    folder: Folder,
    name: &'static str,
    other: Vec<u8>,
    asked: AtomicBool,
}

impl Destination for Forked {
    fn put_new(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        self.folder.put_new(name, bytes)
    }

    fn get(&self, name: &str, size_max: usize) -> Result<Vec<u8>, StoreError> {
        if name.ends_with(self.name) && self.asked.swap(true, Ordering::SeqCst) {
            return Ok(self.other.clone());
        }
        self.folder.get(name, size_max)
    }

    fn list(&self, prefix: &str) -> Result<Vec<Object>, StoreError> {
        self.folder.list(prefix)
    }

    fn remove(&self, name: &str) -> Result<(), StoreError> {
        self.folder.remove(name)
    }

    fn traffic(&self) -> Traffic {
        self.folder.traffic()
    }

    fn place(&self) -> String {
        self.folder.place()
    }
}

#[test]
fn an_object_of_the_log_that_changes_between_two_reads_is_refused() {
    let fixture = Fixture::new();
    let database = fixture.open();
    add(&database, 0, 200).unwrap();
    fixture.once().unwrap();
    let fork = fixture.backups().with_extension("fork");
    let copied = Command::new("cp")
        .arg("-r")
        .args([fixture.backups(), fork.clone()])
        .status();
    assert!(copied.unwrap().success());
    // Both are complete, and of the same archive.
    add(&database, 0, 200).unwrap();
    fixture.once().unwrap();
    add(&database, 0, 200).unwrap();
    follow_to(
        &fixture.path(),
        &fork,
        &fixture.spec(),
        true,
        &Watch::none(),
        &mut |_| {},
    )
    .unwrap();
    let name = "log-00000001";
    let listed = Folder::new(&fork).list("").unwrap();
    let object = listed.iter().find(|object| object.name.ends_with(name)).unwrap();
    let forked = Forked {
        folder: Folder::new(&fixture.backups()),
        name,
        other: Folder::new(&fork).get(&object.name, 1 << 24).unwrap(),
        asked: AtomicBool::new(false),
    };
    let to = fixture.path().with_extension("restored");
    let restored = restore(&Disk, &forked, &fixture.access(), &Restore::new(&to), &Watch::none());
    let error = restored.unwrap_err();
    assert!(
        matches!(error, EngineError::Backup(BackupError::Unauthentic { .. })),
        "{error}"
    );
    assert!(!to.exists());
}

#[test]
fn a_database_that_shrank_and_grew_is_restored_with_its_length() {
    let fixture = Fixture::new();
    let database = fixture.open();
    database
        .run("PRAGMA auto_vacuum = FULL; VACUUM", &mut quiet::Nothing)
        .unwrap();
    for _ in 0..200 {
        add(&database, 0, 5000).unwrap();
    }
    fixture.once().unwrap();
    database
        .run("UPDATE ledger SET body = NULL", &mut quiet::Nothing)
        .unwrap();
    fixture.once().unwrap();
    let (to, short) = fixture.restore(Which::Newest).unwrap();
    assert_eq!(fixture.check(&to), [200]);
    for _ in 0..300 {
        add(&database, 0, 5000).unwrap();
    }
    fixture.once().unwrap();
    let (to, long) = fixture.restore(Which::Newest).unwrap();
    assert_eq!(fixture.check(&to), [500]);
    assert!(
        short.page_count * 4 < long.page_count,
        "{} {}",
        short.page_count,
        long.page_count
    );
}

#[test]
fn a_log_that_was_restarted_while_not_followed_needs_a_new_backup() {
    let fixture = Fixture::new();
    let database = fixture.open();
    add(&database, 0, 200).unwrap();
    let first = fixture.once().unwrap();
    add(&database, 0, 200).unwrap();
    database
        .run("PRAGMA wal_checkpoint(TRUNCATE)", &mut quiet::Nothing)
        .unwrap();
    add(&database, 0, 200).unwrap();
    let second = fixture.once().unwrap();
    assert_ne!(first.archive, second.archive);
    let (to, restored) = fixture.restore(Which::Newest).unwrap();
    assert_eq!(fixture.check(&to), [3]);
    assert_eq!(restored.link_count, 2, "incremental");
}

#[test]
fn frames_that_replace_lost_ones_are_detected() {
    let fixture = Fixture::new();
    let copy = |from: &Path, to: &Path| {
        // With another process: closing these files here would release SQLite's locks.
        assert!(Command::new("cp").args([from, to]).status().unwrap().success());
    };
    let (path, wal) = (fixture.path(), fixture.path().with_extension("db-wal"));
    let (kept, kept_wal) = (path.with_extension("kept"), path.with_extension("kept-wal"));
    let database = fixture.open();
    add(&database, 0, 200).unwrap();
    let first = fixture.once().unwrap();
    add(&database, 0, 200).unwrap();
    fixture.once().unwrap();
    copy(&path, &kept);
    copy(&wal, &kept_wal);
    for _ in 0..3 {
        add(&database, 0, 200).unwrap();
    }
    let sent = fixture.once().unwrap();
    assert_eq!(sent.archive, first.archive);
    drop(database);
    // After a power failure: the end of the log is lost. Other commits replace it, more of them.
    copy(&kept, &path);
    copy(&kept_wal, &wal);
    let database = fixture.open();
    for _ in 0..7 {
        add(&database, 1, 300).unwrap();
    }
    let after = fixture.once().unwrap();
    assert_ne!(after.archive, first.archive, "the same salts, and other frames");
    let (to, _) = fixture.restore(Which::Newest).unwrap();
    assert_eq!(fixture.check(&to), [2, 7]);
    // If no lost commit was sent, the same archive is continued.
    add(&database, 1, 300).unwrap();
    assert_eq!(fixture.once().unwrap().archive, after.archive);
}

#[test]
fn others_cut_the_log_while_it_is_followed() {
    let fixture = Fixture::new();
    let database = fixture.open();
    let mut cutting: Option<thread::JoinHandle<i64>> = None;
    let (mut cuts, mut added) = (0, 0);
    let done = follow_while(&fixture, |status| {
        if status.archive.is_none() {
            return true;
        }
        match cutting.take_if(|thread| thread.is_finished()) {
            Some(thread) => {
                assert_eq!(thread.join().unwrap(), 0, "it found the database busy");
                cuts += 1;
            }
            None if cutting.is_none() && cuts < 6 => {
                for _ in 0..5 {
                    add(&database, 0, 3000).unwrap();
                }
                added += 5;
                // It waits for the follower's next turns.
                let (path, access) = (fixture.path(), fixture.access());
                cutting = Some(thread::spawn(move || {
                    let database = Database::open(&Disk, &path, &access).unwrap();
                    let mut rows = quiet::Numbers::default();
                    database.run("PRAGMA wal_checkpoint(TRUNCATE)", &mut rows).unwrap();
                    rows.0[0]
                }));
            }
            None => {}
        }
        cuts < 6
    });
    let done = done.unwrap();
    let (to, restored) = fixture.restore(Which::Newest).unwrap();
    assert_eq!(fixture.check(&to), [added]);
    assert_eq!(
        (restored.link_count, Some(restored.name)),
        (1, done.archive),
        "no other backup was needed"
    );
}

#[test]
fn commits_after_a_new_master_key_go_to_a_new_archive() {
    let fixture = Fixture::new();
    let database = fixture.open();
    add(&database, 0, 100).unwrap();
    let first = fixture.once().unwrap();
    let renewed = selenite::keys::renew(&Disk, &fixture.path(), &fixture.access(), &[], false).unwrap();
    drop(renewed);
    add(&database, 0, 100).unwrap();
    let second = fixture.once().unwrap();
    assert_ne!(first.archive, second.archive);
    let (to, restored) = fixture.restore(Which::Newest).unwrap();
    assert_eq!(fixture.check(&to), [2]);
    assert_eq!(Some(restored.name), second.archive);
}

#[test]
fn an_unavailable_destination_is_waited_for() {
    let fixture = Fixture::new();
    let database = fixture.open();
    let (place, aside) = (fixture.backups(), fixture.backups().with_extension("aside"));
    let mut steps = 0;
    let mut added = 0;
    let done = follow_while(&fixture, |status| {
        if status.archive.is_none() || steps == 6 {
            return steps < 6;
        }
        if steps < 5 {
            add(&database, 0, 4000).unwrap();
            added += 1;
        }
        match (steps, &status.waits_for) {
            (0, None) => {
                std::fs::rename(&place, &aside).unwrap();
                std::fs::write(&place, b"not a folder").unwrap();
            }
            (1 | 2, Some(_)) => {}
            (3, Some(_)) => {
                std::fs::remove_file(&place).unwrap();
                std::fs::rename(&aside, &place).unwrap();
            }
            (4 | 5, None) => {}
            other => panic!("{other:?}"),
        }
        steps += 1;
        steps < 6
    });
    assert_eq!(done.unwrap().waits_for, None);
    let (to, restored) = fixture.restore(Which::Newest).unwrap();
    assert_eq!(fixture.check(&to), [added]);
    assert_eq!(restored.link_count, 1);
    // With `once`, it is an error.
    std::fs::rename(&place, &aside).unwrap();
    std::fs::write(&place, b"not a folder").unwrap();
    assert_eq!(fixture.once().unwrap_err().class(), Class::Io);
}

#[test]
fn following_ends_when_the_database_is_removed_or_replaced() {
    for replaced in [false, true] {
        let fixture = Fixture::new();
        let (path, access) = (fixture.path(), fixture.access());
        let mut turns = 0;
        let ended = follow_while(&fixture, |status| {
            turns += u64::from(status.archive.is_some());
            if turns == 1 {
                std::fs::rename(&path, path.with_extension("gone")).unwrap();
                if replaced {
                    let _ = std::fs::remove_file(path.with_extension("db-wal"));
                    let _ = std::fs::remove_file(path.with_extension("db-shm"));
                    let other = Database::create(&Disk, &path, &access, &Layout::default()).unwrap();
                    other.run("PRAGMA journal_mode = WAL", &mut quiet::Nothing).unwrap();
                }
            }
            turns < 5
        });
        let error = ended.unwrap_err();
        let expected = if replaced { Class::Usage } else { Class::Io };
        assert_eq!(error.class(), expected, "{error}");
    }
}

#[test]
fn a_database_in_rollback_mode_is_refused_with_advice() {
    let fixture = Fixture::new();
    fixture
        .open()
        .run("PRAGMA journal_mode = DELETE", &mut quiet::Nothing)
        .unwrap();
    let error = fixture.once().unwrap_err();
    assert_eq!(error.class(), Class::Usage);
    assert!(error.advice().contains("journal_mode = WAL"), "{}", error.advice());
}
