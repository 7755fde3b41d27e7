//! DATEADD and EOMONTH.

use crate::{
    DataType, Date, DateTime2, DateTimeOffset, TimeOfDay, Value,
    dates::{
        DateError, DatePart,
        moment_type::MomentType,
        ticks::{DateTimeMinutes, DateTimeTicks},
        time_of_day::UNITS_PER_DAY,
    },
};

/// DATEADD: adds `number` of a part to `value` of type `of`; NULL remains NULL.
///
/// The result has the same type and its rounding. A time wraps around at midnight. The caller converts the number to
/// int, and text to datetime2 or datetime.
///
/// Errors: 9810 if the type does not have the part, 517 if the result is out of range, 8116 if it is not a date or
/// time.
pub fn date_add(part: DatePart, number: i32, value: &Value, of: &DataType) -> Result<Value, DateError> {
    if *value == Value::Null {
        return Ok(Value::Null);
    }
    let step = Step::of(part, of)?;
    let number = i64::from(number);
    let overflow = DateError::AddOverflow { of: *of };
    let sum = match value {
        Value::Date(date) => step.add_to_date(*date, number).map(Value::Date),
        Value::Time(time) => Some(Value::Time(step.add_to_time(*time, number, scale_of(of)))),
        Value::DateTime(moment) => add_to_date_time(&step, *moment, number, of).map(Value::DateTime),
        Value::DateTimeOffset(moment) => {
            let local = step
                .add(moment.local(), number)
                .and_then(|local| local.rounded(scale_of(of)));
            local
                .and_then(|local| DateTimeOffset::from_local(local, moment.offset_minutes))
                .map(Value::DateTimeOffset)
        }
        Value::Null
        | Value::Bit(_)
        | Value::TinyInt(_)
        | Value::SmallInt(_)
        | Value::Int(_)
        | Value::BigInt(_)
        | Value::Decimal(_)
        | Value::Money(_)
        | Value::Real(_)
        | Value::Float(_)
        | Value::Text(_)
        | Value::Binary(_)
        | Value::Guid(_)
        | Value::SqlVariant(_) => {
            return Err(DateError::Argument {
                of: *of,
                argument: 3,
                function: FUNCTION,
            });
        }
    };
    sum.ok_or(overflow)
}

/// EOMONTH: the last day of the month `months` after that of `date`.
///
/// Errors: 517.
pub fn end_of_month(date: Date, months: i32) -> Result<Date, DateError> {
    let moved = date
        .checked_add_months(i64::from(months))
        .ok_or(DateError::AddOverflow { of: DataType::Date })?;
    Ok(moved.end_of_month())
}

/// The size of one unit of a part.
enum Step {
    Months(i64),
    Days(i64),
    /// A number of nanoseconds.
    Time(i128),
}

impl Step {
    /// The size of one unit of `part`, if type `of` supports it.
    fn of(part: DatePart, of: &DataType) -> Result<Self, DateError> {
        let refused = DateError::NoPartOfType {
            part,
            function: FUNCTION,
            of: *of,
        };
        let step = match part {
            DatePart::Year => Self::Months(12),
            DatePart::Quarter => Self::Months(3),
            DatePart::Month => Self::Months(1),
            DatePart::Week => Self::Days(7),
            DatePart::DayOfYear | DatePart::Day | DatePart::Weekday => Self::Days(1),
            DatePart::Hour => Self::Time(3_600_000_000_000),
            DatePart::Minute => Self::Time(60_000_000_000),
            DatePart::Second => Self::Time(1_000_000_000),
            DatePart::Millisecond => Self::Time(1_000_000),
            DatePart::Microsecond | DatePart::Nanosecond
                if matches!(of, DataType::DateTime | DataType::SmallDateTime) =>
            {
                return Err(refused);
            }
            DatePart::Microsecond => Self::Time(1_000),
            DatePart::Nanosecond => Self::Time(1),
            DatePart::TzOffset | DatePart::IsoWeek => return Err(refused),
        };
        let misfit = match step {
            Self::Months(_) | Self::Days(_) => matches!(of, DataType::Time(_)),
            Self::Time(_) => *of == DataType::Date,
        };
        if misfit { Err(refused) } else { Ok(step) }
    }

    fn add_to_date(&self, date: Date, number: i64) -> Option<Date> {
        match self {
            Self::Months(months) => date.checked_add_months(number * months),
            Self::Days(days) => date.checked_add_days(number * days),
            Self::Time(_) => None,
        }
    }

    /// The sum before rounding to the type's precision.
    fn add(&self, moment: DateTime2, number: i64) -> Option<DateTime2> {
        match self {
            Self::Months(_) | Self::Days(_) => Some(DateTime2 {
                date: self.add_to_date(moment.date, number)?,
                time: moment.time,
            }),
            Self::Time(nanoseconds) => {
                moment.checked_add_units(i64::try_from(units_of(i128::from(number) * nanoseconds)).ok()?)
            }
        }
    }

    fn add_to_time(&self, time: TimeOfDay, number: i64, scale: u8) -> TimeOfDay {
        let Self::Time(nanoseconds) = self else { return time };
        let day = i128::from(UNITS_PER_DAY);
        let sum = (i128::from(time.within()) + units_of(i128::from(number) * nanoseconds)).rem_euclid(day);
        TimeOfDay(u64::try_from(sum).unwrap_or(0)).rounded(scale).0
    }
}

/// Converts nanoseconds to units of 100 ns, rounding half up.
fn units_of(nanoseconds: i128) -> i128 {
    (nanoseconds + 50).div_euclid(100)
}

fn add_to_date_time(step: &Step, moment: DateTime2, number: i64, of: &DataType) -> Option<DateTime2> {
    if *of == DataType::DateTime {
        // Starts from the exact tick, because milliseconds would be rounded twice.
        let exact = DateTimeTicks::nearest(moment)?.exact()?;
        return DateTimeTicks::nearest(step.add(exact, number)?)?.date_time();
    }
    let sum = step.add(moment, number)?;
    if *of == DataType::SmallDateTime {
        return DateTimeMinutes::nearest(sum)?.date_time();
    }
    sum.rounded(scale_of(of))
}

/// The number of fractional second digits of a type.
fn scale_of(of: &DataType) -> u8 {
    MomentType::of(of).map_or(7, MomentType::scale)
}

const FUNCTION: &str = "dateadd";

#[cfg(test)]
mod tests;
