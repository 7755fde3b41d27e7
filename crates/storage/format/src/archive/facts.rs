//! The content of a manifest, before sealing (FORMAT 12.5).
//!
//! | size | |
//! |---|---|
//! | 32 | SHA-256 of the object `begun` |
//! | 1 | 1 if there is a base, else 0; then its archive id (16) and the SHA-256 of its manifest (32) |
//! | 4 | page size |
//! | 4 | page count of the database |
//! | 4 | SQLite's change counter |
//! | 8 | generation of the superblock |
//! | 8 | time of this state of the database: seconds since 1970-01-01 UTC |
//! | 1 | 1 if there is a log position (FORMAT 12.6), else 0; then the WAL's salts (8) and the number of frames (4) |
//! | 1 | 1 if there is a digest of its rows, else 0; then that (32) |
//! | 4, n | parts: the salt (16) of each |
//! | 4, n | index parts: the salt (16) of each |
//! | 4, n | pages that did not open and are missing: the number (4) of each, ascending |

use selenite_cipher::ArchiveId;

use super::reader::Reader;
use crate::{FormatError, PageSize};

/// The archive that an incremental archive is based on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Base {
    /// The archive's id.
    pub archive_id: ArchiveId,
    /// The SHA-256 of the base's manifest; for a base that was never finished, the hash that its `begun` contains.
    pub manifest: [u8; 32],
}

/// A position in a write-ahead log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LogPosition {
    /// The salts of the WAL header.
    pub salts: [u8; 8],
    /// The number of frames before the position.
    pub frames: u32,
}

/// The content of a manifest.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Facts {
    /// The SHA-256 of the archive's first object.
    pub begun: [u8; 32],
    /// The base; `None` for a full backup.
    pub base: Option<Base>,
    /// The size of a page.
    pub page_size: PageSize,
    /// The page count of the database.
    pub page_count: u32,
    /// SQLite's change counter.
    pub change_counter: u32,
    /// The generation of the superblock.
    pub generation: u64,
    /// The time of this state of the database: seconds since 1970-01-01 UTC.
    pub made: u64,
    /// The position in the write-ahead log; `None` in rollback mode.
    pub log: Option<LogPosition>,
    /// The digest of the database's rows, if it was computed.
    pub digest: Option<[u8; 32]>,
    /// The salt of each part.
    pub parts: Vec<[u8; 16]>,
    /// The salt of each part of the index.
    pub indexes: Vec<[u8; 16]>,
    /// The numbers of pages that could not be opened, ascending.
    pub missing: Vec<u32>,
}

impl Facts {
    /// Encodes the content.
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

    /// Parses the content.
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
