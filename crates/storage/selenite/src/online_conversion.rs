//! Encrypts or decrypts a database while others read and write it: they go on in the new one.
//!
//! - copied-then-followed: VACUUM INTO copies a snapshot. Then, in rounds, the pages that others wrote since tell which
//!   rows may have changed (`page_map`), and these are copied again (`row_copier`). The first round ends with a
//!   comparison of all values; every round compares what it copied.
//! - log-is-kept: a read transaction is open at all times, from the last round on at the latest. So the log is not begun
//!   again, but in one case: all of it was in the file when that transaction began, and nothing was appended since
//!   (`walRestartLog` in wal.c; with read mark 0 held, no later frame is copied to the file). Then all frames of the new
//!   log are later ones. It may begin again more than once: each `PRAGMA wal_checkpoint(TRUNCATE)` of an empty log cuts
//!   it and gives it other salts (`walCheckpoint`). Once it has a frame, that is not copied to the file, and it is kept.
//! - one-short-lock: the last round is under the write lock. Then all others are asked to wait, the log is copied to the
//!   file and emptied, and the copy gets the database's name (`selenite_vfs::hand_over`).
//! - none-is-left-behind: every connection of every process that has the database open has registered that it moves.
//!   Another one is named, and nothing is changed (`strangers`).
//! - wal-throughout: a database in rollback mode is in WAL mode meanwhile (`journal_mode`).
//! - kill-leaves-one: until the rename the old database is whole, after it the new one. What is left of a killed run is a
//!   draft.

mod journal_mode;
mod last_round;
mod page_map;
mod row_copier;
mod row_interval;
mod strangers;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use selenite_format::PREFIX_SIZE;
use selenite_format::wal::{FRAME_HEADER_SIZE, HEADER_SIZE};

use selenite_keyring::{SlotSummary, Unlocked};

use crate::decrypt::check_integrity;
use crate::draft::{Draft, beside};
use crate::encrypt::{Encrypt, add_recipients, check_suite, check_verified};
use crate::error::io_error;
use crate::storage::{Attributes, Claim, Storage};
use crate::superblock_file::{FileContent, inspect};
use crate::transfer::{self, SourceLayout};
use crate::{
    Access, Authenticated, Database, EngineError, Layout, Outcome, Watch, conversion, lock_holders, sqlite, verify,
};
use last_round::Ended;
use page_map::PageMap;
use row_copier::{COPY, RowCopier};

/// An encryption or decryption while others used the database.
#[derive(Clone, Debug)]
pub struct OnlineOutcome {
    /// The result.
    pub outcome: Outcome,
    /// How it went.
    pub online: Online,
}

/// How it went.
#[derive(Clone, Copy, Debug)]
pub struct Online {
    /// How long others could not write, and for the last part of it not read.
    pub locked: Duration,
    /// How often changed rows were copied.
    pub rounds: u32,
    /// How many rows were copied again.
    pub copied_again: u64,
    /// Whether a database that was in rollback mode is in WAL mode now, since others have it open.
    pub is_left_in_wal: bool,
}

/// What others have to put up with.
#[derive(Clone, Copy, Debug)]
pub struct OnlineLimits {
    /// How long they may be kept waiting at the end.
    pub lock_max: Duration,
    /// Whether processes count as without the database whose open files are not to be seen and that hold no lock on it, if
    /// it is in rollback mode. One that has it open gets errors from then on.
    pub ignores_unseen: bool,
}

/// Encrypts a database in place, while other processes use it.
///
/// # Errors
/// As [`crate::EncryptedFile::encrypt`]; [`EngineError::Usage`] for a database that can't be encrypted like this; `Busy`
/// if a process that would not move has it open, or the lock was not to be had. The database is unchanged then.
pub fn encrypt_online(
    storage: &dyn Storage,
    path: &Path,
    access: &Access,
    how: &Encrypt,
    limits: OnlineLimits,
    watch: &Watch,
) -> Result<OnlineOutcome, EngineError> {
    sqlite::install()?;
    access.check()?;
    access.require_identity_to_create()?;
    check_suite(how.suite, access)?;
    let path = conversion::real_path(storage, path)?;
    match inspect(storage, &path)? {
        FileContent::Plain => {}
        FileContent::Sealed { .. } => return Err(EngineError::AlreadyEncrypted { path }),
        FileContent::Empty | FileContent::Foreign => {
            return Err(EngineError::NotEncrypted {
                path,
                what: "it is empty, or no SQLite database",
            });
        }
    }
    convert(storage, path, access, Goal::Encrypt(how), (limits, watch))
}

/// Decrypts a database in place, while other processes use it.
///
/// # Errors
/// As [`crate::EncryptedFile::decrypt`], and those of [`encrypt_online`]. The database is unchanged then.
pub fn decrypt_online(
    storage: &dyn Storage,
    path: &Path,
    access: &Access,
    limits: OnlineLimits,
    watch: &Watch,
) -> Result<OnlineOutcome, EngineError> {
    sqlite::install()?;
    access.check()?;
    let path = conversion::real_path(storage, path)?;
    inspect(storage, &path)?.sealed(&path)?;
    access.require()?;
    convert(storage, path, access, Goal::Decrypt, (limits, watch))
}

fn convert(
    storage: &dyn Storage,
    path: PathBuf,
    access: &Access,
    goal: Goal<'_>,
    (limits, watch): (OnlineLimits, &Watch),
) -> Result<OnlineOutcome, EngineError> {
    let started = Instant::now();
    let mut run = Run {
        was_in_rollback_mode: false,
        storage,
        attributes: storage.attributes(&path).map_err(io_error("read", &path))?,
        access,
        goal,
        limits,
        watch,
        path,
    };
    conversion::check_sole_name(&run.path, &run.attributes)?;
    let _claim = run.claim()?;
    let leftovers = Draft::leftovers(storage, &run.path)?;
    for file in &leftovers {
        storage.remove(file).map_err(io_error("remove", file))?;
    }
    let held = run.enter_wal()?;
    let attempts = (0..RESTART_MAX).find_map(|_| run.attempt().transpose());
    let is_left_in_wal = held.is_some_and(|held| !run.leave_wal(held));
    match attempts {
        Some(Ok(mut done)) => {
            done.outcome.removed = leftovers;
            done.outcome.elapsed = started.elapsed();
            done.online.is_left_in_wal = is_left_in_wal;
            Ok(done)
        }
        Some(Err(error)) => Err(journal_mode::advise(error, is_left_in_wal)),
        None => {
            let error = run.busy("its definitions changed while it was copied, again and again");
            Err(journal_mode::advise(error, is_left_in_wal))
        }
    }
}

/// What becomes of the database.
#[derive(Clone, Copy)]
enum Goal<'a> {
    Encrypt(&'a Encrypt),
    Decrypt,
}

struct Run<'a> {
    storage: &'a dyn Storage,
    path: PathBuf,
    attributes: Attributes,
    access: &'a Access,
    goal: Goal<'a>,
    limits: OnlineLimits,
    watch: &'a Watch,
    /// Then a process that has it open may hold no lock.
    was_in_rollback_mode: bool,
}

/// The connections to the database.
struct Connections {
    /// Copies; the copy is attached to it.
    copier: Database,
    /// Keeps the log (log-is-kept).
    pin: Database,
    /// Becomes `pin` before that ends its transaction.
    spare: Database,
    /// Takes the write lock.
    writer: Database,
}

impl Connections {
    /// Keeps the log from the present snapshot on; until then it is kept from the one before.
    fn pin_again(&mut self) -> Result<(), EngineError> {
        begin_reading(&self.spare)?;
        self.pin.batch("ROLLBACK")?;
        std::mem::swap(&mut self.pin, &mut self.spare);
        Ok(())
    }
}

/// The end of the log at a snapshot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct LogEnd {
    salts: u64,
    frames: u64,
}

/// The result of a copy under way.
struct Copying<'a> {
    draft: Draft<'a>,
    /// The keys of the copy, if it has any.
    unlocked: Option<Unlocked>,
    map: PageMap,
    rows: RowCopier,
    end: LogEnd,
    schema_version: u64,
    copied_again: u64,
    /// Of the first round.
    row_count: u64,
}

impl Run<'_> {
    /// How the database is opened.
    fn source(&self) -> Access {
        match self.goal {
            Goal::Encrypt(_) => self.access.allowing_plain(),
            Goal::Decrypt => self.access.clone(),
        }
    }

    /// How the draft is opened.
    fn of_draft(&self) -> Access {
        match self.goal {
            Goal::Encrypt(_) => self.access.of_draft(),
            Goal::Decrypt => self.access.of_draft().allowing_plain(),
        }
    }

    fn busy(&self, what: &'static str) -> EngineError {
        EngineError::Busy {
            path: self.path.clone(),
            what,
        }
    }

    /// One run at a time: another one would remove this one's draft.
    fn claim(&self) -> Result<Box<dyn Claim>, EngineError> {
        let file = beside(&self.path, "-selenite");
        let claimed = self.storage.claim(&file).map_err(io_error("create", &file))?;
        claimed.ok_or_else(|| self.busy("another process works on all of it"))
    }

    /// `None` if the definitions changed meanwhile.
    fn attempt(&self) -> Result<Option<OnlineOutcome>, EngineError> {
        let source = self.source();
        let connect = || Database::connect(&self.path, &source.uri(&self.path), &source);
        let mut connections = Connections {
            copier: connect()?,
            pin: connect()?,
            spare: connect()?,
            writer: connect()?,
        };
        self.check_mode(&connections.copier)?;
        let layout = self.check_layout(&connections.copier)?;
        self.check_strangers()?;
        let Some(mut copying) = self.copy(&mut connections, &layout)? else {
            return Ok(None);
        };
        if !self.first_round(&mut connections, &mut copying, &layout)? {
            return Ok(None);
        }
        let mut tries = 0;
        for round in 2..=ROUND_MAX {
            self.watch.check()?;
            self.check_strangers()?;
            let started = Instant::now();
            if !self.round(&mut connections, &mut copying)? {
                return Ok(None);
            }
            let short = if round < LONG_ROUNDS_FROM {
                SHORT_ROUND
            } else {
                self.limits.lock_max / 3
            };
            if started.elapsed() > short {
                continue;
            }
            match self.last_round(&mut connections, &mut copying)? {
                Ended::Replaced(locked, not_retired, not_kept) => {
                    let outcome = self.outcome(&copying, &layout, not_retired, not_kept)?;
                    let online = Online {
                        locked,
                        rounds: round,
                        copied_again: copying.copied_again,
                        is_left_in_wal: false,
                    };
                    return Ok(Some(OnlineOutcome { outcome, online }));
                }
                Ended::DefinitionsChanged => return Ok(None),
                Ended::InTheWay => {
                    tries += 1;
                    if tries == TRY_MAX {
                        break;
                    }
                    self.attach_again(&connections.copier, &copying.draft)?;
                    self.pause(FIRST_PAUSE * 2_u32.pow(tries - 1))?;
                }
            }
        }
        Err(lock_holders::with_lock_holders(
            self.busy("others did not let it have the lock"),
            &self.path,
        ))
    }

    /// Lets the others go on for a while.
    fn pause(&self, time: Duration) -> Result<(), EngineError> {
        self.watch.waiting("waiting for transactions of others to end");
        let until = Instant::now() + time;
        while Instant::now() < until {
            self.watch.check()?;
            std::thread::sleep(PAUSE_STEP);
        }
        Ok(())
    }

    fn check_layout(&self, source: &Database) -> Result<SourceLayout, EngineError> {
        let layout = SourceLayout::of(source)?;
        if layout.page_bytes != layout.page_size.as_u32() {
            return Err(EngineError::usage(
                format!(
                    "{}: pages of {} bytes become larger",
                    self.path.display(),
                    layout.page_bytes
                ),
                "do it without --online",
            ));
        }
        Ok(layout)
    }

    /// Copies a snapshot; `None` if the definitions changed meanwhile.
    fn copy(&self, connections: &mut Connections, layout: &SourceLayout) -> Result<Option<Copying<'_>>, EngineError> {
        let Connections { copier, pin, .. } = connections;
        let end = begin_reading(pin)?;
        let schema_version = pin.number("PRAGMA main.schema_version")?;
        let map = PageMap::of(pin, &mut || self.watch.check())?;
        let draft = Draft::create(self.storage, &self.path)?;
        let unlocked = match self.goal {
            Goal::Encrypt(how) => Some(self.encrypt_to(&draft, how, copier, layout)?),
            Goal::Decrypt => {
                transfer::copy_decrypted(&self.of_draft(), copier, layout, draft.path(), self.watch)?;
                None
            }
        };
        self.attach(copier, &draft)?;
        if copier.number("PRAGMA main.schema_version")? != schema_version {
            return Ok(None);
        }
        let rows = RowCopier::new(copier, map.tables())?;
        Ok(Some(Copying {
            draft,
            unlocked,
            map,
            rows,
            end,
            schema_version,
            copied_again: 0,
            row_count: 0,
        }))
    }

    /// Copies into an encrypted draft, and returns its keys.
    fn encrypt_to(
        &self,
        draft: &Draft<'_>,
        how: &Encrypt,
        copier: &mut Database,
        layout: &SourceLayout,
    ) -> Result<Unlocked, EngineError> {
        let access = self.of_draft();
        let new = Layout {
            suite: how.suite,
            page_size: layout.page_size,
            auto_vacuum: layout.auto_vacuum,
        };
        let uri = access.new_uri(draft.path(), &new);
        transfer::copy_encrypted(
            (self.storage, &access),
            copier,
            layout,
            (draft.path(), &uri),
            self.watch,
        )?;
        let copy = Database::connect(draft.path(), &access.uri(draft.path()), &access)?;
        let recipients = self.access.recipients(&how.recipients, &Access::config()?)?;
        let recipients = recipients.into_iter().map(|recipient| (recipient, String::new()));
        add_recipients(&copy, recipients.collect())?;
        let unlocked = copy.unlocked()?;
        copy.close()?;
        check_verified(verify::pages(
            self.storage,
            draft.path(),
            &unlocked,
            &access,
            self.watch,
        )?)?;
        Ok(unlocked)
    }

    fn attach(&self, copier: &Database, draft: &Draft<'_>) -> Result<(), EngineError> {
        let access = self.of_draft();
        let uri = access.uri(draft.path());
        let attached = copier
            .connection()
            .execute(&format!("ATTACH ?1 AS {COPY}"), [uri.as_str()]);
        attached.map_err(|error| copier.error(error))?;
        let set = copier
            .connection()
            .set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false);
        set.map_err(|error| copier.error(error))?;
        // The draft is synced before it gets the name; until then nothing of it has to survive.
        copier.batch(&format!(
            "PRAGMA {COPY}.journal_mode = MEMORY; PRAGMA {COPY}.synchronous = OFF; PRAGMA foreign_keys = OFF; \
             PRAGMA ignore_check_constraints = ON"
        ))
    }

    fn attach_again(&self, copier: &Database, draft: &Draft<'_>) -> Result<(), EngineError> {
        let is_attached = copier.number(&format!(
            "SELECT count(*) FROM pragma_database_list WHERE name = '{COPY}'"
        ))?;
        if is_attached == 0 {
            self.attach(copier, draft)?;
        }
        Ok(())
    }

    /// The first round, and the comparison of all values at its snapshot. Returns whether the definitions are the same.
    fn first_round(
        &self,
        connections: &mut Connections,
        copying: &mut Copying<'_>,
        layout: &SourceLayout,
    ) -> Result<bool, EngineError> {
        let source = self.source();
        let mut verifier = Database::connect(&self.path, &source.uri(&self.path), &source)?;
        // Both begin between two commits: they see the same snapshot.
        connections.writer.begin()?;
        let begun = begin_reading(&connections.copier).and_then(|end| Ok((end, begin_reading(&verifier)?)));
        connections.writer.batch("ROLLBACK")?;
        let (end, _) = begun?;
        let is_same = self.copy_changed(&connections.copier, copying, end)?;
        connections.pin_again()?;
        if !is_same {
            return Ok(false);
        }
        let access = self.of_draft();
        let mut copy = Database::connect(copying.draft.path(), &access.uri(copying.draft.path()), &access)?;
        copying.row_count = transfer::compare(&mut verifier, &mut copy, layout.size, self.watch)?.row_count();
        if matches!(self.goal, Goal::Decrypt) {
            check_integrity(&mut copy, self.watch)?;
        }
        copy.close()?;
        verifier.batch("ROLLBACK")?;
        verifier.close()?;
        Ok(true)
    }

    /// Copies what changed since the last round. Returns whether the definitions are the same.
    fn round(&self, connections: &mut Connections, copying: &mut Copying<'_>) -> Result<bool, EngineError> {
        let end = begin_reading(&connections.copier)?;
        let is_same = self.copy_changed(&connections.copier, copying, end)?;
        connections.pin_again()?;
        Ok(is_same)
    }

    /// In the transaction of `copier`, which sees the log up to `end`, and ends.
    fn copy_changed(&self, copier: &Database, copying: &mut Copying<'_>, end: LogEnd) -> Result<bool, EngineError> {
        if copier.number("PRAGMA main.schema_version")? != copying.schema_version {
            copier.batch("ROLLBACK")?;
            return Ok(false);
        }
        let written = self.written_pages(copying.end, end, copying.map.page_bytes())?;
        let changed = copying.map.advance(copier, &written)?;
        copying.copied_again += copying.rows.copy(copier, &changed)?;
        for setting in ["user_version", "application_id"] {
            let value = copier.text(&format!("PRAGMA main.{setting}"))?;
            if copier.text(&format!("PRAGMA {COPY}.{setting}"))? != value {
                copier.batch(&format!("PRAGMA {COPY}.{setting} = {value}"))?;
            }
        }
        copier.batch("COMMIT")?;
        copying.end = end;
        Ok(true)
    }

    /// The pages in the frames of the log between two snapshots.
    fn written_pages(&self, from: LogEnd, to: LogEnd, page_bytes: usize) -> Result<HashSet<u32>, EngineError> {
        let file = beside(&self.path, "-wal");
        let first = if from.salts == to.salts {
            from.frames
        } else if from.frames == 0 || (1..=RESTART_COUNT_MAX).contains(&restart_count(from.salts, to.salts)) {
            // The log began again, at `from` (log-is-kept).
            0
        } else {
            return Err(self.busy("its log was replaced while it was copied"));
        };
        let mut written = HashSet::new();
        if first >= to.frames {
            return Ok(written);
        }
        let log = self.storage.open(&file).map_err(io_error("read", &file))?;
        let read = |out: &mut [u8], offset: u64| match log.read_at(out, offset) {
            Ok(count) if count == out.len() => Ok(()),
            Ok(_) => Err(self.busy("its log was cut while it was copied")),
            Err(error) => Err(io_error("read", &file)(error)),
        };
        for frame in first..to.frames {
            let mut bytes = [0; FRAME_HEADER_SIZE];
            let size = to_u64(page_bytes + FRAME_HEADER_SIZE);
            read(&mut bytes, to_u64(HEADER_SIZE) + frame * size)?;
            let [a, b, c, d, ..] = bytes;
            // Those of an encrypted log are encrypted (FORMAT 6.3): there log-is-kept alone counts.
            let has_salts = matches!(self.goal, Goal::Encrypt(_));
            if has_salts && bytes[8..16] != to.salts.to_be_bytes() {
                return Err(self.busy("its log was replaced while it was copied"));
            }
            written.insert(u32::from_be_bytes([a, b, c, d]));
        }
        Ok(written)
    }

    fn outcome(
        &self,
        copying: &Copying<'_>,
        layout: &SourceLayout,
        not_retired: Option<String>,
        not_kept: Vec<String>,
    ) -> Result<Outcome, EngineError> {
        let superblock = copying.unlocked.as_ref().map(|unlocked| &unlocked.superblock);
        let size = self
            .storage
            .attributes(&self.path)
            .map_err(io_error("read", &self.path))?
            .size;
        let pages = size.saturating_sub(PREFIX_SIZE) / u64::from(layout.page_bytes);
        Ok(Outcome {
            path: self.path.clone(),
            table_count: copying.map.tables().len(),
            row_count: copying.row_count,
            size,
            elapsed: Duration::ZERO,
            slots: superblock.map_or_else(Vec::new, |superblock| {
                superblock.slots.iter().map(SlotSummary::new).collect()
            }),
            removed: Vec::new(),
            leftovers: Vec::new(),
            not_retired,
            not_kept,
            authenticated: superblock.map(|superblock| Authenticated {
                database_id: superblock.database_id,
                page_count: u32::try_from(pages).unwrap_or(u32::MAX),
                generation: superblock.generation,
            }),
        })
    }
}

/// Begins a read transaction, and returns the end of the log that it sees.
fn begin_reading(database: &Database) -> Result<LogEnd, EngineError> {
    database.batch("BEGIN")?;
    database.number("SELECT count(*) FROM main.sqlite_schema")?;
    let text = database.text("SELECT selenite_log_end('main')")?;
    let parsed = text.split_once(' ').and_then(|(salts, frames)| {
        Some(LogEnd {
            salts: u64::from_str_radix(salts, 16).ok()?,
            frames: frames.parse().ok()?,
        })
    });
    parsed.ok_or_else(|| EngineError::usage("the end of the log is unknown", "report this"))
}

/// How often the log began again: `walRestartHdr` increments the first salt.
fn restart_count(from: u64, to: u64) -> u32 {
    first_salt(to).wrapping_sub(first_salt(from))
}

fn first_salt(salts: u64) -> u32 {
    u32::try_from(salts >> 32).unwrap_or(0)
}

fn to_u64(size: usize) -> u64 {
    u64::try_from(size).unwrap_or(u64::MAX)
}

/// More restarts of the log are another log: a process that empties it a thousand times a second needs hours for this.
const RESTART_COUNT_MAX: u32 = 1 << 24;
/// How often the copy is begun again because definitions changed.
const RESTART_MAX: u32 = 5;
/// How often others are kept waiting at the end before it gives up.
const TRY_MAX: u32 = 6;
/// After the first time; then twice that, and so on.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
/// Between two looks whether to stop.
const PAUSE_STEP: Duration = Duration::from_millis(20);
/// After so many rounds it gives up.
const ROUND_MAX: u32 = 50;
/// The last round is tried after one that took no longer; from a certain round on, after one that took no longer than a
/// third of what the lock may.
const SHORT_ROUND: Duration = Duration::from_millis(10);
/// That round.
const LONG_ROUNDS_FROM: u32 = 10;
