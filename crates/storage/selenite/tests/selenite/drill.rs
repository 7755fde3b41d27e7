//! Drills: a restore that is checked, and leaves no file.

use std::fs;

use selenite::drill::{Drill, Drilled, Rows, drill};
use selenite::restore::Which;
use selenite::storage::Disk;
use selenite::{Class, Database, EngineError, Watch, now, row_digest};
use selenite_backup::ArchiveName;

use crate::backups::BackupFixture;

fn rehearse(fixture: &BackupFixture, which: Which, key: &str) -> Result<Drilled, EngineError> {
    let place = fixture.fixture.path("scratch");
    fs::create_dir_all(&place).unwrap();
    let what = Drill {
        database_id: None,
        which,
        allow_missing: false,
        place: Some(place.clone()),
    };
    let access = fixture.fixture.access_by(key);
    let drilled = drill(fixture.place.as_ref(), &access, &what, &Watch::none());
    assert_eq!(fs::read_dir(&place).unwrap().count(), 0, "something is left");
    drilled
}

#[test]
fn a_drill_says_whether_the_rows_are_those_that_were_backed_up() {
    let fixture = BackupFixture::new();
    let full = fixture.full();
    let (base, page_count) = fixture.base_of(&full);
    let mut database = Database::open(&Disk, &fixture.database, &fixture.fixture.access()).unwrap();
    let digest = row_digest(&mut database, &Watch::none(), 0).unwrap();
    let of = |digest| fixture.made_with(now(), Some(base), page_count, digest).0;
    let (right, wrong) = (of(Some(digest)), of(Some([7; 32])));
    let rehearsed = |name: ArchiveName| rehearse(&fixture, Which::Named(name), "key").unwrap();
    let drilled = rehearsed(full);
    assert!(drilled.rows == Rows::Unknown && drilled.is_good());
    let drilled = rehearsed(right);
    assert!(drilled.rows == Rows::Same && drilled.is_good());
    assert_eq!((drilled.restored.link_count, drilled.faults), (2, Some(Vec::new())));
    let drilled = rehearsed(wrong);
    assert!(drilled.rows == Rows::Differ && !drilled.is_good());
}

/// From a clock that was once ahead.
#[test]
fn a_backup_from_the_future_does_not_hide_later_ones() {
    let fixture = BackupFixture::new();
    let full = fixture.full();
    let (base, page_count) = fixture.base_of(&full);
    let of = |time| fixture.made_with(time, Some(base), page_count, None).0;
    let (sooner, later) = (of(now() + 2 * 86_400), of(now() + 3 * 86_400));
    let restored = rehearse(&fixture, Which::Newest, "key").unwrap().restored;
    assert_eq!(
        (restored.name, restored.passed_over),
        (full, vec![later.clone(), sooner])
    );
    let restored = rehearse(&fixture, Which::Named(later.clone()), "key").unwrap().restored;
    assert_eq!((restored.name, restored.passed_over), (later, Vec::new()));
    // Two clocks may differ by a minute.
    let near = of(now() + 20);
    assert_eq!(rehearse(&fixture, Which::Newest, "key").unwrap().restored.name, near);
    // If there is no other, it is the newest: nine pages, none of which it has.
    let fixture = BackupFixture::new();
    fixture.made_with(now() + 86_400, None, 9, None);
    let error = rehearse(&fixture, Which::Newest, "key").unwrap_err();
    assert_eq!(error.class(), Class::Data, "{error}");
}

#[test]
fn a_drill_that_fails_leaves_nothing_either() {
    let fixture = BackupFixture::new();
    let error = rehearse(&fixture, Which::Newest, "key").unwrap_err();
    assert_eq!(error.class(), Class::Io);
    fixture.full();
    let error = rehearse(&fixture, Which::Newest, "other-key").unwrap_err();
    assert_eq!(error.class(), Class::Key);
    // Nine pages, none of which it has.
    fixture.made_with(now() + 30, None, 9, None);
    let error = rehearse(&fixture, Which::Newest, "key").unwrap_err();
    assert_eq!(error.class(), Class::Data);
}
