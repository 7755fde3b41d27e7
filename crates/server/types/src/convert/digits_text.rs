//! Parses text as a number.

/// Why text is not a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum DigitsFault {
    /// The text does not match the grammar.
    Syntax,
    /// The number has too many digits.
    Overflow,
}

/// Parses an integer, saturating at the range of i128. Surrounding blanks are ignored; empty text or a sign alone is 0.
pub(crate) fn read_integer(text: &str) -> Option<i128> {
    let (is_negative, digits) = split_sign(text.trim_matches(' '));
    let mut number = 0_i128;
    for byte in digits.bytes() {
        number = number.saturating_mul(10).saturating_add(i128::from(digit(byte)?));
    }
    Some(if is_negative { -number } else { number })
}

/// Parses a multiple of 10^-`scale`, rounding half away from zero: sign, digits and point; no exponent, not empty.
pub(crate) fn read_decimal(text: &str, scale: u8) -> Result<i128, DigitsFault> {
    let (is_negative, digits) = split_sign(text.trim_matches(' '));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() && fraction.is_empty() {
        return Err(DigitsFault::Syntax);
    }
    let number = read_pointed(whole.bytes(), fraction.bytes(), scale)?;
    Ok(if is_negative { -number } else { number })
}

/// Parses an amount in units of 1/10,000, rounding half away from zero; currency signs and commas are ignored.
///
/// Empty text is 0, and so is a sign, point, comma or currency sign alone.
pub(crate) fn read_money(text: &str) -> Result<i128, DigitsFault> {
    let text = text.trim_start_matches(' ').trim_end_matches(is_blank);
    let (mut is_negative, mut text) = split_sign(text);
    if let Some(amount) = text.trim_start_matches(' ').strip_prefix(CURRENCIES) {
        // The sign may precede or follow the currency sign.
        let amount = amount.trim_start_matches(' ');
        (is_negative, text) = if text_has_sign(amount) && !is_negative {
            split_sign(amount)
        } else {
            (is_negative, amount)
        };
    }
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let number = read_pointed(whole.bytes().filter(|byte| *byte != b','), fraction.bytes(), 4)?;
    Ok(if is_negative { -number } else { number })
}

/// Rewrites a T-SQL float for Rust's parser; `None` if T-SQL does not accept it. Surrounding blanks are ignored, and
/// empty text is 0.
pub(crate) fn read_float(text: &str) -> Option<String> {
    let text = text.trim_start_matches(is_blank).trim_end_matches(' ');
    if text.is_empty() {
        return Some("0".to_owned());
    }
    let (is_negative, unsigned) = split_sign(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E', 'd', 'D']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.len() + fraction.len() == 0 || !digits(whole) || !digits(fraction) {
        return None;
    }
    let sign = if is_negative { "-" } else { "" };
    match exponent {
        Some(exponent) => {
            let (exponent_is_negative, power) = split_sign(exponent);
            if power.is_empty() || !digits(power) {
                return None;
            }
            let exponent_sign = if exponent_is_negative { "-" } else { "" };
            Some(format!("{sign}{whole}.{fraction}0e{exponent_sign}{power}"))
        }
        None => Some(format!("{sign}{whole}.{fraction}0")),
    }
}

fn read_pointed(
    whole: impl Iterator<Item = u8>,
    fraction: impl Iterator<Item = u8>,
    scale: u8,
) -> Result<i128, DigitsFault> {
    let mut number = Some(0_i128);
    let append = |number: Option<i128>, digit: u8| number?.checked_mul(10)?.checked_add(i128::from(digit));
    for byte in whole {
        number = append(number, digit(byte).ok_or(DigitsFault::Syntax)?);
    }
    let (mut places, mut up) = (0, false);
    for byte in fraction {
        let digit = digit(byte).ok_or(DigitsFault::Syntax)?;
        if places < scale {
            number = append(number, digit);
        } else if places == scale {
            up = digit >= 5;
        }
        places = places.saturating_add(1);
    }
    for _ in places..scale {
        number = append(number, 0);
    }
    number
        .and_then(|number| number.checked_add(i128::from(up)))
        .ok_or(DigitsFault::Overflow)
}

fn digit(byte: u8) -> Option<u8> {
    byte.is_ascii_digit().then(|| byte - b'0')
}

fn text_has_sign(text: &str) -> bool {
    text.starts_with(['+', '-'])
}

fn split_sign(text: &str) -> (bool, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    }
}

/// The characters that are ignored around a number that allows more than blanks.
fn is_blank(character: char) -> bool {
    matches!(character, '\t'..='\r' | ' ' | '\u{a0}' | '\u{3000}')
}

/// The currency signs that money accepts.
const CURRENCIES: [char; 34] = [
    '$', '\u{a2}', '\u{a3}', '\u{a4}', '\u{a5}', '\u{9f2}', '\u{9f3}', '\u{e3f}', '\u{17db}', '\u{20a0}', '\u{20a1}',
    '\u{20a2}', '\u{20a3}', '\u{20a4}', '\u{20a5}', '\u{20a6}', '\u{20a7}', '\u{20a8}', '\u{20a9}', '\u{20aa}',
    '\u{20ab}', '\u{20ac}', '\u{20ad}', '\u{20ae}', '\u{20af}', '\u{20b0}', '\u{20b1}', '\u{fdfc}', '\u{fe69}',
    '\u{ff04}', '\u{ffe0}', '\u{ffe1}', '\u{ffe5}', '\u{ffe6}',
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_have_digits_and_a_sign() {
        for (text, number) in [
            ("", 0),
            ("  ", 0),
            (" 12 ", 12),
            ("-7", -7),
            ("+7", 7),
            ("-", 0),
            ("+", 0),
            ("007", 7),
        ] {
            assert_eq!(read_integer(text), Some(number), "{text:?}");
        }
        for text in [
            "1.0", "1e3", "abc", "1,000", "$1", "- 7", "--7", "1 2", "\t1", "1\r\n", "\u{a0}1", "\u{663}",
        ] {
            assert_eq!(read_integer(text), None, "{text:?}");
        }
        assert_eq!(read_integer(&"9".repeat(60)), Some(i128::MAX));
        assert_eq!(read_integer(&format!("-{}", "9".repeat(60))), Some(-i128::MAX));
    }

    #[test]
    fn decimals_have_a_point_and_no_exponent() {
        for (text, scale, number) in [
            ("1.55", 1, 16),
            ("-1.55", 1, -16),
            (".5", 0, 1),
            ("5.", 2, 500),
            (" 12 ", 0, 12),
            ("+0.00", 2, 0),
            ("1.0000000000000000000000000000000000000005", 2, 100),
            ("0.00000000000000000000000000000000000000000005", 38, 0),
        ] {
            assert_eq!(read_decimal(text, scale), Ok(number), "{text:?}");
        }
        for text in [
            "", "   ", ".", "-", "abc", "1,000", "$1.00", "(1)", "++1", "1+", "1.2.3", "1e5", "1E5", "1\t",
        ] {
            assert_eq!(read_decimal(text, 2), Err(DigitsFault::Syntax), "{text:?}");
        }
        assert_eq!(read_decimal(&"9".repeat(40), 0), Err(DigitsFault::Overflow));
        assert_eq!(
            read_decimal(&format!("{}x", "9".repeat(40)), 0),
            Err(DigitsFault::Syntax)
        );
        assert_eq!(read_decimal("2", 38), Err(DigitsFault::Overflow));
    }

    #[test]
    fn amounts_have_currencies_and_commas() {
        for (text, number) in [
            ("", 0),
            ("$", 0),
            (".", 0),
            (",", 0),
            ("$ 1,234.56", 12_345_600),
            ("\u{20ac} 1,000.00", 10_000_000),
            ("-$1.5", -15_000),
            ("$-1.5", -15_000),
            ("1.00005", 10_001),
            ("-1.00005", -10_001),
            (" 1 \t\r\n", 10_000),
            ("12,34", 12_340_000),
        ] {
            assert_eq!(read_money(text), Ok(number), "{text:?}");
        }
        for text in [
            "abc",
            "1e3",
            "$ 1.000,00",
            "(1)",
            "1-",
            "$$1",
            "--1",
            "-$-1",
            "1 2",
            "\t1",
            "1.2.3",
        ] {
            assert_eq!(read_money(text), Err(DigitsFault::Syntax), "{text:?}");
        }
        assert_eq!(read_money(&"9".repeat(40)), Err(DigitsFault::Overflow));
    }

    #[test]
    fn floats_have_points_and_exponents() {
        let float = |text| read_float(text).and_then(|text| text.parse::<f64>().ok());
        for (text, number) in [
            ("", 0.0),
            (" ", 0.0),
            ("\t\r\n1.5 ", 1.5),
            ("1e3", 1000.0),
            ("1E+3", 1000.0),
            ("1d-3", 0.001),
            (".5", 0.5),
            ("5.", 5.0),
            ("-.5e1", -5.0),
            ("+7", 7.0),
            ("1e-400", 0.0),
            ("1e400", f64::INFINITY),
        ] {
            assert_eq!(float(text), Some(number), "{text:?}");
        }
        for text in [
            "abc", ".", "-", "e5", "1e", "1e+", "1e5.5", "inf", "nan", "NaN", "1_0", "0x10", "1 2", "1\t",
        ] {
            assert_eq!(float(text), None, "{text:?}");
        }
    }
}
