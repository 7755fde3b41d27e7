//! Destinations that disappear, return, are emptied, are full, or have two followers.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use selenite::follow::Status;
use selenite::restore::Which;
use selenite::{Class, EngineError, Watch};
use selenite_backup::{
    ArchiveName, BackupError, Catalog, Destination, Folder, Object, StoreError, StoreErrorKind, Traffic, remove_archive,
};

use super::child::{ChildProcess, Role};
use super::turns::{follow_while, follow_while_to};
use super::{Fixture, add, follow_to, quiet};

fn archives(place: &Path) -> Vec<ArchiveName> {
    let catalog = Catalog::list(&Folder::new(place), None).unwrap();
    catalog.entries.into_iter().map(|entry| entry.name).collect()
}

fn millisecond() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()
}

#[test]
fn a_missing_folder_is_not_recreated_and_used_again_when_it_is_back() {
    let fixture = Fixture::new();
    let database = fixture.open();
    let (place, aside) = (fixture.backups(), fixture.backups().with_extension("aside"));
    let (mut turns, mut waits, mut added) = (0, 0, 0);
    let mut first = None;
    let done = follow_while(&fixture, |status| {
        if status.archive.is_none() {
            return true;
        }
        turns += 1;
        if turns == 1 {
            first.clone_from(&status.archive);
            fs::rename(&place, &aside).unwrap();
        }
        if let Some(why) = &status.waits_for {
            assert!(why.contains("no longer exists"), "{why}");
            assert!(!place.exists());
            waits += 1;
            if waits == 3 {
                fs::rename(&aside, &place).unwrap();
            }
        }
        if waits < 3 {
            add(&database, 0, 300).unwrap();
            added += 1;
        }
        waits < 3 || status.waits_for.is_some()
    });
    assert_eq!(done.unwrap().archive, first);
    let (to, restored) = fixture.restore(Which::Newest).unwrap();
    assert_eq!((fixture.check(&to), restored.link_count), (vec![added], 1));
    assert_eq!(archives(&place).len(), 1);
}

#[test]
fn another_folder_gets_a_new_backup_and_the_first_has_no_gap_when_it_is_back() {
    let fixture = Fixture::new();
    let database = fixture.open();
    let (place, aside) = (fixture.backups(), fixture.backups().with_extension("aside"));
    let (mut step, mut added) = (0, 0);
    let (mut seen, mut left): (Vec<ArchiveName>, Vec<&str>) = (Vec::new(), Vec::new());
    let done = follow_while(&fixture, |status| {
        left.extend(status.left.filter(|why| !left.contains(why)));
        let Some(name) = &status.archive else { return true };
        assert_eq!(status.waits_for, None);
        if seen.last() != Some(name) {
            seen.push(name.clone());
        }
        // One turn for the added rows, and the next for the result.
        match step {
            2 => {
                fs::rename(&place, &aside).unwrap();
                fs::create_dir(&place).unwrap();
            }
            6 => {
                fs::rename(&place, place.with_extension("other")).unwrap();
                fs::rename(&aside, &place).unwrap();
            }
            _ => {}
        }
        if step < 8 {
            add(&database, 0, 300).unwrap();
            added += 1;
        }
        step += 1;
        step < 12
    });
    done.unwrap();
    assert_eq!(left, ["it is no longer at the destination"]);
    let (to, _) = fixture.restore(Which::Newest).unwrap();
    assert_eq!(fixture.check(&to), [added]);
    assert_eq!(archives(&place.with_extension("other")).len(), 1);
    assert!(seen.len() >= 3 && archives(&place).contains(&seen[0]), "{seen:?}");
    assert!(archives(&place).len() <= 2);
}

#[test]
fn an_archive_that_is_removed_meanwhile_is_replaced_by_a_new_one() {
    let fixture = Fixture::new();
    let database = fixture.open();
    let mut first: Option<ArchiveName> = None;
    let (mut turns, mut added, mut left) = (0, 0, None);
    let done = follow_while(&fixture, |status| {
        left = left.or(status.left);
        let Some(name) = &status.archive else { return true };
        assert_eq!(status.waits_for, None);
        turns += 1;
        if turns == 3 {
            let folder = Folder::new(&fixture.backups());
            let catalog = Catalog::list(&folder, None).unwrap();
            remove_archive(&folder, catalog.entries[0].database_id, name, &mut |_| {}).unwrap();
            first = Some(name.clone());
        }
        if turns < 6 {
            add(&database, 0, 300).unwrap();
            added += 1;
        }
        turns < 8
    });
    let last = done.unwrap().archive;
    assert!(first.is_some() && last != first);
    assert_eq!(left, Some("it is no longer at the destination"));
    let (to, restored) = fixture.restore(Which::Newest).unwrap();
    assert_eq!((fixture.check(&to), restored.link_count), (vec![added], 1));
    assert_eq!(archives(&fixture.backups()), [last.unwrap()]);
}

fn object_of(fixture: &Fixture, name: &str) -> PathBuf {
    let listed = Folder::new(&fixture.backups()).list("").unwrap();
    let object = listed.iter().find(|object| object.name.ends_with(name)).unwrap();
    fixture.backups().join(&object.name)
}

#[test]
fn a_gap_in_a_log_is_reported_with_the_time_up_to_which_a_restore_works() {
    let fixture = Fixture::new();
    let database = fixture.open();
    // While the database is not followed, the log is not restarted.
    database
        .run("PRAGMA wal_autocheckpoint = 0", &mut quiet::Nothing)
        .unwrap();
    add(&database, 0, 10).unwrap();
    fixture.once().unwrap();
    let mut added = Vec::new();
    for turn in 0..4 {
        let next = (millisecond() / 1000 + 1) * 1000;
        // Commits until the turn is of a later second, and not of its first millisecond, which a
        // time in seconds excludes.
        while millisecond() <= next + 1 {
            add(&database, 0, 10).unwrap();
        }
        let count = fixture.once().unwrap().objects.0;
        assert_eq!(count, turn + 2);
        let (to, _) = fixture.restore(Which::Newest).unwrap();
        added.push(fixture.check(&to)[0]);
    }
    fs::remove_file(object_of(&fixture, "log-00000003")).unwrap();
    let error = fixture.restore(Which::Newest).unwrap_err();
    let EngineError::Backup(BackupError::Gap { object, beyond, .. }) = &error else {
        panic!("{error}")
    };
    assert_eq!((object.as_str(), error.class()), ("log-00000003", Class::Data));
    assert!(beyond.contains("1 later object of up to 20"), "{beyond}");
    let advice = error.advice();
    let moment = advice.split_once("--at ").unwrap().1.split(',').next().unwrap();
    let moment = selenite::parse_utc(moment).unwrap();
    let (to, restored) = fixture.restore(Which::At(moment)).unwrap();
    assert_eq!((fixture.check(&to), restored.log_count), (vec![added[0]], 2));
    // A time that may be of a missing object is rejected.
    let later = fixture.restore(Which::At(moment + 1)).unwrap_err();
    assert!(matches!(later, EngineError::Backup(BackupError::Gap { .. })), "{later}");
    // A follower does not continue this log.
    add(&database, 0, 10).unwrap();
    let next = fixture.once().unwrap();
    assert_eq!(archives(&fixture.backups()).last(), next.archive.as_ref());
    let (to, restored) = fixture.restore(Which::Newest).unwrap();
    assert_eq!((fixture.check(&to), restored.unreachable), (vec![added[3] + 1], vec![]));
}

#[test]
fn commits_behind_a_gap_in_another_backup_are_reported() {
    let fixture = Fixture::new();
    let database = fixture.open();
    database
        .run("PRAGMA wal_autocheckpoint = 0", &mut quiet::Nothing)
        .unwrap();
    add(&database, 0, 10).unwrap();
    let first = fixture.once().unwrap().archive.unwrap();
    add(&database, 0, 10).unwrap();
    fixture.once().unwrap();
    let destination: Arc<dyn Destination> = Arc::new(Folder::new(&fixture.backups()));
    let how = selenite::backup::Backup::default();
    let disk = selenite::storage::Disk;
    let (path, access, watch) = (fixture.path(), fixture.access(), Watch::none());
    let by_hand = selenite::backup::backup(&disk, &path, &access, how, &destination, &watch).unwrap();
    let next = (millisecond() / 1000 + 1) * 1000;
    while millisecond() < next {
        add(&database, 0, 10).unwrap();
    }
    let last = fixture.once().unwrap();
    assert_eq!((last.archive.as_ref(), last.objects.0), (Some(&first), 3));
    fs::remove_file(object_of(&fixture, "log-00000001")).unwrap();
    let (to, restored) = fixture.restore(Which::Newest).unwrap();
    assert_eq!((fixture.check(&to), restored.name), (vec![2], by_hand.name));
    let [gap] = &restored.unreachable[..] else {
        panic!("{:?}", restored.unreachable)
    };
    assert_eq!(
        (&gap.archive, gap.object.as_str(), gap.count),
        (&first, "log-00000001", 1)
    );
    assert!(gap.made > restored.made);
}

#[test]
fn a_second_follower_is_refused_while_the_first_runs() {
    let fixture = Fixture::new();
    let database = fixture.open();
    let (mut turns, mut refused) = (0, 0);
    let done = follow_while(&fixture, |status| {
        if status.archive.is_some() && turns < 5 {
            turns += 1;
            add(&database, 0, 100).unwrap();
            let error = fixture.once().unwrap_err();
            let process = format!("by process {}", std::process::id());
            assert!(error.to_string().contains(&process), "{error}");
            assert_eq!(error.class(), Class::Busy);
            refused += 1;
        }
        turns < 5
    });
    done.unwrap();
    assert_eq!(refused, 5);
    // The claim is free when the first has ended, and nothing is left beside the database.
    fixture.once().unwrap();
    let (to, _) = fixture.restore(Which::Newest).unwrap();
    assert_eq!(fixture.check(&to), [5]);
    let names = fs::read_dir(fixture.path().parent().unwrap()).unwrap();
    let mut names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert!(!names.any(|name| name.contains("selenite-tmp")));
}

#[test]
fn two_followers_of_one_place_lose_and_overwrite_nothing() {
    let fixture = Fixture::new();
    let database = fixture.open();
    // By another path it is another place, as from another machine.
    let other = fixture.backups().join(".");
    // With a log: without one there is no position to continue from.
    add(&database, 0, 100).unwrap();
    let (mut turns, mut added) = (0, 1);
    let done = follow_while(&fixture, |status| {
        if status.archive.is_some() && status.waits_for.is_none() && turns < 12 {
            turns += 1;
            add(&database, 0, 100).unwrap();
            if turns % 3 != 0 {
                let once = follow_to(
                    &fixture.path(),
                    &other,
                    &fixture.spec(),
                    true,
                    &Watch::none(),
                    &mut |_| {},
                );
                assert_eq!(once.unwrap().waits_for, None);
            }
            add(&database, 0, 100).unwrap();
            added += 2;
        }
        turns < 12
    });
    assert_eq!(done.unwrap().waits_for, None);
    let (to, restored) = fixture.restore(Which::Newest).unwrap();
    assert_eq!((fixture.check(&to), restored.link_count), (vec![added], 1));
    assert_eq!(archives(&fixture.backups()).len(), 1, "they take turns");
}

#[test]
fn two_processes_that_follow_to_one_place_lose_no_commit() {
    let fixture = Fixture::new();
    let writer = ChildProcess::start(&fixture, Role::Writer(0, 300));
    let one = ChildProcess::start(&fixture, Role::Follower);
    one.hear_turn();
    let other = ChildProcess::start(&fixture, Role::OtherFollower);
    for round in 0..15 {
        let told = writer.last.load(Ordering::SeqCst);
        let (sends, _) = if round % 2 == 0 { (&one, &other) } else { (&other, &one) };
        sends.hear_a_whole_turn();
        let (to, _) = fixture.restore(Which::Newest).unwrap();
        let found = fixture.check(&to)[0];
        assert!(found >= told, "round {round}: {found} of {told}");
        fs::remove_file(to).unwrap();
    }
    let last = writer.stop();
    one.hear_a_whole_turn();
    one.kill();
    other.hear_a_whole_turn();
    other.kill();
    let (to, restored) = fixture.restore(Which::Newest).unwrap();
    assert_eq!(fixture.check(&to), [last]);
    println!(
        "{last} commits, {} objects, {} backups",
        restored.log_count, restored.link_count
    );
}

/// A folder with room for a number of objects.
struct Full {
    folder: Folder,
    room: AtomicUsize,
    begun: AtomicUsize,
    refused: AtomicUsize,
    is_full: AtomicBool,
}

impl Destination for Full {
    fn put_new(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let has_room = |room: usize| room.checked_sub(1);
        let is_full = self.is_full.load(Ordering::SeqCst);
        if is_full
            && self
                .room
                .fetch_update(Ordering::SeqCst, Ordering::SeqCst, has_room)
                .is_err()
        {
            self.refused.fetch_add(1, Ordering::SeqCst);
            return Err(StoreError {
                kind: StoreErrorKind::Full,
                verb: "write",
                name: name.to_owned(),
                what: "no room".to_owned(),
            });
        }
        self.begun
            .fetch_add(usize::from(name.ends_with("/begun")), Ordering::SeqCst);
        self.folder.put_new(name, bytes)
    }

    fn get(&self, name: &str, size_max: usize) -> Result<Vec<u8>, StoreError> {
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
fn a_full_destination_gets_no_second_archive_and_is_used_again_later() {
    // Without room for the object with the keys, for the first part, for that part's index, for
    // the manifest, or for the log's first object.
    for room in 0..5 {
        let fixture = Fixture::new();
        let database = fixture.open();
        add(&database, 0, 3000).unwrap();
        let full = Arc::new(Full {
            folder: Folder::new(&fixture.backups()),
            room: AtomicUsize::new(room),
            begun: AtomicUsize::new(0),
            refused: AtomicUsize::new(0),
            is_full: AtomicBool::new(true),
        });
        let (mut said, mut is_over): (Vec<String>, bool) = (Vec::new(), false);
        let done = follow_while_to(&fixture, &(full.clone() as Arc<dyn Destination>), |status: &Status| {
            if let Some(why) = &status.waits_for {
                assert!(!is_over || said.last() == Some(why), "{why}");
                if said.last() != Some(why) {
                    said.push(why.clone());
                }
            }
            if full.refused.load(Ordering::SeqCst) >= 3 {
                full.is_full.store(false, Ordering::SeqCst);
                is_over = true;
            }
            !(is_over && status.archive.is_some() && status.waits_for.is_none())
        });
        assert_eq!(done.unwrap().waits_for, None);
        assert_eq!(said.len(), 1, "{room}: {said:?}");
        assert!(said[0].contains("no room"), "{said:?}");
        assert_eq!(
            (full.begun.load(Ordering::SeqCst), archives(&fixture.backups()).len()),
            (1, 1),
            "{room}"
        );
        let (to, _) = fixture.restore(Which::Newest).unwrap();
        assert_eq!(fixture.check(&to), [1]);
    }
}
