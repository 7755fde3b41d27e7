//! A session: fresh copies, new processes, blocks in the order of the plan.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use selenite_worker::protocol::{OpenedDatabase, PLAIN, Workload};

use super::error::RunError;
use super::listener::Listener;
use super::observer::Progress;
use super::plausibility::impossible;
use super::preparation::worker;
use super::testbed::{Testbed, Workers};
use super::{Runner, whole_seconds};
use crate::arm::Arm;
use crate::cache::CacheError;
use crate::config::cell::{TO_ARM, connections, writes};
use crate::config::{CacheState, Cell};
use crate::drive::{DriveError, GroupSample};
use crate::phase::Phases;
use crate::proof::Claim;
use crate::schedule;
use crate::store::{InstanceRow, NewBlock, PlanRow};
use crate::summary::HostSample;

/// The resources of a session.
pub(super) struct SessionResources<C> {
    pub(super) id: u32,
    /// The processes by arm and number of processes.
    pub(super) groups: BTreeMap<(usize, u32), C>,
    /// The numbers of the copies in the store, by arm and dataset.
    instances: BTreeMap<(usize, String), i64>,
    /// Datasets that were written.
    pub(super) written: BTreeSet<String>,
    /// The answer of the first arm of the pair, with that pair and arm.
    answer: Option<((i64, u32), usize, String)>,
    /// The pair whose remaining blocks are void because its copies differ, and the reason.
    void_pair: Option<((i64, u32), String)>,
}

/// The result of a block.
#[derive(Default)]
pub(super) struct BlockOutcome {
    pub(super) sample: Option<GroupSample>,
    pub(super) phases: Option<Phases>,
    pub(super) void: Option<String>,
    /// Whether the arm's processes have to be restarted.
    pub(super) dead: bool,
}

impl<B: Testbed> Runner<'_, B> {
    /// Runs a session; false if it was interrupted or stopped before its end.
    pub(super) fn session(&mut self, id: u32, rows: &[PlanRow]) -> Result<bool, RunError> {
        let planned = self.store.schedule()?.last().map_or(id, |row| row.session);
        self.around.observer.progress(&Progress::Session {
            session: id,
            sessions: planned,
        });
        self.store
            .begin_session(id, whole_seconds(self.around.testbed.now_s()))?;
        let mut stage = SessionResources {
            id,
            groups: BTreeMap::new(),
            instances: BTreeMap::new(),
            written: BTreeSet::new(),
            answer: None,
            void_pair: None,
        };
        let wanted = self.wanted(rows);
        self.start_crews(&mut stage, &wanted)?;
        let all: Vec<String> = self.config.data.keys().cloned().collect();
        self.copy(&mut stage, &all)?;
        for (done, row) in rows.iter().enumerate() {
            if self.is_interrupted() || self.stopped {
                return Ok(false);
            }
            let began = self.around.testbed.now_s();
            if !self.block(&mut stage, row, (done, rows.len()))? {
                return Ok(false);
            }
            self.ran = (self.ran.0 + 1, self.ran.1 + self.around.testbed.now_s() - began);
        }
        self.around.observer.progress(&Progress::Blocks {
            session: id,
            total: rows.len(),
        });
        let compared = self
            .compare_copies(&mut stage)
            .and_then(|()| self.prove_copies(&mut stage));
        if let Err(error) = compared {
            let now = whole_seconds(self.around.testbed.now_s());
            self.store
                .end_session(id, now, Some("its copies could not be compared or proved, or differ"))?;
            return Err(error);
        }
        for (_, group) in std::mem::take(&mut stage.groups) {
            group.end();
        }
        self.copies.drop_session(id)?;
        Ok(self
            .store
            .end_session(id, whole_seconds(self.around.testbed.now_s()), None)
            .map(|()| true)?)
    }

    /// The groups of processes that the rows need.
    fn wanted(&self, rows: &[PlanRow]) -> BTreeSet<(usize, u32)> {
        let group = |row: &PlanRow| (index(row.arm), self.config.cells[index(row.cell)].processes);
        rows.iter().map(group).collect()
    }

    fn start_crews(
        &mut self,
        stage: &mut SessionResources<B::WorkerGroup>,
        wanted: &BTreeSet<(usize, u32)>,
    ) -> Result<(), RunError> {
        for (arm, count) in wanted {
            let of = &self.arms[*arm];
            let group = self
                .around
                .testbed
                .start(of, *count)
                .map_err(|source| worker(of, "start", source))?;
            stage.groups.insert((*arm, *count), group);
        }
        Ok(())
    }

    /// Copies the masters of some datasets for all arms, in random order.
    fn copy(&mut self, stage: &mut SessionResources<B::WorkerGroup>, datasets: &[String]) -> Result<(), RunError> {
        let all: Vec<(usize, &String)> = datasets
            .iter()
            .flat_map(|data| (0..self.arms.len()).map(move |arm| (arm, data)))
            .collect();
        let begun = stage.instances.len();
        for (made, place) in schedule::order(self.study.seed, stage.id, all.len())
            .into_iter()
            .enumerate()
        {
            let (arm, data) = all[place];
            let name = self.arms[arm].name.clone();
            let copy = self.copies.copy_path(stage.id, &name, data);
            self.copies.copy(&self.copies.master(&name, data), &copy)?;
            let groups = stage.groups.iter().filter(|((of, _), _)| *of == arm);
            let row = InstanceRow {
                session: stage.id,
                arm: number(arm),
                data: data.clone(),
                made: u32::try_from(begun + made).unwrap_or(u32::MAX),
                pids: groups.flat_map(|(_, group)| group.pids()).collect(),
                path: copy.display().to_string(),
            };
            let id = self.store.add_instance(&row)?;
            stage.instances.insert((arm, data.clone()), id);
        }
        Ok(())
    }

    /// Runs a block; false if the end of the run interrupted it, so that it was not written.
    fn block(
        &mut self,
        stage: &mut SessionResources<B::WorkerGroup>,
        row: &PlanRow,
        place: (usize, usize),
    ) -> Result<bool, RunError> {
        let (arm, pair) = (index(row.arm), (row.cell, row.pair));
        let cell = self.config.cells[index(row.cell)].clone();
        let (session, (done, total)) = (stage.id, place);
        let left = self.left(total - done)?;
        self.around.observer.progress(&Progress::Block {
            session,
            done,
            total,
            cell: &cell.name,
            left,
        });
        let began_s = self.seconds();
        if let Some((_, why)) = stage.void_pair.as_ref().filter(|(void, _)| *void == pair) {
            let void = Some(format!("{COPIES_DIFFER}: {why}"));
            let ran = BlockOutcome {
                void,
                ..BlockOutcome::default()
            };
            return self
                .keep(stage, row, &ran, &HostSample::default(), began_s)
                .map(|()| true);
        }
        let mut ran = match &cell.online {
            Some(how) => self.online(stage, &cell, how, (arm, row.seed))?,
            None => self.work(stage, &cell, arm, row.seed)?,
        };
        let altered = ran.sample.as_ref().is_some_and(|sample| sample.sample.altered);
        if altered && (self.stopped || self.is_interrupted()) {
            return Ok(false);
        }
        let (host, why) = self.around.testbed.end_sampling(began_s);
        ran.void = ran.void.or(why);
        // Work that lasts for a time has a varying number of loops; such a block counts its rows itself.
        let is_alike = ran.void.is_none() && cell.online.is_none();
        if let Some(sample) = ran.sample.as_ref().filter(|_| is_alike) {
            self.check_answer(stage, pair, arm, &cell, &sample.sample.answer)?;
        }
        self.keep(stage, row, &ran, &host, began_s)?;
        // Online blocks have their own copy.
        let writes = writes(&cell.work) && cell.online.is_none();
        if writes {
            stage.written.insert(cell.data.clone());
        }
        if ran.dead {
            self.restart_workers(stage, arm)?;
        }
        if writes && (ran.dead || altered) {
            // The incomplete changes of one copy are missing in the others, so all copies are replaced.
            stage.void_pair = Some((
                pair,
                format!("{}, {}", self.arms[arm].name, ran.void.unwrap_or_default()),
            ));
            self.copy(stage, &[cell.data])?;
        }
        Ok(true)
    }

    /// Writes a block, and counts consecutive void ones.
    fn keep(
        &mut self,
        stage: &SessionResources<B::WorkerGroup>,
        row: &PlanRow,
        ran: &BlockOutcome,
        host: &HostSample,
        began_s: f64,
    ) -> Result<(), RunError> {
        let (arm, cell) = (index(row.arm), &self.config.cells[index(row.cell)]);
        let instance = stage
            .instances
            .get(&(arm, cell.data.clone()))
            .copied()
            .unwrap_or_default();
        let none = BTreeMap::new();
        let counts = ran.sample.as_ref().filter(|_| ran.void.is_none());
        self.store.add_block(&NewBlock {
            seq: row.seq,
            instance,
            began_s,
            sample: counts.map(|sample| &sample.sample),
            phases: ran.phases.as_ref(),
            histograms: counts.map_or(&none, |sample| &sample.histograms),
            host,
            void: ran.void.as_deref(),
        })?;
        let Some(why) = &ran.void else {
            self.void_in_a_row = 0;
            return Ok(());
        };
        let (cell, arm) = (cell.name.clone(), self.arms[arm].name.clone());
        self.around.observer.progress(&Progress::Void {
            cell: &cell,
            arm: &arm,
            why,
        });
        self.event(&format!("{cell}, {arm}: does not count: {why}"))?;
        // A block that is void because of another one is not a further failure.
        let is_news = !why.starts_with(COPIES_DIFFER) && (ran.sample.is_none() || why.starts_with(NOT_COLD));
        self.void_in_a_row += u32::from(is_news);
        match self.void_in_a_row {
            count if count >= VOID_MAX => Err(RunError::TooManyVoid {
                count,
                last: why.clone(),
            }),
            _ => Ok(()),
        }
    }

    /// Sets the state of the caches, and does the work.
    fn work(
        &mut self,
        stage: &mut SessionResources<B::WorkerGroup>,
        cell: &Cell,
        arm: usize,
        seed: u64,
    ) -> Result<BlockOutcome, RunError> {
        let of = self.arms[arm].clone();
        let (source, cipher, work) = self.source(arm, cell);
        let path = self.copies.copy_path(stage.id, &self.arms[source].name, &cell.data);
        let mut void = None;
        match cell.cache {
            CacheState::Cold => match self.around.testbed.evict(&path) {
                Ok(()) => {}
                // The work is done all the same, so that the copies stay equal.
                Err(error @ CacheError::NotEvicted { .. }) => void = Some(format!("{NOT_COLD}: {error}")),
                Err(error) => return Err(RunError::Cache(error)),
            },
            CacheState::Os | CacheState::Page => self.around.testbed.prefetch(&path).map_err(RunError::Cache)?,
        }
        let spec = self.spec(&of, &cipher, &path, self.cache_with_pool_kib(&of, cell));
        let (limit, request_timeout) = (self.config.study.block_timeout, self.request_timeout());
        let Some(group) = stage.groups.get_mut(&(arm, cell.processes)) else {
            return Ok(no_worker());
        };
        let opened = match group.open(&spec, request_timeout) {
            Ok(opened) => opened,
            Err(error) => return void_or_error(&of, cell, error),
        };
        check_encrypted(&of, &cipher, &opened, cell)?;
        self.around.testbed.begin_sampling(&group.pids());
        let mut listener = Listener::new(&mut self.store, &mut self.stopped, self.around.interrupt);
        let began = Instant::now();
        let ran = group.run(&work, seed, limit, &mut || listener.poll());
        let waited = began.elapsed();
        let closed = ran.as_ref().ok().map(|_| group.close(request_timeout));
        let altered = listener.end()?;
        let mut sample = match (ran, closed) {
            (Err(error), _) | (Ok(_), Some(Err(error))) => return void_or_error(&of, cell, error),
            (Ok(sample), _) => sample,
        };
        sample.sample.altered |= altered;
        if sample.sample.altered {
            void = Some("its parameters were altered by hand".to_owned());
        }
        let is_server = group.hello().server;
        let moved = sample.sample.read_bytes + sample.sample.faults_major;
        if is_server && cell.cache == CacheState::Cold && moved == 0 {
            void = Some(format!("{NOT_COLD}: its server read nothing from storage"));
        }
        if let Some(what) = impossible(&sample.sample, waited) {
            void = Some(format!("its worker says what can't be: {what}"));
        }
        Ok(BlockOutcome {
            sample: Some(sample),
            void,
            ..BlockOutcome::default()
        })
    }

    /// SQLite's page cache of an arm in a cell, in KiB. In a cell with the same memory for all arms
    /// it includes one connection's share of the page pool that this arm lacks.
    pub(super) fn cache_with_pool_kib(&self, arm: &Arm, cell: &Cell) -> u32 {
        let configured = self.cache_kib(cell);
        if !cell.same_memory {
            return configured;
        }
        let largest = self.arms.iter().filter_map(|arm| arm.pool).max().unwrap_or(0);
        let missing = largest.saturating_sub(arm.pool.unwrap_or(0));
        let each = missing / u64::from(connections(&cell.work));
        configured.saturating_add(u32::try_from(each >> 10).unwrap_or(u32::MAX >> 1))
    }

    /// The arm whose copy is opened, the cipher of that copy, and the work.
    fn source(&self, arm: usize, cell: &Cell) -> (usize, String, Workload) {
        let of = &self.arms[arm];
        if cell.work != (Workload::Convert { to: TO_ARM.to_owned() }) {
            return (arm, of.cipher.clone(), cell.work.clone());
        }
        // From unencrypted: the copy of its control, which this work does not change.
        let source = match of.cipher == PLAIN {
            true => arm,
            false => of.control.unwrap_or(arm),
        };
        let to = of.cipher.clone();
        (source, PLAIN.to_owned(), Workload::Convert { to })
    }

    fn check_answer(
        &self,
        stage: &mut SessionResources<B::WorkerGroup>,
        pair: (i64, u32),
        arm: usize,
        cell: &Cell,
        answer: &str,
    ) -> Result<(), RunError> {
        match &stage.answer {
            Some((of, first, other)) if *of == pair => match other == answer {
                true => Ok(()),
                false => Err(self.differ(arm, *first, format!("cell `{}`, what was answered", cell.name))),
            },
            _ => {
                stage.answer = Some((pair, arm, answer.to_owned()));
                Ok(())
            }
        }
    }

    /// Starts new processes for an arm.
    fn restart_workers(&mut self, stage: &mut SessionResources<B::WorkerGroup>, arm: usize) -> Result<(), RunError> {
        let wanted: BTreeSet<(usize, u32)> = stage.groups.keys().filter(|(of, _)| *of == arm).copied().collect();
        stage.groups.retain(|(of, _), _| *of != arm);
        self.start_crews(stage, &wanted)?;
        for data in self.config.data.keys() {
            let groups = stage.groups.iter().filter(|((of, _), _)| *of == arm);
            let row = InstanceRow {
                session: stage.id,
                arm: number(arm),
                data: data.clone(),
                made: u32::try_from(stage.instances.len()).unwrap_or(u32::MAX),
                pids: groups.flat_map(|(_, group)| group.pids()).collect(),
                path: self
                    .copies
                    .copy_path(stage.id, &self.arms[arm].name, data)
                    .display()
                    .to_string(),
            };
            let id = self.store.add_instance(&row)?;
            stage.instances.insert((arm, data.clone()), id);
        }
        Ok(())
    }

    /// The estimated time until the end of the last session, from the blocks so far.
    fn left(&self, of_session: usize) -> Result<Option<std::time::Duration>, RunError> {
        let (blocks, seconds) = self.ran;
        if blocks == 0 {
            return Ok(None);
        }
        let begun: BTreeSet<u32> = self.store.sessions()?.iter().map(|session| session.id).collect();
        let later = self
            .store
            .schedule()?
            .iter()
            .filter(|row| !begun.contains(&row.session))
            .count();
        let left = u32::try_from(of_session + later).unwrap_or(u32::MAX);
        Ok(std::time::Duration::try_from_secs_f64(seconds / f64::from(blocks) * f64::from(left)).ok())
    }
}

pub(super) fn no_worker() -> BlockOutcome {
    BlockOutcome {
        void: Some("it has no worker".to_owned()),
        dead: true,
        ..BlockOutcome::default()
    }
}

/// A worker that refuses would refuse again, which is an error; one that ended or hung is restarted.
pub(super) fn void_or_error(arm: &Arm, cell: &Cell, error: DriveError) -> Result<BlockOutcome, RunError> {
    match error.is_refusal() {
        true => Err(worker(arm, &format!("cell `{}`", cell.name), error)),
        false => Ok(BlockOutcome {
            void: Some(error.to_string()),
            dead: true,
            ..BlockOutcome::default()
        }),
    }
}

pub(super) fn check_encrypted(arm: &Arm, cipher: &str, opened: &OpenedDatabase, cell: &Cell) -> Result<(), RunError> {
    match Claim::of(&arm.engine, cipher) == Claim::Encrypted && !opened.encrypted {
        true => Err(RunError::NotEncrypted {
            arm: arm.name.clone(),
            at: format!("cell `{}`", cell.name),
        }),
        false => Ok(()),
    }
}

/// The index for a number in the store.
fn index(number: i64) -> usize {
    usize::try_from(number - 1).unwrap_or(0)
}

/// The number in the store for an index.
fn number(index: usize) -> i64 {
    i64::try_from(index).map_or(i64::MAX, |index| index + 1)
}

const NOT_COLD: &str = "its file was not cold";
const COPIES_DIFFER: &str = "its copies differ now";
/// So many consecutive void blocks are not accidental.
const VOID_MAX: u32 = 5;
