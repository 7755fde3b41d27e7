//! Repeats a trace on databases in clear and encrypted, for the planner.
//!
//! As in a calibration, sessions are processes with databases of their own, arms come in random order and then in the
//! reverse one, and the cost of an arm is the median over rounds of its difference from the database in clear in the
//! same round ([`crate::calibrate`]). The script is passed to a session by its standard input: it is on no disk.

pub mod session;
mod table;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use selenite::Suite;
use selenite_plan::PlanError;
use selenite_plan::calibration::{Fingerprint, Measured};
use selenite_plan::predict::Estimate;
use selenite_plan::replay::{ReplayScript, ReplayTotals};
use selenite_stats::median;
use selenite_worker::protocol::PLAIN;
use serde::{Deserialize, Serialize};

use crate::calibrate::sample::{PLAIN2, ReplaySettings, SessionSpec};
use crate::calibrate::session::SESSION_ARGUMENT;
use crate::calibrate::{CalibrateError, CalibrationFolder, CalibrationProgress, fingerprint, session_lines};
use crate::drive::WorkerCommand;
use crate::engines::{Engines, OWN_ENGINES};
use crate::host::{Source, load};

pub use table::table;

/// What is to be repeated.
pub struct ReplayRequest<'a> {
    /// This program, which is started for each session.
    pub engines: Engines,
    /// The folder of the sessions is made beside this name.
    pub beside: PathBuf,
    /// How long it is to take. Sessions have a least duration.
    pub duration: Duration,
    /// The suites of the database.
    pub suites: Vec<Suite>,
    /// How encrypted databases are opened.
    pub settings: ReplaySettings,
    /// The trace.
    pub script: &'a ReplayScript,
    /// Set to stop.
    pub interrupt: &'a AtomicBool,
}

/// A block: the whole script, in one arm.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplayLine {
    /// Which round, from 0.
    pub round: u32,
    /// [`PLAIN`], [`PLAIN2`], the name of a suite, [`CLEAR_PACKETS`] or a version of TLS.
    pub arm: String,
    /// CPU nanoseconds.
    pub cpu_ns: f64,
}

/// The packets of a script, in clear.
pub const CLEAR_PACKETS: &str = "packets";

/// What was measured. Nanoseconds are CPU time of the whole script, a value for each session.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReplayReport {
    /// The version of this structure.
    pub format: u32,
    /// The machine.
    pub fingerprint: Fingerprint,
    /// The system's load before.
    pub load_average: f64,
    /// Seconds of the trace.
    pub trace_seconds: f64,
    /// What was repeated.
    pub totals: ReplayTotals,
    /// `pool_size` of the encrypted databases, if it is not the extension's default.
    pub pool_size: Option<String>,
    /// Nanoseconds in clear.
    pub plain_ns: Option<Measured>,
    /// Nanoseconds of a second copy in clear less those of the first.
    pub floor_ns: Option<Measured>,
    /// Nanoseconds under each suite, less those in clear.
    pub suites_ns: BTreeMap<String, Measured>,
    /// Nanoseconds of the packets in each version of TLS, less those in clear.
    pub tls_ns: BTreeMap<String, Measured>,
    /// Nanoseconds that the planner predicted for suites and versions, if there is a calibration.
    pub predicted_ns: BTreeMap<String, Estimate>,
    /// What makes it less sure.
    pub notes: Vec<String>,
}

/// Measures. Calls `progress` with each step.
///
/// # Errors
/// [`CalibrateError`]. The folder of the sessions is removed in any case.
pub fn replay(
    request: &ReplayRequest<'_>,
    progress: &mut dyn FnMut(CalibrationProgress),
) -> Result<ReplayReport, CalibrateError> {
    let began = Instant::now();
    let source = Source::default();
    let load_average = load(&source).unwrap_or(0.0);
    let own = request.engines.find(OWN_ENGINES[1], None)?;
    let command = WorkerCommand {
        args: vec![SESSION_ARGUMENT.to_owned()],
        ..own
    };
    let input = serde_json::to_vec(request.script).map_err(|error| PlanError::input("script", error.to_string()))?;
    let folder = CalibrationFolder::make(&request.beside)?;
    progress(CalibrationProgress::Note(format!(
        "files of the sessions: {} (removed at the end)",
        folder.path.display()
    )));
    let mut sessions = Vec::new();
    for number in 1..=SESSIONS {
        let aes_instructions = true;
        progress(CalibrationProgress::Session {
            number,
            count: SESSIONS,
            aes_instructions,
        });
        let left = request.duration.saturating_sub(began.elapsed()) / (SESSIONS + 1 - number);
        let spec = SessionSpec {
            folder: folder.path.join(format!("session-{number}")),
            seed: SEED + u64::from(number),
            milliseconds: u64::try_from(left.as_millis()).unwrap_or(u64::MAX),
            suites: request.suites.iter().map(|suite| suite.name().to_owned()).collect(),
            replay: Some(request.settings.clone()),
        };
        let mut lines: Vec<ReplayLine> = Vec::new();
        session_lines(&command, &spec, &input, request.interrupt, &mut |line| lines.push(line))?;
        sessions.push(lines);
    }
    drop(folder);
    let mut notes = Vec::new();
    let fingerprint = fingerprint(&source);
    if load_average > f64::from(fingerprint.processors) {
        notes.push(format!("something else was running (load {load_average:.2})"));
    }
    let mut arms = of_sessions(&sessions);
    let versions = crate::calibrate::tls_endpoint::VERSIONS;
    let tls = versions.iter().filter_map(|name| arms.remove_entry(*name)).collect();
    arms.remove(CLEAR_PACKETS);
    Ok(ReplayReport {
        format: FORMAT,
        fingerprint,
        load_average,
        trace_seconds: request.script.seconds,
        totals: request.script.totals(),
        pool_size: request.settings.pool_size.clone(),
        plain_ns: arms.remove(PLAIN),
        floor_ns: arms.remove(PLAIN2),
        suites_ns: arms,
        tls_ns: tls,
        predicted_ns: BTreeMap::new(),
        notes,
    })
}

/// Of each arm a value for each session: for those in clear their time, for others the difference from it.
fn of_sessions(sessions: &[Vec<ReplayLine>]) -> BTreeMap<String, Measured> {
    let mut found: BTreeMap<String, Measured> = BTreeMap::new();
    for lines in sessions {
        let mut arms: BTreeMap<&str, BTreeMap<u32, f64>> = BTreeMap::new();
        for line in lines {
            arms.entry(&line.arm).or_default().insert(line.round, line.cpu_ns);
        }
        for (arm, rounds) in &arms {
            let control = match Suite::from_name(arm).is_some() || *arm == PLAIN2 {
                true => arms.get(PLAIN),
                false if [PLAIN, CLEAR_PACKETS].contains(arm) => None,
                false => arms.get(CLEAR_PACKETS),
            };
            let values: Vec<f64> = match control {
                Some(control) => rounds
                    .iter()
                    .filter_map(|(round, ns)| Some(ns - control.get(round)?))
                    .collect(),
                None => rounds.values().copied().collect(),
            };
            if let Some(value) = median(&values) {
                let measured = found.entry((*arm).to_owned()).or_insert_with(|| Measured {
                    kib: 0.0,
                    sessions: Vec::new(),
                });
                measured.sessions.push(value);
            }
        }
    }
    found
}

/// The version of [`ReplayReport`].
const FORMAT: u32 = 1;
/// An interval of 90 % is then two standard errors wide to each side.
const SESSIONS: u32 = 6;
/// The seed of the order of blocks, combined with the number of the session.
const SEED: u64 = 20_261_124;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arm_is_compared_with_its_control_in_the_same_round() {
        let line = |round, arm: &str, cpu_ns| ReplayLine {
            round,
            arm: arm.to_owned(),
            cpu_ns,
        };
        let session = vec![
            line(0, PLAIN, 100.0),
            line(1, PLAIN, 300.0),
            line(0, "AES_256", 110.0),
            line(1, "AES_256", 330.0),
            line(0, PLAIN2, 100.0),
            line(0, CLEAR_PACKETS, 5.0),
            line(0, "TLS_1_3", 25.0),
        ];
        let found = of_sessions(&[session.clone(), session]);
        let values = |arm: &str| found[arm].sessions.clone();
        assert_eq!(values(PLAIN), [200.0, 200.0]);
        assert_eq!(values("AES_256"), [20.0, 20.0]);
        assert_eq!(values(PLAIN2), [0.0, 0.0]);
        assert_eq!(values("TLS_1_3"), [20.0, 20.0]);
    }
}
