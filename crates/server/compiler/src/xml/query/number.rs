//! The numbers of XQuery: exact ones of ten fractional digits, and xs:double.

use std::cmp::Ordering;

use crate::SqlError;

/// A number.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Number {
    /// xs:integer or xs:decimal, in units of 10^-10.
    Exact(i128),
    /// xs:double.
    Double(f64),
}

/// An operator of arithmetic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Arithmetic {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `div`
    Divide,
    /// `mod`
    Modulo,
}

impl Arithmetic {
    /// As it is written, with what ends it.
    pub fn written(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "div",
            Self::Modulo => "mod",
        }
    }
}

impl Number {
    /// 0
    pub const ZERO: Self = Self::Exact(0);

    /// A count.
    pub fn of_count(count: usize) -> Self {
        i128::try_from(count).map_or(Self::ZERO, |count| Self::Exact(count.saturating_mul(UNIT)))
    }

    /// The number of digits with a point; `None` of more than 28 digits before it.
    pub fn exact(text: &str) -> Option<Self> {
        let (sign, digits) = match text.strip_prefix('-') {
            Some(digits) => (-1, digits),
            None => (1, text),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let whole = whole.trim_start_matches('0');
        let is_number = whole
            .bytes()
            .chain(fraction.bytes())
            .all(|digit| digit.is_ascii_digit());
        if whole.len() > WHOLE_DIGITS_MAX || !is_number {
            return None;
        }
        let whole: i128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
        let mut kept = String::from(fraction.get(..FRACTION_DIGITS).unwrap_or(fraction));
        while kept.len() < FRACTION_DIGITS {
            kept.push('0');
        }
        let rounds_up = fraction
            .as_bytes()
            .get(FRACTION_DIGITS)
            .is_some_and(|digit| *digit >= b'5');
        let fraction = kept.parse::<i128>().ok()? + i128::from(rounds_up);
        Some(Self::Exact(sign * (whole * UNIT + fraction)))
    }

    /// As xs:double.
    pub fn double(self) -> f64 {
        match self {
            #[expect(
                clippy::cast_precision_loss,
                reason = "xs:double is what an exact number becomes beside one"
            )]
            Self::Exact(units) => units as f64 / UNIT as f64,
            Self::Double(number) => number,
        }
    }

    /// Whether it is a number and not 0.
    pub fn is_true(self) -> bool {
        match self {
            Self::Exact(units) => units != 0,
            Self::Double(number) => number != 0.0 && !number.is_nan(),
        }
    }

    /// The order; `None` of NaN.
    pub fn order(self, other: Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Exact(left), Self::Exact(right)) => Some(left.cmp(&right)),
            (_, _) => self.double().partial_cmp(&other.double()),
        }
    }

    /// With the other sign.
    pub fn negated(self) -> Self {
        match self {
            Self::Exact(units) => Self::Exact(-units),
            Self::Double(number) => Self::Double(-number),
        }
    }

    /// The result of an operator; `None`, the empty sequence, of one that is no number.
    ///
    /// Errors: 40510 for an exact result whose digits are not known.
    pub fn combined(self, operator: Arithmetic, other: Self) -> Result<Option<Self>, SqlError> {
        let (Self::Exact(left), Self::Exact(right)) = (self, other) else {
            let (left, right) = (self.double(), other.double());
            let result = match operator {
                Arithmetic::Add => left + right,
                Arithmetic::Subtract => left - right,
                Arithmetic::Multiply => left * right,
                Arithmetic::Divide => left / right,
                Arithmetic::Modulo => left % right,
            };
            // 1e0 div 0 is INF, as SQL Server has it; what is no number is nothing.
            let is_quotient = operator == Arithmetic::Divide && right == 0.0 && !result.is_nan();
            return Ok((result.is_finite() || is_quotient).then_some(Self::Double(result)));
        };
        let units = match operator {
            Arithmetic::Add => left.checked_add(right),
            Arithmetic::Subtract => left.checked_sub(right),
            Arithmetic::Multiply => product(left, right)?,
            Arithmetic::Divide => quotient(left, right)?,
            Arithmetic::Modulo => left.checked_rem(right),
        };
        Ok(units.filter(|units| units.unsigned_abs() < UNITS_END).map(Self::Exact))
    }

    /// The mean of a sum: one of exact numbers has ten digits.
    pub fn divided_by(self, count: usize) -> Self {
        match (self, i128::try_from(count)) {
            (Self::Exact(units), Ok(count)) if count > 0 => Self::Exact(units / count),
            (_, _) => Self::Double(self.double() / Self::of_count(count).double()),
        }
    }

    /// As text.
    pub fn text(self) -> String {
        match self {
            Self::Exact(units) => {
                let sign = if units < 0 { "-" } else { "" };
                let units = units.unsigned_abs();
                let unit = UNIT.unsigned_abs();
                let fraction = format!("{:010}", units % unit);
                let fraction = fraction.trim_end_matches('0');
                let point = if fraction.is_empty() { "" } else { "." };
                format!("{sign}{}{point}{fraction}", units / unit)
            }
            Self::Double(number) => double_text(number),
        }
    }
}

/// The product, rounded to six digits; `None` past the range.
fn product(left: i128, right: i128) -> Result<Option<i128>, SqlError> {
    let is_whole = |units: i128| units % UNIT == 0;
    if is_whole(left) && is_whole(right) {
        return Ok(left.checked_mul(right / UNIT));
    }
    let product = left.checked_mul(right).ok_or_else(inexact)?;
    let (cut, rest) = (product / (UNIT * CUT), product % (UNIT * CUT));
    let rounds_up = rest.unsigned_abs() * 2 >= (UNIT * CUT).unsigned_abs();
    let rounded = cut + if rounds_up { product.signum() } else { 0 };
    Ok(Some(rounded * CUT))
}

/// The quotient, cut to six digits; `None` of 0.
fn quotient(left: i128, right: i128) -> Result<Option<i128>, SqlError> {
    if right == 0 {
        return Ok(None);
    }
    let quotient = left.checked_mul(UNIT).ok_or_else(inexact)? / right;
    Ok(Some(quotient - quotient % CUT))
}

fn inexact() -> SqlError {
    SqlError::unsupported("XQuery: a result of exact numbers of so many digits")
}

/// As fn:string has it, of fifteen digits.
fn double_text(number: f64) -> String {
    if number.is_nan() {
        return "NaN".to_owned();
    }
    let sign = if number.is_sign_negative() { "-" } else { "" };
    if number.is_infinite() {
        return format!("{sign}INF");
    }
    if number == 0.0 {
        return format!("{sign}0.0E0");
    }
    let written = format!("{:.14e}", number.abs());
    let (mantissa, exponent) = written.split_once('e').unwrap_or((&written, "0"));
    let digits = mantissa.replace('.', "");
    let digits = match digits.trim_end_matches('0') {
        "" => "0",
        digits => digits,
    };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let before = usize::try_from(exponent + 1).unwrap_or(0);
    match exponent {
        -6..=-1 => {
            let zeros = usize::try_from(-exponent - 1).unwrap_or(0);
            format!("{sign}0.{}{digits}", "0".repeat(zeros))
        }
        0..=5 if digits.len() <= before => format!("{sign}{digits}{}", "0".repeat(before - digits.len())),
        0..=5 => format!("{sign}{}.{}", &digits[..before], &digits[before..]),
        _ => {
            let rest = if digits.len() > 1 { &digits[1..] } else { "0" };
            format!("{sign}{}.{rest}E{exponent}", &digits[..1])
        }
    }
}

/// 10^10
const UNIT: i128 = 10_000_000_000;
const FRACTION_DIGITS: usize = 10;
const WHOLE_DIGITS_MAX: usize = 28;
/// Units of the sixth digit behind the point.
const CUT: i128 = 10_000;
/// numeric(38, 10) ends before.
const UNITS_END: u128 = 10_u128.pow(38);

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Number {
        Number::exact(text).unwrap()
    }

    #[test]
    fn exact_numbers_keep_their_digits() {
        for (left, operator, right, expected) in [
            ("0.1", Arithmetic::Add, "0.2", "0.3"),
            ("1", Arithmetic::Subtract, "1.50", "-0.5"),
            ("1234567", Arithmetic::Add, "1", "1234568"),
            ("1.5", Arithmetic::Multiply, "1.5", "2.25"),
            (
                "10000000000",
                Arithmetic::Multiply,
                "10000000000",
                "100000000000000000000",
            ),
            ("2", Arithmetic::Divide, "3", "0.666666"),
            ("1", Arithmetic::Divide, "4", "0.25"),
            ("1.5", Arithmetic::Divide, "0.5", "3"),
            ("-7", Arithmetic::Modulo, "3", "-1"),
            ("1.23456789", Arithmetic::Multiply, "1.1", "1.358025"),
            ("-1.2345675", Arithmetic::Multiply, "1.0", "-1.234568"),
            ("1.5", Arithmetic::Divide, "0.7", "2.142857"),
            ("-1.5", Arithmetic::Divide, "0.7", "-2.142857"),
        ] {
            let result = of(left).combined(operator, of(right)).unwrap().unwrap();
            assert_eq!(result.text(), expected, "{left} {operator:?} {right}");
        }
        for (left, operator, right) in [
            ("1", Arithmetic::Divide, "0"),
            ("1", Arithmetic::Modulo, "0"),
            ("9999999999999999999999999999", Arithmetic::Multiply, "10"),
        ] {
            assert_eq!(of(left).combined(operator, of(right)).unwrap(), None, "{left} {right}");
        }
        let most = of("9999999999999999999999999999");
        let inexact = most.combined(Arithmetic::Divide, of("3")).unwrap_err();
        assert_eq!(inexact.number(), 40510);
        assert_eq!(Number::exact("12345678901234567890123456789"), None);
        assert_eq!(of("0.12345678905").text(), "0.1234567891");
    }

    #[test]
    fn a_double_divided_by_zero_is_infinite() {
        let divided = |number: f64, by: f64| Number::Double(number).combined(Arithmetic::Divide, Number::Double(by));
        assert_eq!(divided(1.0, 0.0).unwrap(), Some(Number::Double(f64::INFINITY)));
        assert_eq!(divided(-1.0, 0.0).unwrap(), Some(Number::Double(f64::NEG_INFINITY)));
        assert_eq!(divided(0.0, 0.0).unwrap(), None);
        assert_eq!(divided(f64::MAX, 1e-9).unwrap(), None);
    }

    #[test]
    fn doubles_are_written_as_fn_string_does() {
        for (number, expected) in [
            (1_234_568.0, "1.234568E6"),
            (999_999.5, "999999.5"),
            (17.5, "17.5"),
            (100.0, "100"),
            (0.000_001, "0.000001"),
            (0.000_000_5, "5.0E-7"),
            (0.0, "0.0E0"),
            (-0.5, "-0.5"),
            (1e20, "1.0E20"),
            (0.1 + 0.2, "0.3"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-INF"),
        ] {
            assert_eq!(Number::Double(number).text(), expected, "{number}");
        }
    }
}
