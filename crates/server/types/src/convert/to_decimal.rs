//! Conversion to decimal and numeric.

use crate::{
    DateTime2, DateTimeTicks, Decimal, Family, Value,
    convert::{
        ConversionError, ConversionFault,
        digits_text::{DigitsFault, read_decimal},
        float_bits::FloatBits,
        request::Request,
    },
    dates::TICKS_PER_DAY,
    decimal::power_of_ten,
};

/// Rounds half away from zero to the scale.
pub(crate) fn to_decimal(value: &Value, request: &Request<'_>) -> Result<Value, ConversionError> {
    let (precision, scale) = request.decimal_digits();
    let scaled = |unscaled: i128| Decimal { unscaled, scale };
    let of_float = |number: f64| FloatBits::of(number).and_then(|bits| bits.scaled(scale)).map(scaled);
    let number = match value {
        Value::Bit(bit) => Some(whole(i128::from(*bit))),
        Value::TinyInt(number) => Some(whole(i128::from(*number))),
        Value::SmallInt(number) => Some(whole(i128::from(*number))),
        Value::Int(number) => Some(whole(i128::from(*number))),
        Value::BigInt(number) => Some(whole(i128::from(*number))),
        Value::Decimal(number) => Some(*number),
        Value::Money(units) => Some(amount(*units)),
        Value::Real(number) => of_float(f64::from(*number)),
        Value::Float(number) => of_float(*number),
        Value::Text(text) => match read_decimal(text, scale) {
            Ok(unscaled) => Some(scaled(unscaled)),
            Err(DigitsFault::Overflow) => None,
            Err(DigitsFault::Syntax) => return Err(request.fail(ConversionFault::Unreadable)),
        },
        Value::Binary(bytes) => Some(decimal_of_bytes(bytes).ok_or_else(|| request.fail(ConversionFault::Unreadable))?),
        Value::DateTime(moment) if request.is_from(Family::OldDate) => days_of(*moment, scale),
        Value::Null
        | Value::Date(_)
        | Value::Time(_)
        | Value::DateTime(_)
        | Value::DateTimeOffset(_)
        | Value::Guid(_)
        | Value::SqlVariant(_) => return Err(request.misfit()),
    };
    let rescaled = number.and_then(|number| number.rescale(scale));
    let fitted = rescaled.filter(|number| number.fits(precision)).map(Value::Decimal);
    fitted.ok_or_else(|| request.fail(ConversionFault::Overflow))
}

/// An integer as a decimal.
pub(crate) fn whole(unscaled: i128) -> Decimal {
    Decimal { unscaled, scale: 0 }
}

/// A money amount as a decimal.
pub(crate) fn amount(units: i64) -> Decimal {
    Decimal {
        unscaled: i128::from(units),
        scale: 4,
    }
}

/// SQL Server's binary form of a decimal: precision, scale, a zero byte, the sign (1 is positive), and the magnitude
/// little-endian.
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
    let magnitude = i128::try_from(number).ok()?;
    let is_negative = *sign == 0;
    let unscaled = if is_negative { -magnitude } else { magnitude };
    let number = Decimal {
        unscaled,
        scale: *scale,
    };
    (number.fits(*precision) && !(is_negative && magnitude == 0)).then_some(number)
}

/// Days since 1900-01-01 with `scale` fractional digits, rounded half away from zero.
pub(crate) fn days_of(moment: DateTime2, scale: u8) -> Option<Decimal> {
    let ticks = DateTimeTicks::nearest(moment)?;
    let per_day = i128::from(TICKS_PER_DAY);
    let all = i128::from(ticks.days) * per_day + i128::from(ticks.ticks);
    let (days, part) = (all / per_day, all % per_day);
    // Computed digit by digit, because the fraction times 10^scale may exceed i128.
    let (mut fraction, mut rest) = (0_i128, part.abs());
    for _ in 0..scale {
        rest *= 10;
        fraction = fraction.checked_mul(10)?.checked_add(rest / per_day)?;
        rest %= per_day;
    }
    fraction += i128::from(rest * 2 >= per_day);
    let one = i128::try_from(power_of_ten(scale)?).ok()?;
    let unscaled = days.checked_mul(one)?.checked_add(fraction * all.signum())?;
    Some(Decimal { unscaled, scale })
}
