//! The rows of a store, as values.

use std::collections::BTreeMap;

use selenite_worker::protocol::{Control, Sample};
use serde::{Deserialize, Serialize};

use crate::config::Cell;
use crate::phase::Phases;
use crate::summary::{ArmFacts, Extension, HostFacts, HostSample, StudyState};

/// The study.
#[derive(Clone, Debug, PartialEq)]
pub struct StudyRow {
    /// Its name.
    pub name: String,
    /// The TOML text.
    pub config: String,
    /// SHA-256 of it, in hexadecimal digits.
    pub config_sha256: String,
    /// Where all randomness comes from; never 0.
    pub seed: u64,
    /// The program's version.
    pub lab_version: String,
    /// The commit it was built from; empty if unknown.
    pub commit: String,
    /// The command that makes a study like it.
    pub command: String,
    /// Seconds since 1970, UTC.
    pub created_s: u64,
    /// The machine.
    pub host: HostFacts,
    /// Why it ended, or that it has not.
    pub state: StudyState,
}

/// An arm.
#[derive(Clone, Debug, PartialEq)]
pub struct ArmRow {
    /// Its number.
    pub id: i64,
    /// What is known of it.
    pub facts: ArmFacts,
    /// What its copies are copies of, by dataset.
    pub masters: BTreeMap<String, MasterRow>,
}

/// What an arm's copies are copies of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MasterRow {
    /// Of the rows.
    pub digest: String,
    /// Rows of all tables.
    pub rows: u64,
    /// Bytes of the file.
    pub bytes: u64,
    /// Pages of it.
    pub pages: u64,
}

/// A cell.
#[derive(Clone, Debug, PartialEq)]
pub struct CellRow {
    /// Its number.
    pub id: i64,
    /// As configured.
    pub cell: Cell,
}

/// A session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRow {
    /// From 1.
    pub id: u32,
    /// Seconds since 1970, UTC.
    pub created_s: u64,
    /// The same; none while it runs, or if it was killed and not resumed.
    pub ended_s: Option<u64>,
    /// Why it does not count.
    pub void: Option<String>,
}

/// A block that is to be run, or was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanRow {
    /// In this order.
    pub seq: i64,
    /// From 1.
    pub session: u32,
    /// A [`CellRow::id`].
    pub cell: i64,
    /// From 0, of this cell and session.
    pub pair: u32,
    /// An [`ArmRow::id`].
    pub arm: i64,
    /// Of the work.
    pub seed: u64,
    /// Once it ran.
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
    /// In this order within the session.
    pub made: u32,
    /// The processes that work on it.
    pub pids: Vec<u32>,
    /// The file.
    pub path: String,
}

/// A block that ran.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockRow {
    /// Its number.
    pub id: i64,
    /// Which one of the plan.
    pub seq: i64,
    /// From 1.
    pub session: u32,
    /// A [`CellRow::id`].
    pub cell: i64,
    /// From 0, of this cell and session.
    pub pair: u32,
    /// An [`ArmRow::id`].
    pub arm: i64,
    /// Seconds since the study began.
    pub began_s: f64,
    /// What it cost, all processes together, without latencies; nothing if void.
    pub sample: Sample,
    /// Before, during and after, where pages were re-encrypted meanwhile; `sample` is that of during.
    pub phases: Option<Phases>,
    /// What the machine was doing.
    pub host: HostSample,
    /// Why it does not count.
    pub void: Option<String>,
}

/// What a block cost, as it is stored.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Cost {
    #[serde(flatten)]
    pub sample: Sample,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phases: Option<Phases>,
}

/// A block's outcome, to be written.
#[derive(Clone, Debug)]
pub struct NewBlock<'a> {
    /// A [`PlanRow::seq`].
    pub seq: i64,
    /// The number of an [`InstanceRow`].
    pub instance: i64,
    /// Seconds since the study began.
    pub began_s: f64,
    /// What it cost; none if void.
    pub sample: Option<&'a Sample>,
    /// As of [`BlockRow::phases`].
    pub phases: Option<&'a Phases>,
    /// Its latencies by operation: V2-deflate HdrHistograms of nanoseconds.
    pub histograms: &'a BTreeMap<String, Vec<u8>>,
    /// What the machine was doing.
    pub host: &'a HostSample,
    /// Why it does not count.
    pub void: Option<&'a str>,
}

/// Latencies of one operation in one block that counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistogramRow {
    /// A [`CellRow::id`].
    pub cell: i64,
    /// An [`ArmRow::id`].
    pub arm: i64,
    /// The operation.
    pub operation: String,
    /// HdrHistogram V2-deflate, nanoseconds.
    pub v2: Vec<u8>,
}

/// Sessions that are added to a study.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExtensionRow {
    /// What a report says of it.
    pub facts: Extension,
    /// It is done when so many whole sessions of the plan are.
    pub until: u32,
    /// Sessions that were drawn from the seed until then, those of the configuration among them.
    pub drawn: u32,
}

/// What a user asked of a study that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ask {
    /// Its number.
    pub id: i64,
    /// What.
    pub control: Control,
}
