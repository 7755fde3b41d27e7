//! DATEPART and DATENAME.

use crate::{
    DataType, Date, Value,
    dates::{DateError, DateFirst, DatePart, clock_reading::ClockReading},
};

/// DATEPART: the number of a part of `value` of type `of`; `None` for NULL.
///
/// The caller converts text, to datetimeoffset if it has an offset and otherwise to datetime2.
///
/// Errors: 9810 if the type does not have the part, 8116 if it is not a date or time.
pub fn date_part(part: DatePart, value: &Value, of: &DataType, first: DateFirst) -> Result<Option<i32>, DateError> {
    let Some(reading) = reading_with(part, value, of, "datepart")? else {
        return Ok(None);
    };
    Ok(Some(number_of(part, &reading, first)))
}

/// DATENAME: the name of a part of `value`, which is its number except for month, weekday and tzoffset; `None` for
/// NULL.
///
/// Errors: those of [`date_part`].
pub fn date_name(part: DatePart, value: &Value, of: &DataType, first: DateFirst) -> Result<Option<String>, DateError> {
    let Some(reading) = reading_with(part, value, of, "datename")? else {
        return Ok(None);
    };
    let date = reading.local.date;
    let name = match part {
        DatePart::Month => month_name(date.month()).to_owned(),
        DatePart::Weekday => weekday_name(date).to_owned(),
        DatePart::TzOffset => offset_name(reading.offset_minutes),
        DatePart::Year
        | DatePart::Quarter
        | DatePart::DayOfYear
        | DatePart::Day
        | DatePart::Week
        | DatePart::Hour
        | DatePart::Minute
        | DatePart::Second
        | DatePart::Millisecond
        | DatePart::Microsecond
        | DatePart::Nanosecond
        | DatePart::IsoWeek => number_of(part, &reading, first).to_string(),
    };
    Ok(Some(name))
}

/// The English name of a month from 1 to 12.
pub(crate) fn month_name(month: u32) -> &'static str {
    let index = usize::try_from(month.clamp(1, 12) - 1).unwrap_or(0);
    MONTHS[index]
}

/// `+hh:mm` or `-hh:mm`.
pub(crate) fn offset_name(minutes: i16) -> String {
    let sign = if minutes < 0 { '-' } else { '+' };
    let minutes = minutes.unsigned_abs();
    format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60)
}

/// The month with this English name, complete or three letters, ignoring case.
pub(crate) fn month_of_name(word: &str) -> Option<u32> {
    let index = MONTHS.iter().position(|month| {
        month.eq_ignore_ascii_case(word) || month.get(..3).is_some_and(|short| short.eq_ignore_ascii_case(word))
    })?;
    u32::try_from(index + 1).ok()
}

fn weekday_name(date: Date) -> &'static str {
    let index = usize::try_from(date.days_since_monday()).unwrap_or(0);
    WEEKDAYS[index]
}

fn reading_with(
    part: DatePart,
    value: &Value,
    of: &DataType,
    function: &'static str,
) -> Result<Option<ClockReading>, DateError> {
    let reading = ClockReading::of(value, of, 2, function)?;
    let has_time = !matches!(of, DataType::Date);
    let has_date = !matches!(of, DataType::Time(_));
    let has_offset = matches!(of, DataType::DateTime2(_) | DataType::DateTimeOffset(_));
    let has_part = match part {
        DatePart::Year
        | DatePart::Quarter
        | DatePart::Month
        | DatePart::DayOfYear
        | DatePart::Day
        | DatePart::Week
        | DatePart::Weekday
        | DatePart::IsoWeek => has_date,
        DatePart::Hour
        | DatePart::Minute
        | DatePart::Second
        | DatePart::Millisecond
        | DatePart::Microsecond
        | DatePart::Nanosecond => has_time,
        DatePart::TzOffset => has_offset,
    };
    if has_part {
        return Ok(reading);
    }
    // SQL Server's message says datetime for smalldatetime.
    let of = if *of == DataType::SmallDateTime {
        DataType::DateTime
    } else {
        *of
    };
    Err(DateError::NoPartOfType { part, function, of })
}

fn number_of(part: DatePart, reading: &ClockReading, first: DateFirst) -> i32 {
    let (date, time) = (reading.local.date, reading.local.time);
    let number = match part {
        DatePart::Year => return date.year(),
        DatePart::TzOffset => return i32::from(reading.offset_minutes),
        DatePart::Quarter => date.month().div_ceil(3),
        DatePart::Month => date.month(),
        DatePart::DayOfYear => date.day_of_year(),
        DatePart::Day => date.day(),
        DatePart::Week => week(date, first),
        DatePart::Weekday => weekday(date, first),
        DatePart::Hour => time.hour(),
        DatePart::Minute => time.minute(),
        DatePart::Second => time.second(),
        DatePart::Millisecond => time.fraction() / 10_000,
        DatePart::Microsecond => reading.exact.time.fraction() / 10,
        DatePart::Nanosecond => reading.exact.time.fraction() * 100,
        DatePart::IsoWeek => iso_week(date),
    };
    // At most 10^9.
    i32::try_from(number).unwrap_or(i32::MAX)
}

/// The number of the day in a week that begins with `first`, from 1.
fn weekday(date: Date, first: DateFirst) -> u32 {
    (date.days_since_monday() + 7 - (u32::from(first.number()) - 1)) % 7 + 1
}

/// The week of the year, from 1: week 1 contains January 1, and weeks begin with `first`.
fn week(date: Date, first: DateFirst) -> u32 {
    let day_index = date.day_of_year() - 1;
    let new_year = Date(date.min(Date::MAX).0 - day_index);
    (day_index + weekday(new_year, first) - 1) / 7 + 1
}

/// The ISO 8601 week, which belongs to the year of its Thursday.
fn iso_week(date: Date) -> u32 {
    let date = date.min(Date::MAX);
    // The Thursday of the last week of 9999 is in the year 10000, so the week is that year's week 1.
    let thursday = i64::from(date.0) - i64::from(date.days_since_monday()) + 3;
    match Date::BASE.checked_add_days(thursday - i64::from(Date::BASE.0)) {
        Some(thursday) => (thursday.day_of_year() - 1) / 7 + 1,
        None => 1,
    }
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

const WEEKDAYS: [&str; 7] = [
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
];

#[cfg(test)]
mod tests;
