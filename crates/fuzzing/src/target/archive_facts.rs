//! What opens an archive, what its manifest says, and what an object of its log says: any bytes, and good ones that
//! were altered.

use std::sync::OnceLock;

use crate::altered;
use selenite_cipher::ArchiveId;
use selenite_format::PageSize;
use selenite_format::archive::{ArchiveHeader, Base, Facts, LogEnd, LogFacts, LogPosition};

/// What opens the archive of a good vector: its first object.
fn begun() -> &'static [u8] {
    let vector = include_bytes!("../../../../testdata/vectors/archive/recipient.vec");
    let head = vector
        .windows(2)
        .position(|pair| pair == b"\n\n")
        .expect("a vector has a head");
    let body = &vector[head + 2..];
    let size = 700 + 4 + 373;
    assert!(ArchiveHeader::parse(&body[..size]).is_ok());
    &body[..size]
}

fn facts() -> &'static [u8] {
    static FACTS: OnceLock<Vec<u8>> = OnceLock::new();
    FACTS.get_or_init(|| {
        let position = LogPosition {
            salts: [8; 8],
            frames: 9,
        };
        let facts = Facts {
            begun: [1; 32],
            base: Some(Base {
                archive_id: ArchiveId([2; 16]),
                manifest: [3; 32],
            }),
            page_size: PageSize::DEFAULT,
            page_count: 100,
            change_counter: 4,
            generation: 5,
            made: 6,
            log: Some(position),
            digest: Some([7; 32]),
            parts: vec![[8; 16]; 3],
            indexes: vec![[8; 16]; 3],
            missing: vec![9, 10, 99],
        };
        facts.encode()
    })
}

fn log_facts() -> [u8; 85] {
    let end = |frames| LogEnd {
        position: LogPosition { salts: [8; 8], frames },
        checksum: [9; 8],
    };
    let facts = LogFacts {
        previous: [1; 32],
        made: 2,
        from: end(3),
        to: end(4),
        page_count: 5,
        is_first: true,
        is_last: false,
    };
    facts.encode().try_into().expect("85 bytes")
}

fn whole(original: &[u8], data: &[u8]) -> Vec<u8> {
    let file = altered(original, data);
    file.read(0, usize::try_from(file.size).expect("a small file"))
}

/// Panics if an invariant does not hold.
pub fn fuzz(data: &[u8]) {
    let bytes = whole(begun(), data);
    if let Ok((begun, maced, mac)) = ArchiveHeader::parse(&bytes) {
        assert_eq!([maced, &mac].concat(), bytes);
        assert_eq!(begun.encode(|_| mac).expect("what was parsed"), bytes);
    }
    let bytes = whole(facts(), data);
    if let Ok(facts) = Facts::parse(&bytes) {
        assert_eq!(facts.encode(), bytes);
        assert!(facts.missing.is_sorted_by(|one, two| one < two));
        assert!(facts.missing.iter().all(|page| (1..=facts.page_count).contains(page)));
    }
    let bytes = whole(&log_facts(), data);
    if let Ok(facts) = LogFacts::parse(&bytes) {
        assert_eq!(facts.encode(), bytes);
    }
}
