//! Pages of many parts, and what was fetched before.

use selenite_backup::{BackupError, Cached, Chain, Destination, Part};

use crate::fixture::{Bench, Lying, words};

#[test]
fn a_part_in_the_place_of_another_is_refused() {
    let bench = Bench::new();
    let destination = bench.destination();
    let archive = bench.made(1_800_000_000, 2, &[&[&[(1, "a")]], &[&[(2, "b")]]]);
    archive.put(&destination);
    assert_eq!(bench.read(&archive.name()).unwrap(), words(&[(1, "a"), (2, "b")]));
    let lying = Lying {
        below: &destination,
        name: archive.object(Part::Pages(0)),
        answer: archive.objects[&Part::Pages(1)].clone(),
    };
    let chain = Chain::open(&lying, bench.id(), &archive.name(), &[], &bench.keys()).unwrap();
    let read = chain.pages(&lying, &mut |_, _: &[u8]| Ok::<(), BackupError>(()));
    assert!(matches!(read, Err(BackupError::Unauthentic { .. })));
    destination.remove(&archive.object(Part::Pages(0))).unwrap();
    assert!(matches!(bench.read(&archive.name()), Err(BackupError::Store(_))));
}

#[test]
fn pages_beyond_the_last_are_left_out_and_missing_ones_named() {
    let bench = Bench::new();
    let archive = bench.made(
        1_800_000_000,
        2,
        &[&[&[(1, "a"), (2, "b"), (3, "c"), (4_000_000_000, "d")]]],
    );
    archive.put(&bench.destination());
    assert_eq!(bench.read(&archive.name()).unwrap(), words(&[(1, "a"), (2, "b")]));
    let archive = bench.made(1_800_000_001, 20, &[&[&[(1, "a"), (2, "b")]]]);
    archive.put(&bench.destination());
    let BackupError::Incomplete { what, .. } = bench.read(&archive.name()).unwrap_err() else {
        panic!("not incomplete")
    };
    assert!(
        what.starts_with("18 of its pages") && what.ends_with("3, 4, 5, 6, 7, 8, 9, 10, 11, 12, ..."),
        "{what}"
    );
}

#[test]
fn who_takes_pages_can_stop_in_the_middle() {
    let bench = Bench::new();
    let parts: Vec<Vec<(u32, &str)>> = (1..=8).map(|page_no| vec![(page_no, "p")]).collect();
    let blocks: Vec<[&[(u32, &str)]; 1]> = parts.iter().map(|part| [part.as_slice()]).collect();
    let slices: Vec<&[&[(u32, &str)]]> = blocks.iter().map(|block| block.as_slice()).collect();
    let archive = bench.made(1_800_000_000, 8, &slices);
    archive.put(&bench.destination());
    let chain = bench.chain(&archive.name()).unwrap();
    let mut count = 0;
    let read = chain.pages(&bench.destination(), &mut |_, _: &[u8]| {
        count += 1;
        if count == 3 { Err(BackupError::Stopped) } else { Ok(()) }
    });
    assert!(matches!(read, Err(BackupError::Stopped)));
    assert_eq!(count, 3);
}

/// D1.
#[test]
fn what_was_fetched_is_not_fetched_again_unless_it_is_no_good() {
    let bench = Bench::new();
    let archive = bench.made(1_800_000_000, 2, &[&[&[(1, "a")]], &[&[(2, "b")]]]);
    archive.put(&bench.destination());
    let near = tempfile::tempdir().unwrap();
    let folder = near.path().join("fetched");
    let read = |far: &dyn Destination| -> u64 {
        let cached = Cached::new(far, &folder);
        let before = far.traffic().requests;
        let chain = Chain::open(&cached, bench.id(), &archive.name(), &[], &bench.keys()).unwrap();
        let count = chain
            .pages(&cached, &mut |_, _: &[u8]| Ok::<(), BackupError>(()))
            .unwrap();
        assert_eq!(count, 2);
        far.traffic().requests - before
    };
    let far = bench.destination();
    assert_eq!((read(&far), read(&far)), (4, 0));
    for (part, bytes) in [
        (Part::Pages(1), &b""[..]),
        (Part::Begun, b"selenite begun 1"),
        (Part::Manifest, b"x"),
    ] {
        let path = folder.join(archive.object(part));
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, bytes).unwrap();
        assert_eq!((read(&far), read(&far)), (1, 0), "{part}");
    }
    Cached::new(&far, &folder).forget();
    assert!(!folder.exists());
    assert_eq!(read(&far), 4);
}
