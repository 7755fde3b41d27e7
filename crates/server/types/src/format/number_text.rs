//! Exact numbers as text.

use crate::Decimal;

/// All digits of a decimal, with `scale` fractional digits and at least one integer digit.
pub(crate) fn decimal_text(number: Decimal) -> String {
    let digits = number.unscaled.unsigned_abs();
    pointed(number.unscaled < 0, digits, usize::from(number.scale))
}

/// An amount in units of 1/10,000: style 1 has commas and two fractional digits, 2 and 126 four digits, any other two.
pub(crate) fn money_text(units: i64, style: i32) -> String {
    let negative = units < 0;
    if matches!(style, 2 | 126) {
        return pointed(negative, u128::from(units.unsigned_abs()), 4);
    }
    // Rounds half away from zero.
    let cents = (u128::from(units.unsigned_abs()) + 50) / 100;
    let text = pointed(negative && cents > 0, cents, 2);
    if style == 1 { with_commas(&text) } else { text }
}

fn pointed(negative: bool, digits: u128, scale: usize) -> String {
    let sign = if negative { "-" } else { "" };
    let digits = format!("{digits:0>width$}", width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    if scale == 0 {
        format!("{sign}{whole}")
    } else {
        format!("{sign}{whole}.{fraction}")
    }
}

/// Inserts a comma before every third integer digit.
fn with_commas(text: &str) -> String {
    let (sign, unsigned) = match text.strip_prefix('-') {
        Some(unsigned) => ("-", unsigned),
        None => ("", text),
    };
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let mut grouped = String::with_capacity(text.len() + whole.len() / 3);
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    format!("{sign}{grouped}.{fraction}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decimal_shows_its_scale() {
        for (unscaled, scale, text) in [
            (0, 0, "0"),
            (0, 3, "0.000"),
            (5, 1, "0.5"),
            (-5, 2, "-0.05"),
            (12_345, 2, "123.45"),
            (-1, 38, "-0.00000000000000000000000000000000000001"),
            (i128::MIN, 0, "-170141183460469231731687303715884105728"),
        ] {
            assert_eq!(decimal_text(Decimal { unscaled, scale }), text);
        }
        assert_eq!(
            decimal_text(Decimal {
                unscaled: 1,
                scale: 255
            })
            .len(),
            257
        );
    }

    #[test]
    fn money_has_the_documented_styles() {
        assert_eq!(money_text(42_359_819, 0), "4235.98");
        assert_eq!(money_text(35_109_200, 1), "3,510.92");
        assert_eq!(money_text(42_359_819, 2), "4235.9819");
        assert_eq!(money_text(42_359_819, 126), "4235.9819");
        assert_eq!(money_text(42_359_819, 77), "4235.98");
        assert_eq!(money_text(i64::MIN, 1), "-922,337,203,685,477.58");
        assert_eq!(money_text(i64::MAX, 2), "922337203685477.5807");
        assert_eq!(money_text(-12_350, 0), "-1.24", "half away from zero");
        assert_eq!(money_text(-49, 0), "0.00", "no negative nothing");
        assert_eq!(money_text(1_000_000, 1), "100.00");
        assert_eq!(money_text(10_000_000, 1), "1,000.00");
    }
}
