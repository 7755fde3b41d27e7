use proptest::prelude::*;

use super::*;
use crate::{Date, DateTimeOffset, TimeOfDay, dates::date_add};

const OF: DataType = DataType::DateTime2(7);

fn moment(year: i32, month: i32, day: i32, clock: (u32, u32, u32), units: u32) -> Value {
    Value::DateTime(DateTime2 {
        date: Date::from_civil(year, month, day).unwrap(),
        time: TimeOfDay::from_clock(clock.0, clock.1, clock.2, units).unwrap(),
    })
}

fn day(year: i32, month: i32, day: i32) -> Value {
    moment(year, month, day, (0, 0, 0), 0)
}

fn diff(part: &str, start: &Value, end: &Value) -> Option<i32> {
    date_diff(DatePart::from_name(part).unwrap(), (start, &OF), (end, &OF)).unwrap()
}

#[test]
fn a_tenth_of_a_microsecond_crosses_every_boundary_as_documented() {
    let start = moment(2005, 12, 31, (23, 59, 59), 9_999_999);
    let end = day(2006, 1, 1);
    for part in [
        "year",
        "quarter",
        "month",
        "dayofyear",
        "day",
        "week",
        "hour",
        "minute",
        "second",
        "millisecond",
        "microsecond",
    ] {
        assert_eq!(diff(part, &start, &end), Some(1), "{part}");
        assert_eq!(diff(part, &end, &start), Some(-1), "{part}");
    }
    assert_eq!(diff("nanosecond", &start, &end), Some(100));
}

#[test]
fn documented_examples_of_datediff_hold() {
    assert_eq!(diff("day", &day(2036, 3, 1), &day(2036, 2, 28)), Some(-2));
    assert_eq!(diff("year", &day(2023, 12, 31), &day(2024, 1, 1)), Some(1));
    assert_eq!(diff("quarter", &day(2023, 10, 15), &day(2024, 2, 15)), Some(1));
    assert_eq!(diff("month", &day(2024, 6, 1), &day(2024, 6, 30)), Some(0));
    // 2024-06-16 is a Sunday.
    assert_eq!(diff("week", &day(2024, 6, 15), &day(2024, 6, 16)), Some(1));
    assert_eq!(diff("week", &day(2024, 6, 16), &day(2024, 6, 22)), Some(0));
    assert_eq!(diff("weekday", &day(2024, 6, 15), &day(2024, 6, 22)), Some(7));
    assert_eq!(diff("ms", &day(2024, 1, 1), &day(2024, 1, 25)), Some(2_073_600_000));
}

#[test]
fn a_time_has_the_date_1900_01_01_and_a_date_the_time_midnight() {
    let time = Value::Time(TimeOfDay::from_clock(5, 0, 0, 0).unwrap());
    let date = Value::Date(Date::BASE);
    let between = date_diff(DatePart::Hour, (&date, &DataType::Date), (&time, &DataType::Time(7)));
    assert_eq!(between, Ok(Some(5)));
    let later = Value::Time(TimeOfDay::from_clock(11, 0, 0, 0).unwrap());
    assert_eq!(
        date_diff(
            DatePart::Year,
            (&time, &DataType::Time(7)),
            (&later, &DataType::Time(7))
        ),
        Ok(Some(0))
    );
}

#[test]
fn moments_with_offsets_are_compared_in_utc() {
    let of = DataType::DateTimeOffset(0);
    let at = |hour, offset| {
        let Value::DateTime(local) = moment(2024, 1, 1, (hour, 0, 0), 0) else {
            panic!("no moment")
        };
        Value::DateTimeOffset(DateTimeOffset::from_local(local, offset).unwrap())
    };
    let hours = |start, end| date_diff(DatePart::Hour, (&start, &of), (&end, &of));
    assert_eq!(hours(at(12, 0), at(17, 300)), Ok(Some(0)));
    assert_eq!(hours(at(12, 0), at(12, 300)), Ok(Some(-5)));
}

#[test]
fn a_difference_out_of_range_is_error_535() {
    let error = date_diff(DatePart::Millisecond, (&day(2024, 1, 1), &OF), (&day(2024, 1, 26), &OF)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "The datediff function resulted in an overflow. The number of dateparts separating two date/time instances is \
         too large. Try to use datediff with a less precise datepart."
    );
    let (first, last) = (day(1, 1, 1), day(9999, 12, 31));
    let big = |part| date_diff_big(part, (&first, &OF), (&last, &OF));
    assert_eq!(big(DatePart::Second), Ok(Some(315_537_811_200)));
    let error = big(DatePart::Nanosecond).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("The datediff_big function resulted in an overflow.")
    );
    assert_eq!(error.number(), 535);
    // The maximum of int: 24 days, 20 hours, 31 minutes and 23.647 seconds; 68 years, 19 days and 3:14:07.
    let start = day(2000, 1, 1);
    assert_eq!(
        diff("ms", &start, &moment(2000, 1, 25, (20, 31, 23), 6_470_000)),
        Some(i32::MAX)
    );
    assert_eq!(
        diff("s", &day(1970, 1, 1), &moment(2038, 1, 19, (3, 14, 7), 0)),
        Some(i32::MAX)
    );
}

#[test]
fn unsupported_parts_are_error_9806() {
    let (start, end) = (day(2024, 1, 1), day(2024, 1, 2));
    let error = date_diff(DatePart::TzOffset, (&start, &OF), (&end, &OF)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "The datepart tzoffset is not supported by date function datediff."
    );
    let error = date_diff_big(DatePart::IsoWeek, (&start, &OF), (&end, &OF)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "The datepart iso_week is not supported by date function datediff_big."
    );
    assert_eq!(error.number(), 9806);
}

#[test]
fn null_has_no_difference_and_text_is_an_error() {
    let end = day(2024, 1, 2);
    assert_eq!(date_diff(DatePart::Day, (&Value::Null, &OF), (&end, &OF)), Ok(None));
    let text = Value::Text("2024-01-01".into());
    let error = date_diff(DatePart::Day, (&end, &OF), (&text, &DataType::Char(10))).unwrap_err();
    assert_eq!(
        error.to_string(),
        "Argument data type char is invalid for argument 3 of datediff function."
    );
}

proptest! {
    #[test]
    fn datediff_counts_the_units_that_dateadd_added(
        units in 0..=DateTime2::MAX.units(),
        number in any::<i32>(),
        part in 0..11_usize,
    ) {
        let part = [
            DatePart::Year, DatePart::Quarter, DatePart::Month, DatePart::Week, DatePart::Day, DatePart::Hour,
            DatePart::Minute, DatePart::Second, DatePart::Millisecond, DatePart::Microsecond, DatePart::DayOfYear,
        ][part];
        let start = Value::DateTime(DateTime2::from_units(units).unwrap());
        if let Ok(sum) = date_add(part, number, &start, &OF) {
            prop_assert_eq!(date_diff(part, (&start, &OF), (&sum, &OF)), Ok(Some(number)));
        }
    }

    #[test]
    fn differences_add_up(first in 0..=DateTime2::MAX.units(), second in 0..=DateTime2::MAX.units(), third in 0..=DateTime2::MAX.units()) {
        let at = |units| Value::DateTime(DateTime2::from_units(units).unwrap());
        for part in [DatePart::Year, DatePart::Month, DatePart::Week, DatePart::Day, DatePart::Hour, DatePart::Second] {
            let big = |start: i64, end: i64| date_diff_big(part, (&at(start), &OF), (&at(end), &OF)).unwrap().unwrap();
            prop_assert_eq!(big(first, second) + big(second, third), big(first, third));
            prop_assert_eq!(big(first, second), -big(second, first));
        }
    }
}
