use super::*;
use crate::{DateTime2, DateTimeOffset, TimeOfDay};

fn moment(year: i32, month: i32, day: i32, hour: u32, minute: u32, second: u32, units: u32) -> DateTime2 {
    DateTime2 {
        date: Date::from_civil(year, month, day).unwrap(),
        time: TimeOfDay::from_clock(hour, minute, second, units).unwrap(),
    }
}

fn part_of(name: &str, value: &Value, of: DataType) -> Option<i32> {
    date_part(DatePart::from_name(name).unwrap(), value, &of, DateFirst::default()).unwrap()
}

#[test]
fn documented_examples_of_datepart_hold() {
    // 2007-10-30 12:15:32.1234567 +05:10, as in the documentation of DATEPART.
    let local = moment(2007, 10, 30, 12, 15, 32, 1_234_567);
    let value = Value::DateTimeOffset(DateTimeOffset::from_local(local, 310).unwrap());
    for (name, number) in [
        ("year", 2007),
        ("quarter", 4),
        ("month", 10),
        ("dayofyear", 303),
        ("day", 30),
        ("week", 44),
        ("weekday", 3),
        ("hour", 12),
        ("minute", 15),
        ("second", 32),
        ("millisecond", 123),
        ("microsecond", 123_456),
        ("nanosecond", 123_456_700),
        ("tzoffset", 310),
        ("iso_week", 44),
    ] {
        assert_eq!(
            part_of(name, &value, DataType::DateTimeOffset(7)),
            Some(number),
            "{name}"
        );
    }
}

#[test]
fn week_and_weekday_follow_datefirst_as_documented() {
    let value = Value::Date(Date::from_civil(2007, 4, 21).unwrap());
    for (first, week, weekday) in [
        (1, 16, 6),
        (2, 17, 5),
        (3, 17, 4),
        (4, 17, 3),
        (5, 17, 2),
        (6, 17, 1),
        (7, 16, 7),
    ] {
        let first = DateFirst::new(first).unwrap();
        let read = |part| date_part(part, &value, &DataType::Date, first).unwrap().unwrap();
        assert_eq!(
            (read(DatePart::Week), read(DatePart::Weekday)),
            (week, weekday),
            "{first:?}"
        );
    }
}

#[test]
fn a_week_of_the_us_begins_on_sunday_and_the_first_of_january_is_in_the_first() {
    for (month, day, week) in [(1, 1, 1), (1, 6, 1), (1, 7, 2), (6, 15, 24), (12, 31, 53)] {
        let value = Value::Date(Date::from_civil(2024, month, day).unwrap());
        assert_eq!(part_of("week", &value, DataType::Date), Some(week), "{month}-{day}");
    }
}

#[test]
fn iso_weeks_belong_to_the_year_of_their_thursday() {
    for (year, month, day, week) in [
        (2003, 12, 28, 52),
        (2003, 12, 29, 1),
        (2004, 1, 4, 1),
        (2004, 1, 5, 2),
        (2005, 1, 1, 53),
        (2005, 1, 3, 1),
        (2010, 1, 3, 53),
        (2012, 1, 1, 52),
        (1, 1, 1, 1),
        (9999, 12, 31, 52),
    ] {
        let value = Value::Date(Date::from_civil(year, month, day).unwrap());
        assert_eq!(
            part_of("isowk", &value, DataType::Date),
            Some(week),
            "{year}-{month}-{day}"
        );
    }
}

#[test]
fn names_are_english_words_or_numbers() {
    let value = Value::DateTime(moment(2017, 9, 8, 18, 54, 32, 352_403));
    let name = |part: &str| {
        let part = DatePart::from_name(part).unwrap();
        date_name(part, &value, &DataType::DateTime2(7), DateFirst::default())
            .unwrap()
            .unwrap()
    };
    for (part, text) in [
        ("month", "September"),
        ("weekday", "Friday"),
        ("year", "2017"),
        ("hour", "18"),
        ("millisecond", "35"),
        ("microsecond", "35240"),
        ("nanosecond", "35240300"),
        ("tzoffset", "+00:00"),
    ] {
        assert_eq!(name(part), text, "{part}");
    }
    let moment = DateTimeOffset {
        utc: DateTime2::BASE,
        offset_minutes: -330,
    };
    let offset = date_name(
        DatePart::TzOffset,
        &Value::DateTimeOffset(moment),
        &DataType::DateTimeOffset(0),
        DateFirst::default(),
    );
    assert_eq!(offset, Ok(Some("-05:30".to_owned())));
}

#[test]
fn milliseconds_of_a_datetime_are_the_displayed_ones_and_finer_parts_are_exact() {
    let value = Value::DateTime(moment(2017, 9, 8, 23, 59, 59, 9_970_000));
    assert_eq!(part_of("ms", &value, DataType::DateTime), Some(997));
    assert_eq!(part_of("mcs", &value, DataType::DateTime), Some(996_666));
    assert_eq!(part_of("mcs", &value, DataType::DateTime2(3)), Some(997_000));
}

#[test]
fn a_part_that_the_type_does_not_have_is_error_9810() {
    let refused = |part: &str, value: Value, of: DataType| {
        let part = DatePart::from_name(part).unwrap();
        let error = date_part(part, &value, &of, DateFirst::default()).unwrap_err();
        assert_eq!(error.number(), 9810);
        error.to_string()
    };
    let date = Value::Date(Date::BASE);
    let time = Value::Time(TimeOfDay::MIDNIGHT);
    assert_eq!(
        refused("hour", date.clone(), DataType::Date),
        "The datepart hour is not supported by date function datepart for data type date."
    );
    assert_eq!(
        refused("isowk", time, DataType::Time(7)),
        "The datepart iso_week is not supported by date function datepart for data type time."
    );
    assert_eq!(
        refused("tz", Value::DateTime(DateTime2::BASE), DataType::SmallDateTime),
        "The datepart tzoffset is not supported by date function datepart for data type datetime."
    );
    let error = date_name(DatePart::TzOffset, &date, &DataType::Date, DateFirst::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "The datepart tzoffset is not supported by date function datename for data type date."
    );
}

#[test]
fn null_has_no_part_and_a_number_is_an_error() {
    assert_eq!(part_of("year", &Value::Null, DataType::DateTime), None);
    let error = date_part(DatePart::Year, &Value::Int(1), &DataType::Int, DateFirst::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "Argument data type int is invalid for argument 2 of datepart function."
    );
}

#[test]
fn months_parse_by_name_and_by_three_letters() {
    assert_eq!(month_of_name("jan"), Some(1));
    assert_eq!(month_of_name("SEPTEMBER"), Some(9));
    assert_eq!(month_of_name("May"), Some(5));
    for word in ["", "j", "sept", "\u{e9}t\u{e9}", "januar"] {
        assert_eq!(month_of_name(word), None, "{word}");
    }
    assert_eq!(month_name(0), "January");
    assert_eq!(month_name(13), "December");
}
