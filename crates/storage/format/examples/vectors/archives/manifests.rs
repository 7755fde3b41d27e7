//! The manifest: FORMAT 12.5 and 12.8.

use selenite_cipher::PartKind;

use crate::archive::{Archive, content, sealed, stored};
use crate::archives::{full, full_unfinished, opens};
use crate::vector::Vector;

pub fn all() -> Vec<Vector> {
    [objects(), says(), lists()].concat()
}

fn refused(case: &str, comment: &str, archive: &Archive) -> Vector {
    crate::archives::refused(&format!("manifest-{case}"), "manifest refused", comment, archive)
}

fn objects() -> Vec<Vector> {
    let (whole, other) = (full("full"), full("other"));
    let manifest = "manifest";
    let as_kind = |kind, number| {
        let plain = content(&[stored(&whole.facts.encode())]);
        let object = sealed(&whole.key(), kind, number, [8; 16], &plain);
        whole.clone().with(manifest, object)
    };
    let missing = whole.clone().without(manifest);
    let mut begun = full_unfinished("begun otherwise").finish();
    // Another valid and authentic `begun` of the same archive.
    let wrapped = crate::world::master_key().wrap_archive_key([9; 12], &begun.key());
    begun.begun.wrapped_key = wrapped;
    begun.seal_begun();
    vec![
        crate::archives::refused("manifest-missing", "manifest missing", "there is no manifest", &missing),
        refused(
            "flip",
            "a bit of the manifest is flipped",
            &whole.clone().flipped(manifest, 60),
        ),
        refused(
            "cut",
            "the manifest lacks its last byte",
            &whole.clone().cut(manifest, 1),
        ),
        refused(
            "other-archive",
            "the manifest is another archive's",
            &whole.clone().with(manifest, other.objects[manifest].clone()),
        ),
        refused(
            "other-begun",
            "what opens it was re-encrypted, and the manifest names it as it was",
            &begun,
        ),
        refused(
            "number",
            "the manifest is part 1 of its kind",
            &as_kind(PartKind::Facts, 1),
        ),
        refused(
            "kind",
            "the manifest is of the kind of the log",
            &as_kind(PartKind::Log, 0),
        ),
    ]
}

/// A manifest that only a holder of the archive key can write.
fn of(name: &'static str, change: &dyn Fn(&mut Vec<u8>)) -> Archive {
    let archive = full_unfinished(name);
    let mut facts = archive.facts.encode();
    assert_eq!(facts.len(), 63 + 20 + 20 + 4);
    change(&mut facts);
    archive.finish_with(&facts)
}

fn says() -> Vec<Vector> {
    let set = |name: &'static str, at: usize, bytes: &[u8]| {
        of(name, &|facts| facts[at..at + bytes.len()].copy_from_slice(bytes))
    };
    vec![
        two_blocks(),
        refused(
            "flag-base",
            "2 for whether there is a base",
            &set("flag base", 32, &[2]),
        ),
        refused(
            "flag-log",
            "2 for whether it has a place in the log",
            &set("flag log", 61, &[2]),
        ),
        refused(
            "flag-digest",
            "2 for whether it has a digest",
            &set("flag digest", 62, &[2]),
        ),
        refused(
            "page-size-1000",
            "pages of 1000 bytes",
            &set("size 1000", 33, &1000_u32.to_be_bytes()),
        ),
        refused(
            "page-size-512",
            "pages of 512 bytes",
            &set("size 512", 33, &512_u32.to_be_bytes()),
        ),
        refused("parts-most", "4294967295 parts", &set("parts", 63, &[0xff; 4])),
        refused(
            "indexes-most",
            "4294967295 parts of the index",
            &set("indexes", 83, &[0xff; 4]),
        ),
        refused(
            "missing-most",
            "4294967295 pages missing",
            &set("missing", 103, &[0xff; 4]),
        ),
        refused(
            "short",
            "it lacks its last byte",
            &of("short", &|facts| facts.truncate(106)),
        ),
        refused("longer", "it has a byte more", &of("longer", &|facts| facts.push(0))),
    ]
}

fn two_blocks() -> Vector {
    let archive = full_unfinished("two blocks");
    let bytes = archive.facts.encode();
    let (first, rest) = bytes.split_at(40);
    let plain = content(&[stored(first), stored(rest)]);
    let object = sealed(&archive.key(), PartKind::Facts, 0, [8; 16], &plain);
    let archive = archive.with("manifest", object);
    opens("manifest-two-blocks", "the manifest is in two blocks", &archive)
}

fn lists() -> Vec<Vector> {
    let listed = |name: &'static str, missing: &[u32]| {
        let mut archive = full_unfinished(name);
        archive.facts.missing = missing.to_vec();
        archive.finish()
    };
    let fewer = of("fewer indexes", &|facts| {
        facts.splice(83..103, [0; 4]);
    });
    vec![
        refused("fewer-indexes", "a part, and no part of the index", &fewer),
        refused("missing-0", "page 0 is missing", &listed("missing 0", &[0])),
        refused(
            "missing-twice",
            "a page is missing twice",
            &listed("missing twice", &[2, 2]),
        ),
        refused(
            "missing-order",
            "pages that are missing do not ascend",
            &listed("missing order", &[3, 2]),
        ),
        refused(
            "missing-beyond",
            "a page above the page count is missing",
            &listed("missing 4", &[4]),
        ),
    ]
}
