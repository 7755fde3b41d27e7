//! STR: formats a number with a given length.

use selenite_types::{DataType, Encoding, Value, Width};

use crate::functions::Arguments;
use crate::functions::typing::{WIDTH_MAX, constant_whole};
use crate::{Expr, SqlError};

/// The type of STR: as wide as its length, 10 by default.
pub(super) fn str_type(arguments: &[Expr]) -> DataType {
    let length = match arguments.get(1) {
        None => Some(i64::from(LENGTH)),
        given => constant_whole(given),
    };
    Encoding::CodePage.varying(Width::Limited(
        length
            .and_then(|length| u16::try_from(length).ok())
            .unwrap_or(WIDTH_MAX),
    ))
}

/// STR: right-aligned and rounded to fit; asterisks if the integer part does not fit; NULL for an invalid length.
pub(super) fn str(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let number = call.float(0)?;
    let length = if call.values.len() > 1 {
        call.int(1)?
    } else {
        i32::from(LENGTH)
    };
    let decimals = if call.values.len() > 2 { call.int(2)? } else { 0 };
    let (Ok(length), Ok(decimals)) = (usize::try_from(length), usize::try_from(decimals)) else {
        return Ok(Value::Null);
    };
    if length == 0 || length > usize::from(WIDTH_MAX) {
        return Ok(Value::Null);
    }
    let whole_length = fixed(number, 0).len();
    let decimals = decimals.min(DECIMALS_MAX).min(length.saturating_sub(whole_length + 1));
    let text = fixed(number, decimals);
    if text.len() > length {
        return Ok(call.text_result(&"*".repeat(length)));
    }
    Ok(call.text_result(&format!("{text:>length$}")))
}

/// A float with `decimals` fractional digits, rounded half away from zero on its first 17 digits.
pub(crate) fn fixed(number: f64, decimals: usize) -> String {
    let scientific = format!("{:.16e}", number.abs());
    let Some((mantissa, exponent)) = scientific.split_once('e') else {
        return scientific;
    };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let digits: Vec<u8> = mantissa
        .bytes()
        .filter(u8::is_ascii_digit)
        .map(|digit| digit - b'0')
        .collect();
    let digit_at = |place: i32| {
        let index = usize::try_from(exponent - place).ok();
        index.and_then(|index| digits.get(index)).copied().unwrap_or(0)
    };
    let decimals_signed = i32::try_from(decimals).unwrap_or(0);
    // The digits from the highest position to the last one kept, lowest last.
    let highest = exponent.max(0);
    let mut kept: Vec<u8> = (-decimals_signed..=highest).rev().map(digit_at).collect();
    if digit_at(-decimals_signed - 1) >= 5 {
        let mut carried = true;
        for digit in kept.iter_mut().rev() {
            if *digit < 9 {
                *digit += 1;
                carried = false;
                break;
            }
            *digit = 0;
        }
        if carried {
            kept.insert(0, 1);
        }
    }
    let is_zero = kept.iter().all(|digit| *digit == 0);
    let mut text = String::with_capacity(kept.len() + 2);
    if number < 0.0 && !is_zero {
        text.push('-');
    }
    let point = kept.len() - decimals;
    for (at, digit) in kept.iter().enumerate() {
        if at == point {
            text.push('.');
        }
        text.push(char::from(b'0' + digit));
    }
    text
}

/// The default length of STR.
const LENGTH: u8 = 10;

/// The maximum number of fractional digits.
const DECIMALS_MAX: usize = 16;

#[cfg(test)]
mod tests {
    use super::fixed;

    #[test]
    fn a_float_is_rounded_half_away_from_zero() {
        assert_eq!(fixed(2.5, 0), "3");
        assert_eq!(fixed(-2.5, 0), "-3");
        assert_eq!(fixed(9.96, 1), "10.0");
        assert_eq!(fixed(0.0, 2), "0.00");
        assert_eq!(fixed(-0.001, 2), "0.00");
        assert_eq!(fixed(1e20, 0), "100000000000000000000");
        assert_eq!(fixed(123.45, 1), "123.5");
        assert_eq!(fixed(0.05, 1), "0.1");
    }
}
