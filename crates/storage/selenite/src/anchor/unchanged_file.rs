//! Keeps a database file unchanged while it is read without SQLite.
//!
//! - all-frames-copied: at one moment this process holds SQLite's write lock and all frames of the
//!   log are copied: no transaction is open then, no rollback is pending, and no checkpoint is
//!   under way, because it would have frames to copy.
//! - read-transaction-held: from that moment on a read transaction is held. In WAL mode it reads
//!   from the file alone (read mark 0), so that no checkpoint writes to the file; in rollback mode
//!   it holds SHARED, so that no commit does. Writers continue meanwhile: in WAL mode into the log,
//!   in rollback mode up to their commit.
//! - log-equals-file: the images that are left in the log are those in the file. If the log's index
//!   is lost, the log is copied a second time, and must not bring other images than those that were
//!   read ([`is_carried`]).
//! - closed-after-sqlite: the file is opened in addition to SQLite's own descriptor, and closed
//!   after it, because closing releases all locks of this process on the file (fcntl(2)).

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

/// A database file that is kept unchanged. Other connections continue to use the database.
pub(crate) struct UnchangedFile {
    /// `closed-after-sqlite`: declared before the file, and therefore dropped before it.
    _reader: Database,
    file: RawFile,
}

impl UnchangedFile {
    /// Waits until no connection writes to the file, and keeps it unchanged from then on.
    ///
    /// # Errors
    /// [`EngineError::Busy`] if other connections leave no such moment within the busy wait; errors
    /// of SQLite and the VFS.
    pub(crate) fn hold(
        storage: &dyn Storage,
        path: &Path,
        access: &Access,
        watch: &Watch,
    ) -> Result<Self, EngineError> {
        sqlite::install()?;
        // Fails if this process has the file open: its other connections would lose their locks.
        drop(RawFile::open(storage, path)?);
        let open = || Database::open(storage, path, access);
        let connections = Connections {
            storage,
            path,
            writer: open()?,
            copier: open()?,
            reader: open()?,
            file: RawFile::open_unasked(storage, path)?,
        };
        let started = Instant::now();
        while !connections.try_hold()? {
            watch.check()?;
            if started.elapsed() > access.busy_wait {
                return Err(EngineError::Busy {
                    path: path.to_owned(),
                    what: "other processes write to it or read its log without a pause, so no anchor could be taken",
                });
            }
            std::thread::sleep(PAUSE);
        }
        let Connections { reader, file, .. } = connections;
        Ok(Self { _reader: reader, file })
    }

    /// The unchanged file.
    pub(crate) fn file(&self) -> &RawFile {
        &self.file
    }
}

/// The connections that are needed, and the file. closed-after-sqlite: they are dropped in this order.
struct Connections<'a> {
    storage: &'a dyn Storage,
    path: &'a Path,
    writer: Database,
    copier: Database,
    reader: Database,
    file: RawFile,
}

impl Connections<'_> {
    /// all-frames-copied to log-equals-file. Returns false if other connections prevented it.
    fn try_hold(&self) -> Result<bool, EngineError> {
        // Copies most frames without a lock that other connections wait for.
        self.copy_log()?;
        if !false_if_busy(self.writer.batch("BEGIN IMMEDIATE").map(|()| true))? {
            return Ok(false);
        }
        let held = self.hold_with_lock();
        self.writer.batch("ROLLBACK")?;
        if !matches!(held, Ok(true)) {
            // The reader may have begun its transaction.
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
            // The checkpoint of another process is about to end.
            std::thread::sleep(COPY_PAUSE);
        };
        let has_begun = false_if_busy(
            self.reader
                .batch("BEGIN; SELECT count(*) FROM sqlite_schema")
                .map(|()| true),
        )?;
        Ok(has_begun && self.is_carried(frame_count)?)
    }

    /// Copies the log into the file. Returns the number of its frames if all are copied, otherwise
    /// `None`; 0 without a log.
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

    /// `log-equals-file`: whether the last frame of each page has the image that is in the file. A
    /// checkpoint copies images unchanged, except for pages that were re-encrypted meanwhile.
    fn is_carried(&self, frame_count: u64) -> Result<bool, EngineError> {
        if frame_count == 0 {
            return Ok(true);
        }
        let file = &self.file;
        let geometry = geometry(file, self.path)?;
        let page_size = geometry.page_size();
        // No process has locks on the log's file.
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

/// Busy is no error here: the caller tries again.
fn false_if_busy(outcome: Result<bool, EngineError>) -> Result<bool, EngineError> {
    match outcome {
        Err(EngineError::Busy { .. }) => Ok(false),
        outcome => outcome,
    }
}

const FRAME_HEADER_SIZE: u64 = 24;
const TRAILER_SIZE_U64: u64 = 48;
/// 100 ms in all with the write lock held, for which other connections wait.
const COPY_TRY_COUNT: u32 = 20;
const COPY_PAUSE: Duration = Duration::from_millis(5);
/// Most transactions of other connections take less.
const PAUSE: Duration = Duration::from_millis(5);
