//! Days, times and moments: their parts, additions to them, and differences between them.
//!
//! - `days-are-counted`: a date is a count of days in the Gregorian calendar, extended backwards to
//!   0001-01-01.
//! - `datetime-in-shown-milliseconds`: a datetime is held as the thousandth that SQL Server shows
//!   (.000, .003, .007); its three-hundredth of a second ([`DateTimeTicks`]) is restored where it
//!   is converted to a finer type or sent to a client.
//! - `type-comes-with-the-value`: functions of T-SQL get a value and its declared type: the type
//!   says which parts it has and how it rounds.
//! - `out-of-range-is-the-last`: a count beyond the calendar or the day, which no value made here
//!   has, is read as the last one.

mod addition;
mod civil;
mod clock_reading;
mod date_part;
mod date_time;
mod difference;
mod error;
mod from_parts;
mod moment;
mod moment_type;
mod offset;
mod part_reading;
mod ticks;
mod time_of_day;

pub use addition::{date_add, end_of_month};
pub(crate) use clock_reading::exact_of_datetime;
pub use date_part::{DateFirst, DatePart};
pub use difference::{date_diff, date_diff_big};
pub use error::DateError;
pub use from_parts::{
    CivilParts, ClockParts, date_from_parts, datetime_from_parts, datetime2_from_parts, datetimeoffset_from_parts,
    smalldatetime_from_parts, time_from_parts,
};
pub use moment::Moment;
pub(crate) use moment_type::MomentType;
pub use offset::{offset_from_minutes, offset_from_text, switch_offset, to_date_time_offset};
pub use part_reading::{date_name, date_part};
pub(crate) use part_reading::{month_name, month_of_name, offset_name};
pub(crate) use ticks::TICKS_PER_DAY;
pub use ticks::{DateTimeMinutes, DateTimeTicks};
pub(crate) use time_of_day::{UNITS_PER_SECOND, unit_of_scale};
