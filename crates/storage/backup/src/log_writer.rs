//! What was written to a database's log after an archive, on its way to a destination: turn by turn (FORMAT 12.6).
//!
//! - turn-ends-at-commit: a turn ends where a transaction ended, and counts once its last object is
//!   there: who reads takes whole turns alone.
//! - hash-chain: each object says the hash of the one before, and the first that of the manifest:
//!   none can be left out, put elsewhere, or be of another archive.
//! - resend-same-bytes: an object of which it is not known whether it was written is sent again,
//!   the same bytes, before anything follows. One that another wrote in its place ends this writer:
//!   of two who follow one archive, one goes on.
//! - after-its-predecessor: an object goes where the one before it is, and the manifest, or
//!   nowhere: elsewhere it would be a log with a hole.

use std::sync::Arc;
use std::time::Instant;

use selenite_cipher::{ArchiveKey, DatabaseId, PartKind};
use selenite_format::PageSize;
use selenite_format::anchor::Mark;
use selenite_format::archive::{LogEnd, LogFacts};
use selenite_keyring::os_random;
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use crate::archive::{Block, CompressionLevel, LOG_OBJECT_SIZE_MAX, PackedPage, Packer, PartWriter, page_count_max};
use crate::copy::mark_of;
use crate::destination::AppendPrecondition;
use crate::destination::{Destination, StoreError, Trouble};
use crate::error::{BackupError, machine};
use crate::log_reader::LogObject;
use crate::names::{ArchiveName, Part, object_key};

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
    /// `after-its-predecessor`: when the object before was there.
    seen: Instant,
    /// `resend-same-bytes`: an object, and where its turn ends if it is the last of one.
    unsure: Option<(Vec<u8>, Option<LogEnd>)>,
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
    /// Of an archive of which `manifest` is the SHA-256 of the manifest, and that was taken at `end`.
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
            unsure: None,
        }
    }

    /// Goes on behind the last object that is there; `size` is what all of them are together. A
    /// turn that was cut off counts for nothing: it is made once more.
    #[must_use]
    pub fn behind(mut self, number: u32, last: &LogObject, size: u64) -> Self {
        (self.number, self.previous, self.size) = (number.saturating_add(1), last.hash, size);
        self.made = last.facts.made;
        self.end = if last.facts.is_last {
            last.facts.to
        } else {
            last.facts.from
        };
        self
    }

    /// Where the last turn ended.
    #[must_use]
    pub fn end(&self) -> LogEnd {
        self.end
    }

    /// The archive's name.
    #[must_use]
    pub fn name(&self) -> &ArchiveName {
        &self.name
    }

    /// How many objects there are.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.number
    }

    /// How many bytes they have together.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Begins a turn to `to`, where the database has `page_count` pages; `made` is when it was so,
    /// in milliseconds since 1970-01-01 UTC.
    ///
    /// # Errors
    /// [`BackupError::Taken`]; [`BackupError::Gone`] (after-its-predecessor); what the destination says of an object
    /// that was not written before.
    pub fn turn(
        &mut self,
        to: LogEnd,
        (page_size, page_count): (PageSize, u32),
        made: u64,
    ) -> Result<LogTurn<'_>, BackupError> {
        self.settle()?;
        // A clock that is set back makes no turn older than the one before.
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

    /// Writes the object of which it is not known whether it was written, if there is one.
    /// [`LogWriter::end`] is as others will find it then.
    ///
    /// # Errors
    /// As [`LogWriter::turn`].
    pub fn settle(&mut self) -> Result<(), BackupError> {
        let Some((bytes, end)) = &self.unsure else {
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
            Err(error) if error.trouble == Trouble::Missing => {
                return Err(BackupError::Gone {
                    archive: self.name.clone(),
                });
            }
            Err(StoreError {
                trouble: Trouble::Exists,
                ..
            }) => {
                if self.destination.get(&name, LOG_OBJECT_SIZE_MAX)? != *bytes {
                    return Err(BackupError::Taken { object: name });
                }
            }
            Err(error) => return Err(error.into()),
        }
        let number = self.number.checked_add(1);
        self.number = number.ok_or_else(|| machine("no more objects fit into this backup"))?;
        self.previous = Sha256::digest(bytes).into();
        self.size += bytes.len() as u64;
        self.end = end.unwrap_or(self.end);
        self.seen = Instant::now();
        self.unsure = None;
        Ok(())
    }
}

impl LogTurn<'_> {
    /// Takes a page in: its image, for the mark of it, and as SQLite has it. Pages come by ascending number.
    ///
    /// # Errors
    /// As [`LogWriter::turn`]: the turn does not count then.
    pub fn page(&mut self, page_no: u32, image: &[u8], plain: &[u8]) -> Result<(), BackupError> {
        if self.plain.capacity() == 0 {
            // At once, so that no plaintext is left behind where a smaller buffer was.
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

    /// Writes what is left: the turn counts from now on.
    ///
    /// # Errors
    /// As [`LogWriter::turn`].
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
        writer.unsure = Some((self.content.seal(&writer.key, place, true), end));
        (self.content_size, self.block_count) = (0, 0);
        writer.settle()?;
        self.facts.previous = writer.previous;
        self.facts.is_first = false;
        Ok(())
    }
}

/// Bytes of packed blocks in one object: what a follower holds of it in memory, twice.
const OBJECT_CONTENT_MAX: usize = 4 << 20;
/// Its facts are one more.
const OBJECT_BLOCK_MAX: usize = crate::archive::BLOCK_COUNT_MAX - 1;

#[cfg(test)]
mod tests;
