//! Finishes a re-encryption: from re-encrypted pages in the log to a file, a log and a journal
//! without pages of the old epoch, and then to a superblock without it.
//!
//! - old-frames-keep-the-key: old frames in a log that may still be recovered are a promise:
//!   recovery has to open them (FORMAT 6.4). So neither does the cursor move nor the old key go
//!   before the log was cut, and looked through.
//! - no-wait-under-lock: nothing is waited for with SQLite's write lock held.

use std::time::{Duration, Instant};

use selenite_format::State;
use selenite_format::wal::{FRAME_HEADER_SIZE, HEADER_SIZE};
use selenite_keyring::{Unlocked, epoch_change};
use selenite_vfs::change;
use selenite_vfs::error::VfsError;
use selenite_vfs::planted::{Bug, is_planted};

use super::checkpoint::Checkpoint;
use super::{ReencryptionJob, pages};
use crate::EngineError;
use crate::database::Next;
use crate::draft::beside;
use crate::error::io_error;

/// The end of an operation, and what is kept on its way.
pub struct Finish<'a>(&'a ReencryptionJob<'a>);

impl<'a> Finish<'a> {
    pub fn new(work: &'a ReencryptionJob<'a>) -> Self {
        Self(work)
    }

    /// Moves the cursor to the page before the first that is still old in the file, if the log can be cut now.
    ///
    /// # Errors
    /// What SQLite and the VFS say.
    pub fn save(&self) -> Result<(), EngineError> {
        Checkpoint::passive(self.0)?;
        let first_old = pages::first_old(self.0)?;
        self.save_up_to(first_old.map_or(u32::MAX, |page| page - 1))
    }

    /// `cursor-is-durable`: moves the cursor, if the log can be cut now: what is in the file up to
    /// there is synced then, and no log is left.
    ///
    /// # Errors
    /// What SQLite and the VFS say.
    pub fn save_up_to(&self, page: u32) -> Result<(), EngineError> {
        let is_safe = || Ok::<_, EngineError>(self.try_empty_log()? && !self.log_has_old_frames()?);
        if !is_planted(Bug::CursorBeforeSync) && !is_safe()? {
            return Ok(());
        }
        let page_count = u32::try_from(self.0.number("PRAGMA main.page_count")?).unwrap_or(u32::MAX);
        let cursor = page.min(page_count);
        // With the write lock taken again: frames that came meanwhile are of the new epoch.
        let saved = self.0.database.change(move |unlocked| {
            let superblock = &unlocked.superblock;
            if cursor <= superblock.cursor || superblock.state == State::Finishing {
                return Ok(Next::Leave(()));
            }
            let changed = epoch_change::advance(unlocked, cursor)?;
            Ok(Next::Write(Box::new(changed.unlocked), changed.takes_rights_away, ()))
        });
        match saved {
            Err(EngineError::Busy { .. }) => Ok(()),
            saved => saved,
        }
    }

    /// Says that all pages are done, and that only logs and readers are in the way.
    ///
    /// # Errors
    /// [`EngineError::Interrupted`]; what SQLite and the VFS say.
    pub fn note_all_done(&self) -> Result<(), EngineError> {
        self.patiently("waiting for writers", || {
            let noted = self.0.database.change(|unlocked: &Unlocked| {
                if unlocked.superblock.state == State::Finishing {
                    return Ok(Next::Leave(()));
                }
                let changed = epoch_change::all_done(unlocked)?;
                Ok(Next::Write(Box::new(changed.unlocked), changed.takes_rights_away, ()))
            });
            match noted {
                Err(EngineError::Busy { .. }) => Ok(None),
                noted => noted.map(Some),
            }
        })
    }

    /// Copies all of the log, and cuts it: waits for readers that still need it, and names them.
    ///
    /// # Errors
    /// [`EngineError::Interrupted`]; what SQLite and the VFS say.
    pub fn empty_log(&self) -> Result<(), EngineError> {
        self.patiently("waiting for readers", || Ok(self.try_empty_log()?.then_some(())))
    }

    /// Whether the log is empty now, also after a crash. Where many write, someone is at a
    /// checkpoint most of the time: that one's end is waited for. The write lock is taken only when
    /// all is copied, so that no process waits for what a reader forbids.
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

    /// Tries until there is an answer, in growing intervals, and says who is in the way.
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

    /// Has the cut of the log on disk: SQLite does not sync it. No lock is on that file: it may be opened and closed.
    fn sync_log(&self) -> Result<(), EngineError> {
        let path = beside(self.0.path, "-wal");
        match self.0.storage.sync_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(io_error("sync", &path)(error)),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// `drop-under-lock`: the end: under the write lock, in one piece. `None` if something of the
    /// old epoch came to light, or someone wrote at the moment.
    ///
    /// # Errors
    /// What SQLite and the VFS say.
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
        if !is_planted(Bug::KeyDroppedBeforeScan) && !self.is_clean()? {
            return Ok(false);
        }
        let token = change::stage(Box::new(|unlocked: &Unlocked| {
            let changed = epoch_change::end(unlocked).map_err(VfsError::Key)?;
            Ok((changed.unlocked, changed.takes_rights_away))
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
        // What SQLite cut off may still lie behind the last page.
        if self.log_is_empty()? {
            self.0.database.text("SELECT selenite_cut('main')")?;
        }
        Ok(!pages::any_is_old(self.0)?)
    }

    /// A journal that is kept (`journal_mode = PERSIST`) holds old images behind a header of zeros.
    /// With the write lock held and nothing written under it, what it holds belongs to no transaction. It is cut
    /// and not removed: a connection that still reads keeps it open after a commit, and would write
    /// the next one into a file that no recovery finds.
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

    /// Whether any frame of the log's file, committed or not, is of another epoch. No lock is on
    /// that file: it may be opened and closed.
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
