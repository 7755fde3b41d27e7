//! Conversion to money and smallmoney.

use crate::{
    DataType, Decimal, Family, Value,
    convert::{
        ConversionError, ConversionFault,
        digits_text::{DigitsFault, read_money},
        float_bits::FloatBits,
        integer_type::last_bytes,
        request::Request,
        to_decimal::{days_of, whole},
    },
    format::float_with_six_decimals,
};

/// Rounds half away from zero to 1/10,000.
pub(crate) fn to_money(value: &Value, request: &Request<'_>) -> Result<Value, ConversionError> {
    let of_decimal = |number: Decimal| number.rescale(4).map(|number| number.unscaled);
    let units = match value {
        Value::Bit(bit) => of_decimal(whole(i128::from(*bit))),
        Value::TinyInt(number) => of_decimal(whole(i128::from(*number))),
        Value::SmallInt(number) => of_decimal(whole(i128::from(*number))),
        Value::Int(number) => of_decimal(whole(i128::from(*number))),
        Value::BigInt(number) => of_decimal(whole(i128::from(*number))),
        Value::Decimal(number) => of_decimal(*number),
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
        Value::DateTime(moment) if request.is_from(Family::OldDate) => days_of(*moment, 4).and_then(of_decimal),
        Value::Null
        | Value::Date(_)
        | Value::Time(_)
        | Value::DateTime(_)
        | Value::DateTimeOffset(_)
        | Value::Guid(_)
        | Value::SqlVariant(_) => return Err(request.misfit()),
    };
    let is_small = *request.to == DataType::SmallMoney;
    let in_range = |units: &i64| !is_small || i32::try_from(*units).is_ok();
    let fitted = units.and_then(|units| i64::try_from(units).ok()).filter(in_range);
    fitted.map(Value::Money).ok_or_else(|| overflow(value, request))
}

/// SQL Server has a separate message for each source type.
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
        | Value::Guid(_)
        | Value::SqlVariant(_) => request.fail(ConversionFault::ExpressionOverflow),
    }
}

fn float_range(number: f64, request: &Request<'_>) -> ConversionError {
    request.fail_with(ConversionFault::FloatRange, float_with_six_decimals(number))
}
