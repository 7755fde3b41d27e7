//! The rollback journal (FORMAT 7): <https://sqlite.org/fileformat.html>, section 3, with a few bytes changed.
//!
//! - first-byte-is-zero: on disk byte 0 of a journal is 0, whatever SQLite wrote there: a SQLite
//!   that does not know this format regards the journal as finished.

use selenite_cipher::PageNo;

use crate::PageSize;
use crate::field::Field;

/// The first bytes of a hot journal.
pub const MAGIC: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
/// The size of a header's fields; the rest of its sector is zero.
pub const HEADER_SIZE: usize = 28;
/// The offset of the sealed image in a record.
pub const RECORD_IMAGE_OFFSET: usize = 4;
/// The size of a record's page number and checksum together.
pub const RECORD_OVERHEAD: usize = 8;
/// The record count of a header whose record count follows from the size of the file.
pub const RECORD_COUNT_UNKNOWN: u32 = u32::MAX;

/// The parsed header of a journal in SQLite's form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The number of records that follow, or [`RECORD_COUNT_UNKNOWN`].
    pub record_count: u32,
    /// The initial value of the checksum of every record.
    pub nonce: u32,
    /// The page count of the database before the transaction.
    pub page_count: u32,
    /// The sector size: headers begin at its multiples.
    pub sector_size: u32,
    /// The page size as stored, not validated.
    pub page_size: u32,
}

/// Converts the first 8 bytes of a journal to their form on disk.
pub fn magic_to_disk(start: [u8; 8]) -> [u8; 8] {
    let [_, rest @ ..] = start;
    let mut out = [0; 8];
    out[1..].copy_from_slice(&rest);
    out
}

/// Converts the first 8 bytes of a journal on disk to SQLite's form.
pub fn magic_from_disk(start: [u8; 8]) -> [u8; 8] {
    if start[1..] == MAGIC[1..] { MAGIC } else { start }
}

impl Header {
    /// Parses a header in SQLite's form; `None` without the magic.
    pub fn parse(bytes: &[u8; HEADER_SIZE]) -> Option<Self> {
        let number = |field: Field<4>| u32::from_be_bytes(field.read(bytes));
        (MAGIC_FIELD.read(bytes) == MAGIC).then(|| Self {
            record_count: number(RECORD_COUNT),
            nonce: number(NONCE),
            page_count: number(PAGE_COUNT),
            sector_size: number(SECTOR_SIZE),
            page_size: number(PAGE_SIZE),
        })
    }

    /// Whether SQLite accepts a first header with these sizes (readJournalHdr in pager.c). For
    /// SQLite, and any reader that rounds up to sectors, a journal with other sizes is at its end.
    /// A page size of 0 means that of the database.
    pub const fn sizes_are_good(&self) -> bool {
        let sector = self.sector_size >= 32 && self.sector_size <= SECTOR_SIZE_MAX;
        let page = self.page_size >= 512 && self.page_size <= PageSize::MAX.as_u32();
        let page = self.page_size == 0 || page && self.page_size.is_power_of_two();
        sector && page && self.sector_size.is_power_of_two()
    }

    /// Encodes a header in SQLite's form.
    pub fn encode(&self) -> [u8; HEADER_SIZE] {
        let mut out = [0; HEADER_SIZE];
        MAGIC_FIELD.write(&mut out, MAGIC);
        RECORD_COUNT.write(&mut out, self.record_count.to_be_bytes());
        NONCE.write(&mut out, self.nonce.to_be_bytes());
        PAGE_COUNT.write(&mut out, self.page_count.to_be_bytes());
        SECTOR_SIZE.write(&mut out, self.sector_size.to_be_bytes());
        PAGE_SIZE.write(&mut out, self.page_size.to_be_bytes());
        out
    }
}

/// A parsed record on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// The number of the page in the record.
    pub page_no: PageNo,
    /// The sealed image.
    pub image: &'a [u8],
    /// SQLite's checksum plus the mask (FORMAT 7.2).
    pub checksum: u32,
}

impl<'a> Record<'a> {
    /// Parses a record; `None` if `bytes` does not have the size of a record.
    pub fn parse(bytes: &'a [u8], page_size: PageSize) -> Option<Self> {
        let (page_no, rest) = bytes.split_first_chunk()?;
        let (image, checksum) = rest.split_last_chunk()?;
        (image.len() == page_size.bytes()).then_some(Self {
            page_no: PageNo(u32::from_be_bytes(*page_no)),
            image,
            checksum: u32::from_be_bytes(*checksum),
        })
    }
}

/// The size of a record in bytes.
pub const fn record_size(page_size: PageSize) -> usize {
    page_size.bytes() + RECORD_OVERHEAD
}

/// SQLite's checksum of a record, masked (FORMAT 7.2).
pub const fn mask_checksum(checksum: u32, mask: u32) -> u32 {
    checksum.wrapping_add(mask)
}

/// Recovers SQLite's checksum of a record from the masked one.
pub const fn unmask_checksum(masked: u32, mask: u32) -> u32 {
    masked.wrapping_sub(mask)
}

/// SQLite's checksum over an unencrypted page (pager_cksum in pager.c): the nonce and every 200th byte, from the end.
pub fn checksum(nonce: u32, page: &[u8]) -> u32 {
    let offsets = (0..page.len())
        .rev()
        .skip(199)
        .step_by(200)
        .filter(|&offset| offset > 0);
    offsets.fold(nonce, |sum, offset| sum.wrapping_add(u32::from(page[offset])))
}

/// SQLite's MAX_SECTOR_SIZE.
const SECTOR_SIZE_MAX: u32 = 65536;
const MAGIC_FIELD: Field<8> = Field::at(0);
const RECORD_COUNT: Field<4> = Field::at(8);
const NONCE: Field<4> = Field::at(12);
const PAGE_COUNT: Field<4> = Field::at(16);
const SECTOR_SIZE: Field<4> = Field::at(20);
const PAGE_SIZE: Field<4> = Field::at(24);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn magic_round_trips_and_other_bytes_are_unchanged() {
        assert_eq!(magic_to_disk(MAGIC), [0, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]);
        assert_eq!(magic_from_disk(magic_to_disk(MAGIC)), MAGIC);
        // A header that pager.c has not synced yet, and one finished in PERSIST mode, consist of zeros.
        assert_eq!(magic_from_disk(magic_to_disk([0; 8])), [0; 8]);
        for index in 1..8 {
            let mut damaged = magic_to_disk(MAGIC);
            damaged[index] ^= 1;
            assert_eq!(magic_from_disk(damaged), damaged);
        }
    }

    /// pager_cksum: `i = pageSize - 200; while( i>0 ){ cksum += aData[i]; i -= 200; }`
    #[test]
    fn checksum_is_that_of_pager_cksum() {
        for size in [0, 1, 199, 200, 201, 400, 1024, 4096, 65536] {
            let page: Vec<u8> = (1..=251).cycle().take(size).collect();
            let mut expected = 0xffff_ff00_u32;
            let mut i = size;
            while i > 200 {
                i -= 200;
                expected = expected.wrapping_add(u32::from(page[i]));
            }
            assert_eq!(checksum(0xffff_ff00, &page), expected, "{size}");
        }
    }

    #[test]
    fn sizes_are_good_if_sqlite_accepts_them() {
        let good = |sector_size, page_size| {
            let (record_count, nonce, page_count) = (1, 2, 3);
            Header {
                record_count,
                nonce,
                page_count,
                sector_size,
                page_size,
            }
            .sizes_are_good()
        };
        assert!(good(32, 512) && good(512, 0) && good(512, 1024) && good(65536, 65536));
        for sector_size in [0, 16, 33, 131_072, u32::MAX] {
            assert!(!good(sector_size, 1024));
        }
        for page_size in [1, 256, 1000, 131_072, u32::MAX] {
            assert!(!good(512, page_size));
        }
    }

    #[test]
    fn record_is_parsed_at_its_size_only() {
        let bytes: Vec<u8> = (0..=255).cycle().take(record_size(PageSize::MIN)).collect();
        let record = Record::parse(&bytes, PageSize::MIN).unwrap();
        assert_eq!(record.page_no, PageNo(0x0001_0203));
        assert_eq!(record.image, &bytes[RECORD_IMAGE_OFFSET..1028]);
        assert_eq!(record.checksum.to_be_bytes(), bytes[1028..]);
        for size in (0..bytes.len()).chain([bytes.len() + 1]) {
            let mut other = bytes.clone();
            other.resize(size, 0);
            assert_eq!(Record::parse(&other, PageSize::MIN), None);
        }
    }

    proptest! {
        #[test]
        fn header_round_trips(bytes: [u8; HEADER_SIZE]) {
            prop_assert_eq!(Header::parse(&bytes).is_some(), bytes[..8] == MAGIC);
            let mut bytes = bytes;
            bytes[..8].copy_from_slice(&MAGIC);
            prop_assert_eq!(Header::parse(&bytes).unwrap().encode(), bytes);
        }

        #[test]
        fn unmask_reverses_mask(checksum: u32, mask: u32) {
            prop_assert_eq!(unmask_checksum(mask_checksum(checksum, mask), mask), checksum);
        }
    }
}
