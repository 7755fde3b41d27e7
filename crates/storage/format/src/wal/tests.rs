use proptest::prelude::*;

use super::*;

/// A header as written by SQLite 3.40.1 on a little-endian machine, page size 1024.
fn header_of_sqlite(magic: u32) -> [u8; HEADER_SIZE] {
    let mut header = [0; HEADER_SIZE];
    MAGIC.write(&mut header, magic.to_be_bytes());
    PAGE_SIZE.write(&mut header, 1024_u32.to_be_bytes());
    CHECKPOINT.write(&mut header, 3_u32.to_be_bytes());
    SALTS.write(&mut header, *b"saltsalt");
    with_version(&header, VERSION_SQLITE).unwrap()
}

const MAGICS: [u32; 2] = [0x377f_0682, 0x377f_0683];

#[test]
fn header_round_trips_through_disk_in_both_word_orders() {
    for magic in MAGICS {
        let header = header_of_sqlite(magic);
        let disk = header_to_disk(&header).unwrap();
        assert_eq!(disk[4..8], 3_007_001_u32.to_be_bytes());
        assert_eq!((&disk[..4], &disk[8..24]), (&header[..4], &header[8..24]));
        assert_ne!(disk[24..], header[24..]);
        assert_eq!(header_from_disk(&disk), Ok(header));
        let parsed = Header::parse(&disk).unwrap();
        assert_eq!(
            (parsed.page_size, parsed.checkpoint, parsed.salts),
            (1024, 3, *b"saltsalt")
        );
        assert_eq!(parsed.checksum, words(CHECKSUM.read(&header)));
        assert_eq!(parsed.order == WordOrder::BigEndian, magic == MAGICS[1]);
    }
}

#[test]
fn header_of_the_other_version_is_refused() {
    for magic in MAGICS {
        let header = header_of_sqlite(magic);
        let disk = header_to_disk(&header).unwrap();
        assert_eq!(
            header_to_disk(&disk),
            Err(FormatError::WalVersion { version: 3_007_001 })
        );
        assert_eq!(
            header_from_disk(&header),
            Err(FormatError::WalVersion { version: 3_007_000 })
        );
        assert_eq!(
            Header::parse(&header),
            Err(FormatError::WalVersion { version: 3_007_000 })
        );
    }
}

#[test]
fn header_with_any_bit_flipped_is_refused() {
    for magic in MAGICS {
        let disk = header_to_disk(&header_of_sqlite(magic)).unwrap();
        for bit in 0..HEADER_SIZE * 8 {
            let mut flipped = disk;
            flipped[bit / 8] ^= 1 << (bit % 8);
            let refused = if bit / 8 < 4 && bit != 24 {
                FormatError::WalMagic
            } else {
                FormatError::WalChecksum
            };
            assert_eq!(header_from_disk(&flipped), Err(refused), "{bit}");
        }
    }
}

/// Bytes 0 to 32 and the first frame of a WAL written by SQLite 3.40.1, with its checksums.
#[test]
fn checksum_is_that_of_sqlite() {
    let header = *include_bytes!("../../testdata/sqlite_header.bin");
    let frame = include_bytes!("../../testdata/sqlite_frame.bin");
    let disk = header_to_disk(&header).unwrap();
    assert_eq!(header_from_disk(&disk), Ok(header));
    let parsed = Header::parse(&disk).unwrap();
    let seed = checksum(parsed.order, parsed.checksum, &frame[..8]);
    let found = checksum(parsed.order, seed, &frame[FRAME_HEADER_SIZE..]);
    let frame_header = FrameHeader::parse(frame.first_chunk().unwrap());
    assert_eq!((frame_header.page_no, frame_header.salts()), (PageNo(1), parsed.salts));
    assert_eq!(found, frame_header.checksum());
}

#[test]
fn frames_are_consecutive() {
    let size = PageSize::MIN;
    assert_eq!(frame_offset(0, size), FileOffset(32));
    assert_eq!(frame_offset(1, size), FileOffset(32 + 1048));
    assert_eq!(frame_offset(u64::MAX, size), FileOffset(u64::MAX));
    assert_eq!(position(FileOffset(31), size), Position::Header(31));
    assert_eq!(position(FileOffset(32), size), Position::Frame { index: 0, within: 0 });
    assert_eq!(
        position(FileOffset(32 + 1047), size),
        Position::Frame { index: 0, within: 1047 }
    );
    assert_eq!(
        position(FileOffset(32 + 1048 * 3 + 24), size),
        Position::Frame { index: 3, within: 24 }
    );
    for (file_size, count) in [
        (0, 0),
        (31, 0),
        (32, 0),
        (32 + 1047, 0),
        (32 + 1048, 1),
        (32 + 1048 * 5 + 9, 5),
    ] {
        assert_eq!(frame_count(file_size, size), count);
    }
}

proptest! {
    #[test]
    fn any_header_of_this_format_is_valid_for_sqlite(bytes: [u8; HEADER_SIZE], magic in 0..2_usize) {
        let mut header = bytes;
        MAGIC.write(&mut header, MAGICS[magic].to_be_bytes());
        let header = with_version(&header, VERSION_SQLITE).unwrap();
        let disk = header_to_disk(&header).unwrap();
        prop_assert_eq!(header_from_disk(&disk), Ok(header));
        prop_assert!(header_from_disk(&bytes).is_err());
    }

    #[test]
    fn frame_header_round_trips(bytes: [u8; FRAME_HEADER_SIZE]) {
        prop_assert_eq!(FrameHeader::parse(&bytes).encode(), bytes);
    }

    #[test]
    fn position_reverses_frame_offset(index in 0..1_u64 << 40, within in 0..1048_usize) {
        let start = frame_offset(index, PageSize::MIN);
        let offset = FileOffset(start.0 + u64::try_from(within).unwrap());
        prop_assert_eq!(position(offset, PageSize::MIN), Position::Frame { index, within });
    }
}
