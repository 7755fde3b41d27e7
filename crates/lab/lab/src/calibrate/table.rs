//! Coefficients for a terminal.

use std::fmt::Write as _;

use selenite_plan::Operation;
use selenite_plan::calibration::{Costs, Measured, speed_half_width};

use super::CalibrationReport;

/// The coefficients of pages of the smaller size, and of what has no page, with intervals of 90 %; then the floor.
#[must_use]
pub fn table(report: &CalibrationReport) -> String {
    let calibration = &report.calibration;
    let mut text = String::new();
    let speed = speed_half_width(&calibration.plain, CONFIDENCE);
    for group in GROUPS {
        let is_network = group.columns.iter().all(|(operation, _)| operation.is_network());
        let _ = writeln!(text, "{}", group.title);
        let mut rows = vec![row_of_titles(group)];
        rows.push(row("in clear", group, &calibration.plain, (None, speed)));
        if !is_network {
            rows.push(row("+ counted", group, &report.counted, (Some(&report.floor), 0.0)));
        }
        for (cipher, costs) in &calibration.ciphers {
            let has_any = group.columns.iter().any(|(operation, _)| costs.contains_key(operation));
            if has_any {
                let floor = (!is_network).then_some(&report.floor);
                let label = match cipher.aes_instructions {
                    true => format!("+ {}", cipher.name),
                    false => format!("+ {} (no AES)", cipher.name),
                };
                rows.push(row(&label, group, costs, (floor, 0.0)));
            }
        }
        if !is_network {
            rows.push(floor_row(group, &report.floor));
        }
        text.push_str(&aligned(&rows));
        text.push('\n');
    }
    text.push_str(&among_others(report));
    text.push_str(&conversions(report));
    text.push_str(EXPLANATION);
    text
}

/// What operations of a mix cost more than alone; nothing where it was not measured.
fn among_others(report: &CalibrationReport) -> String {
    let Some(measured) = &report.calibration.among_others else {
        return String::new();
    };
    let interval = measured.interval(CONFIDENCE);
    let half_width = interval.map_or_else(String::new, |interval| {
        format!(" \u{b1}{:.1}", interval.half_width() * 100.0)
    });
    let mean = measured.mean() * 100.0;
    format!(
        "Encrypted operations in a mix with a log: {mean:+.1}{half_width} % of their cost in clear more than alone\n\n"
    )
}

/// The speed of conversions; nothing where none was measured.
fn conversions(report: &CalibrationReport) -> String {
    let rates = report
        .calibration
        .conversion_ns_per_mib
        .iter()
        .filter(|(_, measured)| measured.mean() > 0.0);
    let rows: Vec<Vec<String>> = rates
        .map(|(cipher, measured)| vec![cipher.to_string(), format!("{:.0}", 1e9 / measured.mean())])
        .collect();
    match rows.is_empty() {
        true => String::new(),
        false => format!("MiB/s of selenite encrypt --to, elapsed\n{}\n", aligned(&rows)),
    }
}

/// A table: its title and its columns.
struct Group {
    title: &'static str,
    columns: &'static [(Operation, f64)],
}

const GROUPS: [&Group; 5] = [
    &Group {
        title: "CPU ns per page of 4 KiB",
        columns: &[
            (Operation::ReadSequential, 4.0),
            (Operation::ReadRandom, 4.0),
            (Operation::ReadLog, 4.0),
            (Operation::Write, 4.0),
            (Operation::Append, 4.0),
            (Operation::Checkpoint, 4.0),
            (Operation::Backup, 4.0),
        ],
    },
    &Group {
        title: "CPU ns per page of 16 KiB",
        columns: &[
            (Operation::ReadSequential, 16.0),
            (Operation::ReadRandom, 16.0),
            (Operation::ReadLog, 16.0),
            (Operation::Write, 16.0),
            (Operation::Append, 16.0),
            (Operation::Checkpoint, 16.0),
            (Operation::Backup, 16.0),
        ],
    },
    &Group {
        title: "CPU ns in rollback mode",
        columns: &[
            (Operation::RollbackWrite, 4.0),
            (Operation::RollbackWrite, 16.0),
            (Operation::RollbackTransaction, 0.0),
            (Operation::RollbackCommit, 0.0),
        ],
    },
    &Group {
        title: "CPU ns per operation",
        columns: &[
            (Operation::Transaction, 0.0),
            (Operation::Commit, 0.0),
            (Operation::Open, 0.0),
            (Operation::LogRecord, 0.125),
            (Operation::LogRecord, 4.0),
            (Operation::LogRecord, 64.0),
        ],
    },
    &Group {
        title: "CPU ns of TLS per operation",
        columns: &[
            (Operation::Packet, 0.125),
            (Operation::Packet, 4.0),
            (Operation::Packet, 32_767.0 / 1024.0),
            (Operation::Handshake, 0.0),
        ],
    },
];

fn row_of_titles(group: &Group) -> Vec<String> {
    let title = |(operation, kib): &(Operation, f64)| match operation {
        Operation::ReadSequential => "read in order".to_owned(),
        Operation::ReadRandom => "read at random".to_owned(),
        Operation::ReadLog => "read from log".to_owned(),
        Operation::Write => "written".to_owned(),
        Operation::Append => "appended".to_owned(),
        Operation::RollbackWrite => format!("page of {kib:.0} KiB"),
        Operation::Checkpoint => "checkpointed".to_owned(),
        Operation::Backup => "backed up".to_owned(),
        Operation::Transaction => "transaction".to_owned(),
        Operation::RollbackTransaction => "transaction".to_owned(),
        Operation::Commit => "commit".to_owned(),
        Operation::RollbackCommit => "commit".to_owned(),
        Operation::Open => "open".to_owned(),
        Operation::Handshake => "handshake".to_owned(),
        Operation::LogRecord if *kib < 1.0 => "record 128 B".to_owned(),
        Operation::LogRecord => format!("record {kib:.0} KiB"),
        Operation::Packet if *kib < 1.0 => "packet 128 B".to_owned(),
        Operation::Packet => format!("packet {kib:.0} KiB"),
    };
    let titles = group.columns.iter().map(title);
    std::iter::once(String::new()).chain(titles).collect()
}

fn row(label: &str, group: &Group, costs: &Costs, (floor, speed): (Option<&Costs>, f64)) -> Vec<String> {
    let cells = group.columns.iter().map(|(operation, kib)| {
        let Some(measured) = find(costs, *operation, *kib) else {
            return "-".to_owned();
        };
        let floor = floor.and_then(|floor| find(floor, *operation, *kib)).map(limit);
        match floor {
            Some(floor) if !is_resolved(measured, floor) => "not resolved".to_owned(),
            Some(_) | None => cell(measured, speed),
        }
    });
    std::iter::once(label.to_owned()).chain(cells).collect()
}

fn floor_row(group: &Group, floor: &Costs) -> Vec<String> {
    let cells = group.columns.iter().map(|(operation, kib)| {
        let limit = find(floor, *operation, *kib).map(limit);
        limit.map_or_else(|| "-".to_owned(), |limit| format!("{limit:.0}"))
    });
    std::iter::once("floor".to_owned()).chain(cells).collect()
}

fn find(costs: &Costs, operation: Operation, kib: f64) -> Option<&Measured> {
    let sizes = costs.get(&operation)?;
    sizes.iter().find(|one| (one.kib - kib).abs() < 0.01)
}

fn cell(measured: &Measured, speed: f64) -> String {
    match measured.interval_with_speed(CONFIDENCE, speed) {
        Some(interval) => format!("{:.0} \u{b1}{:.0}", measured.mean(), interval.half_width()),
        None => format!("{:.0}", measured.mean()),
    }
}

/// The largest difference between two unencrypted copies within their interval.
pub(crate) fn limit(floor: &Measured) -> f64 {
    match floor.interval(CONFIDENCE) {
        Some(interval) => interval.low.abs().max(interval.high.abs()),
        None => floor.mean().abs(),
    }
}

/// Whether a difference is resolved: zero is not in its interval, and it exceeds the difference of
/// two unencrypted copies.
pub(crate) fn is_resolved(measured: &Measured, floor: f64) -> bool {
    let has_zero = measured
        .interval(CONFIDENCE)
        .is_none_or(|interval| interval.contains(0.0));
    !has_zero && measured.mean().abs() > floor
}

/// Labels to the left, figures to the right.
pub(crate) fn aligned(rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (index, (cell, width)) in row.iter().zip(&widths).enumerate() {
            match index {
                0 => line.push_str(&format!("{cell:width$}")),
                _ => line.push_str(&format!("  {cell:>width$}")),
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

pub(crate) const CONFIDENCE: f64 = 0.9;

const EXPLANATION: &str = "\
Rows with + are differences from the same operation in clear; \u{b1} is the half-width of the 90 % interval\n\
of the mean over sessions; in clear also of the machine's speed, which drifts from one calibration to the\n\
next. Counted: in clear, opened through the extension, which counts calls for selenite_forecast.\n\
Floor: two copies in clear differ by as much; differences below it are not resolved here. Negative:\n\
Selenite saves system calls, since it writes the frames of a commit together, and the pages of a backup.\n";

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use selenite_plan::calibration::FORMAT;
    use selenite_plan::{Calibration, Cipher};

    use super::*;
    use crate::host::Source;

    fn costs(sessions: &[f64]) -> Costs {
        let measured = Measured {
            kib: 4.0,
            sessions: sessions.to_vec(),
        };
        BTreeMap::from([(Operation::ReadSequential, vec![measured])])
    }

    #[test]
    fn what_is_within_the_floor_is_not_resolved() {
        let cipher = |suite| Cipher::of(suite, true);
        let report = CalibrationReport {
            calibration: Calibration {
                format: FORMAT,
                fingerprint: crate::calibrate::fingerprint(&Source::default()),
                made: String::new(),
                seconds: 1.0,
                load_average: 0.0,
                plain: costs(&[1000.0, 1002.0, 998.0]),
                ciphers: BTreeMap::from([
                    (cipher(selenite::Suite::Aes128), costs(&[-5.0, 5.0, 1.0])),
                    (cipher(selenite::Suite::Aes192), costs(&[20.0, 20.1, 20.2])),
                    (cipher(selenite::Suite::Aes256), costs(&[700.0, 710.0, 705.0])),
                ]),
                among_others: Some(Measured {
                    kib: 0.0,
                    sessions: vec![0.05, 0.06, 0.07],
                }),
                conversion_ns_per_mib: BTreeMap::from([(
                    cipher(selenite::Suite::Aes256),
                    Measured {
                        kib: 0.0,
                        sessions: vec![5e6, 5e6],
                    },
                )]),
            },
            floor: costs(&[-30.0, 30.0, 0.0]),
            counted: costs(&[50.0, 51.0, 52.0]),
            notes: Vec::new(),
        };
        let text = table(&report);
        let row = |name: &str| text.lines().find(|line| line.contains(name)).unwrap().to_owned();
        assert!(row("AES_128").contains("not resolved"), "{text}");
        assert!(row("AES_192").contains("not resolved"), "{text}");
        assert!(row("AES_256").contains("705 \u{b1}8"), "{text}");
        assert!(row("+ counted").contains("51 \u{b1}2"), "{text}");
        // The mean's interval is 3 wide to each side; that of a session, which another speed may be as far off, 6.
        assert!(row("in clear").contains("1000 \u{b1}7"), "{text}");
        assert!(row("floor").contains("51"), "{text}");
        assert!(text.contains("AES_256  200\n"), "{text}");
        assert!(text.contains(": +6.0 \u{b1}1.7 % of their"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 110), "{text}");
    }
}
