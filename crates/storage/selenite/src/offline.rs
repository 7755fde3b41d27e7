//! Every page re-encrypted, under a new data key or in another suite, while no other connection uses the
//! database: a parallel copy that takes its place.
//!
//! - locked-and-log-empty: the database is locked as for [`crate::EncryptedFile::encrypt`] in place, and its log
//!   is empty: what the file holds is all there is. It is read beside SQLite by a descriptor that
//!   is opened after SQLite's, and closed after it: closing one gives up the process's locks
//!   (fcntl(2)).
//! - same-database-new-epoch: the copy has the same database id, master key and slots, one new
//!   epoch, a new log key, and a higher generation: keyring pins, and the identities that opened it, go on
//!   ([`selenite_keyring::sole_epoch`]).
//! - opened-before-rename: every page of the copy is opened again from the file, under the new key
//!   alone, before it gets the name; the old file is then retired.
//! - draft-survives-a-kill: a kill leaves the database as it was, and a draft beside it. The next
//!   run takes over what is done: a run of pages counts as done if source and draft still have the
//!   very trailers that were noted once the draft was synced (`done_runs`). So a database that
//!   was written to in between is copied again where it was changed.

mod copier;
mod done_runs;
mod new_file;
mod syncer;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use selenite_cipher::Suite;
use selenite_format::{Geometry, State};
use selenite_keyring::Unlocked;
use selenite_vfs::view::View;

use crate::error::io_error;
use crate::exclusive_source::ExclusiveSource;
use crate::reencrypt::Operation;
use crate::storage::{Attributes, ReadAt, Storage};
use crate::superblock_file::inspect;
use crate::{Access, EngineError, Watch, conversion, extended, sealed_draft, sqlite};

use copier::Copier;
use new_file::{NewFile, remove_others};
use syncer::Syncer;

/// How to go about it.
#[derive(Clone, Copy, Debug)]
pub struct Offline {
    /// What pages are to be sealed in: `NONE` for clear pages in the same layout. If none is named, what they are in.
    pub suite: Option<Suite>,
    /// After how many bytes the copy is synced, and noted as done: a kill costs no more work than that.
    pub noted_every: u64,
}

impl Default for Offline {
    fn default() -> Self {
        Self {
            suite: None,
            noted_every: 64 << 20,
        }
    }
}

/// What it came to.
#[derive(Clone, Debug)]
pub struct Resealed {
    /// The database.
    pub path: PathBuf,
    /// What its pages are sealed in now.
    pub suite: Suite,
    /// The only epoch.
    pub epoch: u32,
    /// How many pages it has.
    pub page_count: u32,
    /// The file's size in bytes.
    pub size: u64,
    /// How many bytes of pages an earlier run had done, which was cut off.
    pub taken_over: u64,
    /// How long it took.
    pub elapsed: Duration,
    /// What an earlier run left behind, and is now removed.
    pub removed: Vec<PathBuf>,
    /// Why who had the old file open will not be told that it was replaced; mostly they will.
    pub not_retired: Option<String>,
    /// What the old file had besides owner and mode, and the new one could not be given: its access
    /// list, and attributes by name.
    pub not_kept: Vec<String>,
}

/// Re-encrypts every page, in the database's place. No other connection can use it meanwhile.
///
/// # Errors
/// [`EngineError::UnderWay`] if another process re-encrypts its pages; [`EngineError::Busy`] if it is in use otherwise;
/// [`EngineError::NotEncrypted`]; [`EngineError::Key`]; [`EngineError::Refused`]
/// names pages that are not authentic; [`EngineError::CopyDiffers`] if the disk did not keep the copy;
/// [`EngineError::Io`]. The database is then as it was, and nothing is left beside it; but after
/// [`EngineError::Interrupted`] what was copied is still there, for the next run.
pub fn offline(
    storage: &dyn Storage,
    path: &Path,
    access: &Access,
    how: &Offline,
    watch: &Watch,
) -> Result<Resealed, EngineError> {
    let started = Instant::now();
    sqlite::install()?;
    access.check()?;
    let path = conversion::real_path(storage, path)?;
    inspect(storage, &path)?.sealed(&path)?;
    access.require()?;
    let attributes = storage.attributes(&path).map_err(io_error("read", &path))?;
    conversion::check_sole_name(&path, &attributes)?;
    // Before the lock is waited for, which who re-encrypts pages has again and again.
    let operation = Operation::begin_offline(storage, &path)?;
    // A database in suite NONE is admitted to be encrypted, and one that is to be in NONE.
    let access = access.passing();
    // locked-and-log-empty: dropped after the connection.
    let pages;
    let mut source = ExclusiveSource::lock(storage, &path, &access)?;
    pages = storage.open(&path).map_err(io_error("read", &path))?;
    source.empty_log()?;
    let unlocked = source.database().unlocked()?;
    let suite = suite_of(&unlocked, how.suite, &access)?;
    let from = unlocked
        .superblock
        .epochs
        .first()
        .map_or("", |epoch| epoch.suite.name());
    operation.describe(&format!("{from} to {suite}, offline"));
    let page_count = u32::try_from(source.database().number("PRAGMA main.page_count")?).unwrap_or(u32::MAX);
    let removed = remove_others(storage, &path)?;
    let room = Geometry::new(unlocked.superblock.page_size).size_for(page_count);
    let tell_room = |error: EngineError| error.with_room(room, || conversion::SAME_AGAIN.to_owned());
    let new = NewFile::prepare(storage, &path, &unlocked, suite).map_err(tell_room)?;
    let work = OfflineCopy {
        storage,
        path: &path,
        pages: pages.as_ref(),
        page_count,
        old: view(&path, unlocked, &access)?,
        new: view(&path, new.unlocked.duplicate(), &access)?,
        how,
        operation: &operation,
        watch,
    };
    let copied = work.copy(&new, &attributes);
    let (taken_over, not_kept) = match copied {
        Ok(copied) => copied,
        Err(EngineError::Interrupted) => {
            new.draft.keep();
            return Err(EngineError::Interrupted);
        }
        Err(error) => {
            new.forget_done(storage);
            return Err(tell_room(error));
        }
    };
    // Nothing is left to be taken over, and no one would remove it later.
    new.forget_done(storage);
    let epoch = new.unlocked.superblock.sealing_epoch.0;
    let not_retired = source.hand_over(storage, new.draft)?;
    Ok(Resealed {
        suite,
        epoch,
        page_count,
        size: Geometry::new(work.new.geometry.page_size()).size_for(page_count),
        taken_over,
        elapsed: started.elapsed(),
        removed,
        not_retired: not_retired.map(|error| error.to_string()),
        not_kept,
        path,
    })
}

/// What a copy is made of.
struct OfflineCopy<'a> {
    storage: &'a dyn Storage,
    path: &'a Path,
    /// The database, beside SQLite (locked-and-log-empty).
    pages: &'a dyn ReadAt,
    /// How many pages SQLite counts. The file may be longer (FORMAT 2.4).
    page_count: u32,
    old: View,
    new: View,
    how: &'a Offline,
    operation: &'a Operation,
    watch: &'a Watch,
}

impl OfflineCopy<'_> {
    /// Copies, verifies and syncs; answers how many bytes an earlier run had done, and what could not be kept.
    fn copy(&self, new: &NewFile<'_>, attributes: &Attributes) -> Result<(u64, Vec<String>), EngineError> {
        let target = new.open_to_write(self.storage)?;
        let size = self.new.geometry.size_for(self.page_count);
        target.set_size(size).map_err(io_error("write", new.draft.path()))?;
        let notes = new.open_done(self.storage)?;
        let earlier = done_runs::read(notes.as_ref()).map_err(io_error("read", &new.done_path))?;
        let syncer = Syncer::new(
            (target.as_ref(), new.draft.path()),
            (notes.as_ref(), &new.done_path),
            self.how.noted_every,
        )?;
        let copier = Copier::new(self, (target.as_ref(), new.draft.path()), &earlier, &syncer);
        let (copied, synced) = std::thread::scope(|scope| {
            let syncing = scope.spawn(|| syncer.work());
            let copied = copier.run();
            // What is verified is read from the system's memory while the rest of it goes to the disk.
            syncer.end();
            let verified = copied.and_then(|taken_over| {
                // opened-before-rename.
                sealed_draft::check(self.storage, new.draft.path(), &self.new, self.watch).map(|()| taken_over)
            });
            (verified, syncing.join())
        });
        let taken_over = copied?;
        synced.map_err(|_| bug())??;
        drop(target);
        self.watch.check()?;
        let not_kept = extended::carry_over(self.path, new.draft.path());
        new.draft.finish(attributes)?;
        Ok((taken_over, not_kept))
    }
}

/// The suite that is meant.
fn suite_of(unlocked: &Unlocked, wanted: Option<Suite>, access: &Access) -> Result<Suite, EngineError> {
    let superblock = &unlocked.superblock;
    let sealing = superblock.sealing();
    let present = sealing.map_or(Suite::None, |epoch| epoch.suite);
    let suite = wanted.unwrap_or(present);
    if suite == Suite::None && present == Suite::None && superblock.state == State::Steady {
        return Err(EngineError::usage(
            "its pages are already unencrypted",
            "choose a suite",
        ));
    }
    if suite.is_deprecated() && !access.allow_deprecated {
        return Err(EngineError::usage(
            format!("{suite} is deprecated"),
            "choose another suite, or add --allow-deprecated",
        ));
    }
    Ok(suite)
}

fn view(path: &Path, unlocked: Unlocked, access: &Access) -> Result<View, EngineError> {
    View::new(unlocked, true, access.allow_deprecated).map_err(|error| EngineError::of_vfs(&error, path))
}

fn bug() -> EngineError {
    EngineError::CopyDiffers {
        what: "a thread ended with a bug in selenite: report this".to_owned(),
    }
}
