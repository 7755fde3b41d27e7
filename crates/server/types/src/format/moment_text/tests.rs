use super::*;
use crate::DateTimeOffset;

fn afternoon() -> DateTime2 {
    DateTime2 {
        date: Date::from_civil(2006, 1, 2).unwrap(),
        time: TimeOfDay::from_clock(15, 4, 5, 70_000).unwrap(),
    }
}

fn shown(value: &Value, of: DataType, style: i32) -> String {
    moment_text(value, &of, style).unwrap()
}

#[test]
fn every_documented_style_shows_a_datetime() {
    let value = Value::DateTime(afternoon());
    for (styles, text) in [
        (&[0, 100][..], "Jan  2 2006  3:04PM"),
        (&[1], "01/02/06"),
        (&[101], "01/02/2006"),
        (&[2], "06.01.02"),
        (&[102], "2006.01.02"),
        (&[3], "02/01/06"),
        (&[103], "02/01/2006"),
        (&[4], "02.01.06"),
        (&[104], "02.01.2006"),
        (&[5], "02-01-06"),
        (&[105], "02-01-2006"),
        (&[6], "02 Jan 06"),
        (&[106], "02 Jan 2006"),
        (&[7], "Jan 02, 06"),
        (&[107], "Jan 02, 2006"),
        (&[8, 24, 108], "15:04:05"),
        (&[9, 109], "Jan  2 2006  3:04:05:007PM"),
        (&[10], "01-02-06"),
        (&[110], "01-02-2006"),
        (&[11], "06/01/02"),
        (&[111], "2006/01/02"),
        (&[12], "060102"),
        (&[112], "20060102"),
        (&[13, 113], "02 Jan 2006 15:04:05:007"),
        (&[14, 114], "15:04:05:007"),
        (&[20, 120], "2006-01-02 15:04:05"),
        (&[21, 25, 121], "2006-01-02 15:04:05.007"),
        (&[22], "01/02/06  3:04:05 PM"),
        (&[23], "2006-01-02"),
        (&[126, 127], "2006-01-02T15:04:05.007"),
    ] {
        for style in styles {
            assert_eq!(shown(&value, DataType::DateTime, *style), text, "style {style}");
        }
    }
}

#[test]
fn midnight_and_noon_are_twelve() {
    let at = |hour| {
        let time = TimeOfDay::from_clock(hour, 0, 0, 0).unwrap();
        shown(
            &Value::DateTime(DateTime2 { time, ..afternoon() }),
            DataType::DateTime,
            0,
        )
    };
    assert_eq!(at(0), "Jan  2 2006 12:00AM");
    assert_eq!(at(11), "Jan  2 2006 11:00AM");
    assert_eq!(at(12), "Jan  2 2006 12:00PM");
    assert_eq!(at(23), "Jan  2 2006 11:00PM");
}

#[test]
fn the_newer_types_show_their_digits_after_a_point() {
    let value = Value::DateTime(afternoon());
    assert_eq!(
        shown(&value, DataType::DateTime2(7), 121),
        "2006-01-02 15:04:05.0070000"
    );
    assert_eq!(shown(&value, DataType::DateTime2(0), 121), "2006-01-02 15:04:05");
    assert_eq!(
        shown(&value, DataType::DateTime2(4), 109),
        "Jan  2 2006  3:04:05.0070PM"
    );
    assert_eq!(shown(&value, DataType::DateTime2(2), 113), "02 Jan 2006 15:04:05.00");
    assert_eq!(shown(&value, DataType::DateTime2(3), 114), "15:04:05.007");
    assert_eq!(
        shown(&Value::DateTime(DateTime2::MIN), DataType::DateTime2(7), 121),
        "0001-01-01 00:00:00.0000000"
    );
    assert_eq!(
        shown(&Value::DateTime(DateTime2::BASE), DataType::SmallDateTime, 121),
        "1900-01-01 00:00:00.000"
    );
}

#[test]
fn style_126_omits_a_zero_fraction() {
    let time = TimeOfDay::from_clock(18, 26, 20, 0).unwrap();
    let date = Date::from_civil(2012, 11, 7).unwrap();
    let value = Value::DateTime(DateTime2 { date, time });
    assert_eq!(shown(&value, DataType::DateTime, 126), "2012-11-07T18:26:20");
}

#[test]
fn a_date_shows_days_and_a_time_hours() {
    let date = Value::Date(afternoon().date);
    for (style, text) in [
        (0, "Jan  2 2006"),
        (109, "Jan  2 2006"),
        (113, "02 Jan 2006"),
        (120, "2006-01-02"),
        (126, "2006-01-02"),
        (22, "01/02/06"),
    ] {
        assert_eq!(shown(&date, DataType::Date, style), text, "style {style}");
    }
    let time = Value::Time(afternoon().time);
    for (style, text) in [
        (0, "3:04PM"),
        (109, "3:04:05.0070000PM"),
        (22, " 3:04:05 PM"),
        (108, "15:04:05"),
        (114, "15:04:05.0070000"),
        (113, "15:04:05.0070000"),
        (120, "15:04:05"),
        (121, "15:04:05.0070000"),
        (126, "15:04:05.0070000"),
    ] {
        assert_eq!(shown(&time, DataType::Time(7), style), text, "style {style}");
    }
}

#[test]
fn unknown_styles_differ_from_styles_that_show_nothing() {
    let date = Value::Date(Date::BASE);
    let time = Value::Time(TimeOfDay::MIDNIGHT);
    assert_eq!(
        moment_text(&date, &DataType::Date, 108),
        Err(MomentTextFault::NothingShown)
    );
    assert_eq!(moment_text(&date, &DataType::Date, 114), Err(MomentTextFault::NoStyle));
    assert_eq!(
        moment_text(&time, &DataType::Time(7), 101),
        Err(MomentTextFault::NothingShown)
    );
    assert_eq!(
        moment_text(&time, &DataType::Time(7), 23),
        Err(MomentTextFault::NothingShown)
    );
    for style in [-1, 15, 26, 99, 115, 122, 128, 132, i32::MAX, i32::MIN] {
        assert_eq!(
            moment_text(&date, &DataType::Date, style),
            Err(MomentTextFault::NoStyle),
            "style {style}"
        );
    }
    assert_eq!(moment_text(&date, &DataType::Date, 130), Err(MomentTextFault::Hijri));
    assert_eq!(
        moment_text(&Value::Int(1), &DataType::Int, 0),
        Err(MomentTextFault::NothingShown)
    );
}

#[test]
fn an_offset_follows_every_time() {
    let moment = DateTimeOffset::from_local(afternoon(), -330).unwrap();
    let value = Value::DateTimeOffset(moment);
    for (style, text) in [
        (121, "2006-01-02 15:04:05.007 -05:30"),
        (120, "2006-01-02 15:04:05 -05:30"),
        (0, "Jan  2 2006  3:04PM -05:30"),
        (108, "15:04:05 -05:30"),
        (101, "01/02/2006"),
        (126, "2006-01-02T15:04:05.007-05:30"),
        (127, "2006-01-02T20:34:05.007Z"),
    ] {
        assert_eq!(shown(&value, DataType::DateTimeOffset(3), style), text, "style {style}");
    }
}
