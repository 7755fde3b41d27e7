//! Finishes a re-encryption: removes the pages of the old epoch from the file, the log and the
//! journal, and then the old epoch from the superblock.
//!
//! - old-frames-keep-the-key: recovery has to open any old frame in a log that may still be
//!   recovered (FORMAT 6.4). So the cursor does not move and the old key is not dropped before the
//!   log was truncated and checked for old frames.
//! - no-wait-under-lock: no wait happens while SQLite's write lock is held.

use std::time::{Duration, Instant};

use selenite_format::State;
use selenite_format::wal::{FRAME_HEADER_SIZE, HEADER_SIZE};
use selenite_keyring::{Unlocked, epoch_change};
use selenite_vfs::change;
use selenite_vfs::error::VfsError;
use selenite_vfs::injected_bugs::{Bug, is_injected};

use super::checkpoint::Checkpoint;
use super::{ReencryptionJob, pages};
use crate::EngineError;
use crate::database::KeyChange;
use crate::draft::beside;
use crate::error::io_error;

/// The end of an operation, and its saved progress before that.
pub struct Finish<'a>(&'a ReencryptionJob<'a>);

impl<'a> Finish<'a> {
    pub fn new(work: &'a ReencryptionJob<'a>) -> Self {
        Self(work)
    }

    /// Moves the cursor to the page before the first old page of the file, if the log can be
    /// truncated now.
    ///
    /// # Errors
    /// The errors of SQLite and the VFS.
    pub fn save(&self) -> Result<(), EngineError> {
        Checkpoint::passive(self.0)?;
        let first_old = pages::first_old(self.0)?;
        self.save_up_to(first_old.map_or(u32::MAX, |page| page - 1))
    }

    /// `cursor-is-durable`: moves the cursor to `page`, if the log can be truncated now: the pages
    /// up to there are then synced in the file, and the log is empty.
    ///
    /// # Errors
    /// The errors of SQLite and the VFS.
    pub fn save_up_to(&self, page: u32) -> Result<(), EngineError> {
        let is_safe = || Ok::<_, EngineError>(self.try_empty_log()? && !self.log_has_old_frames()?);
        if !is_injected(Bug::CursorBeforeSync) && !is_safe()? {
            return Ok(());
        }
        let page_count = u32::try_from(self.0.number("PRAGMA main.page_count")?).unwrap_or(u32::MAX);
        let cursor = page.min(page_count);
        // With the write lock taken again: frames written in between are of the new epoch.
        let saved = self.0.database.change(move |unlocked| {
            let superblock = &unlocked.superblock;
            if cursor <= superblock.cursor || superblock.state == State::Finishing {
                return Ok(KeyChange::Keep(()));
            }
            let changed = epoch_change::advance(unlocked, cursor)?;
            Ok(KeyChange::Write(Box::new(changed.unlocked), changed.revokes_access, ()))
        });
        match saved {
            Err(EngineError::Busy { .. }) => Ok(()),
            saved => saved,
        }
    }

    /// Records in the superblock that all pages are done, and that only logs and readers remain.
    ///
    /// # Errors
    /// [`EngineError::Interrupted`]; the errors of SQLite and the VFS.
    pub fn note_all_done(&self) -> Result<(), EngineError> {
        self.patiently("waiting for writers", || {
            let noted = self.0.database.change(|unlocked: &Unlocked| {
                if unlocked.superblock.state == State::Finishing {
                    return Ok(KeyChange::Keep(()));
                }
                let changed = epoch_change::all_done(unlocked)?;
                Ok(KeyChange::Write(Box::new(changed.unlocked), changed.revokes_access, ()))
            });
            match noted {
                Err(EngineError::Busy { .. }) => Ok(None),
                noted => noted.map(Some),
            }
        })
    }

    /// Copies all of the log, and truncates it. Waits for readers that still need it, and reports
    /// them.
    ///
    /// # Errors
    /// [`EngineError::Interrupted`]; the errors of SQLite and the VFS.
    pub fn empty_log(&self) -> Result<(), EngineError> {
        self.patiently("waiting for readers", || Ok(self.try_empty_log()?.then_some(())))
    }

    /// Whether the log is empty now, and stays so after a crash. With many writers another
    /// connection runs a checkpoint most of the time: this waits for its end. The write lock is
    /// taken only when all frames are copied, so that no process waits for what a reader prevents.
    fn try_empty_log(&self) -> Result<bool, EngineError> {
        for _ in 0..CHECKPOINT_TRIES {
            let checkpoint = match Checkpoint::passive(self.0)? {
                Checkpoint::Done => Checkpoint::truncate(self.0)?,
                held @ (Checkpoint::Elsewhere | Checkpoint::Held) => held,
            };
            match checkpoint {
                Checkpoint::Done => return self.sync_log().map(|()| true),
                Checkpoint::Elsewhere | Checkpoint::Held => self.0.sleep(CHECKPOINT_PAUSE)?,
            }
        }
        Ok(false)
    }

    /// Tries until there is a result, in growing intervals, and reports which processes block it.
    fn patiently<T>(
        &self,
        what: &str,
        mut attempt: impl FnMut() -> Result<Option<T>, EngineError>,
    ) -> Result<T, EngineError> {
        let mut wait = Duration::from_millis(2);
        loop {
            if let Some(answer) = attempt()? {
                return Ok(answer);
            }
            self.0.wait(what, wait)?;
            wait = (wait * 2).min(WAIT_MAX);
        }
    }

    /// Syncs the truncated log, which SQLite does not do. That file has no locks, so it may be
    /// opened and closed.
    fn sync_log(&self) -> Result<(), EngineError> {
        let path = beside(self.0.path, "-wal");
        match self.0.storage.sync_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(io_error("sync", &path)(error)),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// `drop-under-lock`: drops the old key, in one step under the write lock. `None` if something
    /// of the old epoch was found, or another connection was writing.
    ///
    /// # Errors
    /// The errors of SQLite and the VFS.
    pub fn try_end(&self) -> Result<Option<Duration>, EngineError> {
        let database = self.0.database;
        match database.begin() {
            Ok(()) => {}
            Err(EngineError::Busy { .. }) => {
                self.0.wait("waiting for writers", Duration::from_millis(5))?;
                return Ok(None);
            }
            Err(error) => return Err(error),
        }
        let started = Instant::now();
        let ended = self.end_with_lock();
        let elapsed = started.elapsed();
        let released = database.batch("ROLLBACK");
        let is_over = ended?;
        released?;
        Ok(is_over.then_some(elapsed))
    }

    fn end_with_lock(&self) -> Result<bool, EngineError> {
        if !is_injected(Bug::KeyDroppedBeforeScan) && !self.is_clean()? {
            return Ok(false);
        }
        let token = change::stage(Box::new(|unlocked: &Unlocked| {
            let changed = epoch_change::end(unlocked).map_err(VfsError::Key)?;
            Ok((changed.unlocked, changed.revokes_access))
        }));
        let applied = self.0.database.text(&format!("SELECT selenite_apply({token})"));
        change::withdraw(token);
        applied?;
        Ok(true)
    }

    /// Whether no page of the old epoch is left in the log, in the file or in a persistent journal.
    fn is_clean(&self) -> Result<bool, EngineError> {
        if self.log_has_old_frames()? {
            return Ok(false);
        }
        self.empty_journal()?;
        if !pages::any_is_old(self.0)? {
            return Ok(true);
        }
        // Pages that SQLite truncated may still be in the file, after the last page.
        if self.log_is_empty()? {
            self.0.database.text("SELECT selenite_cut('main')")?;
        }
        Ok(!pages::any_is_old(self.0)?)
    }

    /// A journal that is kept (`journal_mode = PERSIST`) holds old images behind a header of
    /// zeros. While this holds the write lock and has written nothing, its content belongs to no
    /// transaction. It is truncated and not removed: a connection that still reads keeps it open
    /// after a commit, and would write the next transaction's journal into a file that no recovery
    /// finds.
    fn empty_journal(&self) -> Result<(), EngineError> {
        let path = beside(self.0.path, "-journal");
        let file = match self.0.storage.open_to_write(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(io_error("write", &path)(error)),
        };
        let emptied = if file.size().map_err(io_error("read", &path))? > 0 {
            file.set_size(0).and_then(|()| file.sync())
        } else {
            Ok(())
        };
        emptied.map_err(io_error("write", &path))
    }

    fn log_is_empty(&self) -> Result<bool, EngineError> {
        let path = beside(self.0.path, "-wal");
        match self.0.storage.attributes(&path) {
            Ok(attributes) => Ok(attributes.size == 0),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(true),
            Err(error) => Err(io_error("read", &path)(error)),
        }
    }

    /// Whether any frame in the log file, committed or not, is of another epoch. That file has no
    /// locks, so it may be opened and closed.
    fn log_has_old_frames(&self) -> Result<bool, EngineError> {
        let path = beside(self.0.path, "-wal");
        let sealing = self.0.sealing_epoch.to_be_bytes();
        let file = match self.0.storage.open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(io_error("read", &path)(error)),
        };
        let frame_size = FRAME_SIZE + self.0.page_bytes;
        let mut place = HEADER + frame_size - TRAILER_SIZE;
        let mut epoch = [0; 4];
        while file.read_at(&mut epoch, place).map_err(io_error("read", &path))? == epoch.len() {
            if epoch != sealing {
                return Ok(true);
            }
            place += frame_size;
        }
        Ok(false)
    }
}

const HEADER: u64 = HEADER_SIZE as u64;
const FRAME_SIZE: u64 = FRAME_HEADER_SIZE as u64;
const TRAILER_SIZE: u64 = 48;
const CHECKPOINT_TRIES: u32 = 20;
const CHECKPOINT_PAUSE: Duration = Duration::from_millis(1);
const WAIT_MAX: Duration = Duration::from_millis(500);
