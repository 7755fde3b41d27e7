use super::*;

#[test]
fn decimal_is_numeric_only_in_messages_about_values() {
    let error = refused(read("x", decimal(5, 0)));
    assert_eq!(error.1, "Error converting data type varchar to numeric.");
    let error = refused(cast(&number(1, 0), decimal(5, 0), DataType::Date));
    assert_eq!(
        error,
        (
            529,
            "Explicit conversion from data type decimal to date is not allowed.".into()
        )
    );
}

#[test]
fn a_percent_sign_in_a_value_is_not_a_placeholder() {
    let error = refused(read("%t%d%%", DataType::Int));
    assert_eq!(
        error.1,
        "Conversion failed when converting the varchar value '%t%d%%' to data type int."
    );
    let max = refused(cast(&text("x"), DataType::VarChar(Width::Max), DataType::Int));
    assert_eq!(
        max.1,
        "Conversion failed when converting the varchar(max) value 'x' to data type int."
    );
}

#[test]
fn null_converts_where_its_type_does() {
    assert_eq!(cast(&Value::Null, DataType::Int, VARCHAR), Ok(Value::Null));
    assert_eq!(refused(cast(&Value::Null, DataType::Int, DataType::Date)).0, 529);
}

#[test]
fn try_cast_returns_null_only_for_errors_of_the_value() {
    let of_value = |result: Result<Value, ConversionError>| result.unwrap_err().is_of_value();
    assert!(of_value(read("x", DataType::Int)));
    assert!(of_value(read("x", DataType::Date)));
    assert!(of_value(cast(&Value::Int(300), DataType::Int, DataType::TinyInt)));
    assert!(!of_value(cast(&Value::Int(300), DataType::Int, DataType::Date)));
    assert!(!of_value(styled(
        &Value::Date(Date::BASE),
        DataType::Date,
        VARCHAR,
        999
    )));
    assert!(!of_value(styled(&text("x"), VARCHAR, DataType::DateTime, 130)));
}

#[test]
fn every_conversion_returns_a_value_or_an_error() {
    let values = [
        Value::Null,
        Value::Bit(true),
        Value::TinyInt(200),
        Value::SmallInt(-1),
        Value::Int(i32::MIN),
        Value::BigInt(i64::MAX),
        number(-5, 1),
        number(10_i128.pow(38) - 1, 38),
        Value::Decimal(Decimal {
            unscaled: i128::MIN,
            scale: 255,
        }),
        Value::Money(i64::MIN),
        Value::Real(f32::NAN),
        Value::Float(f64::NEG_INFINITY),
        Value::Float(1e-310),
        text(""),
        text("2024-02-29 \u{1f600}"),
        bytes(&[0xff; 12]),
        Value::Date(Date(u32::MAX)),
        Value::Time(TimeOfDay(u64::MAX)),
        Value::DateTime(DateTime2 {
            date: Date(u32::MAX),
            time: TimeOfDay(u64::MAX),
        }),
        Value::DateTime(DateTime2::MIN),
        Value::DateTimeOffset(crate::DateTimeOffset {
            utc: DateTime2::MIN,
            offset_minutes: i16::MIN,
        }),
        Value::Guid(crate::Guid([0; 16])),
    ];
    let types = every_type();
    for from in &types {
        for to in &types {
            let never = conversion(from, to) == Conversion::Never;
            for value in &values {
                for style in [None, Some(0), Some(1), Some(127), Some(-9)] {
                    let result = convert(value, from, to, style, DateFormat::Dmy);
                    let is_never = result.as_ref().is_err_and(|error| error.number() == 529);
                    assert_eq!(is_never, never, "{value:?} from {from} to {to}");
                    if let Err(error) = result {
                        assert!(!error.to_string().is_empty() && error.severity() == 16);
                    }
                }
            }
        }
    }
}
