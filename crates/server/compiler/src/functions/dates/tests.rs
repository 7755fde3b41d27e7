use selenite_types::{DateFirst, DateFormat};

use crate::testing::{Batch, assert_shown, fault, shown, type_of};

#[test]
fn six_functions_return_the_current_time() {
    assert_shown(&[
        ("CONVERT(varchar(23), GETDATE(), 121)", "2024-02-29 14:14:15.123"),
        (
            "CONVERT(varchar(23), CURRENT_TIMESTAMP, 121)",
            "2024-02-29 14:14:15.123",
        ),
        ("CONVERT(varchar(23), {fn NOW()}, 121)", "2024-02-29 14:14:15.123"),
        ("CONVERT(varchar(23), GETUTCDATE(), 121)", "2024-02-29 13:14:15.123"),
        ("SYSDATETIME()", "2024-02-29 14:14:15.1234567"),
        ("SYSUTCDATETIME()", "2024-02-29 13:14:15.1234567"),
        ("SYSDATETIMEOFFSET()", "2024-02-29 14:14:15.1234567 +01:00"),
    ]);
    assert_eq!(type_of("GETDATE()"), "datetime");
    assert_eq!(type_of("SYSDATETIME()"), "datetime2(7)");
    assert_eq!(
        fault("GETDATE(1)"),
        (174, "The getdate function requires 0 argument(s).".to_owned())
    );
}

#[test]
fn dateadd_keeps_the_type() {
    assert_shown(&[
        ("DATEADD(month, 1, CAST('20060830' AS date))", "2006-09-30"),
        ("DATEADD(mm, 1, CAST('20060831' AS date))", "2006-09-30"),
        ("DATEADD(year, -1, CAST('20240229' AS date))", "2023-02-28"),
        (
            "CONVERT(varchar(23), DATEADD(day, 1, '20240228'), 121)",
            "2024-02-29 00:00:00.000",
        ),
        (
            "DATEADD(hour, 25, CAST('2007-05-08 12:35:29.1234567' AS datetime2))",
            "2007-05-09 13:35:29.1234567",
        ),
        (
            "DATEADD(ns, 150, CAST('2007-01-01 13:10:10.1111111' AS datetime2))",
            "2007-01-01 13:10:10.1111113",
        ),
        ("DATEADD(second, -1, CAST('00:00:00' AS time(0)))", "23:59:59"),
        ("DATEADD(day, NULL, CAST('20240228' AS date))", "NULL"),
        ("DATEADD(day, 1.9, CAST('20240228' AS date))", "2024-02-29"),
    ]);
    assert_eq!(type_of("DATEADD(day, 1, '20240228')"), "datetime");
    assert_eq!(
        type_of("DATEADD(day, 1, CAST('20240228' AS smalldatetime))"),
        "smalldatetime"
    );
    let text = "Adding a value to a 'date' column caused an overflow.";
    assert_eq!(
        fault("DATEADD(year, 9999, CAST('20240101' AS date))"),
        (517, text.to_owned())
    );
    let text = "'foo' is not a recognized dateadd option.";
    assert_eq!(fault("DATEADD(foo, 1, '20240101')"), (155, text.to_owned()));
    let text = "Invalid parameter 1 specified for dateadd.";
    assert_eq!(fault("DATEADD('day', 1, '20240101')"), (1023, text.to_owned()));
    assert_eq!(
        fault("DATEADD(day, 1)"),
        (174, "The dateadd function requires 3 argument(s).".to_owned())
    );
    let text = "The datepart hour is not supported by date function dateadd for data type date.";
    assert_eq!(
        fault("DATEADD(hour, 1, CAST('20240101' AS date))"),
        (9810, text.to_owned())
    );
}

#[test]
fn datediff_counts_boundaries() {
    assert_shown(&[
        (
            "DATEDIFF(year, '20051231 23:59:59.9999999', '20060101 00:00:00.0000000')",
            "1",
        ),
        (
            "DATEDIFF(day, CAST('20070101' AS date), CAST('20071231' AS date))",
            "364",
        ),
        (
            "DATEDIFF(s, CAST('20240101' AS datetime), CAST('20240101 00:01' AS datetime))",
            "60",
        ),
        ("DATEDIFF(week, '2024-02-24', '2024-02-25')", "1"),
        ("DATEDIFF(month, CAST('20240131' AS date), GETDATE())", "1"),
        ("DATEDIFF(day, '20240229', '20240228')", "-1"),
        ("DATEDIFF(hour, '2024-01-01 00:00 +01:00', '2024-01-01 00:00')", "1"),
        ("DATEDIFF(day, NULL, GETDATE())", "NULL"),
        ("DATEDIFF_BIG(ns, '20240101', '20240102')", "86400000000000"),
        ("DATEDIFF(day, 0, 45000)", "45000"),
    ]);
    let text = "The datediff function resulted in an overflow. The number of dateparts separating two date/time instances is \
                too large. Try to use datediff with a less precise datepart.";
    assert_eq!(fault("DATEDIFF(ns, '20240101', '20240102')"), (535, text.to_owned()));
    assert_eq!(type_of("DATEDIFF_BIG(day, 0, 1)"), "bigint");
}

#[test]
fn parts_are_numbers_and_names() {
    assert_shown(&[
        ("DATEPART(year, '12:10:30.123')", "1900"),
        ("DATEPART(quarter, '20071030')", "4"),
        ("DATEPART(dayofyear, '20071030')", "303"),
        ("DATEPART(week, '20071030')", "44"),
        ("DATEPART(dw, '20071030')", "3"),
        ("DATEPART(ms, '2007-10-30 12:15:32.1234567')", "123"),
        ("DATEPART(tz, '2007-10-30 12:15:32.1234567 +05:10')", "310"),
        ("DATEPART(iso_week, '20071030')", "44"),
        ("DATENAME(month, '20071030')", "October"),
        ("DATENAME(weekday, '20071030')", "Tuesday"),
        ("DATENAME(day, '20071030')", "30"),
        ("DATENAME(tzoffset, '2007-10-30 12:15:32.1234567 +05:10')", "+05:10"),
        ("YEAR('20071030')", "2007"),
        ("MONTH(CAST('20071030' AS datetime))", "10"),
        ("DAY('2007-04-30T01:01:01.1234567-07:00')", "30"),
        ("YEAR(0)", "1900"),
        ("YEAR(NULL)", "NULL"),
    ]);
    assert_eq!(type_of("DATENAME(month, GETDATE())"), "nvarchar(30)");
    let mut batch = Batch::new();
    batch.world.session.date_first = DateFirst::new(1).unwrap();
    assert_eq!(batch.shown("DATEPART(dw, '20071030')"), "2");
}

#[test]
fn the_end_of_a_month_is_found() {
    assert_shown(&[
        ("EOMONTH('12/1/2011')", "2011-12-31"),
        ("EOMONTH(CAST('20240115' AS datetime), 1)", "2024-02-29"),
        ("EOMONTH('20240115', -2)", "2023-11-30"),
        ("EOMONTH(NULL)", "NULL"),
    ]);
}

#[test]
fn isdate_reads_text_as_the_session_does() {
    assert_shown(&[
        ("ISDATE('2009-05-12 10:19:41.177')", "1"),
        ("ISDATE('2009-02-29')", "0"),
        ("ISDATE('x')", "0"),
        ("ISDATE(NULL)", "0"),
        ("ISDATE(GETDATE())", "1"),
        ("ISDATE('15/4/2008')", "0"),
        ("ISDATE(20240229)", "1"),
    ]);
    let mut batch = Batch::new();
    batch.world.session.date_format = DateFormat::Dmy;
    assert_eq!(batch.shown("ISDATE('15/4/2008')"), "1");
    let text = "Argument data type datetime2 is invalid for argument 1 of isdate function.";
    assert_eq!(fault("ISDATE(SYSDATETIME())"), (8116, text.to_owned()));
}

#[test]
fn dates_are_made_of_parts() {
    assert_shown(&[
        ("DATEFROMPARTS(2010, 12, 31)", "2010-12-31"),
        ("DATEFROMPARTS(2010, NULL, 31)", "NULL"),
        (
            "CONVERT(varchar(23), DATETIMEFROMPARTS(2010, 12, 31, 23, 59, 59, 0), 121)",
            "2010-12-31 23:59:59.000",
        ),
        (
            "DATETIME2FROMPARTS(2011, 8, 15, 14, 23, 44, 5, 1)",
            "2011-08-15 14:23:44.5",
        ),
        (
            "DATETIME2FROMPARTS(2011, 8, 15, 14, 23, 44, 500, 3)",
            "2011-08-15 14:23:44.500",
        ),
        (
            "DATETIMEOFFSETFROMPARTS(2010, 12, 31, 14, 23, 23, 0, 12, 0, 7)",
            "2010-12-31 14:23:23.0000000 +12:00",
        ),
        (
            "CONVERT(varchar(16), SMALLDATETIMEFROMPARTS(2010, 12, 31, 23, 59), 121)",
            "2010-12-31 23:59",
        ),
        ("TIMEFROMPARTS(23, 59, 59, 0, 0)", "23:59:59"),
        ("TIMEFROMPARTS(14, 23, 44, 50, 2)", "14:23:44.50"),
    ]);
    assert_eq!(
        type_of("DATETIME2FROMPARTS(2011, 8, 15, 14, 23, 44, 5, 1)"),
        "datetime2(1)"
    );
    let text = "Cannot construct data type date, some of the arguments have values which are not valid.";
    assert_eq!(fault("DATEFROMPARTS(2010, 2, 30)"), (289, text.to_owned()));
    assert_eq!(fault("TIMEFROMPARTS(1, 1, 1, 0, NULL)").0, 10760);
    assert_eq!(fault("TIMEFROMPARTS(1, 1, 1, 0, 8)").0, 10760);
}

#[test]
fn offsets_are_switched_and_attached() {
    assert_shown(&[
        (
            "SWITCHOFFSET(CAST('1998-09-20 7:45:50.71345 -5:00' AS datetimeoffset), '-08:00')",
            "1998-09-20 04:45:50.7134500 -08:00",
        ),
        (
            "SWITCHOFFSET(CAST('2024-01-01 00:00 +00:00' AS datetimeoffset(0)), 90)",
            "2024-01-01 01:30:00 +01:30",
        ),
        (
            "TODATETIMEOFFSET(CAST('2024-01-01' AS datetime2(0)), '-07:00')",
            "2024-01-01 00:00:00 -07:00",
        ),
        (
            "TODATETIMEOFFSET(CAST('2024-01-01' AS datetime2(0)), -120)",
            "2024-01-01 00:00:00 -02:00",
        ),
    ]);
    assert_eq!(
        type_of("TODATETIMEOFFSET(CAST('2024-01-01' AS datetime), 0)"),
        "datetimeoffset(3)"
    );
    assert_eq!(fault("SWITCHOFFSET(SYSDATETIMEOFFSET(), '+15:00')").0, 9812);
}

#[test]
fn datetrunc_returns_the_beginning_of_a_part() {
    // The examples of the documentation.
    let moment = "CAST('2021-12-08 11:30:15.1234567' AS datetime2)";
    for (part, begin) in [
        ("year", "2021-01-01 00:00:00.0000000"),
        ("quarter", "2021-10-01 00:00:00.0000000"),
        ("month", "2021-12-01 00:00:00.0000000"),
        ("week", "2021-12-05 00:00:00.0000000"),
        ("iso_week", "2021-12-06 00:00:00.0000000"),
        ("dayofyear", "2021-12-08 00:00:00.0000000"),
        ("day", "2021-12-08 00:00:00.0000000"),
        ("hour", "2021-12-08 11:00:00.0000000"),
        ("minute", "2021-12-08 11:30:00.0000000"),
        ("second", "2021-12-08 11:30:15.0000000"),
        ("millisecond", "2021-12-08 11:30:15.1230000"),
        ("microsecond", "2021-12-08 11:30:15.1234560"),
    ] {
        assert_eq!(shown(&format!("DATETRUNC({part}, {moment})")), begin, "{part}");
    }
    assert_shown(&[
        (
            "DATETRUNC(hour, CAST('2021-12-08 11:30:15.1234567 +02:00' AS datetimeoffset))",
            "2021-12-08 11:00:00.0000000 +02:00",
        ),
        ("DATETRUNC(month, '1998-03-04')", "1998-03-01 00:00:00.0000000"),
        ("DATETRUNC(minute, CAST('12:34:56' AS time(0)))", "12:34:00"),
        ("DATETRUNC(year, CAST(NULL AS date))", "NULL"),
    ]);
    assert_eq!(type_of("DATETRUNC(month, GETDATE())"), "datetime");
    assert_eq!(fault("DATETRUNC(weekday, GETDATE())").0, 9806);
    assert_eq!(fault("DATETRUNC(hour, CAST('2021-12-08' AS date))").0, 9810);
    assert_eq!(
        fault("DATETRUNC(millisecond, CAST('2021-12-08' AS datetime2(2)))").0,
        9810
    );
    assert_eq!(fault("DATETRUNC(week, CAST('0001-01-01' AS date))").0, 9837);
    assert_eq!(fault("DATETRUNC(week, 5)").0, 8116);
}

#[test]
fn date_bucket_counts_buckets_from_an_origin() {
    // The examples of the documentation.
    let moment = "CAST('2020-04-15 21:22:11' AS datetime2(0))";
    assert_shown(&[
        (&format!("DATE_BUCKET(WEEK, 1, {moment})"), "2020-04-13 00:00:00"),
        (&format!("DATE_BUCKET(DAY, 1, {moment})"), "2020-04-15 00:00:00"),
        (&format!("DATE_BUCKET(MONTH, 1, {moment})"), "2020-04-01 00:00:00"),
        (&format!("DATE_BUCKET(HOUR, 1, {moment})"), "2020-04-15 21:00:00"),
        (
            "DATE_BUCKET(WEEK, 5, CAST('2020-06-15 21:22:11' AS datetime2(0)), CAST('2019-01-01' AS datetime2(0)))",
            "2020-06-09 00:00:00",
        ),
        ("DATE_BUCKET(YEAR, 10, CAST('1899-06-01' AS date))", "1890-01-01"),
        ("DATE_BUCKET(MINUTE, 15, CAST('12:34:56' AS time(0)))", "12:30:00"),
        ("DATE_BUCKET(DAY, 1, CAST(NULL AS date))", "NULL"),
    ]);
    assert_eq!(fault(&format!("DATE_BUCKET(WEEK, 0, {moment})")).0, 9834);
    assert_eq!(fault(&format!("DATE_BUCKET(NANOSECOND, 1, {moment})")).0, 9806);
    assert_eq!(fault("DATE_BUCKET(HOUR, 1, CAST('2020-04-15' AS date))").0, 9810);
}

#[test]
fn at_time_zone_follows_the_rules_of_a_zone() {
    let zone = "'Central European Standard Time'";
    for (local, zoned) in [
        // The documentation's examples: a time that the clock skips, and one that it shows twice.
        ("2022-03-27T01:01:00", "2022-03-27 01:01:00 +01:00"),
        ("2022-03-27T02:01:00", "2022-03-27 03:01:00 +02:00"),
        ("2022-03-27T03:01:00", "2022-03-27 03:01:00 +02:00"),
        ("2022-10-30T01:01:00", "2022-10-30 01:01:00 +02:00"),
        ("2022-10-30T02:01:00", "2022-10-30 02:01:00 +01:00"),
        ("2022-10-30T03:01:00", "2022-10-30 03:01:00 +01:00"),
    ] {
        assert_eq!(
            shown(&format!("CAST('{local}' AS datetime2(0)) AT TIME ZONE {zone}")),
            zoned,
            "{local}"
        );
    }
    assert_shown(&[
        (
            "CAST('2015-03-31 10:00 +00:00' AS datetimeoffset(0)) AT TIME ZONE 'Pacific Standard Time'",
            "2015-03-31 03:00:00 -07:00",
        ),
        (
            "CAST('2020-01-01' AS datetime2(0)) AT TIME ZONE 'UTC' AT TIME ZONE 'india standard time'",
            "2020-01-01 05:30:00 +05:30",
        ),
        ("CAST(NULL AS datetime) AT TIME ZONE 'UTC'", "NULL"),
    ]);
    assert_eq!(type_of("GETDATE() AT TIME ZONE 'UTC'"), "datetimeoffset(3)");
    assert_eq!(fault("GETDATE() AT TIME ZONE 'Mars'").0, 9820);
    assert_eq!(fault("CAST('2020-01-01' AS date) AT TIME ZONE 'UTC'").0, 8116);
    assert_eq!(fault("'2020-01-01' AT TIME ZONE 'UTC'").0, 8116);
}
