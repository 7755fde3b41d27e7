//! The current time, which the caller provides.

use crate::{
    Date, DateTime2, DateTimeOffset,
    dates::{offset::OFFSET_MINUTES_MAX, ticks::DateTimeTicks},
};

/// A clock reading with its time zone offset, from which GETDATE and similar functions are computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Moment {
    /// Nanoseconds since 1970-01-01 in UTC, up to the year 2554.
    pub unix_ns: u64,
    /// Minutes that local time is ahead of UTC, limited to fourteen hours.
    pub offset_minutes: i16,
}

impl Moment {
    /// SYSUTCDATETIME, of type datetime2(7).
    #[must_use]
    pub fn utc(self) -> DateTime2 {
        let units = i64::try_from(self.unix_ns / 100).unwrap_or(i64::MAX);
        DateTime2::at_midnight(UNIX_EPOCH)
            .checked_add_units(units)
            .unwrap_or(DateTime2::MAX)
    }

    /// SYSDATETIMEOFFSET, of type datetimeoffset(7).
    #[must_use]
    pub fn with_offset(self) -> DateTimeOffset {
        let offset_minutes = self.offset_minutes.clamp(-OFFSET_MINUTES_MAX, OFFSET_MINUTES_MAX);
        DateTimeOffset {
            utc: self.utc(),
            offset_minutes,
        }
    }

    /// SYSDATETIME, of type datetime2(7).
    #[must_use]
    pub fn local(self) -> DateTime2 {
        self.with_offset().local()
    }

    /// GETUTCDATE, of type datetime.
    #[must_use]
    pub fn datetime_utc(self) -> DateTime2 {
        datetime(self.utc())
    }

    /// GETDATE and CURRENT_TIMESTAMP, of type datetime.
    #[must_use]
    pub fn datetime_local(self) -> DateTime2 {
        datetime(self.local())
    }
}

/// Rounds to datetime's ticks. The range of the clock, 1970 to 2554, is within datetime's.
fn datetime(moment: DateTime2) -> DateTime2 {
    DateTimeTicks::nearest(moment)
        .and_then(DateTimeTicks::date_time)
        .unwrap_or(moment)
}

/// 1970-01-01.
const UNIX_EPOCH: Date = Date(719_162);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TimeOfDay;

    #[test]
    fn unix_time_converts_to_each_type() {
        // 2001-09-09 01:46:40.1239999 UTC, in India.
        let moment = Moment {
            unix_ns: 1_000_000_000_123_999_999,
            offset_minutes: 330,
        };
        let day = Date::from_civil(2001, 9, 9).unwrap();
        let at = |hour, minute, second, units| DateTime2 {
            date: day,
            time: TimeOfDay::from_clock(hour, minute, second, units).unwrap(),
        };
        assert_eq!(moment.utc(), at(1, 46, 40, 1_239_999));
        assert_eq!(moment.local(), at(7, 16, 40, 1_239_999));
        assert_eq!(moment.with_offset().offset_minutes, 330);
        assert_eq!(moment.datetime_utc(), at(1, 46, 40, 1_230_000));
        assert_eq!(moment.datetime_local(), at(7, 16, 40, 1_230_000));
    }

    #[test]
    fn every_clock_reading_is_in_the_calendar() {
        let early = Moment {
            unix_ns: 0,
            offset_minutes: i16::MIN,
        };
        assert_eq!(
            early.local(),
            DateTime2::at_midnight(UNIX_EPOCH)
                .checked_add_units(-504_000_000_000)
                .unwrap()
        );
        let late = Moment {
            unix_ns: u64::MAX,
            offset_minutes: i16::MAX,
        };
        assert_eq!(late.local().date.year(), 2554);
    }
}
