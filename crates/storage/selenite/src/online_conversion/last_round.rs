//! The end of an online conversion: the last changes are copied under the write lock, and the copy gets the database's
//! name.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use selenite_format::wal::HEADER_SIZE;
use selenite_vfs::error::VfsError;
use selenite_vfs::hand_over::{self, HandOver};

use super::{COPY, Connections, Copying, Run, begin_reading};
use crate::draft::{Draft, beside, sync_folder};
use crate::error::io_error;
use crate::exclusive_source::file_at;
use crate::{Access, Database, EngineError, keys, platform};

/// How the last round ended.
pub enum Ended {
    /// The copy has the name: how long the lock was held, why the old file was not retired, and what was not kept.
    Replaced(Duration, Option<String>, Vec<String>),
    /// The copy has old definitions.
    DefinitionsChanged,
    /// Others hold locks.
    InTheWay,
}

impl Run<'_> {
    /// `one-short-lock`.
    pub fn last_round(&self, connections: &mut Connections, copying: &mut Copying<'_>) -> Result<Ended, EngineError> {
        // What is synced and copied now need not be under the lock; the first sync of the draft takes long.
        let draft = copying.draft.path();
        self.storage.sync_file(draft).map_err(io_error("sync", draft))?;
        if !self.round(connections, copying)? {
            return Ok(Ended::DefinitionsChanged);
        }
        let Connections {
            copier,
            pin,
            spare,
            writer,
        } = connections;
        spare.text("PRAGMA main.wal_checkpoint(PASSIVE)")?;
        writer.number("SELECT count(*) FROM main.sqlite_schema")?;
        // SQLite syncs the file only when all of the log is copied, which the pinned snapshot has prevented so far.
        with_hand_over(writer, |hand_over| hand_over.sync())?;
        if !with_hand_over(writer, begin)? {
            return Ok(Ended::InTheWay);
        }
        let started = Instant::now();
        let ended = self.under_lock((copier, pin, writer), copying, started);
        // For another try the log is kept before the write lock is released. After an error there is none, and the index
        // may be invalid: reading it again would take the lock.
        let goes_on = matches!(ended, Ok(Ended::DefinitionsChanged | Ended::InTheWay));
        let pinned = match goes_on && pin.connection().is_autocommit() {
            true => begin_reading(pin).map(drop),
            false => Ok(()),
        };
        let released = with_hand_over(writer, |hand_over| {
            hand_over.end();
            Ok(())
        });
        let ended = ended?;
        pinned.and(released)?;
        Ok(ended)
    }

    fn under_lock(
        &self,
        (copier, pin, writer): (&Database, &Database, &Database),
        copying: &mut Copying<'_>,
        started: Instant,
    ) -> Result<Ended, EngineError> {
        let end = begin_reading(copier)?;
        if !self.copy_changed(copier, copying, end)? {
            return Ok(Ended::DefinitionsChanged);
        }
        pin.batch("ROLLBACK")?;
        copier.text(&format!("PRAGMA {COPY}.journal_mode = WAL"))?;
        copier.batch(&format!("DETACH {COPY}"))?;
        let not_kept = platform::carry_over(&self.path, copying.draft.path());
        copying.draft.finish(&self.attributes)?;
        // From here on the draft must not be opened and closed by this process: that would release the guard's locks
        // (fcntl(2)), and let connections in as soon as it has the name.
        let guard = self.guard(&copying.draft)?;
        if let Some(unlocked) = &copying.unlocked {
            keys::replace_path_pin(&Access::config()?, &self.path, unlocked)?;
        }
        let until = started + self.limits.lock_max;
        if !with_hand_over(writer, move |hand_over| drain(hand_over, until))? {
            return Ok(Ended::InTheWay);
        }
        // No reader is in the way of copying all of the log.
        let copied = pin.text("PRAGMA main.wal_checkpoint(PASSIVE)");
        let has_all = copied.and_then(|_| with_hand_over(writer, take_all));
        // A stranger is named by the next round, which is not under the lock.
        let is_ready = has_all.and_then(|has_all| Ok(has_all && !self.has_strangers()?));
        let replaced = match is_ready {
            Ok(true) => self.replace(writer, copying),
            Ok(false) => Ok(false),
            Err(error) => Err(error),
        };
        match replaced {
            Ok(true) => {}
            Ok(false) | Err(_) => {
                with_hand_over(writer, |hand_over| {
                    hand_over.open_doors(false);
                    Ok(())
                })?;
                return replaced.map(|_| Ended::InTheWay);
            }
        }
        let put_away = self.put_log_away();
        // A commit to the new database must not be lost with its name.
        let synced = sync_folder(self.storage, &self.path);
        let retired = with_hand_over(writer, |hand_over| hand_over.complete());
        let opened = guard.batch("COMMIT").and_then(|()| guard.close());
        // SQLite removes no log of a database that was renamed (`databaseIsUnmoved` in pager.c).
        let _ = self.storage.remove(&beside(copying.draft.path(), "-wal"));
        with_hand_over(writer, |hand_over| {
            hand_over.open_doors(true);
            Ok(())
        })?;
        let locked = started.elapsed();
        synced.and(put_away).and(opened)?;
        Ok(Ended::Replaced(
            locked,
            retired.err().map(|error| error.to_string()),
            not_kept,
        ))
    }

    /// Keeps every connection out of the copy, under whatever name, until this is closed.
    fn guard(&self, draft: &Draft<'_>) -> Result<Database, EngineError> {
        let access = self.of_draft();
        let guard = Database::connect(draft.path(), &access.uri(draft.path()), &access)?;
        // Before the first read: then its log has no shared memory (`exclusive_source.rs`).
        guard.text("PRAGMA main.locking_mode = EXCLUSIVE")?;
        guard.batch("BEGIN EXCLUSIVE")?;
        Ok(guard)
    }

    /// Takes the name from the old log, which is empty: a connection that still has it open must not write to it.
    fn put_log_away(&self) -> Result<(), EngineError> {
        let log = beside(&self.path, "-wal");
        self.storage.remove(&log).map_err(io_error("remove", &log))
    }

    /// Makes the index invalid, empties the log, and renames the copy. All locks are held. Returns whether it did.
    fn replace(&self, writer: &Database, copying: &mut Copying<'_>) -> Result<bool, EngineError> {
        if file_at(self.storage, &self.path)? != self.attributes.identity {
            return Err(self.busy("it was replaced by another file"));
        }
        with_hand_over(writer, |hand_over| {
            hand_over.invalidate_index();
            Ok(())
        })?;
        let log = beside(&self.path, "-wal");
        // Cutting a long log takes longer than overwriting its header, without which it is empty, too.
        let emptied = self.storage.open_to_write(&log).and_then(|file| {
            file.write_at(&[0; HEADER_SIZE], 0)?;
            file.sync()
        });
        emptied.map_err(io_error("empty", &log))?;
        let announced = with_hand_over(writer, |hand_over| hand_over.announce());
        let renamed = announced.and_then(|()| copying.draft.replace(&self.path));
        if renamed.is_err() {
            let _ = with_hand_over(writer, |hand_over| hand_over.withdraw());
        }
        renamed.map(|()| true)
    }
}

/// Takes the write lock of the log. Returns whether it did in time.
fn begin(hand_over: &mut HandOver<'_>) -> Result<bool, VfsError> {
    let until = Instant::now() + WRITE_LOCK_WAIT;
    while !hand_over.try_begin()? {
        if Instant::now() > until {
            return Ok(false);
        }
        std::thread::sleep(LOOK_AGAIN);
    }
    Ok(true)
}

/// Waits until no other connection is in a transaction; those that begin one wait. Returns whether it is so in time.
fn drain(hand_over: &mut HandOver<'_>, until: Instant) -> Result<bool, VfsError> {
    hand_over.close_doors();
    while !hand_over.try_take_index()? {
        if Instant::now() > until {
            hand_over.open_doors(false);
            return Ok(false);
        }
        std::thread::sleep(LOOK_AGAIN);
    }
    hand_over.release_index()?;
    Ok(true)
}

/// Takes all locks. Returns whether it did: the log has to be copied to the file.
fn take_all(hand_over: &mut HandOver<'_>) -> Result<bool, VfsError> {
    if !hand_over.try_take_index()? {
        return Ok(false);
    }
    Ok(hand_over.keep_out() && hand_over.is_log_copied())
}

/// Runs `work` on the file of a connection.
fn with_hand_over<R: Send + 'static>(
    writer: &Database,
    work: impl FnOnce(&mut HandOver<'_>) -> Result<R, VfsError> + Send + 'static,
) -> Result<R, EngineError> {
    let outcome = Arc::new(Mutex::new(None));
    let shared = outcome.clone();
    let token = hand_over::stage(Box::new(move |hand_over| {
        let done = work(hand_over);
        *shared.lock().unwrap_or_else(PoisonError::into_inner) = Some(done);
    }));
    let called = writer.text(&format!("SELECT selenite_hand_over({token})"));
    hand_over::withdraw(token);
    let outcome = outcome.lock().unwrap_or_else(PoisonError::into_inner).take();
    match outcome {
        Some(done) => done.map_err(|error| EngineError::of_vfs(&error, writer.path())),
        None => {
            called?;
            Err(EngineError::usage("nothing was handed over", "report this"))
        }
    }
}

/// How long to wait for the write lock.
const WRITE_LOCK_WAIT: Duration = Duration::from_secs(2);
/// Between two looks at the locks of others.
const LOOK_AGAIN: Duration = Duration::from_micros(200);
