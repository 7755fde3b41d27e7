//! Backups of databases in use: their content, the backups that they depend on, and interruptions.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use selenite::backup::{Backup, CompressionLevel, Report, backup};
use selenite::restore::{Restore, Which, restore};
use selenite::storage::Disk;
use selenite::{Cell, Class, Database, EngineError, Layout, PageSize, Watch, keys};
use selenite_backup::{
    ArchiveName, BackupError, Catalog, Destination, Folder, Object, StoreError, StoreErrorKind, Traffic,
};

use crate::restore::{CONTENTS, made};
use crate::support::{Fixture, query, superblock_of};

fn place(fixture: &Fixture) -> Arc<dyn Destination> {
    Arc::new(Folder::new(&fixture.path("backups")))
}

fn run(fixture: &Fixture, path: &Path, how: Backup, place: &Arc<dyn Destination>) -> Result<Report, EngineError> {
    backup(&Disk, path, &fixture.access(), how, place, &Watch::none())
}

fn incremental() -> Backup {
    Backup {
        incremental: true,
        ..Backup::default()
    }
}

/// Restores a backup, and returns its content.
fn contents(fixture: &Fixture, name: &ArchiveName) -> Vec<Vec<Cell>> {
    let to = fixture.path("restored.db");
    let how = Restore {
        which: Which::Named(name.clone()),
        force: true,
        ..Restore::new(&to)
    };
    restore(&Disk, place(fixture).as_ref(), &fixture.access(), &how, &Watch::none()).unwrap();
    let ok = query(&to, &fixture.access(), "PRAGMA integrity_check").unwrap();
    assert_eq!(format!("{ok:?}"), "[[Text(\"ok\")]]");
    query(&to, &fixture.access(), CONTENTS).unwrap()
}

fn now(fixture: &Fixture, path: &Path) -> Vec<Vec<Cell>> {
    query(path, &fixture.access(), CONTENTS).unwrap()
}

/// Pages that changed, were added, removed and moved: with a log that is largely not copied to the
/// file, and without one.
#[test]
fn every_link_of_a_chain_is_restored_as_the_database_was_then() {
    for mode in ["WAL", "DELETE"] {
        let fixture = Fixture::new();
        let path = made(&fixture, "app.db", mode, 2000);
        // Keeps the log from being copied into the file when the others close.
        let holder = Database::open(&Disk, &path, &fixture.access()).unwrap();
        let place = place(&fixture);
        let mut links = vec![(
            run(&fixture, &path, Backup::default(), &place).unwrap(),
            now(&fixture, &path),
        )];
        for sql in [
            "UPDATE t SET b = hex(randomblob(100)) WHERE a = 7",
            "DELETE FROM t WHERE a > 900",
            "VACUUM",
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500)
             INSERT INTO t (b) SELECT hex(randomblob(90)) FROM n",
            "SELECT 1",
        ] {
            query(&path, &fixture.access(), sql).unwrap();
            let made = run(&fixture, &path, incremental(), &place).unwrap();
            assert_eq!(made.base.as_ref(), links.last().map(|(above, _)| &above.name));
            links.push((made, now(&fixture, &path)));
        }
        drop(holder);
        let sent: Vec<u64> = links.iter().map(|(report, _)| report.sent_count).collect();
        assert!(sent[0] > 100 && sent[1] < 10 && sent[4] > 50, "{mode}: {sent:?}");
        assert_eq!(sent[5], 0, "{mode}");
        for (report, then) in links.iter().rev() {
            assert_eq!(contents(&fixture, &report.name), *then, "{mode}: {}", report.name);
            assert_eq!(report.sent_count + report.same_count, u64::from(report.page_count));
        }
    }
}

#[test]
fn pages_of_every_size_are_restored_compressed_or_not() {
    for (size, level) in [(1024, 3), (4096, 19), (65_536, 1), (8192, 0)] {
        let fixture = Fixture::new();
        let path = fixture.path("app.db");
        let layout = Layout {
            page_size: PageSize::try_from(size).unwrap(),
            ..Layout::default()
        };
        drop(Database::create(&Disk, &path, &fixture.access(), &layout).unwrap());
        let sql = "CREATE TABLE t (a INTEGER PRIMARY KEY, b);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
            INSERT INTO t (b) SELECT 'the same again and again ' || i FROM n;";
        query(&path, &fixture.access(), sql).unwrap();
        let how = Backup {
            level: if level == 0 {
                CompressionLevel::None
            } else {
                CompressionLevel::Zstd(level)
            },
            digest: true,
            ..Backup::default()
        };
        let made = run(&fixture, &path, how, &place(&fixture)).unwrap();
        let whole = u64::from(made.page_count) * u64::from(size);
        assert_eq!(
            made.traffic.sent < whole / 2,
            level != 0,
            "{size}: {}",
            made.traffic.sent
        );
        assert_eq!(contents(&fixture, &made.name), now(&fixture, &path), "{size}");
    }
}

/// A ledger whose sum is always 0, while another thread moves amounts.
#[test]
fn a_backup_beside_writers_is_of_one_moment() {
    for mode in ["WAL", "DELETE"] {
        let fixture = Fixture::new();
        let path = made(&fixture, "app.db", mode, 500);
        let access = fixture.access();
        query(
            &path,
            &access,
            "CREATE TABLE ledger (id INTEGER PRIMARY KEY, amount);
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) INSERT INTO ledger SELECT i, 0 FROM n",
        )
        .unwrap();
        let is_over = AtomicBool::new(false);
        let committed = AtomicUsize::new(0);
        let names: Vec<ArchiveName> = std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut seed = 7_u64;
                while !is_over.load(Ordering::Relaxed) {
                    seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    let (from, to) = ((seed >> 20) % 3000 + 1, (seed >> 40) % 3000 + 1);
                    let sql = format!(
                        "BEGIN IMMEDIATE; UPDATE ledger SET amount = amount - 5 WHERE id = {from};
                         UPDATE ledger SET amount = amount + 5 WHERE id = {to}; COMMIT"
                    );
                    if query(&path, &fixture.access(), &sql).is_ok() {
                        committed.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
            let place = place(&fixture);
            let patient = selenite::Access {
                busy_wait: std::time::Duration::from_secs(60),
                ..fixture.access()
            };
            let take = |how| {
                backup(&Disk, &path, &patient, how, &place, &Watch::none())
                    .unwrap()
                    .name
            };
            let mut names = vec![take(Backup::default())];
            while names.len() < 6 || committed.load(Ordering::Relaxed) < 20 {
                names.push(take(incremental()));
            }
            is_over.store(true, Ordering::Relaxed);
            names
        });
        for name in names.iter().rev().take(6) {
            contents(&fixture, name);
            let sum = query(
                &fixture.path("restored.db"),
                &access,
                "SELECT sum(amount), count(*) FROM ledger",
            )
            .unwrap();
            assert_eq!(format!("{sum:?}"), "[[Integer(0), Integer(3000)]]", "{mode}: {name}");
        }
    }
}

fn spoil(path: &Path, page_no: u64) {
    let mut bytes = std::fs::read(path).unwrap();
    bytes[usize::try_from(65_536 + (page_no - 1) * 4096 + 100).unwrap()] ^= 1;
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn a_bad_page_is_named_and_ends_the_backup_or_is_left_out() {
    let fixture = Fixture::new();
    let path = made(&fixture, "app.db", "DELETE", 2000);
    let place = place(&fixture);
    run(&fixture, &path, Backup::default(), &place).unwrap();
    spoil(&path, 9);
    let refused = run(&fixture, &path, Backup::default(), &place).unwrap_err();
    assert_eq!(refused.class(), Class::Data);
    assert!(refused.to_string().contains("page 9"), "{refused}");
    let id = superblock_of(&fixture, &path).superblock.database_id;
    let finished = || {
        let catalog = Catalog::list(place.as_ref(), Some(id)).unwrap();
        catalog.entries.iter().filter(|entry| entry.is_finished).count()
    };
    assert_eq!(finished(), 1, "no backup without the page");
    // An incremental backup does not read the page: its mark is unchanged.
    let blind = run(&fixture, &path, incremental(), &place).unwrap();
    assert_eq!((blind.sent_count, &blind.missing[..]), (0, &[][..]));
    contents(&fixture, &blind.name);
    let how = || Backup {
        verify: true,
        ..incremental()
    };
    assert_eq!(run(&fixture, &path, how(), &place).unwrap_err().class(), Class::Data);
    let skipping = Backup {
        skip_bad: true,
        ..Backup::default()
    };
    let made = run(&fixture, &path, skipping, &place).unwrap();
    assert_eq!(made.missing, [9]);
    let to = fixture.path("restored.db");
    let how = Restore {
        which: Which::Named(made.name),
        force: true,
        ..Restore::new(&to)
    };
    let from = |how: &Restore| restore(&Disk, place.as_ref(), &fixture.access(), how, &Watch::none());
    assert_eq!(from(&how).unwrap_err().class(), Class::Data);
    let how = Restore {
        allow_missing: true,
        ..how
    };
    assert_eq!(from(&how).unwrap().missing, [9]);
}

/// A destination that fails from its k-th object on.
struct Failing {
    folder: Folder,
    left: AtomicUsize,
}

impl Destination for Failing {
    fn put_new(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let spend = |left: usize| left.checked_sub(1);
        if self
            .left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, spend)
            .is_err()
        {
            return Err(StoreError {
                kind: StoreErrorKind::Unreachable,
                verb: "write",
                name: name.to_owned(),
                what: "it went away".to_owned(),
            });
        }
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

/// 40 MiB of incompressible rows: three parts.
fn large(fixture: &Fixture) -> PathBuf {
    let path = made(fixture, "app.db", "DELETE", 10);
    let sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
        INSERT INTO t (b) SELECT randomblob(8000) FROM n;";
    query(&path, &fixture.access(), sql).unwrap();
    path
}

#[test]
fn an_interrupted_backup_resumes_with_the_pages_that_changed_since() {
    let fixture = Fixture::new();
    let path = large(&fixture);
    let resuming = || Backup {
        resume: true,
        ..Backup::default()
    };
    // begun, part, index, part: the second part has no index.
    let failing: Arc<dyn Destination> = Arc::new(Failing {
        folder: Folder::new(&fixture.path("backups")),
        left: AtomicUsize::new(4),
    });
    let refused = run(&fixture, &path, resuming(), &failing).unwrap_err();
    assert_eq!(refused.class(), Class::Io);
    assert!(refused.to_string().contains("it went away"), "{refused}");

    query(&path, &fixture.access(), "UPDATE t SET b = 'other' WHERE a % 1000 = 3").unwrap();
    let resumed = run(&fixture, &path, resuming(), &place(&fixture)).unwrap();
    assert!(resumed.resumed);
    assert!(resumed.traffic.sent < 20 << 20, "{}", resumed.traffic.sent);
    assert!(resumed.same_count > 7000, "{}", resumed.same_count);
    assert_eq!(contents(&fixture, &resumed.name), now(&fixture, &path));
}

/// The newest backup is determined by name, and a name has the time when the backup was begun.
#[test]
fn an_interrupted_backup_that_may_be_running_or_is_not_the_newest_is_left_alone() {
    let fixture = Fixture::new();
    let path = large(&fixture);
    let failing: Arc<dyn Destination> = Arc::new(Failing {
        folder: Folder::new(&fixture.path("backups")),
        left: AtomicUsize::new(3),
    });
    assert!(run(&fixture, &path, Backup::default(), &failing).is_err());
    let careful = run(&fixture, &path, Backup::default(), &place(&fixture)).unwrap();
    assert!(!careful.resumed);
    query(&path, &fixture.access(), "UPDATE t SET b = 'other' WHERE a % 1000 = 3").unwrap();
    let how = Backup {
        resume: true,
        ..Backup::default()
    };
    let last = run(&fixture, &path, how, &place(&fixture)).unwrap();
    assert!(!last.resumed && last.name > careful.name);
    let to = fixture.path("newest.db");
    let how = Restore::new(&to);
    restore(&Disk, place(&fixture).as_ref(), &fixture.access(), &how, &Watch::none()).unwrap();
    assert_eq!(now(&fixture, &to), now(&fixture, &path));
}

/// The holder of a former master key can write backups under it.
#[test]
fn a_backup_under_a_former_master_key_is_no_base() {
    let fixture = Fixture::new();
    let path = made(&fixture, "app.db", "WAL", 300);
    run(&fixture, &path, Backup::default(), &place(&fixture)).unwrap();
    keys::renew(&Disk, &path, &fixture.access(), &[], false).unwrap();
    let refused = run(&fixture, &path, incremental(), &place(&fixture)).unwrap_err();
    assert_eq!(refused.class(), Class::Usage, "{refused}");
    let full = run(&fixture, &path, Backup::default(), &place(&fixture)).unwrap();
    let next = run(&fixture, &path, incremental(), &place(&fixture)).unwrap();
    assert_eq!(next.base, Some(full.name));
}

/// A backup can't be restored without the key of its base.
#[test]
fn a_backup_for_others_is_no_base() {
    let fixture = Fixture::new();
    let path = made(&fixture, "app.db", "WAL", 300);
    let escrow = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p";
    let how = |incremental, escrow: Option<&str>| Backup {
        incremental,
        recipients: escrow.iter().map(|text| text.parse().unwrap()).collect(),
        ..Backup::default()
    };
    let first = run(&fixture, &path, how(false, None), &place(&fixture)).unwrap();
    let refused = run(&fixture, &path, how(true, Some(escrow)), &place(&fixture)).unwrap_err();
    assert_eq!(refused.class(), Class::Usage, "{refused}");
    let second = run(&fixture, &path, how(false, Some(escrow)), &place(&fixture)).unwrap();
    assert_eq!(
        run(&fixture, &path, how(true, None), &place(&fixture)).unwrap().base,
        Some(first.name)
    );
    assert_eq!(
        run(&fixture, &path, how(true, Some(escrow)), &place(&fixture))
            .unwrap()
            .base,
        Some(second.name)
    );
}

/// A backup with a name from years ahead is not used as a base, and later backups have names of
/// their own time; after one from an hour ahead, the next name is later than that.
#[test]
fn a_backup_from_the_future_does_not_block_later_ones() {
    let fixture = Fixture::new();
    let path = made(&fixture, "app.db", "WAL", 300);
    let first = run(&fixture, &path, Backup::default(), &place(&fixture)).unwrap();
    let unlocked = superblock_of(&fixture, &path);
    let id = unlocked.superblock.database_id;
    let clock = selenite::now();
    for ahead in [3600, 100_000_000] {
        drop(selenite_backup::ArchiveWriter::begin(&place(&fixture), &unlocked, clock + ahead, &[]).unwrap());
    }
    let catalog = Catalog::list(place(&fixture).as_ref(), Some(id)).unwrap();
    assert_eq!(catalog.free_second(id, clock), clock + 3601);
    assert_eq!(catalog.free_second(id, clock + 7200), clock + 7200);
    assert_eq!(catalog.free_second(id, clock + 100_000_000), clock + 100_000_001);
    let next = run(&fixture, &path, incremental(), &place(&fixture)).unwrap();
    assert_eq!(next.base, Some(first.name));
    assert!(next.name.is_after(clock + 3600) && !next.name.is_after(clock + 4000));
}

/// A recipient who was removed since could read what was written later.
#[test]
fn an_interrupted_backup_for_others_is_not_resumed() {
    let fixture = Fixture::new();
    let path = large(&fixture);
    let resuming = |recipient: Option<&str>| Backup {
        resume: true,
        recipients: recipient.iter().map(|text| text.parse().unwrap()).collect(),
        ..Backup::default()
    };
    let interrupted = |recipient| {
        let failing: Arc<dyn Destination> = Arc::new(Failing {
            folder: Folder::new(&fixture.path("backups")),
            left: AtomicUsize::new(3),
        });
        assert!(run(&fixture, &path, resuming(recipient), &failing).is_err());
    };
    let escrow = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p";
    interrupted(Some(escrow));
    assert!(!run(&fixture, &path, resuming(None), &place(&fixture)).unwrap().resumed);
    interrupted(Some(escrow));
    assert!(
        run(&fixture, &path, resuming(Some(escrow)), &place(&fixture))
            .unwrap()
            .resumed
    );
    interrupted(None);
    keys::add(&Disk, &path, &fixture.access(), escrow, "escrow").unwrap();
    assert!(!run(&fixture, &path, resuming(None), &place(&fixture)).unwrap().resumed);
}

/// Two processes that continue one archive: one of them fails at the first name that exists, and
/// the other's is complete.
#[test]
fn of_two_backups_in_one_archive_one_fails() {
    let fixture = Fixture::new();
    let path = large(&fixture);
    let failing: Arc<dyn Destination> = Arc::new(Failing {
        folder: Folder::new(&fixture.path("backups")),
        left: AtomicUsize::new(1),
    });
    let resuming = || Backup {
        resume: true,
        ..Backup::default()
    };
    assert!(run(&fixture, &path, resuming(), &failing).is_err());
    let ends: Vec<Result<Report, EngineError>> = std::thread::scope(|scope| {
        let one = || run(&fixture, &path, resuming(), &place(&fixture));
        let threads = [scope.spawn(one), scope.spawn(one)];
        threads.map(|thread| thread.join().unwrap()).into()
    });
    let done: Vec<&Report> = ends.iter().flatten().collect();
    for end in &ends {
        if let Err(error) = end {
            let EngineError::Backup(BackupError::WrittenByOther { .. }) = error else {
                panic!("{error}");
            };
            assert_eq!(error.class(), Class::Busy);
        }
    }
    assert!(!done.is_empty());
    for report in done {
        assert_eq!(contents(&fixture, &report.name), now(&fixture, &path));
    }
}

#[test]
fn an_incremental_backup_without_a_base_and_a_backup_without_a_key_are_refused() {
    let fixture = Fixture::new();
    let path = made(&fixture, "app.db", "WAL", 20);
    let refused = run(&fixture, &path, incremental(), &place(&fixture)).unwrap_err();
    assert_eq!(refused.class(), Class::Usage, "{refused}");
    let stranger = backup(
        &Disk,
        &path,
        &fixture.access_by("other-key"),
        Backup::default(),
        &place(&fixture),
        &Watch::none(),
    );
    assert_eq!(stranger.unwrap_err().class(), Class::Key);
    assert!(!fixture.path("backups").exists());
}
