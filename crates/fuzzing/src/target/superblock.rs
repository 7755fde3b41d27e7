//! Any bytes, and any bytes with magic, length and checksum put right.

use selenite_cipher::sha256;
use selenite_format::{Chosen, FormatError, Superblock, Whole, choose, inspect};

/// Panics if an invariant does not hold.
pub fn fuzz(data: &[u8]) {
    read(data);
    let mut whole = data.to_vec();
    whole.resize(data.len().clamp(512, 32768).next_multiple_of(512), 0);
    let size = u32::try_from(whole.len()).expect("at most 32768");
    whole[..16].copy_from_slice(b"Selenite\r\n\x1a\n\0\0\0\0");
    whole[24..28].copy_from_slice(&size.to_be_bytes());
    let end = whole.len() - 32;
    let checksum = sha256(&whole[..end]);
    whole[end..].copy_from_slice(&checksum);
    assert_ne!(inspect(&whole), Whole::No);
    read(&whole);
}

fn read(bytes: &[u8]) {
    let (a, b) = bytes.split_at(bytes.len().min(32768));
    for (a, b) in [(a, b), (b, a)] {
        if let Chosen::A(chosen) | Chosen::B(chosen) = choose(a, b, bytes.len() as u64) {
            assert_ne!(Superblock::parse(chosen), Err(FormatError::NotWhole));
        }
    }
    let (maced, mac) = Superblock::maced(bytes);
    assert!(maced.len() <= bytes.len());
    if let Ok(superblock) = Superblock::parse(bytes) {
        let again = superblock.encode(|_| *mac).expect("what is parsed is not refused");
        assert_eq!(Superblock::parse(&again), Ok(superblock));
    }
}
