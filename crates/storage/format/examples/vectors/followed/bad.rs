//! Logs that a reader refuses according to FORMAT 12.6.

use selenite_cipher::PartKind;
use selenite_format::archive::{LogEnd, LogFacts, LogPosition};

use super::{end, first, followed, followed_twice, frame, moment, packed, second, taken};
use crate::archive::{Archive, content, log_name, sealed, stored};
use crate::vector::Vector;

pub fn all() -> Vec<Vector> {
    [objects(), firsts(), seconds(), turns(), forms()].concat()
}

fn refused(case: &str, number: u32, comment: &str, archive: &Archive) -> Vector {
    let class = format!("{} refused", log_name(number));
    let vector = Vector::new(&format!("log/{case}"), &class, comment)
        .line("archive", archive.folder())
        .line("log", "last");
    archive.add_to(vector)
}

fn objects() -> Vec<Vector> {
    let (whole, other) = (followed_twice("followed"), followed_twice("followed by another"));
    let name = log_name;
    let (zero, one) = (whole.objects[&name(0)].clone(), whole.objects[&name(1)].clone());
    let index = whole.objects["index-00000000"].clone();
    vec![
        refused(
            "missing-first",
            0,
            "object 0 is not there",
            &whole.clone().without(&name(0)),
        ),
        refused("missing", 1, "object 1 is not there", &whole.clone().without(&name(1))),
        refused(
            "swapped",
            0,
            "two objects are in each other's place",
            &whole.clone().with(&name(0), one.clone()).with(&name(1), zero),
        ),
        refused(
            "moved",
            0,
            "object 1 is in the place of 0",
            &followed("followed").with(&name(0), one),
        ),
        refused(
            "other-archive",
            1,
            "object 1 is of another archive's log",
            &whole.clone().with(&name(1), other.objects[&name(1)].clone()),
        ),
        refused(
            "index",
            0,
            "an index is in the place of an object",
            &whole.clone().with(&name(0), index),
        ),
        refused(
            "flip",
            1,
            "a bit of an object is flipped",
            &whole.clone().flipped(&name(1), 80),
        ),
        refused(
            "flip-tag",
            2,
            "a bit of the last object's tag is flipped",
            &whole.clone().flipped(&name(2), -1),
        ),
        refused(
            "cut",
            2,
            "the last object lacks its last byte",
            &whole.clone().cut(&name(2), 1),
        ),
        refused("empty", 0, "an object of no bytes", &whole.with(&name(0), Vec::new())),
    ]
}

/// An invalid first object.
fn firsts() -> Vec<Vector> {
    let page = frame(0);
    let of = |name: &'static str, change: &dyn Fn(&mut LogFacts)| {
        let archive = taken(name);
        let mut facts = first(&archive);
        change(&mut facts);
        archive.log(&packed(&[(1, &page)]), &facts)
    };
    let place = |salts: [u8; 8], frames: u32| LogEnd {
        position: LogPosition { salts, frames },
        checksum: [0; 8],
    };
    let salts = end(0).position.salts;
    vec![
        refused(
            "first-previous",
            0,
            "object 0 does not name the manifest",
            &of("first previous", &|facts| facts.previous[0] ^= 1),
        ),
        refused(
            "first-salts",
            0,
            "the first turn begins in another log than the manifest has",
            &of("first salts", &|facts| facts.from = place([1; 8], 0)),
        ),
        refused(
            "first-frames",
            0,
            "the first turn begins a frame behind the manifest's place",
            &of("first frames", &|facts| facts.from = place(salts, 1)),
        ),
        refused(
            "first-goes-on",
            0,
            "object 0 does not begin a turn",
            &of("first goes on", &|facts| facts.is_first = false),
        ),
        refused(
            "checksum-of-none",
            0,
            "a checksum where no frame comes before",
            &of("checksum of none", &|facts| facts.from.checksum[7] = 1),
        ),
    ]
}

/// An invalid second turn.
fn seconds() -> Vec<Vector> {
    let page = frame(3);
    let of = |name: &'static str, change: &dyn Fn(&mut LogFacts)| {
        let archive = followed(name);
        let mut facts = second(&archive);
        change(&mut facts);
        archive.log(&packed(&[(2, &page)]), &facts)
    };
    vec![
        refused(
            "previous",
            1,
            "object 1 does not name object 0",
            &of("previous", &|facts| facts.previous[31] ^= 1),
        ),
        refused(
            "earlier",
            1,
            "the second turn is of an earlier moment than the first",
            &of("earlier", &|facts| facts.made = moment(1) - 1),
        ),
        refused(
            "goes-on",
            1,
            "object 1 goes on with a turn that was not begun",
            &of("goes on", &|facts| facts.is_first = false),
        ),
        refused(
            "begins-salts",
            1,
            "the second turn begins in another log than the first ended",
            &of("begins salts", &|facts| facts.from.position.salts[0] ^= 1),
        ),
        refused(
            "begins-frames",
            1,
            "the second turn begins a frame later than the first ended",
            &of("begins frames", &|facts| facts.from.position.frames += 1),
        ),
        refused(
            "begins-checksum",
            1,
            "the second turn begins behind another frame than the first ended",
            &of("begins checksum", &|facts| facts.from.checksum[0] ^= 1),
        ),
    ]
}

/// Inconsistent objects of one turn.
fn turns() -> Vec<Vector> {
    let page = frame(3);
    let of = |name: &'static str, change: &dyn Fn(&mut LogFacts)| {
        let archive = followed(name);
        let begins = LogFacts {
            is_last: false,
            ..second(&archive)
        };
        let archive = archive.log(&packed(&[(1, &frame(0))]), &begins);
        let mut ends = LogFacts {
            is_first: false,
            ..second(&archive)
        };
        change(&mut ends);
        archive.log(&packed(&[(2, &page)]), &ends)
    };
    let disagrees = |case: &str, what: &str, archive: &Archive| {
        let comment = format!("the two objects of a turn have other {what}");
        refused(&format!("turn-{case}"), 2, &comment, archive)
    };
    vec![
        disagrees("made", "moments", &of("turn made", &|facts| facts.made += 1)),
        disagrees("from", "beginnings", &of("turn from", &|facts| facts.from = end(2))),
        disagrees("to", "ends", &of("turn to", &|facts| facts.to = end(3))),
        disagrees(
            "page-count",
            "page counts",
            &of("turn page count", &|facts| facts.page_count = 4),
        ),
    ]
}

/// The content of an object.
fn forms() -> Vec<Vector> {
    let (one, two) = (frame(0), frame(1));
    let of = |name: &'static str, blocks: &[Vec<u8>], change: &dyn Fn(&mut Vec<u8>)| {
        let archive = taken(name);
        let mut facts = first(&archive).encode();
        change(&mut facts);
        archive.log_of(&[blocks, &[stored(&facts)]].concat())
    };
    let pages = packed(&[(1, &one)]);
    let alone = taken("no facts").log_of(&pages);
    let nothing = {
        let archive = taken("no blocks");
        let object = sealed(&archive.key(), PartKind::Log, 0, [5; 16], &content(&[]));
        archive.with(&log_name(0), object)
    };
    let ordered = [packed(&[(2, &two)]), packed(&[(1, &one)])].concat();
    let twice = [packed(&[(1, &two)]), packed(&[(1, &one)])].concat();
    let short = vec![stored(&crate::archive::block(&[(1, &one)])[..1000])];
    vec![
        refused(
            "bits",
            0,
            "a bit that there is not",
            &of("bits", &pages, &|facts| facts[84] |= 4),
        ),
        refused(
            "facts-short",
            0,
            "its facts lack a byte",
            &of("facts short", &pages, &|facts| facts.truncate(84)),
        ),
        refused(
            "facts-longer",
            0,
            "its facts have a byte more",
            &of("facts longer", &pages, &|facts| facts.push(0)),
        ),
        refused("no-facts", 0, "pages in its last block", &alone),
        refused("no-blocks", 0, "an object of no block", &nothing),
        refused(
            "block-short",
            0,
            "a block lacks bytes",
            &of("block short", &short, &|_| ()),
        ),
        refused(
            "order",
            0,
            "pages of two blocks do not ascend",
            &of("order", &ordered, &|_| ()),
        ),
        refused(
            "page-twice",
            0,
            "two blocks have the same page",
            &of("page twice", &twice, &|_| ()),
        ),
    ]
}
