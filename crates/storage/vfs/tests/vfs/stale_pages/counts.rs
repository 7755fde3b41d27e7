//! Counts of operations: a run without any operation would prove nothing.

use std::fmt;
use std::iter::Sum;

use super::worker::{WorkerSettings, status};

/// The operations of the processes of a run.
#[derive(Clone, Copy, Default)]
pub struct Counts {
    /// Read transactions.
    pub reads: u64,
    /// Write transactions.
    pub commits: u64,
    /// Explicit checkpoints.
    pub checkpoints: u64,
    /// Pages found in the pool.
    pub pool_hits: u64,
    /// Pages that were read ahead and used.
    pub read_ahead: u64,
    /// Processes that were killed.
    pub kills: u64,
}

impl Counts {
    /// The counts as a line of a child's output.
    pub fn line(&self) -> String {
        let Self {
            reads,
            commits,
            checkpoints,
            pool_hits,
            read_ahead,
            ..
        } = self;
        format!("{MARK}{reads} {commits} {checkpoints} {pool_hits} {read_ahead}")
    }

    /// Adds the counts in a child's output.
    pub fn add(&mut self, text: &str) {
        let line = text.lines().find_map(|line| line.split_once(MARK)).unwrap().1;
        let numbers: Vec<u64> = line.split(' ').map(|word| word.parse().unwrap()).collect();
        let [reads, commits, checkpoints, pool_hits, read_ahead] = numbers[..] else {
            panic!("five numbers: {line}");
        };
        self.reads += reads;
        self.commits += commits;
        self.checkpoints += checkpoints;
        self.pool_hits += pool_hits;
        self.read_ahead += read_ahead;
    }

    /// Adds the process's own counts from the status.
    pub fn with_status(self, settings: &WorkerSettings<'_>) -> Self {
        let (pool_hits, read_ahead) = status(settings);
        Self {
            pool_hits,
            read_ahead,
            ..self
        }
    }
}

impl Sum for Counts {
    fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
        counts.fold(Self::default(), |sum, other| Self {
            reads: sum.reads + other.reads,
            commits: sum.commits + other.commits,
            checkpoints: sum.checkpoints + other.checkpoints,
            ..sum
        })
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} reads, {} commits, {} checkpoints, {} pool hits, {} pages read ahead, {} killed",
            self.reads, self.commits, self.checkpoints, self.pool_hits, self.read_ahead, self.kills
        )
    }
}

/// The start of a child's line.
const MARK: &str = "counts: ";
