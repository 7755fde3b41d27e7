//! A block of work before, during and after an administrator's re-encryption of every page.
//!
//! - own-copy: a block has its own copy of its arm's master, which is deleted afterwards: every
//!   block starts in the same state, and the copies of the session do not change.
//! - phase-by-time: a phase lasts for a time, not for a number of loops, so that `during` covers
//!   the whole re-encryption. So copies do not end with the same rows; each must have as many as
//!   before, plus those that were inserted.
//! - re-encryption-is-checked: the re-encryption of every page is checked on the file; the report
//!   of the administrator's program is not sufficient.

use std::path::Path;
use std::time::{Duration, Instant};

use selenite_worker::dataset::marker;
use selenite_worker::protocol::{Control, Loaded, PLAIN};

use super::Runner;
use super::error::RunError;
use super::listener::Listener;
use super::plausibility::impossible;
use super::preparation::worker;
use super::session::{BlockOutcome, SessionResources, check_encrypted, no_worker, void_or_error};
use super::testbed::{Reencryption, Testbed, Workers};
use crate::arm::Arm;
use crate::config::{Cell, Online};
use crate::drive::{DriveError, Ended, GroupSample, count, quantile};
use crate::phase::{Phase, Phases, Sealing};

/// The phases in order. The first is not measured: it fills caches and pools.
pub(super) const PHASES: [&str; 4] = ["warm-up", "before", "during", "after"];

/// The result of a phase.
struct PhaseOutcome {
    group: GroupSample,
    phase: Phase,
    /// The number of inserted rows.
    inserted: u64,
    sealed: Option<Ended>,
    /// Why the block does not count.
    void: Option<String>,
}

/// The parameters of a phase, except its processes.
struct Plan<'a> {
    arm: &'a Arm,
    cell: &'a Cell,
    how: &'a Online,
    name: &'static str,
    seed: u64,
    /// The time limit of the re-encryption.
    limit: Duration,
}

impl<B: Testbed> Runner<'_, B> {
    /// Runs the block on its own copy.
    pub(super) fn online(
        &mut self,
        stage: &mut SessionResources<B::WorkerGroup>,
        cell: &Cell,
        how: &Online,
        (arm, seed): (usize, u64),
    ) -> Result<BlockOutcome, RunError> {
        let name = self.arms[arm].name.clone();
        let master = self.copies.master(&name, &cell.data);
        // No name of a dataset contains this character.
        let path = self.copies.copy_path(stage.id, &name, &format!("{}@online", cell.data));
        self.copies.copy(&master, &path)?;
        let ran = self.phases(stage, (cell, how), (arm, seed), (&master, &path));
        let cleared = self.copies.clear(&path);
        ran.and_then(|ran| cleared.map(|()| ran))
    }

    fn phases(
        &mut self,
        stage: &mut SessionResources<B::WorkerGroup>,
        (cell, how): (&Cell, &Online),
        (arm, seed): (usize, u64),
        (master, path): (&Path, &Path),
    ) -> Result<BlockOutcome, RunError> {
        let of = self.arms[arm].clone();
        self.around.testbed.prefetch(path).map_err(RunError::Cache)?;
        let spec = self.spec(&of, &of.cipher, path, self.cache_with_pool_kib(&of, cell));
        let rows = self.rows_of(arm, &cell.data)?;
        let (limit, request_timeout) = (self.config.study.block_timeout, self.request_timeout());
        let Some(group) = stage.groups.get_mut(&(arm, cell.processes)) else {
            return Ok(no_worker());
        };
        let opened = match group.open(&spec, request_timeout) {
            Ok(opened) => opened,
            Err(error) => return void_or_error(&of, cell, error),
        };
        check_encrypted(&of, &of.cipher, &opened, cell)?;
        self.around.testbed.begin_sampling(&group.pids());
        let mut listener = Listener::new(&mut self.store, &mut self.stopped, self.around.interrupt);
        let mut went: Vec<PhaseOutcome> = Vec::new();
        for (name, turn) in PHASES.into_iter().zip(0..) {
            let plan = Plan {
                arm: &of,
                cell,
                how,
                name,
                // Each phase uses other rows; they are the same for all arms.
                seed: seed.wrapping_add(turn),
                limit,
            };
            let mut seal = || self.around.testbed.start_reencryption(&spec, how);
            match plan.run(group, &mut listener, &mut seal)? {
                Ok(phase) => went.push(phase),
                Err(error) => return void_or_error(&of, cell, error),
            }
            if listener.is_over() || went.iter().any(|phase| phase.void.is_some()) {
                break;
            }
        }
        let is_over = listener.is_over();
        let altered = listener.end()?;
        let digest = group
            .digest(request_timeout)
            .and_then(|digest| group.close(request_timeout).map(|()| digest));
        let digest = match digest {
            Ok(digest) => digest,
            Err(error) => return void_or_error(&of, cell, error),
        };
        let expected = rows + went.iter().map(|phase| phase.inserted).sum::<u64>();
        if digest.rows != expected {
            return Err(RunError::RowsLost {
                arm: of.name,
                at: format!("cell `{}`", cell.name),
                expected,
                found: digest.rows,
            });
        }
        if went.iter().any(|phase| phase.sealed.is_some()) {
            self.prove_reencrypted(stage, (cell, arm), (master, path))?;
        }
        Ok(together(went, is_over, altered))
    }

    /// The number of rows in an arm's master.
    fn rows_of(&self, arm: usize, data: &str) -> Result<u64, RunError> {
        let arms = self.store.arms()?;
        let master = arms.get(arm).and_then(|row| row.masters.get(data));
        Ok(master.map_or(0, |master| master.rows))
    }

    /// Enforces `re-encryption-is-checked`, and checks that the database is still encrypted.
    fn prove_reencrypted(
        &mut self,
        stage: &mut SessionResources<B::WorkerGroup>,
        (cell, arm): (&Cell, usize),
        (master, path): (&Path, &Path),
    ) -> Result<(), RunError> {
        let of = self.arms[arm].clone();
        let request_timeout = self.request_timeout();
        let unproved = |source| RunError::Proof {
            arm: of.name.clone(),
            source,
        };
        let page_size = self.config.layout.page_size;
        let again = self.around.testbed.prove_reencrypted(master, path, page_size);
        again.map_err(unproved)?;
        let Some((control, data)) = of.control.zip(self.config.data.get(&cell.data)) else {
            return Ok(());
        };
        let spec = self.spec(&of, &of.cipher, path, self.config.layout.cache_kib);
        let Some(group) = stage.groups.get_mut(&(arm, cell.processes)) else {
            return Ok(());
        };
        let opened = group
            .open(&spec, request_timeout)
            .and_then(|opened| group.close(request_timeout).map(|()| opened));
        let opened = opened.map_err(|source| worker(&of, "open", source))?;
        let loaded = Loaded {
            digest: String::new(),
            rows: 0,
            marker: marker(data).to_owned(),
        };
        let plain = self.copies.copy_path(stage.id, &self.arms[control].name, &cell.data);
        let proved = self.around.testbed.prove(&of, path, &plain, &loaded, &opened);
        proved.map(drop).map_err(unproved)
    }
}

impl Arm {
    /// Whether its pages can be re-encrypted while others work: a database of suite NONE has no key.
    pub(super) fn is_sealed(&self) -> bool {
        self.engine == "selenite" && self.cipher != PLAIN && self.cipher != "NONE"
    }
}

impl Plan<'_> {
    /// Runs a phase. The inner error is the group's.
    fn run<C: Workers, S: Reencryption>(
        &self,
        group: &mut C,
        listener: &mut Listener<'_>,
        seal: &mut dyn FnMut() -> Result<S, DriveError>,
    ) -> Result<Result<PhaseOutcome, DriveError>, RunError> {
        let seals = self.name == "during" && self.arm.is_sealed();
        let began = Instant::now();
        let mut sealer = None;
        let mut sealed = None;
        let mut trouble = None;
        let mut void = None;
        let mut is_told = false;
        let mut control = || {
            if let Some(control) = listener.poll() {
                return Some(control);
            }
            if is_told || began.elapsed() < LEAD {
                return None;
            }
            let is_over = match seals {
                false => began.elapsed() >= LEAD + self.how.phase(),
                true => match sealing(&mut sealer, seal) {
                    Ok(None) if began.elapsed() > self.limit => {
                        void = Some(format!("re-encrypting its pages took longer than {:?}", self.limit));
                        true
                    }
                    Ok(ended) => {
                        sealed = ended;
                        sealed.is_some()
                    }
                    Err(error) => {
                        trouble = Some(error);
                        true
                    }
                },
            };
            is_told = is_over;
            is_over.then_some(Control { stop: true, mix: None })
        };
        // The lab ends a phase: a worker that continues for long after that hangs.
        let limit = self.how.phase() + self.limit * 2;
        let ran = group.run_asked(&self.cell.work, self.seed, limit, POLL, &mut control);
        let waited = began.elapsed();
        drop(sealer);
        if let Some(source) = trouble {
            let at = format!("cell `{}`, the administrator's program", self.cell.name);
            return Err(worker(self.arm, &at, source));
        }
        let group = match ran {
            Ok(group) => group,
            Err(error) => return Ok(Err(error)),
        };
        void = void.or_else(|| {
            let what = impossible(&group.sample, waited)?;
            Some(format!("its worker says what can't be: {what}"))
        });
        let rubbish = |what: String| RunError::Histogram {
            arm: self.arm.name.clone(),
            what,
        };
        let p99_ns = quantile(group.histograms.values(), 0.99).map_err(rubbish)?;
        let inserted = group.histograms.get("insert").map_or(Ok(0), |v2| count(v2));
        Ok(Ok(PhaseOutcome {
            phase: Phase::of(&group.sample, p99_ns.unwrap_or(0)),
            inserted: inserted.map_err(rubbish)?,
            group,
            sealed,
            void,
        }))
    }
}

/// Starts the administrator's program, or polls for its end.
fn sealing<S: Reencryption>(
    sealer: &mut Option<S>,
    seal: &mut dyn FnMut() -> Result<S, DriveError>,
) -> Result<Option<Ended>, DriveError> {
    match sealer {
        Some(sealer) => sealer.poll(),
        None => {
            *sealer = Some(seal()?);
            Ok(None)
        }
    }
}

/// Combines the phases into a block: the sample of `during`, all phases, and latencies named by phase.
fn together(went: Vec<PhaseOutcome>, is_over: bool, altered: bool) -> BlockOutcome {
    let void = went.iter().find_map(|phase| phase.void.clone());
    let mut parts = went.into_iter().skip(1);
    let (Some(before), Some(during), Some(after)) = (parts.next(), parts.next(), parts.next()) else {
        let mut sample = GroupSample::default();
        sample.sample.altered = is_over;
        return BlockOutcome {
            // Without a sample it counts as one of the consecutive void blocks that are limited.
            sample: void.is_none().then_some(sample),
            void: void.or(Some("it was ended before it was done".to_owned())),
            ..BlockOutcome::default()
        };
    };
    let sealing = during.sealed.as_ref().map(|ended| Sealing {
        took_ns: u64::try_from(ended.took.as_nanos()).unwrap_or(u64::MAX),
        pages: during.group.sample.pages,
        bytes: during.group.sample.database_bytes,
        said: ended.output_tail.clone(),
    });
    let phases = Phases {
        before: before.phase,
        during: during.phase,
        after: after.phase,
        sealing,
    };
    let mut sample = during.group;
    let names = PHASES.iter().skip(1);
    let mut histograms = std::collections::BTreeMap::new();
    let of_phases = [
        before.group.histograms,
        std::mem::take(&mut sample.histograms),
        after.group.histograms,
    ];
    for (name, of_phase) in names.zip(of_phases) {
        let named = of_phase
            .into_iter()
            .map(|(operation, v2)| (format!("{operation}, {name}"), v2));
        histograms.extend(named);
    }
    sample.histograms = histograms;
    // The lab itself ended the work, which is not a change of parameters.
    sample.sample.altered = is_over || altered;
    BlockOutcome {
        void: void.or(altered.then(|| "its parameters were altered by hand".to_owned())),
        sample: Some(sample),
        phases: Some(phases),
        dead: false,
    }
}

/// The interval of polling for the end of a phase: short compared with the shortest phase.
const POLL: Duration = Duration::from_millis(10);
/// How long several processes wait for each other before they start.
const LEAD: Duration = Duration::from_millis(60);
