//! Re-encrypts every page, under a new data key or in another suite, while no other connection
//! uses the database: a parallel copy that replaces the database.
//!
//! - locked-and-log-empty: the database is locked as for [`crate::EncryptedFile::encrypt`] in
//!   place, and its log is empty, so the file has all of its content. It is read beside SQLite
//!   with a descriptor that is opened after SQLite's and closed after it, since closing one
//!   releases the process's locks (fcntl(2)).
//! - same-database-new-epoch: the copy has the same database id, master key and slots, one new
//!   epoch, a new log key, and a higher generation. Keyring pins, and the identities that opened
//!   the database, remain valid ([`selenite_keyring::sole_epoch`]).
//! - opened-before-rename: every page of the copy is decrypted again from the file, with the new
//!   key alone, before the copy is renamed; the old file is then retired.
//! - draft-survives-a-kill: a kill leaves the database unchanged, and a draft beside it. The next
//!   run continues with that draft: a run of pages counts as done if source and draft still have
//!   exactly the trailers that were recorded after the draft was synced (`done_runs`). So if the
//!   database was written to in between, the changed runs are copied again.

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
use crate::{Access, EngineError, Watch, conversion, platform, sealed_draft, sqlite};

use copier::Copier;
use new_file::{NewFile, remove_others};
use syncer::Syncer;

/// The parameters of an offline re-encryption.
#[derive(Clone, Copy, Debug)]
pub struct Offline {
    /// The suite to seal pages in: `NONE` for unencrypted pages in the same layout. `None`: the
    /// present suite.
    pub suite: Option<Suite>,
    /// The copy is synced and recorded as done after this many bytes, which bounds the work lost
    /// in a kill.
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

/// The result of an offline re-encryption.
#[derive(Clone, Debug)]
pub struct Resealed {
    /// The database.
    pub path: PathBuf,
    /// The suite that its pages are sealed in now.
    pub suite: Suite,
    /// The only epoch.
    pub epoch: u32,
    /// How many pages it has.
    pub page_count: u32,
    /// The file's size in bytes.
    pub size: u64,
    /// How many bytes of pages were already done by an earlier run that was interrupted.
    pub taken_over: u64,
    /// How long it took.
    pub elapsed: Duration,
    /// Files that an earlier run left behind and that were removed now.
    pub removed: Vec<PathBuf>,
    /// Why connections that have the old file open will not notice that it was replaced; `None` if
    /// they will.
    pub not_retired: Option<String>,
    /// Attributes of the old file, besides owner and mode, that could not be set on the new one: its
    /// access list, and extended attributes by name.
    pub not_kept: Vec<String>,
}

/// Re-encrypts every page into a copy, which replaces the database. No other connection can use it
/// meanwhile.
///
/// # Errors
/// [`EngineError::UnderWay`] if another process re-encrypts its pages; [`EngineError::Busy`] if it
/// is otherwise in use; [`EngineError::NotEncrypted`]; [`EngineError::Key`];
/// [`EngineError::Refused`] with the pages that are not authentic; [`EngineError::CopyDiffers`] if
/// the disk did not keep the copy; [`EngineError::Io`]. The database is then unchanged and nothing
/// is left beside it; but after [`EngineError::Interrupted`] the draft remains, for the next run.
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
    // Before waiting for the lock, which a process that re-encrypts pages takes again and again.
    let operation = Operation::begin_offline(storage, &path)?;
    // A database in suite NONE is accepted, as this may encrypt it; so is one that will be in
    // NONE.
    let access = access.allowing_plain();
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
    let with_needed_room = |error: EngineError| error.with_room(room, || conversion::SAME_AGAIN.to_owned());
    let new = NewFile::prepare(storage, &path, &unlocked, suite).map_err(with_needed_room)?;
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
            return Err(with_needed_room(error));
        }
    };
    // The draft is complete: nothing is left to continue, and no later run would remove this file.
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

/// What a copy needs.
struct OfflineCopy<'a> {
    storage: &'a dyn Storage,
    path: &'a Path,
    /// The database file, opened beside SQLite (locked-and-log-empty).
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
    /// Copies, verifies and syncs. Returns how many bytes an earlier run had done, and the
    /// attributes that could not be kept.
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
            // Verification reads from the page cache while the rest is written to the disk.
            syncer.end();
            let verified = copied.and_then(|taken_over| {
                // opened-before-rename.
                sealed_draft::check(self.storage, new.draft.path(), &self.new, self.watch).map(|()| taken_over)
            });
            (verified, syncing.join())
        });
        let taken_over = copied?;
        synced.map_err(|_| thread_panicked())??;
        drop(target);
        self.watch.check()?;
        let not_kept = platform::carry_over(self.path, new.draft.path());
        new.draft.finish(attributes)?;
        Ok((taken_over, not_kept))
    }
}

/// The suite to seal pages in.
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

fn thread_panicked() -> EngineError {
    EngineError::CopyDiffers {
        what: "a thread ended with a bug in selenite: report this".to_owned(),
    }
}
