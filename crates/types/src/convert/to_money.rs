//! To money and smallmoney.

use crate::{
    DataType, Family, Value,
    convert::{
        ConversionError, ConversionFault,
        digits_text::{DigitsFault, read_money},
        exact::rescaled,
        float_bits::FloatBits,
        request::Request,
        to_decimal::days_of,
        to_integer::last_bytes,
    },
    format::float_with_six_decimals,
};

/// Rounded half away from zero to ten-thousandths.
pub(crate) fn to_money(value: &Value, request: &Request<'_>) -> Result<Value, ConversionError> {
    let whole = |number: i128| rescaled(number, 0, 4);
    let units = match value {
        Value::Bit(bit) => whole(i128::from(*bit)),
        Value::TinyInt(number) => whole(i128::from(*number)),
        Value::SmallInt(number) => whole(i128::from(*number)),
        Value::Int(number) => whole(i128::from(*number)),
        Value::BigInt(number) => whole(i128::from(*number)),
        Value::Decimal(number) => rescaled(number.unscaled, number.scale, 4),
        Value::Money(units) => Some(i128::from(*units)),
        Value::Real(number) => FloatBits::of(f64::from(*number)).and_then(|bits| bits.scaled(4)),
        Value::Float(number) => FloatBits::of(*number).and_then(|bits| bits.scaled(4)),
        Value::Text(text) => match read_money(text) {
            Ok(units) => Some(units),
            Err(DigitsFault::Overflow) => None,
            Err(DigitsFault::Syntax) => return Err(request.fail(ConversionFault::MoneySyntax)),
        },
        Value::Binary(bytes) if *request.to == DataType::SmallMoney => {
            Some(i128::from(i32::from_be_bytes(last_bytes(bytes))))
        }
        Value::Binary(bytes) => Some(i128::from(i64::from_be_bytes(last_bytes(bytes)))),
        Value::DateTime(moment) if request.is_from(Family::OldDate) => days_of(*moment, 4),
        Value::Null
        | Value::Date(_)
        | Value::Time(_)
        | Value::DateTime(_)
        | Value::DateTimeOffset(_)
        | Value::Guid(_) => return Err(request.misfit()),
    };
    let fitted = units.and_then(|units| match request.to {
        DataType::SmallMoney => i32::try_from(units).ok().map(i64::from),
        _ => i64::try_from(units).ok(),
    });
    fitted.map(Value::Money).ok_or_else(|| overflow(value, request))
}

/// A message of its own for each kind of source: SQL Server has it so.
fn overflow(value: &Value, request: &Request<'_>) -> ConversionError {
    let whole = |number: i64| request.fail_with(ConversionFault::IntegerRange, number.to_string());
    match value {
        Value::TinyInt(number) => whole(i64::from(*number)),
        Value::SmallInt(number) => whole(i64::from(*number)),
        Value::Int(number) => whole(i64::from(*number)),
        Value::Decimal(_) => request.fail(ConversionFault::Overflow),
        Value::Money(_) => request.fail(ConversionFault::MoneyRange),
        Value::Real(number) => float_range(f64::from(*number), request),
        Value::Float(number) => float_range(*number, request),
        Value::Null
        | Value::Bit(_)
        | Value::BigInt(_)
        | Value::Text(_)
        | Value::Binary(_)
        | Value::Date(_)
        | Value::Time(_)
        | Value::DateTime(_)
        | Value::DateTimeOffset(_)
        | Value::Guid(_) => request.fail(ConversionFault::ExpressionOverflow),
    }
}

fn float_range(number: f64, request: &Request<'_>) -> ConversionError {
    request.fail_with(ConversionFault::FloatRange, float_with_six_decimals(number))
}
