//! `archive/`: FORMAT 12.1 to 12.5, and 12.8.

use selenite_cipher::PartKind;

use crate::archive::{Archive, Page, block, content, framed, index_block, sealed, stored};
use crate::vector::{Vector, hex};
use crate::world::{SAMPLE, pages_of};

mod begins;
mod blocks;
mod chains;
mod manifests;
mod origins;

pub fn all() -> Vec<Vector> {
    [
        good(),
        begins::all(),
        parts(),
        blocks::all(),
        indexes(),
        manifests::all(),
        chains::all(),
        origins::all(),
    ]
    .concat()
}

/// The block of the sample's three pages, packed by Zstandard 1.5.4.
pub const PACKED: &[u8] = include_bytes!("../../../../../testdata/archive/pages.zst");
/// The result of testdata/reader/row_digest.py for the sample.
const ROW_DIGEST: [u8; 32] = [
    0x4e, 0xf7, 0xe3, 0x27, 0x20, 0x08, 0xc2, 0x91, 0x8b, 0x52, 0x5e, 0x85, 0x25, 0x33, 0x70, 0x6b, 0xd8, 0x84, 0xc2,
    0x74, 0x36, 0x3c, 0xc8, 0x4d, 0xe0, 0x4c, 0xd8, 0x7c, 0xe1, 0x02, 0xfd, 0xb1,
];

pub fn sample() -> Vec<Vec<u8>> {
    pages_of(SAMPLE)
}

/// Pages with their numbers, from 1 without a gap.
pub fn numbered(pages: &[Vec<u8>]) -> Vec<Page<'_>> {
    (1..).zip(pages.iter().map(Vec::as_slice)).collect()
}

/// A full archive of the sample, without its manifest.
pub fn full_unfinished(name: &'static str) -> Archive {
    Archive::begin(name, 0).part(&[framed(PACKED)], &numbered(&sample()))
}

/// A full archive of the sample.
pub fn full(name: &'static str) -> Archive {
    let mut archive = full_unfinished(name);
    archive.facts.digest = Some(ROW_DIGEST);
    archive.finish()
}

/// A vector of one archive that opens; the pages released are those of the sample.
pub fn opens(case: &str, comment: &str, archive: &Archive) -> Vector {
    let vector = Vector::new(&format!("archive/{case}"), "ok", comment).line("archive", archive.folder());
    archive.add_to(vector.released_sound(&sample()))
}

/// A vector of one archive that is refused.
pub fn refused(case: &str, class: &str, comment: &str, archive: &Archive) -> Vector {
    let vector = Vector::new(&format!("archive/{case}"), class, comment);
    archive.add_to(vector.line("archive", archive.folder()))
}

fn good() -> Vec<Vector> {
    let whole = full("full");
    let blocks = [stored(&block(&numbered(&sample())))];
    let plain = Archive::begin("plain", 0).part(&blocks, &numbered(&sample())).finish();
    let rows = hex(&ROW_DIGEST);
    vec![
        opens("good", "a full archive: begun, a part, its index, the manifest", &whole).line("rows", rows),
        opens("plain", "blocks as they are", &plain),
        opens("two-parts", "pages 1 and 2 in one part, 3 in the next", &two_parts()),
        pieces().0,
        pieces().1,
        beyond(),
        missing(),
        missing_and_there(),
    ]
}

fn two_parts() -> Archive {
    let pages = sample();
    let (first, rest) = (&numbered(&pages)[..2], &numbered(&pages)[2..]);
    Archive::begin("two parts", 0)
        .part(&[stored(&block(first))], first)
        .part(&[stored(&block(rest))], rest)
        .finish()
}

/// Every page occurs many times with different bytes; the last occurrence counts.
fn pieces() -> (Vector, Vector) {
    let (last, other) = (sample(), vec![vec![0x5a; 1024]; 3]);
    let (last, other) = (numbered(&last), numbered(&other));
    let of_each = |block: &dyn Fn(&[Page<'_>]) -> Vec<u8>| {
        let mut packed = vec![stored(&block(&other)); 340];
        packed.push(stored(&block(&last)));
        content(&packed)
    };
    let archive = Archive::begin("pieces", 0)
        .part_and_index(&of_each(&block), &of_each(&index_block))
        .finish();
    let behind = archive.objects["part-00000000"].len() - 56 - (1 << 20) - 16;
    (
        opens(
            "pieces",
            "a part of two pieces, in which each page comes 341 times",
            &archive,
        ),
        refused(
            "part-cut-piece",
            "part-00000000 refused",
            "the part lacks its second piece",
            &archive.cut("part-00000000", behind),
        ),
    )
}

/// A page above the page count, and a wrong page count in the manifest.
fn beyond() -> Vector {
    let (pages, more) = (sample(), vec![0x5a; 1024]);
    let mut listed = numbered(&pages);
    listed.push((4, &more));
    let archive = Archive::begin("beyond", 0)
        .part(&[stored(&block(&listed))], &listed)
        .finish();
    opens(
        "page-beyond",
        "a part has a page above the page count: it is left out",
        &archive,
    )
}

fn missing() -> Vector {
    let pages = sample();
    let listed = [(1, pages[0].as_slice()), (3, pages[2].as_slice())];
    let mut archive = Archive::begin("missing", 0).part(&[stored(&block(&listed))], &listed);
    archive.facts.missing = vec![2];
    without_page_2(
        "missing",
        "page 2 did not open, and is listed as missing",
        &archive.finish(),
    )
}

fn missing_and_there() -> Vector {
    let mut archive = full_unfinished("missing and there");
    archive.facts.missing = vec![2];
    let comment = "a part has page 2, which is listed as missing: its image is of another time";
    without_page_2("missing-and-there", comment, &archive.finish())
}

fn without_page_2(case: &str, comment: &str, archive: &Archive) -> Vector {
    let pages = sample();
    let vector = Vector::new(&format!("archive/{case}"), "ok", comment)
        .line("archive", archive.folder())
        .line("pages", 3)
        .released(1, &pages[0])
        .refused(2, "missing")
        .released(3, &pages[2]);
    archive.add_to(vector)
}

/// The header of a part (FORMAT 12.4).
fn parts() -> Vec<Vector> {
    let (whole, other) = (full("full"), full("other"));
    let part = "part-00000000";
    let refused = |case: &str, comment: &str, archive: &Archive| {
        refused(&format!("part-{case}"), "part-00000000 refused", comment, archive)
    };
    let flip = |what: &str, at: i64| {
        let comment = format!("a bit of {what} of a part is flipped");
        refused(&format!("flip-{what}"), &comment, &whole.clone().flipped(part, at))
    };
    let with = |bytes: &[u8]| whole.clone().with(part, bytes.to_vec());
    let salted = sealed(&whole.key(), PartKind::Part, 0, [7; 16], &content(&[framed(PACKED)]));
    let two = two_parts();
    let second = two.objects["part-00000001"].clone();
    let moved = two.with(part, second);
    let missing = whole.clone().without(part);
    vec![
        crate::archives::refused("part-missing", "part-00000000 missing", "a part is not there", &missing),
        refused("empty", "a part of no bytes", &whole.clone().with(part, Vec::new())),
        refused(
            "header",
            "a part of its header alone",
            &with(&whole.objects[part][..56]),
        ),
        refused("cut", "a part lacks its last byte", &whole.clone().cut(part, 1)),
        refused(
            "longer",
            "a part has a byte more",
            &with(&[whole.objects[part].as_slice(), &[0]].concat()),
        ),
        flip("magic", 14),
        flip("kind", 16),
        flip("zero", 18),
        flip("number", 23),
        flip("archive-id", 24),
        flip("salt", 40),
        flip("content", 56),
        flip("tag", -1),
        refused(
            "index",
            "an index is in the place of a part",
            &with(&whole.objects["index-00000000"]),
        ),
        refused(
            "other-archive",
            "a part is another archive's",
            &with(&other.objects[part]),
        ),
        refused(
            "other-salt",
            "a part is of the archive, and not the one that its manifest lists",
            &with(&salted),
        ),
        refused("moved", "part 1 is in the place of part 0, too", &moved),
    ]
}

fn indexes() -> Vec<Vector> {
    let pages = sample();
    let pages = numbered(&pages);
    let index = "index-00000000";
    let refused = |case: &str, comment: &str, archive: &Archive| {
        refused(&format!("index-{case}"), "index-00000000 refused", comment, archive)
    };
    let of = |name: &'static str, plain: &[u8]| {
        Archive::begin(name, 0)
            .part_and_index(&content(&[framed(PACKED)]), &content(&[stored(plain)]))
            .finish()
    };
    let mut marked = index_block(&pages);
    *marked.last_mut().expect("a mark") ^= 1;
    let longer = [index_block(&pages), vec![0]].concat();
    let whole = full("full");
    let missing = whole.clone().without(index);
    vec![
        crate::archives::refused(
            "index-missing",
            "index-00000000 missing",
            "an index is not there",
            &missing,
        ),
        refused(
            "flip",
            "a bit of an index is flipped",
            &whole.clone().flipped(index, 60),
        ),
        refused(
            "part",
            "a part is in the place of its index",
            &whole.clone().with(index, whole.objects["part-00000000"].clone()),
        ),
        refused(
            "fewer",
            "an index has two of three pages",
            &of("index fewer", &index_block(&pages[..2])),
        ),
        refused("mark", "an index has another mark", &of("index mark", &marked)),
        refused(
            "longer",
            "a block of an index has a byte more",
            &of("index longer", &longer),
        ),
        refused(
            "count-0",
            "a block of an index tells of no page",
            &of("index none", &[0; 4]),
        ),
        refused(
            "count-lies",
            "a block of an index counts more than it has",
            &of("index lies", &[0xff; 40]),
        ),
    ]
}
