//! What each operation costs on one machine, in clear and under each cipher.
//!
//! - `sessions-are-the-sample`: an estimate has a value for each session of the calibration, with files and a process
//!   of its own. Intervals and draws come from the differences between sessions.
//! - `differences-are-paired`: the cost of a cipher is stored as its difference from the same operation in clear, in
//!   the same session. It may be negative: Selenite's page pool saves system calls.
//! - `speed-is-not-averaged`: what all operations of a session have in common is the machine's speed at that time. It
//!   drifts over seconds and minutes alike, so sessions of one calibration do not average it: another calibration
//!   finds another speed, as far from this one as two sessions are from each other.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use rand::Rng;
use rand_chacha::ChaCha8Rng;
use selenite_cipher::Suite;
use selenite_stats::{Interval, median, t_interval};
use serde::{Deserialize, Serialize};

use crate::PlanError;
use crate::operation::{Amount, KIB, Operation};

/// A cipher suite, with or without the processor's AES instructions; or TLS.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Cipher {
    /// The name of a suite of the database, `TLS_1_2` or `TLS_1_3`.
    pub name: String,
    /// Whether AES instructions are used.
    pub aes_instructions: bool,
}

impl Cipher {
    /// A suite of the database.
    #[must_use]
    pub fn of(suite: Suite, aes_instructions: bool) -> Self {
        Self {
            name: suite.name().to_owned(),
            aes_instructions,
        }
    }

    /// TLS of a version: [`TLS_1_2`] or [`TLS_1_3`].
    #[must_use]
    pub fn tls(version: &str, aes_instructions: bool) -> Self {
        Self {
            name: version.to_owned(),
            aes_instructions,
        }
    }
}

impl std::fmt::Display for Cipher {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.name)?;
        if !self.aes_instructions {
            out.write_str(WITHOUT_AES)?;
        }
        Ok(())
    }
}

impl From<Cipher> for String {
    fn from(cipher: Cipher) -> Self {
        cipher.to_string()
    }
}

impl TryFrom<String> for Cipher {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let (name, aes_instructions) = match text.strip_suffix(WITHOUT_AES) {
            Some(name) => (name, false),
            None => (text.as_str(), true),
        };
        let is_tls = [TLS_1_2, TLS_1_3].contains(&name);
        if !is_tls && Suite::from_name(name).is_none() {
            return Err(format!("{text} is no cipher"));
        }
        Ok(Self {
            name: name.to_owned(),
            aes_instructions,
        })
    }
}

/// TLS 1.2, as a [`Cipher`].
pub const TLS_1_2: &str = "TLS_1_2";
/// TLS 1.3, as a [`Cipher`].
pub const TLS_1_3: &str = "TLS_1_3";
const WITHOUT_AES: &str = " without AES instructions";

/// The CPU time of an operation of one size: nanoseconds in each session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// KiB of the operation; 0 for one without a size.
    pub kib: f64,
    /// A value for each session.
    pub sessions: Vec<f64>,
}

impl Measured {
    /// The mean of the sessions.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.sessions.iter().sum::<f64>() / (self.sessions.len().max(1) as f64)
    }

    /// The interval of the mean, by Student's t over sessions. None with fewer than two.
    #[must_use]
    pub fn interval(&self, confidence: f64) -> Option<Interval> {
        t_interval(&self.sessions, confidence)
    }

    /// The interval of a cost that is no difference, by [`speed_half_width`] of its calibration, too.
    #[must_use]
    pub fn interval_with_speed(&self, confidence: f64, speed: f64) -> Option<Interval> {
        let half_width = self.interval(confidence)?.half_width();
        Interval::around(self.mean(), half_width.hypot(speed * self.mean()))
    }

    /// The standard error of the mean; 0 with fewer than two sessions.
    fn standard_error(&self) -> f64 {
        let count = self.sessions.len() as f64;
        if count < 2.0 {
            return 0.0;
        }
        let mean = self.mean();
        let squares: f64 = self.sessions.iter().map(|value| (value - mean).powi(2)).sum();
        (squares / (count - 1.0) / count).sqrt()
    }
}

/// Costs by operation; for operations of a size at two sizes or more, ascending.
pub type Costs = BTreeMap<Operation, Vec<Measured>>;

/// How far the machine's speed in one session is from its mean, as a share of it: by Student's t over the sessions of
/// costs in clear. 0 with fewer than two.
#[must_use]
pub fn speed_half_width(plain: &Costs, confidence: f64) -> f64 {
    let costs: Vec<&Measured> = plain.values().flatten().filter(|one| one.mean() > 0.0).collect();
    let count = costs.iter().map(|one| one.sessions.len()).min().unwrap_or(0);
    let speed = |session: usize| {
        let relative: Vec<f64> = costs.iter().map(|one| one.sessions[session] / one.mean()).collect();
        median(&relative)
    };
    let speeds: Vec<f64> = (0..count).filter_map(speed).collect();
    let of_mean = t_interval(&speeds, confidence).map_or(0.0, |interval| interval.half_width());
    of_mean * (speeds.len() as f64).sqrt()
}

/// The properties of a machine and of the program on it: a calibration is valid where they are the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint {
    /// The processor's model name.
    pub processor: String,
    /// The processor's instructions for ciphers, in alphabetical order.
    pub instructions: String,
    /// Logical processors.
    pub processors: u32,
    /// The version of Selenite.
    pub selenite: String,
    /// The version of SQLite.
    pub sqlite: String,
    /// The kernel's release, which system calls depend on.
    pub kernel: String,
}

impl Fingerprint {
    /// The differences from `other`, for display; empty if a calibration of `other` is valid here.
    #[must_use]
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let pairs = [
            ("processor", &self.processor, &other.processor),
            ("instructions", &self.instructions, &other.instructions),
            ("version of Selenite", &self.selenite, &other.selenite),
            ("version of SQLite", &self.sqlite, &other.sqlite),
            ("kernel", &self.kernel, &other.kernel),
        ];
        let mut differences: Vec<String> = pairs
            .into_iter()
            .filter(|(_, here, there)| here != there)
            .map(|(what, here, there)| format!("{what}: calibrated on \"{there}\", now \"{here}\""))
            .collect();
        if self.processors != other.processors {
            let (here, there) = (self.processors, other.processors);
            differences.push(format!("logical processors: calibrated on {there}, now {here}"));
        }
        differences
    }
}

/// A calibration, in the form of its file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// [`FORMAT`].
    pub format: u32,
    /// The machine and the program.
    pub fingerprint: Fingerprint,
    /// When it was made: RFC 3339, UTC.
    pub made: String,
    /// Seconds that it took.
    pub seconds: f64,
    /// The load of the machine before it began: processes that wanted to run, over a minute.
    pub load_average: f64,
    /// Costs in clear.
    pub plain: Costs,
    /// Differences from `plain`, under each cipher.
    pub ciphers: BTreeMap<Cipher, Costs>,
    /// What [operations among others](Operation::is_among_others) cost more than alone when they are encrypted: shares
    /// of their costs in clear, measured by a mix of them. Calibrations made before 2026-11-29 have none.
    #[serde(default)]
    pub among_others: Option<Measured>,
    /// Nanoseconds of elapsed time in which a MiB is converted under each cipher.
    #[serde(default)]
    pub conversion_ns_per_mib: BTreeMap<Cipher, Measured>,
}

/// The version of the file.
pub const FORMAT: u32 = 2;

impl Calibration {
    /// Reads the text of a file.
    ///
    /// # Errors
    /// [`PlanError::Input`] if it is not a calibration; [`PlanError::Calibration`] for another version.
    pub fn parse(text: &str) -> Result<Self, PlanError> {
        let value: serde_json::Value =
            serde_json::from_str(text).map_err(|error| PlanError::input("calibration", error.to_string()))?;
        match value.get("format").and_then(serde_json::Value::as_u64) {
            Some(format) if format == u64::from(FORMAT) => {}
            Some(format) => {
                let reason = format!("it is of version {format}, and this program reads version {FORMAT}");
                return Err(PlanError::Calibration(reason));
            }
            None => {
                return Err(PlanError::input(
                    "calibration",
                    "it has no version: it is no calibration",
                ));
            }
        }
        let parsed: Self =
            serde_json::from_value(value).map_err(|error| PlanError::input("calibration", error.to_string()))?;
        parsed.check()?;
        Ok(parsed)
    }

    /// The text of its file.
    ///
    /// # Errors
    /// [`PlanError::Calibration`] for values that are not finite.
    pub fn text(&self) -> Result<String, PlanError> {
        self.check()?;
        serde_json::to_string_pretty(self).map_err(|error| PlanError::Calibration(error.to_string()))
    }

    fn check(&self) -> Result<(), PlanError> {
        for (what, value) in [("seconds", self.seconds), ("load_average", self.load_average)] {
            if !(0.0..=MEASURE_MAX).contains(&value) {
                return Err(PlanError::input(format!("calibration, {what}"), "no machine has that"));
            }
        }
        if self.ciphers.is_empty() {
            return Err(PlanError::input("calibration, ciphers", "it has none"));
        }
        check_costs("plain", &self.plain, &plausible_in_clear)?;
        for (cipher, costs) in &self.ciphers {
            check_costs(&cipher.to_string(), costs, &plausible_difference)?;
        }
        let is_share =
            |measured: &Measured| has_values(measured, -1.0) && measured.sessions.iter().all(|one| *one <= 1.0);
        if !self.among_others.as_ref().is_none_or(is_share) {
            return Err(PlanError::input(
                "calibration, among others",
                "its values must be shares",
            ));
        }
        for (cipher, measured) in &self.conversion_ns_per_mib {
            if !has_values(measured, 0.0) || !MIB_NANOSECONDS.contains(&measured.mean()) {
                let place = format!("calibration, conversion, {cipher}");
                let reason = format!("{} ns for a MiB is nothing that a machine has", measured.mean());
                return Err(PlanError::input(place, reason));
            }
        }
        Ok(())
    }

    /// The fewest sessions of an operation.
    #[must_use]
    pub fn sessions_min(&self) -> usize {
        let costs = self.ciphers.values().flat_map(BTreeMap::values).flatten();
        costs.map(|measured| measured.sessions.len()).min().unwrap_or(0)
    }

    /// The costs under a cipher.
    ///
    /// # Errors
    /// [`PlanError::Calibration`] where it was not calibrated.
    pub fn costs(&self, cipher: &Cipher) -> Result<&Costs, PlanError> {
        self.ciphers.get(cipher).ok_or_else(|| {
            let known: Vec<String> = self.ciphers.keys().map(Cipher::to_string).collect();
            PlanError::Calibration(format!("{cipher} was not calibrated; known: {}", known.join(", ")))
        })
    }
}

fn check_costs(
    place: &str,
    costs: &Costs,
    plausible: &dyn Fn(Operation, &Measured) -> RangeInclusive<f64>,
) -> Result<(), PlanError> {
    if costs.is_empty() {
        return Err(PlanError::input(format!("calibration, {place}"), "it has no costs"));
    }
    for (operation, sizes) in costs {
        let place = format!("calibration, {place}, {}", operation.name());
        let ascends = sizes.windows(2).all(|pair| pair[0].kib < pair[1].kib);
        let is_sound = |one: &Measured| (0.0..=SIZE_MAX_KIB).contains(&one.kib) && has_values(one, -NANOSECONDS_MAX);
        if sizes.is_empty() || !ascends || !sizes.iter().all(is_sound) {
            return Err(PlanError::input(
                place,
                "sizes must ascend, and each must have finite values",
            ));
        }
        for measured in sizes {
            let (mean, range) = (measured.mean(), plausible(*operation, measured));
            // A measurement is never exactly zero in all sessions.
            let is_free = range.contains(&0.0) && *range.start() >= 0.0;
            let is_measured = is_free || measured.sessions.iter().any(|one| *one != 0.0);
            if !range.contains(&mean) || !is_measured {
                let reason = format!("{mean} ns, of {} KiB, is nothing that a machine has", measured.kib);
                return Err(PlanError::input(place, reason));
            }
        }
    }
    Ok(())
}

/// Nanoseconds that an operation may take in clear.
fn plausible_in_clear(operation: Operation, _: &Measured) -> RangeInclusive<f64> {
    match operation {
        // They are encryption alone.
        Operation::LogRecord | Operation::Handshake => 0.0..=MEAN_MAX,
        // A packet is copied.
        Operation::Packet => 1.0..=MEAN_MAX,
        // Each is some system calls and copies of pages.
        Operation::ReadSequential | Operation::ReadRandom | Operation::Open | Operation::Backup => 10.0..=MEAN_MAX,
        // Differences: a commit may be measured below zero.
        Operation::ReadLog
        | Operation::Write
        | Operation::Append
        | Operation::Checkpoint
        | Operation::Commit
        | Operation::RollbackWrite
        | Operation::RollbackCommit
        | Operation::Transaction
        | Operation::RollbackTransaction => -MEAN_MAX..=MEAN_MAX,
    }
}

/// Nanoseconds that encryption may add to an operation.
fn plausible_difference(operation: Operation, measured: &Measured) -> RangeInclusive<f64> {
    match operation {
        // The cipher alone.
        Operation::LogRecord | Operation::Packet => measured.kib * KIB / BYTES_PER_NANOSECOND_MAX..=MEAN_MAX,
        // Signatures and key agreements.
        Operation::Handshake => 1000.0..=MEAN_MAX,
        Operation::ReadSequential
        | Operation::ReadRandom
        | Operation::ReadLog
        | Operation::Write
        | Operation::Append
        | Operation::Checkpoint
        | Operation::Commit
        | Operation::RollbackWrite
        | Operation::RollbackCommit
        | Operation::Transaction
        | Operation::RollbackTransaction
        | Operation::Open
        | Operation::Backup => -MEAN_MAX..=MEAN_MAX,
    }
}

/// Whether it has sessions, as many as a calibration makes, and each a cost.
fn has_values(measured: &Measured, least: f64) -> bool {
    let is_cost = |value: &f64| (least..=NANOSECONDS_MAX).contains(value);
    (1..=SESSIONS_MAX).contains(&measured.sessions.len()) && measured.sessions.iter().all(is_cost)
}

/// Nanoseconds of an operation of so many KiB, by interpolation between the sizes that were measured: of the means,
/// or of a draw of them.
pub fn nanoseconds(sizes: &[Measured], kib: f64, random: Option<&mut ChaCha8Rng>) -> f64 {
    // The sizes of one operation are measured in the same sessions, and err together.
    let error = random.map_or(0.0, |random| {
        let sessions = sizes.iter().map(|one| one.sessions.len()).min().unwrap_or(0);
        student(random, sessions.saturating_sub(1))
    });
    let cost = |one: &Measured| match error {
        0.0 => one.mean(),
        _ => one.mean() + error * one.standard_error(),
    };
    let above = sizes.iter().position(|one| kib <= one.kib).unwrap_or(sizes.len());
    match (
        above.checked_sub(1).and_then(|below| sizes.get(below)),
        sizes.get(above),
    ) {
        (Some(below), Some(above)) => {
            let share = (kib - below.kib) / (above.kib - below.kib);
            cost(below) * (1.0 - share) + cost(above) * share
        }
        (Some(only), None) | (None, Some(only)) => cost(only),
        (None, None) => 0.0,
    }
}

/// The measurements of an operation.
///
/// # Errors
/// [`PlanError::Calibration`] if there are none; [`PlanError::OutOfRange`] for an amount whose size
/// is outside of the measured ones.
pub fn measured_for(costs: &Costs, operation: Operation, amount: Amount) -> Result<&[Measured], PlanError> {
    let none = || PlanError::Calibration(format!("{} were not calibrated", operation.name()));
    let sizes = costs.get(&operation).ok_or_else(none)?;
    let (least, most) = (sizes.first().ok_or_else(none)?.kib, sizes.last().ok_or_else(none)?.kib);
    let kib = amount.mean_kib();
    let is_within = (least * (1.0 - ROUNDING)..=most * (1.0 + ROUNDING)).contains(&kib);
    if !operation.has_size() || is_within {
        return Ok(sizes);
    }
    Err(PlanError::OutOfRange(format!(
        "{} of {kib:.2} KiB; calibrated were {least} to {most} KiB",
        operation.name(),
    )))
}

/// A draw of Student's t distribution: a normal variable over the root of a mean of squares of others.
fn student(random: &mut ChaCha8Rng, freedom: usize) -> f64 {
    if freedom == 0 {
        return 0.0;
    }
    let squares: f64 = (0..freedom).map(|_| normal(random).powi(2)).sum();
    let value = normal(random) / (squares / freedom as f64).sqrt();
    value.clamp(-DRAW_MAX, DRAW_MAX)
}

/// A draw of the standard normal distribution, by Box and Muller.
pub(crate) fn normal(random: &mut ChaCha8Rng) -> f64 {
    let (radius, angle): (f64, f64) = (random.random_range(f64::MIN_POSITIVE..1.0), random.random());
    (-2.0 * radius.ln()).sqrt() * (angle * std::f64::consts::TAU).cos()
}

/// Every draw of a prediction visits all of them.
const SESSIONS_MAX: usize = 1000;
/// Of seconds of a calibration and of processes that want to run.
const MEASURE_MAX: f64 = 1e6;
/// A quarter of an hour: no operation takes that long.
const NANOSECONDS_MAX: f64 = 1e12;
/// A second of CPU time: no operation takes that on average.
const MEAN_MAX: f64 = 1e9;
/// 200 GB a second: no core encrypts that.
const BYTES_PER_NANOSECOND_MAX: f64 = 200.0;
/// In which a MiB may be converted: 100 GB to 10 KB a second.
const MIB_NANOSECONDS: RangeInclusive<f64> = 1e4..=1e11;
/// A GiB.
const SIZE_MAX_KIB: f64 = 1_048_576.0;
/// A bound of draws: the tails of t with few sessions have no mean.
const DRAW_MAX: f64 = 10.0;
/// Sums of sizes are rounded.
const ROUNDING: f64 = 1e-6;

#[cfg(test)]
mod tests;
