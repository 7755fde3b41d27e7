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
use selenite_backup::{
    ArchiveName, ArchiveWriter, BackupError, Base, Copied, Copy, Destination, KeySource, Marks, Onlooker, Traffic,
};
use selenite_format::archive::Facts;
use selenite_keyring::{AgeRecipient, Cache, KeyError, Unlocked};
use selenite_vfs::snapshot::Snapshot;

use crate::keys::now;
use crate::row_digest::row_digest;
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
    /// Whether it rests on the newest backup that is there, and has what changed since.
    pub incremental: bool,
    /// Whether to go on with an unfinished backup at once: nobody else backs this database up there.
    pub resume: bool,
    /// Whether a page that is not authentic is left out, and named; or ends it.
    pub skip_bad: bool,
    /// Whether the digest of all rows goes into it: all of the database is read once more, and who restores it compares.
    pub digest: bool,
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
    /// Whether it went on with one that an interrupted run had begun.
    pub resumed: bool,
    /// How many pages the database had.
    pub page_count: u32,
    /// The size of a page in bytes.
    pub page_size: u32,
    /// How many pages were sent.
    pub sent_count: u64,
    /// How many are there already: in the backups that it is based on, or sent by an interrupted run.
    pub same_count: u64,
    /// Pages that did not open, and are missing.
    pub missing: Vec<u32>,
    /// The digest of all rows, if it was made.
    pub digest: Option<[u8; 32]>,
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
    let mut database = Database::open(storage, path, access)?;
    let refused = |error| EngineError::of_vfs(&error, Path::new(""));
    let unlocked = database.read(move |snapshot| snapshot.unlocked().map_err(refused))?;
    database.end_read()?;
    // What takes the network's time is done before readers and writers have anything to wait for.
    let plan = Plan::make(how, &unlocked, access, destination)?;
    let started = Instant::now();
    database.begin_read()?;
    let digest = if plan.how.digest {
        let total = database
            .number("PRAGMA page_count")?
            .saturating_mul(database.number("PRAGMA page_size")?);
        Some(row_digest(&mut database, watch, total)?)
    } else {
        None
    };
    let watch = watch.clone();
    let copied = database.read(move |snapshot| plan.carry_out(snapshot, digest, &watch))?;
    let elapsed = started.elapsed();
    database.end_read()?;
    Ok(Report {
        traffic: destination.traffic(),
        elapsed,
        ..copied
    })
}

/// What is to be done under the read transaction.
struct Plan {
    how: Backup,
    archive: ArchiveWriter,
    base: Option<Base>,
    /// Of what an interrupted run has sent.
    sent: Option<Marks>,
}

impl Plan {
    fn make(
        how: Backup,
        unlocked: &Unlocked,
        access: &Access,
        destination: &Arc<dyn Destination>,
    ) -> Result<Self, EngineError> {
        let base = if how.incremental {
            Some(base(unlocked, access, destination.as_ref())?)
        } else {
            None
        };
        let when = (now(), how.resume);
        let (archive, sent) = selenite_backup::go_on_or_begin(destination, unlocked, &how.recipients, when)?;
        Ok(Self {
            how,
            archive,
            base,
            sent,
        })
    }

    fn carry_out(
        mut self,
        snapshot: &mut Snapshot<'_>,
        digest: Option<[u8; 32]>,
        watch: &Watch,
    ) -> Result<Report, EngineError> {
        let made = now();
        let unlocked = snapshot
            .unlocked()
            .map_err(|error| EngineError::of_vfs(&error, Path::new("")))?;
        let present: Vec<&Marks> = self.base.iter().map(|base| &base.marks).chain(&self.sent).collect();
        let copy = Copy {
            level: self.how.level,
            present: &present,
            verify: self.how.verify,
            skip_bad: self.how.skip_bad,
            onlooker: &Looking(watch),
        };
        let Copied {
            sent,
            same,
            change_counter,
            missing,
        } = copy.run(snapshot, &mut self.archive)?;
        self.archive.finish(Facts {
            begun: self.archive.begun(),
            base: self.base.as_ref().map(|base| base.link),
            page_size: snapshot.page_size(),
            page_count: snapshot.page_count(),
            change_counter,
            generation: unlocked.superblock.generation,
            made,
            log: None,
            digest,
            parts: Vec::new(),
            indexes: Vec::new(),
            missing: missing.clone(),
        })?;
        Ok(Report {
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
        })
    }
}

/// The newest backup, which may be of a master key from before.
fn base(unlocked: &Unlocked, access: &Access, destination: &dyn Destination) -> Result<Base, EngineError> {
    let id = unlocked.superblock.database_id;
    let found = match Base::newest(destination, id, &KeySource::Master(&unlocked.master)) {
        Err(BackupError::Key {
            source: KeyError::WrongKey,
            ..
        }) => {
            let config = Access::config()?;
            let keys = KeySource::Identities {
                identities: &access.identities(&config)?,
                // The database itself is at hand: that its keys are its own was checked when it was opened.
                keyring: &selenite_keyring::Keyring::default(),
                cache: &Cache::default(),
            };
            Base::newest(destination, id, &keys)
        }
        found => found,
    };
    found?.ok_or_else(|| {
        EngineError::usage(
            format!("{} holds no backup of this database to rest on", destination.place()),
            "make a full one first: without --incremental",
        )
    })
}

/// Who may open a backup besides.
///
/// # Errors
/// [`EngineError::Key`] for what is no age recipient.
pub fn recipients(given: &[String]) -> Result<Vec<AgeRecipient>, EngineError> {
    let parsed = given.iter().map(|text| text.parse::<AgeRecipient>());
    Ok(parsed.collect::<Result<_, _>>()?)
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
