//! real and float as text.

/// The text of a float in a style of CONVERT; `None` for 128 and 129, which are undocumented.
///
/// 1, 2 and 3 are always scientific, with 8, 16 and 17 digits; 126 has 8 for real and 16 for float; any other style has
/// at most 6 digits, and is scientific below 0.0001 and from 10^6 on.
pub(crate) fn float_text(value: f64, is_real: bool, style: i32) -> Option<String> {
    if !value.is_finite() {
        return Some(value.to_string());
    }
    Some(match style {
        1 => scientific(value, 8),
        2 => scientific(value, 16),
        3 => scientific(value, 17),
        126 => scientific(value, if is_real { 8 } else { 16 }),
        128 | 129 => return None,
        _ => general(value),
    })
}

/// A float with six fractional digits, of which at most seventeen digits in total are significant, as in message 232.
pub(crate) fn float_with_six_decimals(value: f64) -> String {
    if !value.is_finite() || value.abs() < 1e17 {
        return format!("{value:.6}");
    }
    let digits = Digits::of(value, 17);
    let zeros = usize::try_from(digits.exponent - 16).unwrap_or(0);
    format!("{}{}{}.000000", digits.sign, digits.digits, "0".repeat(zeros))
}

/// Formats with at most six digits.
fn general(value: f64) -> String {
    let digits = Digits::of(value, 6);
    let kept = digits.digits.trim_end_matches('0');
    let kept = if kept.is_empty() { "0" } else { kept };
    let sign = digits.sign;
    match digits.exponent {
        exponent @ -4..=-1 => {
            let zeros = "0".repeat(usize::try_from(-exponent - 1).unwrap_or(0));
            format!("{sign}0.{zeros}{kept}")
        }
        exponent @ 0..=5 => {
            let whole = usize::try_from(exponent).unwrap_or(0) + 1;
            if kept.len() <= whole {
                format!("{sign}{kept:0<whole$}")
            } else {
                let (before, after) = kept.split_at(whole);
                format!("{sign}{before}.{after}")
            }
        }
        exponent => exponential(sign, kept, exponent),
    }
}

fn scientific(value: f64, count: usize) -> String {
    let digits = Digits::of(value, count);
    exponential(digits.sign, &digits.digits, digits.exponent)
}

/// The exponent has a sign and three digits.
fn exponential(sign: &str, digits: &str, exponent: i32) -> String {
    let (first, rest) = digits.split_at(1.min(digits.len()));
    let point = if rest.is_empty() { "" } else { "." };
    let exponent_sign = if exponent < 0 { '-' } else { '+' };
    format!(
        "{sign}{first}{point}{rest}e{exponent_sign}{:03}",
        exponent.unsigned_abs()
    )
}

/// The significant digits of a number, and the power of ten of the first.
struct Digits {
    sign: &'static str,
    digits: String,
    exponent: i32,
}

impl Digits {
    /// The first `count` digits, rounded half away from zero.
    fn of(value: f64, count: usize) -> Self {
        let sign = if value.is_sign_negative() { "-" } else { "" };
        // Forty digits distinguish every number from a tie at up to seventeen digits.
        let exact = format!("{:.39e}", value.abs());
        let (mantissa, exponent) = exact.split_once('e').unwrap_or((&exact, "0"));
        let mut exponent = exponent.parse::<i32>().unwrap_or(0);
        let mut digits = mantissa.bytes().filter(u8::is_ascii_digit).collect::<Vec<u8>>();
        let up = digits.get(count).is_some_and(|next| *next >= b'5');
        digits.truncate(count);
        if up && carry(&mut digits) {
            digits.insert(0, b'1');
            digits.truncate(count);
            exponent += 1;
        }
        Self {
            sign,
            digits: digits.into_iter().map(char::from).collect(),
            exponent,
        }
    }
}

/// Adds one to the last digit; true if all digits were nines, and are zeros now.
fn carry(digits: &mut [u8]) -> bool {
    for digit in digits.iter_mut().rev() {
        if *digit == b'9' {
            *digit = b'0';
        } else {
            *digit += 1;
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(value: f64, style: i32) -> String {
        float_text(value, false, style).unwrap()
    }

    #[test]
    fn the_default_has_six_digits_and_powers_of_three() {
        for (value, expected) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (0.1, "0.1"),
            (-123.456, "-123.456"),
            (123_456.0, "123456"),
            (123_456.7, "123457"),
            (999_999.5, "1e+006"),
            (1_000_000.0, "1e+006"),
            (1_234_567.0, "1.23457e+006"),
            (1_234_567_890.0, "1.23457e+009"),
            (0.0001, "0.0001"),
            (0.000_012_345_67, "1.23457e-005"),
            (100.0, "100"),
            (1e300, "1e+300"),
            (5e-324, "4.94066e-324"),
            (1_234_565.0, "1.23457e+006"),
        ] {
            assert_eq!(text(value, 0), expected);
        }
        assert_eq!(float_text(f64::from(1_234_567_f32), true, 0).unwrap(), "1.23457e+006");
        assert_eq!(text(0.5, 44), "0.5", "other styles are as 0");
    }

    #[test]
    fn the_scientific_styles_have_a_fixed_number_of_digits() {
        assert_eq!(text(123.456, 1), "1.2345600e+002");
        assert_eq!(text(1_234_567.875, 1), "1.2345679e+006");
        assert_eq!(text(123.456, 2), "1.234560000000000e+002");
        assert_eq!(text(0.0, 2), "0.000000000000000e+000");
        assert_eq!(text(0.1, 3), "1.0000000000000001e-001");
        assert_eq!(float_text(f64::from(0.1_f32), true, 126).unwrap(), "1.0000000e-001");
        assert_eq!(
            float_text(f64::from(1_234_567.9_f32), true, 2).unwrap(),
            "1.234567875000000e+006"
        );
        assert_eq!(text(1_234_567_890.0, 126), "1.234567890000000e+009");
        assert_eq!(float_text(1.0, false, 128), None);
    }

    #[test]
    fn message_232_has_seventeen_digits() {
        assert_eq!(float_with_six_decimals(300.0), "300.000000");
        assert_eq!(float_with_six_decimals(3_000_000_000.0), "3000000000.000000");
        assert_eq!(float_with_six_decimals(1e30), "1000000000000000000000000000000.000000");
        assert_eq!(float_with_six_decimals(-1e17), "-100000000000000000.000000");
    }

    proptest! {
        #[test]
        fn style_3_distinguishes_every_float(bits in any::<u64>()) {
            let value = f64::from_bits(bits);
            if value.is_finite() {
                let back = text(value, 3).parse::<f64>().unwrap();
                prop_assert_eq!(back.to_bits(), value.to_bits());
            }
        }

        #[test]
        fn the_default_is_rounded_to_six_digits(value in -1e12..1e12_f64) {
            let back = text(value, 0).parse::<f64>().unwrap();
            prop_assert!((back - value).abs() <= value.abs() * 5.000_001e-6);
        }
    }
}
