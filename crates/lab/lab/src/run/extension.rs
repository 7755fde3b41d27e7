//! Extension of a study: whole sessions that are added after its end.
//!
//! - same-plan: the sessions continue the schedule of the same seed, on the same machine with the
//!   same programs.
//! - fixed-length: their number is fixed before the first of them, and neither precision nor the
//!   budget ends them early. The analysis allows for the fact that a user knew the effects before.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use selenite_worker::protocol::Hello;

use super::error::RunError;
use super::preparation::worker;
use super::testbed::{Testbed, Workers};
use super::{RunContext, RunOutcome, Runner, folder, open, whole_seconds};
use crate::schedule::{self, Draw, Extent};
use crate::store::{ExtensionRow, PlanRow, SessionRow};
use crate::summary::{ArmFacts, Extension, HostFacts, StudyState};

/// Adds whole sessions to a study that has ended, and runs them.
///
/// Errors: all of [`RunError`]; `NotOver` if it has not ended, `Differs` if the machine or a program differs.
pub fn extend<B: Testbed>(path: &Path, sessions: u32, around: RunContext<'_, B>) -> Result<RunOutcome, RunError> {
    let mut runner = open(path, None, around)?;
    match runner.study.state {
        StudyState::Precise | StudyState::Complete | StudyState::OutOfBudget => {}
        StudyState::Unfinished | StudyState::Stopped => return Err(RunError::NotOver),
    }
    runner.check_same()?;
    runner.plan_more(sessions)?;
    match runner.prepare()? {
        true => runner.run_sessions(),
        false => Ok(RunOutcome::Interrupted),
    }
}

impl<B: Testbed> Runner<'_, B> {
    /// Refuses a machine or programs other than those at the start of the study.
    pub(super) fn check_same(&mut self) -> Result<(), RunError> {
        let study = &self.study;
        differ("version of selenite", &study.lab_version, env!("CARGO_PKG_VERSION"))?;
        differ("commit of selenite", &study.commit, &self.around.commit)?;
        let host = self.around.testbed.host(folder(self.store.path()));
        differ_machines(&self.study.host, &host)?;
        let stored = self.store.arms()?;
        for (arm, row) in self.arms.clone().iter().zip(stored) {
            let found = self.around.testbed.find(arm);
            found.map_err(|source| RunError::Engine {
                arm: arm.name.clone(),
                source: Box::new(source),
            })?;
            let program = self.around.testbed.program_sha256(arm);
            let started = self.around.testbed.start(arm, 1);
            let group = started.map_err(|source| worker(arm, "start", source))?;
            let hello = group.hello().clone();
            group.end();
            differ_programs(&row.facts, &hello, program.as_deref())?;
        }
        Ok(())
    }

    /// Writes the extension, with the sessions that have to be drawn for it.
    fn plan_more(&mut self, sessions: u32) -> Result<(), RunError> {
        let (plan, begun) = (self.store.schedule()?, self.store.sessions()?);
        let counts = |session: &&SessionRow| session.ended_s.is_some() && session.void.is_none();
        let from = u32::try_from(begun.iter().filter(counts).count()).unwrap_or(u32::MAX);
        let last = plan.iter().map(|row| row.session).max().unwrap_or(0);
        // Sessions that were omitted because of precision or the budget run first.
        let left = self.full_sessions(&plan);
        let left = left
            .iter()
            .filter(|id| begun.iter().all(|session| session.id != **id))
            .count();
        let left = u32::try_from(left).unwrap_or(u32::MAX);
        let drawn = self
            .store
            .last_extension()?
            .map_or(self.config.study.sessions, |last| last.drawn);
        let more = sessions.saturating_sub(left);
        let draws: Vec<Draw> = schedule::draw(self.study.seed, self.extent(drawn + more))
            .into_iter()
            .filter(|draw| draw.session > drawn)
            .map(|draw| Draw {
                session: draw.session - drawn + last,
                ..draw
            })
            .collect();
        let facts = Extension {
            at_s: whole_seconds(self.around.testbed.now_s()),
            from,
            sessions,
        };
        let row = ExtensionRow {
            facts,
            until: self.whole_sessions(&plan) + sessions,
            drawn: drawn + more,
        };
        self.store.extend(&row, &draws)?;
        let noun = if sessions == 1 { "session" } else { "sessions" };
        self.event(&format!("extended by {sessions} {noun}, after {from}"))
    }

    /// The extent of a schedule with so many sessions.
    pub(super) fn extent(&self, sessions: u32) -> Extent {
        Extent {
            sessions,
            pairs: self.config.study.pairs,
            cells: self.config.cells.len(),
            arms: self.arms.len(),
        }
    }

    /// Whether the sessions of the last extension have ended; none if the study was not extended.
    pub(super) fn is_extension_done(&self, plan: &[PlanRow]) -> Result<Option<bool>, RunError> {
        let last = self.store.last_extension()?;
        Ok(last.map(|last| self.whole_sessions(plan) >= last.until))
    }

    /// Planned sessions, except those that consist of the remaining blocks of an interrupted one.
    fn full_sessions(&self, plan: &[PlanRow]) -> BTreeSet<u32> {
        let mut rows: BTreeMap<u32, usize> = BTreeMap::new();
        for row in plan {
            *rows.entry(row.session).or_default() += 1;
        }
        let pairs = usize::try_from(self.config.study.pairs).unwrap_or(usize::MAX);
        let full = pairs * self.config.cells.len() * self.arms.len();
        let full = rows.into_iter().filter(|(_, count)| *count == full);
        full.map(|(session, _)| session).collect()
    }

    /// The number of them whose blocks have all run.
    fn whole_sessions(&self, plan: &[PlanRow]) -> u32 {
        let mut whole = self.full_sessions(plan);
        for row in plan.iter().filter(|row| row.block.is_none()) {
            whole.remove(&row.session);
        }
        u32::try_from(whole.len()).unwrap_or(u32::MAX)
    }
}

fn differ(what: &str, then: &str, now: &str) -> Result<(), RunError> {
    match then == now {
        true => Ok(()),
        false => Err(RunError::Differs {
            what: what.to_owned(),
            then: then.to_owned(),
            now: now.to_owned(),
        }),
    }
}

fn differ_machines(then: &HostFacts, now: &HostFacts) -> Result<(), RunError> {
    let of = |host: &HostFacts, name: &str| {
        let found = host.facts.iter().find(|(other, _)| other == name);
        found.map_or_else(|| "unknown".to_owned(), |(_, value)| value.clone())
    };
    let names = then.facts.iter().chain(&now.facts).map(|(name, _)| name.as_str());
    for name in names.filter(|name| !MOMENTARY.contains(name)) {
        differ(&format!("machine ({name})"), &of(then, name), &of(now, name))?;
    }
    Ok(())
}

fn differ_programs(then: &ArmFacts, now: &Hello, program: Option<&str>) -> Result<(), RunError> {
    let name = &then.name;
    differ(&format!("library of `{name}`"), &then.library, &now.library)?;
    differ(
        &format!("SQLite of `{name}`"),
        &then.sqlite_version,
        &now.sqlite_version,
    )?;
    // Stores of older versions do not contain it.
    match &then.program_sha256 {
        Some(then) => differ(
            &format!("program of `{name}` (SHA-256)"),
            then,
            program.unwrap_or("unknown"),
        ),
        None => Ok(()),
    }
}

/// Facts of a machine that change continuously.
const MOMENTARY: [&str; 2] = ["frequency", "load"];
