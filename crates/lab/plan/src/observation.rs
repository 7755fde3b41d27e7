//! What a production system does: rates without contents.

use serde::{Deserialize, Serialize};

use crate::PlanError;
use crate::operation::Load;

/// The system that was observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Engine {
    /// An application with SQLite, by the counters of the extension.
    Sqlite,
    /// SQL Server.
    SqlServer,
    /// MariaDB or MySQL with InnoDB.
    MariaDb,
    /// PostgreSQL.
    PostgreSql,
    /// Numbers by hand.
    ByHand,
}

impl Engine {
    /// Its name for people.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "SQLite",
            Self::SqlServer => "SQL Server",
            Self::MariaDb => "MariaDB",
            Self::PostgreSql => "PostgreSQL",
            Self::ByHand => "numbers by hand",
        }
    }

    /// Whether it is the engine whose coefficients were measured.
    #[must_use]
    pub fn is_calibrated(self) -> bool {
        matches!(self, Self::Sqlite)
    }
}

/// The counts between two snapshots.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ObservedInterval {
    /// Its length.
    pub seconds: f64,
    /// What was done in it.
    pub load: Load,
    /// Statements, batches or transactions that clients sent in it, if it is known.
    #[serde(default)]
    pub requests: Option<f64>,
    /// CPU seconds that the system used in it, if they are known.
    #[serde(default)]
    pub cpu_seconds: Option<f64>,
}

/// The load of a production system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Observation {
    /// The system.
    pub engine: Engine,
    /// Where it comes from and what was assumed, for people.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Bytes of a page.
    pub page_size: u32,
    /// Cores of the machine that was observed.
    #[serde(default)]
    pub cores: Option<f64>,
    /// MiB of the database, if they are known.
    #[serde(default)]
    pub database_mib: Option<f64>,
    /// The share of the time in which the section that serializes commits is held, between 0 and 1.
    #[serde(default)]
    pub serialized_share: Option<f64>,
    /// At least one.
    pub intervals: Vec<ObservedInterval>,
}

impl Observation {
    /// Refuses impossible values.
    ///
    /// # Errors
    /// [`PlanError::Input`].
    pub fn check(&self) -> Result<(), PlanError> {
        self.check_for(self.cores)
    }

    /// As [`Observation::check`], where the CPU time may be that of any machine if `cores` is none.
    pub(crate) fn check_for(&self, cores: Option<f64>) -> Result<(), PlanError> {
        let refuse = |place: &str, reason: String| Err(PlanError::input(place, reason));
        if self.intervals.is_empty() {
            return refuse("observation", "it has no interval: two snapshots are needed".to_owned());
        }
        if !self.page_size.is_power_of_two() || !(512..=65_536).contains(&self.page_size) {
            return refuse(
                "page size",
                format!("{} is not a power of two from 512 to 65536", self.page_size),
            );
        }
        if self.cores.is_some_and(|cores| !(cores > 0.0 && cores <= CORES_MAX)) {
            return refuse("cores", format!("{:?} is not between 0 and {CORES_MAX}", self.cores));
        }
        let shares = 0.0..=if cores.is_some() { 1.0 } else { f64::MAX };
        if self.serialized_share.is_some_and(|share| !shares.contains(&share)) {
            return refuse("serialized share", "it is a share between 0 and 1".to_owned());
        }
        if self.database_mib.is_some_and(|mib| !is_amount(mib)) {
            return refuse("database size", "it is not a number of MiB".to_owned());
        }
        for interval in &self.intervals {
            interval.check(cores)?;
        }
        Ok(())
    }

    /// The same with at most [`INTERVALS_MAX`] intervals: neighbours are taken together.
    #[must_use]
    pub fn coalesced(mut self) -> Self {
        let group = self.intervals.len().div_ceil(INTERVALS_MAX).max(1);
        self.intervals = self.intervals.chunks(group).map(ObservedInterval::together).collect();
        self
    }

    /// Seconds of all intervals.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.intervals.iter().map(|interval| interval.seconds).sum()
    }

    /// The mean load of a second.
    #[must_use]
    pub fn load_per_second(&self) -> Load {
        let mut sum = Load::default();
        for interval in &self.intervals {
            for (operation, amount) in &interval.load.0 {
                sum.add(*operation, *amount);
            }
        }
        sum.scaled(1.0 / self.seconds())
    }

    /// Requests in a second, if all intervals know them.
    #[must_use]
    pub fn requests_per_second(&self) -> Option<f64> {
        let requests: Option<f64> = self.intervals.iter().map(|interval| interval.requests).sum();
        Some(requests? / self.seconds())
    }

    /// Cores that are busy on average, if all intervals know their CPU time.
    #[must_use]
    pub fn busy_cores(&self) -> Option<f64> {
        let cpu: Option<f64> = self.intervals.iter().map(|interval| interval.cpu_seconds).sum();
        Some(cpu? / self.seconds())
    }
}

impl ObservedInterval {
    fn together(intervals: &[Self]) -> Self {
        let mut load = Load::default();
        for (operation, amount) in intervals.iter().flat_map(|interval| &interval.load.0) {
            load.add(*operation, *amount);
        }
        Self {
            seconds: intervals.iter().map(|interval| interval.seconds).sum(),
            load,
            requests: intervals.iter().map(|interval| interval.requests).sum(),
            cpu_seconds: intervals.iter().map(|interval| interval.cpu_seconds).sum(),
        }
    }

    fn check(&self, cores: Option<f64>) -> Result<(), PlanError> {
        if !(SECONDS_MIN..=SECONDS_MAX).contains(&self.seconds) {
            return Err(PlanError::input(
                "interval",
                format!("{} s: an interval has {SECONDS_MIN} s to a year", self.seconds),
            ));
        }
        for (operation, amount) in &self.load.0 {
            if !is_amount(amount.count) || !is_amount(amount.kib) || amount.count == 0.0 && amount.kib > 0.0 {
                return Err(PlanError::input(
                    operation.name(),
                    format!("{} of {} KiB in an interval is no amount", amount.count, amount.kib),
                ));
            }
        }
        if self.requests.is_some_and(|count| !is_amount(count)) {
            return Err(PlanError::input("requests", "not a number of requests"));
        }
        let Some(cpu) = self.cpu_seconds else { return Ok(()) };
        if !is_amount(cpu) {
            return Err(PlanError::input("CPU time", "not a number of seconds"));
        }
        match cores {
            // A sample may end a little late.
            Some(cores) if cpu > self.seconds * cores * 1.05 => Err(PlanError::input(
                "CPU time",
                format!(
                    "{cpu:.1} CPU seconds in {:.1} s are more than {cores} cores have",
                    self.seconds
                ),
            )),
            Some(_) | None => Ok(()),
        }
    }
}

fn is_amount(value: f64) -> bool {
    (0.0..=AMOUNT_MAX).contains(&value)
}

/// Every draw of a prediction visits all intervals. A week in intervals of ten minutes.
pub const INTERVALS_MAX: usize = 1000;
/// More than any machine has; a larger number has another unit.
pub const CORES_MAX: f64 = 4096.0;
/// More than any machine counts in a year; sums of them are finite.
const AMOUNT_MAX: f64 = 1e18;
/// A block of the lab may be as short.
const SECONDS_MIN: f64 = 1e-4;
/// A year.
const SECONDS_MAX: f64 = 366.0 * 86_400.0;
