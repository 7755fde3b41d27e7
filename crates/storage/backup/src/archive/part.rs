//! A part: packed blocks, each preceded by its size, then zeros, sealed in pieces.
//!
//! | offset | size | |
//! |---|---|---|
//! | 0 | 16 | `selenite part 1\n` |
//! | 16 | 1 | kind |
//! | 17 | 3 | zeros |
//! | 20 | 4 | number |
//! | 24 | 16 | archive id |
//! | 40 | 16 | salt: 128 random bits |
//! | 56 | | pieces of 1 MiB, the last shorter, each followed by its tag of 16 bytes |
//!
//! The header has no tag of its own: with an altered header no piece opens.

use selenite_cipher::{ArchiveId, ArchiveKey, PIECE_TAG_SIZE, PartKind, macs_are_equal};
use zeroize::Zeroize;

use super::error::ArchiveError;
use super::packer::PACKED_SIZE_MAX;
use super::padding::padded;

/// The offset of the first piece.
pub const PART_HEADER_SIZE: usize = 56;
/// The size of a piece in bytes, before sealing.
pub const PIECE_SIZE: usize = 1 << 20;
/// The maximum size of blocks and their sizes in one part, in bytes.
pub const CONTENT_SIZE_MAX: usize = 16 * PIECE_SIZE;
/// The maximum size of a part, with all pieces.
pub const PART_SIZE_MAX: usize = PART_HEADER_SIZE + CONTENT_SIZE_MAX / PIECE_SIZE * (PIECE_SIZE + PIECE_TAG_SIZE);
/// The maximum size of an object of the log, which is a part.
pub const LOG_OBJECT_SIZE_MAX: usize = 17 << 20;
/// The maximum number of blocks in a part: it limits the unpacked size of a part and the size of its index.
pub const BLOCK_COUNT_MAX: usize = 512;

/// Identifies a part of an archive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PartHeader {
    /// The kind of content.
    pub kind: PartKind,
    /// The number, from 0.
    pub number: u32,
    /// The id of the archive.
    pub archive_id: ArchiveId,
    /// Random, or an origin MAC.
    pub salt: [u8; 16],
}

impl PartHeader {
    /// Encodes the header.
    #[must_use]
    pub fn encode(&self) -> [u8; PART_HEADER_SIZE] {
        let mut bytes = [0; PART_HEADER_SIZE];
        bytes[..16].copy_from_slice(MAGIC);
        bytes[16] = self.kind as u8;
        bytes[20..24].copy_from_slice(&self.number.to_be_bytes());
        bytes[24..40].copy_from_slice(&self.archive_id.0);
        bytes[40..].copy_from_slice(&self.salt);
        bytes
    }

    /// The salt that the origin key derives for a part with this content (FORMAT 12.4); `None` without that key.
    fn origin_salt(&self, key: &ArchiveKey, part_salt: &[u8; 16], content: &[u8]) -> Option<[u8; 16]> {
        let bound = match self.kind {
            PartKind::Index => part_salt.as_slice(),
            PartKind::Part | PartKind::Facts | PartKind::Log => &[],
        };
        let mac = key.origin_mac([&self.encode()[..SALT_OFFSET], bound, content])?;
        mac.first_chunk().copied()
    }

    /// Whether the salt is that one, compared in constant time; `None` without the origin key.
    fn is_own(&self, key: &ArchiveKey, part_salt: &[u8; 16], content: &[u8]) -> Option<bool> {
        let salt = self.origin_salt(key, part_salt, content)?;
        Some(macs_are_equal(&salt, &self.salt))
    }

    /// Parses the header at the start of a part.
    ///
    /// # Errors
    /// [`ArchiveError::NotAPart`].
    pub fn parse(part: &[u8]) -> Result<Self, ArchiveError> {
        let bytes: &[u8; PART_HEADER_SIZE] = part.first_chunk().ok_or(ArchiveError::NotAPart)?;
        let kind = match bytes[16] {
            1 => PartKind::Part,
            2 => PartKind::Index,
            3 => PartKind::Facts,
            4 => PartKind::Log,
            _ => return Err(ArchiveError::NotAPart),
        };
        let field = |at: usize| -> [u8; 16] { bytes[at..at + 16].try_into().expect("sixteen bytes") };
        let header = Self {
            kind,
            number: u32::from_be_bytes(bytes[20..24].try_into().expect("four bytes")),
            archive_id: ArchiveId(field(24)),
            salt: field(40),
        };
        (header.encode() == *bytes)
            .then_some(header)
            .ok_or(ArchiveError::NotAPart)
    }
}

/// Collects packed blocks, and seals them in place.
#[derive(Default)]
pub struct PartWriter {
    /// Space for a header, then blocks.
    part: Vec<u8>,
    block_count: usize,
}

impl PartWriter {
    /// The maximum size of a packed block that still fits; 0 if the part is full.
    #[must_use]
    pub fn room(&self) -> usize {
        if self.block_count == BLOCK_COUNT_MAX {
            return 0;
        }
        (CONTENT_SIZE_MAX - self.content_size()).saturating_sub(SIZE_SIZE)
    }

    /// Appends a packed block; `false` if it does not fit and the part must be sealed first.
    ///
    /// # Panics
    /// If the block is larger than any from [`super::Packer`].
    #[must_use]
    pub fn push(&mut self, packed: &[u8]) -> bool {
        assert!((1..=PACKED_SIZE_MAX).contains(&packed.len()));
        if packed.len() > self.room() {
            return false;
        }
        if self.part.capacity() == 0 {
            // Reserved in one step: a buffer that grows leaves copies behind.
            self.part.reserve_exact(RESERVED_SIZE);
            self.part.resize(PART_HEADER_SIZE, 0);
        }
        self.block_count += 1;
        let size = u32::try_from(packed.len()).expect("a megabyte at most");
        self.part.extend(size.to_be_bytes());
        self.part.extend_from_slice(packed);
        true
    }

    /// Whether there are no blocks.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.block_count == 0
    }

    fn content_size(&self) -> usize {
        self.part.len().saturating_sub(PART_HEADER_SIZE)
    }

    /// Seals the blocks and clears the writer. The part is padded to the common size, or, if it is
    /// the last one or has the maximum number of blocks, only to the next padded size.
    ///
    /// `salt` is random; for an index it is the salt of its part. With the origin key the salt in
    /// the header is the origin MAC (FORMAT 12.4), which for an index also covers `salt`:
    /// [`PartHeader::parse`] returns it.
    pub fn seal(
        &mut self,
        key: &ArchiveKey,
        (kind, number, salt): (PartKind, u32, [u8; 16]),
        is_last: bool,
    ) -> Vec<u8> {
        let is_cut = is_last || self.block_count == BLOCK_COUNT_MAX;
        let size = if is_cut {
            padded(self.content_size()).min(CONTENT_SIZE_MAX)
        } else {
            CONTENT_SIZE_MAX
        };
        let mut header = PartHeader {
            kind,
            number,
            archive_id: key.archive_id(),
            salt,
        };
        let count = size.div_ceil(PIECE_SIZE);
        let mut part = std::mem::take(&mut self.part);
        self.block_count = 0;
        part.resize(PART_HEADER_SIZE + size + count * PIECE_TAG_SIZE, 0);
        let content = &part[PART_HEADER_SIZE..PART_HEADER_SIZE + size];
        header.salt = header.origin_salt(key, &salt, content).unwrap_or(salt);
        let part_key = key.part_key(kind, number, &header.salt);
        part[..PART_HEADER_SIZE].copy_from_slice(&header.encode());
        // The last piece first: each piece moves to make room for the tags before it, over pieces
        // that have moved already.
        for index in (0..count).rev() {
            let from = PART_HEADER_SIZE + index * PIECE_SIZE;
            let piece_size = PIECE_SIZE.min(size - index * PIECE_SIZE);
            let to = from + index * PIECE_TAG_SIZE;
            part.copy_within(from..from + piece_size, to);
            let (piece, behind) = part[to..].split_at_mut(piece_size);
            let number = u32::try_from(index).expect("16 at most");
            let tag = part_key.seal_piece(number, index + 1 == count, piece);
            behind[..PIECE_TAG_SIZE].copy_from_slice(&tag);
        }
        part
    }
}

/// Whether a sealed part can have this size.
#[must_use]
pub fn is_part_size(size: u64) -> bool {
    let sealed = usize::try_from(size)
        .ok()
        .and_then(|size| size.checked_sub(PART_HEADER_SIZE));
    let Some(sealed) = sealed else { return false };
    let count = sealed.div_ceil(PIECE_SIZE + PIECE_TAG_SIZE);
    let content = sealed.saturating_sub(count.saturating_mul(PIECE_TAG_SIZE));
    content <= CONTENT_SIZE_MAX && content.div_ceil(PIECE_SIZE) == count && padded(content) == content
}

impl Drop for PartWriter {
    fn drop(&mut self) {
        // Memory that was never written needs no wiping, and is not allocated by the system until it is written.
        self.part.as_mut_slice().zeroize();
    }
}

/// An opened part with packed blocks.
#[derive(Debug)]
pub struct OpenPart {
    header: PartHeader,
    content: Vec<u8>,
}

impl OpenPart {
    /// Opens a whole part, other than an index, in place. With the origin key its salt must be the origin MAC.
    ///
    /// # Errors
    /// [`ArchiveError`]: the part must not be used.
    pub fn open(key: &ArchiveKey, place: (PartKind, u32), part: Vec<u8>) -> Result<Self, ArchiveError> {
        Self::open_own(key, place, &[0; 16], part)
    }

    /// Opens the index of a part that has the salt `part_salt`.
    ///
    /// # Errors
    /// As [`OpenPart::open`].
    pub fn open_index(
        key: &ArchiveKey,
        number: u32,
        part_salt: &[u8; 16],
        part: Vec<u8>,
    ) -> Result<Self, ArchiveError> {
        Self::open_own(key, (PartKind::Index, number), part_salt, part)
    }

    /// Opens a part with any salt; [`OpenPart::is_own`] returns whether its origin is proved.
    ///
    /// # Errors
    /// As [`OpenPart::open`], except [`ArchiveError::NotOfDatabase`].
    pub fn open_any(key: &ArchiveKey, place: (PartKind, u32), part: Vec<u8>) -> Result<Self, ArchiveError> {
        let opened = Self::unseal(key, place, part)?;
        opened.check()?;
        Ok(opened)
    }

    /// Whether this is not an index, and its salt was made with the origin key.
    #[must_use]
    pub fn is_own(&self, key: &ArchiveKey) -> bool {
        self.header.is_own(key, &[0; 16], &self.content) == Some(true)
    }

    fn open_own(
        key: &ArchiveKey,
        place: (PartKind, u32),
        part_salt: &[u8; 16],
        part: Vec<u8>,
    ) -> Result<Self, ArchiveError> {
        let opened = Self::unseal(key, place, part)?;
        // Checked before the content is used.
        if opened.header.is_own(key, part_salt, &opened.content) == Some(false) {
            return Err(ArchiveError::NotOfDatabase);
        }
        opened.check()?;
        Ok(opened)
    }

    fn unseal(key: &ArchiveKey, (kind, number): (PartKind, u32), mut part: Vec<u8>) -> Result<Self, ArchiveError> {
        let header = PartHeader::parse(&part)?;
        if (header.kind, header.number, header.archive_id) != (kind, number, key.archive_id()) {
            return Err(ArchiveError::OtherPart);
        }
        let sealed_size = part.len() - PART_HEADER_SIZE;
        let sealed_piece = PIECE_SIZE + PIECE_TAG_SIZE;
        let count = sealed_size.div_ceil(sealed_piece);
        if count == 0 || count > CONTENT_SIZE_MAX / PIECE_SIZE {
            return Err(ArchiveError::Unauthentic);
        }
        let part_key = key.part_key(kind, number, &header.salt);
        let mut to = 0;
        for index in 0..count {
            let from = PART_HEADER_SIZE + index * sealed_piece;
            let end = part.len().min(from + sealed_piece);
            let piece_no = u32::try_from(index).map_err(|_| ArchiveError::Unauthentic)?;
            let opened = part_key.open_piece(piece_no, index + 1 == count, &mut part[from..end]);
            let Ok(size) = opened.map(<[u8]>::len) else {
                part.zeroize();
                return Err(ArchiveError::Unauthentic);
            };
            part.copy_within(from..from + size, to);
            to += size;
        }
        part[to..].zeroize();
        part.truncate(to);
        Ok(Self { header, content: part })
    }

    /// The salt under which the part was sealed.
    #[must_use]
    pub fn salt(&self) -> [u8; 16] {
        self.header.salt
    }

    /// The packed blocks, in order.
    pub fn blocks(&self) -> impl Iterator<Item = &[u8]> {
        let mut rest = self.content.as_slice();
        std::iter::from_fn(move || {
            let (packed, behind) = next(rest).ok()??;
            rest = behind;
            Some(packed)
        })
    }

    /// Checks that the content is blocks, then zeros up to its end.
    fn check(&self) -> Result<(), ArchiveError> {
        let mut rest = self.content.as_slice();
        let mut block_count = 0;
        while let Some((_, behind)) = next(rest)? {
            rest = behind;
            block_count += 1;
        }
        if rest.iter().any(|&byte| byte != 0) {
            return Err(ArchiveError::Malformed { what: "padding" });
        }
        if block_count == 0 || block_count > BLOCK_COUNT_MAX {
            return Err(ArchiveError::Malformed { what: "block count" });
        }
        Ok(())
    }
}

impl Drop for OpenPart {
    fn drop(&mut self) {
        self.content.zeroize();
    }
}

/// A block and the remaining bytes.
type Split<'a> = (&'a [u8], &'a [u8]);

/// The first block and the remaining bytes; `None` if only zeros may follow.
fn next(content: &[u8]) -> Result<Option<Split<'_>>, ArchiveError> {
    let Some((size, rest)) = content.split_first_chunk::<SIZE_SIZE>() else {
        return Ok(None);
    };
    let size = usize::try_from(u32::from_be_bytes(*size)).unwrap_or(usize::MAX);
    if size == 0 {
        return Ok(None);
    }
    if size > PACKED_SIZE_MAX {
        return Err(ArchiveError::Malformed { what: "block size" });
    }
    let split = rest.split_at_checked(size);
    split.map(Some).ok_or(ArchiveError::Malformed { what: "block size" })
}

const MAGIC: &[u8; 16] = b"selenite part 1\n";
const SIZE_SIZE: usize = 4;
/// The offset of the salt in a header: the origin MAC covers all bytes before it.
const SALT_OFFSET: usize = 40;
/// The address space reserved for a part. It is larger than any part, since glibc retains freed
/// memory of up to 32 MiB (M_MMAP_THRESHOLD, mallopt(3)), and returns larger blocks to the system
/// immediately. Memory that is never written is not allocated.
const RESERVED_SIZE: usize = 33 << 20;

#[cfg(test)]
mod tests;
