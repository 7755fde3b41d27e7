//! Measures every operation on every arm, alone and under perf, in interleaved turns.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::process::Command;

use selenite_lab::host;

use crate::class::{Class, Classes};
use crate::limit;
use crate::profile::{self, Counts, printed};
use crate::record::{Cell, Limit, LimitSeries, Record, RunningBlock, Symbol};
use crate::work::{self, ARMS, Operation, Phase, key_file};

/// Makes the databases in `folder`, which must be empty, and measures `turns` times.
pub fn measure(folder: &Path, turns: usize) -> Result<Record, Box<dyn Error>> {
    let executable = std::env::current_exe()?;
    let testbed = Testbed {
        executable: executable.to_str().ok_or("this program has a name that is not UTF-8")?,
        classes: Classes::of(&executable)?,
        folder,
    };
    let facts = host::facts(&host::Source::at("/"), folder);
    let mut record = Record {
        began: line(Command::new("date").args(["-u", "+%Y-%m-%dT%H:%M:%SZ"]))?,
        commit: line(Command::new("git").args(["describe", "--always", "--abbrev=12", "--dirty", "--exclude=*"]))?,
        machine: facts.facts,
        warnings: facts.warnings,
        perf: line(Command::new("perf").arg("--version"))?,
        turns,
        cells: Vec::new(),
        limits: Vec::new(),
    };
    std::fs::write(key_file(folder), [7; 32])?;
    for arm in ARMS {
        eprintln!("budget: loading {arm}");
        work::load(arm, folder)?;
    }
    let mut gathered = BTreeMap::new();
    for turn in 0..turns {
        eprintln!("budget: turn {} of {turns}", turn + 1);
        let mut arms = ARMS;
        arms.rotate_left(turn % ARMS.len());
        if turn % 2 == 1 {
            arms.reverse();
        }
        for operation in Operation::ALL {
            for arm in arms {
                testbed.visit(operation, arm, &mut record.cells, &mut gathered)?;
            }
        }
        for limit in limit::measure(folder)? {
            add(limit, &mut record.limits);
        }
    }
    for cell in &mut record.cells {
        if let Some(counts) = gathered.remove(&(cell.phase.clone(), cell.arm.clone())) {
            cell.symbols = largest(counts, cell.sample_count());
        }
    }
    record
        .cells
        .sort_by_key(|cell| (phase_rank(&cell.phase), ARMS.iter().position(|arm| *arm == cell.arm)));
    Ok(record)
}

struct Testbed<'a> {
    executable: &'a str,
    classes: Classes,
    folder: &'a Path,
}

/// The counts of each phase and arm, over all turns.
type Gathered = BTreeMap<(String, String), Counts>;

impl Testbed<'_> {
    /// Enforces `time-without-perf`: alone, then under perf, each in a process of its own.
    fn visit(
        &self,
        operation: Operation,
        arm: &str,
        cells: &mut Vec<Cell>,
        gathered: &mut Gathered,
    ) -> Result<(), Box<dyn Error>> {
        let folder = self.folder.to_str().ok_or("the folder has a name that is not UTF-8")?;
        let command = [self.executable, "work", operation.name(), arm, folder];
        let alone: Vec<Phase> = serde_json::from_str(&printed(Command::new(command[0]).args(&command[1..]))?)?;
        let data = self.folder.join("perf.data");
        let watched: Vec<Phase> = serde_json::from_str(&profile::record(&command, &data)?)?;
        let counts = profile::counts(&data, &watched, &self.classes)?;
        std::fs::remove_file(data)?;
        for ((alone, watched), counts) in alone.iter().zip(&watched).zip(counts) {
            let mut samples: BTreeMap<Class, u64> = BTreeMap::new();
            for ((class, _), count) in &counts {
                *samples.entry(*class).or_default() += count;
            }
            let turn = RunningBlock {
                ns: mean(alone)?,
                watched_ns: mean(watched)?,
                samples,
            };
            let all = gathered.entry((alone.name.clone(), arm.to_owned())).or_default();
            for (symbol, count) in counts {
                *all.entry(symbol).or_default() += count;
            }
            match cells
                .iter_mut()
                .find(|cell| cell.phase == alone.name && cell.arm == arm)
            {
                Some(cell) => cell.turns.push(turn),
                None => cells.push(Cell {
                    phase: alone.name.clone(),
                    arm: arm.to_owned(),
                    turns: vec![turn],
                    symbols: Vec::new(),
                }),
            }
        }
        Ok(())
    }
}

fn mean(phase: &Phase) -> Result<f64, Box<dyn Error>> {
    if phase.count == 0 {
        return Err(format!("{} was done not once", phase.name).into());
    }
    Ok(phase.cpu_ns as f64 / phase.count as f64)
}

fn add(limit: Limit, limits: &mut Vec<LimitSeries>) {
    match limits
        .iter_mut()
        .find(|series| series.name == limit.name && series.arm == limit.arm)
    {
        Some(series) => series.ns.push(limit.ns),
        None => limits.push(LimitSeries {
            name: limit.name.to_owned(),
            arm: limit.arm,
            ns: vec![limit.ns],
        }),
    }
}

/// Functions with at least a thousandth of the samples, or a hundredth in the kernel and SQLite; in
/// descending order.
fn largest(counts: Counts, sample_count: u64) -> Vec<Symbol> {
    let is_large = |class: Class, samples: u64| match class {
        Class::Cipher | Class::Copy | Class::Own | Class::Library | Class::Unknown => samples * 1000 >= sample_count,
        Class::KernelCopy
        | Class::KernelRead
        | Class::KernelWrite
        | Class::KernelLock
        | Class::KernelFile
        | Class::KernelRandom
        | Class::KernelMemory
        | Class::KernelOther
        | Class::Sqlite
        | Class::Caller => samples * 100 >= sample_count,
    };
    let mut symbols: Vec<Symbol> = counts
        .into_iter()
        .filter(|((class, _), samples)| is_large(*class, *samples))
        .map(|((class, name), samples)| Symbol { class, name, samples })
        .collect();
    symbols.sort_by_key(|symbol| std::cmp::Reverse(symbol.samples));
    symbols
}

fn phase_rank(phase: &str) -> usize {
    let shown = [
        "scan",
        "point",
        "commit",
        "checkpoint",
        "backup",
        "indexed",
        "check",
        "readers",
    ];
    shown.iter().position(|name| *name == phase).unwrap_or(shown.len())
}

fn line(command: &mut Command) -> Result<String, Box<dyn Error>> {
    Ok(printed(command)?.trim().to_owned())
}
