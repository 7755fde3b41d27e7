//! What no machine does: a number beyond it has another unit, or was made up.

use crate::PlanError;

/// Refuses more operations or bytes in a second than any machine has.
///
/// # Errors
/// [`PlanError::Input`] with the reason.
pub(crate) fn check_rate(place: &str, count: f64, bytes: f64) -> Result<(), PlanError> {
    if !(0.0..=COUNT_MAX).contains(&count) {
        let reason = format!("{count} a second: no machine does more than {COUNT_MAX:e}; is the unit right?");
        return Err(PlanError::input(place, reason));
    }
    if !(0.0..=BYTES_MAX).contains(&bytes) {
        let reason = format!("{bytes} bytes a second: no machine moves more than {BYTES_MAX:e}; is the unit right?");
        return Err(PlanError::input(place, reason));
    }
    Ok(())
}

/// Refuses what is no number of cores of a machine.
///
/// # Errors
/// [`PlanError::Input`] with the reason.
pub(crate) fn check_cores(place: &str, cores: f64) -> Result<(), PlanError> {
    match cores > 0.0 && cores <= CORES_MAX {
        true => Ok(()),
        false => Err(PlanError::input(
            place,
            format!("{cores} is not between 0 and {CORES_MAX}"),
        )),
    }
}

/// Refuses what is no size of a database.
///
/// # Errors
/// [`PlanError::Input`] with the reason.
pub(crate) fn check_database(place: &str, bytes: f64) -> Result<(), PlanError> {
    match (0.0..=DATABASE_MAX).contains(&bytes) {
        true => Ok(()),
        false => {
            let reason = format!("{bytes} bytes: no database has more than {DATABASE_MAX:e}; is the unit right?");
            Err(PlanError::input(place, reason))
        }
    }
}

/// More than any machine has; a larger number has another unit.
pub(crate) const CORES_MAX: f64 = 4096.0;
/// A thousand disks that do a million operations a second each; the same for messages and requests.
const COUNT_MAX: f64 = 1e9;
/// 10 TB: the memory of the largest servers moves less.
const BYTES_MAX: f64 = 1e13;
/// An exabyte: twice the largest database of SQL Server (524,272 TB).
const DATABASE_MAX: f64 = 1e18;
