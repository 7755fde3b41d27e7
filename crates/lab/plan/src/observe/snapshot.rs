//! Snapshots of counters, and the differences between them.

use crate::bounds::{CORES_MAX, check_cores};
use crate::observation::ObservedInterval;
use crate::operation::{Amount, KIB, Load, Operation};
use crate::{Observation, PlanError};

/// One text of a monitoring tool: a file, for example.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SnapshotText<'a> {
    /// What errors call it: the name of its file.
    pub name: &'a str,
    /// Its content.
    pub text: &'a str,
}

/// Facts of the observed system that its snapshots may not contain. Each takes precedence over the snapshots.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Supplement {
    /// Cores of the machine.
    pub cores: Option<f64>,
    /// Cores that the system keeps busy on average.
    pub busy_cores: Option<f64>,
    /// MiB of the database.
    pub database_mib: Option<f64>,
}

impl Supplement {
    /// Enters the facts into an observation, and checks it.
    pub(super) fn complete(&self, mut observation: Observation) -> Result<Observation, PlanError> {
        if let Some(cores) = self.cores {
            check_cores("--cores", cores)?;
        }
        observation.cores = self.cores.or(observation.cores);
        observation.database_mib = self.database_mib.or(observation.database_mib);
        if let Some(busy) = self.busy_cores {
            check_busy(busy, observation.cores)?;
            for interval in &mut observation.intervals {
                interval.cpu_seconds = Some(busy * interval.seconds);
            }
        }
        observation.check()?;
        Ok(observation)
    }
}

/// Refuses more busy cores than there are.
pub(super) fn check_busy(busy: f64, cores: Option<f64>) -> Result<(), PlanError> {
    let most = cores.unwrap_or(CORES_MAX);
    match (0.0..=most).contains(&busy) {
        true => Ok(()),
        false => Err(PlanError::input(
            "--busy-cores",
            format!("{busy} is not between 0 and the {most} cores of the machine"),
        )),
    }
}

/// The intervals between successive snapshots. An error says where the later one is.
pub(super) fn intervals<S>(
    snapshots: &[S],
    place_of: impl Fn(&S) -> String,
    mut between: impl FnMut(&S, &S) -> Result<ObservedInterval, PlanError>,
) -> Result<Vec<ObservedInterval>, PlanError> {
    let mut found = Vec::new();
    for pair in snapshots.windows(2) {
        if let [before, after] = pair {
            let place = place_of(after);
            let interval = between(before, after).map_err(|error| error.at(&place))?;
            interval.check(&place, None)?;
            found.push(interval);
        }
    }
    Ok(found)
}

/// The increase of a counter.
///
/// # Errors
/// [`PlanError::Reset`] where it is lower than before, without its place.
pub(super) fn increase(counter: &str, before: u64, after: u64) -> Result<f64, PlanError> {
    match after.checked_sub(before) {
        Some(difference) => Ok(difference as f64),
        None => Err(reset(counter)),
    }
}

/// A reset without its place: see [`intervals`].
pub(super) fn reset(counter: &str) -> PlanError {
    PlanError::Reset {
        place: String::new(),
        counter: counter.to_owned(),
    }
}

/// Seconds between two moments in seconds.
///
/// # Errors
/// [`PlanError::Input`] where the later one is not later.
pub(super) fn seconds_between(place: &str, before: f64, after: f64) -> Result<f64, PlanError> {
    if after > before {
        return Ok(after - before);
    }
    let reason = if after < before {
        "it is older than the snapshot before it: snapshots must be in order of time"
    } else {
        "it is of the same moment as the snapshot before it"
    };
    Err(PlanError::input(place, reason))
}

/// Refuses less than two snapshots, which have no interval.
pub(super) fn check_count(count: usize, what: &str) -> Result<(), PlanError> {
    if count < 2 {
        let reason = format!("{count} found; two are needed, some time apart");
        return Err(PlanError::input(what, reason));
    }
    Ok(())
}

/// Refuses two snapshots with different values of a property that a server keeps.
pub(super) fn check_same(place: &str, property: &str, before: &str, after: &str) -> Result<(), PlanError> {
    if before == after {
        return Ok(());
    }
    let reason = format!("{property} is {after:?}, and was {before:?}: the snapshots are of different servers");
    Err(PlanError::input(place, reason))
}

/// A load under construction, from counts and bytes.
#[derive(Default)]
pub(super) struct LoadBuilder(Load);

impl LoadBuilder {
    /// So many pages.
    pub(super) fn pages(&mut self, operation: Operation, count: f64, page_size: f64) {
        self.bytes(operation, count, count * page_size);
    }

    /// So many operations, with so many bytes in all of them.
    pub(super) fn bytes(&mut self, operation: Operation, count: f64, bytes: f64) {
        let kib = bytes / KIB;
        self.0.add(operation, Amount { count, kib });
    }

    /// So many operations without a size.
    pub(super) fn count(&mut self, operation: Operation, count: f64) {
        self.0.add(operation, Amount::of(count));
    }

    pub(super) fn finish(self) -> Load {
        self.0
    }
}

/// Bytes of a MiB.
pub(super) const MIB: f64 = 1_048_576.0;
