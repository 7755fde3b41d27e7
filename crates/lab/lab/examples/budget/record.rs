//! What was measured: docs/studies/budget.json.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::class::Class;

/// All of it.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// When it began, by the machine's clock.
    pub began: String,
    /// The commit, and whether the tree differed from it.
    pub commit: String,
    /// Facts about the machine.
    pub machine: Vec<(String, String)>,
    /// What makes the figures less sure.
    pub warnings: Vec<String>,
    /// `perf --version`.
    pub perf: String,
    /// How often every operation was done on every arm, alone and under perf.
    pub turns: usize,
    /// Operations and arms, in the order in which they are shown.
    pub cells: Vec<Cell>,
    /// The physical limits.
    pub limits: Vec<LimitSeries>,
}

/// One kind of operation on one arm.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// As of `work::Phase`.
    pub phase: String,
    /// The suite, or `plain`.
    pub arm: String,
    /// One after the other.
    pub turns: Vec<RunningBlock>,
    /// The functions that took most, of all turns.
    pub symbols: Vec<Symbol>,
}

/// One turn.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct RunningBlock {
    /// CPU time of one operation, without perf.
    pub ns: f64,
    /// CPU time of one operation under perf: what watching costs.
    pub watched_ns: f64,
    /// How many samples of each class.
    pub samples: BTreeMap<Class, u64>,
}

/// A function.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Symbol {
    /// What it counts as.
    pub class: Class,
    /// Its name.
    pub name: String,
    /// How many samples were in it, of all turns.
    pub samples: u64,
}

/// A physical limit, once.
pub struct Limit {
    /// Which.
    pub name: &'static str,
    /// Whose file or cipher; `plain` where that makes no difference.
    pub arm: String,
    /// CPU time.
    pub ns: f64,
}

/// A physical limit, in every turn.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct LimitSeries {
    /// Which.
    pub name: String,
    /// As of [`Limit`].
    pub arm: String,
    /// One after the other.
    pub ns: Vec<f64>,
}

impl Limit {
    pub fn new(name: &'static str, arm: &str, ns: f64) -> Self {
        Self {
            name,
            arm: arm.to_owned(),
            ns,
        }
    }
}

impl Record {
    /// A cell.
    pub fn cell(&self, phase: &str, arm: &str) -> Option<&Cell> {
        self.cells.iter().find(|cell| cell.phase == phase && cell.arm == arm)
    }

    /// What a limit came to in the turns; of no arm in particular if it does not depend on one.
    pub fn limit(&self, name: &str, arm: &str) -> Option<&[f64]> {
        let of = |arm: &str| {
            let found = self.limits.iter().find(|limit| limit.name == name && limit.arm == arm);
            found.map(|limit| limit.ns.as_slice())
        };
        let shared = !PER_ARM.contains(&name);
        of(arm).or_else(|| shared.then(|| of("plain")).flatten())
    }
}

impl Cell {
    /// All samples of all turns.
    pub fn sample_count(&self) -> u64 {
        self.turns.iter().map(RunningBlock::sample_count).sum()
    }

    /// The median of the turns' CPU time.
    pub fn total(&self) -> f64 {
        median(self.turns.iter().map(|turn| turn.ns).collect())
    }

    /// A class's part of [`Self::total`], by the mean of its shares.
    pub fn part(&self, class: Class) -> f64 {
        self.parts(class).iter().sum::<f64>() / self.turns.len().max(1) as f64
    }

    /// The same by each turn's share: how far the shares differ, whatever the machine's speed in that turn was.
    pub fn parts(&self, class: Class) -> Vec<f64> {
        let total = self.total();
        let part = |turn: &RunningBlock| total * turn.of(class) as f64 / turn.sample_count().max(1) as f64;
        self.turns.iter().map(part).collect()
    }
}

impl RunningBlock {
    fn of(&self, class: Class) -> u64 {
        self.samples.get(&class).copied().unwrap_or(0)
    }

    fn sample_count(&self) -> u64 {
        self.samples.values().sum()
    }
}

/// The middle one; of an even number the upper of the two.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// Limits that there are of an arm's own only.
const PER_ARM: [&str; 2] = ["open", "seal"];

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(ns: f64, samples: &[(Class, u64)]) -> RunningBlock {
        RunningBlock {
            ns,
            watched_ns: ns,
            samples: samples.iter().copied().collect(),
        }
    }

    #[test]
    fn parts_add_up_to_the_total() {
        let cell = Cell {
            phase: "scan".to_owned(),
            arm: "plain".to_owned(),
            turns: vec![
                turn(100.0, &[(Class::Sqlite, 30), (Class::KernelRead, 10)]),
                turn(300.0, &[(Class::Sqlite, 10), (Class::Unknown, 30)]),
                turn(200.0, &[(Class::Sqlite, 20)]),
            ],
            symbols: Vec::new(),
        };
        assert_eq!(cell.total(), 200.0);
        assert_eq!(cell.parts(Class::Sqlite), [150.0, 50.0, 200.0]);
        assert!((cell.part(Class::Sqlite) - 400.0 / 3.0).abs() < 1e-9);
        let sum: f64 = Class::ALL.into_iter().map(|class| cell.part(class)).sum();
        assert!((sum - 200.0).abs() < 1e-9, "{sum}");
        assert_eq!(cell.parts(Class::Cipher), [0.0, 0.0, 0.0]);
    }
}
