use proptest::prelude::*;
use selenite_cipher::{ArchiveId, DatabaseId};

use super::*;
use crate::{FormatError, PageSize};

fn begun() -> impl Strategy<Value = ArchiveHeader> {
    let recipients = prop::collection::vec(prop::collection::vec(any::<u8>(), 1..300), 0..=RECIPIENT_COUNT_MAX);
    let ids = (any::<[u8; 16]>(), any::<[u8; 16]>());
    let superblock = prop::collection::vec(any::<u8>(), 0..2000);
    (ids, any::<u64>(), any::<[u8; 32]>(), superblock, recipients).prop_map(
        |((archive, database), made, key, superblock, recipients)| {
            let mut wrapped_key = [0; 60];
            wrapped_key[..32].copy_from_slice(&key);
            ArchiveHeader {
                archive_id: ArchiveId(archive),
                database_id: DatabaseId(database),
                made,
                wrapped_key,
                superblock,
                recipients,
                recipients_tag: key,
            }
        },
    )
}

fn facts() -> impl Strategy<Value = Facts> {
    let salts = || prop::collection::vec(any::<[u8; 16]>(), 0..20);
    let base = prop::option::of((any::<[u8; 16]>(), any::<[u8; 32]>()));
    let missing = prop::collection::btree_set(1..=10_000_u32, 0..20);
    let log = prop::option::of((any::<[u8; 8]>(), any::<u32>()));
    let counters = (10_000..u32::MAX, any::<u32>(), any::<u64>(), any::<u64>());
    (
        (base, log),
        counters,
        any::<Option<[u8; 32]>>(),
        salts(),
        salts(),
        missing,
    )
        .prop_map(
            |((base, log), (page_count, change_counter, generation, made), digest, parts, indexes, missing)| Facts {
                begun: [7; 32],
                base: base.map(|(archive, manifest)| Base {
                    archive_id: ArchiveId(archive),
                    manifest,
                }),
                page_size: PageSize::DEFAULT,
                page_count,
                change_counter,
                generation,
                made,
                log: log.map(|(salts, frames)| LogPosition { salts, frames }),
                digest,
                parts,
                indexes,
                missing: missing.into_iter().collect(),
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn begun_round_trips_and_is_refused_truncated(begun in begun(), cut in any::<prop::sample::Index>()) {
        let bytes = begun.encode(|_| [9; 32]).unwrap();
        let (parsed, maced, mac) = ArchiveHeader::parse(&bytes).unwrap();
        prop_assert_eq!((&parsed, maced.len(), mac), (&begun, bytes.len() - 32, [9; 32]));
        // A truncated object has a MAC over other bytes, or cannot be parsed.
        let cut = &bytes[..cut.index(bytes.len())];
        prop_assert!(ArchiveHeader::parse(cut).is_err());
        prop_assert!(ArchiveHeader::parse(&[bytes.as_slice(), &[0]].concat()).is_err());
    }

    #[test]
    fn facts_round_trip_and_are_refused_truncated(facts in facts(), cut in any::<prop::sample::Index>()) {
        let bytes = facts.encode();
        prop_assert_eq!(&Facts::parse(&bytes).unwrap(), &facts);
        prop_assert!(Facts::parse(&bytes[..cut.index(bytes.len())]).is_err());
        prop_assert!(Facts::parse(&[bytes.as_slice(), &[0]].concat()).is_err());
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = Facts::parse(&bytes);
        let _ = ArchiveHeader::parse(&[b"selenite begun 1".as_slice(), &bytes].concat());
    }
}

#[test]
fn wrong_counts_allocate_no_memory_and_missing_pages_ascend() {
    let facts = Facts {
        begun: [0; 32],
        base: None,
        page_size: PageSize::DEFAULT,
        page_count: 9,
        change_counter: 0,
        generation: 1,
        made: 0,
        log: None,
        digest: None,
        parts: Vec::new(),
        indexes: Vec::new(),
        missing: vec![3, 9],
    };
    let bytes = facts.encode();
    assert_eq!(Facts::parse(&bytes).unwrap(), facts);
    let mut lying = bytes.clone();
    let at = bytes.len() - 8 - 12;
    lying[at..at + 4].fill(0xff);
    assert!(Facts::parse(&lying).is_err());
    for missing in [vec![0, 1], vec![2, 2], vec![3, 2], vec![10]] {
        let bytes = Facts {
            missing,
            ..facts.clone()
        }
        .encode();
        assert!(Facts::parse(&bytes).is_err());
    }
    assert_eq!(
        ArchiveHeader::parse(b"something else").unwrap_err(),
        FormatError::ArchiveMagic
    );
}
