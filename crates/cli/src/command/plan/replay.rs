//! `selenite plan replay`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use selenite::{Access, Suite};
use selenite_lab::calibrate::sample::ReplaySettings;
use selenite_lab::replay::{ReplayReport, ReplayRequest, replay, table};
use selenite_plan::calibration::{TLS_1_2, TLS_1_3};
use selenite_plan::observe::Supplement;
use selenite_plan::observe::trace::TraceObserver;
use selenite_plan::predict::Estimate;
use selenite_plan::replay::{ReplayBuilder, ReplayScript};
use selenite_plan::{Calibration, Cipher, Observation, PlanError, Question, predict};

use super::{DATA, USAGE, calibrate, calibration, read_trace};
use crate::arguments::plan::PlanReplay;
use crate::cli_error::CliError;
use crate::command::lab::engines;
use crate::interrupt;
use crate::output::note;
use crate::output_files::{OutputFiles, write_file};
use crate::printable;

pub fn run(arguments: &PlanReplay, access: &Access) -> Result<(), CliError> {
    let mut inputs: Vec<&Path> = arguments.traces.iter().map(PathBuf::as_path).collect();
    inputs.extend(arguments.calibration.as_deref());
    let outputs = OutputFiles::checked([("--json", arguments.json.as_ref())], &inputs, access)?;
    if arguments.suite.contains(&Suite::None) {
        return Err(CliError::Lab {
            what: "the suite NONE does not encrypt: every replay has one in clear".to_owned(),
            next: "name suites that encrypt, or none for all".to_owned(),
            status: USAGE,
        });
    }
    let calibration = arguments.calibration.as_deref().map(calibration).transpose()?;
    let (builder, observer) = read_traces(&arguments.traces, access)?;
    let is_cut = builder.is_full();
    let script = script(builder, &observer)?;
    let all = Suite::ALL.into_iter().filter(|suite| *suite != Suite::None);
    let suites: Vec<Suite> = match arguments.suite.is_empty() {
        true => all.filter(|suite| !suite.is_deprecated()).collect(),
        false => all.filter(|suite| arguments.suite.contains(suite)).collect(),
    };
    let interrupted = interrupt::install();
    let request = ReplayRequest {
        engines: engines()?,
        beside: PathBuf::from("replay"),
        duration: Duration::from_secs(arguments.seconds.into()),
        suites,
        settings: ReplaySettings {
            pool_size: arguments.pool_size.clone(),
        },
        script: &script,
        interrupt: &interrupted,
    };
    let mut report = replay(&request, &mut |progress| note(&calibrate::line(&progress)))?;
    if is_cut {
        report
            .notes
            .push("only the beginning of the trace is repeated: it has more calls than a replay may have".to_owned());
    }
    // Where only the beginning is repeated, its end is not expected.
    if !is_cut {
        report.notes.extend(observer.missing());
    }
    if script.left_out > 0 {
        let what = format!(
            "{} databases are left out: all would be larger than 256 MiB, or too many",
            script.left_out
        );
        report.notes.push(what);
    }
    if let Some(calibration) = &calibration {
        let supplement = Supplement {
            cores: Some(f64::from(report.fingerprint.processors)),
            ..Supplement::default()
        };
        // What was measured is worth showing without a prediction.
        let observation = observer.finish(&supplement);
        match observation.and_then(|observation| predicted(&observation, calibration, &report)) {
            Ok(predicted) => report.predicted_ns = predicted,
            Err(error) => report.notes.push(format!("no prediction: {error}")),
        }
    }
    if let Some(path) = &arguments.json {
        let json = serde_json::to_string_pretty(&report).map_err(|error| CliError::Lab {
            what: error.to_string(),
            next: String::new(),
            status: DATA,
        })?;
        write_file(path, &json)?;
    }
    Ok(outputs.show(&table(&report))?)
}

/// The traces, as far as they are repeated: as a script, and as an observation.
fn read_traces(paths: &[PathBuf], access: &Access) -> Result<(ReplayBuilder, TraceObserver), CliError> {
    let (mut builder, mut observer) = (ReplayBuilder::default(), TraceObserver::default());
    let mut known = BTreeSet::new();
    for path in paths {
        builder.begin_trace();
        observer.begin_trace(&printable::path(path));
        let end = read_trace(path, access, &mut known, &mut |records| {
            for record in records {
                if !builder.is_full() {
                    builder.add(record);
                    observer.add(std::slice::from_ref(record));
                }
            }
        })?;
        observer.end_trace(end.left_over());
    }
    Ok((builder, observer))
}

/// What is repeated; an error names the traces.
fn script(builder: ReplayBuilder, observer: &TraceObserver) -> Result<ReplayScript, PlanError> {
    builder.finish().map_err(|error| {
        if let PlanError::Input { reason, .. } = error {
            return PlanError::input(observer.place(), reason);
        }
        error
    })
}

/// CPU nanoseconds that the planner expects for each suite and version of TLS. What was not calibrated is left out.
fn predicted(
    observation: &Observation,
    calibration: &Calibration,
    report: &ReplayReport,
) -> Result<BTreeMap<String, Estimate>, PlanError> {
    let ns = 1e9 * observation.seconds();
    let mut found = BTreeMap::new();
    for name in report.suites_ns.keys() {
        let Some(suite) = Suite::from_name(name) else { continue };
        let cipher = Cipher::of(suite, true);
        if calibration.costs(&cipher).is_ok() {
            let prediction = predict(observation, calibration, &Question::of(cipher))?;
            found.insert(name.clone(), prediction.added_cores.times(ns));
        }
    }
    for version in [TLS_1_2, TLS_1_3] {
        let tls = Cipher::tls(version, true);
        let is_known = calibration.costs(&tls).is_ok() && calibration.costs(&Cipher::of(Suite::Aes256, true)).is_ok();
        if !report.tls_ns.contains_key(version) || !is_known {
            continue;
        }
        let question = Question {
            tls: Some(tls),
            ..Question::of(Cipher::of(Suite::Aes256, true))
        };
        let prediction = predict(observation, calibration, &question)?;
        let network = prediction.parts.iter().filter(|part| part.operation.is_network());
        let sum = network.fold([0.0; 3], |sum, part| {
            let cores = part.cores;
            [sum[0] + cores.value, sum[1] + cores.low, sum[2] + cores.high]
        });
        let [value, low, high] = sum.map(|cores| cores * ns);
        found.insert(version.to_owned(), Estimate { value, low, high });
    }
    Ok(found)
}
