//! The execution of a study: checks, masters, sessions, end.
//!
//! - no-peeking: no decision depends on measured effects. The end by precision depends on the
//!   widths of intervals alone.
//! - unfinished-block-is-void: a block that was begun and not written does not count, and its pair
//!   is repeated in a new session.
//! - proof-before-sessions: no session begins before the encryption of every arm was proved and its
//!   rows were compared.

mod comparison;
mod database_copies;
mod error;
mod extension;
mod forecast;
mod listener;
mod local_testbed;
mod observer;
mod online;
mod plausibility;
mod precision;
mod preparation;
mod session;
mod testbed;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

pub use selenite_stats::PrecisionPlan;
use selenite_stats::SESSIONS_MIN;
use selenite_worker::protocol::{DatabaseSpec, PLAIN};

use database_copies::DatabaseCopies;
pub use error::RunError;
pub use extension::extend;
pub use forecast::{Noise, StudyForecast, forecast};
pub use local_testbed::LocalTestbed;
pub use observer::{Observer, Progress, Quiet};
pub(crate) use preparation::worker;
pub use testbed::{Reencryption, Testbed, Workers};

use crate::arm::{self, Arm};
use crate::config::{CacheState, Cell, Config};
use crate::store::{PlanRow, SessionRow, Store, StudyRow};
use crate::summary::StudyState;

/// A new study.
#[derive(Clone, Debug)]
pub struct NewStudy {
    /// The path of its store: `NAME.lab.db`.
    pub path: PathBuf,
    /// Its configuration.
    pub config: Config,
    /// The command that makes a study like it.
    pub command: String,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunOutcome {
    /// The study is over.
    Over(StudyState),
    /// It was interrupted, and can be resumed.
    Interrupted,
}

/// The environment of a run.
pub struct RunContext<'a, B> {
    /// The testbed.
    pub testbed: &'a mut B,
    /// The observer of its progress.
    pub observer: &'a mut dyn Observer,
    /// Set by another thread to end the run; the current block is completed unless it can be ended early.
    pub interrupt: &'a AtomicBool,
    /// Whether masters are kept at the end of the study.
    pub keep: bool,
    /// The commit that this program was built from; empty if unknown.
    pub commit: String,
}

/// Runs a new study.
///
/// Errors: all of [`RunError`] but `ConfigDiffers` and `Over`. If it fails before the schedule is
/// written, there is no store; otherwise the study can be resumed.
pub fn run<B: Testbed>(new: NewStudy, around: RunContext<'_, B>) -> Result<RunOutcome, RunError> {
    let arms = arm::arms(&new.config)?;
    let study = StudyRow {
        name: new.config.study.name.clone(),
        config_sha256: new.config.sha256(),
        seed: seed(&new.config)?,
        config: new.config.text.clone(),
        lab_version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: around.commit.clone(),
        command: new.command,
        created_s: whole_seconds(around.testbed.now_s()),
        host: around.testbed.host(folder(&new.path)),
        state: StudyState::Unfinished,
    };
    let store = Store::create(&new.path, &study)?;
    let mut runner = Runner::new(new.config, arms, study, store, around);
    match runner.prepare() {
        Ok(true) => runner.run_sessions(),
        outcome => {
            // Nothing was measured, so the copies are of no use.
            let cleared = runner.copies.drop_all();
            drop(runner);
            let _ = std::fs::remove_file(&new.path);
            outcome.and(cleared).map(|()| RunOutcome::Interrupted)
        }
    }
}

/// Resumes a study that was interrupted, killed or stopped. `config` is the configuration that the
/// caller expects.
///
/// Errors: all of [`RunError`].
pub fn resume<B: Testbed>(
    path: &Path,
    config: Option<&Config>,
    around: RunContext<'_, B>,
) -> Result<RunOutcome, RunError> {
    let mut runner = open(path, config, around)?;
    match runner.study.state {
        StudyState::Unfinished | StudyState::Stopped => {}
        over @ (StudyState::Precise | StudyState::Complete | StudyState::OutOfBudget) => {
            return Err(RunError::Over(over));
        }
    }
    if runner.store.last_extension()?.is_some() {
        runner.check_same()?;
    }
    runner.copies.drop_sessions()?;
    runner.store.take_asks()?;
    runner.store.set_state(StudyState::Unfinished)?;
    runner.retire()?;
    match runner.prepare()? {
        true => {
            runner.event("resumed")?;
            runner.run_sessions()
        }
        false => Ok(RunOutcome::Interrupted),
    }
}

/// Opens the store of a study, which must have that configuration.
fn open<'a, B: Testbed>(
    path: &Path,
    config: Option<&Config>,
    around: RunContext<'a, B>,
) -> Result<Runner<'a, B>, RunError> {
    let store = Store::open(path)?;
    let study = store.study()?;
    let stored = Config::parse(&study.config)?;
    if stored.sha256() != study.config_sha256 || config.is_some_and(|config| config.sha256() != study.config_sha256) {
        return Err(RunError::ConfigDiffers);
    }
    let arms = arm::arms(&stored)?;
    Ok(Runner::new(stored, arms, study, store, around))
}

struct Runner<'a, B: Testbed> {
    config: Config,
    arms: Vec<Arm>,
    study: StudyRow,
    store: Store,
    copies: DatabaseCopies,
    around: RunContext<'a, B>,
    /// The largest number of pages of each dataset's masters.
    pages: BTreeMap<String, u64>,
    /// Blocks of this run, and their duration including everything that belongs to them.
    ran: (u32, f64),
    /// Consecutive void blocks.
    void_in_a_row: u32,
    /// Whether a user requested the end.
    stopped: bool,
}

impl<'a, B: Testbed> Runner<'a, B> {
    fn new(config: Config, arms: Vec<Arm>, study: StudyRow, store: Store, around: RunContext<'a, B>) -> Runner<'a, B> {
        let copies = DatabaseCopies::of(store.path());
        Runner {
            config,
            arms,
            study,
            store,
            copies,
            around,
            pages: BTreeMap::new(),
            ran: (0, 0.0),
            void_in_a_row: 0,
            stopped: false,
        }
    }

    /// Runs the remaining sessions until an end condition holds.
    fn run_sessions(mut self) -> Result<RunOutcome, RunError> {
        let outcome = self.sessions();
        self.copies.drop_sessions()?;
        let state = match outcome {
            Ok(Some(state)) => state,
            Ok(None) => return Ok(RunOutcome::Interrupted),
            Err(error) => {
                self.event(&format!("ended by an error: {error}"))?;
                return Err(error);
            }
        };
        self.event(match state {
            StudyState::Precise => "precise enough",
            StudyState::OutOfBudget => "out of budget",
            StudyState::Stopped => "stopped on request",
            StudyState::Complete | StudyState::Unfinished => "all sessions done",
        })?;
        self.store.set_state(state)?;
        if !self.around.keep {
            self.copies.drop_all()?;
        }
        self.store.settle();
        Ok(RunOutcome::Over(state))
    }

    fn sessions(&mut self) -> Result<Option<StudyState>, RunError> {
        loop {
            let begun = self.store.sessions()?;
            let plan = self.store.schedule()?;
            let extension_done = self.is_extension_done(&plan)?;
            if extension_done == Some(true) {
                return Ok(Some(StudyState::Complete));
            }
            let ids: BTreeSet<u32> = plan.iter().map(|row| row.session).collect();
            let next = ids.into_iter().find(|id| begun.iter().all(|session| session.id != *id));
            let Some(next) = next else {
                return Ok(Some(StudyState::Complete));
            };
            let is_extended = extension_done.is_some();
            if self.is_precise(&begun)? && !is_extended {
                return Ok(Some(StudyState::Precise));
            }
            if self.is_too_late(&begun) && !is_extended {
                return Ok(Some(StudyState::OutOfBudget));
            }
            let rows: Vec<PlanRow> = plan.into_iter().filter(|row| row.session == next).collect();
            if !self.session(next, &rows)? {
                return Ok(self.stopped.then_some(StudyState::Stopped));
            }
        }
    }

    /// Whether another session as long as the longest one would end after the budget.
    fn is_too_late(&self, begun: &[SessionRow]) -> bool {
        let lengths = begun
            .iter()
            .filter_map(|session| Some(session.ended_s?.saturating_sub(session.created_s)));
        let (spent, longest) = lengths.fold((0, 0), |(sum, most), length| (sum + length, most.max(length)));
        !begun.is_empty() && Duration::from_secs(spent + longest) > self.config.study.budget
    }

    fn is_precise(&mut self, begun: &[SessionRow]) -> Result<bool, RunError> {
        if begun.is_empty() {
            return Ok(false);
        }
        let found = precision::evaluate(&self.store, &self.config)?;
        let sessions = u32::try_from(begun.len()).unwrap_or(u32::MAX);
        let target = self.config.study.target_half_width;
        self.around.observer.progress(&Progress::Precision {
            sessions,
            widest: found.widest,
            target,
            needed: found.sessions,
        });
        Ok(found.precise && sessions >= SESSIONS_MIN)
    }

    /// Ends an interrupted session, and schedules its remaining blocks again.
    fn retire(&mut self) -> Result<(), RunError> {
        let cut: Vec<u32> = self
            .store
            .sessions()?
            .iter()
            .filter(|session| session.ended_s.is_none())
            .map(|session| session.id)
            .collect();
        for session in cut {
            let mut rows = self.store.schedule()?;
            rows.retain(|row| row.session == session);
            let undone: BTreeSet<(i64, u32)> = rows
                .iter()
                .filter(|row| row.block.is_none())
                .map(|row| (row.cell, row.pair))
                .collect();
            let whole = rows.iter().any(|row| !undone.contains(&(row.cell, row.pair)));
            rows.retain(|row| undone.contains(&(row.cell, row.pair)));
            let now = whole_seconds(self.around.testbed.now_s());
            let void = (!whole).then_some("interrupted before a pair was done");
            self.store.retire_session(session, now, void, &rows)?;
            self.event(&format!(
                "session {session} was cut short; what it left undone is in a new one"
            ))?;
        }
        Ok(())
    }

    fn event(&mut self, text: &str) -> Result<(), RunError> {
        let at = self.seconds();
        Ok(self.store.add_event(at, text)?)
    }

    /// Seconds since the start of the study.
    fn seconds(&self) -> f64 {
        let began = Duration::from_secs(self.study.created_s).as_secs_f64();
        (self.around.testbed.now_s() - began).max(0.0)
    }

    fn is_interrupted(&self) -> bool {
        self.around.interrupt.load(Ordering::Relaxed)
    }

    /// How an arm opens a file with the cipher `cipher`.
    fn spec(&self, arm: &Arm, cipher: &str, path: &Path, cache_kib: u32) -> DatabaseSpec {
        let layout = &self.config.layout;
        DatabaseSpec {
            path: path.to_owned(),
            cipher: cipher.to_owned(),
            key_file: self.copies.key_file(),
            settings: if cipher == PLAIN {
                BTreeMap::new()
            } else {
                arm.settings.clone()
            },
            page_size: layout.page_size,
            cache_kib,
            journal_mode: layout.journal_mode.clone(),
            synchronous: layout.synchronous.clone(),
        }
    }

    /// SQLite's page cache in a cell: as configured, or one that holds the largest copy.
    fn cache_kib(&self, cell: &Cell) -> u32 {
        let configured = self.config.layout.cache_kib;
        match cell.cache {
            CacheState::Cold | CacheState::Os => configured,
            CacheState::Page => {
                let pages = self.pages.get(&cell.data).copied().unwrap_or(0);
                let bytes = pages.saturating_mul(u64::from(self.config.layout.page_size));
                page_cache_kib(bytes).max(configured)
            }
        }
    }

    /// The time limit of a request to a worker other than a block.
    fn request_timeout(&self) -> Duration {
        self.config.study.block_timeout.max(PATIENCE)
    }
}

/// SQLite's page cache, in KiB, that holds a database of so many bytes.
pub(crate) fn page_cache_kib(bytes: u64) -> u32 {
    // A cached page has a header, and writes add pages.
    let kib = bytes.saturating_add(bytes / 4) / 1024 + 1024;
    u32::try_from(kib).unwrap_or(u32::MAX >> 1)
}

/// The folder that a store is in.
fn folder(store: &Path) -> &Path {
    match store.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// The configured seed, or a random one.
fn seed(config: &Config) -> Result<u64, RunError> {
    if config.study.seed != 0 {
        return Ok(config.study.seed);
    }
    let random = Path::new("/dev/urandom");
    let mut bytes = [0; 8];
    let read = std::fs::File::open(random).and_then(|mut file| std::io::Read::read_exact(&mut file, &mut bytes));
    read.map_err(RunError::io("read", random))?;
    Ok((u64::from_le_bytes(bytes) >> 1).max(1))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a time of this age; the cast saturates"
)]
fn whole_seconds(seconds: f64) -> u64 {
    seconds as u64
}

/// Opening, closing and digests of the largest databases take less time.
const PATIENCE: Duration = Duration::from_secs(120);

#[cfg(test)]
mod tests;
