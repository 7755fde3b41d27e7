//! Rows of a store.

use std::collections::BTreeMap;

use selenite_worker::protocol::{Control, Sample};
use serde::{Deserialize, Serialize};

use crate::config::Cell;
use crate::phase::Phases;
use crate::summary::{ArmFacts, Extension, HostFacts, HostSample, StudyState};

/// The study.
#[derive(Clone, Debug, PartialEq)]
pub struct StudyRow {
    /// The name.
    pub name: String,
    /// The configuration, as TOML text.
    pub config: String,
    /// SHA-256 of the configuration, in hexadecimal digits.
    pub config_sha256: String,
    /// The seed of all random choices; never 0.
    pub seed: u64,
    /// The program's version.
    pub lab_version: String,
    /// The commit that it was built from; empty if unknown.
    pub commit: String,
    /// The command that makes a study like it.
    pub command: String,
    /// The start: seconds since 1970, UTC.
    pub created_s: u64,
    /// The machine.
    pub host: HostFacts,
    /// The reason of its end, or that it has not ended.
    pub state: StudyState,
}

/// An arm.
#[derive(Clone, Debug, PartialEq)]
pub struct ArmRow {
    /// The number of the row.
    pub id: i64,
    /// Its facts.
    pub facts: ArmFacts,
    /// Its masters, by dataset.
    pub masters: BTreeMap<String, MasterRow>,
}

/// A master of an arm, of which its copies are made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MasterRow {
    /// The digest of the rows.
    pub digest: String,
    /// Rows of all tables.
    pub rows: u64,
    /// Size of the file, in bytes.
    pub bytes: u64,
    /// Pages of the file.
    pub pages: u64,
}

/// A cell.
#[derive(Clone, Debug, PartialEq)]
pub struct CellRow {
    /// The number of the row.
    pub id: i64,
    /// The configured cell.
    pub cell: Cell,
}

/// A session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRow {
    /// The number, counted from 1.
    pub id: u32,
    /// The start: seconds since 1970, UTC.
    pub created_s: u64,
    /// The end: seconds since 1970, UTC; none while it runs, or if it was killed and not resumed.
    pub ended_s: Option<u64>,
    /// Why it does not count.
    pub void: Option<String>,
}

/// A block of the schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanRow {
    /// The position in the order of execution.
    pub seq: i64,
    /// The session, counted from 1.
    pub session: u32,
    /// A [`CellRow::id`].
    pub cell: i64,
    /// The index of the pair in this cell and session.
    pub pair: u32,
    /// An [`ArmRow::id`].
    pub arm: i64,
    /// The seed of the work.
    pub seed: u64,
    /// The number of the block's row, once it has run.
    pub block: Option<i64>,
}

/// A copy of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstanceRow {
    /// Its session.
    pub session: u32,
    /// An [`ArmRow::id`].
    pub arm: i64,
    /// The dataset.
    pub data: String,
    /// The position in the order of creation within the session.
    pub made: u32,
    /// The processes that work on it.
    pub pids: Vec<u32>,
    /// The file.
    pub path: String,
}

/// A block that ran.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockRow {
    /// The number of the row.
    pub id: i64,
    /// The [`PlanRow::seq`].
    pub seq: i64,
    /// The session, counted from 1.
    pub session: u32,
    /// A [`CellRow::id`].
    pub cell: i64,
    /// The index of the pair in this cell and session.
    pub pair: u32,
    /// An [`ArmRow::id`].
    pub arm: i64,
    /// Seconds since the start of the study.
    pub began_s: f64,
    /// The cost of all processes together, without latencies; empty if void.
    pub sample: Sample,
    /// The phases of a block with a re-encryption; `sample` is that of `during`.
    pub phases: Option<Phases>,
    /// The state of the machine.
    pub host: HostSample,
    /// Why it does not count.
    pub void: Option<String>,
}

/// The cost of a block, as stored.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Cost {
    #[serde(flatten)]
    pub sample: Sample,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phases: Option<Phases>,
}

/// The results of a block that is to be written.
#[derive(Clone, Debug)]
pub struct NewBlock<'a> {
    /// A [`PlanRow::seq`].
    pub seq: i64,
    /// The number of an [`InstanceRow`].
    pub instance: i64,
    /// Seconds since the start of the study.
    pub began_s: f64,
    /// The cost; none if void.
    pub sample: Option<&'a Sample>,
    /// As for [`BlockRow::phases`].
    pub phases: Option<&'a Phases>,
    /// Latencies by operation: V2-deflate HdrHistograms of nanoseconds.
    pub histograms: &'a BTreeMap<String, Vec<u8>>,
    /// The state of the machine.
    pub host: &'a HostSample,
    /// Why it does not count.
    pub void: Option<&'a str>,
}

/// Latencies of one operation in one counted block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistogramRow {
    /// A [`CellRow::id`].
    pub cell: i64,
    /// An [`ArmRow::id`].
    pub arm: i64,
    /// The operation.
    pub operation: String,
    /// The V2-deflate HdrHistogram, in nanoseconds.
    pub v2: Vec<u8>,
}

/// An extension of a study.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExtensionRow {
    /// The facts for reports.
    pub facts: Extension,
    /// The extension ends when this number of whole sessions of the plan has ended.
    pub until: u32,
    /// Sessions drawn from the seed until then, including those of the configuration.
    pub drawn: u32,
}

/// A user's request to a running study.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ask {
    /// The number of the row.
    pub id: i64,
    /// The control.
    pub control: Control,
}
