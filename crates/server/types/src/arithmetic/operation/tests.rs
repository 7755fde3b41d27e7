use proptest::prelude::*;

use super::*;
use crate::{Date, DateTime2, TimeOfDay};

fn decimal_of(unscaled: i128, scale: u8) -> Value {
    Value::Decimal(Decimal { unscaled, scale })
}

fn text(text: &str) -> Value {
    Value::Text(text.into())
}

fn overflow(to: DataType) -> Result<Value, OperationError> {
    Err(OperationError::Overflow { to })
}

fn int(operator: Operator, left: i32, right: i32) -> Result<Value, OperationError> {
    operator.apply(&Value::Int(left), &Value::Int(right), &DataType::Int)
}

#[test]
fn integers_are_computed_within_their_type() {
    assert_eq!(int(Operator::Add, 2, 3), Ok(Value::Int(5)));
    assert_eq!(int(Operator::Divide, 7, 2), Ok(Value::Int(3)));
    assert_eq!(int(Operator::Divide, -7, 2), Ok(Value::Int(-3)));
    assert_eq!(int(Operator::Modulo, -7, 2), Ok(Value::Int(-1)));
    assert_eq!(int(Operator::BitXor, 6, 3), Ok(Value::Int(5)));
    let small = |operator: Operator, a, b| operator.apply(&Value::TinyInt(a), &Value::TinyInt(b), &DataType::TinyInt);
    assert_eq!(small(Operator::Subtract, 3, 1), Ok(Value::TinyInt(2)));
    assert_eq!(small(Operator::Subtract, 1, 2), overflow(DataType::TinyInt));
    assert_eq!(small(Operator::BitOr, 0x0f, 0xf0), Ok(Value::TinyInt(0xff)));
}

#[test]
fn an_overflow_names_the_type_of_the_expression() {
    assert_eq!(int(Operator::Add, i32::MAX, 1), overflow(DataType::Int));
    assert_eq!(int(Operator::Multiply, 1 << 16, 1 << 16), overflow(DataType::Int));
    assert_eq!(int(Operator::Divide, i32::MIN, -1), overflow(DataType::Int));
    assert_eq!(
        int(Operator::Modulo, i32::MIN, -1),
        overflow(DataType::Int),
        "as SQL Server has it"
    );
    let big = Operator::Subtract.apply(&Value::BigInt(i64::MIN), &Value::BigInt(1), &DataType::BigInt);
    let error = big.unwrap_err();
    assert_eq!((error.number(), error.severity(), error.state()), (8115, 16, 2));
    assert_eq!(
        error.to_string(),
        "Arithmetic overflow error converting expression to data type bigint."
    );
    let result = DataType::Decimal {
        precision: 38,
        scale: 0,
    };
    let most = decimal_of(10_i128.pow(38) - 1, 0);
    let error = Operator::Add.apply(&most, &most, &result).unwrap_err();
    assert_eq!(
        error.to_string(),
        "Arithmetic overflow error converting expression to data type numeric."
    );
}

#[test]
fn a_division_by_zero_is_error_8134_in_every_type() {
    let zeros = [
        (Value::Int(1), Value::Int(0), DataType::Int),
        (Value::BigInt(1), Value::BigInt(0), DataType::BigInt),
        (
            decimal_of(1, 0),
            decimal_of(0, 2),
            DataType::Numeric { precision: 8, scale: 6 },
        ),
        (Value::Money(1), Value::Money(0), DataType::Money),
        (Value::Float(1.0), Value::Float(-0.0), DataType::Float),
    ];
    for (left, right, result) in zeros {
        let error = Operator::Divide.apply(&left, &right, &result).unwrap_err();
        assert_eq!((error.number(), error.severity(), error.state()), (8134, 16, 1));
        assert_eq!(error.to_string(), "Divide by zero error encountered.");
    }
    assert_eq!(int(Operator::Modulo, 1, 0), Err(OperationError::DivideByZero));
}

#[test]
fn null_with_any_value_is_null_even_divided_by_zero() {
    assert_eq!(
        Operator::Divide.apply(&Value::Null, &Value::Int(0), &DataType::Int),
        Ok(Value::Null)
    );
    assert_eq!(
        Operator::Add.apply(&text("a"), &Value::Null, &DataType::VarChar(Width::Max)),
        Ok(Value::Null)
    );
    assert_eq!(
        UnaryOperator::Minus.apply(&Value::Null, &DataType::Int),
        Ok(Value::Null)
    );
    assert_eq!(
        UnaryOperator::BitNot.apply(&Value::Null, &DataType::Int),
        Ok(Value::Null)
    );
}

#[test]
fn decimals_are_computed_at_the_scale_of_their_result() {
    let result = DataType::Numeric { precision: 8, scale: 6 };
    let third = Operator::Divide.apply(&decimal_of(100, 1), &decimal_of(3, 0), &result);
    assert_eq!(third, Ok(decimal_of(3_333_333, 6)));
    let result = DataType::Decimal { precision: 6, scale: 2 };
    assert_eq!(
        Operator::Add.apply(&decimal_of(99999, 2), &decimal_of(1, 2), &result),
        Ok(decimal_of(100_000, 2))
    );
    let narrow = DataType::Decimal { precision: 5, scale: 2 };
    assert_eq!(
        Operator::Add.apply(&decimal_of(99999, 2), &decimal_of(1, 2), &narrow),
        overflow(narrow)
    );
}

#[test]
fn money_rounds_a_product_and_truncates_a_quotient() {
    let money = |operator: Operator, a, b| operator.apply(&Value::Money(a), &Value::Money(b), &DataType::Money);
    assert_eq!(money(Operator::Multiply, 10_001, 5_555), Ok(Value::Money(5_556)));
    assert_eq!(money(Operator::Multiply, -10_001, 5_555), Ok(Value::Money(-5_556)));
    assert_eq!(money(Operator::Divide, 10_000, 70_000), Ok(Value::Money(1_428)));
    assert_eq!(money(Operator::Divide, 20_000, 30_000), Ok(Value::Money(6_666)));
    assert_eq!(money(Operator::Modulo, 75_000, 20_000), Ok(Value::Money(15_000)));
    assert_eq!(money(Operator::Add, i64::MAX, 1), overflow(DataType::Money));
    let small = Operator::Add.apply(&Value::Money(2_147_483_647), &Value::Money(1), &DataType::SmallMoney);
    assert_eq!(small, overflow(DataType::SmallMoney));
}

#[test]
fn floats_overflow_and_reals_are_rounded_at_the_end() {
    let float = |operator: Operator, a, b| operator.apply(&Value::Float(a), &Value::Float(b), &DataType::Float);
    assert_eq!(float(Operator::Multiply, 1e200, 1e200), overflow(DataType::Float));
    assert_eq!(
        float(Operator::Divide, 0.0, -1.0).map(|zero| format!("{zero:?}")),
        Ok("Float(-0.0)".to_owned())
    );
    let real = Operator::Add.apply(&Value::Float(16_777_216.0), &Value::Float(1.0), &DataType::Real);
    assert_eq!(real, Ok(Value::Real(16_777_216.0)));
    let real = Operator::Multiply.apply(&Value::Float(1e30), &Value::Float(1e30), &DataType::Real);
    assert_eq!(real, overflow(DataType::Real));
}

#[test]
fn text_is_concatenated_and_truncated_to_the_width_of_the_result() {
    let joined = |a: &str, b: &str, result| Operator::Add.apply(&text(a), &text(b), &result);
    let four = DataType::VarChar(Width::Limited(4));
    assert_eq!(joined("ab", "cd", four), Ok(text("abcd")));
    assert_eq!(joined("ab", "cde", four), Ok(text("abcd")));
    assert_eq!(joined("", "cde", four), Ok(text("cde")));
    assert_eq!(joined("", "abcde", four), Ok(text("abcd")));
    assert_eq!(
        joined("\u{e9}\u{e9}", "\u{e9}\u{e9}", four),
        Ok(text("\u{e9}\u{e9}\u{e9}\u{e9}"))
    );
    assert_eq!(
        joined("abc", "\u{1f600}", DataType::NVarChar(Width::Limited(4))),
        Ok(text("abc"))
    );
    assert_eq!(joined("a", "b", DataType::NVarChar(Width::Max)), Ok(text("ab")));
    let bytes = |a: &[u8], b: &[u8], width| {
        Operator::Add.apply(
            &Value::Binary(a.into()),
            &Value::Binary(b.into()),
            &DataType::VarBinary(width),
        )
    };
    assert_eq!(
        bytes(&[1], &[2, 3], Width::Max),
        Ok(Value::Binary([1, 2, 3][..].into()))
    );
    assert_eq!(
        bytes(&[1], &[2, 3], Width::Limited(2)),
        Ok(Value::Binary([1, 2][..].into()))
    );
}

#[test]
fn datetimes_count_from_1900() {
    let at = |date, thousandths: u64| {
        Value::DateTime(DateTime2 {
            date: Date(date),
            time: TimeOfDay(thousandths * 10_000),
        })
    };
    let day_of_1900 = 693_595;
    let add = |a: &Value, b: &Value| Operator::Add.apply(a, b, &DataType::DateTime);
    let subtract = |a: &Value, b: &Value| Operator::Subtract.apply(a, b, &DataType::DateTime);
    assert_eq!(add(&at(730_000, 3), &at(day_of_1900 + 1, 7)), Ok(at(730_001, 10)));
    assert_eq!(
        add(&at(730_000, 43_200_000), &at(day_of_1900, 43_200_000)),
        Ok(at(730_001, 0))
    );
    assert_eq!(
        subtract(&at(730_000, 0), &at(729_999, 43_200_000)),
        Ok(at(day_of_1900, 43_200_000))
    );
    assert_eq!(subtract(&at(730_000, 0), &at(730_001, 0)), Ok(at(day_of_1900 - 1, 0)));
    assert_eq!(
        add(&at(3_652_058, 0), &at(day_of_1900 + 1, 0)),
        overflow(DataType::DateTime)
    );
    let small = Operator::Subtract.apply(&at(day_of_1900, 0), &at(day_of_1900 + 1, 0), &DataType::SmallDateTime);
    assert_eq!(small, overflow(DataType::SmallDateTime));
}

#[test]
fn unary_operators_are_computed_within_their_type() {
    let minus = |value, result| UnaryOperator::Minus.apply(&value, &result);
    assert_eq!(minus(Value::Int(5), DataType::Int), Ok(Value::Int(-5)));
    assert_eq!(minus(Value::Int(i32::MIN), DataType::Int), overflow(DataType::Int));
    assert_eq!(
        minus(Value::TinyInt(255), DataType::SmallInt),
        Ok(Value::SmallInt(-255))
    );
    assert_eq!(
        minus(Value::Money(i64::MIN), DataType::Money),
        overflow(DataType::Money)
    );
    assert_eq!(
        minus(Value::Money(-2_147_483_648), DataType::SmallMoney),
        overflow(DataType::SmallMoney)
    );
    assert_eq!(
        minus(decimal_of(5, 1), DataType::Numeric { precision: 2, scale: 1 }),
        Ok(decimal_of(-5, 1))
    );
    assert_eq!(
        minus(Value::Float(0.0), DataType::Float).map(|zero| format!("{zero:?}")),
        Ok("Float(-0.0)".to_owned())
    );
    let not = |value, result| UnaryOperator::BitNot.apply(&value, &result);
    assert_eq!(not(Value::TinyInt(1), DataType::TinyInt), Ok(Value::TinyInt(254)));
    assert_eq!(not(Value::Int(0), DataType::Int), Ok(Value::Int(-1)));
    assert_eq!(not(Value::Bit(true), DataType::Bit), Ok(Value::Bit(false)));
    assert_eq!(
        UnaryOperator::Plus.apply(&text("a"), &DataType::VarChar(Width::Max)),
        Ok(text("a"))
    );
}

#[test]
fn values_that_were_not_promoted_are_refused() {
    let error = Operator::Add
        .apply(&Value::Int(1), &text("a"), &DataType::Int)
        .unwrap_err();
    assert_eq!(
        (error.number(), error.to_string()),
        (40510, "Operator 'add' is not supported for these values.".into())
    );
    assert!(
        Operator::Add
            .apply(&Value::Bit(true), &Value::Bit(true), &DataType::Bit)
            .is_err()
    );
    assert!(
        Operator::Add
            .apply(&decimal_of(1, 0), &decimal_of(1, 0), &DataType::Int)
            .is_err()
    );
    assert!(
        UnaryOperator::BitNot
            .apply(&Value::Float(1.0), &DataType::Float)
            .is_err()
    );
}

proptest! {
    #[test]
    fn integer_results_equal_those_of_wider_integers(a in any::<i32>(), b in any::<i32>()) {
        for (operator, exact) in [
            (Operator::Add, i64::from(a) + i64::from(b)),
            (Operator::Subtract, i64::from(a) - i64::from(b)),
            (Operator::Multiply, i64::from(a) * i64::from(b)),
        ] {
            let expected = i32::try_from(exact).map(Value::Int).map_err(|_| OperationError::Overflow { to: DataType::Int });
            prop_assert_eq!(int(operator, a, b), expected);
        }
        if b != 0 && (a, b) != (i32::MIN, -1) {
            let (quotient, rest) = (a / b, a % b);
            prop_assert_eq!(int(Operator::Divide, a, b), Ok(Value::Int(quotient)));
            prop_assert_eq!(int(Operator::Modulo, a, b), Ok(Value::Int(rest)));
            prop_assert_eq!(quotient * b + rest, a);
        }
    }

    #[test]
    fn datetime_subtraction_is_the_inverse_of_addition(
        day in 693_595_u32..3_000_000, ticks in 0..25_920_000_u64, more in 0..1_000_u32, more_ticks in 0..25_920_000_u64,
    ) {
        let moment = |date, ticks: u64| {
            Value::DateTime(DateTime2 { date: Date(date), time: TimeOfDay((ticks * 10 + 1) / 3 * 10_000) })
        };
        let (start, step) = (moment(day, ticks), moment(693_595 + more, more_ticks));
        let later = Operator::Add.apply(&start, &step, &DataType::DateTime).unwrap();
        prop_assert_eq!(Operator::Subtract.apply(&later, &step, &DataType::DateTime), Ok(start.clone()));
        prop_assert_eq!(Operator::Subtract.apply(&later, &start, &DataType::DateTime), Ok(step));
    }
}
