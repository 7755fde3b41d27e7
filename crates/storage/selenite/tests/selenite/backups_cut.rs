//! Backups with missing or truncated objects.

use std::fs;

use selenite::backup::{Backup, backup};
use selenite::backups::{BaseState, Listed, Reason, list};
use selenite::restore::{Restore, Restored, Which, restore};
use selenite::storage::Disk;
use selenite::{Class, EngineError, Watch};
use selenite_backup::ArchiveName;

use crate::backups::{BackupFixture, last, removed};

#[test]
fn an_incomplete_backup_does_not_count_for_a_rule() {
    let fixture = BackupFixture::new();
    let (older, _) = fixture.made(1_000_000, None, 1);
    let (old, _) = fixture.made(2_000_000, None, 1);
    let full = fixture.full();
    for object in ["part-00000000", "index-00000000"] {
        let path = fixture.folder(&full).join(object);
        let whole = fs::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        let pruned = fixture.prune(last(1), true);
        assert_eq!(removed(&pruned), std::slice::from_ref(&older), "{object}");
        let reasons = |name: &ArchiveName| {
            let kept = pruned.kept.iter().find(|kept| kept.entry.name == *name);
            kept.unwrap().reasons.clone()
        };
        assert!(reasons(&full).contains(&Reason::Incomplete), "{object}");
        assert!(reasons(&old).contains(&Reason::Newest), "{object}");
        fs::write(&path, whole).unwrap();
    }
    assert_eq!(removed(&fixture.prune(last(1), false)).len(), 2);
    assert_eq!(fixture.names(), [full.as_str()]);
}

/// The same by name and size alone: no object is read.
#[test]
fn a_missing_or_truncated_object_is_listed_by_name() {
    let fixture = BackupFixture::new();
    let full = fixture.full();
    let (base, page_count) = fixture.base_of(&full);
    let (above, _) = fixture.made(selenite::now(), Some(base), page_count);
    let look = |key: &str| {
        let access = fixture.fixture.access_by(key);
        list(fixture.place.as_ref(), &access, None, &Watch::none())
            .unwrap()
            .archives
    };
    let chain_state = |archives: &[Listed]| {
        let above = archives.iter().find(|one| one.entry.name == above).unwrap();
        above.known.as_ref().unwrap().chain_state
    };
    let archives = look("key");
    assert!(archives.iter().all(|one| one.fault.is_none()), "{archives:?}");
    assert_eq!(chain_state(&archives), BaseState::Whole);
    for object in ["part-00000000", "index-00000000", "begun"] {
        let path = fixture.folder(&full).join(object);
        let whole = fs::read(&path).unwrap();
        for is_cut in [false, true] {
            match is_cut {
                false => fs::remove_file(&path).unwrap(),
                true if object == "begun" => continue,
                true => fs::write(&path, &whole[..whole.len() - 100]).unwrap(),
            }
            // Also without its key.
            for key in ["key", "other-key"] {
                let archives = look(key);
                let one = archives.iter().find(|one| one.entry.name == full).unwrap();
                let fault = one.fault.as_ref().unwrap();
                assert!(fault.object.ends_with(&format!("{full}/{object}")), "{fault:?}");
                assert_eq!(fault.what == "it is missing", !is_cut, "{fault:?}");
            }
            assert_eq!(chain_state(&look("key")), BaseState::Broken, "{object}");
            // Only the next incremental backup needs an index.
            if object.starts_with("index") {
                restored(&fixture, &full).unwrap();
                continue;
            }
            let error = restored(&fixture, &full).unwrap_err();
            assert_eq!(error.class(), Class::Data, "{object}: {error}");
            assert!(error.to_string().contains(object), "{error}");
        }
        fs::write(&path, &whole).unwrap();
    }
    restored(&fixture, &full).unwrap();
}

fn restored(fixture: &BackupFixture, name: &ArchiveName) -> Result<Restored, EngineError> {
    let to = fixture.fixture.path("restored.db");
    let how = Restore {
        which: Which::Named(name.clone()),
        force: true,
        ..Restore::new(&to)
    };
    restore(
        &Disk,
        fixture.place.as_ref(),
        &fixture.fixture.access(),
        &how,
        &Watch::none(),
    )
}

/// The next backup would depend on this one, and be useless with it.
#[test]
fn an_incremental_backup_with_a_bad_base_advises_a_full_one() {
    let fixture = BackupFixture::new();
    let full = fixture.full();
    let incremental = || {
        let how = Backup {
            incremental: true,
            ..Backup::default()
        };
        backup(
            &Disk,
            &fixture.database,
            &fixture.fixture.access(),
            how,
            &fixture.place,
            &Watch::none(),
        )
    };
    for object in ["begun", "index-00000000", "part-00000000", "manifest"] {
        let path = fixture.folder(&full).join(object);
        let whole = fs::read(&path).unwrap();
        let mut flipped = whole.clone();
        let middle = flipped.len() / 2;
        flipped[middle] ^= 1;
        for bytes in [None, Some(flipped), Some(whole[..whole.len() / 2].to_vec())] {
            match &bytes {
                None => fs::remove_file(&path).unwrap(),
                Some(bytes) => fs::write(&path, bytes).unwrap(),
            }
            let is_flipped = bytes.as_ref().is_some_and(|bytes| bytes.len() == whole.len());
            match (object, is_flipped, bytes) {
                // A restore or a verification finds that: an incremental backup does not read
                // pages.
                ("part-00000000", true, _) => {}
                // Without a manifest it is not a backup: there is no base.
                ("manifest", _, None) => {
                    let error = incremental().unwrap_err();
                    assert_eq!(error.class(), Class::Usage, "{error}");
                    assert!(error.advice().contains("without --incremental"), "{error}");
                }
                _ => {
                    let error = incremental().unwrap_err();
                    assert_eq!(error.class(), Class::Data, "{object}: {error}");
                    let command = format!(
                        "selenite backup {} {}",
                        fixture.database.display(),
                        fixture.place.place()
                    );
                    assert!(error.advice().contains(&command), "{}", error.advice());
                }
            }
        }
        fs::write(&path, &whole).unwrap();
    }
    incremental().unwrap();
}
