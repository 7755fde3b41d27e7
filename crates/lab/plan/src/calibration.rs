//! What each operation costs on one machine, in clear and under each cipher.
//!
//! - `sessions-are-the-sample`: an estimate has a value for each session of the calibration, with files and a process
//!   of its own. Intervals and draws come from the differences between sessions.
//! - `differences-are-paired`: the cost of a cipher is stored as its difference from the same operation in clear, in
//!   the same session. It may be negative: Selenite's page pool saves system calls.

use std::collections::BTreeMap;

use rand::Rng;
use selenite_cipher::Suite;
use selenite_stats::{Interval, t_interval, t_quantile};
use serde::{Deserialize, Serialize};

use crate::PlanError;
use crate::operation::{Amount, Operation};

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

    /// A draw of the mean: from the t distribution that the sessions give it.
    fn draw(&self, uniform: f64) -> f64 {
        let (Some(interval), true) = (self.interval(HALF), self.sessions.len() > 1) else {
            return self.mean();
        };
        let freedom = (self.sessions.len() - 1) as f64;
        let (quantile, unit) = (t_quantile(uniform, freedom), t_quantile(0.5 + HALF / 2.0, freedom));
        match (quantile, unit) {
            (Some(quantile), Some(unit)) if unit > 0.0 => self.mean() + interval.half_width() * quantile / unit,
            (Some(_) | None, _) => self.mean(),
        }
    }
}

/// Costs by operation; for operations of a size at two sizes or more, ascending.
pub type Costs = BTreeMap<Operation, Vec<Measured>>;

/// What a machine, and the program on it, is: a calibration holds where it is the same.
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
    /// What differs from `other`, for people; nothing if a calibration of `other` holds here.
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

/// A calibration, as its file holds it.
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
    /// Nanoseconds of elapsed time in which a MiB is converted under each cipher.
    #[serde(default)]
    pub conversion_ns_per_mib: BTreeMap<Cipher, Measured>,
}

/// The version of the file.
pub const FORMAT: u32 = 1;

impl Calibration {
    /// Reads the text of a file.
    ///
    /// # Errors
    /// [`PlanError::Input`] where it is none; [`PlanError::Calibration`] for one of another version.
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
        for (place, costs) in std::iter::once(("plain".to_owned(), &self.plain))
            .chain(self.ciphers.iter().map(|(cipher, costs)| (cipher.to_string(), costs)))
        {
            for (operation, sizes) in costs {
                let ascends = sizes.windows(2).all(|pair| pair[0].kib < pair[1].kib);
                let is_sound = |one: &Measured| {
                    !one.sessions.is_empty() && one.kib >= 0.0 && one.sessions.iter().all(|value| value.is_finite())
                };
                if sizes.is_empty() || !ascends || !sizes.iter().all(is_sound) {
                    let place = format!("calibration, {place}, {}", operation.name());
                    return Err(PlanError::input(
                        place,
                        "sizes must ascend, and each must have finite values",
                    ));
                }
            }
        }
        Ok(())
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

/// Costs as they may be: one draw of each mean.
pub struct Draw(BTreeMap<Operation, Vec<(f64, f64)>>);

impl Draw {
    /// Draws all of `costs`.
    pub fn of(costs: &Costs, random: &mut impl Rng) -> Self {
        let mut draw = |sizes: &[Measured]| {
            // The sizes of one operation are measured in the same sessions, and err together.
            let uniform = random.random_range(CERTAINTY..1.0 - CERTAINTY);
            sizes.iter().map(|one| (one.kib, one.draw(uniform))).collect()
        };
        Self(
            costs
                .iter()
                .map(|(operation, sizes)| (*operation, draw(sizes)))
                .collect(),
        )
    }

    /// The means of `costs`.
    #[must_use]
    pub fn means(costs: &Costs) -> Self {
        let means = |sizes: &Vec<Measured>| sizes.iter().map(|one| (one.kib, one.mean())).collect();
        Self(
            costs
                .iter()
                .map(|(operation, sizes)| (*operation, means(sizes)))
                .collect(),
        )
    }

    /// Nanoseconds of an operation of so many KiB, by interpolation between the sizes. None where it was not measured.
    #[must_use]
    pub fn nanoseconds(&self, operation: Operation, kib: f64) -> Option<f64> {
        let sizes = self.0.get(&operation)?;
        match sizes.as_slice() {
            [] => None,
            [(_, only)] => Some(*only),
            [.., (low, at_low), (high, at_high)] => {
                let lower = sizes.windows(2).find(|pair| kib <= pair[1].0);
                let ((low, at_low), (high, at_high)) =
                    lower.map_or(((*low, *at_low), (*high, *at_high)), |pair| (pair[0], pair[1]));
                Some(at_low + (at_high - at_low) * (kib - low) / (high - low))
            }
        }
    }

    /// Seconds of CPU time that an amount of an operation takes.
    #[must_use]
    pub fn seconds(&self, operation: Operation, amount: Amount) -> Option<f64> {
        if amount.count == 0.0 {
            return Some(0.0);
        }
        let each = self.nanoseconds(operation, amount.mean_kib())?;
        Some(each * amount.count / 1e9)
    }
}

/// Refuses an amount whose size is beyond those that were measured.
///
/// # Errors
/// [`PlanError::OutOfRange`], [`PlanError::Calibration`].
pub fn check_range(costs: &Costs, operation: Operation, amount: Amount) -> Result<(), PlanError> {
    if amount.count == 0.0 {
        return Ok(());
    }
    let Some(sizes) = costs.get(&operation) else {
        return Err(PlanError::Calibration(format!(
            "{} were not calibrated",
            operation.name()
        )));
    };
    let (Some(least), Some(most)) = (sizes.first(), sizes.last()) else {
        return Err(PlanError::Calibration(format!(
            "{} were not calibrated",
            operation.name()
        )));
    };
    if !operation.has_size() || sizes.len() == 1 {
        return Ok(());
    }
    let kib = amount.mean_kib();
    if (least.kib * (1.0 - ROUNDING)..=most.kib * (1.0 + ROUNDING)).contains(&kib) {
        return Ok(());
    }
    Err(PlanError::OutOfRange(format!(
        "{} of {kib:.2} KiB; calibrated were {} to {} KiB",
        operation.name(),
        least.kib,
        most.kib
    )))
}

/// Half of the values are within the interval that scales draws.
const HALF: f64 = 0.5;
/// A draw is never further out: the tails of t with few sessions have no mean.
const CERTAINTY: f64 = 0.005;
/// Sums of sizes are rounded.
const ROUNDING: f64 = 1e-6;
