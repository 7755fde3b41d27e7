//! A restore that is not needed yet: so that it is known to work, and how long it takes.
//!
//! - scratch-is-removed: what is restored is sealed, in a folder for its owner only, and is removed
//!   whatever comes of it.
//! - whole-restore-is-checked: it proves what a restore needs: the destination, every object that
//!   is read, the identity, and that what comes out is a sound database, with the rows that it had
//!   where the backup says what they were.

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
    /// Of which database, where the destination has backups of several.
    pub database_id: Option<DatabaseId>,
    /// Which backup.
    pub which: Which,
    /// Whether one that lacks pages is rehearsed, too: they are zeros then.
    pub allow_missing: bool,
    /// Where there is room for the database; the system's place for temporary files is taken where none is named.
    pub place: Option<PathBuf>,
}

/// What came of it.
#[derive(Debug)]
pub struct Drilled {
    /// What was restored, and is gone by now.
    pub restored: Restored,
    /// Whether every page that was written is what is read.
    pub physical: PhysicalReport,
    /// What SQLite's integrity check found; not asked where a page is bad.
    pub faults: Option<Vec<String>>,
    /// Whether the rows are those that the backup says, where it says so and they could be asked for.
    pub rows: Rows,
    /// How long each step took.
    pub took: Took,
    /// Whether the identity opens the backup by a recipient's file, not by a slot: a restore makes
    /// another database of it.
    pub by_recipient: bool,
    /// What a drill that was killed had left, and is removed.
    pub removed: Vec<PathBuf>,
}

/// Whether rows are those that a backup says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rows {
    /// They are.
    Same,
    /// They are not.
    Differ,
    /// The backup has no digest of them, or what was restored is no sound database.
    Unknown,
}

/// How long each step took.
#[derive(Clone, Copy, Debug, Default)]
pub struct Took {
    /// Fetching, opening, sealing again, reading again.
    pub restore: Duration,
    /// Opening every page.
    pub pages: Duration,
    /// SQLite's check.
    pub integrity: Duration,
    /// Reading every row.
    pub rows: Duration,
}

impl Drilled {
    /// Whether all that was looked at is as it should be.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.physical.is_good() && self.faults.as_ref().is_some_and(Vec::is_empty) && self.rows != Rows::Differ
    }
}

/// Restores a backup to a scratch folder, looks at it, and removes it.
///
/// # Errors
/// As [`restore`]; [`EngineError::Io`] where there is no folder to be had, or what was restored can't be removed.
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
    // An error of the drill says more than one of what is left of it.
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
    let mut took = Took::default();
    let (restored, by_recipient) = timed(&mut took.restore, || bring(destination, access, what, path, watch))?;
    let physical = timed(&mut took.pages, || physical(&Disk, path, access, watch))?;
    let faults = if physical.is_good() {
        match timed(&mut took.integrity, || integrity(&Disk, path, access, watch)) {
            // What SQLite can't even read is the backup's fault; the file that it names will be gone.
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
        let found = timed(&mut took.rows, || {
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
        took,
        by_recipient,
        removed,
    })
}

/// Restores it, for who can open the database; for the holder of the identity in force, where that
/// opens the backup alone.
fn bring(
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
