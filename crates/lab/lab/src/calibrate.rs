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
//!   and syncs cost something else.) That of a calibration that was killed is removed by the next one with the same
//!   file.
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

use std::ffi::OsStr;
use std::fmt;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};
use selenite::Suite;
use selenite_plan::calibration::{Costs, FORMAT, Fingerprint};
use selenite_plan::{Calibration, PlanError};
use serde::de::DeserializeOwned;

use crate::drive::{DriveError, LinePrinter, PrintedLine, WorkerCommand};
use crate::engines::{Engines, EnginesError, OWN_ENGINES, without_aes};
use crate::host::{LOAD_MAX, Processor, Source, load};
use crate::whole_file::{beside, folder_of};
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
    /// What counting the calls for files costs in clear: the extension, with its meter.
    pub counted: Costs,
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
        folder.path.display()
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
            folder: folder.path.join(format!("session-{number}")),
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
        among_others: found.among_others,
        conversion_ns_per_mib: found.conversion_ns_per_mib,
    };
    Ok(CalibrationReport {
        calibration,
        floor: found.floor,
        counted: found.counted,
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
        Suite::None
        | Suite::Aes128
        | Suite::Aes192
        | Suite::Aes256
        | Suite::ChaCha20
        | Suite::TripleDes3Key
        | Suite::Aes256CtrHmac => true,
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
        SessionLine::Mix(mix) => samples.mixes.push(mix),
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
pub(crate) struct CalibrationFolder {
    pub(crate) path: PathBuf,
    /// flock(2) on it: a process in another container may have the number of one that is gone here.
    _lock: Option<File>,
}

impl CalibrationFolder {
    pub(crate) fn make(output: &Path) -> Result<Self, CalibrateError> {
        remove_abandoned(output);
        let path = beside(output, SESSIONS_FOLDER).map_err(io_error("make", output))?;
        std::fs::create_dir(&path).map_err(io_error("make", &path))?;
        // Without a lock (NFS), no other process can take one either, and the folder stays.
        Ok(Self {
            _lock: locked(&path),
            path,
        })
    }
}

impl Drop for CalibrationFolder {
    fn drop(&mut self) {
        // Sessions have removed theirs: what is left is one's that was killed.
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

/// Removes the folders of calibrations with this output whose process is gone.
fn remove_abandoned(output: &Path) {
    let (Ok(entries), Some(name)) = (std::fs::read_dir(folder_of(output)), output.file_name()) else {
        return;
    };
    for entry in entries.flatten() {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let is_gone = owner(&entry.file_name(), name).is_some_and(|owner| !is_running(owner));
        if is_folder && is_gone {
            let path = entry.path();
            if let Some(_lock) = locked(&path) {
                // What can't be removed stays, and costs space alone.
                let _ = std::fs::remove_dir_all(&path);
            }
        }
    }
}

/// The process that a folder of sessions is named for, as [`beside`] does.
fn owner(folder: &OsStr, output: &OsStr) -> Option<Pid> {
    let number = folder.as_bytes().strip_prefix(output.as_bytes())?;
    let number = number.strip_prefix(b".")?.strip_suffix(SESSIONS_FOLDER.as_bytes())?;
    let number = std::str::from_utf8(number.strip_suffix(b".")?).ok()?;
    // "07", "+7" and 0 are not written here.
    let owner = number
        .parse::<i32>()
        .ok()
        .filter(|owner| *owner > 0 && owner.to_string() == number)?;
    Pid::from_raw(owner)
}

/// Whether a process is there, and not this one, which has no folder yet.
fn is_running(process: Pid) -> bool {
    process != rustix::process::getpid() && test_kill_process(process) != Err(Errno::SRCH)
}

fn locked(folder: &Path) -> Option<File> {
    let folder = File::open(folder).ok()?;
    flock(&folder, FlockOperation::NonBlockingLockExclusive).ok()?;
    Some(folder)
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
            Self::Io { .. } => "use a folder that you can write to".to_owned(),
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

/// The end of the name of the sessions' folder.
const SESSIONS_FOLDER: &str = "sessions";
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

    /// A process that is gone.
    fn gone() -> u32 {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        child.id()
    }

    #[test]
    fn folders_of_calibrations_that_were_killed_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("calibration.json");
        let (gone, own) = (gone(), std::process::id());
        let abandoned = [gone, own].map(|process| folder.path().join(format!("calibration.json.{process}.sessions")));
        for path in &abandoned {
            std::fs::create_dir_all(path.join("session-1")).unwrap();
            std::fs::write(path.join("session-1/key"), "k").unwrap();
        }
        let made = CalibrationFolder::make(&output).unwrap();
        assert!(!abandoned[0].exists());
        assert_eq!(made.path, abandoned[1]);
        assert_eq!(std::fs::read_dir(&made.path).unwrap().count(), 0);
        // Its owner has it: also where its number is that of a process that is gone.
        let elsewhere = &abandoned[0];
        std::fs::rename(&made.path, elsewhere).unwrap();
        remove_abandoned(&output);
        assert!(elsewhere.exists());
        drop(made);
        remove_abandoned(&output);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_only_looks_like_such_a_folder_stays() {
        let folder = tempfile::tempdir().unwrap();
        let gone = gone();
        let precious = folder.path().join("precious");
        std::fs::create_dir(&precious).unwrap();
        std::fs::write(precious.join("data"), "mine").unwrap();
        for name in [
            // The parent of this process is there.
            format!("calibration.json.{}.sessions", std::os::unix::process::parent_id()),
            "calibration.json.1.sessions".to_owned(),
            format!("calibration.json.0{gone}.sessions"),
            format!("calibration.json.+{gone}.sessions"),
            format!("calibration.json.-{gone}.sessions"),
            format!("calibration.json.{gone}.sessions.old"),
            format!("calibration.json.{gone}.0.sessions"),
            "calibration.json.99999999999999.sessions".to_owned(),
            format!("other.json.{gone}.sessions"),
            "calibration.json.0.sessions".to_owned(),
            "calibration.json..sessions".to_owned(),
            "calibration.json.sessions".to_owned(),
        ] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        let link = folder.path().join(format!("calibration.json.{gone}.sessions"));
        std::os::unix::fs::symlink(&precious, &link).unwrap();
        let count = || std::fs::read_dir(folder.path()).unwrap().count();
        let before = count();
        remove_abandoned(&folder.path().join("calibration.json"));
        assert_eq!(count(), before);
        assert_eq!(std::fs::read_to_string(link.join("data")).unwrap(), "mine");
        // A link within one is removed, and what it names is not.
        std::fs::remove_file(&link).unwrap();
        std::fs::create_dir(&link).unwrap();
        std::os::unix::fs::symlink(&precious, link.join("session-1")).unwrap();
        remove_abandoned(&folder.path().join("calibration.json"));
        assert_eq!((link.exists(), count()), (false, before - 1));
        assert!(precious.join("data").exists());
    }
}
