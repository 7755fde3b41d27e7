//! Why a study cannot be run or continued.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::cache::CacheError;
use crate::config::ConfigError;
use crate::drive::DriveError;
use crate::engines::EnginesError;
use crate::proof::ProofError;
use crate::store::StoreError;
use crate::summary::StudyState;

/// Why a study ended without an outcome. Data in the store is kept.
#[derive(Debug)]
pub enum RunError {
    /// The caller: the configuration.
    Config(ConfigError),
    /// The store: an error.
    Store(StoreError),
    /// The machine: an engine that is not available as requested.
    Engine {
        /// The arm.
        arm: String,
        /// The reason.
        source: Box<EnginesError>,
    },
    /// A worker that is required: an error.
    Worker {
        /// The arm.
        arm: String,
        /// The request: `load`.
        at: String,
        /// The reason.
        source: Box<DriveError>,
    },
    /// The machine: an error of its page cache.
    Cache(CacheError),
    /// The arm: its claim was refuted.
    Proof {
        /// The arm.
        arm: String,
        /// The reason.
        source: ProofError,
    },
    /// The arm: during the study its engine reported that the database is not encrypted.
    NotEncrypted {
        /// The arm.
        arm: String,
        /// The time of the report.
        at: String,
    },
    /// The arm: its layout differs from that of the others.
    LayoutDiffers {
        /// The arm.
        arm: String,
        /// The PRAGMA.
        key: String,
        /// The configured value.
        wanted: String,
        /// The actual value.
        found: String,
    },
    /// The arms: their rows or answers differ, so a comparison is impossible.
    RowsDiffer {
        /// The arm.
        arm: String,
        /// The other arm.
        other: String,
        /// Where it was detected.
        at: String,
    },
    /// The arm: committed rows are missing, or there are additional ones.
    RowsLost {
        /// The arm.
        arm: String,
        /// Where it was detected.
        at: String,
        /// The expected number of rows.
        expected: u64,
        /// The actual number of rows.
        found: u64,
    },
    /// The worker of an arm: invalid latencies.
    Histogram {
        /// The arm.
        arm: String,
        /// The reason.
        what: String,
    },
    /// The machine: too little free space.
    NoSpace {
        /// The folder.
        path: PathBuf,
        /// Required space, approximately, in bytes.
        needed: u64,
        /// Free space, in bytes.
        free: u64,
    },
    /// The machine: too many consecutive void blocks.
    TooManyVoid {
        /// The number of blocks.
        count: u32,
        /// The reason of the last one.
        last: String,
    },
    /// The caller: the configuration differs from that in the store.
    ConfigDiffers,
    /// The caller: the study has ended.
    Over(StudyState),
    /// The caller: the study has not ended, so it cannot be extended.
    NotOver,
    /// The caller: the machine or a program is not the same as at the start of the study.
    Differs {
        /// What differs: `machine (kernel)`.
        what: String,
        /// The stored value.
        then: String,
        /// The current value.
        now: String,
    },
    /// The machine: an I/O error.
    Io {
        /// The verb: `copy`.
        verb: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

impl RunError {
    pub(crate) fn io(verb: &'static str, path: &Path) -> impl FnOnce(io::Error) -> RunError {
        let path = path.to_owned();
        move |source| RunError::Io { verb, path, source }
    }

    /// Advice on what to do next; empty if the message contains it.
    #[must_use]
    pub fn advice(&self) -> String {
        match self {
            RunError::Config(_) => String::new(),
            RunError::Store(error) => error.next().to_owned(),
            RunError::Engine { source, .. } => source.advice(),
            RunError::Worker { source, .. } => source.advice(),
            RunError::Cache(error) => error.advice().to_owned(),
            RunError::Proof { source, .. } => source.advice().to_owned(),
            RunError::NotEncrypted { .. } => {
                "check the arm's engine: its results would not be of encryption".to_owned()
            }
            RunError::LayoutDiffers { .. } => "set [layout] to what every engine can do".to_owned(),
            RunError::RowsDiffer { .. } => {
                "no result of this study can be trusted; check the engine of the arm that differs".to_owned()
            }
            RunError::RowsLost { .. } => {
                "no result of this arm can be trusted: its engine lost or invented a commit".to_owned()
            }
            RunError::Histogram { .. } => "build the worker from the same sources as this program".to_owned(),
            RunError::NoSpace { .. } => "free space, make [data] smaller, or put the store on another disk".to_owned(),
            RunError::TooManyVoid { .. } => "remove the cause, then `selenite lab resume`".to_owned(),
            RunError::ConfigDiffers => "resume without a configuration, or run a new study".to_owned(),
            RunError::Over(_) => {
                "read it with `selenite lab report`, or extend it with `selenite lab resume STORE --more SESSIONS`"
                    .to_owned()
            }
            RunError::NotOver => "continue it first: `selenite lab resume` without --more".to_owned(),
            RunError::Differs { .. } => {
                "extend it on the same machine with the same programs, or run a new study".to_owned()
            }
            RunError::Io { .. } => "then `selenite lab resume`, if the study had begun".to_owned(),
        }
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Config(error) => error.fmt(out),
            RunError::Store(error) => error.fmt(out),
            RunError::Engine { arm, source } => write!(out, "arm `{arm}`: {source}"),
            RunError::Worker { arm, at, source } => write!(out, "arm `{arm}`, {at}: {source}"),
            RunError::Cache(error) => error.fmt(out),
            RunError::Proof { arm, source } => write!(out, "arm `{arm}`: {source}"),
            RunError::NotEncrypted { arm, at } => {
                write!(out, "arm `{arm}`, {at}: the engine reports an unencrypted database")
            }
            RunError::LayoutDiffers {
                arm,
                key,
                wanted,
                found,
            } => {
                write!(out, "arm `{arm}`: {key} is {found}, not {wanted} as configured")
            }
            RunError::RowsDiffer { arm, other, at } => {
                write!(out, "{at}: the rows of `{arm}` differ from those of `{other}`")
            }
            RunError::RowsLost {
                arm,
                at,
                expected,
                found,
            } => write!(out, "arm `{arm}`, {at}: {found} rows, but {expected} were committed"),
            RunError::Histogram { arm, what } => write!(out, "arm `{arm}`: its latencies: {what}"),
            RunError::NoSpace { path, needed, free } => {
                let (needed, free) = (needed.div_ceil(MIB), free / MIB);
                write!(
                    out,
                    "{}: about {needed} MiB are needed, {free} MiB are free",
                    path.display()
                )
            }
            RunError::TooManyVoid { count, last } => {
                write!(
                    out,
                    "{count} consecutive blocks did not count, the last because: {last}"
                )
            }
            RunError::ConfigDiffers => out.write_str("the configuration is not the study's"),
            RunError::Over(state) => write!(out, "the study is finished: {}", crate::report::ending(*state)),
            RunError::NotOver => out.write_str("the study is not finished"),
            RunError::Differs { what, then, now } => {
                let [then, now] = [then, now].map(|text| if text.is_empty() { "unknown" } else { text });
                write!(out, "the {what} differs: {then} when the study began, {now} now")
            }
            RunError::Io { verb, path, source } => write!(out, "can't {verb} {}: {source}", path.display()),
        }
    }
}

impl std::error::Error for RunError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            RunError::Config(error) => Some(error),
            RunError::Store(error) => Some(error),
            RunError::Engine { source, .. } => Some(source.as_ref()),
            RunError::Worker { source, .. } => Some(source.as_ref()),
            RunError::Cache(error) => Some(error),
            RunError::Proof { source, .. } => Some(source),
            RunError::Io { source, .. } => Some(source),
            RunError::NotEncrypted { .. }
            | RunError::LayoutDiffers { .. }
            | RunError::RowsDiffer { .. }
            | RunError::RowsLost { .. }
            | RunError::Histogram { .. }
            | RunError::NoSpace { .. }
            | RunError::TooManyVoid { .. }
            | RunError::ConfigDiffers
            | RunError::Over(_)
            | RunError::NotOver
            | RunError::Differs { .. } => None,
        }
    }
}

impl From<ConfigError> for RunError {
    fn from(error: ConfigError) -> RunError {
        RunError::Config(error)
    }
}

impl From<StoreError> for RunError {
    fn from(error: StoreError) -> RunError {
        RunError::Store(error)
    }
}

const MIB: u64 = 1 << 20;
