use super::*;
use crate::DateTimeOffset;

fn read_in(from: &str, to: DataType, format: DateFormat) -> Result<Value, ConversionError> {
    convert(&text(from), &VARCHAR, &to, None, format)
}

#[test]
fn one_text_converts_to_each_type_as_documented() {
    let fine = "2007-05-08 12:35:29. 1234567 +12:15";
    for (from, to, expected) in [
        (fine, DataType::Time(7), "12:35:29.1234567"),
        (fine, DataType::Date, "2007-05-08"),
        (
            "2007-05-08 12:35:29.123",
            DataType::SmallDateTime,
            "May  8 2007 12:35PM",
        ),
        ("2007-05-08 12:35:29.123", DataType::DateTime, "May  8 2007 12:35PM"),
        (fine, DataType::DateTime2(7), "2007-05-08 12:35:29.1234567"),
        (fine, DataType::DateTimeOffset(7), "2007-05-08 12:35:29.1234567 +12:15"),
    ] {
        assert_eq!(shown(&read(from, to).unwrap(), to), expected, "{to}");
    }
    for (to, expected) in [
        (DataType::DateTime, "Jan  1 1900 12:00AM"),
        (DataType::Date, "1900-01-01"),
        (DataType::Time(0), "00:00:00"),
        (DataType::DateTime2(0), "1900-01-01 00:00:00"),
        (DataType::DateTimeOffset(0), "1900-01-01 00:00:00 +00:00"),
    ] {
        assert_eq!(shown(&read("", to).unwrap(), to), expected, "{to}");
    }
}

#[test]
fn dateformat_affects_a_leading_year_only_for_datetime() {
    let day = |year, month, day| DateTime2::at_midnight(Date::from_civil(year, month, day).unwrap());
    let swapped = Ok(Value::DateTime(day(2024, 12, 11)));
    let plain = Ok(Value::DateTime(day(2024, 11, 12)));
    assert_eq!(read_in("2024-11-12", DataType::DateTime, DateFormat::Dmy), swapped);
    assert_eq!(read_in("2024-11-12", DataType::SmallDateTime, DateFormat::Dmy), swapped);
    assert_eq!(read_in("2024-11-12", DataType::DateTime2(0), DateFormat::Dmy), plain);
    assert_eq!(
        read_in("2024-11-12T00:00:00", DataType::DateTime, DateFormat::Dmy),
        plain
    );
    assert_eq!(read_in("20241112", DataType::DateTime, DateFormat::Dmy), plain);
    assert_eq!(
        refused(read_in("2024-11-13", DataType::DateTime, DateFormat::Dmy)).0,
        242
    );
}

#[test]
fn invalid_text_has_the_message_of_its_type() {
    for to in [
        DataType::Date,
        DataType::Time(7),
        DataType::DateTime2(7),
        DataType::DateTimeOffset(7),
    ] {
        for from in ["abc", "2024-02-30"] {
            assert_eq!(
                refused(read(from, to)),
                (
                    241,
                    "Conversion failed when converting date and/or time from character string.".into()
                ),
                "{from} as {to}"
            );
        }
    }
    assert_eq!(refused(read("abc", DataType::DateTime)).0, 241);
    assert_eq!(
        refused(read("abc", DataType::SmallDateTime)),
        (
            295,
            "Conversion failed when converting character string to smalldatetime data type.".into()
        )
    );
    for (from, to, name) in [
        ("2024-02-30", DataType::DateTime, "datetime"),
        ("1752-12-31", DataType::DateTime, "datetime"),
        ("9999-12-31 23:59:59.999", DataType::DateTime, "datetime"),
        ("1899-12-31", DataType::SmallDateTime, "smalldatetime"),
        ("2079-06-06 23:59:30", DataType::SmallDateTime, "smalldatetime"),
    ] {
        let text =
            format!("The conversion of a varchar data type to a {name} data type resulted in an out-of-range value.");
        assert_eq!(refused(read(from, to)), (242, text), "{from}");
    }
    let nchar = refused(cast(&text("20240230"), DataType::NChar(8), DataType::DateTime));
    assert_eq!(
        nchar.1,
        "The conversion of a nvarchar data type to a datetime data type resulted in an out-of-range value."
    );
    assert_eq!(
        refused(read("0001-01-01 00:00 +00:01", DataType::DateTimeOffset(0))),
        (8114, "Error converting data type varchar to datetimeoffset.".into())
    );
    assert_eq!(refused(styled(&text("05/13/2026"), VARCHAR, DataType::Date, 106)), (
        9807,
        "The input character string does not follow style 106, either change the input character string or use a different style.".into()
    ));
}

#[test]
fn fractions_round_once_and_carry() {
    for (from, to, expected) in [
        ("12:34:54.1237", DataType::Time(3), "12:34:54.124"),
        ("12:34:54.1237", DataType::Time(0), "12:34:54"),
        ("23:59:59.9999999", DataType::Time(0), "00:00:00"),
        ("23:59:59.99999999", DataType::Time(7), "23:59:59.9999999"),
        (
            "2023-12-31 23:59:59.9999999",
            DataType::DateTime2(3),
            "2024-01-01 00:00:00.000",
        ),
        (
            "2023-12-31 23:59:59.99999999",
            DataType::DateTime2(7),
            "2024-01-01 00:00:00.0000000",
        ),
        (
            "2023-12-31 23:59:59.9 -01:00",
            DataType::DateTimeOffset(0),
            "2024-01-01 00:00:00 -01:00",
        ),
        ("2023-12-31 23:59:59.9999999", DataType::Date, "2023-12-31"),
    ] {
        assert_eq!(shown(&read(from, to).unwrap(), to), expected, "{from} as {to}");
    }
    assert_eq!(
        refused(read("9999-12-31 23:59:59.9999999", DataType::DateTime2(6))).0,
        241
    );
}

/// Converts the value to another type, then formats it with all digits.
fn converted_text(value: &Value, from: DataType, to: DataType) -> String {
    let converted = cast(value, from, to).unwrap();
    shown(&styled(&converted, to, VARCHAR, 121).unwrap(), VARCHAR)
}

#[test]
fn a_time_or_a_date_converts_to_both_as_documented() {
    let time_of =
        |hour, minute, second, units| Value::Time(TimeOfDay::from_clock(hour, minute, second, units).unwrap());
    let time = time_of(12, 15, 4, 1_237_000);
    for (to, expected) in [
        (DataType::DateTime, "1900-01-01 12:15:04.123"),
        (DataType::DateTime2(3), "1900-01-01 12:15:04.124"),
        (DataType::DateTimeOffset(3), "1900-01-01 12:15:04.124 +00:00"),
    ] {
        assert_eq!(converted_text(&time, DataType::Time(4), to), expected, "{to}");
    }
    let late = time_of(12, 59, 59, 9_999_000);
    assert_eq!(
        converted_text(&late, DataType::Time(4), DataType::SmallDateTime),
        "1900-01-01 13:00:00.000"
    );
    let day = Value::Date(Date::from_civil(1912, 10, 25).unwrap());
    for (to, expected) in [
        (DataType::DateTime, "1912-10-25 00:00:00.000"),
        (DataType::SmallDateTime, "1912-10-25 00:00:00.000"),
        (DataType::DateTimeOffset(3), "1912-10-25 00:00:00.000 +00:00"),
    ] {
        assert_eq!(converted_text(&day, DataType::Date, to), expected, "{to}");
    }
}

#[test]
fn a_datetimeoffset_converts_to_its_local_time() {
    let fine = moment(1968, 10, 23, (12, 45, 37), 1_237_000);
    let offset = Value::DateTimeOffset(DateTimeOffset::from_local(fine, 600).unwrap());
    for (to, expected) in [
        (DataType::DateTime, "1968-10-23 12:45:37.123"),
        (DataType::Date, "1968-10-23"),
        (DataType::Time(3), "12:45:37.124"),
        (DataType::SmallDateTime, "1968-10-23 12:46:00.000"),
        (DataType::DateTimeOffset(0), "1968-10-23 12:45:37 +10:00"),
    ] {
        assert_eq!(
            converted_text(&offset, DataType::DateTimeOffset(4), to),
            expected,
            "{to}"
        );
    }
    let value = Value::DateTime(fine);
    assert_eq!(
        converted_text(&value, DataType::DateTime2(4), DataType::DateTime),
        "1968-10-23 12:45:37.123"
    );
}

#[test]
fn a_datetime_converts_to_finer_types_by_its_tick() {
    let value = Value::DateTime(moment(2016, 10, 23, (12, 45, 37), 3_330_000));
    let shown_as = |to| shown(&cast(&value, DataType::DateTime, to).unwrap(), to);
    assert_eq!(shown_as(DataType::DateTime2(7)), "2016-10-23 12:45:37.3333333");
    assert_eq!(shown_as(DataType::DateTime2(3)), "2016-10-23 12:45:37.333");
    assert_eq!(shown_as(DataType::Time(5)), "12:45:37.33333");
    assert_eq!(shown_as(DataType::DateTimeOffset(4)), "2016-10-23 12:45:37.3333 +00:00");
    let last = Value::DateTime(moment(2016, 10, 23, (23, 59, 59), 9_970_000));
    let finer = cast(&last, DataType::DateTime, DataType::DateTime2(7)).unwrap();
    assert_eq!(shown(&finer, DataType::DateTime2(7)), "2016-10-23 23:59:59.9966667");
}

#[test]
fn numbers_are_days_since_1900() {
    let at = |value: &Value, from| shown(&cast(value, from, DataType::DateTime).unwrap(), DataType::DateTime);
    assert_eq!(at(&Value::Int(0), DataType::Int), "Jan  1 1900 12:00AM");
    assert_eq!(at(&Value::Int(-1), DataType::Int), "Dec 31 1899 12:00AM");
    assert_eq!(at(&Value::Float(1.5), DataType::Float), "Jan  2 1900 12:00PM");
    assert_eq!(at(&Value::Float(-0.25), DataType::Float), "Dec 31 1899  6:00PM");
    assert_eq!(at(&number(-25, 2), decimal(3, 2)), "Dec 31 1899  6:00PM");
    assert_eq!(at(&number(1_i128, 38), decimal(38, 38)), "Jan  1 1900 12:00AM");
    assert_eq!(at(&Value::Money(15_000), DataType::Money), "Jan  2 1900 12:00PM");
    assert_eq!(at(&Value::Bit(true), DataType::Bit), "Jan  2 1900 12:00AM");
    let small = cast(&number(99_999, 5), decimal(6, 5), DataType::SmallDateTime).unwrap();
    assert_eq!(shown(&small, DataType::SmallDateTime), "Jan  2 1900 12:00AM");
    for (value, from, to, name) in [
        (Value::Int(20_080_101), DataType::Int, DataType::DateTime, "datetime"),
        (
            Value::BigInt(i64::MIN),
            DataType::BigInt,
            DataType::DateTime,
            "datetime",
        ),
        (Value::Float(f64::MAX), DataType::Float, DataType::DateTime, "datetime"),
        (number(i128::MAX / 2, 0), decimal(38, 0), DataType::DateTime, "datetime"),
        (Value::Int(-1), DataType::Int, DataType::SmallDateTime, "smalldatetime"),
    ] {
        let text = format!("Arithmetic overflow error converting expression to data type {name}.");
        assert_eq!(refused(cast(&value, from, to)), (8115, text), "{value:?}");
    }
}

#[test]
fn a_datetime_is_a_number_of_days() {
    let noon = Value::DateTime(moment(2020, 1, 1, (12, 0, 0), 0));
    let to = |to| cast(&noon, DataType::DateTime, to);
    assert_eq!(to(DataType::Int), Ok(Value::Int(43_830)), "noon goes up");
    assert_eq!(to(DataType::Float), Ok(Value::Float(43_829.5)));
    assert_eq!(to(decimal(18, 4)), Ok(number(438_295_000, 4)));
    assert_eq!(to(DataType::Money), Ok(Value::Money(438_295_000)));
    assert_eq!(to(DataType::Bit), Ok(Value::Bit(true)));
    assert_eq!(
        refused(to(DataType::TinyInt)).1,
        "Arithmetic overflow error converting expression to data type tinyint."
    );
    let early = Value::DateTime(moment(1899, 12, 31, (6, 0, 0), 0));
    assert_eq!(cast(&early, DataType::DateTime, decimal(9, 3)), Ok(number(-750, 3)));
    let third = Value::DateTime(moment(1900, 1, 1, (8, 0, 0), 0));
    let digits = 33_333_333_333_333_333_333_333_333_333_333_333_333;
    assert_eq!(
        cast(&third, DataType::DateTime, decimal(38, 38)),
        Ok(number(digits, 38))
    );
}

#[test]
fn moments_out_of_a_types_range_are_error_242() {
    let day = Value::Date(Date::MIN);
    assert_eq!(
        refused(cast(&day, DataType::Date, DataType::SmallDateTime)),
        (
            242,
            "The conversion of a date data type to a smalldatetime data type resulted in an out-of-range value.".into()
        )
    );
    assert_eq!(refused(cast(&day, DataType::Date, DataType::DateTime)).0, 242);
    let last = Value::DateTime(DateTime2::MAX);
    assert_eq!(refused(cast(&last, DataType::DateTime2(7), DataType::DateTime)).0, 242);
    assert_eq!(
        refused(cast(&last, DataType::DateTime2(7), DataType::DateTime2(3))).0,
        242
    );
    assert_eq!(
        refused(styled(&day, DataType::Date, DataType::DateTimeOffset(0), 120)),
        (
            9809,
            "The style 120 is not supported for conversions from date to datetimeoffset.".into()
        )
    );
}

#[test]
fn isdate_tests_conversion_to_datetime() {
    for (from, is) in [
        ("2009-05-12 10:19:41.177", true),
        ("05/13/2026", true),
        ("10:30", true),
        ("2008", true),
        ("2009-05-12 10:19:41.1777", false),
        ("1752-12-31", false),
        ("13/05/2026", false),
        ("", false),
        ("  ", false),
        ("abc", false),
    ] {
        assert_eq!(is_date(from, DateFormat::Mdy), is, "{from:?}");
    }
    assert!(is_date("13/05/2026", DateFormat::Dmy));
}
