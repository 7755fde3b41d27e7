//! The record of a measurement: docs/studies/budget.json.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::class::Class;

/// A record.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The start, by the machine's clock.
    pub began: String,
    /// The commit, and whether the tree differed from it.
    pub commit: String,
    /// Facts about the machine.
    pub machine: Vec<(String, String)>,
    /// Properties of the machine that make the figures less precise.
    pub warnings: Vec<String>,
    /// `perf --version`.
    pub perf: String,
    /// How often every operation was run on every arm, alone and under perf.
    pub turns: usize,
    /// Operations and arms, in the order of display.
    pub cells: Vec<Cell>,
    /// The physical limits.
    pub limits: Vec<LimitSeries>,
}

/// One kind of operation on one arm.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// As for `work::Phase`.
    pub phase: String,
    /// The suite, or `plain`.
    pub arm: String,
    /// The turns in order.
    pub turns: Vec<RunningBlock>,
    /// The functions with the most samples, over all turns.
    pub symbols: Vec<Symbol>,
}

/// A turn.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct RunningBlock {
    /// CPU time per operation without perf, in nanoseconds.
    pub ns: f64,
    /// CPU time per operation under perf, in nanoseconds; the difference is the overhead of perf.
    pub watched_ns: f64,
    /// The number of samples by class.
    pub samples: BTreeMap<Class, u64>,
}

/// A function.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Symbol {
    /// The class.
    pub class: Class,
    /// Its name.
    pub name: String,
    /// The number of samples over all turns.
    pub samples: u64,
}

/// One measurement of a physical limit.
pub struct Limit {
    /// The name.
    pub name: &'static str,
    /// The arm of its file or cipher; `plain` if it does not depend on the arm.
    pub arm: String,
    /// CPU time, in nanoseconds.
    pub ns: f64,
}

/// A physical limit in every turn.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct LimitSeries {
    /// The name.
    pub name: String,
    /// As for [`Limit`].
    pub arm: String,
    /// The turns in order.
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
    /// The cell of a phase and an arm.
    pub fn cell(&self, phase: &str, arm: &str) -> Option<&Cell> {
        self.cells.iter().find(|cell| cell.phase == phase && cell.arm == arm)
    }

    /// The limit in each turn; without regard to the arm if it does not depend on one.
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
    /// The number of samples of all turns.
    pub fn sample_count(&self) -> u64 {
        self.turns.iter().map(RunningBlock::sample_count).sum()
    }

    /// The median of the turns' CPU time, in nanoseconds.
    pub fn total(&self) -> f64 {
        median(self.turns.iter().map(|turn| turn.ns).collect())
    }

    /// The part of [`Self::total`] that belongs to a class, by the mean of its shares.
    pub fn part(&self, class: Class) -> f64 {
        self.parts(class).iter().sum::<f64>() / self.turns.len().max(1) as f64
    }

    /// The parts by each turn's share, which show the variation of shares independently of the machine's speed.
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

/// The median; of an even number of values, the upper of the two in the middle.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// Limits that depend on the arm.
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
