//! What a prediction says in words: what was observed, and what is not in it.

use super::{Model, calibrated_as, misfit};
use crate::observation::{Engine, Observation};
use crate::operation::Operation;

/// What was observed.
pub(super) fn observed(observation: &Observation) -> Vec<String> {
    let mut lines = vec![format!(
        "{}, {} over {:.0} s",
        observation.engine.name(),
        match observation.intervals.len() {
            1 => "one interval".to_owned(),
            count => format!("{count} intervals"),
        },
        observation.seconds()
    )];
    lines.extend(use_of(observation));
    lines
}

/// What is assumed of the system instead, where a question changes it.
pub(super) fn assumed(observed: &Observation, changed: &Observation) -> Vec<String> {
    let (before, after) = (use_of(observed), use_of(changed));
    if before == after { Vec::new() } else { after }
}

fn use_of(observation: &Observation) -> Vec<String> {
    let busy = observation.busy_cores().map(|busy| format!("{busy:.2} cores busy"));
    let requests = observation.requests_per_second();
    let requests = requests.map(|requests| format!("{requests:.1} requests a second"));
    busy.into_iter().chain(requests).collect()
}

impl Model<'_> {
    /// What was observed and is not in the prediction, and what was asked for and is not known.
    fn left_out(&self) -> Vec<String> {
        let load = self.observation.load_per_second();
        let has = |operation: Operation| load.amount(operation).count > 0.0;
        let mut warnings = Vec::new();
        if self.question.tls.is_none() && (has(Operation::Packet) || has(Operation::Handshake)) {
            warnings.push("the network stays as it is: its packets and logins are not in the prediction".to_owned());
        }
        if self.question.tls.is_some() && !has(Operation::Packet) {
            warnings.push("TLS: the packets are not known, and not in the prediction".to_owned());
        }
        let is_dropped = |operation| calibrated_as(operation, self.observation.engine).is_none();
        if has(Operation::Commit) && is_dropped(Operation::Commit) && !has(Operation::LogRecord) {
            warnings.push("commits: the writes to the log are not known, and not in the prediction".to_owned());
        }
        warnings
    }

    pub(super) fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        let engine = self.observation.engine;
        if !engine.is_calibrated() {
            warnings.push(format!(
                "coefficients are those of Selenite on this machine: its reads of pages, and its cipher alone for what is written; {} spends another amount around the cipher, which was not measured here: the interval is widened for it. Encrypting or copying the database as a whole is what Selenite does with one of SQLite",
                match engine {
                    Engine::ByHand => "another engine",
                    Engine::Sqlite | Engine::SqlServer | Engine::MariaDb | Engine::PostgreSql => engine.name(),
                }
            ));
        }
        warnings.extend(self.left_out());
        if self.calibration.load_average > f64::from(self.calibration.fingerprint.processors) {
            warnings.push(format!(
                "the calibration was made under a load of {:.1} on {} processors: make another one while nothing else runs",
                self.calibration.load_average, self.calibration.fingerprint.processors
            ));
        }
        if self.calibration.sessions_min() < 2 {
            warnings.push("the calibration has a single session: its coefficients have no interval".to_owned());
        }
        if let (Some(measured), (used, false)) = (&self.calibration.among_others, misfit::surcharge(self.calibration))
            && self.surcharge.is_some()
        {
            let half = measured
                .interval(0.9)
                .map_or(f64::NAN, |interval| interval.half_width());
            warnings.push(format!(
                "what operations cost more among others is {:.1} % in other calibrations, which is used: this one has measured {:.1} +-{:.1} %",
                used.mean() * 100.0,
                measured.mean() * 100.0,
                half * 100.0
            ));
        }
        if self.observation.intervals.len() == 1 {
            warnings.push("one interval was observed: how much the load varies is not in the intervals".to_owned());
        }
        warnings
    }
}
