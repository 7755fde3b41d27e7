//! Exact numbers with digits after the point.

/// 10^`exponent`, if it is below 2^127: to 10^38.
pub(crate) fn power_of_ten(exponent: u8) -> Option<i128> {
    10_i128.checked_pow(u32::from(exponent))
}

/// `unscaled` divided by 10^`from` as a multiple of 10^-`to`, half away from zero; none beyond i128.
pub(crate) fn rescaled(unscaled: i128, from: u8, to: u8) -> Option<i128> {
    if to >= from {
        return unscaled.checked_mul(power_of_ten(to - from)?);
    }
    match power_of_ten(from - to) {
        Some(divisor) => Some(divided(unscaled, divisor)),
        // A divisor beyond 10^38 leaves less than a half.
        None => Some(0),
    }
}

/// The quotient by a positive divisor, half away from zero.
pub(crate) fn divided(number: i128, divisor: i128) -> i128 {
    let (quotient, rest) = (number / divisor, number % divisor);
    if rest.unsigned_abs() >= divisor.unsigned_abs().div_ceil(2) {
        quotient + number.signum()
    } else {
        quotient
    }
}

/// Whether a decimal of so many digits in all can hold the number.
pub(crate) fn fits(unscaled: i128, precision: u8) -> bool {
    power_of_ten(precision).is_none_or(|limit| unscaled.unsigned_abs() < limit.unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_rounded_half_away_from_zero() {
        assert_eq!(rescaled(15, 1, 0), Some(2));
        assert_eq!(rescaled(-15, 1, 0), Some(-2));
        assert_eq!(rescaled(14, 1, 0), Some(1));
        assert_eq!(rescaled(-149, 2, 0), Some(-1));
        assert_eq!(rescaled(5, 0, 3), Some(5000));
        assert_eq!(rescaled(i128::MAX, 38, 0), Some(2));
        assert_eq!(rescaled(i128::MAX, 255, 0), Some(0));
        assert_eq!(rescaled(2, 0, 38), None);
        assert_eq!(rescaled(0, 0, 255), None);
        assert_eq!(divided(i128::MIN, 1), i128::MIN);
    }

    #[test]
    fn a_number_fits_below_its_power_of_ten() {
        assert!(fits(999, 3));
        assert!(!fits(1000, 3));
        assert!(!fits(-1000, 3));
        assert!(!fits(i128::MIN, 38));
        assert!(fits(0, 0));
    }
}
