//! A part: packed blocks behind their sizes, then zeros, sealed in pieces.
//!
//! | offset | size | |
//! |---|---|---|
//! | 0 | 16 | `selenite part 1\n` |
//! | 16 | 1 | kind |
//! | 17 | 3 | zeros |
//! | 20 | 4 | number |
//! | 24 | 16 | archive id |
//! | 40 | 16 | salt: 128 random bits |
//! | 56 | | pieces of 1 MiB, the last shorter, each with its tag of 16 bytes behind it |
//!
//! The header has no tag of its own: with another header no piece opens.

use selenite_cipher::{ArchiveId, ArchiveKey, PIECE_TAG_SIZE, PartKind, macs_are_equal};
use zeroize::Zeroize;

use super::error::ArchiveError;
use super::packer::PACKED_SIZE_MAX;
use super::padding::padded;

/// Bytes before the first piece.
pub const PART_HEADER_SIZE: usize = 56;
/// Bytes that are sealed at once.
pub const PIECE_SIZE: usize = 1 << 20;
/// Bytes of blocks and their sizes in one part, at most.
pub const CONTENT_SIZE_MAX: usize = 16 * PIECE_SIZE;
/// Bytes of a part with all of its pieces.
pub const PART_SIZE_MAX: usize = PART_HEADER_SIZE + CONTENT_SIZE_MAX / PIECE_SIZE * (PIECE_SIZE + PIECE_TAG_SIZE);
/// Bytes of an object of the log, which is a part, at most.
pub const LOG_OBJECT_SIZE_MAX: usize = 17 << 20;
/// Blocks in one part, at most: what one part unpacks to, and how long its index is, has a limit.
pub const BLOCK_COUNT_MAX: usize = 512;

/// Which part of which archive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PartHeader {
    /// What is in it.
    pub kind: PartKind,
    /// Its number, from 0.
    pub number: u32,
    /// The archive.
    pub archive_id: ArchiveId,
    /// Random.
    pub salt: [u8; 16],
}

impl PartHeader {
    /// Its bytes.
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

    /// The salt that the origin key gives to a part of this content (FORMAT 12.4); nothing without that key.
    fn origin_salt(&self, key: &ArchiveKey, part_salt: &[u8; 16], content: &[u8]) -> Option<[u8; 16]> {
        let bound = match self.kind {
            PartKind::Index => part_salt.as_slice(),
            PartKind::Part | PartKind::Facts | PartKind::Log => &[],
        };
        let mac = key.origin_mac([&self.encode()[..SALT_OFFSET], bound, content])?;
        mac.first_chunk().copied()
    }

    /// Whether its salt is that one, compared in constant time; nothing without the origin key.
    fn is_own(&self, key: &ArchiveKey, part_salt: &[u8; 16], content: &[u8]) -> Option<bool> {
        let salt = self.origin_salt(key, part_salt, content)?;
        Some(macs_are_equal(&salt, &self.salt))
    }

    /// Takes it from the beginning of a part.
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

/// Gathers packed blocks, and seals them in the memory in which they are.
#[derive(Default)]
pub struct PartWriter {
    /// Room for a header, then blocks.
    part: Vec<u8>,
    block_count: usize,
}

impl PartWriter {
    /// How long a packed block may be that is taken in; 0 where none is.
    #[must_use]
    pub fn room(&self) -> usize {
        if self.block_count == BLOCK_COUNT_MAX {
            return 0;
        }
        (CONTENT_SIZE_MAX - self.content_size()).saturating_sub(SIZE_SIZE)
    }

    /// Takes a packed block in; `false` if it has no room for it, and is to be sealed first.
    ///
    /// # Panics
    /// If it is larger than any that [`super::Packer`] makes.
    #[must_use]
    pub fn push(&mut self, packed: &[u8]) -> bool {
        assert!((1..=PACKED_SIZE_MAX).contains(&packed.len()));
        if packed.len() > self.room() {
            return false;
        }
        if self.part.capacity() == 0 {
            // At once: growing would leave copies behind.
            self.part.reserve_exact(RESERVED_SIZE);
            self.part.resize(PART_HEADER_SIZE, 0);
        }
        self.block_count += 1;
        let size = u32::try_from(packed.len()).expect("a megabyte at most");
        self.part.extend(size.to_be_bytes());
        self.part.extend_from_slice(packed);
        true
    }

    /// Whether nothing was taken in.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.block_count == 0
    }

    fn content_size(&self) -> usize {
        self.part.len().saturating_sub(PART_HEADER_SIZE)
    }

    /// Seals what was taken in, as long as all parts are, or, if it is the last or has as many
    /// blocks as there may be, hardly longer than it is. It is empty then.
    ///
    /// `salt` is random; that of an index is its part's. With the origin key the salt in the header is the origin MAC
    /// (FORMAT 12.4), of which an index's covers `salt`, too: [`PartHeader::parse`] tells it.
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
        // The last first: each moves behind the tags that will stand before it, over what has moved already.
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

/// Whether a sealed part may have so many bytes: what a length alone says of one.
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
        // What was never written to needs no wiping, and takes no memory until someone does.
        self.part.as_mut_slice().zeroize();
    }
}

/// A part that was opened: packed blocks.
#[derive(Debug)]
pub struct OpenPart {
    header: PartHeader,
    content: Vec<u8>,
}

impl OpenPart {
    /// Opens a part that is no index, all of it, in the memory in which it is. With the origin key its salt must be the
    /// origin MAC.
    ///
    /// # Errors
    /// [`ArchiveError`]: the part must not be used then.
    pub fn open(key: &ArchiveKey, place: (PartKind, u32), part: Vec<u8>) -> Result<Self, ArchiveError> {
        Self::open_own(key, place, &[0; 16], part)
    }

    /// Opens the index of a part that has this salt.
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

    /// Opens a part whatever its salt is: whose it is, [`OpenPart::is_own`] tells.
    ///
    /// # Errors
    /// As [`OpenPart::open`], but for [`ArchiveError::NotOfDatabase`].
    pub fn open_any(key: &ArchiveKey, place: (PartKind, u32), part: Vec<u8>) -> Result<Self, ArchiveError> {
        let opened = Self::unseal(key, place, part)?;
        opened.check()?;
        Ok(opened)
    }

    /// Whether it is no index, and the origin key has made its salt.
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
        // Before anything of it is looked at.
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

    /// The random bits under which it was sealed.
    #[must_use]
    pub fn salt(&self) -> [u8; 16] {
        self.header.salt
    }

    /// The packed blocks, in their order.
    pub fn blocks(&self) -> impl Iterator<Item = &[u8]> {
        let mut rest = self.content.as_slice();
        std::iter::from_fn(move || {
            let (packed, behind) = next(rest).ok()??;
            rest = behind;
            Some(packed)
        })
    }

    /// Whether it holds blocks, and then zeros to its end.
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

/// A block, and what is behind it.
type Split<'a> = (&'a [u8], &'a [u8]);

/// The first block, and what is behind it; nothing where only zeros may follow.
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
/// Where the salt stands in a header: all before it is covered by the origin MAC.
const SALT_OFFSET: usize = 40;
/// What a part takes of the address space: more than any has, since glibc keeps memory of up to 32
/// MiB that is given back (M_MMAP_THRESHOLD, mallopt(3)), and hands larger pieces to the system at
/// once. What is never written to takes no memory.
const RESERVED_SIZE: usize = 33 << 20;

#[cfg(test)]
mod tests;
