//! DATEDIFF and DATEDIFF_BIG.

use crate::{
    DataType, DateTime2, Value,
    dates::{DateError, DatePart, clock_reading::ClockReading, time_of_day::UNITS_PER_SECOND},
};

/// DATEDIFF: the number of boundaries of a part between `start` and `end`, each with its type; `None` if either is
/// NULL.
///
/// Values with an offset are compared in UTC; weeks begin on Sunday regardless of DATEFIRST. The caller converts text
/// to datetime2.
///
/// Errors: 535 outside of int, 9806 for tzoffset and iso_week, 8116 if a value is not a date or time.
pub fn date_diff(
    part: DatePart,
    start: (&Value, &DataType),
    end: (&Value, &DataType),
) -> Result<Option<i32>, DateError> {
    let function = "datediff";
    let Some(count) = boundaries(part, start, end, function)? else {
        return Ok(None);
    };
    i32::try_from(count)
        .map(Some)
        .map_err(|_| DateError::DiffOverflow { function })
}

/// DATEDIFF_BIG: like [`date_diff`], with a bigint result.
///
/// Errors: 535 outside of bigint, otherwise those of [`date_diff`].
pub fn date_diff_big(
    part: DatePart,
    start: (&Value, &DataType),
    end: (&Value, &DataType),
) -> Result<Option<i64>, DateError> {
    let function = "datediff_big";
    let Some(count) = boundaries(part, start, end, function)? else {
        return Ok(None);
    };
    i64::try_from(count)
        .map(Some)
        .map_err(|_| DateError::DiffOverflow { function })
}

fn boundaries(
    part: DatePart,
    start: (&Value, &DataType),
    end: (&Value, &DataType),
    function: &'static str,
) -> Result<Option<i128>, DateError> {
    if matches!(part, DatePart::TzOffset | DatePart::IsoWeek) {
        return Err(DateError::NoPart { part, function });
    }
    let start = ClockReading::of(start.0, start.1, 2, function)?;
    let end = ClockReading::of(end.0, end.1, 3, function)?;
    Ok(start
        .zip(end)
        .map(|(start, end)| index_of(part, &end) - index_of(part, &start)))
}

/// The number of boundaries of `part` between a fixed origin and the value.
fn index_of(part: DatePart, reading: &ClockReading) -> i128 {
    let date = reading.instant.date;
    match part {
        DatePart::Year => i128::from(date.year()),
        DatePart::Quarter => i128::from(date.year()) * 4 + i128::from((date.month() - 1) / 3),
        DatePart::Month => i128::from(date.year()) * 12 + i128::from(date.month() - 1),
        DatePart::DayOfYear | DatePart::Day | DatePart::Weekday => i128::from(date.0),
        // 0001-01-01 is a Monday: one day after the week's boundary on Sunday.
        DatePart::Week | DatePart::IsoWeek => i128::from((date.0.saturating_add(1)) / 7),
        DatePart::Hour => units_over(reading.instant, UNITS_PER_SECOND * 3600),
        DatePart::Minute => units_over(reading.instant, UNITS_PER_SECOND * 60),
        DatePart::Second => units_over(reading.instant, UNITS_PER_SECOND),
        DatePart::Millisecond => units_over(reading.instant, UNITS_PER_SECOND / 1000),
        DatePart::Microsecond => units_over(reading.exact_instant, 10),
        DatePart::Nanosecond => i128::from(reading.exact_instant.units()) * 100,
        DatePart::TzOffset => 0,
    }
}

fn units_over(moment: DateTime2, step: u64) -> i128 {
    i128::from(moment.units()) / i128::from(step)
}

#[cfg(test)]
mod tests;
