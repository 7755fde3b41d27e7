//! DATEFROMPARTS and similar functions.

use crate::{
    DataType, Date, DateTime2, DateTimeOffset, TimeOfDay, Value,
    dates::{
        DateError,
        ticks::{DateTimeMinutes, DateTimeTicks},
        time_of_day::{UNITS_PER_SECOND, unit_of_scale},
    },
};

/// Year, month and day as arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CivilParts {
    /// 1 to 9999.
    pub year: i32,
    /// 1 to 12.
    pub month: i32,
    /// 1 to 31.
    pub day: i32,
}

/// Hour, minute, second and fraction as arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClockParts {
    /// 0 to 23.
    pub hour: i32,
    /// 0 to 59.
    pub minute: i32,
    /// 0 to 59.
    pub second: i32,
    /// In units of the last of `scale` digits: 5 with scale 1 is half a second.
    pub fraction: i32,
    /// The number of fractional second digits of the result: 0 to 7.
    pub scale: i32,
}

/// DATEFROMPARTS.
///
/// Errors: 289.
pub fn date_from_parts(day: CivilParts) -> Result<Value, DateError> {
    date_of(day)
        .map(Value::Date)
        .ok_or(DateError::Parts { to: DataType::Date })
}

/// TIMEFROMPARTS, with result type time(scale).
///
/// Errors: 289; 10760 for an invalid scale.
pub fn time_from_parts(clock: ClockParts) -> Result<Value, DateError> {
    let to = DataType::Time(scale_of(&clock, DataType::Time(7))?);
    time_of(clock).map(Value::Time).ok_or(DateError::Parts { to })
}

/// DATETIMEFROMPARTS: `fraction` is in milliseconds, and `scale` is ignored.
///
/// Errors: 289.
pub fn datetime_from_parts(day: CivilParts, clock: ClockParts) -> Result<Value, DateError> {
    let moment = date_of(day).zip(time_of(ClockParts { scale: 3, ..clock }));
    moment
        .and_then(|(date, time)| DateTimeTicks::nearest(DateTime2 { date, time }))
        .and_then(DateTimeTicks::date_time)
        .map(Value::DateTime)
        .ok_or(DateError::Parts { to: DataType::DateTime })
}

/// SMALLDATETIMEFROMPARTS.
///
/// Errors: 289.
pub fn smalldatetime_from_parts(day: CivilParts, hour: i32, minute: i32) -> Result<Value, DateError> {
    let clock = ClockParts {
        hour,
        minute,
        second: 0,
        fraction: 0,
        scale: 0,
    };
    date_of(day)
        .zip(time_of(clock))
        .and_then(|(date, time)| DateTimeMinutes::nearest(DateTime2 { date, time }))
        .and_then(DateTimeMinutes::date_time)
        .map(Value::DateTime)
        .ok_or(DateError::Parts {
            to: DataType::SmallDateTime,
        })
}

/// DATETIME2FROMPARTS, with result type datetime2(scale).
///
/// Errors: 289; 10760 for an invalid scale.
pub fn datetime2_from_parts(day: CivilParts, clock: ClockParts) -> Result<Value, DateError> {
    let to = DataType::DateTime2(scale_of(&clock, DataType::DateTime2(7))?);
    let moment = date_of(day)
        .zip(time_of(clock))
        .map(|(date, time)| DateTime2 { date, time });
    moment.map(Value::DateTime).ok_or(DateError::Parts { to })
}

/// DATETIMEOFFSETFROMPARTS, with result type datetimeoffset(scale); the hours and minutes of the offset have the same
/// sign.
///
/// Errors: 289; 10760 for an invalid scale.
pub fn datetimeoffset_from_parts(
    day: CivilParts,
    clock: ClockParts,
    offset_hours: i32,
    offset_minutes: i32,
) -> Result<Value, DateError> {
    let to = DataType::DateTimeOffset(scale_of(&clock, DataType::DateTimeOffset(7))?);
    let moment = date_of(day)
        .zip(time_of(clock))
        .map(|(date, time)| DateTime2 { date, time });
    moment
        .zip(offset_of(offset_hours, offset_minutes))
        .and_then(|(local, offset)| DateTimeOffset::from_local(local, offset))
        .map(Value::DateTimeOffset)
        .ok_or(DateError::Parts { to })
}

fn date_of(day: CivilParts) -> Option<Date> {
    Date::from_civil(day.year, day.month, day.day)
}

fn time_of(clock: ClockParts) -> Option<TimeOfDay> {
    let scale = u8::try_from(clock.scale).ok()?;
    let units = u64::try_from(clock.fraction).ok()?.checked_mul(unit_of_scale(scale))?;
    if units >= UNITS_PER_SECOND {
        return None;
    }
    let part = |number: i32| u32::try_from(number).ok();
    TimeOfDay::from_clock(
        part(clock.hour)?,
        part(clock.minute)?,
        part(clock.second)?,
        u32::try_from(units).ok()?,
    )
}

fn offset_of(hours: i32, minutes: i32) -> Option<i16> {
    let same_sign = hours.signum() * minutes.signum() >= 0;
    if !same_sign || hours.unsigned_abs() > 14 || minutes.unsigned_abs() > 59 {
        return None;
    }
    i16::try_from(hours * 60 + minutes).ok()
}

fn scale_of(clock: &ClockParts, to: DataType) -> Result<u8, DateError> {
    u8::try_from(clock.scale)
        .ok()
        .filter(|scale| *scale <= 7)
        .ok_or(DateError::Scale { to })
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: CivilParts = CivilParts {
        year: 2010,
        month: 12,
        day: 31,
    };

    fn clock(hour: i32, minute: i32, second: i32, fraction: i32, scale: i32) -> ClockParts {
        ClockParts {
            hour,
            minute,
            second,
            fraction,
            scale,
        }
    }

    #[test]
    fn valid_parts_make_a_value() {
        assert_eq!(
            date_from_parts(DAY),
            Ok(Value::Date(Date::from_civil(2010, 12, 31).unwrap()))
        );
        let half = TimeOfDay::from_clock(14, 23, 44, 5_000_000).unwrap();
        for (fraction, scale) in [(5, 1), (50, 2), (500, 3), (5_000_000, 7)] {
            assert_eq!(
                time_from_parts(clock(14, 23, 44, fraction, scale)),
                Ok(Value::Time(half))
            );
        }
        assert_eq!(
            datetime2_from_parts(DAY, clock(23, 59, 59, 0, 0)),
            Ok(Value::DateTime(DateTime2 {
                date: Date::from_civil(2010, 12, 31).unwrap(),
                time: TimeOfDay::from_clock(23, 59, 59, 0).unwrap()
            }))
        );
        let Ok(Value::DateTimeOffset(moment)) = datetimeoffset_from_parts(DAY, clock(14, 23, 23, 0, 7), 12, 0) else {
            panic!("no moment")
        };
        assert_eq!((moment.offset_minutes, moment.local().time.hour()), (720, 14));
    }

    #[test]
    fn a_datetime_of_parts_is_rounded_to_its_ticks() {
        let next = DateTime2::at_midnight(Date::from_civil(2011, 1, 1).unwrap());
        assert_eq!(
            datetime_from_parts(DAY, clock(23, 59, 59, 999, 0)),
            Ok(Value::DateTime(next))
        );
        let last = CivilParts { year: 9999, ..DAY };
        let error = datetime_from_parts(last, clock(23, 59, 59, 999, 0)).unwrap_err();
        assert_eq!((error.number(), error.state()), (289, 3));
    }

    #[test]
    fn invalid_parts_are_error_289() {
        let error = date_from_parts(CivilParts { month: 2, ..DAY }).unwrap_err();
        assert_eq!(
            error.to_string(),
            "Cannot construct data type date, some of the arguments have values which are not valid."
        );
        let zero = clock(0, 0, 0, 0, 0);
        let failing = [
            time_from_parts(clock(24, 0, 0, 0, 0)),
            time_from_parts(clock(0, -1, 0, 0, 0)),
            time_from_parts(clock(0, 0, 0, 1, 0)),
            time_from_parts(clock(0, 0, 0, 10, 1)),
            time_from_parts(clock(0, 0, 0, i32::MAX, 7)),
            smalldatetime_from_parts(DAY, i32::MAX, i32::MAX),
            smalldatetime_from_parts(CivilParts { year: 1899, ..DAY }, 0, 0),
            smalldatetime_from_parts(CivilParts { year: 2079, ..DAY }, 0, 0),
            datetime_from_parts(CivilParts { year: 1752, ..DAY }, zero),
            datetime2_from_parts(CivilParts { year: 0, ..DAY }, zero),
            datetimeoffset_from_parts(DAY, zero, 14, 1),
            datetimeoffset_from_parts(DAY, zero, 1, -30),
            datetimeoffset_from_parts(DAY, zero, 0, 60),
            datetimeoffset_from_parts(DAY, zero, i32::MAX, i32::MAX),
            datetimeoffset_from_parts(
                CivilParts {
                    year: 1,
                    month: 1,
                    day: 1,
                },
                zero,
                1,
                0,
            ),
        ];
        for result in failing {
            assert_eq!(result.clone().map_err(|error| error.number()), Err(289), "{result:?}");
        }
        assert_eq!(time_from_parts(clock(0, 0, 0, 0, 8)).unwrap_err().number(), 10760);
        assert_eq!(time_from_parts(clock(0, 0, 0, 0, -1)).unwrap_err().number(), 10760);
    }
}
