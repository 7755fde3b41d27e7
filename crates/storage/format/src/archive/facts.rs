//! What a manifest says, before it is sealed (FORMAT 12.5).
//!
//! | size | |
//! |---|---|
//! | 32 | SHA-256 of the object `begun` |
//! | 1 | 1 if there is a base, else 0; then its archive id (16) and the SHA-256 of its manifest (32) |
//! | 4 | page size |
//! | 4 | page count of the database |
//! | 4 | SQLite's change counter |
//! | 8 | generation of the superblock |
//! | 8 | when the database was so: seconds since 1970-01-01 UTC |
//! | 1 | 1 if it says where its log begins (FORMAT 12.6), else 0; then the WAL's salts (8) and how many of its frames (4) are in the pages |
//! | 1 | 1 if there is a digest of its rows, else 0; then that (32) |
//! | 4, n | parts: the salt (16) of each |
//! | 4, n | index parts: the salt (16) of each |
//! | 4, n | pages that did not open and are missing: the number (4) of each, ascending |

use selenite_cipher::ArchiveId;

use super::reader::Reader;
use crate::{FormatError, PageSize};

/// The archive that another one is based on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Base {
    /// Its id.
    pub archive_id: ArchiveId,
    /// The SHA-256 of its manifest's bytes; of what it has in `begun`, where it was never finished.
    pub manifest: [u8; 32],
}

/// A place in a write-ahead log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LogPosition {
    /// The salts of its header.
    pub salts: [u8; 8],
    /// How many of its frames come before.
    pub frames: u32,
}

/// What a manifest says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Facts {
    /// The SHA-256 of the archive's first object.
    pub begun: [u8; 32],
    /// What it is based on; nothing for a full backup.
    pub base: Option<Base>,
    /// Of every page.
    pub page_size: PageSize,
    /// How many pages the database had.
    pub page_count: u32,
    /// SQLite's.
    pub change_counter: u32,
    /// The superblock's.
    pub generation: u64,
    /// When the database was so: seconds since 1970-01-01 UTC.
    pub made: u64,
    /// Where in the write-ahead log it was taken; nothing in rollback mode.
    pub log: Option<LogPosition>,
    /// The digest of its rows, if it was made.
    pub digest: Option<[u8; 32]>,
    /// The salt of each part.
    pub parts: Vec<[u8; 16]>,
    /// The salt of each part of the index.
    pub indexes: Vec<[u8; 16]>,
    /// Pages that did not open, ascending.
    pub missing: Vec<u32>,
}

impl Facts {
    /// Its bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let size = |size: usize| u32::try_from(size).expect("there are 2^32 pages at most").to_be_bytes();
        let mut out = self.begun.to_vec();
        out.push(u8::from(self.base.is_some()));
        if let Some(base) = &self.base {
            out.extend(base.archive_id.0);
            out.extend(base.manifest);
        }
        out.extend(self.page_size.as_u32().to_be_bytes());
        out.extend(self.page_count.to_be_bytes());
        out.extend(self.change_counter.to_be_bytes());
        out.extend(self.generation.to_be_bytes());
        out.extend(self.made.to_be_bytes());
        out.push(u8::from(self.log.is_some()));
        if let Some(log) = &self.log {
            out.extend(log.salts);
            out.extend(log.frames.to_be_bytes());
        }
        out.push(u8::from(self.digest.is_some()));
        out.extend(self.digest.iter().flatten());
        for salts in [&self.parts, &self.indexes] {
            out.extend(size(salts.len()));
            out.extend(salts.iter().flatten());
        }
        out.extend(size(self.missing.len()));
        for page in &self.missing {
            out.extend(page.to_be_bytes());
        }
        out
    }

    /// Takes it apart.
    ///
    /// # Errors
    /// [`FormatError::Archive`].
    pub fn parse(bytes: &[u8]) -> Result<Self, FormatError> {
        let mut reader = Reader::new(bytes, REFUSED);
        let begun = reader.array()?;
        let base = if reader.flag()? {
            Some(Base {
                archive_id: ArchiveId(reader.array()?),
                manifest: reader.array()?,
            })
        } else {
            None
        };
        let page_size = PageSize::try_from(reader.u32()?).map_err(|_| REFUSED)?;
        let page_count = reader.u32()?;
        let change_counter = reader.u32()?;
        let generation = reader.u64()?;
        let made = reader.u64()?;
        let log = if reader.flag()? {
            Some(LogPosition {
                salts: reader.array()?,
                frames: reader.u32()?,
            })
        } else {
            None
        };
        let digest = if reader.flag()? { Some(reader.array()?) } else { None };
        let mut salts = || -> Result<Vec<[u8; 16]>, FormatError> {
            let count = reader.count(16)?;
            (0..count).map(|_| reader.array()).collect()
        };
        let (parts, indexes) = (salts()?, salts()?);
        let count = reader.count(4)?;
        let missing: Vec<u32> = (0..count).map(|_| reader.u32()).collect::<Result<_, _>>()?;
        reader.end()?;
        let is_ascending = missing.first() != Some(&0) && missing.is_sorted_by(|one, two| one < two);
        let is_within = missing.last().is_none_or(|&last| last <= page_count);
        (is_ascending && is_within).then_some(()).ok_or(REFUSED)?;
        Ok(Self {
            begun,
            base,
            page_size,
            page_count,
            change_counter,
            generation,
            made,
            log,
            digest,
            parts,
            indexes,
            missing,
        })
    }
}

const REFUSED: FormatError = FormatError::Archive {
    what: "what its manifest says",
};
