use proptest::prelude::*;

use super::*;

fn moment(year: i32, month: i32, day: i32, clock: (u32, u32, u32), units: u32) -> DateTime2 {
    DateTime2 {
        date: Date::from_civil(year, month, day).unwrap(),
        time: TimeOfDay::from_clock(clock.0, clock.1, clock.2, units).unwrap(),
    }
}

fn add(part: &str, number: i32, value: &Value, of: DataType) -> Value {
    date_add(DatePart::from_name(part).unwrap(), number, value, &of).unwrap()
}

#[test]
fn documented_examples_of_dateadd_hold() {
    let start = Value::DateTime(moment(2007, 1, 1, (13, 10, 10), 1_111_111));
    for (part, number, sum) in [
        ("year", 1, moment(2008, 1, 1, (13, 10, 10), 1_111_111)),
        ("quarter", 1, moment(2007, 4, 1, (13, 10, 10), 1_111_111)),
        ("month", 13, moment(2008, 2, 1, (13, 10, 10), 1_111_111)),
        ("dayofyear", 365, moment(2008, 1, 1, (13, 10, 10), 1_111_111)),
        ("week", 5, moment(2007, 2, 5, (13, 10, 10), 1_111_111)),
        ("weekday", 31, moment(2007, 2, 1, (13, 10, 10), 1_111_111)),
        ("hour", 23, moment(2007, 1, 2, (12, 10, 10), 1_111_111)),
        ("minute", 59, moment(2007, 1, 1, (14, 9, 10), 1_111_111)),
        ("second", 59, moment(2007, 1, 1, (13, 11, 9), 1_111_111)),
        ("millisecond", 2, moment(2007, 1, 1, (13, 10, 10), 1_131_111)),
        ("microsecond", 2, moment(2007, 1, 1, (13, 10, 10), 1_111_131)),
        ("nanosecond", 49, moment(2007, 1, 1, (13, 10, 10), 1_111_111)),
        ("nanosecond", 50, moment(2007, 1, 1, (13, 10, 10), 1_111_112)),
        ("nanosecond", 150, moment(2007, 1, 1, (13, 10, 10), 1_111_113)),
    ] {
        assert_eq!(
            add(part, number, &start, DataType::DateTime2(7)),
            Value::DateTime(sum),
            "{part} {number}"
        );
    }
}

#[test]
fn a_datetime_is_rounded_to_ticks() {
    let start = Value::DateTime(moment(2000, 1, 1, (1, 1, 1), 1_100_000));
    let sum = add("day", 365, &start, DataType::DateTime);
    assert_eq!(sum, Value::DateTime(moment(2000, 12, 31, (1, 1, 1), 1_100_000)));
    let at = |units| Value::DateTime(moment(2000, 1, 1, (1, 1, 1), units));
    for (number, units) in [(1, 1_100_000), (2, 1_130_000), (5, 1_170_000), (10, 1_200_000)] {
        assert_eq!(add("ms", number, &start, DataType::DateTime), at(units), "{number}");
    }
    // Three additions of 3 ms add a tick each, which is 10 ms in total, although .003 is displayed for the first.
    let mut value = at(0);
    for _ in 0..3 {
        value = add("ms", 3, &value, DataType::DateTime);
    }
    assert_eq!(value, at(100_000));
}

#[test]
fn a_smalldatetime_moves_by_whole_minutes_as_documented() {
    let start = Value::DateTime(moment(2007, 1, 1, (12, 0, 0), 0));
    let minute = |minute| Value::DateTime(moment(2007, 1, 1, (12, minute, 0), 0));
    let before = Value::DateTime(moment(2007, 1, 1, (11, 59, 0), 0));
    for (part, number, sum) in [
        ("second", 29, minute(0)),
        ("second", 30, minute(1)),
        ("second", -30, minute(0)),
        ("second", -31, before.clone()),
        ("millisecond", 29_998, minute(0)),
        ("millisecond", 29_999, minute(1)),
        ("millisecond", -30_001, minute(0)),
        ("millisecond", -30_002, before),
    ] {
        assert_eq!(
            add(part, number, &start, DataType::SmallDateTime),
            sum,
            "{part} {number}"
        );
    }
}

#[test]
fn months_clamp_and_times_wrap_around() {
    let august = Value::Date(Date::from_civil(2006, 8, 31).unwrap());
    let september = Value::Date(Date::from_civil(2006, 9, 30).unwrap());
    assert_eq!(add("month", 1, &august, DataType::Date), september);
    let late = Value::Time(TimeOfDay::from_clock(23, 0, 0, 0).unwrap());
    let early = Value::Time(TimeOfDay::from_clock(2, 0, 0, 0).unwrap());
    assert_eq!(add("hour", 3, &late, DataType::Time(0)), early);
    assert_eq!(add("hour", -3, &early, DataType::Time(0)), late);
    assert_eq!(
        add("hour", i32::MAX, &late, DataType::Time(0)),
        Value::Time(TimeOfDay::from_clock(6, 0, 0, 0).unwrap())
    );
}

#[test]
fn an_offset_is_unchanged_and_the_local_time_moves() {
    let start = DateTimeOffset::from_local(moment(2007, 1, 31, (23, 30, 0), 0), 330).unwrap();
    let sum = add("month", 1, &Value::DateTimeOffset(start), DataType::DateTimeOffset(0));
    let Value::DateTimeOffset(sum) = sum else {
        panic!("{sum:?}")
    };
    assert_eq!(
        (sum.local(), sum.offset_minutes),
        (moment(2007, 2, 28, (23, 30, 0), 0), 330)
    );
}

#[test]
fn sums_beyond_the_type_are_error_517() {
    for (value, of, name) in [
        (Value::Date(Date::MAX), DataType::Date, "date"),
        (
            Value::DateTime(moment(9999, 12, 31, (0, 0, 0), 0)),
            DataType::DateTime,
            "datetime",
        ),
        (
            Value::DateTime(moment(2079, 6, 6, (23, 59, 0), 0)),
            DataType::SmallDateTime,
            "smalldatetime",
        ),
        (Value::DateTime(DateTime2::MAX), DataType::DateTime2(7), "datetime2"),
        (
            Value::DateTimeOffset(DateTimeOffset {
                utc: DateTime2::MAX,
                offset_minutes: 0,
            }),
            DataType::DateTimeOffset(7),
            "datetimeoffset",
        ),
    ] {
        for number in [1, i32::MAX, i32::MIN] {
            for part in [DatePart::Day, DatePart::Week, DatePart::Month, DatePart::Year] {
                if number < 0 && part == DatePart::Day && of == DataType::DateTime {
                    continue;
                }
                let error = date_add(part, number, &value, &of).unwrap_err();
                let text = format!("Adding a value to a '{name}' column caused an overflow.");
                assert_eq!((error.to_string(), error.number()), (text, 517));
            }
        }
    }
}

#[test]
fn parts_that_a_type_does_not_have_are_error_9810() {
    let date = Value::Date(Date::BASE);
    let time = Value::Time(TimeOfDay::MIDNIGHT);
    let datetime = Value::DateTime(DateTime2::BASE);
    for (part, value, of, text) in [
        (
            "hour",
            &date,
            DataType::Date,
            "datepart hour is not supported by date function dateadd for data type date.",
        ),
        (
            "day",
            &time,
            DataType::Time(7),
            "datepart day is not supported by date function dateadd for data type time.",
        ),
        (
            "mcs",
            &datetime,
            DataType::DateTime,
            "datepart microsecond is not supported by date function dateadd for data type datetime.",
        ),
        (
            "isowk",
            &datetime,
            DataType::DateTime2(7),
            "datepart iso_week is not supported by date function dateadd for data type datetime2.",
        ),
    ] {
        let error = date_add(DatePart::from_name(part).unwrap(), 1, value, &of).unwrap_err();
        assert_eq!(error.to_string(), format!("The {text}"));
    }
    assert_eq!(
        date_add(DatePart::Day, 1, &Value::Bit(true), &DataType::Bit)
            .unwrap_err()
            .number(),
        8116
    );
    assert_eq!(
        date_add(DatePart::Day, 1, &Value::Null, &DataType::Date),
        Ok(Value::Null)
    );
}

#[test]
fn the_end_of_a_month_is_its_last_day() {
    let day = |year, month, day| Date::from_civil(year, month, day).unwrap();
    assert_eq!(end_of_month(day(2011, 12, 1), 0), Ok(day(2011, 12, 31)));
    assert_eq!(end_of_month(day(2009, 2, 12), 3), Ok(day(2009, 5, 31)));
    assert_eq!(end_of_month(day(2024, 3, 31), -1), Ok(day(2024, 2, 29)));
    assert_eq!(
        end_of_month(Date::MAX, 1).unwrap_err().to_string(),
        "Adding a value to a 'date' column caused an overflow."
    );
    assert_eq!(end_of_month(Date::MIN, -1).unwrap_err().number(), 517);
}

proptest! {
    #[test]
    fn adding_days_or_smaller_parts_is_invertible(
        units in 0..=DateTime2::MAX.units(),
        number in any::<i32>(),
        part in 0..8_usize,
    ) {
        let part = [
            DatePart::Week, DatePart::Day, DatePart::Hour, DatePart::Minute, DatePart::Second, DatePart::Millisecond,
            DatePart::Microsecond, DatePart::Weekday,
        ][part];
        let of = DataType::DateTime2(7);
        let start = Value::DateTime(DateTime2::from_units(units).unwrap());
        if let (Ok(sum), Some(back)) = (date_add(part, number, &start, &of), number.checked_neg()) {
            prop_assert_eq!(date_add(part, back, &sum, &of), Ok(start));
        }
    }

    #[test]
    fn months_keep_the_day_or_clamp_it(day in 0..=Date::MAX.0, months in -2_000..2_000_i32) {
        let start = Date(day);
        if let Ok(Value::Date(sum)) = date_add(DatePart::Month, months, &Value::Date(start), &DataType::Date) {
            let index = |date: Date| date.year() * 12 + i32::try_from(date.month()).unwrap();
            prop_assert_eq!(index(sum) - index(start), months);
            prop_assert!(sum.day() == start.day() || (sum.day() < start.day() && sum == sum.end_of_month()));
        }
    }
}
