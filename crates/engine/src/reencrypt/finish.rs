//! From pages that are sealed anew in the log to a file, a log and a journal that hold nothing of the old epoch, and then
//! to a superblock without it.
//!
//! F1. Old frames in a log that may still be recovered are a promise: recovery has to open them (FORMAT 6.4). So neither does the
//!     cursor move nor the old key go before the log was cut, and looked through.
//! F2. Nothing is waited for with SQLite's write lock held.

use std::time::{Duration, Instant};

use selenite_format::State;
use selenite_format::wal::{FRAME_HEADER_SIZE, HEADER_SIZE};
use selenite_keyring::{Unlocked, epoch_change};
use selenite_vfs::change;
use selenite_vfs::error::VfsError;
use selenite_vfs::planted::{Bug, is_planted};

use super::{Work, pages};
use crate::EngineError;
use crate::database::Next;
use crate::draft::{beside, sync_folder};
use crate::error::io_error;
use crate::lock_holders::holders;

/// The end of an operation, and what is kept on its way.
pub struct Finish<'a>(&'a Work<'a>);

impl<'a> Finish<'a> {
    pub fn new(work: &'a Work<'a>) -> Self {
        Self(work)
    }

    /// Copies the log into the database, as far as readers let it, and syncs. Nobody waits for it.
    ///
    /// # Errors
    /// What SQLite and the VFS say.
    pub fn copy_log(&self) -> Result<(), EngineError> {
        match self.0.database.text("PRAGMA main.wal_checkpoint(PASSIVE)") {
            Ok(_) | Err(EngineError::Busy { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Moves the cursor to the page before the first that is still old in the file, if the log can be cut now.
    ///
    /// # Errors
    /// What SQLite and the VFS say.
    pub fn save(&self) -> Result<(), EngineError> {
        self.copy_log()?;
        let first_old = pages::first_old(self.0)?;
        self.save_up_to(first_old.map_or(u32::MAX, |page| page - 1))
    }

    /// R2. Moves the cursor, if the log can be cut now: what is in the file up to there is synced then, and no log is left.
    ///
    /// # Errors
    /// What SQLite and the VFS say.
    pub fn save_up_to(&self, page: u32) -> Result<(), EngineError> {
        if !is_planted(Bug::CursorBeforeSync) {
            self.copy_log()?;
            if !self.cut_log()? || self.log_has_old_frames()? {
                return Ok(());
            }
        }
        let page_count = u32::try_from(self.0.number("PRAGMA main.page_count")?).unwrap_or(u32::MAX);
        let cursor = page.min(page_count);
        // With the write lock taken anew: frames that came meanwhile are of the new epoch.
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
        self.patiently("waiting for who writes", || {
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
        self.patiently("waiting for who reads", || {
            self.copy_log()?;
            Ok(self.cut_log()?.then_some(()))
        })
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
            let named: Vec<String> = holders(self.0.path).iter().map(ToString::to_string).collect();
            let text = if named.is_empty() {
                what.to_owned()
            } else {
                format!("{what}: {}", named.join(", "))
            };
            self.0.wait(&text, wait)?;
            wait = (wait * 2).min(WAIT_MAX);
        }
    }

    /// Whether the log is empty now, also after a crash: SQLite does not sync the cut. In rollback mode there is none.
    fn cut_log(&self) -> Result<bool, EngineError> {
        match self.0.database.text("PRAGMA main.wal_checkpoint(TRUNCATE)") {
            Ok(busy) if busy == "0" => self.sync_log().map(|()| true),
            Ok(_) => Ok(false),
            Err(EngineError::Busy { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// No lock is on the log's file: it may be opened and closed.
    fn sync_log(&self) -> Result<(), EngineError> {
        let path = beside(self.0.path, "-wal");
        match self.0.storage.sync_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(io_error("sync", &path)(error)),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// R3. The end: under the write lock, in one piece. `None` if something of the old epoch came to light, or somebody
    /// wrote at the moment.
    ///
    /// # Errors
    /// What SQLite and the VFS say.
    pub fn try_end(&self) -> Result<Option<Duration>, EngineError> {
        let database = self.0.database;
        match database.batch("BEGIN IMMEDIATE") {
            Ok(()) => {}
            Err(EngineError::Busy { .. }) => {
                self.0.wait("waiting for who writes", Duration::from_millis(5))?;
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

    /// Whether nothing of the old epoch is left: neither in the log nor in the file, nor in a journal that was kept.
    fn is_clean(&self) -> Result<bool, EngineError> {
        if self.log_has_old_frames()? {
            return Ok(false);
        }
        self.remove_journal()?;
        if !pages::any_is_old(self.0)? {
            return Ok(true);
        }
        // What SQLite cut off may still lie behind the last page.
        if self.log_is_empty()? {
            self.0.database.text("SELECT selenite_cut('main')")?;
        }
        Ok(!pages::any_is_old(self.0)?)
    }

    /// A journal that is kept (`journal_mode = PERSIST`) holds old images behind a header of zeros. With the write lock held
    /// and nothing written under it, no journal is anybody's.
    fn remove_journal(&self) -> Result<(), EngineError> {
        let path = beside(self.0.path, "-journal");
        match self.0.storage.remove(&path) {
            Ok(()) => sync_folder(self.0.storage, &path),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(io_error("remove", &path)(error)),
        }
    }

    fn log_is_empty(&self) -> Result<bool, EngineError> {
        let path = beside(self.0.path, "-wal");
        match self.0.storage.attributes(&path) {
            Ok(attributes) => Ok(attributes.size == 0),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(true),
            Err(error) => Err(io_error("read", &path)(error)),
        }
    }

    /// Whether any frame of the log's file, committed or not, is of another epoch. No lock is on that file: it may be opened
    /// and closed.
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
const WAIT_MAX: Duration = Duration::from_millis(500);
