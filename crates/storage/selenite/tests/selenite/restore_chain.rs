//! Backups with bases, with missing pages, with tampered objects, and interrupted restores.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use selenite::backup::{Backup, backup};
use selenite::restore::{Restore, Which, restore};
use selenite::storage::Disk;
use selenite::verify::physical;
use selenite::{Class, EngineError, Observer, Progress, Watch};
use selenite_backup::{ArchiveName, Destination, Folder};

use crate::restore::{CONTENTS, back_up, from_backups, made, same};
use crate::support::{Fixture, query};

fn back_up_as(fixture: &Fixture, path: &Path, how: Backup) -> ArchiveName {
    let destination: Arc<dyn Destination> = Arc::new(Folder::new(&fixture.path("backups")));
    let done = backup(&Disk, path, &fixture.access(), how, &destination, &Watch::none());
    done.unwrap().name
}

/// The paths of all objects of all backups.
fn objects(fixture: &Fixture) -> Vec<PathBuf> {
    let folder = Folder::new(&fixture.path("backups"));
    let objects = folder.list("").unwrap().into_iter();
    objects
        .map(|object| fixture.path("backups").join(object.name))
        .collect()
}

#[test]
fn each_link_of_a_chain_is_restored_as_the_database_was_then() {
    for mode in ["DELETE", "WAL"] {
        let fixture = Fixture::new();
        let path = made(&fixture, "app.db", mode, 3000);
        let mut names = vec![back_up(&fixture, &path)];
        let mut contents = vec![query(&path, &fixture.access(), CONTENTS).unwrap()];
        for sql in [
            "UPDATE t SET b = 'changed' WHERE a % 400 = 7",
            "DELETE FROM t WHERE a > 1000; VACUUM",
            "INSERT INTO t (b) SELECT hex(randomblob(200)) FROM t",
            "SELECT 1",
        ] {
            query(&path, &fixture.access(), sql).unwrap();
            names.push(back_up_as(
                &fixture,
                &path,
                Backup {
                    incremental: true,
                    ..Backup::default()
                },
            ));
            contents.push(query(&path, &fixture.access(), CONTENTS).unwrap());
        }
        let to = fixture.path("new.db");
        for (index, (name, contents)) in names.iter().zip(&contents).enumerate() {
            let how = Restore {
                which: Which::Named(name.clone()),
                force: true,
                ..Restore::new(&to)
            };
            let restored = from_backups(&fixture, &how).unwrap();
            // If several were begun in one second, any of them may be the base of the next.
            let is_chain = if index == 0 {
                restored.link_count == 1
            } else {
                restored.link_count > 1
            };
            assert!(
                is_chain && restored.link_count <= index + 1,
                "{mode} {index}: {}",
                restored.link_count
            );
            assert_eq!(
                query(&to, &fixture.access(), CONTENTS).unwrap(),
                *contents,
                "{mode} {index}"
            );
            let report = physical(&Disk, &to, &fixture.access(), &Watch::none()).unwrap();
            assert!(report.is_good());
            let ok = query(&to, &fixture.access(), "PRAGMA integrity_check").unwrap();
            assert_eq!(format!("{ok:?}"), "[[Text(\"ok\")]]");
        }
    }
}

/// Also within one second.
#[test]
fn the_newest_is_the_one_that_was_made_last() {
    let fixture = Fixture::new();
    let path = made(&fixture, "app.db", "DELETE", 100);
    let to = fixture.path("new.db");
    let how = Restore {
        force: true,
        ..Restore::new(&to)
    };
    for round in 0..6 {
        query(&path, &fixture.access(), "INSERT INTO t (b) VALUES ('one more')").unwrap();
        let name = back_up_as(
            &fixture,
            &path,
            Backup {
                incremental: round % 2 == 1,
                ..Backup::default()
            },
        );
        assert_eq!(from_backups(&fixture, &how).unwrap().name, name, "{round}");
        assert!(same(&fixture, &path, &to));
    }
}

#[test]
fn a_backup_that_lacks_pages_is_restored_only_on_request() {
    let fixture = Fixture::new();
    let path = made(&fixture, "app.db", "DELETE", 3000);
    let mut bytes = std::fs::read(&path).unwrap();
    let place = 65536 + 49 * 4096;
    bytes[place..place + 16].fill(0xee);
    std::fs::write(&path, bytes).unwrap();
    back_up_as(
        &fixture,
        &path,
        Backup {
            skip_bad: true,
            ..Backup::default()
        },
    );
    let to = fixture.path("new.db");
    let how = Restore::new(&to);
    let error = from_backups(&fixture, &how).unwrap_err();
    assert_eq!(error.class(), Class::Data, "{error}");
    assert!(error.to_string().ends_with("not authentic: 50"), "{error}");
    let how = Restore {
        allow_missing: true,
        ..how
    };
    assert_eq!(from_backups(&fixture, &how).unwrap().missing, [50]);
    assert!(
        physical(&Disk, &to, &fixture.access(), &Watch::none())
            .unwrap()
            .is_good()
    );
    let page = query(
        &to,
        &fixture.access(),
        "SELECT data = zeroblob(4096) FROM sqlite_dbpage WHERE pgno = 50",
    );
    assert_eq!(format!("{:?}", page.unwrap()), "[[Integer(1)]]");
}

#[test]
fn nothing_is_restored_from_a_tampered_object() {
    let fixture = Fixture::new();
    let path = made(&fixture, "app.db", "DELETE", 500);
    let (first, second) = (back_up(&fixture, &path), back_up(&fixture, &path));
    let to = fixture.path("new.db");
    let how = Restore {
        which: Which::Named(second.clone()),
        ..Restore::new(&to)
    };
    let own: Vec<PathBuf> = objects(&fixture)
        .into_iter()
        .filter(|path| path.display().to_string().contains(second.as_str()) && !path.ends_with("index-00000000"))
        .collect();
    assert_eq!(own.len(), 3);
    for object in own {
        let whole = std::fs::read(&object).unwrap();
        let other = PathBuf::from(object.display().to_string().replace(second.as_str(), first.as_str()));
        let mut altered = whole.clone();
        let middle = altered.len() / 2;
        altered[middle] ^= 1;
        let long = [whole.as_slice(), &[0]].concat();
        let attacks = [
            std::fs::read(other).unwrap(),
            altered,
            long,
            whole[..whole.len() - 1].to_vec(),
            Vec::new(),
        ];
        for attack in attacks {
            std::fs::write(&object, attack).unwrap();
            let error = from_backups(&fixture, &how).unwrap_err();
            assert_eq!(error.class(), Class::Data, "{}: {error}", object.display());
            assert!(!error.advice().is_empty());
            assert_eq!(fixture.names(), ["app.db", "backups"]);
        }
        std::fs::remove_file(&object).unwrap();
        let error = from_backups(&fixture, &how).unwrap_err();
        assert!(matches!(error, EngineError::Backup(_)), "{error}");
        assert_eq!(fixture.names(), ["app.db", "backups"]);
        std::fs::write(&object, whole).unwrap();
    }
    from_backups(&fixture, &how).unwrap();
    assert!(same(&fixture, &path, &to));
}

/// Interrupts at this number of checks.
struct StopAfter(AtomicU32);

impl Observer for StopAfter {
    fn progress(&self, _: Progress) {}

    fn is_interrupted(&self) -> bool {
        self.0.fetch_sub(1, Ordering::SeqCst) == 0
    }
}

#[test]
fn fetched_parts_are_kept_until_the_end() {
    let fixture = Fixture::new();
    let path = made(&fixture, "app.db", "DELETE", 10_000);
    back_up(&fixture, &path);
    let far = Folder::new(&fixture.path("backups"));
    let to = fixture.path("new.db");
    let how = Restore {
        keep_fetched: true,
        ..Restore::new(&to)
    };
    let watch = Watch::new(Arc::new(StopAfter(AtomicU32::new(0))));
    let stopped = restore(&Disk, &far, &fixture.access(), &how, &watch);
    assert!(matches!(stopped, Err(EngineError::Interrupted)), "{stopped:?}");
    assert_eq!(fixture.names(), [".new.db.selenite-fetched", "app.db", "backups"]);
    let before = far.traffic().requests;
    restore(&Disk, &far, &fixture.access(), &how, &Watch::none()).unwrap();
    // Only the list was requested again.
    assert_eq!(far.traffic().requests, before + 1);
    assert_eq!(fixture.names(), ["app.db", "backups", "new.db"]);
    assert!(same(&fixture, &path, &to));
}

/// `claim-owns-the-cache`: another restore that is running or was interrupted may have fetched
/// them; a restore that never held the claim does not remove them.
#[test]
fn a_failed_restore_keeps_the_parts_that_another_fetched() {
    let fixture = Fixture::new();
    let path = made(&fixture, "app.db", "DELETE", 300);
    back_up(&fixture, &path);
    let to = fixture.path("new.db");
    let how = Restore {
        keep_fetched: true,
        ..Restore::new(&to)
    };
    let fetched = fixture.path(".new.db.selenite-fetched");
    let kept = fetched.join("kept");
    let wrong = Restore {
        which: Which::At(1),
        ..how.clone()
    };
    let error = from_backups(&fixture, &wrong).unwrap_err();
    assert_eq!(error.class(), Class::Usage, "{error}");
    // What it fetched itself is removed.
    let far = Folder::new(&fixture.path("backups"));
    let other = fixture.access_by("other-key");
    let error = restore(&Disk, &far, &other, &how, &Watch::none()).unwrap_err();
    assert_eq!(error.class(), Class::Key, "{error}");
    assert_eq!(fixture.names(), ["app.db", "backups"]);

    std::fs::create_dir(&fetched).unwrap();
    std::fs::write(&kept, "sealed").unwrap();
    let error = restore(&Disk, &far, &other, &how, &Watch::none()).unwrap_err();
    assert_eq!(error.class(), Class::Key, "{error}");
    assert!(kept.exists());
    from_backups(&fixture, &how).unwrap();
    assert_eq!(fixture.names(), ["app.db", "backups", "new.db"]);
}

#[test]
fn one_process_at_a_time_restores_a_file() {
    let fixture = Fixture::new();
    let path = made(&fixture, "app.db", "DELETE", 300);
    back_up(&fixture, &path);
    let to = fixture.path("new.db");
    use selenite::storage::Storage;
    let claim = Disk.claim(&fixture.path(".new.db.selenite-tmp-restore-claim")).unwrap();
    let error = from_backups(&fixture, &Restore::new(&to)).unwrap_err();
    assert_eq!(error.class(), Class::Busy, "{error}");
    drop(claim);
    from_backups(&fixture, &Restore::new(&to)).unwrap();
}
