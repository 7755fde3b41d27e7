//! `+` and `-` of datetime and smalldatetime, as durations since 1900.

use super::OperationError;
use crate::dates::TICKS_PER_DAY;
use crate::{DataType, DateTime2, DateTimeTicks};

/// The sum of two durations since 1900 as the type `result`: datetime or smalldatetime.
pub(super) fn add(left: DateTime2, right: DateTime2, result: &DataType) -> Result<DateTime2, OperationError> {
    combined(left, right, result, i64::checked_add)
}

/// The difference of two durations since 1900.
pub(super) fn subtract(left: DateTime2, right: DateTime2, result: &DataType) -> Result<DateTime2, OperationError> {
    combined(left, right, result, i64::checked_sub)
}

fn combined(
    left: DateTime2,
    right: DateTime2,
    result: &DataType,
    combine: fn(i64, i64) -> Option<i64>,
) -> Result<DateTime2, OperationError> {
    ticks(left)
        .zip(ticks(right))
        .and_then(|(left, right)| combine(left, right))
        .and_then(|sum| moment(sum, *result == DataType::SmallDateTime))
        .ok_or(OperationError::Overflow { to: *result })
}

/// Ticks (1/300 second) since 1900.
fn ticks(moment: DateTime2) -> Option<i64> {
    let DateTimeTicks { days, ticks } = DateTimeTicks::nearest(moment)?;
    Some(i64::from(days) * i64::from(TICKS_PER_DAY) + i64::from(ticks))
}

/// The date and time `ticks` after 1900; `None` outside of the type's range.
fn moment(ticks: i64, is_small: bool) -> Option<DateTime2> {
    let day = i64::from(TICKS_PER_DAY);
    let days = i32::try_from(ticks.div_euclid(day)).ok()?;
    let ticks = u32::try_from(ticks.rem_euclid(day)).ok()?;
    if is_small && !SMALL_DAYS.contains(&days) {
        return None;
    }
    DateTimeTicks { days, ticks }.date_time()
}

/// The days of smalldatetime since 1900: up to 2079-06-06.
const SMALL_DAYS: std::ops::RangeInclusive<i32> = 0..=65_535;
