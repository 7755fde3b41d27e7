//! Restores a database from a backup into a new file, in which every page is re-encrypted.
//!
//! - authenticate-before-naming: everything that comes from the destination is authenticated
//!   before it is used, and all of it is fetched before the file gets its name: names, parts and
//!   the backups that this one depends on (`selenite_backup`: name-matches-contents,
//!   identified-by-hash, all-pages-or-error).
//! - new-keys: the file has keys of its own: `new_keys`, new-data-and-log-key.
//! - reopen-before-naming: every page is decrypted again from the file before the file gets its
//!   name. A kill leaves a draft, which the next run removes, and the fetched parts, which the
//!   next run uses.
//! - replace-only-on-request: an existing file is replaced only on request: `place`.
//! - claim-owns-the-cache: the parts fetched for a name are removed only by the holder of that
//!   name's claim, as another run may be reading them. A run that fails before it has the claim
//!   leaves parts that existed before it.

mod choice;
pub(crate) mod latest;
mod new_keys;
mod page_writer;
mod place;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use selenite_backup::{ArchiveName, Backup, BackupError, Cached, Chain, Destination, KeySource, LogPlan, Traffic};
use selenite_cipher::{DatabaseId, PageNo};
use selenite_format::Geometry;
use selenite_keyring::{Cache, Config, Identity, Keyring, Pin, SlotSummary, Trust, Unlocked};
use selenite_vfs::view::View;

use crate::draft::{CLAIM, COMPANIONS, Draft, RESTORE, beside, folder_of, sync_folder};
use crate::error::io_error;
use crate::storage::Storage;
use crate::watch::Phase;
use crate::{Access, EngineError, Suite, Watch, sealed_draft, sqlite};

use choice::Choice;
pub use choice::{Unreachable, hex};
use new_keys::NewKeys;
use page_writer::PageWriter;
pub use place::Replaced;
use place::RestoreTarget;

/// What to restore, and where to.
#[derive(Clone, Debug)]
pub struct Restore {
    /// The file.
    pub to: PathBuf,
    /// Which backup.
    pub which: Which,
    /// The database, if the destination has backups of several.
    pub database_id: Option<DatabaseId>,
    /// Whether a file of that name may be replaced.
    pub force: bool,
    /// Recipients of the new file, instead of those of the database: `age1...`, or the spec of an
    /// identity.
    pub recipients: Vec<String>,
    /// Whether to restore a backup that lacks pages; they are filled with zeros.
    pub allow_missing: bool,
    /// Whether to restore a backup that the keyring file rejects: one from before the master key
    /// was renewed.
    pub unpinned: bool,
    /// Whether to keep the fetched parts beside the file until the end, so that a run after an
    /// interruption can use them.
    pub keep_fetched: bool,
    /// Whether a database in suite NONE is restored unencrypted; else it is encrypted.
    pub keep_clear: bool,
    /// Whether the identity in force gets a key slot if it has none, when another identity opened
    /// the backup ([`Access::more`]).
    pub add_own_slot: bool,
}

impl Restore {
    /// The newest backup, to a file that does not exist yet.
    #[must_use]
    pub fn new(to: &Path) -> Self {
        Self {
            to: to.to_owned(),
            which: Which::Newest,
            database_id: None,
            force: false,
            recipients: Vec::new(),
            allow_missing: false,
            unpinned: false,
            keep_fetched: false,
            keep_clear: false,
            add_own_slot: false,
        }
    }
}

/// Which backup to restore.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Which {
    /// The finished backup that was begun last, with all later commits if it was followed. One
    /// whose name has a future time only if there is no other.
    Newest,
    /// The one of this name, without later commits.
    Named(ArchiveName),
    /// The newest of those up to this time, in seconds since 1970-01-01 UTC, with the commits up
    /// to then if it was followed.
    At(u64),
}

/// The result of a restore.
#[derive(Clone, Debug)]
pub struct Restored {
    /// The file.
    pub path: PathBuf,
    /// The backup.
    pub name: ArchiveName,
    /// The id of the database that was backed up.
    pub of: DatabaseId,
    /// The restored database's id: the same, unless it has a master key of its own.
    pub database_id: DatabaseId,
    /// Backups that were skipped, since their names have a future time and none was named.
    pub passed_over: Vec<ArchiveName>,
    /// Other backups that reach later moments, behind gaps in their logs.
    pub unreachable: Vec<Unreachable>,
    /// The time of the database's content, in seconds since 1970-01-01 UTC.
    pub made: u64,
    /// How many backups were read: this one, and those that it depends on.
    pub link_count: usize,
    /// How many objects of its log were applied.
    pub log_count: usize,
    /// The suite that its pages are sealed in.
    pub suite: Suite,
    /// How many pages it has.
    pub page_count: u32,
    /// The size of a page in bytes.
    pub page_size: u32,
    /// The file's size in bytes.
    pub size: u64,
    /// Pages that the backup lacks, which are filled with zeros.
    pub missing: Vec<u32>,
    /// The digest of its rows, if the backup has it (FORMAT 12.7).
    pub digest: Option<[u8; 32]>,
    /// Whether origin MACs show that holders of the database's master key made everything that was
    /// read (FORMAT 12.4). If not, the origin was not checked, on request.
    pub is_own: bool,
    /// Whether it has another master key, and so is a different database.
    pub has_new_master: bool,
    /// Its key slots.
    pub slots: Vec<SlotSummary>,
    /// Whether the keyring file rejects it until it is pinned.
    pub is_refused_by_pin: bool,
    /// What happened to an existing file.
    pub replaced: Replaced,
    /// Files that an earlier run left behind and that were removed now.
    pub removed: Vec<PathBuf>,
    /// What was transferred.
    pub traffic: Traffic,
    /// How long it took.
    pub elapsed: Duration,
}

/// Restores a backup.
///
/// # Errors
/// [`EngineError::Backup`]; [`EngineError::Exists`]; [`EngineError::Busy`] if the file to replace
/// is in use, or another process restores it; [`EngineError::Key`]; [`EngineError::CopyDiffers`]
/// if the disk did not keep the pages; [`EngineError::Io`] and [`EngineError::NoRoom`]. The path
/// is then unchanged; only if the folder can't be synced after the rename (`sync`) does it have
/// the complete restored file, until a power failure.
pub fn restore(
    storage: &dyn Storage,
    destination: &dyn Destination,
    access: &Access,
    how: &Restore,
    watch: &Watch,
) -> Result<Restored, EngineError> {
    let started = Instant::now();
    sqlite::install()?;
    let trust = access.check()?;
    access.require()?;
    if !how.keep_fetched {
        return run(
            (storage, destination),
            access,
            (how, &trust),
            watch,
            (started, &mut None),
        );
    }
    let folder = fetched_folder(&how.to)?;
    let was_there = folder.symlink_metadata().is_ok();
    let cached = Cached::new(destination, &folder);
    // claim-owns-the-cache.
    let mut claim = None;
    let done = run((storage, &cached), access, (how, &trust), watch, (started, &mut claim));
    let is_kept = matches!(
        done,
        Err(EngineError::Interrupted | EngineError::Backup(BackupError::Store(_)) | EngineError::Busy { .. })
    );
    if !is_kept && claim.is_none() && !was_there {
        let path = storage.real_path(&how.to).unwrap_or_else(|_| how.to.clone());
        claim = claim_of(storage, &path).ok().flatten();
    }
    if !is_kept && claim.is_some() {
        cached.forget();
    }
    drop(claim);
    done
}

/// The claim on a path: no other process restores to it.
type RestoreClaim = Box<dyn crate::storage::Claim>;

/// Takes the claim; `None` if another process has it.
fn claim_of(storage: &dyn Storage, path: &Path) -> Result<Option<RestoreClaim>, EngineError> {
    let path = beside(&Draft::path_of(path, RESTORE)?, CLAIM);
    storage.claim(&path).map_err(io_error("create", &path))
}

/// The identities that get a slot besides the recipients.
fn added_identities(how: &Restore, access: &Access, config: &Config) -> Result<Vec<Box<dyn Identity>>, EngineError> {
    match how.add_own_slot {
        true => access.identities(config),
        false => Ok(Vec::new()),
    }
}

fn run(
    (storage, destination): (&dyn Storage, &dyn Destination),
    access: &Access,
    (how, trust): (&Restore, &Trust),
    watch: &Watch,
    (started, claim): (Instant, &mut Option<RestoreClaim>),
) -> Result<Restored, EngineError> {
    let config = Access::config()?;
    let recipients = access.recipients(&how.recipients, &config)?;
    let identities = access.backup_identities(&config)?;
    let own = added_identities(how, access, &config)?;
    let unpinned = trust.unpinned();
    let keys = KeySource::Identities {
        identities: &identities,
        trust: if how.unpinned { &unpinned } else { trust },
        cache: &Cache::new(),
    };
    let mut place = RestoreTarget::find(storage, &how.to, access, how.force)?;
    let Choice {
        chain,
        log,
        passed_over,
        unreachable,
    } = choice::open(destination, how, &keys)?;
    let facts = &chain.tip().facts;
    let (page_count, made) = (log.end).map_or((facts.page_count, facts.made), |(count, made)| (count, made / 1000));
    check_complete(chain.tip(), how.allow_missing)?;
    let present = place.present();
    let rights = (access.allow_deprecated, how.keep_clear);
    let new = NewKeys::draw(chain.tip(), &recipients, &own, present.as_ref(), rights)?;
    let work = RestoreJob {
        storage,
        destination,
        access,
        chain: &chain,
        log: &log,
        page_count,
        keep_clear: how.keep_clear,
        watch,
    };
    let room = Geometry::new(facts.page_size).size_for(page_count);
    let with_needed_room = |error: EngineError| error.with_room(room, || "run the same command again".to_owned());
    // From here on no other process writes a draft for this path.
    let (held, removed) = work.begin(&place.path).map_err(with_needed_room)?;
    *claim = Some(held);
    let draft = Draft::create_at(storage, Draft::path_of(&place.path, RESTORE)?).map_err(with_needed_room)?;
    let missing = work.fill(&draft, &new.superblocks).map_err(with_needed_room)?;
    watch.check()?;
    let path = place.path.clone();
    let replaced = place.take(draft).map_err(with_needed_room)?;
    let [_, unlocked] = &new.superblocks;
    crate::keys::replace_path_pin(&config, &path, unlocked)?;
    let superblock = &unlocked.superblock;
    Ok(Restored {
        name: chain.tip().name().clone(),
        of: chain.tip().archive.begun.database_id,
        database_id: superblock.database_id,
        passed_over,
        unreachable,
        made,
        link_count: chain.links().len(),
        log_count: log.objects.len(),
        suite: superblock.sealing().map_or(Suite::None, |epoch| epoch.suite),
        page_count,
        page_size: facts.page_size.as_u32(),
        size: room,
        missing,
        digest: facts.digest.filter(|_| log.objects.is_empty()),
        is_own: chain.is_own(),
        has_new_master: new.is_new,
        slots: superblock.slots.iter().map(SlotSummary::new).collect(),
        is_refused_by_pin: is_refused(&trust.keyring, unlocked),
        replaced,
        removed,
        traffic: destination.traffic(),
        elapsed: started.elapsed(),
        path,
    })
}

/// Rejects a backup that lacks pages, unless that is allowed.
fn check_complete(tip: &Backup, allow_missing: bool) -> Result<(), BackupError> {
    let missing = &tip.facts.missing;
    if missing.is_empty() || allow_missing {
        return Ok(());
    }
    Err(BackupError::LacksPages {
        archive: tip.name().clone(),
        what: format!("it lacks pages that were not authentic: {}", listed(missing)),
    })
}

/// What a restore needs.
struct RestoreJob<'a> {
    storage: &'a dyn Storage,
    destination: &'a dyn Destination,
    access: &'a Access,
    chain: &'a Chain,
    /// The part of the log that is applied to it.
    log: &'a LogPlan,
    /// The page count, with the log applied.
    page_count: u32,
    keep_clear: bool,
    watch: &'a Watch,
}

impl RestoreJob<'_> {
    /// Takes the claim, and removes what an earlier run left behind.
    fn begin(&self, path: &Path) -> Result<(RestoreClaim, Vec<PathBuf>), EngineError> {
        let draft = Draft::path_of(path, RESTORE)?;
        let claim = claim_of(self.storage, path)?.ok_or_else(|| EngineError::Busy {
            path: path.to_owned(),
            what: "another process is restoring it",
        })?;
        let mut removed = Vec::new();
        let names = COMPANIONS.iter().map(|companion| beside(&draft, companion));
        for leftover in names.chain([draft.clone()]) {
            match self.storage.remove(&leftover) {
                Ok(()) => removed.push(leftover),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(io_error("remove", &leftover)(error)),
            }
        }
        Ok((claim, removed))
    }

    /// Writes all pages, syncs and verifies them. Returns the pages that the backup lacks.
    fn fill(&self, draft: &Draft<'_>, superblocks: &[Unlocked; 2]) -> Result<Vec<u32>, EngineError> {
        let path = draft.path();
        let file = self.storage.open_to_write(path).map_err(io_error("write", path))?;
        let [first, second] = superblocks;
        sealed_draft::write_superblocks(file.as_ref(), path, [first, second])?;
        sync_folder(self.storage, path)?;
        let view = View::new(second.duplicate(), self.keep_clear, self.access.allow_deprecated);
        let view = view.map_err(|error| EngineError::of_vfs(&error, path))?;
        let facts = &self.chain.tip().facts;
        let size = view.geometry.size_for(self.page_count);
        file.set_size(size).map_err(io_error("write", path))?;

        let mut writer = PageWriter::new((file.as_ref(), path), &view)?;
        let page_size = facts.page_size.as_u64();
        let total = u64::from(self.page_count) * page_size;
        let mut done = 0;
        let mut add = |page_no, bytes: &[u8]| {
            done += page_size;
            if writer.add(page_no, bytes)? {
                self.watch.report(Phase::Restoring, done, total);
                self.watch.check()?;
            }
            Ok::<(), EngineError>(())
        };
        let pages = self.chain.pages_with(self.destination, self.log, &mut add)?;
        let zeros = vec![0; view.page_bytes()];
        for page_no in zero_pages(view.geometry, self.page_count, &pages.zeros) {
            writer.add(page_no, &zeros)?;
        }
        writer.flush()?;
        self.watch.check()?;
        file.sync().map_err(io_error("sync", path))?;
        drop(writer);
        drop(file);
        // reopen-before-naming.
        sealed_draft::check(self.storage, path, &view, self.watch)?;
        let found = self.storage.attributes(path).map_err(io_error("read", path))?.size;
        if view.geometry.page_count(found) != view.geometry.page_count(size) {
            return Err(EngineError::CopyDiffers {
                what: "its number of pages is wrong: the disk did not store them correctly".to_owned(),
            });
        }
        let is_missing = |page_no: &u32| facts.missing.binary_search(page_no).is_ok();
        Ok(pages.zeros.into_iter().filter(is_missing).collect())
    }
}

/// Pages that no archive has: those that the backup lacks, and those between the last page and the
/// end of the file (FORMAT 2.4, 2.5).
fn zero_pages(geometry: Geometry, page_count: u32, lacking: &[u32]) -> impl Iterator<Item = u32> {
    let PageNo(lock) = geometry.lock_page();
    let behind = page_count.saturating_add(1)..=geometry.page_count(geometry.size_for(page_count));
    let lacking = lacking.iter().copied();
    lacking.chain(behind).filter(move |&page_no| page_no != lock)
}

/// Whether the keyring file rejects the database.
fn is_refused(keyring: &Keyring, unlocked: &Unlocked) -> bool {
    match keyring.check(unlocked.superblock.database_id, unlocked.master.commitment()) {
        Pin::Pinned => false,
        Pin::Unknown => keyring.only_listed(),
        Pin::Mismatch => true,
    }
}

/// The folder of fetched parts: `.NAME.selenite-fetched`, which no other operation takes for one
/// of its drafts.
fn fetched_folder(to: &Path) -> Result<PathBuf, EngineError> {
    // This checks that the path has a file name.
    Draft::path_of(to, "")?;
    let mut name = OsString::from(".");
    name.push(to.file_name().unwrap_or_default());
    name.push(".selenite-fetched");
    Ok(folder_of(to).join(name))
}

/// The first of them, as text.
fn listed(pages: &[u32]) -> String {
    let first: Vec<String> = pages.iter().take(LISTED_MAX).map(u32::to_string).collect();
    let more = if pages.len() > LISTED_MAX { ", ..." } else { "" };
    format!("{}{more}", first.join(", "))
}

const LISTED_MAX: usize = 10;

#[cfg(test)]
mod tests {
    use selenite_format::PageSize;

    use super::*;

    fn zeros_of(page_size: u32, page_count: u32, lacking: &[u32]) -> Vec<u32> {
        let geometry = Geometry::new(PageSize::try_from(page_size).unwrap());
        zero_pages(geometry, page_count, lacking).collect()
    }

    /// FORMAT 2.3, 2.4: page X has the place of page L, and the pages between them are sealed
    /// zeros.
    #[test]
    fn missing_pages_and_places_behind_the_last_page_are_zeros() {
        assert_eq!(zeros_of(1024, 0, &[]), [0; 0]);
        assert_eq!(zeros_of(1024, 9, &[2, 9]), [2, 9]);
        let (displaced, lock) = (1_048_513, 1_048_577);
        assert_eq!(zeros_of(1024, displaced - 1, &[]), [0; 0]);
        let between: Vec<u32> = (displaced + 1..lock).collect();
        assert_eq!(zeros_of(1024, displaced, &[]), between);
        assert_eq!(zeros_of(1024, lock - 2, &[]), [lock - 1]);
        assert_eq!(zeros_of(1024, lock, &[lock]), [0; 0]);
        assert_eq!(zeros_of(1024, lock + 1, &[7]), [7]);
        assert_eq!(zeros_of(65536, 16384, &[]), [0; 0]);
    }
}
