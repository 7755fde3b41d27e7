//! The superblock: the metadata of a database, stored before its pages (FORMAT 3).
//!
//! - parse-refuses-what-format-says: `parse` refuses everything that a reader must refuse according
//!   to FORMAT 3, and `encode` everything that `parse` would refuse.
//! - mac-before-use: before its MAC is checked ([`Superblock::maced`]) only the sizes of a
//!   parsed superblock may be used, and the cost of the slot being tried (FORMAT 3.5). The keyring
//!   checks the MAC.

use std::collections::HashSet;

use selenite_cipher::{DatabaseId, Epoch, Suite, sha256};

use crate::epoch_record::EPOCH_SIZE;
use crate::field::Field;
use crate::slot::check_slots;
use crate::{EpochRecord, FormatError, PageSize, Slot, State};

/// A superblock without its MAC and checksum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Superblock {
    /// Starts at 1; of two intact superblocks the one with the higher generation is chosen.
    pub generation: u64,
    /// 128 random bits that identify the database.
    pub database_id: DatabaseId,
    /// The size of a page.
    pub page_size: PageSize,
    /// The state of the database as a whole.
    pub state: State,
    /// If this is set and the file has no pages, the file was emptied (FORMAT 3.9).
    pub pages_exist: bool,
    /// The highest epoch number ever used.
    pub epoch_max: Epoch,
    /// The epoch under which new pages are sealed; one of `epochs`.
    pub sealing_epoch: Epoch,
    /// The last page number known to be converted and synced; zero if the state has no cursor.
    pub cursor: u32,
    /// When the master key was created: seconds since 1970-01-01 UTC.
    pub master_created: u64,
    /// The log key under the wrapping key (FORMAT 4.3).
    pub log_key: [u8; 60],
    /// 1 to [`EPOCH_COUNT_MAX`] epochs.
    pub epochs: Vec<EpochRecord>,
    /// 1 to [`SLOT_COUNT_MAX`] slots.
    pub slots: Vec<Slot>,
}

/// The offset of superblock A.
pub const SUPERBLOCK_A: u64 = 0;
/// The offset of superblock B.
pub const SUPERBLOCK_B: u64 = 32768;
/// 32 KiB: half of the prefix.
pub const SUPERBLOCK_SIZE_MAX: usize = 32768;
/// The version of the format that this crate reads and writes.
pub const FORMAT_VERSION: u16 = 1;
/// The number of bytes that SQLite leaves unused at the end of every page.
pub const RESERVE: u8 = 48;
/// 2: the old epoch and the new one.
pub const EPOCH_COUNT_MAX: usize = 2;
/// 32: one slot for each identity that can open a database; slots are tried one by one.
pub const SLOT_COUNT_MAX: usize = 32;

impl Superblock {
    /// The epoch under which new pages are sealed: one of those listed.
    pub fn sealing(&self) -> Option<&EpochRecord> {
        self.epochs.iter().find(|epoch| epoch.epoch == self.sealing_epoch)
    }

    /// Encodes the superblock in the least sufficient multiple of 512 bytes. `mac` receives the
    /// bytes that the MAC covers.
    ///
    /// # Errors
    /// [`FormatError::Invalid`] if [`Superblock::parse`] would refuse the result;
    /// [`FormatError::TooLarge`] if the slots do not fit into [`SUPERBLOCK_SIZE_MAX`].
    pub fn encode(&self, mac: impl FnOnce(&[u8]) -> [u8; 32]) -> Result<Vec<u8>, FormatError> {
        self.check().map_err(|what| FormatError::Invalid { what })?;
        let mut out = vec![0; HEADER_SIZE];
        for epoch in &self.epochs {
            out.extend_from_slice(&epoch.encode());
        }
        for slot in &self.slots {
            slot.encode(&mut out)?;
        }
        let size = (out.len() + FOOTER_SIZE).next_multiple_of(SUPERBLOCK_SIZE_UNIT);
        if size > SUPERBLOCK_SIZE_MAX {
            return Err(FormatError::TooLarge { size });
        }
        out.resize(size - FOOTER_SIZE, 0);
        self.write_header(&mut out, size)?;
        let mac = mac(&out);
        out.extend_from_slice(&mac);
        let checksum = sha256(&out);
        out.extend_from_slice(&checksum);
        Ok(out)
    }

    /// Parses an intact superblock, as [`crate::choose`] returns it. Its MAC is not checked.
    ///
    /// # Errors
    /// [`FormatError::NotWhole`] if [`crate::inspect`] returns [`Whole::No`];
    /// [`FormatError::UnsupportedVersion`] for a later format; [`FormatError::Tampered`] if a rule
    /// of FORMAT 3 is broken.
    pub fn parse(bytes: &[u8]) -> Result<Self, FormatError> {
        let refuse = |what| FormatError::Tampered { what };
        let Whole::Yes { size, .. } = inspect(bytes) else {
            return Err(FormatError::NotWhole);
        };
        // An intact superblock has at least 512 bytes: more than header and footer together.
        let bytes = &bytes[..size - FOOTER_SIZE];
        match u16::from_be_bytes(VERSION.read(bytes)) {
            FORMAT_VERSION => {}
            0 => return Err(refuse("format version")),
            version => return Err(FormatError::UnsupportedVersion { version }),
        }
        check_fixed(bytes).map_err(refuse)?;
        let flags = u16::from_be_bytes(FLAGS.read(bytes));
        let (epochs, slots) = parse_lists(bytes)?;
        let superblock = Self {
            generation: u64::from_be_bytes(GENERATION.read(bytes)),
            database_id: DatabaseId(DATABASE_ID.read(bytes)),
            page_size: PageSize::try_from(u32::from_be_bytes(PAGE_SIZE.read(bytes)))
                .map_err(|_| refuse("page size"))?,
            state: State::from_id(u8::from_be_bytes(STATE.read(bytes))).ok_or(refuse("state"))?,
            pages_exist: match flags {
                0 => false,
                FLAG_PAGES_EXIST => true,
                _ => return Err(refuse("flags")),
            },
            epoch_max: Epoch(u32::from_be_bytes(EPOCH_MAX.read(bytes))),
            sealing_epoch: Epoch(u32::from_be_bytes(SEALING_EPOCH.read(bytes))),
            cursor: u32::from_be_bytes(CURSOR.read(bytes)),
            master_created: u64::from_be_bytes(MASTER_CREATED.read(bytes)),
            log_key: LOG_KEY.read(bytes),
            epochs,
            slots,
        };
        superblock.check().map_err(refuse)?;
        Ok(superblock)
    }

    /// The bytes that the MAC of an intact superblock covers, and the MAC.
    ///
    /// If the bytes are not an intact superblock, the result is all of them and a MAC of zeros, which is never valid.
    pub fn maced(bytes: &[u8]) -> (&[u8], &[u8; 32]) {
        let Whole::Yes { size, .. } = inspect(bytes) else {
            return (bytes, &[0; 32]);
        };
        let (maced, footer) = bytes[..size].split_at(size - FOOTER_SIZE);
        match footer.first_chunk() {
            Some(mac) => (maced, mac),
            None => (bytes, &[0; 32]),
        }
    }

    /// Checks the rules of FORMAT 3 other than those about zero fields; the error is the rule that is broken.
    fn check(&self) -> Result<(), &'static str> {
        if self.generation == 0 {
            return Err("generation");
        }
        if self.cursor != 0 && !self.state.has_cursor() {
            return Err("cursor");
        }
        if self.epochs.is_empty() || self.epochs.len() > EPOCH_COUNT_MAX {
            return Err("epoch count");
        }
        if self
            .epochs
            .iter()
            .any(|record| record.epoch.0 == 0 || record.epoch > self.epoch_max)
        {
            return Err("epoch number");
        }
        let has_none = self.epochs.iter().any(|record| record.suite == Suite::None);
        if has_none && self.state == State::Changing {
            return Err("suite");
        }
        let numbers: HashSet<Epoch> = self.epochs.iter().map(|record| record.epoch).collect();
        if numbers.len() != self.epochs.len() {
            return Err("the same epoch number twice");
        }
        if !numbers.contains(&self.sealing_epoch) {
            return Err("sealing epoch");
        }
        if self.slots.is_empty() || self.slots.len() > SLOT_COUNT_MAX {
            return Err("slot count");
        }
        check_slots(&self.slots)
    }

    fn write_header(&self, out: &mut [u8], size: usize) -> Result<(), FormatError> {
        let too_large = |_| FormatError::TooLarge { size };
        MAGIC_FIELD.write(out, MAGIC);
        PAGE_SIZE_MARK.write(out, PAGE_SIZE_MARK_VALUE);
        VERSION.write(out, FORMAT_VERSION.to_be_bytes());
        LENGTH.write(out, u32::try_from(size).map_err(too_large)?.to_be_bytes());
        GENERATION.write(out, self.generation.to_be_bytes());
        DATABASE_ID.write(out, self.database_id.0);
        PAGE_SIZE.write(out, self.page_size.as_u32().to_be_bytes());
        RESERVE_FIELD.write(out, [RESERVE]);
        STATE.write(out, [self.state.id()]);
        FLAGS.write(out, if self.pages_exist { FLAG_PAGES_EXIST } else { 0 }.to_be_bytes());
        EPOCH_MAX.write(out, self.epoch_max.0.to_be_bytes());
        SEALING_EPOCH.write(out, self.sealing_epoch.0.to_be_bytes());
        CURSOR.write(out, self.cursor.to_be_bytes());
        EPOCH_COUNT.write(out, u16::try_from(self.epochs.len()).map_err(too_large)?.to_be_bytes());
        SLOT_COUNT.write(out, u16::try_from(self.slots.len()).map_err(too_large)?.to_be_bytes());
        MASTER_CREATED.write(out, self.master_created.to_be_bytes());
        LOG_KEY.write(out, self.log_key);
        Ok(())
    }
}

/// Checks the fields with a fixed value.
fn check_fixed(bytes: &[u8]) -> Result<(), &'static str> {
    if PAGE_SIZE_MARK.read(bytes) != PAGE_SIZE_MARK_VALUE {
        return Err("page size mark");
    }
    if RESERVE_FIELD.read(bytes) != [RESERVE] {
        return Err("reserve");
    }
    let zero = ZERO_20.is_zero(bytes) && ZERO_28.is_zero(bytes) && ZERO_88.is_zero(bytes) && ZERO_188.is_zero(bytes);
    if zero { Ok(()) } else { Err("zero field") }
}

/// Parses epochs and slots, and checks the zeros after them, in a superblock without its footer.
fn parse_lists(bytes: &[u8]) -> Result<(Vec<EpochRecord>, Vec<Slot>), FormatError> {
    let refuse = |what| FormatError::Tampered { what };
    let epoch_count = usize::from(u16::from_be_bytes(EPOCH_COUNT.read(bytes)));
    let slot_count = usize::from(u16::from_be_bytes(SLOT_COUNT.read(bytes)));
    if epoch_count > EPOCH_COUNT_MAX {
        return Err(refuse("epoch count"));
    }
    if slot_count > SLOT_COUNT_MAX {
        return Err(refuse("slot count"));
    }
    let mut rest = &bytes[HEADER_SIZE..];
    let mut epochs = Vec::with_capacity(epoch_count);
    for _ in 0..epoch_count {
        let (record, after) = rest.split_first_chunk::<EPOCH_SIZE>().ok_or(refuse("epoch count"))?;
        epochs.push(EpochRecord::parse(record)?);
        rest = after;
    }
    let mut slots = Vec::with_capacity(slot_count);
    for _ in 0..slot_count {
        let (slot, after) = Slot::parse(rest)?;
        slots.push(slot);
        rest = after;
    }
    if rest.iter().any(|&byte| byte != 0) {
        return Err(refuse("zero field"));
    }
    Ok((epochs, slots))
}

/// The result of [`inspect`]. It does not authenticate the bytes: anyone can make an intact superblock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whole {
    /// Magic, length or checksum is wrong: the superblock was never written, or is torn.
    No,
    /// Magic, length and checksum are valid.
    Yes {
        /// The generation; of two intact superblocks the one with the higher generation is chosen.
        generation: u64,
        /// The size of the superblock in bytes.
        size: usize,
    },
}

/// Checks the bytes at the offset of a superblock; bytes after its end are not read.
pub fn inspect(bytes: &[u8]) -> Whole {
    match whole_size(bytes) {
        Some(size) => Whole::Yes {
            generation: u64::from_be_bytes(GENERATION.read(bytes)),
            size,
        },
        None => Whole::No,
    }
}

fn whole_size(bytes: &[u8]) -> Option<usize> {
    let size = stated_size(bytes)?;
    let (content, checksum) = bytes.get(..size)?.split_last_chunk::<32>()?;
    (sha256(content) == *checksum).then_some(size)
}

/// The size in bytes that a superblock states in its first bytes, of which there are at least 512; `None` if it is
/// invalid or the magic is wrong. Nothing else is checked.
pub fn stated_size(bytes: &[u8]) -> Option<usize> {
    if bytes.len() < SUPERBLOCK_SIZE_UNIT || MAGIC_FIELD.read(bytes) != MAGIC {
        return None;
    }
    let size = usize::try_from(u32::from_be_bytes(LENGTH.read(bytes))).ok()?;
    let is_valid = (1..=SUPERBLOCK_SIZE_MAX).contains(&size) && size.is_multiple_of(SUPERBLOCK_SIZE_UNIT);
    is_valid.then_some(size)
}

/// "Selenite", then bytes that reveal a file transferred as text, as in PNG's magic.
pub(crate) const MAGIC: [u8; 16] = *b"Selenite\r\n\x1a\n\0\0\0\0";
pub(crate) const SUPERBLOCK_SIZE_UNIT: usize = 512;
/// The size of MAC and checksum.
pub(crate) const FOOTER_SIZE: usize = 64;
const PAGE_SIZE_MARK_VALUE: [u8; 2] = [2, 0];
const FLAG_PAGES_EXIST: u16 = 1;

const HEADER_SIZE: usize = 192;
pub(crate) const MAGIC_FIELD: Field<16> = Field::at(0);
const PAGE_SIZE_MARK: Field<2> = Field::at(16);
const VERSION: Field<2> = Field::at(18);
const ZERO_20: Field<4> = Field::at(20);
pub(crate) const LENGTH: Field<4> = Field::at(24);
const ZERO_28: Field<4> = Field::at(28);
pub(crate) const GENERATION: Field<8> = Field::at(32);
const DATABASE_ID: Field<16> = Field::at(40);
const PAGE_SIZE: Field<4> = Field::at(56);
const RESERVE_FIELD: Field<1> = Field::at(60);
const STATE: Field<1> = Field::at(61);
const FLAGS: Field<2> = Field::at(62);
const EPOCH_MAX: Field<4> = Field::at(64);
const SEALING_EPOCH: Field<4> = Field::at(68);
const CURSOR: Field<4> = Field::at(72);
const EPOCH_COUNT: Field<2> = Field::at(76);
const SLOT_COUNT: Field<2> = Field::at(78);
const MASTER_CREATED: Field<8> = Field::at(80);
const ZERO_88: Field<40> = Field::at(88);
const LOG_KEY: Field<60> = Field::at(128);
const ZERO_188: Field<4> = Field::at(188);

#[cfg(test)]
pub(crate) mod tests;
