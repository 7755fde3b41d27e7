use selenite_types::{Value, text_of};

use super::*;
use crate::testing::Batch;

/// The aggregate of values, as text with its type.
fn of(kind: AggregateKind, values: &[&str]) -> Result<String, (i32, String)> {
    let number_and_text = |error: SqlError| (error.number(), error.text().to_owned());
    let batch = Batch::new();
    let exprs: Vec<Expr> = values.iter().map(|text| batch.bind(text).unwrap()).collect();
    let mut arguments = vec![exprs[0].clone()];
    if kind == AggregateKind::StringAgg {
        arguments.push(batch.bind("', '").unwrap());
    }
    let aggregate = Aggregate::bind(kind, arguments).map_err(number_and_text)?;
    let operand_type = aggregate.operand.as_ref().unwrap().data_type;
    let separator = match &aggregate.separator {
        Some(separator) => batch.evaluate(separator).unwrap(),
        None => Value::Null,
    };
    let mut accumulator = Accumulator::new(&aggregate, &separator);
    for expr in exprs {
        let value = batch.evaluate(&expr.converted_to(&operand_type).unwrap()).unwrap();
        accumulator.step(&value).map_err(number_and_text)?;
    }
    let value = accumulator.finish().map_err(number_and_text)?;
    let shown = text_of(&value, &aggregate.data_type).unwrap_or_else(|| "NULL".to_owned());
    Ok(format!("{} {shown}", aggregate.data_type))
}

fn shows(kind: AggregateKind, values: &[&str], expected: &str) {
    assert_eq!(of(kind, values).as_deref(), Ok(expected), "{kind:?} of {values:?}");
}

const NO_INT: &str = "CAST(NULL AS int)";

#[test]
fn counts_skip_nulls() {
    shows(AggregateKind::Count, &["1", NO_INT, "3"], "int 2");
    shows(AggregateKind::CountBig, &["'a'", "'b'"], "bigint 2");
    shows(AggregateKind::Count, &[NO_INT], "int 0");
    let rows = Aggregate::bind(AggregateKind::Count, Vec::new()).unwrap();
    let mut accumulator = Accumulator::new(&rows, &Value::Null);
    accumulator.step(&Value::Null).unwrap();
    assert_eq!(accumulator.finish(), Ok(Value::Int(1)));
}

#[test]
fn sums_and_averages_have_the_published_types() {
    shows(AggregateKind::Sum, &["CAST(1 AS tinyint)", "2"], "int 3");
    shows(AggregateKind::Sum, &["1.50", "2.25"], "numeric(38,2) 3.75");
    shows(AggregateKind::Sum, &["$1.5", "$2"], "money 3.50");
    shows(AggregateKind::Sum, &["CAST(1.5 AS real)"], "float 1.5");
    shows(AggregateKind::Avg, &["1", "2"], "int 1");
    shows(AggregateKind::Avg, &["-1", "-2"], "int -1");
    shows(AggregateKind::Avg, &["1.0", "2.0", "2.0"], "numeric(38,6) 1.666666");
    shows(AggregateKind::Avg, &["1e0", "2"], "float 1.5");
    shows(AggregateKind::Avg, &[NO_INT], "int NULL");
    shows(AggregateKind::Sum, &[NO_INT, "4"], "int 4");
}

#[test]
fn a_sum_that_leaves_its_type_is_an_overflow_whatever_the_order() {
    let overflow = |of: &str| {
        Err((
            8115,
            format!("Arithmetic overflow error converting expression to data type {of}."),
        ))
    };
    assert_eq!(of(AggregateKind::Sum, &["2147483647", "1"]), overflow("int"));
    assert_eq!(of(AggregateKind::Avg, &["2147483647", "1"]), overflow("int"));
    shows(AggregateKind::Sum, &["2147483647", "1", "-1"], "int 2147483647");
    let most = "9".repeat(38);
    assert_eq!(of(AggregateKind::Sum, &[&most, &most]), overflow("numeric"));
}

#[test]
fn min_and_max_accept_any_type_but_bit() {
    shows(AggregateKind::Min, &["'b'", "'A'", "'c'"], "varchar(1) A");
    shows(AggregateKind::Max, &["3", NO_INT, "7"], "int 7");
    shows(
        AggregateKind::Max,
        &["CAST('20240101' AS date)", "CAST('20240229' AS date)"],
        "date 2024-02-29",
    );
    let refused = Err((8117, "Operand data type bit is invalid for min operator.".to_owned()));
    assert_eq!(of(AggregateKind::Min, &["CAST(1 AS bit)"]), refused);
    let refused = Err((
        8117,
        "Operand data type varchar is invalid for sum operator.".to_owned(),
    ));
    assert_eq!(of(AggregateKind::Sum, &["'1'"]), refused);
    let refused = Err((8117, "Operand data type NULL is invalid for count operator.".to_owned()));
    assert_eq!(of(AggregateKind::Count, &["NULL"]), refused);
}

#[test]
fn deviations_are_of_a_sample_or_of_the_population() {
    let values = ["2", "4", "4", "4", "5", "5", "7", "9"];
    shows(AggregateKind::StDevP, &values, "float 2");
    shows(AggregateKind::VarP, &values, "float 4");
    shows(AggregateKind::Var, &values, "float 4.57143");
    shows(AggregateKind::StDev, &values, "float 2.13809");
    shows(AggregateKind::StDev, &["1"], "float NULL");
    shows(AggregateKind::StDevP, &["1"], "float 0");
}

#[test]
fn texts_are_joined_and_checksums_combined() {
    shows(
        AggregateKind::StringAgg,
        &["'a'", "CAST(NULL AS varchar(1))", "'b'"],
        "varchar(8000) a, b",
    );
    shows(AggregateKind::StringAgg, &["1", "2"], "nvarchar(4000) 1, 2");
    let long = "REPLICATE('x', 5000)";
    let (number, text) = of(AggregateKind::StringAgg, &[long, long]).unwrap_err();
    assert_eq!(number, 9829);
    let expected =
        "STRING_AGG aggregation result exceeded the limit of 8000 bytes. Use LOB types to avoid result truncation.";
    assert_eq!(text, expected);
    shows(AggregateKind::ChecksumAgg, &["5", "3", "5"], "int 3");
    let bound = Aggregate::bind(AggregateKind::StringAgg, vec![Batch::new().bind("'a'").unwrap()]);
    assert_eq!(
        bound.unwrap_err().text(),
        "The string_agg function requires 2 argument(s)."
    );
}

#[test]
fn aggregates_are_found_by_name() {
    assert_eq!(AggregateKind::find("StDevP"), Some(AggregateKind::StDevP));
    assert_eq!(AggregateKind::find("substring"), None);
}
