//! What a study found: everything that a report shows, and nothing that it has to work out.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The version of this model in JSON.
pub const SUMMARY_SCHEMA: u32 = 1;

/// A study's outcome.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// [`SUMMARY_SCHEMA`].
    pub schema: u32,
    /// Which study.
    pub study: StudyFacts,
    /// On what machine.
    pub host: HostFacts,
    /// The arms, in the order of the configuration; those that are implied come first.
    pub arms: Vec<ArmFacts>,
    /// The cells, in the order of the configuration.
    pub cells: Vec<CellSummary>,
    /// What each encrypted arm costs over the gating cells.
    pub overall: Vec<Overall>,
    /// What each encrypted arm costs over all mixes of the hummer loop; empty unless there are two or more.
    pub mixes: Vec<Overall>,
    /// What the machine was doing meanwhile.
    pub evidence: Evidence,
    /// What happened besides, in order of time.
    pub events: Vec<Event>,
    /// What these figures do not cover, a sentence each.
    pub limits: Vec<String>,
}

/// Which study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StudyFacts {
    /// Its name.
    pub name: String,
    /// What it asks, in a line.
    pub title: String,
    /// The whole configuration.
    pub config: String,
    /// SHA-256 of it, in hexadecimal digits.
    pub config_sha256: String,
    /// Where all randomness comes from.
    pub seed: u64,
    /// The program's version.
    pub lab_version: String,
    /// The commit it was built from, where known.
    pub commit: String,
    /// The command that makes a study like it.
    pub command: String,
    /// When it began: seconds since 1970, UTC.
    pub created_s: u64,
    /// How long its blocks took altogether.
    pub busy_s: f64,
    /// How long a session takes, copies and all, median of those that were finished; seconds.
    pub session_s: Option<f64>,
    /// Sessions that were finished.
    pub sessions: u32,
    /// Sessions of the configuration, which were planned before the first; 0 in older summaries.
    #[serde(default)]
    pub planned_sessions: u32,
    /// How it was extended after its end, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<Extension>,
    /// Why it ended, or that it has not.
    pub state: StudyState,
    /// The effect that matters, as a ratio minus one: 0.03 is 3 %.
    pub limit: f64,
    /// The half-width that was asked for, as a ratio.
    pub target_half_width: f64,
}

/// Sessions that were added to a study after its end, when its effects could be seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extension {
    /// When: seconds since 1970, UTC.
    pub at_s: u64,
    /// Sessions that counted before.
    pub from: u32,
    /// Sessions that were added.
    pub sessions: u32,
}

/// Why a study ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StudyState {
    /// It has not.
    Unfinished,
    /// Every interval is as narrow as was asked.
    Precise,
    /// All sessions that were planned are done.
    Complete,
    /// Its time was up.
    OutOfBudget,
    /// It was told to.
    Stopped,
}

/// On what machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostFacts {
    /// Facts for people, in order: processor, its AES instructions, cores, memory, kernel, file system, ...
    pub facts: Vec<(String, String)>,
    /// What makes figures of this machine less sure.
    pub warnings: Vec<String>,
}

/// An arm: an engine with settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ArmFacts {
    /// Its name in the configuration.
    pub name: String,
    /// Its name for people, such as `SQLCipher 4.10 AES-256-CBC`.
    pub label: String,
    /// Which arm it is compared with; none for a plain one, but `plain2` is compared with `plain`.
    pub control: Option<String>,
    /// What kind of arm.
    pub role: ArmRole,
    /// The cipher.
    pub cipher: String,
    /// What encrypts, with its version.
    pub library: String,
    /// The SQLite in it.
    pub sqlite_version: String,
    /// What was done to prove its encryption, and what was found, for people; none in clear.
    pub proof: Vec<(String, String)>,
    /// Bytes of the database when it was loaded.
    pub bytes: u64,
    /// Pages of it.
    pub pages: u64,
    /// Bytes of Selenite's page pool, of each process; none if the arm does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<u64>,
    /// Which arm of suite NONE it is compared with besides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub none: Option<String>,
    /// SHA-256 of its program, in hexadecimal digits; none in older studies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program_sha256: Option<String>,
}

/// What kind of arm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ArmRole {
    /// In clear.
    Plain,
    /// A second copy of it: whatever it differs by is no effect.
    Floor,
    /// Encrypted.
    Encrypted,
}

/// A cell: one kind of work in one state of the caches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellSummary {
    /// Its name in the configuration.
    pub name: String,
    /// Its name for people.
    pub label: String,
    /// What its work is: `like`, `insert`, `hummer`, as in the protocol.
    pub work: String,
    /// In which state the caches were: `cold`, `os`, `page`.
    pub cache: String,
    /// Reads, updates and inserts in ten loops, if its work is the hummer loop.
    pub mix: Option<[u8; 3]>,
    /// What an operation is, in the singular: `page`, `row`, `loop`.
    pub unit: String,
    /// Whether it counts for the verdict of an arm; others are exploratory.
    pub gating: bool,
    /// What was left out before it ran steadily.
    pub warm_up: WarmUp,
    /// What each arm took: medians of sessions' medians, by arm.
    pub levels: BTreeMap<String, Level>,
    /// What each arm differs by from its control.
    pub effects: Vec<Effect>,
    /// Latencies by operation and arm.
    pub latencies: Vec<LatencyCurve>,
    /// Every pair, for the run chart.
    pub pairs: Vec<PairPoint>,
    /// Of work while pages are re-encrypted, by arm; empty for other work. Counters and times above are then those of a
    /// loop, during that.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub phases: BTreeMap<String, PhaseLevels>,
}

/// Before, during and after of an arm: medians of sessions' medians, and what changed within blocks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhaseLevels {
    /// Loops a second of all processes: before, during, after.
    pub loops_per_s: [f64; 3],
    /// The 99th percentile of latency, ns: before, during, after.
    pub p99_ns: [f64; 3],
    /// Throughput during, beside before.
    pub throughput_during: PhaseChange,
    /// Throughput after, beside before.
    pub throughput_after: PhaseChange,
    /// The 99th percentile during, beside before.
    pub p99_during: PhaseChange,
    /// The 99th percentile after, beside before.
    pub p99_after: PhaseChange,
    /// Seconds, and pages and bytes a second, of who sealed; none where no one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sealing: Option<SealingLevel>,
}

/// A change within blocks: Hodges-Lehmann within sessions, mean of sessions, on the log scale.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PhaseChange {
    /// The ratio less one.
    pub ratio: f64,
    /// Its 95 % interval by t across sessions; none with fewer than two sessions.
    pub interval: Option<(f64, f64)>,
}

/// How pages were re-encrypted: medians of sessions' medians.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SealingLevel {
    /// From the start of the administrator's program to its end.
    pub seconds: f64,
    /// Pages of the database divided by that.
    pub pages_per_s: f64,
    /// Bytes of them divided by that.
    pub bytes_per_s: f64,
    /// What the program said at the end, the last time.
    pub said: String,
}

impl CellSummary {
    /// By which metric an arm is judged in it.
    #[must_use]
    pub fn judged(&self) -> Metric {
        match self.work == ONLINE {
            true => Metric::Slowdown,
            false => Metric::Cpu,
        }
    }
}

impl Summary {
    /// By which metric its arms are judged: all cells of a study are of one kind.
    #[must_use]
    pub fn judged(&self) -> Metric {
        self.cells.first().map_or(Metric::Cpu, CellSummary::judged)
    }

    /// Which two metrics are shown first: the one that is judged, and what a user notices besides.
    #[must_use]
    pub fn foremost(&self) -> [Metric; 2] {
        match self.judged() == Metric::Slowdown {
            true => [Metric::Slowdown, Metric::TailSlowdown],
            false => [Metric::Cpu, Metric::Elapsed],
        }
    }
}

/// The loop of the context switches article on a server, by its name in a configuration. Its pages are packets.
pub const MESSAGES: &str = "messages";

/// Work while pages are re-encrypted, by its name in a configuration.
pub const ONLINE: &str = "online";

/// The start of each session, where a cell did not yet run steadily. Cold cells have none: they are the first touch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WarmUp {
    /// Pairs that were left out, of all sessions and arms.
    pub pairs: u32,
    /// Sessions that never became steady; all their pairs count.
    pub unsteady: u32,
}

/// What an arm took for a block of a cell; medians.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Level {
    /// Blocks that count.
    pub blocks: u32,
    /// By metric: CPU and elapsed in nanoseconds, the others in their own units.
    pub metrics: BTreeMap<Metric, f64>,
    /// Pages that were read and written: as SQLite counts them, or by the bytes that went to and from the system.
    pub pages: f64,
    /// Operations.
    pub operations: f64,
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// Instructions in user mode.
    Instructions,
    /// CPU time, ns.
    Cpu,
    /// Bytes asked of the system.
    ReadChars,
    /// Bytes given to the system.
    WriteChars,
    /// Calls that read.
    ReadCalls,
    /// Calls that write.
    WriteCalls,
    /// Bytes read from storage.
    ReadBytes,
    /// Bytes bound for storage.
    WriteBytes,
    /// Elapsed time, ns.
    Elapsed,
    /// Of it, the checkpoint at the end, ns.
    Checkpoint,
    /// Context switches of both kinds.
    Switches,
    /// Page faults of both kinds.
    Faults,
    /// Bytes of the database's file after a block.
    DatabaseBytes,
    /// Bytes of its write-ahead log, before the checkpoint that ends a block if there is one.
    WalBytes,
    /// The most memory that was resident during a block, of all processes.
    PeakMemory,
    /// Bytes of the files that a backup was made into.
    ArchiveBytes,
    /// Time of a loop while pages are re-encrypted, as a ratio to that before, in the same block.
    Slowdown,
    /// Time of a loop afterwards, as a ratio to that before.
    Aftermath,
    /// The 99th percentile of latency while pages are re-encrypted, as a ratio to that before.
    TailSlowdown,
}

/// What an arm differs by from its control, in one metric of one cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Effect {
    /// The arm.
    pub arm: String,
    /// What it is compared with.
    pub control: String,
    /// What is compared.
    pub metric: Metric,
    /// (arm - control) / control: Hodges-Lehmann within sessions, mean of sessions, on the log scale.
    pub ratio: f64,
    /// Its 95 % interval by t across sessions; none with fewer than two sessions.
    pub interval: Option<(f64, f64)>,
    /// The same by a bootstrap of sessions and pairs, as a cross-check.
    pub bootstrap: Option<(f64, f64)>,
    /// The A/A interval of the same cell and metric.
    pub floor: Option<(f64, f64)>,
    /// arm - control, median, in the metric's unit.
    pub difference: f64,
    /// The same for each page that the control read or wrote, in nanoseconds, with its interval;
    /// none where too few were.
    pub per_page_ns: Option<(f64, f64, f64)>,
    /// The same for each operation, in nanoseconds.
    pub per_operation_ns: Option<(f64, f64, f64)>,
    /// Each session's own estimate of the ratio, by its number.
    pub by_session: Vec<(u32, f64)>,
    /// How likely so large an effect is if the truth is at the limit: two-sided, by t across sessions, and for gating
    /// cells after Holm over the gating cells of this arm and metric. None with fewer than two sessions.
    pub p_limit: Option<f64>,
    /// Sessions.
    pub sessions: u32,
    /// Pairs in all.
    pub pairs: u32,
    /// Pairs farther than 5 median absolute deviations from the median; they count like all others.
    pub outliers: u32,
    /// What follows.
    pub verdict: Verdict,
    /// The same against suite NONE, where the study has such an arm beside this one; no verdict rests on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against_none: Option<AgainstNone>,
}

/// What the cipher itself adds: an arm against one that goes the same way without it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgainstNone {
    /// The arm of suite NONE.
    pub control: String,
    /// (arm - control) / control, as of [`Effect::ratio`].
    pub ratio: f64,
    /// As of [`Effect::interval`].
    pub interval: Option<(f64, f64)>,
    /// Sessions.
    pub sessions: u32,
    /// Pairs in all.
    pub pairs: u32,
}

/// What an arm costs over several cells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Overall {
    /// The arm.
    pub arm: String,
    /// What it is compared with.
    pub control: String,
    /// What is compared.
    pub metric: Metric,
    /// The cells, by name.
    pub cells: Vec<String>,
    /// The cell where it costs least, and the ratio there.
    pub cheapest: (String, f64),
    /// The cell where it costs most, and the ratio there.
    pub dearest: (String, f64),
    /// What it costs in the mean of the cells.
    pub pooled: Option<Pooled>,
    /// Within if it is in every cell, above if it is in one, else not resolved.
    pub verdict: Verdict,
}

/// The mean of several cells' effects, and how much they differ among each other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pooled {
    /// (arm - control) / control: each session's mean of the cells on the log scale, then their mean.
    pub ratio: f64,
    /// Its 95 % interval by t across sessions.
    pub interval: Option<(f64, f64)>,
    /// Standard deviation of the cells' true effects on the log scale (DerSimonian and Laird).
    pub spread: f64,
    /// The share of the cells' variation that is not noise, from 0 to 1 (I squared).
    pub heterogeneity: f64,
    /// How likely such a variation is if all cells cost the same (Cochran's Q).
    pub p_same: f64,
}

/// What follows from an effect and the limit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "is")]
pub enum Verdict {
    /// The whole interval is below the limit.
    Within {
        /// It can't be told from a second copy of the baseline database.
        inside_floor: bool,
    },
    /// The whole interval is above the limit.
    Above,
    /// The limit is inside the interval, sessions are too few, or Holm's correction leaves it open.
    NotResolved {
        /// How much longer it would take, in minutes; none if unknown.
        minutes_more: Option<f64>,
    },
}

/// Latencies of one operation in one arm, all blocks merged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LatencyCurve {
    /// The arm.
    pub arm: String,
    /// The operation.
    pub operation: String,
    /// How many.
    pub count: u64,
    /// Percentile from 0 to 100, and nanoseconds.
    pub points: Vec<(f64, u64)>,
}

/// One pair of blocks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairPoint {
    /// The arm that is compared with its control.
    pub arm: String,
    /// Seconds since the study began.
    pub at_s: f64,
    /// From 1.
    pub session: u32,
    /// Within its session and cell.
    pub pair: u32,
    /// (arm - control) / control in CPU time.
    pub cpu: f64,
    /// The same in elapsed time.
    pub elapsed: f64,
}

/// What the machine was doing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// Samples, in order of time.
    pub samples: Vec<HostSample>,
    /// Blocks that count.
    pub blocks: u32,
    /// Blocks that do not, by reason.
    pub void: BTreeMap<String, u32>,
}

/// The machine over the time of one block. Shares are of one, of all cores.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostSample {
    /// Seconds since the study began.
    pub at_s: f64,
    /// CPU time that the hypervisor gave to others.
    pub steal: Option<f64>,
    /// CPU time that processes of others used.
    pub others: Option<f64>,
    /// Time that some task waited for a CPU (PSI).
    pub cpu_pressure: Option<f64>,
    /// Time that some task waited for storage (PSI).
    pub io_pressure: Option<f64>,
    /// Mean frequency of the cores, MHz.
    pub mhz: Option<f64>,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Seconds since the study began.
    pub at_s: f64,
    /// What.
    pub text: String,
}

/// A counter as a float; exact up to 2^53.
#[expect(clippy::cast_precision_loss, reason = "counters of a block stay far below 2^53")]
pub(crate) fn as_f64(count: u64) -> f64 {
    count as f64
}
