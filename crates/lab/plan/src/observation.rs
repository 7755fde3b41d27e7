//! What a production system does: rates without contents.

use serde::{Deserialize, Serialize};

use crate::PlanError;
use crate::bounds::{CORES_MAX, check_cores, check_database, check_rate};
use crate::operation::{Amount, KIB, Load, Operation};

/// The system that was observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Engine {
    /// An application with SQLite, by the counters of the extension.
    Sqlite,
    /// SQL Server.
    SqlServer,
    /// MariaDB or MySQL with InnoDB.
    #[serde(rename = "mariadb", alias = "maria-db")]
    MariaDb,
    /// PostgreSQL.
    #[serde(rename = "postgresql", alias = "postgre-sql")]
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
        if let Some(cores) = self.cores {
            check_cores("cores", cores)?;
        }
        let shares = 0.0..=if cores.is_some() { 1.0 } else { f64::MAX };
        if self.serialized_share.is_some_and(|share| !shares.contains(&share)) {
            return refuse("serialized share", "it is a share between 0 and 1".to_owned());
        }
        if let Some(mib) = self.database_mib {
            check_database("database size", mib * KIB * KIB)?;
        }
        for (index, interval) in self.intervals.iter().enumerate() {
            interval.check(&format!("interval {}", index + 1), cores)?;
        }
        let of_no_size = |(operation, amount): &(&Operation, &Amount)| {
            operation.has_size() && amount.count > 0.0 && amount.kib == 0.0
        };
        match self.load_per_second().0.iter().find(of_no_size) {
            Some((operation, _)) => refuse(operation.name(), "they have no bytes".to_owned()),
            None => Ok(()),
        }
    }

    /// Refuses an observation of a system that did nothing: it has no answer.
    ///
    /// # Errors
    /// [`PlanError::Input`].
    pub fn check_load(&self) -> Result<(), PlanError> {
        match self.load_per_second().is_zero() {
            true => Err(PlanError::input(
                "observation",
                "nothing was observed: no counter rose, so that there is nothing to predict from; observe the system \
                 while it works",
            )),
            false => Ok(()),
        }
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

    /// Refuses what no system does; `place` says which interval it is.
    pub(crate) fn check(&self, place: &str, cores: Option<f64>) -> Result<(), PlanError> {
        let at = |what: &str| format!("{place}, {what}");
        if !(SECONDS_MIN..=SECONDS_MAX).contains(&self.seconds) {
            let reason = format!("{} s: an interval has {SECONDS_MIN} s to a year", self.seconds);
            return Err(PlanError::input(place, reason));
        }
        for (operation, amount) in &self.load.0 {
            let (count, bytes) = (amount.count / self.seconds, amount.kib * KIB / self.seconds);
            check_rate(&at(operation.name()), count, bytes)?;
            if count == 0.0 && bytes > 0.0 {
                let reason = format!("{:.1} KiB of no operation", amount.kib);
                return Err(PlanError::input(at(operation.name()), reason));
            }
        }
        if let Some(requests) = self.requests {
            check_rate(&at("requests"), requests / self.seconds, 0.0)?;
        }
        // A sample may end a little late.
        let most = self.seconds * cores.unwrap_or(CORES_MAX) * 1.05;
        match self.cpu_seconds {
            Some(cpu) if !(0.0..=most).contains(&cpu) => {
                let (cores, seconds) = (cores.unwrap_or(CORES_MAX), self.seconds);
                let reason = format!("{cpu:.1} CPU seconds in {seconds:.1} s are more than {cores} cores have");
                Err(PlanError::input(at("CPU time"), reason))
            }
            Some(_) | None => Ok(()),
        }
    }
}

/// Every draw of a prediction visits all intervals. A week in intervals of ten minutes.
pub const INTERVALS_MAX: usize = 1000;
/// A block of the lab may be as short.
const SECONDS_MIN: f64 = 1e-4;
/// A year.
const SECONDS_MAX: f64 = 366.0 * 86_400.0;
