//! Runs a child under `perf record`, and reads its samples.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::class::{Class, Classes, StackFrame, readable};
use crate::work::Phase;

/// The number of samples of a phase, by class and function.
pub type Counts = BTreeMap<(Class, String), u64>;

/// A sample.
#[derive(Debug, PartialEq, Eq)]
struct Sample {
    /// The time of CLOCK_MONOTONIC.
    time_ns: u64,
    frames: Vec<StackFrame>,
}

/// Runs a command to its end under perf. Returns its output.
pub fn record(command: &[&str], data: &Path) -> Result<String, Box<dyn Error>> {
    let mut perf = Command::new("perf");
    perf.args([
        "record",
        "-q",
        "-N",
        "-e",
        "cpu-clock",
        "-g",
        "-k",
        "CLOCK_MONOTONIC",
        "-F",
        FREQUENCY,
        "-o",
    ]);
    perf.arg(data).arg("--").args(command);
    printed(&mut perf)
}

/// The counts of each phase.
pub fn counts(data: &Path, phases: &[Phase], classes: &Classes) -> Result<Vec<Counts>, Box<dyn Error>> {
    let mut perf = Command::new("perf");
    perf.args([
        "script",
        "--ns",
        "--no-demangle",
        "--no-inline",
        "-F",
        "time,ip,sym,dso",
        "-i",
    ]);
    let text = printed(perf.arg(data).stderr(Stdio::null()))?;
    let mut counts = vec![Counts::new(); phases.len()];
    for sample in samples(&text)? {
        let phase = phases.iter().position(|phase| {
            let mut windows = phase.windows.iter();
            windows.any(|[from, to]| (from..to).contains(&&sample.time_ns))
        });
        if let Some(count) = phase.and_then(|phase| counts.get_mut(phase)) {
            let symbol = sample.frames.first().map_or("", |frame| &frame.symbol);
            let class = classes.class(&sample.frames);
            *count.entry((class, readable(symbol))).or_default() += 1;
        }
    }
    Ok(counts)
}

/// The standard output of a successful command.
pub fn printed(command: &mut Command) -> Result<String, Box<dyn Error>> {
    let output = command
        .output()
        .map_err(|error| format!("{}: {error}", command.get_program().display()))?;
    if !output.status.success() {
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(format!("{}: {told}", command.get_program().display()).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// Parses samples: a line with the time, then a line for each frame, then an empty line.
fn samples(text: &str) -> Result<Vec<Sample>, Box<dyn Error>> {
    let mut samples: Vec<Sample> = Vec::new();
    for line in text.lines() {
        if let Some(line) = line.strip_prefix('\t') {
            let frame = frame(line).ok_or_else(|| format!("perf script: {line}"))?;
            samples
                .last_mut()
                .ok_or("perf script: a frame without a sample")?
                .frames
                .push(frame);
        } else if let Some(time) = line.trim().strip_suffix(':') {
            let (seconds, nanos) = time.split_once('.').ok_or("perf script: a time without a point")?;
            samples.push(Sample {
                time_ns: seconds.parse::<u64>()? * 1_000_000_000 + nanos.parse::<u64>()?,
                frames: Vec::new(),
            });
        }
    }
    Ok(samples)
}

/// `ffffffff816b8f46 ksys_read ([kernel.kallsyms])`
fn frame(line: &str) -> Option<StackFrame> {
    let (address, rest) = line.trim().split_once(' ')?;
    let (symbol, object) = rest.rsplit_once(" (")?;
    Some(StackFrame {
        address: u64::from_str_radix(address, 16).ok()?,
        symbol: symbol.to_owned(),
        object: object.strip_suffix(')')?.to_owned(),
    })
}

/// In hertz; a prime, so that it does not coincide with periodic activity.
const FREQUENCY: &str = "4999";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_read_with_their_frames() {
        let text = "25625.378344121: \n\
            \tffffffff815ec615 handle_mm_fault ([kernel.kallsyms])\n\
            \t    7f0000000010 __libc_pread64 (/usr/lib/x86_64-linux-gnu/libc.so.6)\n\n\
            25625.000000007: \n\t    1234 [unknown] ([unknown])\n\n25626.000000000: \n\n";
        let samples = samples(text).unwrap();
        assert_eq!(samples.len(), 3);
        assert_eq!(samples[0].time_ns, 25_625_378_344_121);
        assert_eq!(samples[0].frames[1].symbol, "__libc_pread64");
        assert_eq!(samples[0].frames[1].object, "/usr/lib/x86_64-linux-gnu/libc.so.6");
        assert_eq!(samples[1].time_ns, 25_625_000_000_007);
        assert_eq!(samples[1].frames[0].address, 0x1234);
        assert!(samples[2].frames.is_empty());
    }

    #[test]
    fn a_line_that_is_no_frame_is_an_error() {
        assert!(samples("\t1234 a (b)\n").is_err());
        assert!(samples("1.000000001: \n\tnothing\n").is_err());
    }
}
