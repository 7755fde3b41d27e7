//! Backs up a database while other connections use it.
//!
//! - one-read-transaction: a backup reads in one read transaction: it contains what was committed
//!   before, including the log, and nothing else. Readers and writers continue; in rollback mode a
//!   writer's commit waits.
//! - open-before-send: every page that is sent was opened. A bad page ends the backup, or is left
//!   out and reported.
//! - manifest-makes-a-backup: an archive without a manifest is no backup (`selenite_backup`).

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub use selenite_backup::CompressionLevel;
use selenite_backup::{
    ArchiveName, ArchiveWriter, BackupError, Base, Copied, Copy, Destination, Marks, ProgressObserver, StoreErrorKind,
    Traffic,
};
use selenite_cipher::{ArchiveKey, DatabaseId};
use selenite_format::Slot;
use selenite_format::archive::Facts;
use selenite_keyring::{AgeRecipient, Unlocked};
use selenite_vfs::snapshot::Snapshot;

use crate::keys::now;
use crate::row_digest::row_digest;
use crate::storage::Storage;
use crate::watch::Phase;
use crate::{Access, Database, EngineError, Watch};

/// How a database is backed up.
#[derive(Default)]
pub struct Backup {
    /// The compression level.
    pub level: CompressionLevel,
    /// Recipients that can open the backup without the database's identities.
    pub recipients: Vec<AgeRecipient>,
    /// Whether it is based on the newest existing backup, and contains only what changed since.
    pub incremental: bool,
    /// Whether to resume an unfinished backup at once: no other process backs up this database there.
    pub resume: bool,
    /// Whether a page that is not authentic is left out and reported, instead of ending the backup.
    pub skip_bad: bool,
    /// Whether it contains the digest of all rows. The whole database is read once more; a restore
    /// compares the digest.
    pub digest: bool,
    /// Whether pages that are not sent, because they have not changed, are opened nevertheless.
    pub verify: bool,
    /// Whether to use less memory at the cost of time: about 50 MiB at most, on one core.
    pub frugal: bool,
}

/// The result of a backup.
#[derive(Clone, Debug)]
pub struct Report {
    /// The name of the backup.
    pub name: ArchiveName,
    /// The backup that it is based on; `None` for a full one.
    pub base: Option<ArchiveName>,
    /// Whether it resumed the backup of an interrupted run.
    pub resumed: bool,
    /// The number of pages of the database.
    pub page_count: u32,
    /// The size of a page in bytes.
    pub page_size: u32,
    /// The number of pages that were sent.
    pub sent_count: u64,
    /// The number of pages that were there already: in the backups that it is based on, or sent by
    /// an interrupted run.
    pub same_count: u64,
    /// Pages that did not open and are missing.
    pub missing: Vec<u32>,
    /// The digest of all rows, if it was computed.
    pub digest: Option<[u8; 32]>,
    /// The traffic with the destination.
    pub traffic: Traffic,
    /// How long the read transaction was held.
    pub elapsed: Duration,
}

/// Backs up the database at `path`.
///
/// # Errors
/// [`EngineError::Backup`]; [`EngineError::BadBase`]; the errors of opening.
pub fn backup(
    storage: &dyn Storage,
    path: &Path,
    access: &Access,
    how: Backup,
    destination: &Arc<dyn Destination>,
    watch: &Watch,
) -> Result<Report, EngineError> {
    let mut database = Database::open(storage, path, access)?;
    let refused = |error| EngineError::of_vfs(&error, Path::new(""));
    let unlocked = database.read(move |snapshot| snapshot.unlocked().map_err(refused))?;
    database.end_read()?;
    // Work that waits for the network is done before the read transaction, which can delay other
    // connections.
    let base = if how.incremental {
        let base = base((&unlocked, &how.recipients), destination.as_ref());
        let base = base.map_err(|error| bad_base(error, path, destination.as_ref()))?;
        Some(base.ok_or_else(|| {
            EngineError::usage(
                format!(
                    "{} has no backup of this database under its current master key and for the same recipients, to serve as base",
                    destination.place()
                ),
                "make a full backup first, without --incremental",
            )
        })?)
    } else {
        None
    };
    let plan = Plan::make(Arc::new(how), (&unlocked, base), destination, Beginning::Unfinished)?;
    let started = Instant::now();
    database.begin_read()?;
    let made = now();
    let digest = if plan.how.digest {
        let total = database
            .number("PRAGMA page_count")?
            .saturating_mul(database.number("PRAGMA page_size")?);
        Some(row_digest(&mut database, watch, total)?)
    } else {
        None
    };
    let watch = watch.clone();
    let (copied, _) = database.read(move |snapshot| plan.carry_out(snapshot, (made, digest), &watch))?;
    let elapsed = started.elapsed();
    database.end_read()?;
    Ok(Report {
        traffic: destination.traffic(),
        elapsed,
        ..copied
    })
}

/// The work to be done in the read transaction.
pub(crate) struct Plan {
    how: Arc<Backup>,
    archive: ArchiveWriter,
    base: Option<Base>,
    /// The pages that an interrupted run has sent.
    sent: Option<Marks>,
    /// The slots that open the archive: what their holders may not read is not sent.
    slots: Vec<Slot>,
    commitment: [u8; 32],
}

/// Which archive a backup writes to.
#[derive(Clone, Copy)]
pub(crate) enum Beginning<'a> {
    /// An unfinished one that no process is writing, if there is one.
    Unfinished,
    /// This one, which was interrupted, if it is suitable.
    Own(&'a ArchiveName),
    /// A new one.
    Newest,
}

impl Plan {
    pub(crate) fn make(
        how: Arc<Backup>,
        (unlocked, base): (&Unlocked, Option<Base>),
        destination: &Arc<dyn Destination>,
        beginning: Beginning<'_>,
    ) -> Result<Self, EngineError> {
        let recipients = &how.recipients;
        let own = match beginning {
            Beginning::Own(own) => selenite_backup::resume_own(destination, unlocked, recipients, own)?,
            Beginning::Unfinished | Beginning::Newest => None,
        };
        let (archive, sent) = match (own, beginning) {
            (Some((archive, sent)), _) => (archive, Some(sent)),
            (None, Beginning::Unfinished) => {
                selenite_backup::resume_or_begin(destination, unlocked, recipients, (now(), how.resume))?
            }
            (None, Beginning::Own(_) | Beginning::Newest) => {
                let archive = selenite_backup::begin_newest(destination, unlocked, recipients, now())?;
                (archive, None)
            }
        };
        Ok(Self {
            how,
            archive,
            base,
            sent,
            slots: unlocked.superblock.slots.clone(),
            commitment: unlocked.master.commitment(),
        })
    }

    /// The archive's name.
    pub(crate) fn name(&self) -> &ArchiveName {
        self.archive.name()
    }

    pub(crate) fn carry_out(
        mut self,
        snapshot: &mut Snapshot<'_>,
        (made, digest): (u64, Option<[u8; 32]>),
        watch: &Watch,
    ) -> Result<(Report, ArchiveHandle), EngineError> {
        let unlocked = snapshot
            .unlocked()
            .map_err(|error| EngineError::of_vfs(&error, Path::new("")))?;
        // A slot may have been removed since the archive was begun.
        if unlocked.superblock.slots != self.slots || unlocked.master.commitment() != self.commitment {
            return Err(EngineError::Backup(BackupError::KeysChanged));
        }
        let present: Vec<&Marks> = self.base.iter().map(|base| &base.marks).chain(&self.sent).collect();
        let copy = Copy {
            level: self.how.level,
            present: &present,
            verify: self.how.verify,
            skip_bad: self.how.skip_bad,
            frugal: self.how.frugal,
            observer: &CopyProgress(watch),
        };
        let Copied {
            sent,
            same,
            change_counter,
            missing,
        } = copy.run(snapshot, &mut self.archive)?;
        let base = self.base.as_ref().map(|base| (base.name.clone(), base.link.manifest));
        let base = || base.as_ref().map(|(name, digest)| (name, *digest));
        self.archive.check_prerequisites(base())?;
        let manifest = self.archive.finish(Facts {
            begun: self.archive.begun(),
            base: self.base.as_ref().map(|base| base.link),
            page_size: snapshot.page_size(),
            page_count: snapshot.page_count(),
            change_counter,
            generation: unlocked.superblock.generation,
            made,
            log: snapshot.position(),
            digest,
            parts: Vec::new(),
            indexes: Vec::new(),
            missing: missing.clone(),
        })?;
        self.archive.check_prerequisites(base())?;
        let key = self.archive.key();
        let handle = ArchiveHandle {
            key: key.duplicate(),
            database_id: unlocked.superblock.database_id,
            manifest,
        };
        let report = Report {
            name: self.archive.name().clone(),
            base: self.base.map(|base| base.name),
            resumed: self.sent.is_some(),
            page_count: snapshot.page_count(),
            page_size: snapshot.page_size().as_u32(),
            sent_count: sent,
            same_count: same,
            missing,
            digest,
            traffic: Traffic::default(),
            elapsed: Duration::ZERO,
        };
        Ok((report, handle))
    }
}

/// What is needed to add to an archive.
pub(crate) struct ArchiveHandle {
    /// Its key.
    pub key: ArchiveKey,
    /// The id of the database.
    pub database_id: DatabaseId,
    /// The SHA-256 of its manifest.
    pub manifest: [u8; 32],
}

/// The newest backup under the present master key, for the same recipients.
pub(crate) fn base(
    (unlocked, recipients): (&Unlocked, &[AgeRecipient]),
    destination: &dyn Destination,
) -> Result<Option<Base>, EngineError> {
    let id = unlocked.superblock.database_id;
    Ok(Base::newest(destination, id, (&unlocked.master, recipients), now())?)
}

/// An error of the base itself has its own solution: a full backup, which needs no base.
fn bad_base(error: EngineError, path: &Path, destination: &dyn Destination) -> EngineError {
    let EngineError::Backup(source) = error else {
        return error;
    };
    if !is_fault_of_base(&source) {
        return EngineError::Backup(source);
    }
    EngineError::BadBase {
        path: path.to_owned(),
        place: destination.place(),
        source: Box::new(source),
    }
}

pub(crate) fn is_fault_of_base(error: &BackupError) -> bool {
    match error {
        // The object that opens it is missing.
        BackupError::NotThere { .. } => true,
        BackupError::Store(error) => matches!(error.kind, StoreErrorKind::Missing | StoreErrorKind::InvalidResponse),
        // A link further down the chain is of another master key.
        BackupError::Key { .. }
        | BackupError::Unauthentic { .. }
        | BackupError::Missing { .. }
        | BackupError::MissingLink { .. }
        | BackupError::Chain { .. }
        | BackupError::Incomplete { .. }
        | BackupError::LacksPages { .. }
        | BackupError::Form { .. }
        | BackupError::Unfinished { .. } => true,
        BackupError::Source(_)
        | BackupError::WrittenByOther { .. }
        | BackupError::Removed { .. }
        | BackupError::KeysChanged
        | BackupError::Machine { .. }
        | BackupError::Stopped
        | _ => false,
    }
}

/// Parses the additional recipients of a backup.
///
/// # Errors
/// [`EngineError::Key`] for a text that is no age recipient.
pub fn recipients(given: &[String]) -> Result<Vec<AgeRecipient>, EngineError> {
    let parsed = given.iter().map(|text| text.parse::<AgeRecipient>());
    Ok(parsed.collect::<Result<_, _>>()?)
}

/// Passes the progress of the copy on to the operation's [`Watch`].
struct CopyProgress<'a>(&'a Watch);

impl ProgressObserver for CopyProgress<'_> {
    fn progress(&self, done: u64, total: u64) {
        self.0.report(Phase::BackingUp, done, total);
    }

    fn is_interrupted(&self) -> bool {
        self.0.is_interrupted()
    }
}

/// Milliseconds since 1970-01-01 UTC.
pub(crate) fn unix_time_ms() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
