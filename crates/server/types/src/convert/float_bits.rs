//! Decomposes a float into mantissa and exponent.

use crate::decimal::power_of_ten;

/// `mantissa` times 2^`exponent`, with a sign.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FloatBits {
    is_negative: bool,
    mantissa: u64,
    exponent: i32,
}

impl FloatBits {
    /// `None` for NaN and infinities.
    pub fn of(value: f64) -> Option<Self> {
        if !value.is_finite() {
            return None;
        }
        let bits = value.to_bits();
        let (biased, fraction) = ((bits >> 52) & 0x7ff, bits & 0xf_ffff_ffff_ffff);
        // Subnormal numbers (exponent 0) have no implicit highest bit.
        let mantissa = if biased == 0 { fraction } else { fraction | 1 << 52 };
        let exponent = i32::try_from(biased.max(1)).ok()? - 1075;
        Some(Self {
            is_negative: value.is_sign_negative(),
            mantissa,
            exponent,
        })
    }

    /// The integer part, truncated towards zero; `None` outside of i128.
    pub fn truncated(self) -> Option<i128> {
        let mantissa = i128::from(self.mantissa);
        let whole = if self.exponent >= 0 {
            // 53 bits shifted left by 74 have 127 bits.
            if self.exponent > 74 && mantissa != 0 {
                return None;
            }
            mantissa.checked_shl(self.exponent.unsigned_abs()).unwrap_or(0)
        } else {
            mantissa.checked_shr(self.exponent.unsigned_abs()).unwrap_or(0)
        };
        Some(if self.is_negative { -whole } else { whole })
    }

    /// The number times 10^`scale` (0 to 38), rounded half away from zero; `None` outside of i128.
    pub fn scaled(self, scale: u8) -> Option<i128> {
        let power = power_of_ten(scale)?;
        let rounded = if self.exponent >= 0 {
            self.truncated()?.unsigned_abs().checked_mul(power)?
        } else {
            Product::of(self.mantissa, power).rounded_shift(self.exponent.unsigned_abs())?
        };
        let rounded = i128::try_from(rounded).ok()?;
        Some(if self.is_negative { -rounded } else { rounded })
    }
}

/// `high` times 2^64 plus `low`.
struct Product {
    high: u128,
    low: u64,
}

impl Product {
    /// The product of a 53-bit mantissa and a power of ten below 2^127: below 2^180, so `high` is below 2^116.
    fn of(mantissa: u64, power: u128) -> Self {
        let [power_high, power_low] = halves(power);
        let low_product = u128::from(mantissa) * u128::from(power_low);
        let [carried, low] = halves(low_product);
        Self {
            high: u128::from(mantissa) * u128::from(power_high) + u128::from(carried),
            low,
        }
    }

    /// The product divided by 2^`shift` (at least 1), rounded half up; `None` outside of u128.
    fn rounded_shift(self, shift: u32) -> Option<u128> {
        let half_bit = self.bit(shift - 1);
        let whole = if shift >= 64 {
            self.high.checked_shr(shift - 64).unwrap_or(0)
        } else {
            let up = 64 - shift;
            if self.high.leading_zeros() < up {
                return None;
            }
            (self.high << up) | u128::from(self.low >> shift)
        };
        whole.checked_add(u128::from(half_bit))
    }

    fn bit(&self, index: u32) -> bool {
        let of_high = |index| self.high.checked_shr(index).unwrap_or(0) & 1 == 1;
        if index < 64 {
            self.low >> index & 1 == 1
        } else {
            of_high(index - 64)
        }
    }
}

fn halves(number: u128) -> [u64; 2] {
    let low = u64::try_from(number & u128::from(u64::MAX)).unwrap_or(0);
    [u64::try_from(number >> 64).unwrap_or(0), low]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn scaled(value: f64, scale: u8) -> Option<i128> {
        FloatBits::of(value).and_then(|bits| bits.scaled(scale))
    }

    #[test]
    fn the_exact_value_of_a_float_is_rounded() {
        assert_eq!(scaled(0.333_333, 30), Some(333_332_999_999_999_990_414_778_494_596));
        assert_eq!(scaled(1e30, 0), Some(1_000_000_000_000_000_019_884_624_838_656));
        assert_eq!(scaled(f64::from(1.1_f32), 10), Some(11_000_000_238));
        assert_eq!(scaled(0.5, 0), Some(1));
        assert_eq!(scaled(-2.5, 0), Some(-3));
        assert_eq!(scaled(5e-324, 38), Some(0));
        assert_eq!(
            scaled(1e38, 0),
            Some(99_999_999_999_999_997_748_809_823_456_034_029_568)
        );
        assert_eq!(scaled(1e38, 1), None);
        assert_eq!(scaled(1e39, 0), None);
        assert_eq!(scaled(f64::MAX, 38), None);
        assert_eq!(FloatBits::of(f64::NAN), None);
        assert_eq!(FloatBits::of(f64::NEG_INFINITY), None);
    }

    #[test]
    fn truncation_goes_to_zero() {
        let truncated = |value| FloatBits::of(value).and_then(FloatBits::truncated);
        assert_eq!(truncated(1.9), Some(1));
        assert_eq!(truncated(-1.9), Some(-1));
        assert_eq!(truncated(-0.0), Some(0));
        assert_eq!(truncated(1e-300), Some(0));
        assert_eq!(truncated(9_223_372_036_854_775_807.0), Some(1 << 63));
        assert_eq!(truncated(1e300), None);
    }

    proptest! {
        #[test]
        fn scaling_agrees_with_the_printed_digits(value in -1e15..1e15_f64, scale in 0..12_u8) {
            // Rust prints the exact value and rounds ties to even: only a tie may differ by one.
            let exact = format!("{value:.1074}");
            let (whole, fraction) = exact.split_once('.').unwrap();
            let (kept, rest) = fraction.split_at(usize::from(scale));
            let truncated = format!("{whole}{kept}").parse::<i128>().unwrap().unsigned_abs();
            let up = rest.as_bytes()[0] >= b'5';
            let expected = i128::try_from(truncated + u128::from(up)).unwrap();
            let expected = if value < 0.0 { -expected } else { expected };
            prop_assert_eq!(scaled(value, scale), Some(expected));
        }
    }
}
