//! Incremental backups.

use selenite_backup::{BackupError, Destination, Part};
use selenite_format::PageSize;
use selenite_format::anchor::Mark;

use super::fixture::{Fixture, add, mark_of, objects_below, replace, words};

#[test]
fn the_newest_image_of_each_page_counts() {
    let fixture = Fixture::new();
    let destination = fixture.destination();
    let full = fixture.made(1_800_000_000, 4, &[&[&[(1, "a"), (2, "b")]], &[&[(3, "c"), (4, "d")]]]);
    let second = fixture.above(&full, 5, &[&[&[(2, "B")], &[(5, "e")]]]);
    // Later parts and later blocks take precedence, as in an interrupted backup that was continued.
    let third = fixture.above(&second, 3, &[&[&[(1, "x"), (3, "y")], &[(3, "z")]], &[&[(1, "A")]]]);
    for archive in [&full, &second, &third] {
        archive.put(&destination);
    }
    assert_eq!(
        fixture.read(&full.name()).unwrap(),
        words(&[(1, "a"), (2, "b"), (3, "c"), (4, "d")])
    );
    assert_eq!(
        fixture.read(&second.name()).unwrap(),
        words(&[(1, "a"), (2, "B"), (3, "c"), (4, "d"), (5, "e")])
    );
    assert_eq!(
        fixture.read(&third.name()).unwrap(),
        words(&[(1, "A"), (2, "B"), (3, "z")])
    );
    let chain = fixture.chain(&third.name()).unwrap();
    assert_eq!(chain.links().len(), 3);
    let mut marks = std::collections::BTreeMap::new();
    chain
        .marks(&destination, &mut |page_no, mark| {
            marks.insert(page_no, mark);
        })
        .unwrap();
    let expected = [(1, "A"), (2, "B"), (3, "z"), (4, "d"), (5, "e")];
    assert!(
        marks
            .into_iter()
            .eq(expected.map(|(page_no, word)| (page_no, mark_of(word))))
    );
}

#[test]
fn a_missing_unfinished_or_replaced_base_is_an_error() {
    let fixture = Fixture::new();
    let destination = fixture.destination();
    let full = fixture.made(1_800_000_000, 1, &[&[&[(1, "a")]]]);
    let tip = fixture.above(&full, 1, &[&[&[(1, "b")]]]);
    tip.put(&destination);
    let error = fixture.read(&tip.name()).unwrap_err();
    let id_half = full.name().as_str()[17..].to_owned();
    assert!(
        matches!(&error, BackupError::MissingLink { base, .. } if *base == id_half),
        "{error}"
    );

    full.put(&destination);
    assert!(fixture.read(&tip.name()).is_ok());
    destination.remove(&full.object(Part::Manifest)).unwrap();
    assert!(matches!(fixture.read(&tip.name()), Err(BackupError::Chain { .. })));

    // Another manifest by a holder of the key: not the one that the tip is based on.
    let mut again = full;
    again.facts.change_counter += 1;
    again.finish();
    destination
        .put_new(&again.object(Part::Manifest), &again.objects[&Part::Manifest])
        .unwrap();
    let error = fixture.read(&tip.name()).unwrap_err();
    assert!(matches!(error, BackupError::Chain { .. }), "{error}");
}

#[test]
fn a_base_of_another_database_is_refused() {
    let (fixture, other) = (Fixture::new(), Fixture::new());
    let destination = fixture.destination();
    let foreign = other.made(1_800_000_000, 1, &[&[&[(1, "o")]]]);
    let tip = fixture.above(&foreign, 1, &[]);
    tip.put(&destination);
    foreign.put(&destination);
    assert!(matches!(
        fixture.read(&tip.name()),
        Err(BackupError::MissingLink { .. })
    ));
    for (part, bytes) in &foreign.objects {
        let key = selenite_backup::object_key(fixture.id(), &foreign.name(), *part);
        destination.put_new(&key, bytes).unwrap();
    }
    let error = fixture.read(&tip.name()).unwrap_err();
    assert!(matches!(error, BackupError::Unauthentic { .. }), "{error}");
}

#[test]
fn other_page_sizes_and_cyclic_chains_are_refused() {
    let fixture = Fixture::new();
    let destination = fixture.destination();
    let mut full = fixture.made(1_800_000_000, 1, &[]);
    full.facts.page_size = PageSize::try_from(2048).unwrap();
    full.finish();
    let tip = fixture.above(&full, 1, &[&[&[(1, "b")]]]);
    full.put(&destination);
    tip.put(&destination);
    assert!(matches!(fixture.read(&tip.name()), Err(BackupError::Chain { .. })));

    let mut circle = fixture.made(1_800_000_500, 1, &[&[&[(1, "b")]]]);
    circle.facts.base = Some(circle.as_base());
    circle.finish();
    circle.put(&destination);
    let error = fixture.read(&circle.name()).unwrap_err();
    assert!(matches!(error, BackupError::Chain { .. }), "{error}");
}

/// Parts and first objects of two archives of one database, under one master key.
#[test]
fn objects_of_two_archives_are_refused() {
    let fixture = Fixture::new();
    let destination = fixture.destination();
    let (one, two) = (
        fixture.made(1_800_000_000, 1, &[&[&[(1, "a")]]]),
        fixture.made(1_800_000_000, 1, &[&[&[(1, "b")]]]),
    );
    for archive in [&one, &two] {
        archive.put(&destination);
    }
    for part in objects_below(&one) {
        if matches!(part, Part::Index(_)) {
            continue;
        }
        replace(&destination, &one.object(part), &two.objects[&part]);
        let error = fixture.read(&one.name()).unwrap_err();
        assert!(matches!(error, BackupError::Unauthentic { .. }), "{part}: {error}");
        replace(&destination, &one.object(part), &one.objects[&part]);
    }
    replace(&destination, &one.object(Part::Index(0)), &two.objects[&Part::Index(0)]);
    let chain = fixture.chain(&one.name()).unwrap();
    let marks = chain.marks(&destination, &mut |_, _| ());
    assert!(matches!(marks, Err(BackupError::Unauthentic { .. })));
}

/// `missing-stays-missing`: a page missing in one backup is not replaced by its older image.
#[test]
fn a_page_that_was_missing_is_not_taken_from_an_older_backup() {
    let fixture = Fixture::new();
    let destination = fixture.destination();
    let full = fixture.made(1_800_000_000, 2, &[&[&[(1, "a"), (2, "b")]]]);
    let mut second = fixture.above(&full, 2, &[&[&[(1, "A")]]]);
    second.facts.missing = vec![2];
    second.finish();
    let third = fixture.above(&second, 2, &[&[&[(1, "x")]]]);
    let mut mended = selenite_testing::HandMade::begin(&fixture.unlocked, 1_800_009_999, &[]);
    mended.facts.page_count = 2;
    mended.facts.base = Some(second.as_base());
    add(&mut mended, &[&[&[(2, "B")]]]);
    mended.finish();
    for archive in [&full, &second, &third, &mended] {
        archive.put(&destination);
    }
    // The manifest reports the missing page to the caller.
    assert_eq!(fixture.read(&second.name()).unwrap(), words(&[(1, "A")]));
    assert!(matches!(
        fixture.read(&third.name()),
        Err(BackupError::Incomplete { .. })
    ));
    assert_eq!(fixture.read(&mended.name()).unwrap(), words(&[(1, "A"), (2, "B")]));
    // A backup based on it finds no mark for the page, and sends it.
    let chain = fixture.chain(&second.name()).unwrap();
    let mut last = Mark([1; 8]);
    chain
        .marks(&destination, &mut |page_no, mark| {
            if page_no == 2 {
                last = mark;
            }
        })
        .unwrap();
    assert_eq!(last, Mark::default());
}
