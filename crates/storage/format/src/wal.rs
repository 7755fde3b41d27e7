//! The write-ahead log (FORMAT 6): <https://sqlite.org/fileformat.html>, section 4, with a few bytes changed.
//!
//! - header-round-trip: converting a header to disk and back gives the same bytes, and only version
//!   and checksum differ.
//! - versions-distinct: the version distinguishes headers of SQLite's WAL from headers of this format.

use selenite_cipher::PageNo;

use crate::field::Field;
use crate::{FileOffset, FormatError, PageSize};

/// The size of the WAL header in bytes.
pub const HEADER_SIZE: usize = 32;
/// The size of a frame header in bytes.
pub const FRAME_HEADER_SIZE: usize = 24;
/// The version that SQLite writes and reads.
pub const VERSION_SQLITE: u32 = 3_007_000;
/// The version on disk: a SQLite that does not know this format refuses it.
pub const VERSION_DISK: u32 = 3_007_001;

/// The byte order of the words that SQLite's checksum adds: the last bit of the magic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WordOrder {
    /// Magic 0x377f0682.
    LittleEndian,
    /// Magic 0x377f0683.
    BigEndian,
}

/// A parsed WAL header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The word order for the checksums of this header and of all frames.
    pub order: WordOrder,
    /// The page size as stored, not validated.
    pub page_size: u32,
    /// SQLite's checkpoint sequence number.
    pub checkpoint: u32,
    /// Both salts.
    pub salts: [u8; 8],
    /// The checksum of the header in SQLite's form, with which the frame checksums continue.
    pub checksum: [u32; 2],
}

/// The parsed header of a frame on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameHeader {
    /// The number of the page in the frame.
    pub page_no: PageNo,
    /// The page count of the database after the commit that ends with this frame; zero in any other frame.
    pub commit_size: u32,
    /// Salts and checksums. On disk they are sealed (FORMAT 6.2).
    pub block: [u8; 16],
}

/// A position in a WAL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// The offset within the WAL header.
    Header(usize),
    /// A position in a frame.
    Frame {
        /// The index of the frame, from 0.
        index: u64,
        /// The offset within the frame; its page begins at [`FRAME_HEADER_SIZE`].
        within: usize,
    },
}

/// Converts SQLite's header to the header on disk.
///
/// # Errors
/// [`FormatError::WalMagic`], [`FormatError::WalVersion`] or [`FormatError::WalChecksum`] if SQLite
/// would not accept the header.
pub fn header_to_disk(header: &[u8; HEADER_SIZE]) -> Result<[u8; HEADER_SIZE], FormatError> {
    check(header, VERSION_SQLITE)?;
    with_version(header, VERSION_DISK)
}

/// Converts a header on disk to SQLite's header.
///
/// # Errors
/// [`FormatError::WalMagic`], [`FormatError::WalVersion`] or [`FormatError::WalChecksum`] if it is
/// not a header of this format. With a wrong magic or checksum SQLite regards the log as empty; any
/// other version it refuses.
pub fn header_from_disk(header: &[u8; HEADER_SIZE]) -> Result<[u8; HEADER_SIZE], FormatError> {
    check(header, VERSION_DISK)?;
    with_version(header, VERSION_SQLITE)
}

impl Header {
    /// Parses a header on disk.
    ///
    /// # Errors
    /// As [`header_from_disk`].
    pub fn parse(header: &[u8; HEADER_SIZE]) -> Result<Self, FormatError> {
        let header = header_from_disk(header)?;
        Ok(Self {
            order: order(&header)?,
            page_size: u32::from_be_bytes(PAGE_SIZE.read(&header)),
            checkpoint: u32::from_be_bytes(CHECKPOINT.read(&header)),
            salts: SALTS.read(&header),
            checksum: words(CHECKSUM.read(&header)),
        })
    }
}

impl FrameHeader {
    /// Parses a frame's header. Any 24 bytes are valid.
    pub fn parse(bytes: &[u8; FRAME_HEADER_SIZE]) -> Self {
        Self {
            page_no: PageNo(u32::from_be_bytes(FRAME_PAGE_NO.read(bytes))),
            commit_size: u32::from_be_bytes(FRAME_COMMIT_SIZE.read(bytes)),
            block: FRAME_BLOCK.read(bytes),
        }
    }

    /// Encodes a frame's header.
    pub fn encode(&self) -> [u8; FRAME_HEADER_SIZE] {
        let mut out = [0; FRAME_HEADER_SIZE];
        FRAME_PAGE_NO.write(&mut out, self.page_no.0.to_be_bytes());
        FRAME_COMMIT_SIZE.write(&mut out, self.commit_size.to_be_bytes());
        FRAME_BLOCK.write(&mut out, self.block);
        out
    }

    /// The salts in an opened block.
    pub fn salts(&self) -> [u8; 8] {
        BLOCK_SALTS.read(&self.block)
    }

    /// The checksum in an opened block.
    pub fn checksum(&self) -> [u32; 2] {
        words(BLOCK_CHECKSUM.read(&self.block))
    }

    /// The checksum in an opened block, as stored.
    pub fn checksum_bytes(&self) -> [u8; 8] {
        BLOCK_CHECKSUM.read(&self.block)
    }

    /// Writes salts and checksum into the block, which is sealed afterwards.
    pub fn sign(&mut self, salts: [u8; 8], [first, second]: [u32; 2]) {
        let mut checksum = [0; 8];
        checksum[..4].copy_from_slice(&first.to_be_bytes());
        checksum[4..].copy_from_slice(&second.to_be_bytes());
        BLOCK_SALTS.write(&mut self.block, salts);
        BLOCK_CHECKSUM.write(&mut self.block, checksum);
    }
}

/// The offset of frame `index` (FORMAT 6). No file is so long that an index could overflow it.
pub fn frame_offset(index: u64, page_size: PageSize) -> FileOffset {
    FileOffset(
        index
            .saturating_mul(frame_size(page_size))
            .saturating_add(HEADER_SIZE_U64),
    )
}

/// The position at `offset`.
pub fn position(offset: FileOffset, page_size: PageSize) -> Position {
    match offset.0.checked_sub(HEADER_SIZE_U64) {
        None => Position::Header(small(offset.0)),
        Some(behind) => Position::Frame {
            index: behind / frame_size(page_size),
            within: small(behind % frame_size(page_size)),
        },
    }
}

/// The number of complete frames in a WAL of `file_size` bytes, as walIndexRecover counts them.
pub fn frame_count(file_size: u64, page_size: PageSize) -> u64 {
    file_size.saturating_sub(HEADER_SIZE_U64) / frame_size(page_size)
}

/// The size of a frame in bytes, with its header.
pub fn frame_size(page_size: PageSize) -> u64 {
    FRAME_HEADER_SIZE_U64 + page_size.as_u64()
}

/// SQLite's checksum over `data`, a multiple of 8 bytes, continued from `seed` (walChecksumBytes in wal.c).
///
/// For a frame SQLite continues from the previous frame or the header, over the first 8 bytes of
/// the frame's header and then over the unencrypted page.
pub fn checksum(order: WordOrder, seed: [u32; 2], data: &[u8]) -> [u32; 2] {
    let word = |bytes: [u8; 4]| match order {
        WordOrder::LittleEndian => u32::from_le_bytes(bytes),
        WordOrder::BigEndian => u32::from_be_bytes(bytes),
    };
    let (pairs, _) = data.as_chunks::<8>();
    pairs.iter().fold(seed, |[first, second], &[a, b, c, d, e, f, g, h]| {
        let first = first.wrapping_add(word([a, b, c, d])).wrapping_add(second);
        let second = second.wrapping_add(word([e, f, g, h])).wrapping_add(first);
        [first, second]
    })
}

fn check(header: &[u8; HEADER_SIZE], version: u32) -> Result<(), FormatError> {
    if header_checksum(header)? != words(CHECKSUM.read(header)) {
        return Err(FormatError::WalChecksum);
    }
    // As in walIndexRecover the version is checked last: that of a torn header has no meaning.
    match u32::from_be_bytes(VERSION.read(header)) {
        found if found == version => Ok(()),
        found => Err(FormatError::WalVersion { version: found }),
    }
}

fn with_version(header: &[u8; HEADER_SIZE], version: u32) -> Result<[u8; HEADER_SIZE], FormatError> {
    let mut out = *header;
    VERSION.write(&mut out, version.to_be_bytes());
    let [first, second] = header_checksum(&out)?;
    let mut bytes = [0; 8];
    bytes[..4].copy_from_slice(&first.to_be_bytes());
    bytes[4..].copy_from_slice(&second.to_be_bytes());
    CHECKSUM.write(&mut out, bytes);
    Ok(out)
}

fn header_checksum(header: &[u8; HEADER_SIZE]) -> Result<[u32; 2], FormatError> {
    Ok(checksum(order(header)?, [0, 0], &header[..CHECKSUMMED]))
}

fn order(header: &[u8; HEADER_SIZE]) -> Result<WordOrder, FormatError> {
    match u32::from_be_bytes(MAGIC.read(header)) {
        0x377f_0682 => Ok(WordOrder::LittleEndian),
        0x377f_0683 => Ok(WordOrder::BigEndian),
        _ => Err(FormatError::WalMagic),
    }
}

fn words(bytes: [u8; 8]) -> [u32; 2] {
    let [a, b, c, d, e, f, g, h] = bytes;
    [u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h])]
}

/// Converts an offset within a header or frame, which has at most 65560 bytes.
fn small(within: u64) -> usize {
    usize::try_from(within).unwrap_or(usize::MAX)
}

const HEADER_SIZE_U64: u64 = 32;
const FRAME_HEADER_SIZE_U64: u64 = 24;
/// The number of bytes before the checksum, which it covers.
const CHECKSUMMED: usize = 24;
const MAGIC: Field<4> = Field::at(0);
const VERSION: Field<4> = Field::at(4);
const PAGE_SIZE: Field<4> = Field::at(8);
const CHECKPOINT: Field<4> = Field::at(12);
const SALTS: Field<8> = Field::at(16);
const CHECKSUM: Field<8> = Field::at(24);
const FRAME_PAGE_NO: Field<4> = Field::at(0);
const FRAME_COMMIT_SIZE: Field<4> = Field::at(4);
const FRAME_BLOCK: Field<16> = Field::at(8);
const BLOCK_SALTS: Field<8> = Field::at(0);
const BLOCK_CHECKSUM: Field<8> = Field::at(8);

#[cfg(test)]
mod tests;
