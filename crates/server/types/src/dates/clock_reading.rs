//! Decomposes a date or time value.

use crate::{
    DataType, Date, DateTime2, DateTimeOffset, TimeOfDay, Value,
    dates::{DateError, ticks::DateTimeTicks},
};

/// The local time, instant and offset of a date or time value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ClockReading {
    /// Local date and time; 1900-01-01 for a time, midnight for a date.
    pub local: DateTime2,
    /// Like `local`, but for a datetime to the nearest 100 ns.
    pub exact: DateTime2,
    /// The instant that DATEDIFF compares: in UTC if the value has an offset.
    pub instant: DateTime2,
    /// Like `instant`, but for a datetime to the nearest 100 ns.
    pub exact_instant: DateTime2,
    /// Minutes east of UTC; 0 for types without an offset.
    pub offset_minutes: i16,
}

impl ClockReading {
    /// Decomposes `value` of type `of`; `None` for NULL.
    ///
    /// Errors: 8116 with `argument` and `function` if it is not a date or time.
    pub fn of(value: &Value, of: &DataType, argument: u8, function: &'static str) -> Result<Option<Self>, DateError> {
        if *value == Value::Null {
            return Ok(None);
        }
        if let Value::DateTimeOffset(moment) = value {
            return Ok(Some(Self::of_offset(*moment)));
        }
        let local = plain(value).ok_or(DateError::Argument {
            of: *of,
            argument,
            function,
        })?;
        let exact = if *of == DataType::DateTime {
            exact_of_datetime(local)
        } else {
            local
        };
        Ok(Some(Self {
            local,
            exact,
            instant: local,
            exact_instant: exact,
            offset_minutes: 0,
        }))
    }

    fn of_offset(moment: DateTimeOffset) -> Self {
        let (local, instant) = (moment.local(), moment.utc);
        Self {
            local,
            exact: local,
            instant,
            exact_instant: instant,
            offset_minutes: moment.offset_minutes,
        }
    }
}

/// The exact tick of a datetime, which is stored in milliseconds, to the nearest 100 ns.
pub(crate) fn exact_of_datetime(moment: DateTime2) -> DateTime2 {
    DateTimeTicks::nearest(moment)
        .and_then(DateTimeTicks::exact)
        .unwrap_or(moment)
}

/// The date and time of a value without an offset.
fn plain(value: &Value) -> Option<DateTime2> {
    match value {
        Value::Date(date) => Some(DateTime2::at_midnight((*date).min(Date::MAX))),
        Value::Time(time) => Some(DateTime2 {
            date: Date::BASE,
            time: (*time).min(TimeOfDay::MAX),
        }),
        Value::DateTime(moment) => Some(*moment),
        Value::DateTimeOffset(_)
        | Value::Null
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
        | Value::SqlVariant(_) => None,
    }
}
