//! DATETRUNC and DATE_BUCKET.

use crate::{
    DataType, Date, DateTime2, DateTimeOffset, TimeOfDay, Value,
    dates::{
        DateError, DateFirst, DatePart,
        moment_type::MomentType,
        ticks::{DateTimeMinutes, DateTimeTicks},
        time_of_day::{UNITS_PER_DAY, UNITS_PER_SECOND},
    },
};

/// DATETRUNC: `value` of type `of` at the beginning of its part; NULL remains NULL.
///
/// Errors: 9806 for a part that no type has, 9810 for one that the type does not have, 9837 for a week that begins before
/// the calendar, 8116 if it is not a date or time.
pub fn date_trunc(part: DatePart, value: &Value, of: &DataType, first: DateFirst) -> Result<Value, DateError> {
    let function = "datetrunc";
    if matches!(part, DatePart::Weekday | DatePart::TzOffset | DatePart::Nanosecond) {
        return Err(DateError::NoPart { part, function });
    }
    let needed_scale = match part {
        DatePart::Millisecond => 3,
        DatePart::Microsecond => 6,
        DatePart::Year
        | DatePart::Quarter
        | DatePart::Month
        | DatePart::DayOfYear
        | DatePart::Day
        | DatePart::Week
        | DatePart::Weekday
        | DatePart::Hour
        | DatePart::Minute
        | DatePart::Second
        | DatePart::Nanosecond
        | DatePart::TzOffset
        | DatePart::IsoWeek => 0,
    };
    let scale = MomentType::of(of).map_or(7, MomentType::scale);
    if is_misfit(part, of) || needed_scale > scale {
        return Err(DateError::NoPartOfType {
            part,
            function,
            of: *of,
        });
    }
    let truncated = |moment: DateTime2| truncated(part, moment, first).ok_or(DateError::TooEarly);
    Ok(match value {
        Value::Null => Value::Null,
        Value::Date(date) => Value::Date(truncated(DateTime2::at_midnight(*date))?.date),
        Value::Time(time) => {
            let on_first = DateTime2 {
                date: Date::BASE,
                time: *time,
            };
            Value::Time(truncated(on_first)?.time)
        }
        Value::DateTime(moment) => Value::DateTime(of_type(truncated(*moment)?, of).ok_or(DateError::TooEarly)?),
        Value::DateTimeOffset(moment) => {
            let local = truncated(moment.local())?;
            let moment = DateTimeOffset::from_local(local, moment.offset_minutes);
            Value::DateTimeOffset(moment.ok_or(DateError::TooEarly)?)
        }
        Value::Bit(_)
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
                argument: 2,
                function,
            });
        }
    })
}

/// DATE_BUCKET: the beginning of the bucket of `number` parts that contains `value` of type `of`; buckets are counted
/// from `origin`, which has the same type.
///
/// Errors: 9806 and 9810 for the part, 9834 for a width that is not positive, 517 for a bucket outside of the calendar,
/// 8116 if it is not a date or time.
pub fn date_bucket(
    part: DatePart,
    number: i64,
    value: &Value,
    of: &DataType,
    origin: &Value,
) -> Result<Value, DateError> {
    let function = "date_bucket";
    let width = match part {
        DatePart::Year => Width::Months(12),
        DatePart::Quarter => Width::Months(3),
        DatePart::Month => Width::Months(1),
        DatePart::Week => Width::Units(i128::from(UNITS_PER_DAY) * 7),
        DatePart::Day => Width::Units(i128::from(UNITS_PER_DAY)),
        DatePart::Hour => Width::Units(i128::from(UNITS_PER_SECOND) * 3600),
        DatePart::Minute => Width::Units(i128::from(UNITS_PER_SECOND) * 60),
        DatePart::Second => Width::Units(i128::from(UNITS_PER_SECOND)),
        DatePart::Millisecond => Width::Units(i128::from(UNITS_PER_SECOND / 1000)),
        DatePart::DayOfYear
        | DatePart::Weekday
        | DatePart::Microsecond
        | DatePart::Nanosecond
        | DatePart::TzOffset
        | DatePart::IsoWeek => return Err(DateError::NoPart { part, function }),
    };
    if is_misfit(part, of) {
        return Err(DateError::NoPartOfType {
            part,
            function,
            of: *of,
        });
    }
    if number <= 0 {
        return Err(DateError::BucketWidth);
    }
    let overflow = || DateError::AddOverflow { of: *of };
    let (Some(moment), Some(origin)) = (moment_of(value), moment_of(origin)) else {
        return match *value == Value::Null || *origin == Value::Null {
            true => Ok(Value::Null),
            false => Err(DateError::Argument {
                of: *of,
                argument: 3,
                function,
            }),
        };
    };
    let start = width.start(number, moment, origin).ok_or_else(overflow)?;
    if matches!(value, Value::Date(_)) {
        return Ok(Value::Date(start.date));
    }
    if matches!(value, Value::Time(_)) {
        return Ok(Value::Time(start.time));
    }
    if let Value::DateTimeOffset(moment) = value {
        let moved = DateTimeOffset::from_local(start, moment.offset_minutes);
        return Ok(Value::DateTimeOffset(moved.ok_or_else(overflow)?));
    }
    Ok(Value::DateTime(of_type(start, of).ok_or_else(overflow)?))
}

/// The width of one part.
#[derive(Clone, Copy)]
enum Width {
    Months(i64),
    /// Units of 100 ns.
    Units(i128),
}

impl Width {
    /// The beginning of the bucket of `number` parts that contains `moment`.
    fn start(self, number: i64, moment: DateTime2, origin: DateTime2) -> Option<DateTime2> {
        match self {
            Self::Units(units) => {
                let width = units.checked_mul(i128::from(number))?;
                let distance = i128::from(moment.units()) - i128::from(origin.units());
                let count = distance.div_euclid(width);
                let start = i128::from(origin.units()) + count * width;
                DateTime2::from_units(i64::try_from(start).ok()?)
            }
            Self::Months(months) => {
                let width = months.checked_mul(number)?;
                let index = |moment: DateTime2| i64::from(moment.date.year()) * 12 + i64::from(moment.date.month());
                let mut count = (index(moment) - index(origin)).div_euclid(width);
                let at = |count: i64| {
                    let date = origin.date.checked_add_months(count.checked_mul(width)?)?;
                    Some(DateTime2 {
                        date,
                        time: origin.time,
                    })
                };
                if at(count).is_some_and(|start| start > moment) {
                    count -= 1;
                }
                at(count)
            }
        }
    }
}

/// The local moment of a date or time.
fn moment_of(value: &Value) -> Option<DateTime2> {
    if let Value::Date(date) = value {
        return Some(DateTime2::at_midnight(*date));
    }
    if let Value::Time(time) = value {
        return Some(DateTime2 {
            date: Date::BASE,
            time: *time,
        });
    }
    if let Value::DateTimeOffset(moment) = value {
        return Some(moment.local());
    }
    if let Value::DateTime(moment) = value {
        Some(*moment)
    } else {
        None
    }
}

/// Whether a part is a date's where there is a time only, or the other way around.
fn is_misfit(part: DatePart, of: &DataType) -> bool {
    match part {
        DatePart::Hour
        | DatePart::Minute
        | DatePart::Second
        | DatePart::Millisecond
        | DatePart::Microsecond
        | DatePart::Nanosecond => *of == DataType::Date,
        DatePart::Year
        | DatePart::Quarter
        | DatePart::Month
        | DatePart::DayOfYear
        | DatePart::Day
        | DatePart::Week
        | DatePart::Weekday
        | DatePart::TzOffset
        | DatePart::IsoWeek => matches!(of, DataType::Time(_)),
    }
}

/// The beginning of a part; `None` before the calendar.
fn truncated(part: DatePart, moment: DateTime2, first: DateFirst) -> Option<DateTime2> {
    let date = moment.date;
    let (year, month, _) = date.civil();
    let civil = |month: u32| Date::from_civil(year, i32::try_from(month).ok()?, 1);
    let day = match part {
        DatePart::Year => civil(1)?,
        DatePart::Quarter => civil((month - 1) / 3 * 3 + 1)?,
        DatePart::Month => civil(month)?,
        DatePart::Week => {
            let behind = (date.days_since_monday() + 8 - u32::from(first.number())) % 7;
            date.checked_add_days(-i64::from(behind))?
        }
        DatePart::IsoWeek => date.checked_add_days(-i64::from(date.days_since_monday()))?,
        DatePart::DayOfYear | DatePart::Day | DatePart::Weekday | DatePart::TzOffset => date,
        DatePart::Hour => return Some(within(moment, UNITS_PER_SECOND * 3600)),
        DatePart::Minute => return Some(within(moment, UNITS_PER_SECOND * 60)),
        DatePart::Second => return Some(within(moment, UNITS_PER_SECOND)),
        DatePart::Millisecond => return Some(within(moment, UNITS_PER_SECOND / 1000)),
        DatePart::Microsecond | DatePart::Nanosecond => return Some(within(moment, 10)),
    };
    Some(DateTime2::at_midnight(day))
}

fn within(moment: DateTime2, step: u64) -> DateTime2 {
    DateTime2 {
        date: moment.date,
        time: TimeOfDay(moment.time.0 / step * step),
    }
}

/// A moment as a value of its type; `None` outside of the type's range.
fn of_type(moment: DateTime2, of: &DataType) -> Option<DateTime2> {
    if *of == DataType::DateTime {
        return DateTimeTicks::nearest(moment)?.date_time();
    }
    if *of == DataType::SmallDateTime {
        return DateTimeMinutes::nearest(moment)?.date_time();
    }
    Some(moment)
}
