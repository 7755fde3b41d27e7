//! A database file that stands still while it is read without SQLite.
//!
//! - all-frames-copied: there is a moment at which this process holds SQLite's write lock and all
//!   frames of the log are copied: no transaction is open then, no rollback is due, and no
//!   checkpoint is under way, for it would have frames to copy.
//! - read-transaction-held: from that moment on a read transaction is held. In WAL mode it reads of
//!   the file alone (read mark 0), so that no checkpoint writes to it; in rollback mode it holds
//!   SHARED, so that no commit does. Writers go on meanwhile: with a log into the log, without one
//!   up to the moment of their commit.
//! - log-equals-file: what is left in the log is what is in the file: where the log's index is
//!   lost, it is copied a second time, and must not bring other images than those that were seen
//!   ([`is_carried`]).
//! - closed-after-sqlite: the file is opened beside SQLite's own descriptor, and closed after it:
//!   closing gives up all locks of this process on the file (fcntl(2)).

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use selenite_cipher::{PageNo, TRAILER_SIZE};
use selenite_format::Geometry;
use selenite_format::wal::frame_offset;

use crate::draft::beside;
use crate::raw_file::RawFile;
use crate::storage::Storage;
use crate::superblock_file::inspect_file;
use crate::{Access, Database, EngineError, Watch, sqlite};

/// A database file at one moment. Others go on.
pub(crate) struct Still {
    /// `closed-after-sqlite`: dropped before the file, since it stands before it.
    _reader: Database,
    file: RawFile,
}

impl Still {
    /// Has it stand still.
    ///
    /// # Errors
    /// [`EngineError::Busy`] where others leave no such moment in the time that one waits for them; what SQLite and the
    /// VFS say.
    pub(crate) fn hold(
        storage: &dyn Storage,
        path: &Path,
        access: &Access,
        watch: &Watch,
    ) -> Result<Self, EngineError> {
        sqlite::install()?;
        // What this process has open already, others of its connections would lose their locks on.
        drop(RawFile::open(storage, path)?);
        let open = || Database::open(storage, path, access);
        let parties = Parties {
            storage,
            path,
            writer: open()?,
            copier: open()?,
            reader: open()?,
            file: RawFile::open_unasked(storage, path)?,
        };
        let started = Instant::now();
        while !parties.try_hold()? {
            watch.check()?;
            if started.elapsed() > access.busy_wait {
                return Err(EngineError::Busy {
                    path: path.to_owned(),
                    what: "other processes write to it or read its log without a pause, so no anchor could be taken",
                });
            }
            std::thread::sleep(PAUSE);
        }
        let Parties { reader, file, .. } = parties;
        Ok(Self { _reader: reader, file })
    }

    /// The file.
    pub(crate) fn file(&self) -> &RawFile {
        &self.file
    }
}

/// The connections that it takes, and the file. closed-after-sqlite: they are dropped in this order.
struct Parties<'a> {
    storage: &'a dyn Storage,
    path: &'a Path,
    writer: Database,
    copier: Database,
    reader: Database,
    file: RawFile,
}

impl Parties<'_> {
    /// all-frames-copied to log-equals-file. Whether the reader is at that moment; others may have been in the way.
    fn try_hold(&self) -> Result<bool, EngineError> {
        // Most of it without a lock that others wait for.
        self.copy_log()?;
        if !went_well(self.writer.batch("BEGIN IMMEDIATE").map(|()| true))? {
            return Ok(false);
        }
        let held = self.hold_with_lock();
        self.writer.batch("ROLLBACK")?;
        if !matches!(held, Ok(true)) {
            // It may have begun.
            let _ = self.reader.batch("ROLLBACK");
        }
        held
    }

    fn hold_with_lock(&self) -> Result<bool, EngineError> {
        let mut try_count = 0;
        let frame_count = loop {
            if let Some(frame_count) = self.copy_log()? {
                break frame_count;
            }
            try_count += 1;
            if try_count == COPY_TRY_COUNT {
                return Ok(false);
            }
            // A checkpoint of someone else's is about to end.
            std::thread::sleep(COPY_PAUSE);
        };
        let began = went_well(
            self.reader
                .batch("BEGIN; SELECT count(*) FROM sqlite_schema")
                .map(|()| true),
        )?;
        Ok(began && self.is_carried(frame_count)?)
    }

    /// Copies the log into the file. Answers how many frames it has, all of which are copied;
    /// nothing where that could not be. Without a log there are none.
    fn copy_log(&self) -> Result<Option<u64>, EngineError> {
        let copied = self
            .copier
            .connection()
            .query_row("PRAGMA main.wal_checkpoint(PASSIVE)", [], |row| {
                Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get::<_, i64>(2)?))
            });
        match copied.map_err(|error| self.copier.error(error)) {
            Ok((0, frame_count, copied_count)) if frame_count == copied_count => {
                Ok(Some(u64::try_from(frame_count).unwrap_or(0)))
            }
            Ok(_) | Err(EngineError::Busy { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// `log-equals-file`: whether the last frame of each page has the image that is in the file: a
    /// checkpoint carries them over as they are, but for pages that were re-encrypted meanwhile.
    fn is_carried(&self, frame_count: u64) -> Result<bool, EngineError> {
        if frame_count == 0 {
            return Ok(true);
        }
        let file = &self.file;
        let geometry = geometry(file, self.path)?;
        let page_size = geometry.page_size();
        // No one has locks on a log's file.
        let log = RawFile::open_unasked(self.storage, &beside(self.path, "-wal"))?;
        let mut last = BTreeMap::new();
        for index in 0..frame_count {
            let at = frame_offset(index, page_size).0;
            let (mut number, mut trailer) = ([0; 4], [0; TRAILER_SIZE]);
            log.read_at(&mut number, at)?;
            log.read_at(
                &mut trailer,
                at + FRAME_HEADER_SIZE + page_size.as_u64() - TRAILER_SIZE_U64,
            )?;
            last.insert(u32::from_be_bytes(number), trailer);
        }
        let page_count = geometry.page_count(file.size()?);
        for (&page_no, trailer) in last.range(..=page_count) {
            let Some(place) = geometry.place(PageNo(page_no)) else {
                return Ok(false);
            };
            let mut present = [0; TRAILER_SIZE];
            file.read_at(&mut present, place.0 + page_size.as_u64() - TRAILER_SIZE_U64)?;
            if present != *trailer {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

fn geometry(file: &RawFile, path: &Path) -> Result<Geometry, EngineError> {
    let (_, superblock) = inspect_file(file)?.sealed(path)?;
    Ok(Geometry::new(superblock.page_size))
}

/// Busy is no error here: it is tried again.
fn went_well(outcome: Result<bool, EngineError>) -> Result<bool, EngineError> {
    match outcome {
        Err(EngineError::Busy { .. }) => Ok(false),
        outcome => outcome,
    }
}

const FRAME_HEADER_SIZE: u64 = 24;
const TRAILER_SIZE_U64: u64 = 48;
/// 100 ms in all with the write lock held, which others wait for.
const COPY_TRY_COUNT: u32 = 20;
const COPY_PAUSE: Duration = Duration::from_millis(5);
/// Others' transactions mostly take less.
const PAUSE: Duration = Duration::from_millis(5);
