//! Measures what each operation costs on this machine, in clear and under each cipher, for the planner.
//!
//! The parent starts sessions one after the other: a process each, with files of its own ([`session`]). Each prints a
//! line for each block; from these come the coefficients ([`aggregation`]).
//!
//! - cpu-time: costs are CPU time of the session's process. Elapsed time is used for conversions alone.
//! - masked-is-proved: sessions without AES instructions run as the lab runs arms with
//!   `aes_instructions = false`, and by the same proof ([`without_aes`]). AEGIS is not among their
//!   suites: its library ignores the mask, so figures with AES instructions would be reported as
//!   figures without them.
//! - sessions-alternate: sessions with and without AES instructions alternate, so that drift
//!   affects both.
//! - nothing-is-left: the files of all sessions lie in one folder beside the calibration's file, which is removed when
//!   the calibration ends, also by an error or an interruption. (A temporary folder is often in memory, where writes
//!   and syncs cost something else.)
//!
//! Unlike in a study of the lab, a block takes milliseconds, not seconds. A study reports elapsed
//! times and latencies, which need a load as in production; here only CPU time of single operations
//! counts, and thousands of short pairs in random order are more precise in two minutes than a few
//! long ones.

pub mod aggregation;
pub(crate) mod arm_database;
mod record_sealing;
pub mod sample;
pub mod session;
pub(crate) mod table;
pub(crate) mod tls_endpoint;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use selenite::Suite;
use selenite_plan::calibration::{Costs, FORMAT, Fingerprint};
use selenite_plan::{Calibration, PlanError};
use serde::de::DeserializeOwned;

use crate::drive::{DriveError, LinePrinter, PrintedLine, WorkerCommand};
use crate::engines::{Engines, EnginesError, OWN_ENGINES, without_aes};
use crate::host::{LOAD_MAX, Processor, Source, load};
use aggregation::coefficients;
use sample::{SessionLine, SessionSamples, SessionSpec};
use session::SESSION_ARGUMENT;

pub use table::table;

/// What is to be calibrated.
pub struct CalibrationRequest<'a> {
    /// This program, which is started for each session.
    pub engines: Engines,
    /// The file of the calibration: the folder of the sessions is made beside it.
    pub output: PathBuf,
    /// How long it is to take. Sessions have a least duration.
    pub duration: Duration,
    /// The suites of the database; none for all.
    pub suites: Vec<Suite>,
    /// Set to stop the calibration.
    pub interrupt: &'a AtomicBool,
}

/// The result of a calibration.
pub struct CalibrationReport {
    /// The contents of its file.
    pub calibration: Calibration,
    /// The cost of a second unencrypted copy minus that of the first: smaller differences are not
    /// resolved here.
    pub floor: Costs,
    /// What makes it less sure, and what was left out.
    pub notes: Vec<String>,
}

/// The progress of a calibration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CalibrationProgress {
    /// Before the first session: what is worth a warning, and where files are made.
    Note(String),
    /// A session begins.
    Session {
        /// From 1.
        number: u32,
        /// How many.
        count: u32,
        /// Whether it uses AES instructions.
        aes_instructions: bool,
    },
}

/// Why there is no calibration.
#[derive(Debug)]
pub enum CalibrateError {
    /// The machine: a session, or the proof that AES instructions are masked.
    Engines(EnginesError),
    /// The machine: an I/O error.
    Io {
        /// The verb: `make`.
        verb: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// What was measured is no calibration.
    Plan(PlanError),
    /// The caller wanted it to stop.
    Interrupted,
}

/// Measures. Calls `progress` with each step.
///
/// # Errors
/// [`CalibrateError`]. The folder of the sessions is removed in any case.
pub fn calibrate(
    request: &CalibrationRequest<'_>,
    progress: &mut dyn FnMut(CalibrationProgress),
) -> Result<CalibrationReport, CalibrateError> {
    let began = Instant::now();
    let source = Source::default();
    let fingerprint = fingerprint(&source);
    let load_average = load(&source).unwrap_or(0.0);
    let mut notes = Vec::new();
    if load_average > LOAD_MAX * f64::from(fingerprint.processors) {
        notes.push(format!(
            "something else is running (load {load_average:.2}): intervals will be wide"
        ));
    }
    let folder = CalibrationFolder::make(&request.output)?;
    let plans = session_plans(request, &source, &mut notes)?;
    progress(CalibrationProgress::Note(format!(
        "files of the sessions: {} (removed at the end)",
        folder.0.display()
    )));
    for note in &notes {
        progress(CalibrationProgress::Note(note.clone()));
    }
    let count = u32::try_from(plans.len()).unwrap_or(u32::MAX);
    let mut sessions = Vec::new();
    for (number, plan) in (1..).zip(&plans) {
        progress(CalibrationProgress::Session {
            number,
            count,
            aes_instructions: plan.aes_instructions,
        });
        let left = request.duration.saturating_sub(began.elapsed()) / (count + 1 - number);
        let spec = SessionSpec {
            folder: folder.0.join(format!("session-{number}")),
            seed: SEED + u64::from(number),
            milliseconds: u64::try_from(left.as_millis()).unwrap_or(u64::MAX),
            suites: plan.suites.iter().map(|suite| suite.name().to_owned()).collect(),
            replay: None,
        };
        let samples = run_session(plan, &spec, request.interrupt)?;
        sessions.push(samples);
    }
    drop(folder);
    notes.extend(few_rounds(&sessions));
    let found = coefficients(&sessions);
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let calibration = Calibration {
        format: FORMAT,
        fingerprint,
        made: selenite::utc(now.map_or(0, |since| since.as_secs())),
        seconds: began.elapsed().as_secs_f64(),
        load_average,
        plain: found.plain,
        ciphers: found.ciphers,
        conversion_ns_per_mib: found.conversion_ns_per_mib,
    };
    Ok(CalibrationReport {
        calibration,
        floor: found.floor,
        notes,
    })
}

/// What this machine and this program are.
#[must_use]
pub fn fingerprint(source: &Source) -> Fingerprint {
    let processor = Processor::parse(&source.read("proc/cpuinfo").unwrap_or_default());
    let mut instructions = processor.cipher_flags();
    instructions.sort_unstable();
    Fingerprint {
        instructions: instructions.join(" "),
        processors: processor.threads,
        processor: processor.model.unwrap_or_default(),
        selenite: env!("CARGO_PKG_VERSION").to_owned(),
        sqlite: rusqlite::version().to_owned(),
        kernel: source.read("proc/sys/kernel/osrelease").unwrap_or_default(),
    }
}

/// Writes a calibration to its file: another file, which takes its place once it is whole.
///
/// # Errors
/// [`CalibrateError::Plan`], [`CalibrateError::Io`].
pub fn store(calibration: &Calibration, path: &Path) -> Result<(), CalibrateError> {
    let text = calibration.text().map_err(CalibrateError::Plan)?;
    write_whole(path, &text).map_err(io_error("write", path))
}

/// Writes a file that is never there in part: another file, which gets its name once it is synced.
pub(crate) fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    let part = beside(path, "part");
    let written = std::fs::File::create(&part).and_then(|mut file| {
        io::Write::write_all(&mut file, text.as_bytes())?;
        file.sync_all()
    });
    let done = written.and_then(|()| std::fs::rename(&part, path));
    if done.is_err() {
        // What can't be written may not be there.
        let _ = std::fs::remove_file(&part);
    }
    done
}

/// How a session is started, and what it measures.
struct SessionPlan {
    command: WorkerCommand,
    aes_instructions: bool,
    suites: Vec<Suite>,
}

fn session_plans(
    request: &CalibrationRequest<'_>,
    source: &Source,
    notes: &mut Vec<String>,
) -> Result<Vec<SessionPlan>, CalibrateError> {
    let own = request.engines.find(OWN_ENGINES[1], None)?;
    let all = Suite::ALL.into_iter().filter(|suite| *suite != Suite::None);
    let suites: Vec<Suite> = match request.suites.is_empty() {
        true => all.collect(),
        false => all.filter(|suite| request.suites.contains(suite)).collect(),
    };
    let has_aes = Processor::parse(&source.read("proc/cpuinfo").unwrap_or_default()).has_aes();
    let plan = |environment: &WorkerCommand, aes_instructions, suites: &[Suite]| SessionPlan {
        command: WorkerCommand {
            args: vec![SESSION_ARGUMENT.to_owned()],
            ..environment.clone()
        },
        aes_instructions,
        suites: suites.to_vec(),
    };
    let native = |_| plan(&own, has_aes, &suites);
    if !has_aes {
        notes.push("the processor has no AES instructions: costs with them are not known here".to_owned());
        return Ok((0..SESSIONS).map(native).collect());
    }
    let masked = match without_aes(&own, Suite::Aes256.name(), PROOF_LIMIT) {
        Ok((masked, _, _)) => masked,
        Err(error @ EnginesError::NotMasked { .. }) => {
            notes.push(format!("costs without AES instructions are not known: {error}"));
            return Ok((0..SESSIONS).map(native).collect());
        }
        Err(error) => return Err(error.into()),
    };
    let maskable: Vec<Suite> = suites.iter().copied().filter(|suite| obeys_mask(*suite)).collect();
    let names: Vec<&str> = suites
        .iter()
        .filter(|suite| !obeys_mask(**suite))
        .map(|suite| suite.name())
        .collect();
    if !names.is_empty() {
        notes.push(format!(
            "without AES instructions not measured: {}; the library can't be kept from using them",
            names.join(", ")
        ));
    }
    // By turns, and the rest at the end.
    let mut plans: Vec<SessionPlan> = (0..SESSIONS_MASKED)
        .flat_map(|_| [plan(&own, true, &suites), plan(&masked, false, &maskable)])
        .collect();
    plans.extend((SESSIONS_MASKED..SESSIONS).map(native));
    Ok(plans)
}

/// Whether a suite is computed without AES instructions in a masked process.
fn obeys_mask(suite: Suite) -> bool {
    match suite {
        Suite::Aegis128X4 | Suite::Aegis256X4 => false,
        Suite::None | Suite::Aes128 | Suite::Aes192 | Suite::Aes256 | Suite::ChaCha20 | Suite::TripleDes3Key => true,
    }
}

fn run_session(
    plan: &SessionPlan,
    spec: &SessionSpec,
    interrupt: &AtomicBool,
) -> Result<SessionSamples, CalibrateError> {
    let mut samples = SessionSamples {
        aes_instructions: plan.aes_instructions,
        ..SessionSamples::default()
    };
    session_lines(&plan.command, spec, &[], interrupt, &mut |line| match line {
        SessionLine::Block(block) => samples.blocks.push(block),
        SessionLine::Conversion(conversion) => samples.conversions.push(conversion),
    })?;
    Ok(samples)
}

/// Runs a session, with `input` as its standard input, and passes each of its lines.
pub(crate) fn session_lines<L: DeserializeOwned>(
    command: &WorkerCommand,
    spec: &SessionSpec,
    input: &[u8],
    interrupt: &AtomicBool,
    pass: &mut dyn FnMut(L),
) -> Result<(), CalibrateError> {
    let mut command = command.clone();
    let text = serde_json::to_string(spec).map_err(|error| PlanError::input("session", error.to_string()))?;
    command.args.push(text);
    let mut printer = LinePrinter::start(&command, "session", input)?;
    let limit = Duration::from_millis(spec.milliseconds) + SESSION_SPARE;
    let deadline = Instant::now() + limit;
    loop {
        if interrupt.load(Ordering::Relaxed) {
            return Err(CalibrateError::Interrupted);
        }
        if Instant::now() > deadline {
            return Err(printer.hung(limit).into());
        }
        match printer.next(TICK)? {
            PrintedLine::Timeout => {}
            PrintedLine::End => return Ok(()),
            PrintedLine::Line(line) => match serde_json::from_str(&line) {
                Ok(line) => pass(line),
                Err(error) => return Err(printer.invalid(&error.to_string(), line).into()),
            },
        }
    }
}

/// Says so where sessions had time for few rounds only.
fn few_rounds(sessions: &[SessionSamples]) -> Option<String> {
    let rounds = |session: &SessionSamples| session.blocks.iter().map(|block| block.round + 1).max().unwrap_or(0);
    let fewest = sessions.iter().map(rounds).min()?;
    (fewest < ROUNDS_GOOD)
        .then(|| format!("a session had {fewest} rounds only: --seconds with a larger number gives narrower intervals"))
}

/// The folder of the sessions, removed with all that is in it.
pub(crate) struct CalibrationFolder(pub(crate) PathBuf);

impl CalibrationFolder {
    pub(crate) fn make(output: &Path) -> Result<Self, CalibrateError> {
        let path = beside(output, "sessions");
        std::fs::create_dir(&path).map_err(io_error("make", &path))?;
        Ok(Self(path))
    }
}

impl Drop for CalibrationFolder {
    fn drop(&mut self) {
        // Sessions have removed theirs: what is left is one's that was killed.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A name beside the output, unique to this process.
fn beside(output: &Path, what: &str) -> PathBuf {
    let mut name = output.as_os_str().to_owned();
    name.push(format!(".{}.{what}", std::process::id()));
    PathBuf::from(name)
}

fn io_error(verb: &'static str, path: &Path) -> impl FnOnce(io::Error) -> CalibrateError {
    let path = path.to_owned();
    move |source| CalibrateError::Io { verb, path, source }
}

impl CalibrateError {
    /// What to do next.
    #[must_use]
    pub fn advice(&self) -> String {
        match self {
            Self::Engines(EnginesError::Drive(DriveError::Hung { .. })) => {
                "let it have the machine for itself, or calibrate fewer suites: --suite".to_owned()
            }
            Self::Engines(EnginesError::Drive(DriveError::Refused { .. })) => String::new(),
            Self::Engines(error) => error.advice(),
            Self::Io { .. } => "choose a folder that you can write to: --output".to_owned(),
            Self::Plan(_) => "calibrate again".to_owned(),
            Self::Interrupted => String::new(),
        }
    }
}

impl fmt::Display for CalibrateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Engines(error) => error.fmt(f),
            Self::Io { verb, path, source } => write!(f, "{}: {verb}: {source}", path.display()),
            Self::Plan(error) => error.fmt(f),
            Self::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl std::error::Error for CalibrateError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Engines(error) => Some(error),
            Self::Io { source, .. } => Some(source),
            Self::Plan(error) => Some(error),
            Self::Interrupted => None,
        }
    }
}

impl From<EnginesError> for CalibrateError {
    fn from(error: EnginesError) -> Self {
        Self::Engines(error)
    }
}

impl From<DriveError> for CalibrateError {
    fn from(error: DriveError) -> Self {
        Self::Engines(EnginesError::Drive(error))
    }
}

impl From<PlanError> for CalibrateError {
    fn from(error: PlanError) -> Self {
        Self::Plan(error)
    }
}

/// Sessions with AES instructions: with six, an interval of 90 % is two standard errors wide to each side.
const SESSIONS: u32 = 6;
/// Sessions without: what they cost is many times larger than what sessions differ by.
const SESSIONS_MASKED: u32 = 4;
/// The seed of the order of blocks, combined with the number of the session.
const SEED: u64 = 20_261_123;
/// Below these, one round more or less moves the medians.
const ROUNDS_GOOD: u32 = 4;
/// A page is encrypted some hundred times.
const PROOF_LIMIT: Duration = Duration::from_secs(60);
/// Databases are made and two rounds run however short the time is: this takes seconds, on a busy
/// machine minutes.
const SESSION_SPARE: Duration = Duration::from_secs(300);
/// Between looks whether it was interrupted.
const TICK: Duration = Duration::from_millis(100);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fingerprint_is_this_machines() {
        let here = fingerprint(&Source::default());
        assert!(here.processors > 0);
        assert_eq!(here.sqlite, rusqlite::version());
        assert_eq!(here.differences(&here), Vec::<String>::new());
        let folder = tempfile::tempdir().unwrap();
        let elsewhere = fingerprint(&Source::at(folder.path()));
        assert!(!here.differences(&elsewhere).is_empty());
    }

    #[test]
    fn a_calibration_that_is_none_is_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("calibration.json");
        let mut calibration = Calibration {
            format: FORMAT,
            fingerprint: fingerprint(&Source::default()),
            made: String::new(),
            seconds: 1.0,
            load_average: 0.0,
            plain: Costs::new(),
            ciphers: std::collections::BTreeMap::new(),
            conversion_ns_per_mib: std::collections::BTreeMap::new(),
        };
        store(&calibration, &path).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(Calibration::parse(&text).unwrap(), calibration);
        calibration.plain.insert(selenite_plan::Operation::Open, Vec::new());
        assert!(store(&calibration, &path).is_err());
        assert!(store(&calibration, &folder.path().join("no/such")).is_err());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
