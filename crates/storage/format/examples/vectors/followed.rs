//! `log/`: FORMAT 12.6.

use selenite_format::archive::{LogEnd, LogFacts, LogPosition};

use crate::archive::{Archive, Page, block, stored};
use crate::vector::Vector;
use crate::world::{CREATED, pages_of};

mod bad;
mod good;

/// A database in WAL mode, and its log: frames of pages 1, 2, 3, then of page 2; commits at the third and the fourth.
const FILE: &[u8] = include_bytes!("../../../../../testdata/sqlite/wal.db");
const WAL: &[u8] = include_bytes!("../../../../../testdata/sqlite/wal.db-wal");

pub fn all() -> Vec<Vector> {
    [good::all(), bad::all(), origins()].concat()
}

/// Origin MACs: FORMAT 12.4.
fn origins() -> Vec<Vector> {
    let vector = |case: &str, class: &str, comment: &str, archive: &Archive| {
        Vector::new(&format!("log/{case}"), class, comment)
            .line("archive", archive.folder())
            .line("log", "last")
            .line("origin", "own")
    };
    let begun = Archive::begin_own("followed with origin MACs", 0);
    let own = followed_of(taken_of(begun, Some(end(0).position)));
    let page = frame(3);
    let facts = second(&own);
    let forged = own.clone().by_recipient().log(&packed(&[(2, &page)]), &facts);
    let good = vector("own", "ok", "an archive and a turn with origin MACs", &own);
    let bad = vector(
        "origin",
        "log-00000001 refused",
        "the second turn is a recipient's, who has the archive key alone",
        &forged,
    );
    vec![own.add_to(good.released_all(&after(1))), forged.add_to(bad)]
}

fn pages() -> Vec<Vec<u8>> {
    pages_of(FILE)
}

/// The page of a frame.
fn frame(index: usize) -> Vec<u8> {
    WAL[32 + index * 1048 + 24..][..1024].to_vec()
}

/// The pages after the first transaction or after the second.
fn after(turns: usize) -> Vec<Vec<u8>> {
    let mut pages = match turns {
        0 => pages(),
        _ => vec![frame(0), frame(1), frame(2)],
    };
    if turns > 1 {
        pages[1] = frame(3);
    }
    pages
}

/// The position after the first `frames` frames.
fn end(frames: usize) -> LogEnd {
    let salts = WAL[16..24].try_into().expect("eight bytes");
    let checksum = match frames {
        0 => [0; 8],
        _ => WAL[32 + (frames - 1) * 1048 + 16..][..8]
            .try_into()
            .expect("eight bytes"),
    };
    let frames = u32::try_from(frames).expect("four at most");
    LogEnd {
        position: LogPosition { salts, frames },
        checksum,
    }
}

/// The end of turn `turn` in milliseconds: half a second after the archive, then at intervals of a second.
fn moment(turn: u64) -> u64 {
    CREATED * 1000 + turn * 1000 - 500
}

/// The archive of the state before the first frame.
fn taken(name: &'static str) -> Archive {
    taken_at(name, Some(end(0).position))
}

fn taken_at(name: &'static str, log: Option<LogPosition>) -> Archive {
    taken_of(Archive::begin(name, 0), log)
}

fn taken_of(begun: Archive, log: Option<LogPosition>) -> Archive {
    let pages = pages();
    let pages = crate::archives::numbered(&pages);
    let mut archive = begun.part(&[stored(&block(&pages))], &pages);
    archive.facts.log = log;
    archive.finish()
}

/// The facts of the only object of the first turn after `archive`.
fn first(archive: &Archive) -> LogFacts {
    LogFacts {
        previous: archive.previous(),
        made: moment(1),
        from: end(0),
        to: end(3),
        page_count: 3,
        is_first: true,
        is_last: true,
    }
}

/// The facts of the only object of the second turn.
fn second(archive: &Archive) -> LogFacts {
    LogFacts {
        previous: archive.previous(),
        made: moment(2),
        from: end(3),
        to: end(4),
        ..first(archive)
    }
}

fn packed(pages: &[Page<'_>]) -> Vec<Vec<u8>> {
    vec![stored(&block(pages))]
}

/// The archive and its first turn.
fn followed(name: &'static str) -> Archive {
    followed_of(taken(name))
}

fn followed_of(archive: Archive) -> Archive {
    let (one, two, three) = (frame(0), frame(1), frame(2));
    let facts = first(&archive);
    archive.log(&packed(&[(1, &one), (2, &two), (3, &three)]), &facts)
}

/// The archive with its first turn, and its second in two objects.
fn followed_twice(name: &'static str) -> Archive {
    let one = frame(0);
    followed_by_two(name, (1, &one))
}

/// As [`followed_twice`], with this page in the first object of the second turn.
fn followed_by_two(name: &'static str, page: Page<'_>) -> Archive {
    let archive = followed(name);
    let begins = LogFacts {
        is_last: false,
        ..second(&archive)
    };
    let archive = archive.log(&packed(&[page]), &begins);
    let ends = LogFacts {
        is_first: false,
        ..second(&archive)
    };
    let page = frame(3);
    archive.log(&packed(&[(2, &page)]), &ends)
}
