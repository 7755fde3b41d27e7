//! The two superblocks on disk: which one is in force, and how the other is written (FORMAT 3.6,
//! 3.7).
//!
//! - other-is-whole: a superblock is written only over the one that is not in force, while the
//!   other is intact.
//! - removal-in-both: a change that removes access is in both copies, synced, before it is reported
//!   as done.
//! - cut-off-is-completed: if such a change was interrupted between its writes, the next change of
//!   any kind, even one that fails, begins with the missing write.

use selenite_format::{
    Chosen, SUPERBLOCK_A, SUPERBLOCK_B, SUPERBLOCK_SIZE_MAX, Whole, choose, inspect, keeps_dropped, stated_size,
};
use selenite_keyring::Unlocked;

use crate::error::VfsError;
use crate::ffi::{Code, LowerFile, SyncFlags};

/// The first bytes of both copies: if they are unchanged, so are the superblocks.
///
/// They contain the generation, which every change increments.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Heads([[u8; HEAD_SIZE]; 2]);

impl Heads {
    /// Reads the heads of both copies.
    ///
    /// # Errors
    /// Those of the VFS below.
    pub fn read(file: &mut LowerFile) -> Result<Self, Code> {
        let mut heads = [[0; HEAD_SIZE]; 2];
        read_or_zero(file, &mut heads[0], SUPERBLOCK_A)?;
        read_or_zero(file, &mut heads[1], SUPERBLOCK_B)?;
        Ok(Self(heads))
    }

    /// The heads of copies that were read.
    fn of(a: &[u8], b: &[u8]) -> Self {
        let head = |copy: &[u8]| {
            let mut head = [0; HEAD_SIZE];
            let size = copy.len().min(HEAD_SIZE);
            head[..size].copy_from_slice(&copy[..size]);
            head
        };
        Self([head(a), head(b)]).trusted(a, b)
    }

    /// The head of a torn superblock may equal that of the intact one which a second attempt writes
    /// over it: it is replaced, so that it never compares equal.
    fn trusted(mut self, a: &[u8], b: &[u8]) -> Self {
        for (head, place) in self.0.iter_mut().zip([a, b]) {
            if inspect(place) == Whole::No && *head != [0; HEAD_SIZE] {
                *head = [u8::MAX; HEAD_SIZE];
            }
        }
        self
    }
}

/// The content of the file before the pages.
pub enum Prefix {
    /// Nothing yet: no file, or a creation that was interrupted.
    Empty,
    /// An unencrypted SQLite database.
    Plain,
    /// A superblock that is in force, and its copy.
    Sealed {
        /// Its bytes.
        bytes: Vec<u8>,
        /// The copy that contains it.
        place: SuperblockCopy,
        /// The heads of both copies when they were read.
        heads: Heads,
    },
    /// Neither an unencrypted nor an encrypted database.
    Foreign,
    /// Both superblocks are damaged.
    Torn,
}

/// The copy A or B of the superblock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SuperblockCopy {
    /// At offset 0.
    A,
    /// At offset 32768.
    B,
}

impl SuperblockCopy {
    /// The other copy.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::A => Self::B,
            Self::B => Self::A,
        }
    }

    fn offset(self) -> u64 {
        match self {
            Self::A => SUPERBLOCK_A,
            Self::B => SUPERBLOCK_B,
        }
    }
}

/// Reads what precedes the pages.
///
/// If both superblocks are torn, they are read again until two reads are equal: another process may
/// have written one while the first was read, and the next one while the second was. The first was
/// complete by then (other-is-whole), and differs.
///
/// # Errors
/// Those of the VFS below.
pub fn read_prefix(file: &mut LowerFile) -> Result<Prefix, Code> {
    let mut copies = read_copies(file)?;
    for _ in 0..READ_COUNT_MAX {
        if !copies.as_ref().is_some_and(Copies::are_torn) {
            break;
        }
        let before = std::mem::replace(&mut copies, read_copies(file)?);
        if before == copies {
            break;
        }
    }
    Ok(copies.map_or(Prefix::Empty, Copies::into_prefix))
}

/// Both copies, as read.
#[derive(PartialEq, Eq)]
struct Copies {
    a: Vec<u8>,
    b: Vec<u8>,
    file_size: u64,
}

/// `None` for an empty file.
fn read_copies(file: &mut LowerFile) -> Result<Option<Copies>, Code> {
    let file_size = file.size()?;
    if file_size == 0 {
        return Ok(None);
    }
    let a = read_copy(file, SUPERBLOCK_A, file_size)?;
    let b = read_copy(file, SUPERBLOCK_B, file_size)?;
    Ok(Some(Copies { a, b, file_size }))
}

/// The copy at `offset` as far as the file has it: its first bytes, and all that it states to have. If it is replaced
/// between two reads its checksum is wrong, as that of a torn one.
fn read_copy(file: &mut LowerFile, offset: u64, file_size: u64) -> Result<Vec<u8>, Code> {
    let present = usize::try_from(file_size.saturating_sub(offset)).unwrap_or(usize::MAX);
    let mut copy = vec![0; FIRST_READ.min(present)];
    read_or_zero(file, &mut copy, offset)?;
    let stated = stated_size(&copy).unwrap_or(0).min(present);
    if stated > copy.len() {
        let first = copy.len();
        copy.resize(stated, 0);
        read_or_zero(file, &mut copy[first..], offset + FIRST_READ_BYTES)?;
    }
    Ok(copy)
}

impl Copies {
    fn are_torn(&self) -> bool {
        matches!(choose(&self.a, &self.b, self.file_size), Chosen::Torn)
    }

    fn into_prefix(self) -> Prefix {
        let heads = Heads::of(&self.a, &self.b);
        match choose(&self.a, &self.b, self.file_size) {
            Chosen::A(bytes) => Prefix::Sealed {
                bytes: bytes.to_vec(),
                place: SuperblockCopy::A,
                heads,
            },
            Chosen::B(bytes) => Prefix::Sealed {
                bytes: bytes.to_vec(),
                place: SuperblockCopy::B,
                heads,
            },
            Chosen::Empty => Prefix::Empty,
            Chosen::Plain => Prefix::Plain,
            Chosen::Foreign => Prefix::Foreign,
            Chosen::Torn => Prefix::Torn,
        }
    }
}

/// Writes both superblocks of a new database, and syncs: before its first page (FORMAT 2.6).
///
/// # Errors
/// Those of the VFS below; the file then counts as empty, or as complete.
pub fn store_new(file: &mut LowerFile, new: Unlocked) -> Result<(Unlocked, SuperblockCopy), VfsError> {
    let first = new.encode()?;
    let second = new.with_generation(new.superblock.generation + 1);
    file.write(&first, SUPERBLOCK_A)?;
    file.write(&second.encode()?, SUPERBLOCK_B)?;
    file.sync(SyncFlags::FULL)?;
    Ok((second, SuperblockCopy::B))
}

/// Replaces the superblock. `current` is the copy in force, and intact: the caller has just read
/// it, under SQLite's write lock, and has synced the pages that it refers to. `new` has the next
/// generation.
///
/// # Errors
/// Those of the VFS below; then either the old one or the new one is in force and intact.
pub fn store(
    file: &mut LowerFile,
    current: SuperblockCopy,
    new: Unlocked,
    revokes_access: bool,
) -> Result<(Unlocked, SuperblockCopy), VfsError> {
    file.write(&new.encode()?, current.other().offset())?;
    file.sync(SyncFlags::FULL)?;
    if !revokes_access {
        return Ok((new, current.other()));
    }
    let twin = new.with_generation(new.superblock.generation + 1);
    file.write(&twin.encode()?, current.offset())?;
    file.sync(SyncFlags::FULL)?;
    Ok((twin, current))
}

/// Whether the superblock that is not in force has to be rewritten: it lists a key that was
/// removed, or is torn, and may contain a part of one.
///
/// # Errors
/// Those of the VFS below.
pub fn other_needs_rewrite(file: &mut LowerFile) -> Result<bool, Code> {
    let mut a = vec![0; SUPERBLOCK_SIZE_MAX];
    let mut b = vec![0; SUPERBLOCK_SIZE_MAX];
    read_or_zero(file, &mut a, SUPERBLOCK_A)?;
    read_or_zero(file, &mut b, SUPERBLOCK_B)?;
    Ok(inspect(&a) == Whole::No || inspect(&b) == Whole::No || keeps_dropped(&a, &b))
}

/// Reads; bytes beyond the end of the file stay zero. Returns the size of `out`, the maximal number
/// of bytes read.
fn read_or_zero(file: &mut LowerFile, out: &mut [u8], offset: u64) -> Result<u64, Code> {
    match file.read(out, offset) {
        Ok(()) | Err(Code::IOERR_SHORT_READ) => Ok(u64::try_from(out.len()).unwrap_or(u64::MAX)),
        Err(code) => Err(code),
    }
}

/// How often torn superblocks are read again: each time another process must have written in
/// between.
const READ_COUNT_MAX: usize = 8;

/// What is read of a copy at first: a superblock with a dozen key slots is smaller.
const FIRST_READ: usize = 4096;
const FIRST_READ_BYTES: u64 = 4096;

/// Magic, length, generation and database id are in the first 64 bytes (FORMAT 3.1).
const HEAD_SIZE: usize = 64;
