//! The league of the planner: predictions beside what the lab measures afterwards.
//!
//! Each cell of the studies runs in clear with Selenite's extension, which counts the calls for the files; from these
//! counts and a calibration follow the predictions. They are written to a file, whose SHA-256 becomes a part of the
//! configuration of each study before it runs.
//!
//! - observed-in-clear: nothing that a prediction is made from ran encrypted, but for the calibration.
//! - hash-in-the-study: a study is compared only with the predictions whose hash its configuration has, and only if its
//!   store is younger than they are.

pub mod document;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use selenite::Suite;
use selenite_plan::league::{Forecast, League, Measurement, ObservedWorkload, PredictedArm, Predictions, league};
use selenite_plan::observation::ObservedInterval;
use selenite_plan::observe::{SnapshotText, Supplement, sqlite};
use selenite_plan::{Calibration, Cipher, Observation, PlanError};
use selenite_worker::protocol::{DatabaseSpec, PLAIN, Workload};
use sha2::{Digest as _, Sha256};

use crate::analysis::{self, AnalysisError};
use crate::arm::{self, Arm};
use crate::config::{CacheState, Cell, Config, ConfigError, hex};
use crate::drive::{GroupSample, WorkerGroup};
use crate::engines::Engines;
use crate::native::OBSERVED;
use crate::run::{
    LocalTestbed, NewStudy, Observer, RunContext, RunError, RunOutcome, Testbed, page_cache_kib, resume, run, worker,
};
use crate::schedule;
use crate::store::{Store, StoreError};
use crate::summary::{ArmRole, Metric, StudyState, Summary};
use crate::whole_file::write_whole;

/// What is to be validated.
pub struct ValidationRequest<'a> {
    /// This program, which is started for each worker.
    pub engines: Engines,
    /// Where predictions, stores and databases are.
    pub folder: PathBuf,
    /// What is predicted and run.
    pub studies: Vec<Config>,
    /// The costs on this machine.
    pub calibration: Calibration,
    /// Cores of this machine.
    pub cores: u32,
    /// The command, for readers of the studies.
    pub command: String,
    /// The commit that this program was built from; empty if unknown.
    pub commit: String,
    /// Set when someone wants it to stop.
    pub interrupt: &'a AtomicBool,
}

/// What was found.
pub struct Validation {
    /// What was predicted.
    pub predictions: Predictions,
    /// SHA-256 of the file that has it, in hexadecimal digits.
    pub sha256: String,
    /// What was measured, in the order of the studies.
    pub summaries: Vec<Summary>,
}

/// Why there is no validation.
#[derive(Debug)]
pub enum ValidateError {
    /// A prediction.
    Plan(PlanError),
    /// A study, or what belongs to it.
    Run(RunError),
    /// A store.
    Analysis(AnalysisError),
    /// The studies, or what was there of an earlier run.
    Refused(String),
    /// The caller wanted it to stop. What is there goes on with the next run.
    Interrupted,
}

/// Predicts, unless the folder has predictions already; runs the studies, or goes on with them; reads the results.
///
/// # Errors
/// [`ValidateError`].
pub fn validate(
    request: &ValidationRequest<'_>,
    observer: &mut dyn Observer,
    note: &mut dyn FnMut(&str),
) -> Result<Validation, ValidateError> {
    check_names(&request.studies)?;
    for config in &request.studies {
        arms_of(config)?;
        config.cells.iter().try_for_each(check_kind)?;
    }
    let _lock = FolderLock::take(&request.folder)?;
    let mut testbed = LocalTestbed::new(request.engines.clone());
    let file = request.folder.join(PREDICTIONS);
    let (predictions, text) = match std::fs::read_to_string(&file) {
        Ok(text) => {
            let read = serde_json::from_str(&text);
            let predictions: Predictions = read.map_err(|error| {
                ValidateError::Refused(format!("{}: these are no predictions: {error}", file.display()))
            })?;
            check(&predictions, request)?;
            note(&format!("{}: made {}", file.display(), predictions.made));
            (predictions, text)
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let predictions = predict_all(request, &mut testbed, note)?;
            let text = serde_json::to_string_pretty(&predictions)
                .map_err(|error| ValidateError::Refused(error.to_string()))?;
            write_whole(&file, &text).map_err(RunError::io("write", &file))?;
            (predictions, text)
        }
        Err(error) => return Err(RunError::io("read", &file)(error).into()),
    };
    let sha256 = hex(&Sha256::digest(&text));
    note(&format!("{}: SHA-256 {sha256}", file.display()));
    let mut summaries = Vec::new();
    for study in &request.studies {
        let config = Config::parse(&format!("{}\n{HASH_COMMENT}{sha256}\n", study.text.trim_end()))?;
        let store = request.folder.join(format!("{}.lab.db", study.study.name));
        measure(request, (config, &store), &mut testbed, observer)?;
        let store = Store::open(&store)?;
        let summary = analysis::read(&store)?;
        check_order(&summary, &predictions, &sha256)?;
        summaries.push(summary);
    }
    Ok(Validation {
        predictions,
        sha256,
        summaries,
    })
}

impl Validation {
    /// The predictions beside the measurements.
    ///
    /// # Errors
    /// [`ValidateError::Plan`].
    pub fn league(&self) -> Result<League<'_>, ValidateError> {
        let mut measured = BTreeMap::new();
        for forecast in &self.predictions.forecasts {
            let workload = self.predictions.workloads.get(forecast.workload);
            let found = workload.and_then(|workload| {
                let summary = self
                    .summaries
                    .iter()
                    .find(|summary| summary.study.name == workload.study)?;
                let cell = summary.cells.iter().find(|cell| cell.name == workload.cell)?;
                let is_cpu =
                    |effect: &&crate::summary::Effect| effect.arm == forecast.arm && effect.metric == Metric::Cpu;
                cell.effects.iter().find(is_cpu)
            });
            if let Some(effect) = found {
                let measurement = Measurement {
                    added: effect.ratio,
                    interval: effect.interval,
                };
                measured.insert((forecast.workload, forecast.arm.clone()), measurement);
            }
        }
        Ok(league(&self.predictions, &measured)?)
    }
}

fn predict_all(
    request: &ValidationRequest<'_>,
    testbed: &mut LocalTestbed,
    note: &mut dyn FnMut(&str),
) -> Result<Predictions, ValidateError> {
    let mut workloads = Vec::new();
    for config in &request.studies {
        workloads.extend(observe_all(request, config, testbed, note)?);
    }
    let forecasts = forecasts(&workloads, request)?;
    let now = testbed.now_s().max(0.0);
    // Whole seconds of this age.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the cast saturates"
    )]
    let made = selenite::utc(now as u64);
    Ok(Predictions {
        made,
        studies: studies(request),
        calibration: request.calibration.clone(),
        workloads,
        forecasts,
    })
}

fn studies(request: &ValidationRequest<'_>) -> Vec<(String, String)> {
    let study = |config: &Config| (config.study.name.clone(), config.sha256());
    request.studies.iter().map(study).collect()
}

fn forecasts(workloads: &[ObservedWorkload], request: &ValidationRequest<'_>) -> Result<Vec<Forecast>, ValidateError> {
    let mut arms = BTreeMap::new();
    for config in &request.studies {
        arms.insert(config.study.name.as_str(), arms_of(config)?);
    }
    let of = |study: &str| arms.get(study).cloned().unwrap_or_default();
    Ok(Predictions::forecasts_of(workloads, &request.calibration, &of)?)
}

/// The encrypted arms of a study: name, cipher, and whether they have a page pool.
///
/// Errors: an arm of another engine.
fn arms_of(config: &Config) -> Result<Vec<PredictedArm>, ValidateError> {
    let arms = arm::arms(config)?;
    let encrypted = arms.iter().filter(|arm| arm.role == ArmRole::Encrypted);
    let facts = |arm: &Arm| {
        let suite = Suite::from_name(&arm.cipher).filter(|_| arm.engine == OWN_ENGINE);
        let suite = suite.ok_or_else(|| {
            ValidateError::Refused(format!("arm `{}`: only suites of Selenite are predicted", arm.name))
        })?;
        Ok((
            arm.name.clone(),
            Cipher::of(suite, arm.aes_instructions),
            arm.pool != Some(0),
        ))
    };
    encrypted.map(facts).collect()
}

/// Refuses predictions that were not made from this request: all but the observations is computed again.
fn check(predictions: &Predictions, request: &ValidationRequest<'_>) -> Result<(), ValidateError> {
    let other = |what: &str| {
        Err(ValidateError::Refused(format!(
            "the predictions in {} were made {what}: use another folder",
            request.folder.display()
        )))
    };
    if predictions.calibration != request.calibration {
        return other("with another calibration");
    }
    if predictions.studies != studies(request) {
        return other("for other studies");
    }
    let cells = request.studies.iter().flat_map(|config| {
        let of_study = |cell| (config.study.name.as_str(), cell);
        config.cells.iter().map(of_study)
    });
    let is_same = |(workload, (study, cell)): (&ObservedWorkload, (&str, &Cell))| {
        (workload.study.as_str(), workload.cell.as_str()) == (study, cell.name.as_str())
            && workload.label == cell.label
            && workload.workload == workload_name(&cell.work)
            && workload.kind == analysis::work(&cell.work)
    };
    let count = cells.clone().count();
    if predictions.workloads.len() != count || !predictions.workloads.iter().zip(cells).all(is_same) {
        return other("for other cells");
    }
    if selenite::parse_utc(&predictions.made).is_none() {
        return other("at no time");
    }
    if predictions.forecasts != forecasts(&predictions.workloads, request)? {
        return other("in another way than this program makes them");
    }
    Ok(())
}

/// Two studies of one name would have one store.
fn check_names(studies: &[Config]) -> Result<(), ValidateError> {
    let mut names: Vec<&str> = studies.iter().map(|config| config.study.name.as_str()).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(ValidateError::Refused(format!("two studies are called `{}`", pair[0]))),
        None => Ok(()),
    }
}

/// The right to work in a folder, by flock(2) on it.
struct FolderLock {
    _folder: std::fs::File,
}

impl FolderLock {
    fn take(folder: &Path) -> Result<Self, ValidateError> {
        let opened = std::fs::File::open(folder).map_err(RunError::io("open", folder))?;
        flock(&opened, FlockOperation::NonBlockingLockExclusive)
            .map_err(|_| ValidateError::Refused(format!("another process works in {}", folder.display())))?;
        Ok(Self { _folder: opened })
    }
}

/// Runs each cell of a study in clear, with the extension.
fn observe_all(
    request: &ValidationRequest<'_>,
    config: &Config,
    testbed: &mut LocalTestbed,
    note: &mut dyn FnMut(&str),
) -> Result<Vec<ObservedWorkload>, ValidateError> {
    let arms = arm::arms(config)?;
    let plain = &arms[0];
    testbed.find(plain).map_err(|source| RunError::Engine {
        arm: plain.name.clone(),
        source: Box::new(source),
    })?;
    let folder = ObservedFolder::make(&request.folder)?;
    let mut masters = BTreeMap::new();
    for (place, (name, dataset)) in config.data.iter().enumerate() {
        let path = folder.0.join(MASTERS).join(format!("{name}.db"));
        let spec = spec(config, &path, config.layout.cache_kib, false);
        let mut group = start(testbed, plain, 1)?;
        let seed = schedule::data_seed(config.study.seed, place);
        group
            .load(&spec, dataset, seed, None, LOAD)
            .map_err(|source| worker(plain, "load", source))?;
        group.quit(END);
        masters.insert(name.clone(), path);
    }
    let mut observed = Vec::new();
    for (place, cell) in config.cells.iter().enumerate() {
        if request.interrupt.load(Ordering::Relaxed) {
            return Err(ValidateError::Interrupted);
        }
        note(&format!("{}: {} in clear", config.study.name, cell.label));
        let copy = folder.0.join("observed.db");
        let master = masters.get(&cell.data).ok_or_else(|| no_data(cell))?;
        std::fs::copy(master, &copy).map_err(RunError::io("write", &copy))?;
        let seed = schedule::data_seed(config.study.seed, config.data.len() + place);
        let observation = observe(request, (config, cell), (&copy, seed), (testbed, plain))?;
        observed.push(ObservedWorkload {
            study: config.study.name.clone(),
            cell: cell.name.clone(),
            label: cell.label.clone(),
            workload: workload_name(&cell.work),
            kind: analysis::work(&cell.work).to_owned(),
            observation,
        });
    }
    Ok(observed)
}

fn observe(
    request: &ValidationRequest<'_>,
    (config, cell): (&Config, &Cell),
    (path, seed): (&Path, u64),
    (testbed, plain): (&mut LocalTestbed, &Arm),
) -> Result<Observation, ValidateError> {
    let mut group = start(testbed, plain, cell.processes)?;
    let mut intervals = Vec::new();
    let limit = config.study.block_timeout;
    for block in 0..=OBSERVED_BLOCKS {
        match cell.cache {
            CacheState::Cold => testbed.evict(path).map_err(RunError::Cache)?,
            CacheState::Os | CacheState::Page => testbed.prefetch(path).map_err(RunError::Cache)?,
        }
        let bytes = std::fs::metadata(path).map_err(RunError::io("look at", path))?.len();
        let cache_kib = match cell.cache {
            CacheState::Cold | CacheState::Os => config.layout.cache_kib,
            CacheState::Page => page_cache_kib(bytes).max(config.layout.cache_kib),
        };
        let spec = spec(config, path, cache_kib, true);
        let at = format!("cell `{}`", cell.name);
        let failed = |source| worker(plain, &at, source);
        group.open(&spec, limit).map_err(failed)?;
        let sample = group
            .run(&cell.work, seed + block, limit, &mut || None)
            .map_err(failed)?;
        group.close(limit).map_err(failed)?;
        // The first one warms up.
        if block > 0 {
            intervals.push(interval(&sample, cell)?);
        }
    }
    group.quit(END);
    Ok(Observation {
        engine: selenite_plan::observation::Engine::Sqlite,
        notes: Vec::new(),
        page_size: config.layout.page_size,
        cores: Some(f64::from(request.cores)),
        database_mib: None,
        serialized_share: None,
        intervals,
    })
}

/// The counts of all processes of a block, over its time.
fn interval(sample: &GroupSample, cell: &Cell) -> Result<ObservedInterval, ValidateError> {
    let sample = &sample.sample;
    let mut load = selenite_plan::Load::default();
    for text in &sample.file_counts {
        let text = SnapshotText { name: &cell.name, text };
        let observation = sqlite::observe(&[text], &Supplement::default())?;
        for of_process in &observation.intervals {
            for (operation, amount) in &of_process.load.0 {
                load.add(*operation, *amount);
            }
        }
    }
    if sample.file_counts.len() != cell.processes as usize {
        return Err(ValidateError::Refused(format!(
            "cell `{}`: a worker has no counts of its files",
            cell.name
        )));
    }
    let seconds = |ns: u64| crate::summary::as_f64(ns) / 1e9;
    Ok(ObservedInterval {
        seconds: seconds(sample.elapsed_ns),
        load,
        requests: Some(crate::summary::as_f64(sample.operations)),
        cpu_seconds: Some(seconds(sample.cpu_ns)),
    })
}

fn measure(
    request: &ValidationRequest<'_>,
    (config, path): (Config, &Path),
    testbed: &mut LocalTestbed,
    observer: &mut dyn Observer,
) -> Result<(), ValidateError> {
    let context = RunContext {
        testbed,
        observer,
        interrupt: request.interrupt,
        keep: false,
        commit: request.commit.clone(),
    };
    let outcome = match path.exists() {
        false => run(
            NewStudy {
                path: path.to_owned(),
                config,
                command: request.command.clone(),
            },
            context,
        ),
        true => match resume(path, Some(&config), context) {
            Err(RunError::Over(_)) => return Ok(()),
            Err(RunError::ConfigDiffers) => {
                return Err(ValidateError::Refused(format!(
                    "{} is a study of other predictions: use another folder",
                    path.display()
                )));
            }
            outcome => outcome,
        },
    };
    match outcome? {
        RunOutcome::Over(StudyState::Stopped) | RunOutcome::Interrupted => Err(ValidateError::Interrupted),
        RunOutcome::Over(_) => Ok(()),
    }
}

/// `hash-in-the-study`.
fn check_order(summary: &Summary, predictions: &Predictions, sha256: &str) -> Result<(), ValidateError> {
    let name = &summary.study.name;
    if !summary.study.config.contains(&format!("{HASH_COMMENT}{sha256}\n")) {
        return Err(ValidateError::Refused(format!(
            "study `{name}` was run for other predictions: use another folder"
        )));
    }
    // Both are UTC in one format, whose texts are ordered as times are.
    if selenite::utc(summary.study.created_s) < predictions.made {
        return Err(ValidateError::Refused(format!(
            "study `{name}` is older than the predictions"
        )));
    }
    Ok(())
}

/// Refuses what the counts of one database do not show.
fn check_kind(cell: &Cell) -> Result<(), ValidateError> {
    let is_counted = match cell.work {
        Workload::Like { .. }
        | Workload::Equal { .. }
        | Workload::Insert { .. }
        | Workload::UpdateAll
        | Workload::SelectAll
        | Workload::Hummer { .. }
        | Workload::IntegrityCheck
        | Workload::QuickCheck => cell.online.is_none(),
        Workload::Backup
        | Workload::Convert { .. }
        | Workload::Rekey
        | Workload::Archive { .. }
        | Workload::PhysicalVerify
        | Workload::Readers { .. }
        | Workload::Open { .. }
        | Workload::Messages { .. } => false,
    };
    match is_counted {
        true => Ok(()),
        false => Err(ValidateError::Refused(format!(
            "cell `{}`: work of this kind is not predicted from the counts of a database's files",
            cell.name
        ))),
    }
}

/// What cells have in common that differ by caches, sizes or processes alone.
fn workload_name(work: &Workload) -> String {
    let kind = analysis::work(work);
    match analysis::mix(work) {
        Some([reads, updates, inserts]) => format!("{kind} {reads}/{updates}/{inserts}"),
        None => kind.to_owned(),
    }
}

fn spec(config: &Config, path: &Path, cache_kib: u32, is_observed: bool) -> DatabaseSpec {
    let setting = (OBSERVED.to_owned(), "yes".to_owned());
    DatabaseSpec {
        path: path.to_owned(),
        cipher: PLAIN.to_owned(),
        key_file: PathBuf::new(),
        settings: is_observed.then_some(setting).into_iter().collect(),
        page_size: config.layout.page_size,
        cache_kib,
        journal_mode: config.layout.journal_mode.clone(),
        synchronous: config.layout.synchronous.clone(),
    }
}

fn start(testbed: &mut LocalTestbed, arm: &Arm, count: u32) -> Result<WorkerGroup, ValidateError> {
    let started = testbed.start(arm, count);
    Ok(started.map_err(|source| worker(arm, "start", source))?)
}

fn no_data(cell: &Cell) -> ValidateError {
    ValidateError::Refused(format!("cell `{}`: there is no data `{}`", cell.name, cell.data))
}

/// The folder of the databases in clear; removed with all that is in it.
struct ObservedFolder(PathBuf);

impl ObservedFolder {
    /// Makes a folder that does not exist yet. One that a killed run left has another name.
    fn make(folder: &Path) -> Result<Self, ValidateError> {
        let mut name = [0; 8];
        selenite_keyring::os_random(&mut name);
        let path = folder.join(format!("observed.{}", hex(&name)));
        std::fs::create_dir(&path).map_err(RunError::io("make", &path))?;
        let made = Self(path);
        let masters = made.0.join(MASTERS);
        std::fs::create_dir(&masters).map_err(RunError::io("make", &masters))?;
        Ok(made)
    }
}

impl Drop for ObservedFolder {
    fn drop(&mut self) {
        // What can't be removed is in the way of nothing.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl ValidateError {
    /// What to do next.
    #[must_use]
    pub fn advice(&self) -> String {
        match self {
            Self::Interrupted => "the same command goes on".to_owned(),
            Self::Run(_) | Self::Plan(_) | Self::Analysis(_) | Self::Refused(_) => String::new(),
        }
    }
}

impl fmt::Display for ValidateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plan(error) => error.fmt(f),
            Self::Run(error) => error.fmt(f),
            Self::Analysis(error) => error.fmt(f),
            Self::Refused(reason) => f.write_str(reason),
            Self::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl std::error::Error for ValidateError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Plan(error) => Some(error),
            Self::Run(error) => Some(error),
            Self::Analysis(error) => Some(error),
            Self::Refused(_) | Self::Interrupted => None,
        }
    }
}

impl From<PlanError> for ValidateError {
    fn from(error: PlanError) -> Self {
        Self::Plan(error)
    }
}

impl From<RunError> for ValidateError {
    fn from(error: RunError) -> Self {
        Self::Run(error)
    }
}

impl From<ConfigError> for ValidateError {
    fn from(error: ConfigError) -> Self {
        Self::Run(error.into())
    }
}

impl From<StoreError> for ValidateError {
    fn from(error: StoreError) -> Self {
        Self::Run(error.into())
    }
}

impl From<AnalysisError> for ValidateError {
    fn from(error: AnalysisError) -> Self {
        Self::Analysis(error)
    }
}

/// Where the databases are from which each cell gets its copy.
const MASTERS: &str = "masters";
/// The file of the predictions.
const PREDICTIONS: &str = "predictions.json";
/// What comes before the hash in a study's configuration.
const HASH_COMMENT: &str = "# SHA-256 of the predictions: ";
/// Blocks of a cell in clear, beside the first.
const OBSERVED_BLOCKS: u64 = 4;
/// Selenite's name among the engines.
const OWN_ENGINE: &str = crate::config::arm::ENGINES[0];
/// The largest dataset is loaded in less.
const LOAD: Duration = Duration::from_secs(3600);
/// A worker that has nothing open ends at once.
const END: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests;
