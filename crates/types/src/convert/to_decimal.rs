//! To decimal and numeric.

use crate::{
    DateTime2, DateTimeTicks, Decimal, Family, Value,
    convert::{
        ConversionError, ConversionFault,
        digits_text::{DigitsFault, read_decimal},
        exact::{fits, power_of_ten, rescaled},
        float_bits::FloatBits,
        request::Request,
    },
    dates::TICKS_PER_DAY,
};

/// Rounded half away from zero to the scale.
pub(crate) fn to_decimal(value: &Value, request: &Request<'_>) -> Result<Value, ConversionError> {
    let (_, scale) = request.decimal_digits();
    let unscaled = match value {
        Value::Bit(bit) => rescaled(i128::from(*bit), 0, scale),
        Value::TinyInt(number) => rescaled(i128::from(*number), 0, scale),
        Value::SmallInt(number) => rescaled(i128::from(*number), 0, scale),
        Value::Int(number) => rescaled(i128::from(*number), 0, scale),
        Value::BigInt(number) => rescaled(i128::from(*number), 0, scale),
        Value::Decimal(number) => rescaled(number.unscaled, number.scale, scale),
        Value::Money(units) => rescaled(i128::from(*units), 4, scale),
        Value::Real(number) => FloatBits::of(f64::from(*number)).and_then(|bits| bits.scaled(scale)),
        Value::Float(number) => FloatBits::of(*number).and_then(|bits| bits.scaled(scale)),
        Value::Text(text) => match read_decimal(text, scale) {
            Ok(unscaled) => Some(unscaled),
            Err(DigitsFault::Overflow) => None,
            Err(DigitsFault::Syntax) => return Err(request.fail(ConversionFault::Unreadable)),
        },
        Value::Binary(bytes) => {
            let number = decimal_of_bytes(bytes).ok_or_else(|| request.fail(ConversionFault::Unreadable))?;
            rescaled(number.unscaled, number.scale, scale)
        }
        Value::DateTime(moment) if request.is_from(Family::OldDate) => days_of(*moment, scale),
        Value::Null
        | Value::Date(_)
        | Value::Time(_)
        | Value::DateTime(_)
        | Value::DateTimeOffset(_)
        | Value::Guid(_) => return Err(request.misfit()),
    };
    fitted(unscaled, request)
}

fn fitted(unscaled: Option<i128>, request: &Request<'_>) -> Result<Value, ConversionError> {
    let (precision, scale) = request.decimal_digits();
    match unscaled {
        Some(unscaled) if fits(unscaled, precision) => Ok(Value::Decimal(Decimal { unscaled, scale })),
        Some(_) | None => Err(request.fail(ConversionFault::Overflow)),
    }
}

/// SQL Server's own bytes of a decimal: precision, scale, a zero, the sign (1 is positive), and digits little-endian.
fn decimal_of_bytes(bytes: &[u8]) -> Option<Decimal> {
    let [precision, scale, _, sign, digits @ ..] = bytes else {
        return None;
    };
    if digits.is_empty() || !(1..=38).contains(precision) || scale > precision || *sign > 1 {
        return None;
    }
    let (kept, beyond) = digits.split_at_checked(16).unwrap_or((digits, &[]));
    if beyond.iter().any(|byte| *byte != 0) {
        return None;
    }
    let number = kept
        .iter()
        .rev()
        .fold(0_u128, |number, byte| number << 8 | u128::from(*byte));
    let unscaled = i128::try_from(number).ok().filter(|number| fits(*number, *precision))?;
    match (*sign, unscaled) {
        (0, 0) => None,
        (0, _) => Some(Decimal {
            unscaled: -unscaled,
            scale: *scale,
        }),
        _ => Some(Decimal {
            unscaled,
            scale: *scale,
        }),
    }
}

/// Days since 1900-01-01 and the part of a day, as a multiple of 10^-`scale`, half away from zero.
pub(crate) fn days_of(moment: DateTime2, scale: u8) -> Option<i128> {
    let ticks = DateTimeTicks::nearest(moment)?;
    let per_day = i128::from(TICKS_PER_DAY);
    let all = i128::from(ticks.days) * per_day + i128::from(ticks.ticks);
    let (days, part) = (all / per_day, all % per_day);
    // Digit after digit: part times 10^scale might be beyond i128.
    let (mut fraction, mut rest) = (0_i128, part.abs());
    for _ in 0..scale {
        rest *= 10;
        fraction = fraction.checked_mul(10)?.checked_add(rest / per_day)?;
        rest %= per_day;
    }
    fraction += i128::from(rest * 2 >= per_day);
    days.checked_mul(power_of_ten(scale)?)?
        .checked_add(fraction * all.signum())
}
