//! Backs a database up while others use it.
//!
//! U1. A backup is of one read transaction: what was committed before it, with what is in the log, and nothing else. Readers and
//!     writers go on; in rollback mode a writer waits with its commit.
//! U2. Every page that is sent was opened: a bad one ends the backup, or is left out and named.
//! U3. What has no manifest is no backup (`selenite_backup`, K1).

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub use selenite_backup::CompressionLevel;
use selenite_backup::{ArchiveName, ArchiveWriter, BackupError, Copied, Copy, Destination, Onlooker, Traffic};
use selenite_cipher::{ArchiveKey, DatabaseId, Secret};
use selenite_format::archive::Facts;
use selenite_keyring::{AgeRecipient, archive_recipient};
use selenite_vfs::snapshot::Snapshot;

use crate::keys::now;
use crate::storage::Storage;
use crate::watch::Phase;
use crate::{Access, Database, EngineError, Watch};

/// How a database is backed up.
#[derive(Default)]
pub struct Backup {
    /// How hard to compress.
    pub level: CompressionLevel,
    /// Who may open the backup without the database's identities.
    pub recipients: Vec<AgeRecipient>,
    /// Whether a page that is not authentic is left out, and named; or ends it.
    pub skip_bad: bool,
    /// Whether pages that are not sent, since they have not changed, are opened all the same.
    pub verify: bool,
}

/// What was backed up.
#[derive(Clone, Debug)]
pub struct Report {
    /// The backup.
    pub name: ArchiveName,
    /// The backup that it is based on; nothing for a full one.
    pub base: Option<ArchiveName>,
    /// How many pages the database had.
    pub page_count: u32,
    /// The size of a page in bytes.
    pub page_size: u32,
    /// How many pages were sent.
    pub sent_count: u64,
    /// How many are in the backups that it is based on.
    pub same_count: u64,
    /// Pages that did not open, and are missing.
    pub missing: Vec<u32>,
    /// What went over the line.
    pub traffic: Traffic,
    /// How long the read transaction was held.
    pub elapsed: Duration,
}

/// Backs up the database at `path`.
///
/// # Errors
/// [`EngineError::Backup`]; what opening says.
pub fn backup(
    storage: &dyn Storage,
    path: &Path,
    access: &Access,
    how: Backup,
    destination: &Arc<dyn Destination>,
    watch: &Watch,
) -> Result<Report, EngineError> {
    let database = Database::open(storage, path, access)?;
    let started = Instant::now();
    let (destination, watch) = (destination.clone(), watch.clone());
    let (mut report, _) = database.read(move |snapshot| copy(snapshot, &how, destination.as_ref(), &watch))?;
    report.elapsed = started.elapsed();
    database.end_read()?;
    Ok(report)
}

/// What is needed to add to an archive.
pub(crate) struct Kept {
    /// Its key.
    pub key: ArchiveKey,
    /// The database.
    pub database_id: DatabaseId,
    /// The SHA-256 of its manifest.
    pub manifest: [u8; 32],
}

/// Backs up what a transaction sees.
pub(crate) fn copy(
    snapshot: &mut Snapshot<'_>,
    how: &Backup,
    destination: &dyn Destination,
    watch: &Watch,
) -> Result<(Report, Kept), EngineError> {
    let made = now();
    let path = Path::new("");
    let unlocked = snapshot.unlocked().map_err(|error| EngineError::of_vfs(&error, path))?;
    let wrap = |key: &Secret<32>| wrap(&how.recipients, key);
    let mut archive = ArchiveWriter::begin(destination, &unlocked, made, wrap)?;
    let copy = Copy {
        level: how.level,
        present: None,
        verify: how.verify,
        skip_bad: how.skip_bad,
        onlooker: &Looking(watch),
    };
    let Copied {
        sent,
        same,
        change_counter,
        missing,
    } = copy.run(snapshot, &mut archive)?;
    let manifest = archive.finish(Facts {
        begun: archive.begun(),
        base: None,
        page_size: snapshot.page_size(),
        page_count: snapshot.page_count(),
        change_counter,
        generation: unlocked.superblock.generation,
        made,
        log: snapshot.position(),
        digest: None,
        parts: Vec::new(),
        indexes: Vec::new(),
        missing: missing.clone(),
    })?;
    let key = archive.key();
    let kept = Kept {
        key: ArchiveKey::new(key.secret().duplicate(), key.archive_id()),
        database_id: unlocked.superblock.database_id,
        manifest,
    };
    let report = Report {
        name: archive.name().clone(),
        base: None,
        page_count: snapshot.page_count(),
        page_size: snapshot.page_size().as_u32(),
        sent_count: sent,
        same_count: same,
        missing,
        traffic: destination.traffic(),
        elapsed: Duration::ZERO,
    };
    Ok((report, kept))
}

/// Who may open a backup besides.
///
/// # Errors
/// [`EngineError::Key`] for what is no age recipient.
pub fn recipients(given: &[String]) -> Result<Vec<AgeRecipient>, EngineError> {
    let parsed = given.iter().map(|text| text.parse::<AgeRecipient>());
    Ok(parsed.collect::<Result<_, _>>()?)
}

/// The archive's key for each of them.
fn wrap(recipients: &[AgeRecipient], key: &Secret<32>) -> Result<Vec<Vec<u8>>, BackupError> {
    let wrapped = recipients.iter().map(|to| archive_recipient::wrap(to, key));
    wrapped.collect::<Result<_, _>>().map_err(|error| BackupError::Machine {
        what: error.to_string(),
    })
}

/// One who looks on at the operation looks on at the copy.
struct Looking<'a>(&'a Watch);

impl Onlooker for Looking<'_> {
    fn progress(&self, done: u64, total: u64) {
        self.0.report(Phase::BackingUp, done, total);
    }

    fn is_interrupted(&self) -> bool {
        self.0.is_interrupted()
    }
}

/// Milliseconds since 1970-01-01 UTC.
pub(crate) fn machine_time() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
