use super::*;

const INTEGERS: [DataType; 4] = [DataType::TinyInt, DataType::SmallInt, DataType::Int, DataType::BigInt];

#[test]
fn truncation_and_rounding_are_as_documented() {
    // 10.6496 and -10.6496, to int and to numeric.
    for (unscaled, cut, rounded) in [(106_496, 10, 11), (-106_496, -10, -11)] {
        let from = decimal(6, 4);
        assert_eq!(cast(&number(unscaled, 4), from, DataType::Int), Ok(Value::Int(cut)));
        assert_eq!(cast(&number(unscaled, 4), from, decimal(18, 0)), Ok(number(rounded, 0)));
    }
    assert_eq!(
        cast(&number(103_496_847, 7), decimal(9, 7), DataType::Money),
        Ok(Value::Money(103_497))
    );
    assert_eq!(
        cast(&number(19_357, 2), decimal(5, 2), decimal(10, 5)),
        Ok(number(19_357_000, 5))
    );
    assert_eq!(
        cast(&Value::Float(-1.9), DataType::Float, DataType::Int),
        Ok(Value::Int(-1))
    );
    assert_eq!(
        cast(&Value::Money(15_000), DataType::Money, DataType::Int),
        Ok(Value::Int(2))
    );
    assert_eq!(
        cast(&Value::Money(-5_000), DataType::Money, DataType::Int),
        Ok(Value::Int(-1))
    );
    assert_eq!(
        cast(&Value::Money(14_999), DataType::Money, decimal(9, 1)),
        Ok(number(15, 1))
    );
}

#[test]
fn integers_out_of_range_are_errors() {
    let refused_to = |value: Value, from, to| refused(cast(&value, from, to));
    assert_eq!(
        refused_to(Value::Int(300), DataType::Int, DataType::TinyInt),
        (
            220,
            "Arithmetic overflow error for data type tinyint, value = 300.".into()
        )
    );
    assert_eq!(
        refused_to(Value::Int(-40_000), DataType::Int, DataType::SmallInt),
        (
            220,
            "Arithmetic overflow error for data type smallint, value = -40000.".into()
        )
    );
    assert_eq!(
        refused_to(Value::BigInt(1 << 40), DataType::BigInt, DataType::Int),
        (
            8115,
            "Arithmetic overflow error converting expression to data type int.".into()
        )
    );
    assert_eq!(
        refused_to(Value::BigInt(300), DataType::BigInt, DataType::TinyInt).0,
        8115
    );
    let large = decimal(10, 0);
    assert_eq!(
        refused_to(number(3_000_000_000, 0), large, DataType::Int),
        (
            8115,
            "Arithmetic overflow error converting expression to data type int.".into()
        )
    );
    for (value, from) in [(Value::Int(255), DataType::Int), (number(2559, 1), decimal(4, 1))] {
        assert_eq!(cast(&value, from, DataType::TinyInt), Ok(Value::TinyInt(255)));
    }
}

#[test]
fn text_converts_to_integers() {
    for (from, number) in [("", 0), ("  ", 0), (" 42 ", 42), ("-7", -7), ("+7", 7)] {
        assert_eq!(read(from, DataType::Int), Ok(Value::Int(number)), "{from:?}");
    }
    assert_eq!(
        refused(cast(&text("abc"), DataType::NChar(3), DataType::Int)),
        (
            245,
            "Conversion failed when converting the nvarchar value 'abc' to data type int.".into()
        )
    );
    assert_eq!(
        refused(cast(&text("1.5  "), DataType::Char(5), DataType::TinyInt)),
        (
            245,
            "Conversion failed when converting the varchar value '1.5  ' to data type tinyint.".into()
        )
    );
    assert_eq!(
        refused(read("x", DataType::BigInt)),
        (8114, "Error converting data type varchar to bigint.".into())
    );
    assert_eq!(
        refused(read("2147483648", DataType::Int)),
        (
            248,
            "The conversion of the varchar value '2147483648' overflowed an int column.".into()
        )
    );
    assert_eq!(
        refused(read("256", DataType::TinyInt)),
        (
            244,
            "The conversion of the varchar value '256' overflowed an INT1 column. Use a larger integer column.".into()
        )
    );
    assert_eq!(
        refused(read("-32769", DataType::SmallInt)),
        (
            244,
            "The conversion of the varchar value '-32769' overflowed an INT2 column. Use a larger integer column."
                .into()
        )
    );
    assert_eq!(refused(read("-1", DataType::TinyInt)).0, 244);
    assert_eq!(
        refused(read("9223372036854775808", DataType::BigInt)),
        (
            8115,
            "Arithmetic overflow error converting expression to data type bigint.".into()
        )
    );
    assert_eq!(
        read("-9223372036854775808", DataType::BigInt),
        Ok(Value::BigInt(i64::MIN))
    );
}

#[test]
fn a_bit_is_whether_the_value_is_nonzero() {
    for (value, from, bit) in [
        (text("TRUE"), VARCHAR, true),
        (text(" false "), VARCHAR, false),
        (text(""), VARCHAR, false),
        (text("-5"), VARCHAR, true),
        (number(1, 3), decimal(4, 3), true),
        (Value::Money(1), DataType::Money, true),
        (Value::Float(0.2), DataType::Float, true),
        (Value::Float(-0.0), DataType::Float, false),
        (Value::BigInt(i64::MIN), DataType::BigInt, true),
        (bytes(&[1, 0]), VARBINARY, false),
        (bytes(&[0, 1]), VARBINARY, true),
    ] {
        assert_eq!(cast(&value, from, DataType::Bit), Ok(Value::Bit(bit)), "{value:?}");
    }
    assert_eq!(
        refused(read("yes", DataType::Bit)).1,
        "Conversion failed when converting the varchar value 'yes' to data type bit."
    );
    for to in INTEGERS {
        assert_eq!(shown(&cast(&Value::Bit(true), DataType::Bit, to).unwrap(), to), "1");
    }
}

#[test]
fn decimals_round_and_out_of_range_is_an_error() {
    assert_eq!(read("1.55", decimal(5, 1)), Ok(number(16, 1)));
    assert_eq!(read("-1.55", decimal(5, 1)), Ok(number(-16, 1)));
    for from in ["", "abc", "1e5", "1,000", "$1"] {
        assert_eq!(
            refused(read(from, decimal(9, 2))),
            (8114, "Error converting data type varchar to numeric.".into()),
            "{from:?}"
        );
    }
    assert_eq!(
        refused(read("99.5", decimal(2, 0))),
        (
            8115,
            "Arithmetic overflow error converting varchar to data type numeric.".into()
        )
    );
    assert_eq!(
        refused(cast(&Value::TinyInt(100), DataType::TinyInt, decimal(2, 0))).1,
        "Arithmetic overflow error converting tinyint to data type numeric."
    );
    assert_eq!(
        refused(cast(&number(9995, 1), decimal(4, 1), decimal(3, 0))).1,
        "Arithmetic overflow error converting numeric to data type numeric."
    );
    assert_eq!(
        refused(cast(&Value::Float(1e10), DataType::Float, decimal(9, 2))).1,
        "Arithmetic overflow error converting float to data type numeric."
    );
    let exact = cast(&Value::Real(1.1), DataType::Real, decimal(20, 10));
    assert_eq!(exact, Ok(number(11_000_000_238, 10)));
}

#[test]
fn money_accepts_currency_signs_and_checks_its_range() {
    assert_eq!(read("$1,234.5678", DataType::Money), Ok(Value::Money(12_345_678)));
    assert_eq!(read("", DataType::SmallMoney), Ok(Value::Money(0)));
    assert_eq!(
        refused(read("ABC", DataType::Money)),
        (
            235,
            "Cannot convert a char value to money. The char value has incorrect syntax.".into()
        )
    );
    assert_eq!(
        refused(read("ABC", DataType::SmallMoney)),
        (
            293,
            "Cannot convert a char value to smallmoney. The char value has incorrect syntax.".into()
        )
    );
    assert_eq!(
        refused(cast(&number(10_i128.pow(16), 0), decimal(17, 0), DataType::Money)).1,
        "Arithmetic overflow error converting numeric to data type money."
    );
    assert_eq!(
        refused(cast(&Value::Int(1_000_000), DataType::Int, DataType::SmallMoney)),
        (
            220,
            "Arithmetic overflow error for data type smallmoney, value = 1000000.".into()
        )
    );
    assert_eq!(
        refused(cast(&Value::Money(i64::MAX), DataType::Money, DataType::SmallMoney)),
        (
            237,
            "There is insufficient result space to convert a money value to smallmoney.".into()
        )
    );
    assert_eq!(
        refused(read("922337203685478", DataType::Money)).1,
        "Arithmetic overflow error converting expression to data type money."
    );
    assert_eq!(
        refused(cast(&Value::Float(1e15), DataType::Float, DataType::Money)).1,
        "Arithmetic overflow error for type money, value = 1000000000000000.000000."
    );
}

#[test]
fn money_out_of_range_of_an_integer_has_sql_servers_message() {
    let refused_to = |units, to| refused(cast(&Value::Money(units), DataType::Money, to));
    assert_eq!(
        refused_to(i64::MAX, DataType::Int),
        (
            237,
            "There is insufficient result space to convert a money value to int.".into()
        )
    );
    assert_eq!(
        refused_to(700_000_000, DataType::SmallInt),
        (
            220,
            "Arithmetic overflow error for data type smallint, value = 700000000.".into()
        )
    );
    assert_eq!(
        refused_to(3_000_000, DataType::TinyInt),
        (
            232,
            "Arithmetic overflow error for type tinyint, value = 300.000000.".into()
        )
    );
    assert_eq!(refused_to(i64::MAX, DataType::TinyInt).0, 237);
    let small = |to| refused(cast(&Value::Money(1_000_000_000), DataType::SmallMoney, to));
    assert_eq!(small(DataType::TinyInt).0, 8115);
    assert_eq!(
        small(DataType::SmallInt).1,
        "Arithmetic overflow error for data type smallint, value = 100000."
    );
    assert_eq!(
        cast(&Value::Money(i64::MAX), DataType::Money, DataType::BigInt),
        Ok(Value::BigInt(922_337_203_685_478))
    );
}

#[test]
fn floats_out_of_range_are_error_232_with_their_value() {
    for (value, to, text) in [
        (
            300.0,
            DataType::TinyInt,
            "Arithmetic overflow error for type tinyint, value = 300.000000.",
        ),
        (
            3e9,
            DataType::Int,
            "Arithmetic overflow error for type int, value = 3000000000.000000.",
        ),
        (
            1e30,
            DataType::Int,
            "Arithmetic overflow error for type int, value = 1000000000000000000000000000000.000000.",
        ),
        (
            1e39,
            DataType::Real,
            "Arithmetic overflow error for type real, value = 999999999999999940000000000000000000000.000000.",
        ),
    ] {
        assert_eq!(
            refused(cast(&Value::Float(value), DataType::Float, to)),
            (232, text.into())
        );
    }
    assert_eq!(
        refused(cast(&Value::Float(1e20), DataType::Float, DataType::BigInt)),
        (
            8115,
            "Arithmetic overflow error converting expression to data type bigint.".into()
        )
    );
}

#[test]
fn floats_are_rounded_to_nearest() {
    assert_eq!(read("1e3", DataType::Float), Ok(Value::Float(1000.0)));
    assert_eq!(read("", DataType::Real), Ok(Value::Real(0.0)));
    assert_eq!(
        cast(&number(1, 1), decimal(2, 1), DataType::Float),
        Ok(Value::Float(0.1))
    );
    assert_eq!(
        cast(&Value::Money(-1), DataType::Money, DataType::Float),
        Ok(Value::Float(-0.0001))
    );
    let odd = (1_i64 << 53) + 1;
    assert_eq!(
        cast(&Value::BigInt(odd), DataType::BigInt, DataType::Float),
        Ok(Value::Float(9_007_199_254_740_992.0))
    );
    assert_eq!(
        cast(&Value::Real(0.1), DataType::Real, DataType::Float),
        Ok(Value::Float(f64::from(0.1_f32)))
    );
    assert_eq!(
        cast(&Value::Float(0.1), DataType::Float, DataType::Real),
        Ok(Value::Real(0.1))
    );
    for (from, to, name) in [("abc", DataType::Float, "float"), (".", DataType::Real, "real")] {
        let text = format!("Error converting data type varchar to {name}.");
        assert_eq!(refused(read(from, to)), (8114, text));
    }
    assert_eq!(refused(read("1e400", DataType::Float)).0, 8115);
    assert_eq!(refused(read("1e39", DataType::Real)).0, 8115);
}
