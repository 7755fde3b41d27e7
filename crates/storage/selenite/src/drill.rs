//! A rehearsal of a restore, which shows that it works and how long it takes.
//!
//! - scratch-is-removed: the restored database is encrypted, in a folder accessible to its owner
//!   only, and is removed whatever the result.
//! - whole-restore-is-checked: it checks what a restore needs: the destination, every object that
//!   is read, the identity, and that the result is a sound database, with its original rows if the
//!   backup has their digest.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use selenite_backup::Destination;
use selenite_cipher::DatabaseId;

use crate::restore::{Restore, Restored, Which, restore};
use crate::scratch::Scratch;
use crate::storage::Disk;
use crate::verify::{PhysicalReport, integrity, physical};
use crate::{Access, Class, Database, EngineError, Watch, row_digest};

/// What to rehearse.
#[derive(Clone, Debug)]
pub struct Drill {
    /// The database, if the destination has backups of several.
    pub database_id: Option<DatabaseId>,
    /// Which backup.
    pub which: Which,
    /// Whether a backup that lacks pages is rehearsed, too: they are zeros then.
    pub allow_missing: bool,
    /// A folder with room for the database; `None` is the system's folder for temporary files.
    pub place: Option<PathBuf>,
}

/// The result of a drill.
#[derive(Debug)]
pub struct Drilled {
    /// What was restored, and is removed by now.
    pub restored: Restored,
    /// Whether every page is read as it was written.
    pub physical: PhysicalReport,
    /// What SQLite's integrity check found; `None` if a page is bad, and the check did not run.
    pub faults: Option<Vec<String>>,
    /// Whether the rows are those of the backup, if it has a digest of them and they could be read.
    pub rows: Rows,
    /// How long each step took.
    pub times: StepTimes,
    /// Whether the identity opens the backup by a recipient's file, not by a slot: a restore makes
    /// another database of it.
    pub by_recipient: bool,
    /// What a killed drill had left, and this one removed.
    pub removed: Vec<PathBuf>,
}

/// Whether rows match the digest in a backup.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rows {
    /// They match.
    Same,
    /// They do not match.
    Differ,
    /// The backup has no digest of them, or the restored database is not sound.
    Unknown,
}

/// How long each step took.
#[derive(Clone, Copy, Debug, Default)]
pub struct StepTimes {
    /// Fetching, opening, re-encrypting, and reading again.
    pub restore: Duration,
    /// Opening every page.
    pub pages: Duration,
    /// SQLite's check.
    pub integrity: Duration,
    /// Reading every row.
    pub rows: Duration,
}

impl Drilled {
    /// Whether all that was checked is good.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.physical.is_good() && self.faults.as_ref().is_some_and(Vec::is_empty) && self.rows != Rows::Differ
    }
}

/// Restores a backup to a scratch folder, checks it, and removes it.
///
/// # Errors
/// As [`restore`]; [`EngineError::Io`] if no folder can be created, or what was restored cannot be
/// removed.
pub fn drill(
    destination: &dyn Destination,
    access: &Access,
    what: &Drill,
    watch: &Watch,
) -> Result<Drilled, EngineError> {
    let place = what.place.clone().unwrap_or_else(std::env::temp_dir);
    let (scratch, removed) = Scratch::create(&place)?;
    let path = scratch.path().join("restored.db");
    let drilled = run(destination, access, what, (&path, removed), watch);
    // An error of the drill is more informative than one of its removal.
    let gone = scratch.remove();
    let drilled = drilled?;
    gone?;
    Ok(drilled)
}

fn run(
    destination: &dyn Destination,
    access: &Access,
    what: &Drill,
    (path, removed): (&Path, Vec<PathBuf>),
    watch: &Watch,
) -> Result<Drilled, EngineError> {
    let mut times = StepTimes::default();
    let (restored, by_recipient) = timed(&mut times.restore, || {
        restore_to_scratch(destination, access, what, path, watch)
    })?;
    let physical = timed(&mut times.pages, || physical(&Disk, path, access, watch))?;
    let faults = if physical.is_good() {
        match timed(&mut times.integrity, || integrity(&Disk, path, access, watch)) {
            // Data that SQLite cannot read is a fault of the backup; the file in the message will
            // be removed.
            Err(EngineError::Sqlite {
                class: Class::Data,
                what,
                ..
            }) => {
                let named = format!("{}: ", path.display());
                Some(vec![what.strip_prefix(&named).unwrap_or(&what).to_owned()])
            }
            faults => Some(faults?),
        }
    } else {
        None
    };
    let mut rows = Rows::Unknown;
    if let (Some(wanted), Some([])) = (restored.digest, faults.as_deref()) {
        let found = timed(&mut times.rows, || {
            let mut database = Database::open(&Disk, path, access)?;
            row_digest(&mut database, watch, restored.size)
        });
        rows = if found? == wanted { Rows::Same } else { Rows::Differ };
    }
    Ok(Drilled {
        restored,
        physical,
        faults,
        rows,
        times,
        by_recipient,
        removed,
    })
}

/// Restores the backup for those who can open the database, or for the identity in force if that
/// opens only the backup.
fn restore_to_scratch(
    destination: &dyn Destination,
    access: &Access,
    what: &Drill,
    path: &Path,
    watch: &Watch,
) -> Result<(Restored, bool), EngineError> {
    let mut how = Restore {
        database_id: what.database_id,
        which: what.which.clone(),
        allow_missing: what.allow_missing,
        ..Restore::new(path)
    };
    match restore(&Disk, destination, access, &how, watch) {
        Err(EngineError::Usage { what, next }) => {
            let config = Access::config()?;
            how.recipients = access.spec(&config).iter().map(ToString::to_string).collect();
            match restore(&Disk, destination, access, &how, watch) {
                Err(EngineError::Usage { .. }) => Err(EngineError::Usage { what, next }),
                restored => Ok((restored?, true)),
            }
        }
        restored => Ok((restored?, false)),
    }
}

fn timed<R>(took: &mut Duration, step: impl FnOnce() -> Result<R, EngineError>) -> Result<R, EngineError> {
    let started = Instant::now();
    let done = step();
    *took = started.elapsed();
    done
}
