//! The results of a study: all figures of its reports.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The version of this model's JSON form.
pub const SUMMARY_SCHEMA: u32 = 1;

/// The results of a study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// [`SUMMARY_SCHEMA`].
    pub schema: u32,
    /// The study.
    pub study: StudyFacts,
    /// The machine.
    pub host: HostFacts,
    /// The arms, in the order of the configuration; the implied ones come first.
    pub arms: Vec<ArmFacts>,
    /// The cells, in the order of the configuration.
    pub cells: Vec<CellSummary>,
    /// The cost of each encrypted arm over the gating cells.
    pub overall: Vec<Overall>,
    /// The cost of each encrypted arm over all mixes of the hummer loop; empty unless there are two or more.
    pub mixes: Vec<Overall>,
    /// The state of the machine during the study.
    pub evidence: Evidence,
    /// The published measurement that the study repeats, compared with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<Rerun>,
    /// Events during the study, in order of time.
    pub events: Vec<Event>,
    /// The limits of these figures, one sentence each.
    pub limits: Vec<String>,
}

/// A study and its course.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StudyFacts {
    /// The name.
    pub name: String,
    /// Its question, in one line.
    pub title: String,
    /// The whole configuration.
    pub config: String,
    /// SHA-256 of the configuration, in hexadecimal digits.
    pub config_sha256: String,
    /// The seed of all random choices.
    pub seed: u64,
    /// The program's version.
    pub lab_version: String,
    /// The commit that it was built from, if known.
    pub commit: String,
    /// The command that makes a study like it.
    pub command: String,
    /// The start: seconds since 1970, UTC.
    pub created_s: u64,
    /// The total duration of its blocks, in seconds.
    pub busy_s: f64,
    /// The duration of a session, including its copies: the median of the finished ones, in seconds.
    pub session_s: Option<f64>,
    /// Finished sessions.
    pub sessions: u32,
    /// Sessions of the configuration; 0 in older summaries.
    #[serde(default)]
    pub planned_sessions: u32,
    /// Its extensions after its end, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<Extension>,
    /// The reason of its end, or that it has not ended.
    pub state: StudyState,
    /// The effect that matters, as a ratio minus one: 0.03 is 3 %.
    pub limit: f64,
    /// The half-width that was asked for, as a ratio.
    pub target_half_width: f64,
}

/// Sessions that were added to a study after its end, when its effects were known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extension {
    /// The time: seconds since 1970, UTC.
    pub at_s: u64,
    /// Sessions that counted before the extension.
    pub from: u32,
    /// Added sessions.
    pub sessions: u32,
}

/// The reason of a study's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StudyState {
    /// It has not ended.
    Unfinished,
    /// Every interval is as narrow as requested.
    Precise,
    /// All planned sessions are finished.
    Complete,
    /// Its time budget was used up.
    OutOfBudget,
    /// A user requested the end.
    Stopped,
}

/// A machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostFacts {
    /// Facts for display, in order: processor, its AES instructions, cores, memory, kernel, file system, ...
    pub facts: Vec<(String, String)>,
    /// Properties that make figures of this machine less precise.
    pub warnings: Vec<String>,
}

/// An arm: an engine with settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ArmFacts {
    /// The name in the configuration.
    pub name: String,
    /// The display name, such as `SQLCipher 4.10 AES-256-CBC`.
    pub label: String,
    /// The name of its control; none for a plain arm, but `plain2` has `plain`.
    pub control: Option<String>,
    /// The kind of arm.
    pub role: ArmRole,
    /// The cipher.
    pub cipher: String,
    /// The library that encrypts, with its version.
    pub library: String,
    /// The version of its SQLite.
    pub sqlite_version: String,
    /// The checks that proved its encryption, and their results, for display; empty for an unencrypted arm.
    pub proof: Vec<(String, String)>,
    /// Size of the loaded database, in bytes.
    pub bytes: u64,
    /// Pages of the loaded database.
    pub pages: u64,
    /// Size of Selenite's page pool in each process, in bytes; none if the arm does not set it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<u64>,
    /// The arm of suite NONE with which it is also compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub none: Option<String>,
    /// What its engine cannot do, one sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<String>,
    /// SHA-256 of its program, in hexadecimal digits; none in older studies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program_sha256: Option<String>,
}

/// The kind of an arm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ArmRole {
    /// Unencrypted.
    Plain,
    /// A second copy of the plain arm: a difference between the two is not an effect.
    Floor,
    /// Encrypted.
    Encrypted,
}

/// A cell: one kind of work in one cache state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellSummary {
    /// The name in the configuration.
    pub name: String,
    /// The display name.
    pub label: String,
    /// The kind of work as in the protocol: `like`, `insert`, `hummer`.
    pub work: String,
    /// The cache state: `cold`, `os`, `page`.
    pub cache: String,
    /// Reads, updates and inserts per ten loops, if its work is the hummer loop.
    pub mix: Option<[u8; 3]>,
    /// The unit of operations, in the singular: `page`, `row`, `loop`.
    pub unit: String,
    /// Whether it counts for the verdict of an arm; others are exploratory.
    pub gating: bool,
    /// The part that was excluded as warm-up.
    pub warm_up: WarmUp,
    /// The figures of each arm: medians of sessions' medians, by arm.
    pub levels: BTreeMap<String, Level>,
    /// The differences between each arm and its control.
    pub effects: Vec<Effect>,
    /// Latencies by operation and arm.
    pub latencies: Vec<LatencyCurve>,
    /// Every pair, for the run chart.
    pub pairs: Vec<PairPoint>,
    /// For work during a re-encryption, the phases by arm; empty for other work. Counters and times
    /// above are then per loop, in the phase during the re-encryption.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub phases: BTreeMap<String, PhaseLevels>,
}

/// The phases of an arm: medians of sessions' medians, and changes within blocks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhaseLevels {
    /// Loops per second of all processes: before, during, after.
    pub loops_per_s: [f64; 3],
    /// The 99th percentile of latency in nanoseconds: before, during, after.
    pub p99_ns: [f64; 3],
    /// Throughput during, compared with before.
    pub throughput_during: PhaseChange,
    /// Throughput after, compared with before.
    pub throughput_after: PhaseChange,
    /// The 99th percentile during, compared with before.
    pub p99_during: PhaseChange,
    /// The 99th percentile after, compared with before.
    pub p99_after: PhaseChange,
    /// The speed of the re-encryption; none in an arm without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sealing: Option<SealingLevel>,
}

/// A change within blocks: Hodges-Lehmann within sessions, mean of sessions, on the log scale.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PhaseChange {
    /// The ratio minus one.
    pub ratio: f64,
    /// Its 95 % interval by t across sessions; none with fewer than two sessions.
    pub interval: Option<(f64, f64)>,
}

/// The speed of a re-encryption: medians of sessions' medians.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SealingLevel {
    /// Duration of the administrator's program, in seconds.
    pub seconds: f64,
    /// Pages of the database per second of that duration.
    pub pages_per_s: f64,
    /// Bytes of the database per second of that duration.
    pub bytes_per_s: f64,
    /// The end of the program's output in the last run.
    pub said: String,
}

impl CellSummary {
    /// The metric that decides about an arm in this cell.
    #[must_use]
    pub fn judged(&self) -> Metric {
        match self.work == ONLINE {
            true => Metric::Slowdown,
            false => Metric::Cpu,
        }
    }
}

impl Summary {
    /// The metric that decides about its arms: all cells of a study are of one kind.
    #[must_use]
    pub fn judged(&self) -> Metric {
        self.cells.first().map_or(Metric::Cpu, CellSummary::judged)
    }

    /// The two metrics that are shown first: the deciding one, and one that a user notices.
    #[must_use]
    pub fn foremost(&self) -> [Metric; 2] {
        match self.judged() == Metric::Slowdown {
            true => [Metric::Slowdown, Metric::TailSlowdown],
            false => [Metric::Cpu, Metric::Elapsed],
        }
    }
}

/// The loop of the context switches article on a server, as named in a configuration. Its pages are packets.
pub const MESSAGES: &str = "messages";

/// Work during a re-encryption, as named in a configuration.
pub const ONLINE: &str = "online";

/// The warm-up of a cell at the start of its sessions. Cold cells have none: they measure the first access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WarmUp {
    /// Excluded pairs, of all sessions and arms.
    pub pairs: u32,
    /// Sessions that never became steady; all of their pairs count.
    pub unsteady: u32,
}

/// The figures of an arm for a block of a cell; medians.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Level {
    /// Counted blocks.
    pub blocks: u32,
    /// By metric: CPU and elapsed time in nanoseconds, the others in their own units.
    pub metrics: BTreeMap<Metric, f64>,
    /// Pages that were read and written: as counted by SQLite, or derived from the bytes of reads and writes.
    pub pages: f64,
    /// Operations.
    pub operations: f64,
}

/// A metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// Instructions in user mode.
    Instructions,
    /// CPU time, in nanoseconds.
    Cpu,
    /// Bytes requested by reads.
    ReadChars,
    /// Bytes passed to writes.
    WriteChars,
    /// Read calls.
    ReadCalls,
    /// Write calls.
    WriteCalls,
    /// Bytes read from storage.
    ReadBytes,
    /// Bytes to be written to storage.
    WriteBytes,
    /// Elapsed time, in nanoseconds.
    Elapsed,
    /// The part of it for the checkpoint at the end, in nanoseconds.
    Checkpoint,
    /// Context switches of both kinds.
    Switches,
    /// Page faults of both kinds.
    Faults,
    /// Size of the database's file after a block, in bytes.
    DatabaseBytes,
    /// Size of its write-ahead log in bytes, before the checkpoint that ends a block if there is one.
    WalBytes,
    /// The peak of resident memory during a block, of all processes, in bytes.
    PeakMemory,
    /// Size of a backup's files, in bytes.
    ArchiveBytes,
    /// Time per loop during a re-encryption, divided by that before it, in the same block.
    Slowdown,
    /// Time per loop after the re-encryption, divided by that before it.
    Aftermath,
    /// The 99th percentile of latency during a re-encryption, divided by that before it.
    TailSlowdown,
}

/// The difference between an arm and its control, in one metric of one cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Effect {
    /// The arm.
    pub arm: String,
    /// Its control.
    pub control: String,
    /// The metric.
    pub metric: Metric,
    /// (arm - control) / control: Hodges-Lehmann within sessions, mean of sessions, on the log scale.
    pub ratio: f64,
    /// Its 95 % interval by t across sessions; none with fewer than two sessions.
    pub interval: Option<(f64, f64)>,
    /// The same by a bootstrap of sessions and pairs, as a cross-check.
    pub bootstrap: Option<(f64, f64)>,
    /// The A/A interval of the same cell and metric.
    pub floor: Option<(f64, f64)>,
    /// The median of arm - control, in the metric's unit.
    pub difference: f64,
    /// The same per page that the control read or wrote, in nanoseconds, with its interval; none if
    /// there were too few pages.
    pub per_page_ns: Option<(f64, f64, f64)>,
    /// The same per operation, in nanoseconds.
    pub per_operation_ns: Option<(f64, f64, f64)>,
    /// The estimate of the ratio in each session, by the session's number.
    pub by_session: Vec<(u32, f64)>,
    /// The two-sided probability of so large an effect if the true one is at the limit, by t across
    /// sessions; for gating cells after Holm's correction over the gating cells of this arm and
    /// metric. None with fewer than two sessions.
    pub p_limit: Option<f64>,
    /// Sessions.
    pub sessions: u32,
    /// Pairs of all sessions.
    pub pairs: u32,
    /// Pairs farther than 5 median absolute deviations from the median; they count like all others.
    pub outliers: u32,
    /// The verdict.
    pub verdict: Verdict,
    /// The same compared with suite NONE, if the study has such an arm; it is not used for verdicts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against_none: Option<AgainstNone>,
}

/// The cost of the cipher alone: an arm compared with one of the same settings without a cipher.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgainstNone {
    /// The arm of suite NONE.
    pub control: String,
    /// (arm - control) / control, as in [`Effect::ratio`].
    pub ratio: f64,
    /// As in [`Effect::interval`].
    pub interval: Option<(f64, f64)>,
    /// Sessions.
    pub sessions: u32,
    /// Pairs of all sessions.
    pub pairs: u32,
}

/// The cost of an arm over several cells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Overall {
    /// The arm.
    pub arm: String,
    /// Its control.
    pub control: String,
    /// The metric.
    pub metric: Metric,
    /// The cells, by name.
    pub cells: Vec<String>,
    /// The cell with the lowest cost, and the ratio there.
    pub cheapest: (String, f64),
    /// The cell with the highest cost, and the ratio there.
    pub dearest: (String, f64),
    /// The mean cost over the cells.
    pub pooled: Option<Pooled>,
    /// Within if it is so in every cell, above if it is so in one, otherwise not resolved.
    pub verdict: Verdict,
}

/// The mean of several cells' effects, and their heterogeneity.
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
    /// The probability of such a variation if all cells have the same effect (Cochran's Q).
    pub p_same: f64,
}

/// The verdict on an effect and the limit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "is")]
pub enum Verdict {
    /// The whole interval is below the limit.
    Within {
        /// It cannot be distinguished from a second copy of the baseline database.
        inside_floor: bool,
    },
    /// The whole interval is above the limit.
    Above,
    /// The limit is inside the interval, there are too few sessions, or Holm's correction leaves it open.
    NotResolved {
        /// The estimated time to a decision, in minutes; none if unknown.
        minutes_more: Option<f64>,
    },
}

/// Latencies of one operation in one arm, merged over all blocks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LatencyCurve {
    /// The arm.
    pub arm: String,
    /// The operation.
    pub operation: String,
    /// The number of operations.
    pub count: u64,
    /// Percentile from 0 to 100, and nanoseconds.
    pub points: Vec<(f64, u64)>,
}

/// One pair of blocks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairPoint {
    /// The arm that is compared with its control.
    pub arm: String,
    /// Seconds since the start of the study.
    pub at_s: f64,
    /// The session, counted from 1.
    pub session: u32,
    /// The pair, within its session and cell.
    pub pair: u32,
    /// (arm - control) / control in CPU time.
    pub cpu: f64,
    /// The same in elapsed time.
    pub elapsed: f64,
}

/// The state of the machine during the study.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// Samples, in order of time.
    pub samples: Vec<HostSample>,
    /// Counted blocks.
    pub blocks: u32,
    /// Void blocks, by reason.
    pub void: BTreeMap<String, u32>,
    /// The load of the machine in each session; empty in older summaries.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sessions: Vec<SessionLoad>,
}

/// The load of the machine in a session, by a rule (`load::RULE`). Shares are means of its blocks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionLoad {
    /// The session, counted from 1.
    pub session: u32,
    /// Whether the machine was quiet.
    pub state: LoadState,
    /// Blocks that were watched or should have been.
    pub blocks: u32,
    /// Blocks with much else at work.
    pub disturbed: u32,
    /// As in [`HostSample`].
    pub others: Option<f64>,
    /// As in [`HostSample`].
    pub steal: Option<f64>,
    /// As in [`HostSample`].
    pub cpu_pressure: Option<f64>,
    /// As in [`HostSample`].
    pub io_pressure: Option<f64>,
}

/// Whether the machine was quiet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LoadState {
    /// Little else was at work.
    Quiet,
    /// Something else was at work.
    Busy,
    /// Not known.
    Unknown,
}

/// A published measurement, and what this study found instead.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rerun {
    /// The source.
    pub source: PublishedSource,
    /// Its figures.
    pub figures: Vec<FigureComparison>,
}

/// The source of published figures, as in a study's configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublishedSource {
    /// The author, or the publisher if the author is not named.
    pub author: String,
    /// The year of publication.
    pub year: u16,
    /// The title.
    pub title: String,
    /// Where it was published.
    pub place: String,
    /// The engine that was measured, with its version.
    pub engine: String,
    /// The size of what was measured.
    pub scale: String,
    /// The machine.
    pub machine: String,
    /// The method, in words.
    pub method: String,
    /// Runs of each arm.
    pub runs: u32,
    /// Whether the database was made again or the server restarted between the arms.
    pub restarted: bool,
    /// What differs in this study, one sentence each.
    pub differs: Vec<String>,
}

/// A published figure and ours.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FigureComparison {
    /// What it is of.
    pub what: String,
    /// Our arm.
    pub arm: String,
    /// Our cells, by name.
    pub cells: Vec<String>,
    /// Our metric.
    pub metric: Metric,
    /// The figure as it was published.
    pub as_published: String,
    /// The published cost: (encrypted - plain) / plain of the time; of a throughput its inverse.
    pub published: f64,
    /// A correction of the published figure.
    pub remark: Option<String>,
    /// Our cost; none if the cells have no figure.
    pub ours: Option<OurFigure>,
    /// How far the published method may be wrong here; none if there is too little to say so.
    pub errors: Option<PublishedMethodErrors>,
}

/// Our cost where a published figure stands.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OurFigure {
    /// As in [`Effect::ratio`], or in [`Pooled::ratio`] for several cells.
    pub ratio: f64,
    /// Its 95 % interval.
    pub interval: Option<(f64, f64)>,
    /// Sessions.
    pub sessions: u32,
}

/// How far a published method may be wrong with the noise of this study, by simulation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PublishedMethodErrors {
    /// Simulated measurements.
    pub replicates: u32,
    /// Their seed.
    pub seed: u64,
    /// Sessions that they were drawn from.
    pub sessions: u32,
    /// Pairs that they were drawn from, of all cells.
    pub pairs: u32,
    /// The cost that nine of ten measurements report where there is none: its ends, as ratios.
    pub spread: (f64, f64),
    /// The share that reports at least the published cost (or saving) where there is none.
    pub false_alarms: f64,
    /// The share that reports the other sign, if our cost is the true one. None if it is 0 or unknown.
    pub wrong_sign_ours: Option<f64>,
    /// The same, if the published cost is the true one. None if it is 0.
    pub wrong_sign_published: Option<f64>,
}

/// The machine during one block. Shares are between 0 and 1, of all cores.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostSample {
    /// Seconds since the start of the study.
    pub at_s: f64,
    /// CPU time that the hypervisor gave to other guests.
    pub steal: Option<f64>,
    /// CPU time of processes that are not part of the study.
    pub others: Option<f64>,
    /// Time that some task waited for a CPU (PSI).
    pub cpu_pressure: Option<f64>,
    /// Time that some task waited for storage (PSI).
    pub io_pressure: Option<f64>,
    /// Mean frequency of the cores, MHz.
    pub mhz: Option<f64>,
}

/// An event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Seconds since the start of the study.
    pub at_s: f64,
    /// The description.
    pub text: String,
}

/// A counter as a float; exact up to 2^53.
#[expect(clippy::cast_precision_loss, reason = "counters of a block stay far below 2^53")]
pub(crate) fn as_f64(count: u64) -> f64 {
    count as f64
}
