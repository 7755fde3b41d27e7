//! Pages of many parts, and the cache.

use selenite_backup::{
    BackupError, Cached, Chain, CompressionLevel, Destination, OpenArchive, Part,
    archive::{IndexBlock, Packer, PartWriter, index_count_max},
};
use selenite_cipher::PartKind;

use super::fixture::{Fixture, Lying, mark_of, words};

#[test]
fn a_part_moved_to_another_place_is_refused() {
    let fixture = Fixture::new();
    let destination = fixture.destination();
    let archive = fixture.made(1_800_000_000, 2, &[&[&[(1, "a")]], &[&[(2, "b")]]]);
    archive.put(&destination);
    assert_eq!(fixture.read(&archive.name()).unwrap(), words(&[(1, "a"), (2, "b")]));
    let lying = Lying {
        below: &destination,
        name: archive.object(Part::Pages(0)),
        answer: archive.objects[&Part::Pages(1)].clone(),
    };
    let chain = Chain::open(&lying, fixture.id(), &archive.name(), &[], &fixture.keys()).unwrap();
    let read = chain.pages(&lying, &mut |_, _: &[u8]| Ok::<(), BackupError>(()));
    assert!(matches!(read, Err(BackupError::Unauthentic { .. })));
    destination.remove(&archive.object(Part::Pages(0))).unwrap();
    let error = fixture.read(&archive.name()).unwrap_err();
    let is_named = matches!(&error, BackupError::Missing { object } if *object == archive.object(Part::Pages(0)));
    assert!(is_named, "{error}");
}

#[test]
fn pages_beyond_the_last_are_omitted_and_missing_ones_are_reported() {
    let fixture = Fixture::new();
    let archive = fixture.made(
        1_800_000_000,
        2,
        &[&[&[(1, "a"), (2, "b"), (3, "c"), (4_000_000_000, "d")]]],
    );
    archive.put(&fixture.destination());
    assert_eq!(fixture.read(&archive.name()).unwrap(), words(&[(1, "a"), (2, "b")]));
    let archive = fixture.made(1_800_000_001, 20, &[&[&[(1, "a"), (2, "b")]]]);
    archive.put(&fixture.destination());
    let BackupError::Incomplete { what, .. } = fixture.read(&archive.name()).unwrap_err() else {
        panic!("not incomplete")
    };
    assert!(
        what.starts_with("18 of its pages") && what.ends_with("3, 4, 5, 6, 7, 8, 9, 10, 11, 12, ..."),
        "{what}"
    );
}

/// `index-bounded`: six blocks of numbers and marks, which compress to a few bytes.
#[test]
fn an_index_of_more_pages_than_a_part_can_hold_is_refused() {
    let fixture = Fixture::new();
    let mut archive = fixture.made(1_800_000_000, 1, &[&[&[(1, "a")]]]);
    let mut packer = Packer::new(CompressionLevel::default()).unwrap();
    let (mut block, mut packed) = (Vec::new(), Vec::new());
    IndexBlock::encode(&vec![(1, mark_of("a")); index_count_max()], &mut block);
    packer.pack(&block, &mut packed);
    for (block_count, is_taken) in [(5, true), (6, false)] {
        let mut index = PartWriter::default();
        for _ in 0..block_count {
            assert!(index.push(&packed));
        }
        let part_salt = archive.facts.parts[0];
        let sealed = index.seal(&archive.key, (PartKind::Index, 0, part_salt), true);
        archive.objects.insert(Part::Index(0), sealed);
        let destination = fixture.destination();
        let _ = destination.remove(&archive.object(Part::Index(0)));
        let sealed = &archive.objects[&Part::Index(0)];
        destination.put_new(&archive.object(Part::Index(0)), sealed).unwrap();
        if is_taken {
            let begun = &archive.objects[&Part::Begun];
            destination.put_new(&archive.object(Part::Begun), begun).unwrap();
        }
        let opened = OpenArchive::open(&destination, fixture.id(), &archive.name(), &fixture.keys()).unwrap();
        let read = opened.index(&destination, 0, (None, &part_salt));
        assert_eq!(read.is_ok(), is_taken, "{block_count}");
    }
}

#[test]
fn the_consumer_of_pages_can_stop_early() {
    let fixture = Fixture::new();
    let parts: Vec<Vec<(u32, &str)>> = (1..=8).map(|page_no| vec![(page_no, "p")]).collect();
    let blocks: Vec<[&[(u32, &str)]; 1]> = parts.iter().map(|part| [part.as_slice()]).collect();
    let slices: Vec<&[&[(u32, &str)]]> = blocks.iter().map(|block| block.as_slice()).collect();
    let archive = fixture.made(1_800_000_000, 8, &slices);
    archive.put(&fixture.destination());
    let chain = fixture.chain(&archive.name()).unwrap();
    let mut count = 0;
    let read = chain.pages(&fixture.destination(), &mut |_, _: &[u8]| {
        count += 1;
        if count == 3 { Err(BackupError::Stopped) } else { Ok(()) }
    });
    assert!(matches!(read, Err(BackupError::Stopped)));
    assert_eq!(count, 3);
}

/// Checks `cache-is-not-trusted` of `cached.rs`.
#[test]
fn cached_objects_are_fetched_again_only_if_they_are_invalid() {
    let fixture = Fixture::new();
    let archive = fixture.made(1_800_000_000, 2, &[&[&[(1, "a")]], &[&[(2, "b")]]]);
    archive.put(&fixture.destination());
    let near = tempfile::tempdir().unwrap();
    let folder = near.path().join("fetched");
    let read = |remote: &dyn Destination| -> u64 {
        let cached = Cached::new(remote, &folder);
        let before = remote.traffic().requests;
        let chain = Chain::open(&cached, fixture.id(), &archive.name(), &[], &fixture.keys()).unwrap();
        let count = chain
            .pages(&cached, &mut |_, _: &[u8]| Ok::<(), BackupError>(()))
            .unwrap();
        assert_eq!(count, 2);
        remote.traffic().requests - before
    };
    let remote = fixture.destination();
    assert_eq!((read(&remote), read(&remote)), (4, 0));
    for (part, bytes) in [
        (Part::Pages(1), &b""[..]),
        (Part::Begun, b"selenite begun 1"),
        (Part::Manifest, b"x"),
    ] {
        let path = folder.join(archive.object(part));
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, bytes).unwrap();
        assert_eq!((read(&remote), read(&remote)), (1, 0), "{part}");
    }
    Cached::new(&remote, &folder).forget();
    assert!(!folder.exists());
    assert_eq!(read(&remote), 4);
}
