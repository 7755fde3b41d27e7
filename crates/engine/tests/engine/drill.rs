//! Drills: a restore that is looked at, and leaves nothing.

use std::fs;

use selenite_backup::ArchiveName;
use selenite_engine::drill::{Drill, Drilled, Rows, drill};
use selenite_engine::restore::Which;
use selenite_engine::storage::Disk;
use selenite_engine::{Class, Database, EngineError, Watch, now, row_digest};

use crate::backups::Shelf;

fn rehearse(shelf: &Shelf, which: Which, key: &str) -> Result<Drilled, EngineError> {
    let place = shelf.bench.path("scratch");
    fs::create_dir_all(&place).unwrap();
    let what = Drill {
        database_id: None,
        which,
        place: Some(place.clone()),
    };
    let access = shelf.bench.access_by(key);
    let drilled = drill(shelf.place.as_ref(), &access, &what, &Watch::nobody());
    assert_eq!(fs::read_dir(&place).unwrap().count(), 0, "something is left");
    drilled
}

#[test]
fn a_drill_says_whether_the_rows_are_those_that_were_backed_up() {
    let shelf = Shelf::new();
    let full = shelf.full();
    let (base, page_count) = shelf.base_of(&full);
    let mut database = Database::open(&Disk, &shelf.database, &shelf.bench.access()).unwrap();
    let digest = row_digest(&mut database, &Watch::nobody(), 0).unwrap();
    let of = |digest| shelf.made_with(now(), Some(base), page_count, digest).0;
    let (right, wrong) = (of(Some(digest)), of(Some([7; 32])));
    let rehearsed = |name: ArchiveName| rehearse(&shelf, Which::Named(name), "key").unwrap();
    let drilled = rehearsed(full);
    assert!(drilled.rows == Rows::Unknown && drilled.is_good());
    let drilled = rehearsed(right);
    assert!(drilled.rows == Rows::Same && drilled.is_good());
    assert_eq!((drilled.restored.link_count, drilled.faults), (2, Some(Vec::new())));
    let drilled = rehearsed(wrong);
    assert!(drilled.rows == Rows::Differ && !drilled.is_good());
}

#[test]
fn a_drill_that_fails_leaves_nothing_either() {
    let shelf = Shelf::new();
    let error = rehearse(&shelf, Which::Newest, "key").unwrap_err();
    assert_eq!(error.class(), Class::Usage);
    shelf.full();
    let error = rehearse(&shelf, Which::Newest, "other-key").unwrap_err();
    assert_eq!(error.class(), Class::Key);
    // Nine pages, and none of them in it.
    shelf.made_with(now() + 30, None, 9, None);
    let error = rehearse(&shelf, Which::Newest, "key").unwrap_err();
    assert_eq!(error.class(), Class::Data);
}
