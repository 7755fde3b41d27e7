//! Why a study can't be run, or not on.

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

/// Why a study ended without an outcome. What was stored before stays.
#[derive(Debug)]
pub enum RunError {
    /// The caller: the configuration.
    Config(ConfigError),
    /// The store.
    Store(StoreError),
    /// The machine: an engine that can't be had as asked.
    Engine {
        /// The arm.
        arm: String,
        /// Why.
        source: Box<EnginesError>,
    },
    /// A worker, where it is needed.
    Worker {
        /// The arm.
        arm: String,
        /// At what: `load`.
        at: String,
        /// Why.
        source: Box<DriveError>,
    },
    /// The machine: its page cache.
    Cache(CacheError),
    /// The arm: what it claims is not so.
    Proof {
        /// The arm.
        arm: String,
        /// Why.
        source: ProofError,
    },
    /// The arm: during the study it said that its database is not encrypted.
    NotEncrypted {
        /// The arm.
        arm: String,
        /// When.
        at: String,
    },
    /// The arm: it is not laid out as the others.
    LayoutDiffers {
        /// The arm.
        arm: String,
        /// The PRAGMA.
        key: String,
        /// As configured.
        wanted: String,
        /// As it is.
        found: String,
    },
    /// The arms: their rows or answers are not the same, so nothing can be compared.
    RowsDiffer {
        /// The arm.
        arm: String,
        /// The other.
        other: String,
        /// Where it was seen.
        at: String,
    },
    /// The arm: rows that were committed are not there, or others are.
    RowsLost {
        /// The arm.
        arm: String,
        /// Where it was seen.
        at: String,
        /// How many rows there have to be.
        expected: u64,
        /// How many there are.
        found: u64,
    },
    /// The worker of an arm: latencies that can't be read.
    Histogram {
        /// The arm.
        arm: String,
        /// What is wrong with them.
        what: String,
    },
    /// The machine: too little room.
    NoSpace {
        /// Where.
        path: PathBuf,
        /// Bytes that are needed, about.
        needed: u64,
        /// Bytes that are free.
        free: u64,
    },
    /// The machine: blocks one after the other did not count.
    TooManyVoid {
        /// How many.
        count: u32,
        /// Why the last did not.
        last: String,
    },
    /// The caller: the configuration is not that of the store.
    ConfigDiffers,
    /// The caller: the study is over.
    Over(StudyState),
    /// The caller: the study is not over, so that it can't be extended.
    NotOver,
    /// The caller: the machine or a program is not the one that the study began with.
    Differs {
        /// What differs: `machine (kernel)`.
        what: String,
        /// As stored.
        then: String,
        /// As it is.
        now: String,
    },
    /// The machine.
    Io {
        /// The verb: `copy`.
        verb: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl RunError {
    pub(crate) fn io(verb: &'static str, path: &Path) -> impl FnOnce(io::Error) -> RunError {
        let path = path.to_owned();
        move |source| RunError::Io { verb, path, source }
    }

    /// What to do next; empty if the error says it.
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
