//! One turn: unsent data is sent, the next read transaction begins before the last one ends, and
//! what it sees is sent.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use selenite_backup::{BackupError, LOG_OBJECT_SIZE_MAX, LogWriter, Part, StoreErrorKind, object_key};
use selenite_vfs::error::VfsError;

use super::failed::Failed;
use super::log_view::{self, LogView};
use super::new_archive::NewArchive;
use super::{FollowContext, Followed, Follower, is_passing, log_size, resume};
use crate::{Database, EngineError};

impl Follower {
    /// Runs one turn. With `is_last` nothing new is begun.
    pub(super) fn turn(
        &mut self,
        place: &FollowContext<'_>,
        (renew_every, log_size_max): (Duration, u64),
        is_last: bool,
    ) -> Result<(), EngineError> {
        self.check_file(place)?;
        let mut done = self.run_steps(place, renew_every, is_last);
        if let Err(EngineError::Backup(error)) = &done
            && let Some(why) = abandon_reason(error).filter(|_| self.archive.is_some())
        {
            // no-holes.
            self.leave(why);
            done = self.run_steps(place, renew_every, is_last);
        }
        if done.is_err() && log_size(place) > log_size_max {
            // A later turn makes a new backup.
            self.leave("the log grew too long while nothing could be sent");
            self.holder.end_any_read();
            self.is_released = true;
        }
        done
    }

    fn run_steps(
        &mut self,
        place: &FollowContext<'_>,
        renew_every: Duration,
        is_last: bool,
    ) -> Result<(), EngineError> {
        match self.take_new(place, is_last) {
            // The previous archive is still followed.
            Err(error) if self.archive.is_some() && is_passing(&error) => {}
            taken => taken?,
        }
        if self.archive.is_none() && self.new.is_some() {
            // The transaction of the new archive holds the log.
            return Ok(());
        }
        self.check_archive(place)?;
        if !self.is_released {
            self.send_rest()?;
            self.send()?;
        }
        if self.archive.is_some() && (is_last || !self.is_unchanged()) {
            self.step()?;
        }
        if self.archive.is_none() {
            return self.begin(place, is_last);
        }
        if is_last {
            return Ok(());
        }
        self.let_log_restart()?;
        self.renew(place, renew_every)
    }

    /// `idle-is-free`: whether the last transaction was sent completely, and nothing was committed
    /// since it was begun.
    fn is_unchanged(&mut self) -> bool {
        let begun = Instant::now();
        let is_short = !self.view.sees_log || self.view.end.position.frames < CHECKPOINT;
        if self.is_released || !is_short || self.begun.elapsed() > KEY_CHECK_INTERVAL {
            return false;
        }
        let end = self.view.end;
        let seen = (self.holder).read(move |snapshot| Ok(snapshot.end() == Some(end) && snapshot.is_last()));
        // An error is reported when the next transaction is begun.
        let is_unchanged = seen.unwrap_or(false);
        if is_unchanged {
            (self.sent, self.is_quiet) = (begun, true);
        }
        is_unchanged
    }

    /// Begins the next transaction, and sends what it sees.
    fn step(&mut self) -> Result<(), EngineError> {
        let begun = Instant::now();
        self.begun = begun;
        let before = self.view.end;
        self.hand_over()?;
        // removed-keys-open-nothing-new.
        let is_for = |archive: &Followed| archive.keys == self.view.keys;
        if !self.archive.as_ref().is_none_or(is_for) {
            self.leave("the key slots have changed");
        }
        self.send_rest()?;
        self.send()?;
        self.is_quiet = before == self.view.end;
        if self.archive.is_some() {
            self.sent = begun;
        }
        Ok(())
    }

    /// Continues an existing archive, or begins a new one.
    fn begin(&mut self, place: &FollowContext<'_>, is_last: bool) -> Result<(), EngineError> {
        let begun = Instant::now();
        (self.is_released, self.has_unsent_rest) = (false, false);
        self.holder.end_any_read();
        if !is_last && !self.may_begin() {
            return Ok(());
        }
        self.view = log_view::begin(&self.holder)?;
        let found = resume::find(place, &self.holder);
        if !matches!(found, Ok(Some(_))) {
            self.holder.end_any_read();
        }
        self.archive = found?;
        if self.archive.is_some() {
            self.left = None;
            self.send()?;
            if self.archive.is_some() {
                self.sent = begun;
            }
            return Ok(());
        }
        if !is_last {
            self.begin_new(place)?;
        }
        Ok(())
    }

    /// Whether a new archive may be begun: after a failed attempt only after a pause.
    fn may_begin(&self) -> bool {
        self.failed.as_ref().is_none_or(Failed::is_due)
    }

    fn begin_new(&mut self, place: &FollowContext<'_>) -> Result<(), EngineError> {
        let unfinished = self.failed.as_ref().and_then(Failed::unfinished);
        self.new = Some(NewArchive::begin(place, unfinished)?);
        Ok(())
    }

    /// Takes over the archive that was being made, with its transaction.
    fn take_new(&mut self, place: &FollowContext<'_>, is_last: bool) -> Result<(), EngineError> {
        let Some(new) = self.new.take_if(|new| new.is_ready() || is_last) else {
            return Ok(());
        };
        if !new.is_ready() {
            // It is interrupted, too, and leaves an archive without a manifest.
            return Ok(());
        }
        let begun = new.name();
        let made = match new.wait() {
            Ok(made) => made,
            // It noticed the interruption earlier than this thread.
            Err(EngineError::Backup(BackupError::Stopped)) => return Ok(()),
            Err(error) => {
                let why = (&error, place.destination.as_ref());
                self.failed = Some(Failed::after(self.failed.take(), why, begun));
                return Err(error);
            }
        };
        (self.failed, self.left) = (None, None);
        self.holder.end_any_read();
        self.other.end_any_read();
        self.holder = made.database;
        (self.is_released, self.has_unsent_rest) = (false, false);
        (self.tried, self.release_turn_count) = (0, 0);
        self.archive = Some(Followed {
            name: made.writer.name().clone(),
            writer: Arc::new(Mutex::new(made.writer)),
            keys: made.keys,
            since: Instant::now(),
            seen: Instant::now(),
        });
        self.view = made.view;
        Ok(())
    }

    /// `nothing-is-left-out`: begins the next transaction, then ends the last one.
    fn hand_over(&mut self) -> Result<(), EngineError> {
        let view = log_view::begin(&self.other)?;
        self.holder.end_any_read();
        std::mem::swap(&mut self.holder, &mut self.other);
        self.view = view;
        self.has_unsent_rest |= self.is_released;
        self.is_released = false;
        Ok(())
    }

    /// nothing-is-sent-twice, writers-never-wait. Sends what was committed while no mark was held,
    /// if the log that the holder sees does not contain it.
    fn send_rest(&mut self) -> Result<(), EngineError> {
        let Some(archive) = self.archive.as_ref().filter(|_| self.has_unsent_rest) else {
            return Ok(());
        };
        locked(&archive.writer).flush_pending()?;
        if !send_rest(&self.holder, &archive.writer, &self.view)? {
            self.leave(LOG_RESTARTED);
        }
        self.has_unsent_rest = false;
        Ok(())
    }

    /// Sends what the holder sees and was not sent yet.
    fn send(&mut self) -> Result<(), EngineError> {
        let Some(archive) = &self.archive else { return Ok(()) };
        let from = {
            let mut writer = locked(&archive.writer);
            writer.flush_pending()?;
            writer.end()
        };
        let to = self.view.end;
        if from == to {
            return Ok(());
        }
        // Marks were held continuously: another log has begun after the position (nothing-is-left-out).
        let first = if from.position.salts == to.position.salts {
            from.position.frames
        } else {
            0
        };
        if first > to.position.frames || (first < to.position.frames && !self.view.sees_log) {
            self.leave(LOG_RESTARTED);
            return Ok(());
        }
        if !send(&self.holder, &archive.writer, &self.view, first)? {
            self.leave(LOG_RESTARTED);
        }
        Ok(())
    }

    /// Enforces `writers-never-wait`.
    fn let_log_restart(&mut self) -> Result<(), EngineError> {
        let frames = self.view.end.position.frames;
        if !self.view.sees_log || frames < CHECKPOINT {
            (self.tried, self.release_turn_count) = (0, 0);
            return Ok(());
        }
        if self.is_quiet || frames >= self.tried.saturating_add(CHECKPOINT) || frames < self.tried {
            self.tried = frames;
            let (copied, all) = self.other.checkpoint_passively()?;
            if copied == all && all > 0 {
                // Nothing was written meanwhile: on mark 0 the log may restart.
                return self.step();
            }
            if frames >= LONG {
                self.release_turn_count = RELEASE_TURN_COUNT;
            }
        }
        if self.release_turn_count > 0 {
            self.release_turn_count -= 1;
            self.holder.end_any_read();
            self.is_released = true;
        }
        Ok(())
    }

    /// Begins a new archive if the one that is followed is old or long.
    fn renew(&mut self, place: &FollowContext<'_>, renew_every: Duration) -> Result<(), EngineError> {
        let Some(archive) = &self.archive else { return Ok(()) };
        if self.new.is_some() || !self.may_begin() {
            return Ok(());
        }
        let database_size = u64::from(self.view.page_count) * self.view.page_size.as_u64();
        let is_long = locked(&archive.writer).size() > database_size.max(LOG_SIZE_MIN);
        if is_long || archive.since.elapsed() > renew_every {
            self.begin_new(place)?;
        }
        Ok(())
    }

    /// Abandons an archive that was removed.
    fn check_archive(&mut self, place: &FollowContext<'_>) -> Result<(), EngineError> {
        let Some(archive) = self
            .archive
            .as_mut()
            .filter(|archive| archive.seen.elapsed() > ARCHIVE_CHECK_INTERVAL)
        else {
            return Ok(());
        };
        let object = object_key(self.view.database_id, &archive.name, Part::Manifest);
        match place.destination.get(&object, LOG_OBJECT_SIZE_MAX) {
            Ok(_) => archive.seen = Instant::now(),
            Err(error) if error.kind == StoreErrorKind::Missing => self.leave(GONE),
            Err(error) => return Err(BackupError::from(error).into()),
        }
        Ok(())
    }

    /// Reopens a file that was replaced; fails if it was removed.
    fn check_file(&mut self, place: &FollowContext<'_>) -> Result<(), EngineError> {
        let now = super::anchors::identity(place.storage, place.path)?;
        if now == self.identity {
            return Ok(());
        }
        let followed = self.view.database_id;
        *self = Self::open(place)?;
        if self.view.database_id == followed {
            return Ok(());
        }
        Err(EngineError::usage(
            format!("{}: replaced by another database", place.path.display()),
            "to follow the new one, run the same command again",
        ))
    }
}

/// Sends the pages of the frames from `first` on. Returns whether the transaction is still the one
/// of `view`.
pub(super) fn send(
    database: &Database,
    writer: &Arc<Mutex<LogWriter>>,
    view: &LogView,
    first: u32,
) -> Result<bool, EngineError> {
    let (writer, view, path) = (writer.clone(), view.clone(), database.path().to_owned());
    database.read(move |snapshot| {
        if snapshot.end() != Some(view.end) {
            return Ok(false);
        }
        let mut writer = locked(&writer);
        let size = (view.page_size, view.page_count);
        let mut turn = writer.turn(view.end, size, view.made)?;
        let sent = snapshot.log_pages(first, |page_no, image, plain| {
            turn.page(page_no, image, plain).map_err(TurnFault::Backup)
        });
        match sent {
            Ok(()) => turn.finish()?,
            Err(TurnFault::Backup(error)) => return Err(error.into()),
            Err(TurnFault::Vfs(error)) => return Err(EngineError::of_vfs(&error, &path)),
        }
        Ok(true)
    })
}

/// Sends the pages that were written after the last turn, if the transaction's own log does not
/// contain all of them: in one turn, because the states in between are unknown. Returns false if
/// some cannot be determined: a new backup is needed then.
fn send_rest(database: &Database, writer: &Arc<Mutex<LogWriter>>, view: &LogView) -> Result<bool, EngineError> {
    let (writer, view, path) = (writer.clone(), view.clone(), database.path().to_owned());
    database.read(move |snapshot| {
        if snapshot.end() != Some(view.end) {
            return Ok(false);
        }
        let refused = |error| EngineError::of_vfs(&error, &path);
        let mut writer = locked(&writer);
        let from = writer.end();
        let is_same = from.position.salts == view.end.position.salts;
        if is_same && (view.sees_log || from == view.end) {
            return Ok(snapshot.place_behind(from.position.frames).map_err(refused)? == Some(from));
        }
        let Some(rest) = snapshot.pages_since(from).map_err(refused)? else {
            return Ok(false);
        };
        let mut turn = writer.turn(view.end, (view.page_size, view.page_count), view.made)?;
        let sent = snapshot.read_pages_since(&rest, |page_no, image, plain| {
            turn.page(page_no, image, plain).map_err(TurnFault::Backup)
        });
        match sent {
            Ok(()) => turn.finish()?,
            Err(TurnFault::Backup(error)) => return Err(error.into()),
            // An incomplete turn has no effect, and a new backup reports the page.
            Err(TurnFault::Vfs(VfsError::Unauthentic { .. })) => return Ok(false),
            Err(TurnFault::Vfs(error)) => return Err(refused(error)),
        }
        Ok(true)
    })
}

/// An error of reading or of sending.
enum TurnFault {
    Vfs(VfsError),
    Backup(BackupError),
}

impl From<VfsError> for TurnFault {
    fn from(error: VfsError) -> Self {
        Self::Vfs(error)
    }
}

/// Why an archive must be abandoned after this error, if it must.
fn abandon_reason(error: &BackupError) -> Option<&'static str> {
    if matches!(error, BackupError::ArchiveRemoved { .. }) {
        return Some(GONE);
    }
    matches!(error, BackupError::WrittenByOther { .. }).then_some("another process follows the database, too")
}

/// Locks a writer. If the last holder panicked, the writer is as it was before the call that failed.
pub(super) fn locked(writer: &Mutex<LogWriter>) -> MutexGuard<'_, LogWriter> {
    writer.lock().unwrap_or_else(PoisonError::into_inner)
}

/// `idle-is-free`: the interval after which a transaction is begun in any case, because the keys
/// may have changed.
const KEY_CHECK_INTERVAL: Duration = Duration::from_secs(5);
const GONE: &str = "it is no longer at the destination";
const LOG_RESTARTED: &str = "the log was restarted before all of it was sent";
/// Frames after which the log is copied: the default of SQLite's automatic checkpoint.
const CHECKPOINT: u32 = 1000;
/// Frames from which on marks are released, so that writers can restart the log.
const LONG: u32 = 4 * CHECKPOINT;
/// How often it is checked that the archive still exists.
const ARCHIVE_CHECK_INTERVAL: Duration = Duration::from_secs(60);
/// The number of turns in a row in which marks are released then.
const RELEASE_TURN_COUNT: u32 = 10;
/// 64 MiB: a log of objects below this size is never too long.
const LOG_SIZE_MIN: u64 = 64 << 20;
