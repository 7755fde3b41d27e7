//! The report of a record: docs/studies/budget.md.

use crate::class::Class;
use crate::record::{Cell, Record, median};
use crate::work::ARMS;

/// The section.
pub fn markdown(record: &Record) -> String {
    let mut out = String::from("## The budget: where each nanosecond goes\n\n");
    let facts: Vec<String> = record
        .machine
        .iter()
        .map(|(name, value)| format!("{name}: {value}"))
        .collect();
    out += &format!("Machine: {}  \n", facts.join("; "));
    out += &format!(
        "Began: {}; {} turns  \nCommit: {}; {}  \n",
        record.began, record.turns, record.commit, record.perf
    );
    out += "Command: `make budget`\n\n";
    out += EXPLANATION;
    let (least, most) = perf_overhead(record);
    out += &format!(
        "- Under perf an operation took {least:+.0} to {most:+.0} % of what it took alone, by operation and arm.\n"
    );
    for warning in &record.warnings {
        out += &format!("- Less sure: {warning}.\n");
    }
    out.push('\n');
    for (phase, title, limits) in PHASES {
        out += &table(record, phase, title, limits);
    }
    out
}

fn table(record: &Record, phase: &str, title: &str, limits: &[(&str, &[&str])]) -> String {
    let cells: Vec<Option<&Cell>> = ARMS.iter().map(|arm| record.cell(phase, arm)).collect();
    if cells.iter().flatten().next().is_none() {
        return String::new();
    }
    let mut out = format!(
        "### {title}\n\n| ns | stock SQLite | {} |\n|---|",
        ARMS[1..].join(" | ")
    );
    out += &"---|".repeat(ARMS.len());
    out.push('\n');
    let (large, small): (Vec<Class>, Vec<Class>) = Class::ALL.into_iter().partition(|class| {
        *class == Class::Unknown
            || cells
                .iter()
                .flatten()
                .any(|cell| cell.part(*class) >= cell.total() / 100.0)
    });
    for class in large {
        let parts = cells.iter().map(|cell| cell.map(|cell| together(cell, &[class])));
        out += &row(class.label(), parts);
    }
    let rest = cells.iter().map(|cell| cell.map(|cell| together(cell, &small)));
    out += &row("all others, each under 1 %", rest);
    let totals = cells
        .iter()
        .map(|cell| cell.map(|cell| (cell.total(), cell.turns.iter().map(|turn| turn.ns).collect())));
    out += &row("**in all**", totals);
    for (label, names) in limits {
        let sums = ARMS.iter().map(|arm| sum(record, names, arm));
        out += &row(&format!("*limit: {label}*"), sums);
    }
    out.push('\n');
    for (arm, cell) in ARMS.iter().zip(&cells) {
        if let (Some(cell), Some(Some(stock))) = (cell, cells.first())
            && *arm != ARMS[0]
        {
            out += &difference(arm, cell, stock);
        }
    }
    for (arm, cell) in ARMS.iter().zip(&cells) {
        if let Some(cell) = cell {
            out += &unknown_functions(arm, cell);
        }
    }
    out.push('\n');
    out
}

/// The sum of some classes' parts: over all turns, and in each turn.
fn together(cell: &Cell, classes: &[Class]) -> (f64, Vec<f64>) {
    let turns = (0..cell.turns.len()).map(|turn| classes.iter().map(|class| cell.parts(*class)[turn]).sum());
    (classes.iter().map(|class| cell.part(*class)).sum(), turns.collect())
}

/// The classes in which an arm differs from stock SQLite by at least 2 % of stock SQLite's time; in
/// descending order.
fn difference(arm: &str, cell: &Cell, stock: &Cell) -> String {
    let all = cell.total() - stock.total();
    let mut parts: Vec<(f64, &str)> = Class::ALL
        .into_iter()
        .map(|class| (cell.part(class) - stock.part(class), class.label()))
        .filter(|(ns, _)| ns.abs() >= stock.total() / 50.0)
        .collect();
    parts.sort_by(|one, other| other.0.abs().total_cmp(&one.0.abs()));
    let parts: Vec<String> = parts.iter().map(|(ns, label)| format!("{label} {ns:+.0}")).collect();
    let more = if all < 0.0 { "less" } else { "more" };
    let all = figure(all.abs());
    format!(
        "- {arm} takes {all} ns {more} than stock SQLite: {}.\n",
        parts.join("; ")
    )
}

/// The overhead of perf: the minimum and the maximum over the tables' columns, in per cent.
fn perf_overhead(record: &Record) -> (f64, f64) {
    let dearer = record.cells.iter().map(|cell| {
        let ratios = cell.turns.iter().map(|turn| turn.watched_ns / turn.ns).collect();
        (median(ratios) - 1.0) * 100.0
    });
    dearer.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), ratio| {
        (least.min(ratio), most.max(ratio))
    })
}

/// The sum of the limits of those names, turn by turn; a suite without a cipher has no limit for it.
fn sum(record: &Record, names: &[&str], arm: &str) -> Option<(f64, Vec<f64>)> {
    let series: Vec<&[f64]> = names.iter().filter_map(|name| record.limit(name, arm)).collect();
    let turns = series.first()?.len();
    let sums: Vec<f64> = (0..turns)
        .map(|turn| series.iter().filter_map(|series| series.get(turn)).sum())
        .collect();
    Some((median(sums.clone()), sums))
}

fn row(label: &str, cells: impl Iterator<Item = Option<(f64, Vec<f64>)>>) -> String {
    let mut out = format!("| {label} |");
    for cell in cells {
        match cell {
            Some((value, turns)) if value > 0.0 => {
                let least = turns.iter().copied().fold(f64::INFINITY, f64::min);
                let most = turns.iter().copied().fold(0.0, f64::max);
                out += &format!(" {} [{}, {}] |", figure(value), figure(least), figure(most));
            }
            Some(_) | None => out += " - |",
        }
    }
    out.push('\n');
    out
}

fn figure(ns: f64) -> String {
    if ns > 0.0 && ns < 9.95 {
        format!("{ns:.1}")
    } else {
        format!("{ns:.0}")
    }
}

/// Functions that no rule matches, and those of libraries, if they exceed 2 %.
fn unknown_functions(arm: &str, cell: &Cell) -> String {
    let all = cell.sample_count();
    let names: Vec<String> = cell
        .symbols
        .iter()
        .filter(|symbol| matches!(symbol.class, Class::Unknown | Class::Library) && symbol.samples * 50 > all)
        .map(|symbol| {
            format!(
                "`{}` {} ns",
                symbol.name,
                figure(cell.total() * symbol.samples as f64 / all as f64)
            )
        })
        .collect();
    if names.is_empty() {
        return String::new();
    }
    format!(
        "- {arm}: outside of SQLite, Selenite and the cipher, over 2 %: {}\n",
        names.join(", ")
    )
}

/// The functions of the record with their nanoseconds, as candidates for optimisation.
pub fn symbols(record: &Record) -> String {
    let mut out = String::new();
    for cell in &record.cells {
        let all = cell.sample_count();
        out += &format!(
            "{} {}: {} ns, {all} samples\n",
            cell.phase,
            cell.arm,
            figure(cell.total())
        );
        for symbol in &cell.symbols {
            let ns = cell.total() * symbol.samples as f64 / all as f64;
            out += &format!("  {:>8}  {:<38}  {}\n", figure(ns), symbol.class.label(), symbol.name);
        }
    }
    out
}

const EXPLANATION: &str = "\
CPU time of one operation in nanoseconds, of files in the system's cache. *In all* is the process's own clock without a profiler: the median of \
the turns, and their lowest and highest. The lines above divide that median by where `perf record -e cpu-clock` found the process in a second run \
of each turn: by the mean of the turns' shares, and the lowest and highest share. In a turn the arms follow one another in new processes. \
The *limits* are the same bytes by a system call or a cipher and nothing else, measured in the same turns.\n\n\
- *Selenite* and *SQLite* are their own instructions: what they call in the kernel and the C library has its own lines. *The caller* is rusqlite \
and the loop that measures. The *cipher* of NONE is the SHA-256 that it takes of each page.\n\
- Copies by different callers are not distinguished. Opening and sealing *from memory* include theirs: the libraries work in place.\n\
- The way into the kernel and out of it counts as the call's. Where the kernel holds interrupts off, a sample comes a little late: within one call, \
samples are not exact to the nanosecond.\n";

/// Each phase, its title, and its limits: a label, and the names that are added up for it.
type Shown = (
    &'static str,
    &'static str,
    &'static [(&'static str, &'static [&'static str])],
);

const PHASES: [Shown; 8] = [
    (
        "scan",
        "One page of a scan",
        &[
            ("reading it, 256 KiB in a call", &["read_long"]),
            ("reading it, 4 KiB in a call", &["read_page"]),
            ("opening it, from memory", &["open"]),
            ("a copy of 4 KiB, hot", &["copy"]),
            ("reading at its fastest, and opening", &["read_long", "open"]),
        ],
    ),
    (
        "point",
        "One page of random reads by rowid",
        &[
            ("reading it, 4 KiB anywhere", &["read_random"]),
            ("opening it, from memory", &["open"]),
            ("reading and opening", &["read_random", "open"]),
        ],
    ),
    (
        "commit",
        "One commit of a single row, in WAL mode, synchronous = NORMAL",
        &[
            ("writing one frame, 4120 bytes", &["write_frame"]),
            ("writing three frames", &["write_three_frames"]),
            ("sealing a page, from memory", &["seal"]),
            ("writing one frame, and sealing", &["write_frame", "seal"]),
            ("8 bytes of getrandom", &["random"]),
            ("two reads of 64 bytes", &["read_heads"]),
            ("reading the clock", &["clock"]),
        ],
    ),
    (
        "checkpoint",
        "The same commit's part of a checkpoint, after every thousand",
        &[("writing a page", &["write_page"])],
    ),
    (
        "backup",
        "One page of a backup into a new file",
        &[
            ("reading it, 256 KiB in a call", &["read_long"]),
            ("writing it", &["write_page"]),
            ("opening and sealing it, from memory", &["open", "seal"]),
            ("all of these", &["read_long", "write_page", "open", "seal"]),
        ],
    ),
    (
        "indexed",
        "One commit of a row in a table with two more indexes, 256 KiB of page cache, checkpoints included",
        &[
            ("sealing a page, from memory", &["seal"]),
            ("opening it, from memory", &["open"]),
        ],
    ),
    (
        "check",
        "One page of `integrity_check`, system cache, page pool of 64 MiB",
        &[
            ("reading it, 4 KiB in a call", &["read_page"]),
            ("opening it, from memory", &["open"]),
        ],
    ),
    (
        "readers",
        "One page of sixteen connections that scan 64 MiB at once, page pool of 128 MiB",
        &[
            ("reading it, 4 KiB in a call", &["read_page"]),
            ("a copy of 4 KiB, hot", &["copy"]),
        ],
    ),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::record::{LimitSeries, RunningBlock, Symbol};

    fn record() -> Record {
        let turn = |ns: f64| RunningBlock {
            ns,
            watched_ns: ns,
            samples: BTreeMap::from([(Class::Sqlite, 75), (Class::Unknown, 25)]),
        };
        let cell = |arm: &str| Cell {
            phase: "scan".to_owned(),
            arm: arm.to_owned(),
            turns: vec![turn(400.0), turn(440.0), turn(360.0)],
            symbols: vec![Symbol {
                class: Class::Unknown,
                name: "stranger".to_owned(),
                samples: 75,
            }],
        };
        let limit = |name: &str, arm: &str, ns: f64| LimitSeries {
            name: name.to_owned(),
            arm: arm.to_owned(),
            ns: vec![ns, ns + 10.0, ns + 20.0],
        };
        Record {
            began: "2026-01-01T00:00:00Z".to_owned(),
            commit: "abc".to_owned(),
            machine: Vec::new(),
            warnings: Vec::new(),
            perf: "perf version 6".to_owned(),
            turns: 3,
            cells: ARMS.iter().map(|arm| cell(arm)).collect(),
            limits: vec![
                limit("read_long", "plain", 100.0),
                limit("read_long", "AES_256", 100.0),
                limit("open", "AES_256", 200.0),
            ],
        }
    }

    #[test]
    fn a_table_has_every_class_that_was_seen_and_the_limits_of_each_arm() {
        let page = markdown(&record());
        assert!(page.contains("| SQLite | 300 [300, 300] |"), "{page}");
        assert!(page.contains("| **in all** | 400 [360, 440] |"), "{page}");
        assert!(!page.contains("kernel: locks |"), "{page}");
        assert!(
            page.contains(
                "| *limit: reading at its fastest, and opening* | 110 [100, 120] | 110 [100, 120] | 320 [300, 340] |"
            ),
            "{page}"
        );
        assert!(
            page.contains("| *limit: opening it, from memory* | - | - | 210 [200, 220] | - |"),
            "{page}"
        );
    }

    #[test]
    fn what_no_rule_knows_is_named() {
        let page = markdown(&record());
        assert!(
            page.contains("- AES_256: outside of SQLite, Selenite and the cipher, over 2 %: `stranger` 100 ns"),
            "{page}"
        );
        assert!(symbols(&record()).contains("stranger"));
    }
}
