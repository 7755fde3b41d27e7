use super::*;
use crate::superblock::tests::superblock;

const FILE_SIZE: u64 = 65536 + 4096;

fn whole(generation: u64) -> Vec<u8> {
    let mut superblock = superblock();
    superblock.generation = generation;
    superblock.encode(|_| [0; 32]).unwrap()
}

/// Pads a superblock to its half of the prefix.
fn place(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.resize(32768, 0);
    bytes
}

fn torn() -> Vec<u8> {
    let mut bytes = whole(9);
    bytes[500] ^= 1;
    bytes
}

#[test]
fn choose_takes_the_higher_generation_and_a_of_equal_ones() {
    for (of_a, of_b, a_counts) in [(1, 2, false), (2, 1, true), (3, 3, true), (u64::MAX, 1, true)] {
        let (a, b) = (place(whole(of_a)), place(whole(of_b)));
        let expected = if a_counts {
            Chosen::A(&a[..1024])
        } else {
            Chosen::B(&b[..1024])
        };
        assert_eq!(choose(&a, &b, FILE_SIZE), expected);
    }
}

#[test]
fn choose_takes_the_only_intact_one() {
    let good = place(whole(1));
    for other in [
        place(torn()),
        vec![],
        vec![0; 32768],
        place(b"SQLite format 3\0".to_vec()),
    ] {
        assert_eq!(choose(&good, &other, FILE_SIZE), Chosen::A(&good[..1024]));
        assert_eq!(choose(&other, &good, FILE_SIZE), Chosen::B(&good[..1024]));
    }
}

#[test]
fn choose_reports_two_torn_superblocks() {
    let bytes = place(torn());
    assert_eq!(choose(&bytes, &bytes, FILE_SIZE), Chosen::Torn);
    assert_eq!(choose(&bytes, &[], FILE_SIZE), Chosen::Torn);
    assert_eq!(choose(&[0xaa; 512], &bytes, 65536), Chosen::Torn);
}

/// FORMAT 2.6. A sector may be written from its end, and such a write can be interrupted at any byte.
#[test]
fn choose_treats_a_creation_written_from_its_end_as_empty() {
    for missing in 1..1024 {
        let mut of_a = place(whole(1));
        of_a[..missing].fill(0);
        assert_eq!(choose(&of_a, &[], 32768), Chosen::Empty, "{missing} bytes are missing");
        assert_eq!(
            choose(&of_a, &of_a, 65536),
            Chosen::Empty,
            "{missing} bytes are missing"
        );
    }
}

/// FORMAT 2.6. The first write of A, and then that of B, interrupted at every length.
#[test]
fn choose_treats_a_creation_interrupted_anywhere_as_empty() {
    let bytes = place(whole(1));
    for size in 0..1024 {
        let mut of_a = bytes[..size].to_vec();
        assert_eq!(choose(&of_a, &[], size as u64), Chosen::Empty);
        of_a.resize(32768, 0);
        assert_eq!(choose(&of_a, &of_a, 65536), Chosen::Empty);
        assert_eq!(choose(&of_a, &[0; 512], 32768 + 512), Chosen::Empty);
        // With a page after it, it is no longer a creation. (The last 4 bytes of the magic are zeros.)
        let late = if size < 12 { Chosen::Foreign } else { Chosen::Torn };
        assert_eq!(choose(&of_a, &of_a, 65537), late);
    }
    assert_eq!(choose(&[], &[], 0), Chosen::Empty);
    assert_eq!(choose(&[0; 100], &[], 100), Chosen::Empty);
}

#[test]
fn choose_treats_no_other_file_as_empty() {
    for index in 0..16 {
        let mut bytes = MAGIC;
        bytes[index] ^= 0x80;
        assert_eq!(choose(&bytes, &[], 16), Chosen::Foreign);
        assert_eq!(choose(&[], &bytes, 32784), Chosen::Foreign);
    }
    assert_eq!(choose(b"Selenite\r\n\x1a\n\0\0\0\x01", &[], 16), Chosen::Foreign);
    assert_eq!(choose(b"SQLite format 3\0", &[], 1024), Chosen::Plain);
    assert_eq!(choose(b"SQLite format 3\0", &[7; 512], FILE_SIZE), Chosen::Plain);
    assert_eq!(choose(b"SQLite format 3", &[], 15), Chosen::Foreign);
    assert_eq!(choose(&[0; 32768], &[0; 32768], FILE_SIZE), Chosen::Foreign);
}

#[test]
fn inspect_refuses_a_length_that_no_superblock_has() {
    for length in [0_u32, 1, 511, 513, 1025, 33280, 65536, u32::MAX, 0x8000_0200] {
        let mut bytes = place(whole(1));
        bytes[24..28].copy_from_slice(&length.to_be_bytes());
        for size in [512, 1024, 32768_usize] {
            let checksum = selenite_cipher::sha256(&bytes[..size - 32]);
            bytes[size - 32..size].copy_from_slice(&checksum);
            assert_eq!(inspect(&bytes), Whole::No);
        }
    }
}
