use selenite_cipher::{DatabaseId, Epoch, PageNonce};
use selenite_format::PageSize;

use super::*;

fn trailer(session: u8, counter: u32) -> [u8; TRAILER_SIZE] {
    let mut tag = [session; 16];
    tag[..4].copy_from_slice(&counter.to_be_bytes());
    Trailer {
        epoch: Epoch(1),
        nonce: PageNonce {
            session: SessionId([session; 16]),
            salt: [0; 8],
            counter,
        },
        tag,
    }
    .encode()
}

fn geometry() -> Geometry {
    Geometry::new(PageSize::MAX)
}

/// Three runs: two of four pages of 64 KiB each, and one of a single page.
fn trailers() -> Vec<[u8; TRAILER_SIZE]> {
    (1..=9)
        .map(|page_no| trailer(u8::try_from(page_no % 2).unwrap(), page_no * 10))
        .collect()
}

fn tally_in_runs(tally: &Tally<'_>, trailers: &[[u8; TRAILER_SIZE]]) {
    for (index, run) in trailers.chunks(4).enumerate().rev() {
        let run: Vec<_> = run.iter().copied().map(Some).collect();
        tally.run(u32::try_from(index * 4 + 1).unwrap(), &run);
    }
}

fn anchor(trailers: &[[u8; TRAILER_SIZE]]) -> Anchor {
    let tally = Tally::new(geometry(), None);
    tally_in_runs(&tally, trailers);
    let tallied = tally.finish();
    Anchor {
        database_id: DatabaseId([1; 16]),
        key_id: [2; 16],
        made: 3,
        generation: 4,
        page_size: PageSize::MAX,
        change_counter: 5,
        root: tallied.root,
        sessions: tallied.sessions,
        marks: tallied.marks,
    }
}

/// FORMAT 10.4, computed directly.
#[test]
fn the_root_is_over_runs_of_numbers_and_trailers() {
    let trailers = trailers();
    let mut digests = Vec::new();
    for (index, run) in trailers.chunks(4).enumerate() {
        let mut bytes = Vec::new();
        for (within, trailer) in run.iter().enumerate() {
            bytes.extend_from_slice(&u32::try_from(index * 4 + within + 1).unwrap().to_be_bytes());
            bytes.extend_from_slice(trailer);
        }
        digests.extend_from_slice(&sha256(&bytes));
    }
    let anchor = anchor(&trailers);
    assert_eq!(anchor.root, sha256(&digests));
    assert_eq!(anchor.marks.len(), 9);
    assert_eq!(anchor.marks[6], Mark([0, 0, 0, 70, 1, 1, 1, 1]));
    let expected = [(SessionId([0; 16]), 80), (SessionId([1; 16]), 90)].into();
    assert_eq!(anchor.sessions, expected);
}

#[test]
fn a_page_that_opens_at_the_second_look_completes_its_run() {
    let trailers = trailers();
    let tally = Tally::new(geometry(), None);
    let mut first: Vec<_> = trailers[..4].iter().copied().map(Some).collect();
    (first[1], first[3]) = (None, None);
    tally.run(1, &first);
    tally.run(5, &trailers[4..8].iter().copied().map(Some).collect::<Vec<_>>());
    tally.run(9, &[Some(trailers[8])]);
    tally.page(2, &trailers[1]);
    tally.page(4, &trailers[3]);
    let tallied = tally.finish();
    let whole = anchor(&trailers);
    assert_eq!(
        (tallied.root, tallied.marks, tallied.sessions),
        (whole.root, whole.marks, whole.sessions)
    );
}

#[test]
fn only_a_page_sealed_before_the_anchor_is_older() {
    let anchor = anchor(&trailers());
    for (page_no, session, counter, expected) in [
        (3, 1, 30, Judgement::Same),
        // Earlier images of this page, up to the highest counter of each session.
        (3, 1, 29, Judgement::Older),
        (3, 0, 80, Judgement::Older),
        (3, 1, 90, Judgement::Older),
        (3, 1, 91, Judgement::Changed),
        (3, 0, 81, Judgement::Changed),
        (3, 7, 1, Judgement::Unknown),
        // A page that did not exist then.
        (10, 1, 5, Judgement::Older),
        (10, 1, 91, Judgement::Changed),
    ] {
        assert_eq!(
            judge(&anchor, page_no, &trailer(session, counter)),
            expected,
            "{page_no} {session} {counter}"
        );
    }
}
