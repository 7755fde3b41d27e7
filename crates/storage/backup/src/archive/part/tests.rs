use proptest::prelude::*;
use selenite_cipher::Secret;

use super::*;

fn key(byte: u8) -> ArchiveKey {
    ArchiveKey::new(Secret::new([byte; 32]), ArchiveId([7; 16]))
}

const PLACE: (PartKind, u32, [u8; 16]) = (PartKind::Part, 3, [5; 16]);

fn sealed(blocks: &[&[u8]], is_last: bool) -> Vec<u8> {
    let mut writer = PartWriter::default();
    for block in blocks {
        assert!(writer.push(block));
    }
    let part = writer.seal(&key(1), PLACE, is_last);
    assert!(writer.is_empty());
    part
}

fn open(part: &[u8]) -> Result<OpenPart, ArchiveError> {
    OpenPart::open(&key(1), (PartKind::Part, 3), part.to_vec())
}

#[test]
fn all_parts_but_the_last_have_the_same_size() {
    let small = sealed(&[&[1; 10]], false);
    let large = sealed(&[[1; 500_000].as_slice(); 30], false);
    assert_eq!(small.len(), large.len());
    assert_eq!(small.len(), PART_HEADER_SIZE + CONTENT_SIZE_MAX + 16 * PIECE_TAG_SIZE);
    let last = sealed(&[&[1; 10]], true);
    assert_eq!(last.len(), PART_HEADER_SIZE + 4096 + PIECE_TAG_SIZE);
    assert_eq!(open(&large).unwrap().blocks().count(), 30);
}

#[test]
fn a_full_part_refuses_blocks_that_do_not_fit() {
    let mut writer = PartWriter::default();
    let block = vec![3; PACKED_SIZE_MAX];
    let mut count = 0;
    while writer.push(&block) {
        count += 1;
    }
    assert_eq!(count, CONTENT_SIZE_MAX / (PACKED_SIZE_MAX + 4));
    let part = writer.seal(&key(1), PLACE, true);
    assert_eq!(open(&part).unwrap().blocks().count(), count);
}

#[test]
fn a_part_has_a_limited_number_of_blocks() {
    let mut writer = PartWriter::default();
    while writer.push(&[1; 40]) {}
    let part = writer.seal(&key(1), PLACE, false);
    assert_eq!(open(&part).unwrap().blocks().count(), BLOCK_COUNT_MAX);
    assert_eq!(
        part.len(),
        PART_HEADER_SIZE + padded(BLOCK_COUNT_MAX * 44) + PIECE_TAG_SIZE
    );
    assert!(writer.push(&[1; 40]));
}

#[test]
fn a_part_truncated_anywhere_is_refused() {
    let part = sealed(&[&[9; 1_500_000 / 2], &[8; 900_000]], true);
    for cut in (0..part.len()).step_by(4099).chain(part.len() - 20..part.len()) {
        assert!(open(&part[..cut]).is_err(), "{cut}");
    }
    // Truncated at the end of a piece, too: that piece was not the last.
    assert_eq!(
        open(&part[..PART_HEADER_SIZE + PIECE_SIZE + PIECE_TAG_SIZE]).unwrap_err(),
        ArchiveError::Unauthentic
    );
    assert!(open(&[part.as_slice(), &[0]].concat()).is_err());
    assert!(open(&[part.as_slice(), &part[PART_HEADER_SIZE..]].concat()).is_err());
}

#[test]
fn a_part_of_another_archive_kind_or_number_is_refused() {
    let part = sealed(&[&[9; 100]], true);
    let of = |key: &ArchiveKey, kind, number| OpenPart::open(key, (kind, number), part.clone()).unwrap_err();
    assert_eq!(of(&key(1), PartKind::Part, 4), ArchiveError::OtherPart);
    assert_eq!(of(&key(1), PartKind::Index, 3), ArchiveError::OtherPart);
    assert_eq!(of(&key(2), PartKind::Part, 3), ArchiveError::Unauthentic);
    // Also if the header is changed to the expected one.
    let mut other = part.clone();
    other[23] = 4;
    let opened = OpenPart::open(&key(1), (PartKind::Part, 4), other);
    assert_eq!(opened.unwrap_err(), ArchiveError::Unauthentic);
}

#[test]
fn pieces_of_two_parts_are_refused() {
    let (one, two) = (sealed(&[[1; 1_000_000].as_slice(); 2], true), {
        let mut writer = PartWriter::default();
        assert!(writer.push(&[1; 1_000_000]) && writer.push(&[1; 1_000_000]));
        writer.seal(&key(1), (PartKind::Part, 3, [6; 16]), true)
    });
    let seam = PART_HEADER_SIZE + PIECE_SIZE + PIECE_TAG_SIZE;
    let mixed = [&one[..seam], &two[seam..]].concat();
    assert_eq!(open(&mixed).unwrap_err(), ArchiveError::Unauthentic);
}

#[test]
fn authentic_content_that_breaks_a_rule_is_refused() {
    let malformed = |content: &[u8]| {
        let mut writer = PartWriter {
            block_count: 0,
            part: [&[0; PART_HEADER_SIZE], content].concat(),
        };
        open(&writer.seal(&key(1), PLACE, true)).unwrap_err()
    };
    let size = ArchiveError::Malformed { what: "block size" };
    assert_eq!(malformed(&[0xff; 4]), size);
    assert_eq!(malformed(&[0, 0, 0x20, 0]), size);
    assert_eq!(malformed(&[0, 0, 0, 0, 1]), ArchiveError::Malformed { what: "padding" });
    assert_eq!(malformed(&[]), ArchiveError::Malformed { what: "block count" });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn blocks_are_read_back(blocks in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..3000), 1..40)) {
        let slices: Vec<&[u8]> = blocks.iter().map(Vec::as_slice).collect();
        let opened = open(&sealed(&slices, true)).unwrap();
        prop_assert_eq!(opened.blocks().collect::<Vec<_>>(), slices);
    }

    #[test]
    fn a_flipped_bit_is_detected(at in 0_usize..4168, bit in 0_u8..8) {
        let mut part = sealed(&[b"one", b"two"], true);
        let at = at % part.len();
        part[at] ^= 1 << bit;
        prop_assert!(open(&part).is_err());
    }
}
