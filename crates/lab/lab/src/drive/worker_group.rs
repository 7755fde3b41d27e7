//! The worker processes of one arm's copy.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use selenite_worker::protocol::{
    Control, DatabaseSpec, Dataset, Digest, Done, Hello, Loaded, OpenedDatabase, Request, Sample, Share, Workload,
};

use super::failure::DriveError;
use super::sum::{histograms, sum};
use super::worker::{Worker, WorkerCommand};

/// Worker processes that work on one database together.
#[derive(Debug)]
pub struct WorkerGroup {
    /// In order of their shares; never empty.
    workers: Vec<Worker>,
    /// The number of processes whose work they do.
    count: u32,
    hello: Hello,
}

/// The cost of a block for all processes of a group.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GroupSample {
    /// The sum over all processes, without latencies.
    pub sample: Sample,
    /// Latencies by operation: V2-deflate HdrHistograms of nanoseconds.
    pub histograms: BTreeMap<String, Vec<u8>>,
    /// The delay between the first start and the last one, in nanoseconds.
    pub stagger_ns: u64,
}

impl WorkerGroup {
    /// Starts `count` processes (at least one), and requests [`Hello`] of each. A server's worker is
    /// one process that does the work of all.
    ///
    /// # Errors
    /// As for [`Worker::start`] and [`Worker::hello`].
    pub fn start(command: &WorkerCommand, count: u32, limit: Duration) -> Result<Self, DriveError> {
        let mut first = Worker::start(command)?;
        let hello = first.hello(limit)?;
        let mut workers = vec![first];
        let more = if hello.server { 1 } else { count };
        for _ in 1..more {
            let mut worker = Worker::start(command)?;
            worker.hello(limit)?;
            workers.push(worker);
        }
        Ok(Self { workers, count, hello })
    }

    /// The [`Hello`] of the group's engine.
    #[must_use]
    pub fn hello(&self) -> &Hello {
        &self.hello
    }

    /// Their process ids, in order of their shares.
    #[must_use]
    pub fn pids(&self) -> Vec<u32> {
        self.workers.iter().map(Worker::pid).collect()
    }

    /// Makes a new database from a seed, with the first process. Servers need a database with the
    /// rows, too.
    ///
    /// # Errors
    /// As for [`Worker::ask`].
    pub fn load(
        &mut self,
        database: &DatabaseSpec,
        dataset: &Dataset,
        seed: u64,
        rows: Option<&Path>,
        limit: Duration,
    ) -> Result<Loaded, DriveError> {
        let request = Request::Load {
            database: database.clone(),
            dataset: dataset.clone(),
            seed,
            rows: rows.map(Path::to_owned),
        };
        self.workers[0].ask(&request, limit)
    }

    /// Opens the database in all processes, one after the other. Returns the answer of the first.
    ///
    /// # Errors
    /// As for [`Worker::ask`].
    pub fn open(&mut self, database: &DatabaseSpec, limit: Duration) -> Result<OpenedDatabase, DriveError> {
        let request = Request::Open {
            database: database.clone(),
        };
        let opened = self.workers[0].ask(&request, limit)?;
        for worker in &mut self.workers[1..] {
            worker.ask::<OpenedDatabase>(&request, limit)?;
        }
        Ok(opened)
    }

    /// Closes the database in all processes; the first one closes last, and makes the checkpoint.
    ///
    /// # Errors
    /// As for [`Worker::ask`].
    pub fn close(&mut self, limit: Duration) -> Result<(), DriveError> {
        for worker in self.workers.iter_mut().rev() {
            worker.ask::<Done>(&Request::Close, limit)?;
        }
        Ok(())
    }

    /// A digest of all rows, by the first process.
    ///
    /// # Errors
    /// As for [`Worker::ask`].
    pub fn digest(&mut self, limit: Duration) -> Result<Digest, DriveError> {
        self.workers[0].ask(&Request::Digest, limit)
    }

    /// Runs a block of work: every process its share, concurrently. `control` is polled about every
    /// 200 ms, and its controls are sent to all processes.
    ///
    /// # Errors
    /// As for [`Worker::ask`]. After all but [`DriveError::Refused`] every process of the group has
    /// been killed.
    pub fn run(
        &mut self,
        work: &Workload,
        seed: u64,
        limit: Duration,
        control: &mut dyn FnMut() -> Option<Control>,
    ) -> Result<GroupSample, DriveError> {
        self.run_asked(work, seed, limit, POLL, control)
    }

    /// As [`WorkerGroup::run`], where `control` is polled at the interval `poll`.
    ///
    /// # Errors
    /// As for [`WorkerGroup::run`].
    pub fn run_asked(
        &mut self,
        work: &Workload,
        seed: u64,
        limit: Duration,
        poll: Duration,
        control: &mut dyn FnMut() -> Option<Control>,
    ) -> Result<GroupSample, DriveError> {
        let samples = self.work(work, seed, limit, poll, control);
        let samples = samples.inspect_err(|error| {
            if !error.is_refusal() {
                self.kill();
            }
        })?;
        let merged = histograms(&samples);
        let histograms = merged.map_err(|what| self.workers[0].invalid_answer(&what, ""))?;
        let began = samples.iter().map(|sample| sample.began_ns);
        let stagger_ns = began.clone().max().unwrap_or(0) - began.min().unwrap_or(0);
        Ok(GroupSample {
            sample: sum(&samples),
            histograms,
            stagger_ns,
        })
    }

    /// Sends `quit` to all processes, and kills each after `limit`.
    pub fn quit(self, limit: Duration) {
        for worker in self.workers {
            worker.quit(limit);
        }
    }

    /// Kills all processes. Idempotent.
    pub fn kill(&mut self) {
        for worker in &mut self.workers {
            worker.kill();
        }
    }

    fn work(
        &mut self,
        work: &Workload,
        seed: u64,
        limit: Duration,
        poll: Duration,
        control: &mut dyn FnMut() -> Option<Control>,
    ) -> Result<Vec<Sample>, DriveError> {
        let deadline = Instant::now() + limit;
        let mut turn = RunningBlock::begin(&mut self.workers, work, seed, self.count)?;
        while let Some(busy) = turn.first_busy() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(turn.workers[busy].hung(limit));
            }
            turn.listen(poll.min(left))?;
            if let Some(control) = control() {
                turn.pass_on(control)?;
            }
        }
        turn.answers.into_iter().flatten().collect()
    }
}

/// A block of work in progress.
struct RunningBlock<'a> {
    workers: &'a mut [Worker],
    /// The answers of all workers, including refusals.
    answers: Vec<Option<Result<Sample, DriveError>>>,
}

impl<'a> RunningBlock<'a> {
    fn begin(workers: &'a mut [Worker], work: &Workload, seed: u64, count: u32) -> Result<Self, DriveError> {
        let start_at_ns = if workers.len() > 1 { monotonic_ns() + LEAD_NS } else { 0 };
        for (index, worker) in (0..).zip(workers.iter_mut()) {
            worker.send(&Request::Run {
                work: work.clone(),
                seed,
                process: Share { index, count },
                start_at_ns,
            })?;
        }
        let answers = workers.iter().map(|_| None).collect();
        Ok(Self { workers, answers })
    }

    fn first_busy(&self) -> Option<usize> {
        self.answers.iter().position(Option::is_none)
    }

    /// Takes the available answers; waits at most `limit` for the first busy worker.
    fn listen(&mut self, limit: Duration) -> Result<(), DriveError> {
        let mut limit = limit;
        let busy = self.workers.iter_mut().zip(&mut self.answers);
        for (worker, answer) in busy.filter(|(_, answer)| answer.is_none()) {
            *answer = match worker.answer(limit) {
                Ok(sample) => sample.map(Ok),
                Err(error) if error.is_refusal() => Some(Err(error)),
                Err(error) => return Err(error),
            };
            limit = Duration::ZERO;
        }
        Ok(())
    }

    fn pass_on(&mut self, control: Control) -> Result<(), DriveError> {
        let busy = self.workers.iter_mut().zip(&self.answers);
        for (worker, _) in busy.filter(|(_, answer)| answer.is_none()) {
            worker.send(&Request::Control(control))?;
        }
        Ok(())
    }
}

fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    let nanoseconds = i128::from(now.tv_sec) * 1_000_000_000 + i128::from(now.tv_nsec);
    u64::try_from(nanoseconds).unwrap_or(0)
}

/// The interval at which the caller is polled for controls.
const POLL: Duration = Duration::from_millis(200);
/// Sufficient for every process to have read its request.
const LEAD_NS: u64 = 50_000_000;
