//! A restore has the backed up content, and nothing else.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use selenite::backup::{Backup, backup};
use selenite::restore::{Replaced, Restore, Restored, Which, restore};
use selenite::storage::Disk;
use selenite::{Access, Class, Database, EngineError, Layout, Watch};
use selenite_backup::{ArchiveName, Destination, Folder};
use selenite_format::SlotKind;
use selenite_keyring::KeyError;

use crate::support::{Collected, Fixture, query, rewrite_superblock, superblock_of};

/// A database with rows, in this journal mode.
pub fn made(fixture: &Fixture, name: &str, mode: &str, rows: u32) -> PathBuf {
    let path = fixture.path(name);
    let access = fixture.access();
    drop(Database::create(&Disk, &path, &access, &Layout::default()).unwrap());
    let sql = format!(
        "PRAGMA journal_mode = {mode};
         CREATE TABLE t (a INTEGER PRIMARY KEY, b);
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows})
         INSERT INTO t (b) SELECT hex(randomblob(100)) FROM n;"
    );
    query(&path, &access, &sql).unwrap();
    path
}

pub fn back_up(fixture: &Fixture, path: &Path) -> ArchiveName {
    let destination: Arc<dyn Destination> = Arc::new(Folder::new(&fixture.path("backups")));
    let how = Backup::default();
    let done = backup(&Disk, path, &fixture.access(), how, &destination, &Watch::none());
    done.unwrap().name
}

pub fn from_backups(fixture: &Fixture, how: &Restore) -> Result<Restored, EngineError> {
    let destination = Folder::new(&fixture.path("backups"));
    restore(&Disk, &destination, &fixture.access(), how, &Watch::none())
}

fn from_backups_by(fixture: &Fixture, key: &str, how: &Restore) -> Result<Restored, EngineError> {
    let destination = Folder::new(&fixture.path("backups"));
    restore(&Disk, &destination, &fixture.access_by(key), how, &Watch::none())
}

pub const CONTENTS: &str = "SELECT count(*), sum(length(b)), min(b), max(b), group_concat(b) FROM t";

pub fn same(fixture: &Fixture, one: &Path, two: &Path) -> bool {
    let access = fixture.access();
    let ok = query(two, &access, "PRAGMA integrity_check").unwrap();
    assert_eq!(format!("{ok:?}"), "[[Text(\"ok\")]]");
    query(one, &access, CONTENTS).unwrap() == query(two, &access, CONTENTS).unwrap()
}

#[test]
fn a_backup_is_restored_under_a_new_key() {
    for mode in ["DELETE", "WAL"] {
        let fixture = Fixture::new();
        let path = made(&fixture, "app.db", mode, 3000);
        let name = back_up(&fixture, &path);
        let to = fixture.path("new.db");
        let restored = from_backups(&fixture, &Restore::new(&to)).unwrap();
        assert!(same(&fixture, &path, &to), "{mode}");
        assert_eq!(restored.name, name);
        assert!(restored.page_count > 100, "{}", restored.page_count);
        assert_eq!((restored.link_count, restored.has_new_master), (1, false));
        assert_eq!(restored.replaced, Replaced::default());
        let (old, new) = (superblock_of(&fixture, &path), superblock_of(&fixture, &to));
        assert_eq!(old.superblock.slots, new.superblock.slots);
        assert_eq!(old.superblock.database_id, new.superblock.database_id);
        assert!(new.superblock.generation > old.superblock.generation && new.superblock.pages_exist);
        assert_eq!(new.superblock.sealing_epoch.0, old.superblock.epoch_max.0 + 1);
        assert_ne!(old.superblock.log_key, new.superblock.log_key);
        let journal = query(&to, &fixture.access(), "PRAGMA journal_mode").unwrap();
        assert_eq!(format!("{journal:?}"), format!("[[Text(\"{}\")]]", mode.to_lowercase()));
        assert_eq!(fixture.names(), ["app.db", "backups", "new.db"]);
        // Only its owner may read it.
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(&to).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn an_existing_file_is_replaced_only_with_force() {
    let fixture = Fixture::new();
    let path = made(&fixture, "app.db", "WAL", 300);
    back_up(&fixture, &path);
    let to = made(&fixture, "other.db", "WAL", 20);
    let how = Restore::new(&to);
    let error = from_backups(&fixture, &how).unwrap_err();
    assert!(matches!(error, EngineError::Exists { .. }), "{error}");
    assert!(error.advice().contains("--force"), "{}", error.advice());
    let before = superblock_of(&fixture, &to);
    let how = Restore { force: true, ..how };
    let restored = from_backups(&fixture, &how).unwrap();
    assert_eq!(
        (restored.replaced.was_there, &restored.replaced.unopened),
        (true, &None)
    );
    assert_eq!(restored.replaced.not_retired, None);
    assert!(same(&fixture, &path, &to));
    assert_ne!(
        before.superblock.database_id,
        superblock_of(&fixture, &to).superblock.database_id
    );
}

/// Of the same database: its epochs and generations are never reused.
#[test]
fn a_restore_over_a_later_state_has_a_higher_epoch() {
    let fixture = Fixture::new();
    let path = made(&fixture, "app.db", "DELETE", 300);
    back_up(&fixture, &path);
    for _ in 0..3 {
        let how = selenite::offline::Offline::default();
        selenite::offline::offline(&Disk, &path, &fixture.access(), &how, &Watch::none()).unwrap();
    }
    let before = superblock_of(&fixture, &path).superblock;
    let how = Restore {
        force: true,
        ..Restore::new(&path)
    };
    from_backups(&fixture, &how).unwrap();
    let after = superblock_of(&fixture, &path).superblock;
    assert_eq!(after.epoch_max.0, before.epoch_max.0 + 1);
    assert!(after.generation > before.generation + 2);
}

#[test]
fn an_unopenable_file_is_replaced_with_its_logs() {
    let fixture = Fixture::new();
    let path = made(&fixture, "app.db", "WAL", 300);
    back_up(&fixture, &path);
    let damaged = made(&fixture, "damaged.db", "DELETE", 300);
    let mut bytes = std::fs::read(&damaged).unwrap();
    bytes[100..200].fill(0xee);
    bytes[32868..32968].fill(0xee);
    std::fs::write(&damaged, bytes).unwrap();
    let junk = fixture.path("junk.db");
    std::fs::write(&junk, "junk").unwrap();
    let empty = fixture.path("empty.db");
    std::fs::write(&empty, "").unwrap();
    let missing = fixture.path("missing.db");
    for to in [damaged, junk, empty, missing] {
        for companion in ["-wal", "-shm", "-journal"] {
            std::fs::write(format!("{}{companion}", to.display()), "of the old one").unwrap();
        }
        assert!(matches!(
            from_backups(&fixture, &Restore::new(&to)),
            Err(EngineError::Exists { .. })
        ));
        let how = Restore {
            force: true,
            ..Restore::new(&to)
        };
        let restored = from_backups(&fixture, &how).unwrap();
        assert!(restored.replaced.unopened.is_some());
        let name = to.file_name().unwrap().to_str().unwrap();
        let beside: Vec<String> = fixture
            .names()
            .into_iter()
            .filter(|found| found.contains(name))
            .collect();
        assert_eq!(beside, [name]);
        assert!(same(&fixture, &path, &to));
    }
}

/// An unavailable key gives no information about the file: here one slot has parameters that are
/// not allowed.
#[test]
fn a_file_is_not_replaced_if_its_key_is_unavailable() {
    let fixture = Fixture::new();
    let path = made(&fixture, "app.db", "DELETE", 300);
    back_up(&fixture, &path);
    let to = made(&fixture, "other.db", "DELETE", 20);
    rewrite_superblock(&fixture, &to, |next| {
        let slot = &mut next.superblock.slots[0];
        slot.kind = SlotKind::Passphrase;
        slot.identifier = Vec::new();
        slot.parameters = vec![1; 27];
    });
    std::fs::write(fixture.path("passphrase-key"), "correct horse\n").unwrap();
    let access = Access {
        identity: Some(
            format!("passphrase:{}", fixture.path("passphrase-key").display())
                .parse()
                .unwrap(),
        ),
        ..fixture.access()
    };
    let before = std::fs::read(&to).unwrap();
    let how = Restore {
        force: true,
        ..Restore::new(&to)
    };
    let destination = Folder::new(&fixture.path("backups"));
    let error = restore(&Disk, &destination, &access, &how, &Watch::none()).unwrap_err();
    let is_refused = matches!(error, EngineError::Key(KeyError::KeyRefused { .. }));
    assert!(is_refused, "{error}");
    assert_eq!(std::fs::read(&to).unwrap(), before);
    // With this identity, the file is of another key.
    let restored = from_backups_by(&fixture, "other-key", &how).unwrap_err();
    assert!(matches!(restored, EngineError::Backup(_)), "{restored}");
}

#[test]
fn a_database_in_use_is_not_replaced() {
    let fixture = Fixture::new();
    let path = made(&fixture, "app.db", "WAL", 300);
    back_up(&fixture, &path);
    let user = Database::open(&Disk, &path, &fixture.access()).unwrap();
    user.run("BEGIN; SELECT * FROM t", &mut Collected::default()).unwrap();
    let how = Restore {
        force: true,
        ..Restore::new(&path)
    };
    let error = from_backups(&fixture, &how).unwrap_err();
    assert_eq!(error.class(), Class::Busy, "{error}");
    drop(user);
    from_backups(&fixture, &how).unwrap();
}

#[test]
fn a_restore_for_other_recipients_is_another_database() {
    let fixture = Fixture::new();
    let path = made(&fixture, "app.db", "DELETE", 300);
    back_up(&fixture, &path);
    let to = fixture.path("new.db");
    let how = Restore {
        recipients: vec![fixture.spec("other-key")],
        ..Restore::new(&to)
    };
    let restored = from_backups(&fixture, &how).unwrap();
    assert!(restored.has_new_master && restored.database_id != restored.of);
    let error = query(&to, &fixture.access(), CONTENTS).unwrap_err();
    assert_eq!(error.class(), Class::Key, "{error}");
    let other = fixture.access_by("other-key");
    assert_eq!(
        query(&to, &other, CONTENTS).unwrap(),
        query(&path, &fixture.access(), CONTENTS).unwrap()
    );
}

#[test]
fn a_backup_is_chosen_by_name_or_time() {
    let fixture = Fixture::new();
    let path = made(&fixture, "app.db", "DELETE", 300);
    let first = back_up(&fixture, &path);
    let to = fixture.path("new.db");
    let with = |which: Which| {
        let how = Restore {
            which,
            force: true,
            ..Restore::new(&to)
        };
        from_backups(&fixture, &how)
    };
    assert_eq!(with(Which::Named(first.clone())).unwrap().name, first);
    assert_eq!(with(Which::At(u64::MAX / 2)).unwrap().name, first);
    for which in [
        Which::At(1),
        Which::Named("20260301T120000Z-0123456789abcdef".parse().unwrap()),
    ] {
        let error = with(which).unwrap_err();
        assert_eq!(error.class(), Class::Usage, "{error}");
    }
    // With backups of two databases, the database has to be chosen.
    let other = made(&fixture, "other.db", "DELETE", 300);
    let second = back_up(&fixture, &other);
    assert_eq!(with(Which::Newest).unwrap_err().class(), Class::Usage);
    assert_eq!(with(Which::Named(second.clone())).unwrap().name, second);
    let how = Restore {
        database_id: Some(superblock_of(&fixture, &path).superblock.database_id),
        force: true,
        ..Restore::new(&to)
    };
    assert_eq!(from_backups(&fixture, &how).unwrap().name, first);
}

#[test]
fn without_a_key_nothing_is_restored() {
    let fixture = Fixture::new();
    let path = made(&fixture, "app.db", "DELETE", 300);
    back_up(&fixture, &path);
    let destination = Folder::new(&fixture.path("backups"));
    let how = Restore::new(&fixture.path("new.db"));
    let other = fixture.access_by("other-key");
    let error = restore(&Disk, &destination, &other, &how, &Watch::none()).unwrap_err();
    assert_eq!(error.class(), Class::Key, "{error}");
    let nowhere = Folder::new(&fixture.path("nowhere"));
    let error = restore(&Disk, &nowhere, &fixture.access(), &how, &Watch::none()).unwrap_err();
    assert_eq!(error.class(), Class::Io, "{error}");
    assert!(error.to_string().contains("nowhere"), "{error}");
    std::fs::create_dir(fixture.path("nowhere")).unwrap();
    let error = restore(&Disk, &nowhere, &fixture.access(), &how, &Watch::none()).unwrap_err();
    assert_eq!(error.class(), Class::Usage, "{error}");
    std::fs::remove_dir(fixture.path("nowhere")).unwrap();
    assert_eq!(fixture.names(), ["app.db", "backups"]);
}
