use selenite_backup::{Catalog, Destination, Part, archive_key_prefix, parse_database_id};

use super::fixture::{Fixture, add};

#[test]
fn archives_are_listed_with_their_objects_and_foreign_objects_are_counted() {
    let fixture = Fixture::new();
    let destination = fixture.destination();
    assert!(Catalog::read(&destination, None).unwrap().entries.is_empty());
    let full = fixture.made(1_800_000_000, 3, &[&[&[(1, "a"), (2, "b"), (3, "c")]]]);
    full.put(&destination);
    let mut unfinished = selenite_testing::HandMade::begin(&fixture.unlocked, 1_800_000_100, &[]);
    unfinished.facts.page_count = 1;
    add(&mut unfinished, &[&[&[(1, "x")]]]);
    unfinished.put(&destination);
    let other = Fixture::new().made(1_700_000_000, 1, &[&[&[(1, "o")]]]);
    other.put(&destination);

    let catalog = Catalog::read(&destination, None).unwrap();
    assert_eq!((catalog.entries.len(), catalog.foreign_count), (3, 0));
    let mut ids = [fixture.id(), other.begun.database_id];
    ids.sort();
    assert_eq!(catalog.databases(), ids);
    let own: Vec<_> = catalog.of(fixture.id()).collect();
    assert_eq!([&own[0].name, &own[1].name], [&full.name(), &unfinished.name()]);
    assert_eq!([own[0].is_finished, own[1].is_finished], [true, false]);
    assert_eq!(own[0].archive_id, Some(full.begun.archive_id));
    assert_eq!((own[0].object_count, own[0].part_count, own[0].index_count), (4, 1, 1));
    let size: usize = full.objects.values().map(Vec::len).sum();
    assert_eq!(own[0].size, u64::try_from(size).unwrap());
    assert!(own[0].modified > 1_700_000_000);

    // Foreign objects: other names, and archives whose first object belongs to another, or is missing.
    for name in [
        "readme",
        "a/b/c",
        &format!("{}x", archive_key_prefix(fixture.id(), &full.name())),
    ] {
        destination.put_new(name, b"1").unwrap();
    }
    let moved = archive_key_prefix(fixture.id(), &other.name());
    for (part, bytes) in &other.objects {
        destination.put_new(&format!("{moved}{part}"), bytes).unwrap();
    }
    destination.remove(&unfinished.object(Part::Begun)).unwrap();
    let catalog = Catalog::read(&destination, Some(fixture.id())).unwrap();
    // The archive that was moved has a manifest: it may be a backup.
    assert_eq!((catalog.entries.len(), catalog.foreign_count), (2, 1 + 2));
    let lost = catalog
        .of(fixture.id())
        .find(|entry| entry.name == other.name())
        .unwrap();
    assert_eq!((lost.archive_id, lost.is_finished), (None, true));
    let all = Catalog::list(&destination, None).unwrap();
    // The content of a folder with a foreign name is not even counted.
    assert_eq!((all.entries.len(), all.foreign_count), (4, 2));
}

#[test]
fn the_next_free_second_is_after_all_archives_of_this_database() {
    let fixture = Fixture::new();
    let destination = fixture.destination();
    let begun = 1_800_000_000;
    for second in [begun, begun + 1, begun + 3] {
        fixture.made(second, 1, &[&[&[(1, "a")]]]).put(&destination);
    }
    Fixture::new().made(begun + 2, 1, &[&[&[(1, "o")]]]).put(&destination);
    let catalog = Catalog::list(&destination, None).unwrap();
    let free = |now| catalog.free_second(fixture.id(), now) - begun;
    assert_eq!([begun, begun + 2, begun + 3, begun + 9].map(free), [4, 4, 4, 9]);
}

#[test]
fn the_name_of_a_folder_is_an_id() {
    let id = parse_database_id("00112233445566778899aabbccddeeff").unwrap();
    assert_eq!(id.0[15], 0xff);
    for text in [
        "",
        "00112233445566778899AABBCCDDEEFF",
        "0011223344556677 899aabbccddeef",
        "00",
    ] {
        assert_eq!(parse_database_id(text), None, "{text}");
    }
}
