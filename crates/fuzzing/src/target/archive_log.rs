//! Objects of a log, sealed with the key: of any content, and valid or nearly valid sequences.
//!
//! - turns-connect: every accepted whole turn begins where the one before ended, and all of its
//!   objects have the same facts.

use crate::archive::{key, sealed, sized};
use selenite_backup::{
    LogChain, LogObject,
    archive::{ArchiveError, Block, PackedPage},
};
use selenite_cipher::PartKind;
use selenite_format::PageSize;
use selenite_format::anchor::Mark;
use selenite_format::archive::{LogEnd, LogFacts, LogPosition};

fn end(frames: u8) -> LogEnd {
    LogEnd {
        position: LogPosition {
            salts: [9; 8],
            frames: u32::from(frames),
        },
        checksum: if frames == 0 { [0; 8] } else { [frames; 8] },
    }
}

/// An object of these blocks, as they are.
fn object_of(number: u32, blocks: &[Vec<u8>]) -> Vec<u8> {
    let packed = blocks
        .iter()
        .flat_map(|block| sized(&[&[0], block.as_slice()].concat()));
    sealed(PartKind::Log, number, &packed.collect::<Vec<u8>>())
}

fn pages_of(object: &LogObject) -> Result<Vec<u32>, ArchiveError> {
    let mut found = Vec::new();
    let refused = |error: ArchiveError| error;
    object.pages(PageSize::MIN, refused, |page| {
        assert_eq!(page.bytes.len(), 1024);
        found.push(page.page_no);
        Ok(())
    })?;
    assert!(found.is_sorted_by(|one, two| one < two));
    Ok(found)
}

/// Objects that nearly follow one another: seven bytes for each.
fn follow(data: &[u8]) {
    let manifest = [3; 32];
    let mut chain = LogChain::new(manifest, end(0).position);
    let (mut previous, mut ended, mut open, mut made) = (manifest, end(0), None, 0);
    for (number, &[bits, time, from, to, pages, one, two]) in (0..).zip(data.as_chunks::<7>().0) {
        let facts = LogFacts {
            previous: if bits & 4 == 0 { previous } else { manifest },
            made: u64::from(time),
            from: end(from % 4),
            to: end(to % 4),
            page_count: u32::from(pages % 4),
            is_first: bits & 1 != 0,
            is_last: bits & 2 != 0,
        };
        let page = [0x5a; 1024];
        let block = |page_no: u8| {
            let mut out = Vec::new();
            let page = PackedPage {
                page_no: u32::from(page_no),
                mark: Mark([1; 8]),
                bytes: &page,
            };
            Block::encode(PageSize::MIN, &[page], &mut out);
            out
        };
        let bytes = object_of(number, &[block(one), block(two), facts.encode()]);
        let object = LogObject::open(&key(), number, bytes).expect("an object in its form");
        assert_eq!(object.facts, facts);
        assert_eq!(pages_of(&object).is_ok(), 0 < one && one < two);
        let Ok(is_whole) = chain.accept(&object) else { return };
        // turns-connect.
        assert!(facts.previous == previous && facts.made >= made && facts.from == ended);
        let own = (facts.made, facts.to, facts.page_count);
        assert!(facts.is_first || open == Some(own));
        assert_eq!(is_whole, facts.is_last);
        (previous, made) = (object.hash, facts.made);
        open = (!facts.is_last).then_some(own);
        if is_whole {
            ended = facts.to;
        }
    }
}

/// Panics if an invariant does not hold.
pub fn fuzz(data: &[u8]) {
    follow(data);
    let Some((&count, rest)) = data.split_first() else {
        return;
    };
    let at = usize::from(count).min(rest.len());
    let blocks = [rest[..at].to_vec(), rest[at..].to_vec()];
    if let Ok(object) = LogObject::open(&key(), 0, object_of(0, &blocks)) {
        assert_eq!(object.facts.encode(), rest[at..]);
        let _ = pages_of(&object);
    }
}
