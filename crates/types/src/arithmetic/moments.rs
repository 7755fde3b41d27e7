//! datetime and smalldatetime with `+` and `-`: each counts as what has passed since 1900.

use super::OperationError;
use crate::{DataType, Date, DateTime2, TimeOfDay};

/// The sum of what has passed since 1900, as `result`: datetime or smalldatetime.
pub(super) fn add(left: DateTime2, right: DateTime2, result: &DataType) -> Result<DateTime2, OperationError> {
    moment(ticks(left) + ticks(right), result)
}

/// The difference, counted from 1900.
pub(super) fn subtract(left: DateTime2, right: DateTime2, result: &DataType) -> Result<DateTime2, OperationError> {
    moment(ticks(left) - ticks(right), result)
}

/// Three-hundredths of a second since 1900.
fn ticks(moment: DateTime2) -> i64 {
    let days = i64::from(moment.date.0) - DAYS_TO_1900;
    let units = i64::try_from(moment.time.0).unwrap_or(i64::MAX / 4);
    days * TICKS_PER_DAY + (units * 3 + UNITS_PER_THREE_TICKS / 2) / UNITS_PER_THREE_TICKS
}

/// The moment so many ticks after 1900, if the type has it.
fn moment(ticks: i64, result: &DataType) -> Result<DateTime2, OperationError> {
    let overflow = || OperationError::Overflow { to: *result };
    let (day, within) = (ticks.div_euclid(TICKS_PER_DAY), ticks.rem_euclid(TICKS_PER_DAY));
    let range = if *result == DataType::SmallDateTime {
        SMALL_DAYS
    } else {
        DAYS
    };
    if !range.contains(&day) {
        return Err(overflow());
    }
    let date = u32::try_from(day + DAYS_TO_1900).map_err(|_| overflow())?;
    // The thousandth that SQL Server shows for a tick: a tick is 10/3 of one.
    let thousandths = u64::try_from((within * 10 + 1) / 3).map_err(|_| overflow())?;
    Ok(DateTime2 {
        date: Date(date),
        time: TimeOfDay(thousandths * UNITS_PER_THOUSANDTH),
    })
}

/// From 0001-01-01 to 1900-01-01.
const DAYS_TO_1900: i64 = 693_595;

/// Days of datetime from 1900 on: 1753-01-01 to 9999-12-31.
const DAYS: std::ops::RangeInclusive<i64> = -53_690..=2_958_463;

/// Days of smalldatetime from 1900 on: to 2079-06-06.
const SMALL_DAYS: std::ops::RangeInclusive<i64> = 0..=65_535;

const TICKS_PER_DAY: i64 = 300 * 86_400;

/// Of 100 ns each, in a hundredth of a second.
const UNITS_PER_THREE_TICKS: i64 = 100_000;

/// Of 100 ns each, in a thousandth of a second.
const UNITS_PER_THOUSANDTH: u64 = 10_000;
