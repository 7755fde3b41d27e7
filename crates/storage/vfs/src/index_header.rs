//! The header of the WAL index: the end of the log after the last commit
//! (sqlite.org/walformat.html, section 2.2).

use crate::ffi::ShmRegion;

/// A complete `WalIndexHdr`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IndexHeader([u32; WORD_COUNT]);

impl IndexHeader {
    /// Reads it as `walIndexTryHdr` does: both copies must be equal, and their checksum correct.
    pub fn read(region: &ShmRegion) -> Option<Self> {
        let first = Self::read_first(region)?;
        for (index, word) in first.0.iter().enumerate() {
            if region.word(WORD_COUNT + index)? != *word {
                return None;
            }
        }
        Some(first)
    }

    /// Reads the first copy, independently of the second: a commit writes the second copy first.
    /// `walTryBeginRead` uses the first copy to check, after it took its read mark, that the end of
    /// the log is unchanged.
    pub fn read_first(region: &ShmRegion) -> Option<Self> {
        let mut header = [0; WORD_COUNT];
        for (index, word) in header.iter_mut().enumerate() {
            *word = region.word(index)?;
        }
        // `isInit` is the first byte of word 3.
        let is_ready = header[0] == VERSION && header[3].to_ne_bytes()[0] != 0;
        (is_ready && checksum(&header[..CHECKSUM]) == header[CHECKSUM..]).then_some(Self(header))
    }

    /// The number of frames in the log.
    pub fn frame_count(&self) -> u32 {
        self.0[FRAME_MAX]
    }

    /// The number of pages in the database.
    pub fn page_count(&self) -> u32 {
        self.0[PAGE_COUNT]
    }

    /// The checksum of the last frame, as in that frame's header: over all frames up to it.
    pub fn frame_checksum(&self) -> [u8; 8] {
        let mut bytes = [0; 8];
        bytes[..4].copy_from_slice(&self.0[FRAME_CHECKSUM].to_be_bytes());
        bytes[4..].copy_from_slice(&self.0[FRAME_CHECKSUM + 1].to_be_bytes());
        bytes
    }

    /// The log's salts, in the machine's byte order.
    pub fn salt_words(&self) -> [u32; 2] {
        [self.0[SALTS], self.0[SALTS + 1]]
    }

    /// The log's salts, in the byte order of the log's header: SQLite copies them byte by byte.
    pub fn salts(&self) -> [u8; 8] {
        let [one, two] = self.salt_words().map(u32::to_ne_bytes);
        let mut salts = [0; 8];
        salts[..4].copy_from_slice(&one);
        salts[4..].copy_from_slice(&two);
        salts
    }
}

/// `walChecksumBytes` in the machine's byte order.
pub fn checksum(words: &[u32]) -> [u32; 2] {
    words.chunks_exact(2).fold([0_u32; 2], |[one, two], pair| {
        let one = one.wrapping_add(pair[0]).wrapping_add(two);
        [one, two.wrapping_add(pair[1]).wrapping_add(one)]
    })
}

/// The number of words in each of the two copies.
pub const WORD_COUNT: usize = 12;
/// WALINDEX_MAX_VERSION.
pub const VERSION: u32 = 3_007_000;
/// mxFrame.
pub const FRAME_MAX: usize = 4;
/// nPage.
const PAGE_COUNT: usize = 5;
/// aFrameCksum.
const FRAME_CHECKSUM: usize = 6;
/// aSalt.
pub const SALTS: usize = 8;
/// aCksum.
pub const CHECKSUM: usize = 10;
/// `WalCkptInfo.nBackfill`, after both copies of the header.
pub const BACKFILLED: usize = 2 * WORD_COUNT;
