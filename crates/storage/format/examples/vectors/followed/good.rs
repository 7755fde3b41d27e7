//! Complete and incomplete turns.

use super::{
    after, end, first, followed, followed_by_two, followed_twice, frame, moment, packed, second, taken, taken_at,
};
use crate::archive::{Archive, log_name};
use crate::vector::Vector;
use selenite_format::archive::LogFacts;

pub fn all() -> Vec<Vector> {
    [times(), turns(), sizes(), missing()].concat()
}

fn opens(case: &str, comment: &str, log: &str, pages: &[Vec<u8>], archive: &Archive) -> Vector {
    let vector = Vector::new(&format!("log/{case}"), "ok", comment)
        .line("archive", archive.folder())
        .line("log", log);
    archive.add_to(vector.released_all(pages))
}

fn times() -> Vec<Vector> {
    let whole = followed_twice("followed");
    let at = |case: &str, comment: &str, moment: u64, turns: usize| {
        opens(case, comment, &moment.to_string(), &after(turns), &whole)
    };
    let sound = Vector::new("log/good", "ok", "two turns, the second in two objects")
        .line("archive", whole.folder())
        .line("log", "last")
        .released_sound(&after(2));
    vec![
        whole.add_to(sound),
        at("at-second", "the moment of the second turn", moment(2), 2),
        at(
            "at-before-second",
            "a millisecond before the second turn",
            moment(2) - 1,
            1,
        ),
        at(
            "at-before-first",
            "a millisecond before the first turn",
            moment(1) - 1,
            0,
        ),
    ]
}

fn turns() -> Vec<Vector> {
    let whole = followed_twice("followed");
    let (page, other) = (frame(3), frame(0));
    let twice = followed_by_two("page twice in a turn", (2, &other));
    let cut = whole.clone().without(&log_name(2));
    // The other page 2 of the incomplete turn must not be released.
    let begun = followed("begun twice");
    let facts = LogFacts {
        is_last: false,
        ..second(&begun)
    };
    let begun = begun.log(&packed(&[(1, &page), (2, &other)]), &facts);
    let again = LogFacts {
        made: moment(3),
        ..second(&begun)
    };
    let again = begun.log(&packed(&[(2, &page)]), &again);
    let empty = followed("empty turn");
    let facts = LogFacts {
        to: end(3),
        ..second(&empty)
    };
    let empty = empty.log(&[], &facts);
    let none = taken_at("no place", None);
    let facts = first(&none);
    let beside = none.log(&packed(&[(1, &page)]), &facts);
    vec![
        opens("no-objects", "nobody followed", "last", &after(0), &taken("followed")),
        opens(
            "turn-cut-off",
            "the second turn lacks its last object",
            "last",
            &after(1),
            &cut,
        ),
        opens(
            "turn-begun-twice",
            "a turn that was cut off, and the same restarted",
            "last",
            &after(2),
            &again,
        ),
        opens(
            "turn-page-twice",
            "two objects of a turn have the same page: the later counts",
            "last",
            &after(2),
            &twice,
        ),
        opens("turn-empty", "a turn of no page", "last", &after(1), &empty),
        opens(
            "no-place",
            "objects of a log behind an archive that has no place in one: they count for nothing",
            "last",
            &after(0),
            &beside,
        ),
    ]
}

/// The page counts of turns.
fn sizes() -> Vec<Vector> {
    let five = vec![0x5a; 1024];
    let grown = followed("grown");
    let facts = LogFacts {
        page_count: 5,
        ..second(&grown)
    };
    let grown = grown.log(&packed(&[(5, &five)]), &facts);
    let mut grown_pages = after(1);
    grown_pages.extend([vec![0; 1024], five.clone()]);
    let shrunk = followed("shrunk");
    let facts = LogFacts {
        page_count: 2,
        ..second(&shrunk)
    };
    let shrunk = shrunk.log(&packed(&[(3, &five)]), &facts);
    vec![
        opens(
            "grown",
            "the database has five pages, of which nobody wrote the fourth",
            "last",
            &grown_pages,
            &grown,
        ),
        opens(
            "shrunk",
            "the database has two pages: what the turn has of a third is left out",
            "last",
            &after(1)[..2],
            &shrunk,
        ),
    ]
}

/// A page that is missing from the archive.
fn missing() -> Vec<Vector> {
    let pages = after(0);
    let listed = [(1, pages[0].as_slice()), (3, pages[2].as_slice())];
    let mut archive = Archive::begin("followed without page 2", 0).part(&packed(&listed), &listed);
    archive.facts.log = Some(end(0).position);
    archive.facts.missing = vec![2];
    let archive = archive.finish();
    let page = frame(1);
    let facts = first(&archive);
    let archive = archive.log(&packed(&[(2, &page)]), &facts);
    let mended = [pages[0].clone(), page, pages[2].clone()];
    vec![opens(
        "missing-written",
        "page 2 is missing from the archive, and was written since",
        "last",
        &mended,
        &archive,
    )]
}
