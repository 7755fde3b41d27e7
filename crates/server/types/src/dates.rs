//! Dates and times: parts, addition and difference.
//!
//! - `days-are-counted`: a date is a day number in the proleptic Gregorian calendar, from
//!   0001-01-01 on.
//! - `datetime-in-shown-milliseconds`: a datetime is stored as the milliseconds that SQL Server
//!   displays (.000, .003, .007); its tick of 1/300 second ([`DateTimeTicks`]) is recomputed for a
//!   conversion to a finer type and for the wire.
//! - `type-comes-with-the-value`: T-SQL functions receive a value and its declared type, which
//!   determines its parts and its rounding.
//! - `out-of-range-is-the-last`: a day number or time beyond the maximum, which no function here
//!   produces, is treated as the maximum.

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
mod truncation;

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
pub use truncation::{date_bucket, date_trunc};
