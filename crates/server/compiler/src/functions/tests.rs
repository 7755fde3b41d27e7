use selenite_types::{DataType, Encoding, Width};

use super::*;
use crate::testing::{Batch, assert_shown, fault, type_of};

#[test]
fn coalesce_and_isnull_return_the_first_value_that_is_not_null() {
    assert_shown(&[
        ("COALESCE(NULL, NULL, 'third', 'fourth')", "third"),
        ("COALESCE(NULL, 1, 1 / 0)", "1"),
        ("COALESCE(CAST(NULL AS int), 1.5)", "1.5"),
        ("ISNULL(NULL, 'x')", "x"),
        ("ISNULL(CAST(NULL AS char(2)), 'abc')", "ab"),
        ("ISNULL('a', 1 / 0)", "a"),
        ("NULLIF(1, 1)", "NULL"),
        ("NULLIF('a', 'A')", "NULL"),
        ("NULLIF(1, 2)", "1"),
        ("CHOOSE(3, 'Manager', 'Director', 'Developer', 'Tester')", "Developer"),
        ("CHOOSE(0, 'a')", "NULL"),
        ("CHOOSE(2.9, 'a', 'b', 'c')", "b"),
        ("GREATEST('6.62', 3.1415, N'7')", "7.0000"),
        ("LEAST(3, NULL, 2)", "2"),
        ("GREATEST(NULL, NULL)", "NULL"),
    ]);
    assert_eq!(type_of("COALESCE(1, 2.5)"), "numeric(11,1)");
    assert_eq!(type_of("ISNULL(CAST(NULL AS varchar(3)), 'abcdef')"), "varchar(3)");
    assert_eq!(type_of("NULLIF(CAST(1 AS smallint), 2)"), "smallint");
    let text = "At least one of the arguments to COALESCE must be an expression that is not the NULL constant.";
    assert_eq!(fault("COALESCE(NULL, NULL)"), (4127, text.to_owned()));
    let text = "The type of the first argument to NULLIF cannot be the NULL constant because the type of the first argument \
                has to be known.";
    assert_eq!(fault("NULLIF(NULL, 1)"), (4151, text.to_owned()));
    assert_eq!(
        fault("ISNULL(1)"),
        (174, "The isnull function requires 2 argument(s).".to_owned())
    );
}

#[test]
fn isnull_and_coalesce_are_never_null_if_an_argument_is_not() {
    let batch = Batch::new();
    assert!(!batch.bind("ISNULL(CAST(NULL AS int), 1)").unwrap().nullable);
    assert!(batch.bind("NULLIF(1, 2)").unwrap().nullable);
    assert!(!batch.bind("LEN('a')").unwrap().nullable);
}

#[test]
fn every_name_is_lower_case_and_unique() {
    let mut names: Vec<&str> = Function::states().map(|state| state.name).collect();
    let count = names.len();
    assert!(count > 200, "{count}");
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
    for name in names {
        assert_eq!(name, name.to_ascii_lowercase());
        assert_eq!(Function::find(&name.to_ascii_uppercase()).unwrap().name, name);
    }
}

#[test]
fn function_states_report_whether_a_function_is_supported() {
    let supported = |name: &str| {
        Function::states()
            .find(|state| state.name == name)
            .unwrap()
            .is_supported
    };
    assert!(supported("substring"));
    assert!(!supported("formatmessage"));
    assert!(Function::states().any(|state| state.family == "globals" && state.name == "@@rowcount"));
}

/// Values of every type as arguments.
fn samples() -> Vec<&'static str> {
    vec![
        "NULL",
        "0",
        "-3",
        "2147483647",
        "CAST(200 AS tinyint)",
        "CAST(-9223372036854775808 AS bigint)",
        "12.345",
        "-0.5",
        "99999999999999999999999999999999999999",
        "1e300",
        "-1.5e0",
        "$12.5",
        "''",
        "'abc  '",
        "N'\u{e4}\u{1f600}\u{3b2}'",
        "'20240229'",
        "'12'",
        "CAST('x' AS varchar(max))",
        "CAST('ab' AS nchar(4))",
        "0x0102ff",
        "CAST('2024-02-29' AS date)",
        "CAST('9999-12-31 23:59:59.997' AS datetime)",
        "CAST('12:30' AS time(3))",
        "CAST('0001-03-01 00:00' AS datetime2)",
        "CAST('2024-02-29 12:00 +14:00' AS datetimeoffset)",
        "CAST('6F9619FF-8B86-D011-B42D-00C04FC964FF' AS uniqueidentifier)",
        "CAST(1 AS bit)",
        "CAST(NULL AS varchar(5))",
    ]
}

#[test]
fn a_function_returns_its_declared_type_for_any_arguments() {
    let mut state: u64 = 0x5eed_2024;
    println!("seed {state:#x}");
    let mut draw = |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % below
    };
    let batch = Batch::new();
    let samples: Vec<Expr> = samples().into_iter().map(|text| batch.bind(text).unwrap()).collect();
    let parts = ["day", "month", "hour", "nanosecond", "tzoffset", "iso_week", "weekday"];
    let mut ran = 0;
    for (_, functions) in families() {
        for function in functions {
            for _ in 0..60 {
                let most = function.most.min(function.least + 3);
                let count = function.least + draw(most - function.least + 1);
                let arguments = (0..count).map(|_| samples[draw(samples.len())].clone()).collect();
                let part = DatePart::from_name(parts[draw(parts.len())]).filter(|_| function.takes_part);
                let Ok(expr) = function.bind(part, arguments) else {
                    continue;
                };
                // `Batch` asserts the type of each value.
                if batch.evaluate(&expr).is_ok() {
                    ran += 1;
                }
            }
        }
    }
    assert!(ran > 3000, "only {ran} calls gave a value");
}

#[test]
fn a_long_list_of_arguments_is_evaluated_whole() {
    let list = (1..=200)
        .map(|number| number.to_string())
        .collect::<Vec<_>>()
        .join(", ");
    assert_eq!(crate::testing::shown(&format!("LEN(CONCAT({list}))")), "492");
    assert_eq!(crate::testing::shown(&format!("CHOOSE(150, {list})")), "150");
    assert_eq!(
        Encoding::CodePage.varying(Width::Limited(9000)),
        DataType::VarChar(Width::Limited(8000))
    );
}
