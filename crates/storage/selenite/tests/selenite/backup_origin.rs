//! Backups of unknown origin: without origin MACs, or made by a recipient, who has only the
//! archive's key.

use selenite::backup::{Backup, backup};
use selenite::backups::{ArchiveOutcome, Verify, list, verify};
use selenite::drill::{Drill, drill};
use selenite::restore::{Restore, Which, restore};
use selenite::storage::Disk;
use selenite::{Access, Class, EngineError, Watch};
use selenite_backup::{KeySource, OpenArchive, Part};
use selenite_keyring::OriginPolicy;
use selenite_testing::forged_manifest;

use crate::backups::BackupFixture;
use crate::support::superblock_of;

/// Seals the manifest again, as a recipient can.
fn forge(fixture: &BackupFixture, name: &selenite_backup::ArchiveName) {
    let unlocked = superblock_of(&fixture.fixture, &fixture.database);
    let keys = KeySource::Master(&unlocked.master);
    let id = unlocked.superblock.database_id;
    let archive = OpenArchive::open(fixture.place.as_ref(), id, name, &keys).unwrap();
    let object = archive.object(Part::Manifest);
    let sealed = fixture.place.get(&object, 1 << 20).unwrap();
    let forged = forged_manifest(archive.key, sealed);
    fixture.place.remove(&object).unwrap();
    fixture.place.put_new(&object, &forged).unwrap();
}

#[test]
fn a_backup_of_unknown_origin_is_refused_unless_allowed_and_is_reported() {
    let fixture = BackupFixture::new();
    let watch = Watch::none();
    let own = fixture.fixture.access();
    let any = Access {
        origin: Some(OriginPolicy::Any),
        ..fixture.fixture.access()
    };
    let to = |name: &str| Restore::new(&fixture.fixture.path(name));
    let name = fixture.full();
    let restored = restore(&Disk, fixture.place.as_ref(), &own, &to("own.db"), &watch).unwrap();
    assert!(restored.is_own);
    forge(&fixture, &name);

    let refused = restore(&Disk, fixture.place.as_ref(), &own, &to("new.db"), &watch).unwrap_err();
    assert_eq!(refused.class(), Class::Key, "{refused}");
    assert!(refused.to_string().contains("no proof that a holder"), "{refused}");
    let restored = restore(&Disk, fixture.place.as_ref(), &any, &to("new.db"), &watch).unwrap();
    assert!(!restored.is_own);
    let what = Drill {
        database_id: None,
        which: Which::Newest,
        allow_missing: false,
        place: None,
    };
    let refused = drill(fixture.place.as_ref(), &own, &what, &watch).unwrap_err();
    assert_eq!(refused.class(), Class::Key, "{refused}");
    assert!(
        !drill(fixture.place.as_ref(), &any, &what, &watch)
            .unwrap()
            .restored
            .is_own
    );

    let verified = |access: &Access| verify(fixture.place.as_ref(), access, &Verify::default(), &watch).unwrap();
    assert_eq!(verified(&own).closed_count(), 1);
    assert!(matches!(
        verified(&any).archives[0].outcome,
        ArchiveOutcome::Good { is_own: false, .. }
    ));
    let listed = list(fixture.place.as_ref(), &own, None, &watch).unwrap();
    assert!(listed.archives[0].known.is_none() && listed.archives[0].why_not.is_some());
    let listed = list(fixture.place.as_ref(), &any, None, &watch).unwrap();
    assert!(listed.archives[0].known.as_ref().is_some_and(|known| !known.is_own));

    // No backup uses it as a base, and the next full one is the database's own.
    let incremental = Backup {
        incremental: true,
        ..Backup::default()
    };
    let refused = backup(&Disk, &fixture.database, &any, incremental, &fixture.place, &watch);
    assert!(matches!(refused, Err(EngineError::Usage { .. })), "{refused:?}");
    fixture.full();
    assert!(
        restore(&Disk, fixture.place.as_ref(), &own, &to("newest.db"), &watch)
            .unwrap()
            .is_own
    );
}
