//! Writes the changes of a database after an archive to the archive's log, turn by turn (FORMAT 12.6).
//!
//! - turn-ends-at-commit: a turn ends where a transaction ended, and is valid once its last object
//!   is written: readers apply complete turns only.
//! - hash-chain: each object contains the hash of the previous one, and the first that of the
//!   manifest: no object can be omitted, reordered, or taken from another archive.
//! - resend-same-bytes: an object that may or may not have been written is sent again, with the
//!   same bytes, before any other. If another writer's object is in its place, this writer fails:
//!   of two that follow one archive, one continues.
//! - after-its-predecessor: an object is written only where its predecessor and the manifest exist:
//!   elsewhere the log would have a gap.

use std::sync::Arc;
use std::time::Instant;

use selenite_cipher::sha256;
use selenite_cipher::{ArchiveKey, DatabaseId, PartKind};
use selenite_format::PageSize;
use selenite_format::anchor::Mark;
use selenite_format::archive::{LogEnd, LogFacts};
use selenite_keyring::os_random;
use zeroize::Zeroizing;

use crate::archive::{Block, CompressionLevel, LOG_OBJECT_SIZE_MAX, PackedPage, Packer, PartWriter, page_count_max};
use crate::copy::mark_of;
use crate::destination::AppendPrecondition;
use crate::destination::{Destination, StoreError, StoreErrorKind};
use crate::error::{BackupError, machine};
use crate::log_reader::LogObject;
use crate::names::{ArchiveName, Part, object_key};
use crate::writer::refuse_in_fips;

/// Writes the log of one archive.
pub struct LogWriter {
    destination: Arc<dyn Destination>,
    key: ArchiveKey,
    database_id: DatabaseId,
    name: ArchiveName,
    level: CompressionLevel,
    number: u32,
    previous: [u8; 32],
    end: LogEnd,
    made: u64,
    size: u64,
    /// `after-its-predecessor`: when the previous object was last known to exist.
    seen: Instant,
    /// `resend-same-bytes`: an object, and the end of its turn if it is the last one of it.
    pending: Option<(Vec<u8>, Option<LogEnd>)>,
}

/// One turn: the pages of all transactions that were committed since the last.
pub struct LogTurn<'a> {
    writer: &'a mut LogWriter,
    facts: LogFacts,
    page_size: PageSize,
    packer: Packer,
    pages: Vec<(u32, Mark)>,
    plain: Zeroizing<Vec<u8>>,
    content: PartWriter,
    content_size: usize,
    block_count: usize,
}

impl LogWriter {
    /// The writer for an archive that was taken at `end`; `manifest` is the SHA-256 of its manifest.
    #[must_use]
    pub fn new(
        destination: Arc<dyn Destination>,
        (key, database_id, name): (ArchiveKey, DatabaseId, ArchiveName),
        manifest: [u8; 32],
        end: LogEnd,
        level: CompressionLevel,
    ) -> Self {
        Self {
            destination,
            key,
            database_id,
            name,
            level,
            number: 0,
            previous: manifest,
            end,
            made: 0,
            size: 0,
            seen: Instant::now(),
            pending: None,
        }
    }

    /// Continues after the last existing object; `size` is the total size of all objects. A turn
    /// that was interrupted is invalid, and is repeated.
    #[must_use]
    pub fn continue_after(mut self, number: u32, last: &LogObject, size: u64) -> Self {
        (self.number, self.previous, self.size) = (number.saturating_add(1), last.hash, size);
        self.made = last.facts.made;
        self.end = if last.facts.is_last {
            last.facts.to
        } else {
            last.facts.from
        };
        self
    }

    /// The end of the last turn.
    #[must_use]
    pub fn end(&self) -> LogEnd {
        self.end
    }

    /// The archive's name.
    #[must_use]
    pub fn name(&self) -> &ArchiveName {
        &self.name
    }

    /// The number of objects.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.number
    }

    /// The total size of the objects in bytes.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Begins a turn up to `to`, where the database has `page_count` pages; `made` is the time of
    /// that state, in milliseconds since 1970-01-01 UTC.
    ///
    /// # Errors
    /// [`BackupError::WrittenByOther`]; [`BackupError::ArchiveRemoved`] (after-its-predecessor);
    /// those of the destination for an object that was not written before.
    pub fn turn(
        &mut self,
        to: LogEnd,
        (page_size, page_count): (PageSize, u32),
        made: u64,
    ) -> Result<LogTurn<'_>, BackupError> {
        refuse_in_fips(self.name.clone())?;
        self.flush_pending()?;
        // Even if the clock was set back, no turn has an earlier time than the previous one.
        self.made = self.made.max(made);
        let facts = LogFacts {
            previous: self.previous,
            made: self.made,
            from: self.end,
            to,
            page_count,
            is_first: true,
            is_last: false,
        };
        Ok(LogTurn {
            packer: Packer::new(self.level).map_err(machine)?,
            writer: self,
            facts,
            page_size,
            pages: Vec::new(),
            plain: Zeroizing::new(Vec::new()),
            content: PartWriter::default(),
            content_size: 0,
            block_count: 0,
        })
    }

    /// Writes the object that may or may not have been written, if there is one. Afterwards
    /// [`LogWriter::end`] is the end that readers find.
    ///
    /// # Errors
    /// Those of [`LogWriter::turn`].
    pub fn flush_pending(&mut self) -> Result<(), BackupError> {
        let Some((bytes, end)) = &self.pending else {
            return Ok(());
        };
        let name = object_key(self.database_id, &self.name, Part::Log(self.number));
        let object = |part| object_key(self.database_id, &self.name, part);
        let before = self.number.checked_sub(1);
        let precondition = AppendPrecondition {
            manifest: object(Part::Manifest),
            last: before.map(|number| (object(Part::Log(number)), self.previous)),
            seen: self.seen,
        };
        match self.destination.put_after(&precondition, &name, bytes) {
            Ok(()) => {}
            Err(error) if error.kind == StoreErrorKind::Missing => {
                return Err(BackupError::ArchiveRemoved {
                    archive: self.name.clone(),
                });
            }
            Err(StoreError {
                kind: StoreErrorKind::Exists,
                ..
            }) => {
                if self.destination.get(&name, LOG_OBJECT_SIZE_MAX)? != *bytes {
                    return Err(BackupError::WrittenByOther { object: name });
                }
            }
            Err(error) => return Err(error.into()),
        }
        let number = self.number.checked_add(1);
        self.number = number.ok_or_else(|| machine("no more objects fit into this backup"))?;
        self.previous = sha256(bytes);
        self.size += bytes.len() as u64;
        self.end = end.unwrap_or(self.end);
        self.seen = Instant::now();
        self.pending = None;
        Ok(())
    }
}

impl LogTurn<'_> {
    /// Adds a page by its image, which contains the mark, and by its plaintext. Pages are added by ascending number.
    ///
    /// # Errors
    /// Those of [`LogWriter::turn`]: the turn is then invalid.
    pub fn page(&mut self, page_no: u32, image: &[u8], plain: &[u8]) -> Result<(), BackupError> {
        if self.plain.capacity() == 0 {
            // Reserved in one step, so that no plaintext remains in a smaller buffer.
            self.plain
                .reserve_exact(page_count_max(self.page_size) * self.page_size.bytes());
        }
        self.pages.push((page_no, mark_of(image)));
        self.plain.extend_from_slice(plain);
        if self.pages.len() == page_count_max(self.page_size) {
            self.pack()?;
        }
        Ok(())
    }

    /// Writes the remaining pages: from now on the turn is valid.
    ///
    /// # Errors
    /// Those of [`LogWriter::turn`].
    pub fn finish(mut self) -> Result<(), BackupError> {
        self.pack()?;
        self.facts.is_last = true;
        self.write()
    }

    fn pack(&mut self) -> Result<(), BackupError> {
        if self.pages.is_empty() {
            return Ok(());
        }
        let images = self.plain.chunks_exact(self.page_size.bytes());
        let pages: Vec<PackedPage<'_>> = (self.pages.iter().zip(images))
            .map(|(&(page_no, mark), bytes)| PackedPage { page_no, mark, bytes })
            .collect();
        let (mut block, mut packed) = (Zeroizing::new(Vec::new()), Zeroizing::new(Vec::new()));
        Block::encode(self.page_size, &pages, &mut block);
        self.packer.pack(&block, &mut packed);
        self.pages.clear();
        self.plain.clear();
        if self.content_size + packed.len() > OBJECT_CONTENT_MAX || self.block_count == OBJECT_BLOCK_MAX {
            self.write()?;
        }
        self.push(&packed)?;
        self.content_size += packed.len();
        self.block_count += 1;
        Ok(())
    }

    fn push(&mut self, packed: &[u8]) -> Result<(), BackupError> {
        let has_room = self.content.push(packed);
        has_room
            .then_some(())
            .ok_or_else(|| machine("an object of the log is too small for its blocks"))
    }

    fn write(&mut self) -> Result<(), BackupError> {
        let mut packer = Packer::new(CompressionLevel::None).map_err(machine)?;
        let mut packed = Vec::new();
        packer.pack(&self.facts.encode(), &mut packed);
        self.push(&packed)?;
        let mut salt = [0; 16];
        os_random(&mut salt);
        let writer = &mut *self.writer;
        let place = (PartKind::Log, writer.number, salt);
        let end = self.facts.is_last.then_some(self.facts.to);
        writer.pending = Some((self.content.seal(&writer.key, place, true), end));
        (self.content_size, self.block_count) = (0, 0);
        writer.flush_pending()?;
        self.facts.previous = writer.previous;
        self.facts.is_first = false;
        Ok(())
    }
}

/// The maximum size of packed blocks in one object, of which the writer holds two copies in memory.
const OBJECT_CONTENT_MAX: usize = 4 << 20;
/// One block less than the maximum, for the facts.
const OBJECT_BLOCK_MAX: usize = crate::archive::BLOCK_COUNT_MAX - 1;

#[cfg(test)]
mod tests;
