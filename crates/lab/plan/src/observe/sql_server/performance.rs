//! Performance counters of Windows, as typeperf and relog write them: `(PDH-CSV 4.0)`.
//!
//! | counter | becomes |
//! |---|---|
//! | `SQL Statistics\Batch Requests/sec` | requests |
//! | `Databases(_Total)\Write Transactions/sec` | [`Operation::Commit`] |
//! | `Databases(_Total)\Transactions/sec` | the same, where that is not there: an upper bound |
//! | `Process(sqlservr)\% Processor Time` | CPU time: 100 % is a core |
//! | `Processor(_Total)\% Processor Time` | the same, where that is not there: 100 % is all cores |
//! | `Databases(_Total)\Log Bytes Flushed/sec` | a note where it differs from the log files' writes |
//! | `Buffer Manager\Checkpoint pages/sec` | a note: these pages are among those written |
//!
//! Source: <https://learn.microsoft.com/en-us/sql/relational-databases/performance-monitor/use-sql-server-objects>.
//! A counter's mean over the file is used for all intervals. Numbers have a decimal point. The first column of the
//! header may have the time zone, the others have the computer.

use super::super::delimited::{check_whole, split};
use super::super::snapshot::SnapshotText;
use super::snapshot_origin::{SnapshotOrigin, Span};
use super::{add_rate, has_load, moment};
use crate::operation::{KIB, Operation};
use crate::{Observation, PlanError};

/// The means of a file's counters.
#[derive(Debug)]
pub(super) struct Performance {
    place: String,
    /// By the clock of the time zone.
    span: Span,
    /// Seconds from the time of the file to UTC, if it has them.
    bias: Option<f64>,
    means: Vec<CounterMean>,
}

/// A column.
#[derive(Debug)]
struct CounterMean {
    computer: Option<String>,
    /// With the instance: `Process(sqlservr)`.
    object: String,
    counter: String,
    mean: f64,
}

impl Performance {
    pub(super) fn read(source: &SnapshotText<'_>) -> Result<Self, PlanError> {
        check_whole(source)?;
        let mut lines = source
            .text
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.trim().is_empty());
        let place = |index: usize| format!("{}, line {}", source.name, index + 1);
        let Some((index, header)) = lines.next() else {
            return Err(PlanError::input(source.name, "it is empty"));
        };
        let header = header.trim_start_matches('\u{feff}');
        let separator = if header.contains("(PDH-TSV") { '\t' } else { ',' };
        let paths = split(header, separator).map_err(|reason| PlanError::input(place(index), reason))?;
        if !paths.first().is_some_and(|first| first.starts_with("(PDH-")) {
            let reason = "it does not begin with (PDH-CSV 4.0), as typeperf -f CSV and relog -f CSV write it";
            return Err(PlanError::input(place(index), reason));
        }
        let mut sums = vec![(0.0, 0.0); paths.len()];
        let mut times: Vec<f64> = Vec::new();
        for (index, line) in lines {
            // typeperf ends its output with messages; a row begins with a time in quotes.
            if MESSAGES.iter().any(|message| line.trim_start().starts_with(message)) {
                continue;
            }
            let fields = split(line, separator).map_err(|reason| PlanError::input(place(index), reason))?;
            if fields.len() != paths.len() {
                let reason = format!("{} fields, and the header has {}", fields.len(), paths.len());
                return Err(PlanError::input(place(index), reason));
            }
            for (column, (field, sum)) in fields.iter().zip(&mut sums).enumerate() {
                if column == 0 {
                    let time = moment::of_counters(field).ok_or_else(|| {
                        PlanError::input(place(index), format!("{field:?} is no time as MM/DD/YYYY hh:mm:ss.mmm"))
                    })?;
                    if times.last().is_some_and(|last| *last >= time) {
                        return Err(PlanError::input(place(index), "it is not later than the row before it"));
                    }
                    times.push(time);
                } else if !field.is_empty() {
                    let value = value_of(field).ok_or_else(|| {
                        let reason = format!("{field:?} is no number that a counter can have");
                        PlanError::input(format!("{}, column {}", place(index), column + 1), reason)
                    })?;
                    *sum = (sum.0 + value, sum.1 + 1.0);
                }
            }
        }
        let (Some(first), Some(last)) = (times.first(), times.last()) else {
            return Err(PlanError::input(source.name, "it has no samples"));
        };
        let means = paths.iter().zip(sums).skip(1).filter(|(_, (_, count))| *count > 0.0);
        Ok(Self {
            place: source.name.to_owned(),
            span: Span {
                start: *first,
                end: *last,
            },
            bias: paths.first().and_then(|first| bias_of(first)),
            means: means
                .filter_map(|(path, (sum, count))| mean_of(path, sum / count))
                .collect(),
        })
    }

    /// Enters the means into all intervals, where nothing else knows.
    pub(super) fn complete(&self, observation: &mut Observation, origin: &SnapshotOrigin) -> Result<(), PlanError> {
        self.check_counters()?;
        let mut notes = self.check_origin(origin)?;
        let requests = self.mean(":SQL Statistics", "Batch Requests/sec");
        let process = self.mean("Process(sqlservr)", "% Processor Time");
        let processor = self.mean("Processor(_Total)", "% Processor Time");
        let of_all = processor.and_then(|percent| Some(percent * observation.cores?));
        let unused = self.unused(observation);
        if !unused.is_empty() {
            let names = unused.join(", ");
            notes.push(format!(
                "the performance counters {names} have no effect: the snapshots have the same"
            ));
        }
        for interval in &mut observation.intervals {
            interval.requests = interval.requests.or(requests.map(|rate| rate * interval.seconds));
            let busy = process.or(of_all).map(|percent| percent / 100.0);
            interval.cpu_seconds = interval.cpu_seconds.or(busy.map(|cores| cores * interval.seconds));
        }
        notes.push(format!(
            "performance counters: their means over {:.0} s, for all intervals",
            self.span.seconds()
        ));
        if process.is_none() && processor.is_some() {
            notes.push(if observation.cores.is_some() {
                "CPU time is that of the whole machine".to_owned()
            } else {
                "CPU time of the whole machine is known, but not its cores: state --cores".to_owned()
            });
        }
        if !has_load(observation, Operation::Commit) {
            let writing = self.mean(DATABASES, "Write Transactions/sec");
            let all = self.mean(DATABASES, "Transactions/sec");
            if let Some(commits) = writing.or(all) {
                add_rate(observation, Operation::Commit, commits, 0.0);
                observation
                    .notes
                    .retain(|note| !note.starts_with("commits are not counted"));
            }
            if let (None, Some(_)) = (writing, all) {
                notes.push("commits are Transactions/sec, which includes those that only read: an upper bound".into());
            }
        }
        if let Some(flushed) = self.mean(DATABASES, "Log Bytes Flushed/sec") {
            let written = observation.load_per_second().amount(Operation::LogRecord).kib * KIB;
            if (flushed - written).abs() > flushed.max(written) * LOG_DIFFERENCE {
                notes.push(format!(
                    "Log Bytes Flushed/sec is {flushed:.0}, and {written:.0} bytes a second were written to the log \
                     files that count: the counter is of all databases"
                ));
            }
        }
        if let Some(pages) = self.mean(":Buffer Manager", "Checkpoint pages/sec") {
            notes.push(format!("checkpoints wrote {pages:.1} pages a second of those written"));
        }
        observation.notes.extend(notes);
        Ok(())
    }

    /// The counters of what an observation has already.
    fn unused(&self, observation: &Observation) -> Vec<&'static str> {
        let intervals = || observation.intervals.iter();
        let counters = [
            ("Batch Requests/sec", intervals().all(|one| one.requests.is_some())),
            ("% Processor Time", intervals().all(|one| one.cpu_seconds.is_some())),
            ("Write Transactions/sec", has_load(observation, Operation::Commit)),
            ("Transactions/sec", has_load(observation, Operation::Commit)),
        ];
        let has = |counter: &str| self.means.iter().any(|found| found.counter == counter);
        let is_unused = |(counter, is_known): &(&'static str, bool)| *is_known && has(counter);
        counters
            .into_iter()
            .filter(is_unused)
            .map(|(counter, _)| counter)
            .collect()
    }

    fn mean(&self, object: &str, counter: &str) -> Option<f64> {
        self.found(object, counter).next().map(|found| found.mean)
    }

    fn found<'a>(&'a self, object: &'a str, counter: &'a str) -> impl Iterator<Item = &'a CounterMean> {
        let is_it = move |known: &str| known.eq_ignore_ascii_case(object) || known.ends_with(object);
        self.means
            .iter()
            .filter(move |found| is_it(&found.object) && found.counter == counter)
    }

    /// Refuses counters of another server or time than that of the snapshots; says what could not be compared.
    fn check_origin(&self, origin: &SnapshotOrigin) -> Result<Vec<String>, PlanError> {
        let mut notes = Vec::new();
        let used: Vec<&CounterMean> = COUNTERS
            .iter()
            .flat_map(|(object, counter)| self.found(object, counter))
            .collect();
        let computer = used.first().and_then(|first| first.computer.as_deref());
        if let Some(other) = used
            .iter()
            .map(|found| found.computer.as_deref())
            .find(|other| *other != computer)
        {
            let [one, other] = [computer, other].map(|name| name.unwrap_or("one without a name"));
            let reason = format!("its counters are of different computers: {one} and {other}");
            return Err(PlanError::input(&*self.place, reason));
        }
        match computer {
            None => notes.push("the performance counters do not name their computer".to_owned()),
            Some(computer) => {
                if !origin.check_computer(&self.place, computer)? {
                    notes.push(
                        "whether the performance counters are of the same server is not known: the snapshots of files \
                         do not name theirs"
                            .to_owned(),
                    );
                }
            }
        }
        for object in used.iter().map(|found| found.object.as_str()) {
            if let Some((service, _)) = object.split_once(':') {
                origin.check_instance(&self.place, service.strip_prefix(NAMED_INSTANCE))?;
            }
        }
        if !origin.check_time(&self.place, self.span, self.bias)? {
            notes.push(
                "whether the performance counters are of the same time is not known: the snapshots of files have none"
                    .to_owned(),
            );
        } else if self.bias.is_none() {
            notes.push("the performance counters have no time zone: that of the server was taken".to_owned());
        }
        Ok(notes)
    }

    /// Refuses a file without a known counter, such as one of a localized Windows, and one of two instances.
    fn check_counters(&self) -> Result<(), PlanError> {
        let mut is_known = false;
        for (object, counter) in COUNTERS {
            match self.found(object, counter).count() {
                0 => {}
                1 => is_known = true,
                count => {
                    let reason = format!("{count} columns are {object}\\{counter}: keep those of one instance");
                    return Err(PlanError::input(&*self.place, reason));
                }
            }
        }
        if is_known {
            return Ok(());
        }
        let names: Vec<String> = self
            .means
            .iter()
            .take(5)
            .map(|found| format!("{}\\{}", found.object, found.counter))
            .collect();
        let reason = format!(
            "no known counter, such as Batch Requests/sec; found: {}",
            names.join(", ")
        );
        Err(PlanError::input(&*self.place, reason))
    }
}

/// A column of the path `\\COMPUTER\OBJECT(INSTANCE)\COUNTER`, or `\OBJECT(INSTANCE)\COUNTER`.
fn mean_of(path: &str, mean: f64) -> Option<CounterMean> {
    let (computer, rest) = match path.strip_prefix("\\\\") {
        Some(rest) => rest.split_once('\\').map(|(computer, rest)| (Some(computer), rest))?,
        None => (None, path.strip_prefix('\\')?),
    };
    let (object, counter) = rest.split_once('\\')?;
    Some(CounterMean {
        computer: computer.map(str::to_owned),
        object: object.to_owned(),
        counter: counter.to_owned(),
        mean,
    })
}

/// The seconds between local time and UTC, which logman and relog write as minutes behind the time zone:
/// `(PDH-CSV 4.0) (Pacific Daylight Time)(420)`. typeperf writes neither.
fn bias_of(first: &str) -> Option<f64> {
    let (_, minutes) = first.trim_end().strip_suffix(')')?.rsplit_once('(')?;
    let minutes: i16 = minutes.parse().ok()?;
    Some(f64::from(minutes) * 60.0)
}

/// A value of a counter: relog writes exponents.
fn value_of(field: &str) -> Option<f64> {
    let is_plain = field
        .bytes()
        .all(|byte| byte.is_ascii_digit() || b".eE+-".contains(&byte));
    let value: f64 = field.parse().ok()?;
    (is_plain && value.is_finite() && value >= 0.0).then_some(value)
}

/// The counters that are used.
const COUNTERS: [(&str, &str); 7] = [
    (":SQL Statistics", "Batch Requests/sec"),
    (DATABASES, "Write Transactions/sec"),
    (DATABASES, "Transactions/sec"),
    (DATABASES, "Log Bytes Flushed/sec"),
    (":Buffer Manager", "Checkpoint pages/sec"),
    ("Process(sqlservr)", "% Processor Time"),
    ("Processor(_Total)", "% Processor Time"),
];
const DATABASES: &str = ":Databases(_Total)";
/// The service of an instance with a name is `MSSQL$NAME`, that of the default one `SQLServer`.
const NAMED_INSTANCE: &str = "MSSQL$";
/// The two may differ by this share, because their times are not the same.
const LOG_DIFFERENCE: f64 = 0.2;
/// How typeperf ends a file.
const MESSAGES: [&str; 2] = ["Exiting", "The command completed"];
