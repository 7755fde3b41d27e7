use super::*;
use crate::{TimeOfDay, convert::DateFormat, format::text_of};

fn read_by(text: &str, style: Option<i32>, format: DateFormat, is_old: bool) -> Result<String, TextFault> {
    let moment = read_moment(text, &Rules::of(style, format, is_old).unwrap())?;
    let date = moment.date.map_or(String::new(), |date| {
        let (year, month, day) = date.civil();
        format!("{year:04}-{month:02}-{day:02} ")
    });
    let time = crate::Value::Time(TimeOfDay(moment.units));
    let time = text_of(&time, &crate::DataType::Time(7)).unwrap();
    let offset = moment
        .offset_minutes
        .map_or(String::new(), |offset| format!(" {offset}"));
    let time = time
        .trim_end_matches('0')
        .strip_suffix(['.'])
        .unwrap_or(time.trim_end_matches('0'));
    Ok(format!("{date}{}{offset}", time.strip_suffix(":00").unwrap_or(time)))
}

fn old(text: &str) -> Result<String, TextFault> {
    read_by(text, None, DateFormat::Mdy, true)
}

fn new(text: &str) -> Result<String, TextFault> {
    read_by(text, None, DateFormat::Mdy, false)
}

fn both(text: &str, expected: &str) {
    assert_eq!(old(text).as_deref(), Ok(expected), "old: {text:?}");
    assert_eq!(new(text).as_deref(), Ok(expected), "new: {text:?}");
}

#[test]
fn both_grammars_accept_the_documented_date_forms() {
    for text in [
        "4/15/96",
        "04-15-1996",
        "4.15.96",
        "04/15/1996",
        "4 / 15 / 1996",
        "April 15, 1996",
        "Apr 15 1996",
        "apr 15,96",
        "APRIL 15 96",
        "April 1996 15",
        "15 April 1996",
        "15 April, 1996",
        "15 Apr 96",
        "15 96 apr",
        "15 1996 April",
        "1996 APR 15",
        "1996 15 APR",
        "15-Apr-1996",
        "1996-Apr-15",
        "19960415",
        "960415",
        "1996-04-15",
        "1996/04/15",
        "1996.4.15",
        "  1996-04-15  ",
    ] {
        both(text, "1996-04-15 00:00");
    }
    for text in ["April 1996", "Apr 1996", "1996 April", "19960401"] {
        both(text, "1996-04-01 00:00");
    }
    both("1996", "1996-01-01 00:00");
    both("", "00:00");
    both("   ", "00:00");
}

#[test]
fn both_grammars_accept_the_documented_time_forms() {
    for (text, time) in [
        ("14:30", "14:30"),
        ("14:30:20:999", "14:30:20.999"),
        ("14:30:20.9", "14:30:20.9"),
        ("4am", "04:00"),
        ("4 PM", "16:00"),
        ("12:01 AM", "00:01"),
        ("12:01 PM", "12:01"),
        ("00:01 AM", "00:01"),
        ("12:01", "12:01"),
        ("13:01 pm", "13:01"),
        ("12:30:20:1", "12:30:20.001"),
        ("12:30:20.1", "12:30:20.1"),
        ("1 : 2 : 3", "01:02:03"),
    ] {
        both(text, time);
    }
    both("1996-04-15 2:30 PM", "1996-04-15 14:30");
    both("Apr 15 1996  2:30PM", "1996-04-15 14:30");
    both("19960415 23:59:59.997", "1996-04-15 23:59:59.997");
    both("1996-04-15T14:25:10.487", "1996-04-15 14:25:10.487");
    both("1996-04-15T14:25:10Z", "1996-04-15 14:25:10 0");
    both("1996-04-15Z", "1996-04-15 00:00 0");
}

#[test]
fn two_digit_years_begin_with_1950() {
    both("1/1/49", "2049-01-01 00:00");
    both("1/1/50", "1950-01-01 00:00");
    both("1/1/5", "2005-01-01 00:00");
    both("500101", "1950-01-01 00:00");
    both("Jan 1 0", "2000-01-01 00:00");
}

#[test]
fn only_the_newer_types_read_fine_digits_and_offsets() {
    for (text, expected) in [
        ("12:35:29.1234567", "12:35:29.1234567"),
        ("12:35:29.12345678", "12:35:29.1234568"),
        ("12:35:29.123456749", "12:35:29.1234567"),
        ("2007-05-08 12:35:29. 1234567 +12:15", "2007-05-08 12:35:29.1234567 735"),
        ("2007-05-08 12:35:29.1234567+12:15", "2007-05-08 12:35:29.1234567 735"),
        ("2007-05-08T12:35:29-5:00", "2007-05-08 12:35:29 -300"),
        ("2007-05-08 T12:35:29", "2007-05-08 12:35:29"),
        ("2007-05-08 12:35 Z", "2007-05-08 12:35 0"),
        ("12:35 -14:00", "12:35 -840"),
        ("\t2007-05-08\t12:35\t", "2007-05-08 12:35"),
    ] {
        assert_eq!(new(text).as_deref(), Ok(expected), "{text:?}");
        assert!(old(text).is_err(), "{text:?}");
    }
    for text in [
        "12:35 +14:01",
        "12:35 +5",
        "12:35 +05:60",
        "12:35 +05:5",
        "2007-05-08T12:35:29 +05:00",
        "1:2:3.1234567890",
    ] {
        assert_eq!(new(text), Err(TextFault::Syntax), "{text:?}");
    }
}

#[test]
fn only_the_old_types_read_loose_forms() {
    for (text, expected) in [
        ("10:00 2024-01-02", "2024-01-02 10:00"),
        ("2024-12/31", "2024-12-31 00:00"),
        ("10:00.5", "10:00:00.5"),
        ("2024-Jun", "2024-06-01 00:00"),
    ] {
        assert_eq!(old(text).as_deref(), Ok(expected), "{text:?}");
        assert_eq!(new(text), Err(TextFault::Syntax), "{text:?}");
    }
}

#[test]
fn syntax_errors_differ_from_range_errors() {
    for text in [
        "abc",
        "2024-01-01x",
        "2024-1",
        "12",
        "12345",
        "1234567",
        "Sept 1 2024",
        "2024-01-01T10:00",
        "1/2/345",
        "10:",
        ":10",
    ] {
        assert_eq!(old(text), Err(TextFault::Syntax), "old: {text:?}");
        assert_eq!(new(text), Err(TextFault::Syntax), "new: {text:?}");
    }
    for text in [
        "2023-02-29",
        "13/13/2024",
        "20241301",
        "0000-01-01",
        "24:00",
        "10:60",
        "10:00:60",
        "0 PM",
        "13 AM",
        "Feb 30 2024",
    ] {
        assert_eq!(old(text), Err(TextFault::Range), "old: {text:?}");
        assert_eq!(new(text), Err(TextFault::Range), "new: {text:?}");
    }
    // The old types report these as out of range.
    for text in [
        "2024-12-31 23",
        "2024-12-31 .5",
        "Jan-05-2024",
        "2024-06-15 -5",
        "2024-01-01 10:00:00,5",
        "T10:00:00",
        "10:00 -05:00",
    ] {
        assert_eq!(old(text), Err(TextFault::Range), "old: {text:?}");
    }
    assert_eq!(old("10:00 +05:00"), Err(TextFault::Syntax));
}

#[test]
fn dateformat_orders_three_numbers() {
    let in_order = |text, format, is_old| read_by(text, None, format, is_old).unwrap_or_default();
    for (format, expected) in [
        (DateFormat::Mdy, "2003-01-02 00:00"),
        (DateFormat::Dmy, "2003-02-01 00:00"),
        (DateFormat::Ymd, "2001-02-03 00:00"),
        (DateFormat::Ydm, "2001-03-02 00:00"),
        (DateFormat::Myd, "2002-01-03 00:00"),
        (DateFormat::Dym, "2002-03-01 00:00"),
    ] {
        assert_eq!(in_order("01/02/03", format, true), expected, "{format:?}");
        let new = read_by("01/02/03", None, format, false);
        assert_eq!(new.is_ok(), format != DateFormat::Ydm, "{format:?}");
    }
    // A pitfall: after a leading year datetime still follows dmy, and the newer types do not.
    for format in [DateFormat::Dmy, DateFormat::Ydm, DateFormat::Dym] {
        assert_eq!(in_order("2024-11-12", format, true), "2024-12-11 00:00", "{format:?}");
        assert_eq!(in_order("2024-11-12", format, false), "2024-11-12 00:00", "{format:?}");
        assert_eq!(
            in_order("2024-11-12T10:00:00", format, true),
            "2024-11-12 10:00",
            "{format:?}"
        );
        assert_eq!(in_order("20241112", format, true), "2024-11-12 00:00", "{format:?}");
    }
    assert_eq!(in_order("11/12/2024", DateFormat::Dmy, false), "2024-12-11 00:00");
    assert_eq!(
        read_by("11/12/2024", None, DateFormat::Myd, false),
        Err(TextFault::Syntax)
    );
    assert_eq!(in_order("11/2024/12", DateFormat::Myd, false), "2024-11-12 00:00");
    assert_eq!(new("11/2024/12"), Err(TextFault::Syntax));
    assert_eq!(old("11/2024/12").as_deref(), Ok("2024-11-12 00:00"));
}

#[test]
fn a_style_determines_the_order_and_the_width_of_the_year() {
    let old = |text, style| read_by(text, Some(style), DateFormat::Dym, true);
    let new = |text, style| read_by(text, Some(style), DateFormat::Dym, false);
    for (text, styles) in [
        ("05/13/2026", &[101, 110][..]),
        ("05-13-26", &[1, 10]),
        ("13/05/2026", &[103, 104, 105]),
        ("13.05.26", &[3, 4, 5]),
        ("26.05.13", &[2, 11]),
        ("2026-05-13", &[20, 21, 102, 111, 120, 121, 126, 127]),
    ] {
        for style in styles {
            assert_eq!(
                old(text, *style).as_deref(),
                Ok("2026-05-13 00:00"),
                "{text} in {style}"
            );
            assert_eq!(
                new(text, *style).as_deref(),
                Ok("2026-05-13 00:00"),
                "{text} in {style}"
            );
        }
    }
    // datetime accepts a leading year in four-digit styles, with the rest in the style's order; date does not.
    assert_eq!(old("2003-04-05", 101).as_deref(), Ok("2003-04-05 00:00"));
    assert_eq!(old("2003-04-05", 103).as_deref(), Ok("2003-05-04 00:00"));
    assert_eq!(new("2026-05-13", 101), Err(TextFault::Syntax));
    assert_eq!(old("01/02/99", 101), Err(TextFault::Syntax));
    assert_eq!(old("01/02/1999", 1), Err(TextFault::Syntax));
    assert_eq!(old("01/02/99", 2), Err(TextFault::Range));
    assert_eq!(old("05/13/2026", 103), Err(TextFault::Range));
    // A style without a numeric form: the newer types reject it.
    assert_eq!(old("05/13/2026", 106), Err(TextFault::Syntax));
    assert_eq!(new("05/13/2026", 106), Err(TextFault::OtherStyle));
    for style in [1, 106, 112, 114, 126] {
        assert_eq!(
            old("13 May 2026", style).as_deref(),
            Ok("2026-05-13 00:00"),
            "style {style}"
        );
        assert_eq!(
            new("20260513", style).as_deref(),
            Ok("2026-05-13 00:00"),
            "style {style}"
        );
        assert_eq!(new("10:30", style).as_deref(), Ok("10:30"), "style {style}");
    }
}

#[test]
fn styles_126_and_127_are_strict_for_the_old_types() {
    let old = |text, style| read_by(text, Some(style), DateFormat::Mdy, true);
    let new = |text, style| read_by(text, Some(style), DateFormat::Mdy, false);
    assert_eq!(old("2026-05-13T10:30:00", 126).as_deref(), Ok("2026-05-13 10:30"));
    assert_eq!(old("2026-05-13T10:30:00Z", 127).as_deref(), Ok("2026-05-13 10:30 0"));
    for (text, style) in [
        ("2026-05-13T10:30:00Z", 126),
        ("2026-05-13 10:30:00", 126),
        ("2026-05-13 10:30:00", 127),
        ("20260513", 127),
        ("10:30", 127),
        ("May 13 2026", 127),
        ("2026/05/13", 126),
        ("2026-05-13T10:30:00", 120),
    ] {
        assert_eq!(old(text, style), Err(TextFault::Syntax), "{text} in {style}");
    }
    assert_eq!(new("1999-01-02T10:00:00", 3).as_deref(), Ok("1999-01-02 10:00"));
}

#[test]
fn an_unknown_style_and_the_hijri_ones_are_refused() {
    for is_old in [true, false] {
        for style in [-1, 15, 26, 99, 115, 128, 200] {
            assert_eq!(
                Rules::of(Some(style), DateFormat::Mdy, is_old),
                Err(StyleFault::NoStyle),
                "style {style}"
            );
        }
        assert_eq!(Rules::of(Some(130), DateFormat::Mdy, is_old), Err(StyleFault::Hijri));
    }
}

proptest::proptest! {
    #[test]
    fn no_text_panics(text in "[0-9a-zA-Z:/. +,\\-\\t\u{e9}]{0,40}", style in 0..132_i32) {
        for is_old in [true, false] {
            for style in [None, Some(style)] {
                if let Ok(rules) = Rules::of(style, DateFormat::Dmy, is_old) {
                    let _read = read_moment(&text, &rules);
                }
            }
        }
    }
}
