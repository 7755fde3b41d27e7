//! Unsigned 256-bit integers, with the operations that decimals require.

/// `high` times 2^128 plus `low`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Wide {
    pub high: u128,
    pub low: u128,
}

impl Wide {
    /// A product, which always fits.
    pub fn product(left: u128, right: u128) -> Self {
        let (a1, a0) = (left >> 64, left & HALF);
        let (b1, b0) = (right >> 64, right & HALF);
        let low = a0 * b0;
        // No addition overflows: (2^64 - 1)^2 + 2 (2^64 - 1) is 2^128 - 1.
        let middle = a1 * b0 + (low >> 64);
        let other = a0 * b1 + (middle & HALF);
        Self {
            high: a1 * b1 + (middle >> 64) + (other >> 64),
            low: other << 64 | low & HALF,
        }
    }

    /// The sum; `None` from 2^256 on.
    pub fn sum(self, other: Self) -> Option<Self> {
        let (low, carry) = self.low.overflowing_add(other.low);
        let high = self.high.checked_add(other.high)?.checked_add(u128::from(carry))?;
        Some(Self { high, low })
    }

    /// The absolute difference.
    pub fn difference(self, other: Self) -> Self {
        let (large, small) = if self >= other { (self, other) } else { (other, self) };
        let (low, borrow) = large.low.overflowing_sub(small.low);
        Self {
            high: large.high - small.high - u128::from(borrow),
            low,
        }
    }

    /// Quotient and remainder; `None` if the divisor is 0 or the quotient does not fit into 128 bits.
    pub fn divide(self, divisor: u128) -> Option<(u128, u128)> {
        if self.high == 0 {
            return Some((self.low.checked_div(divisor)?, self.low % divisor));
        }
        if self.high >= divisor {
            return None;
        }
        Some(divide_narrow(self, divisor))
    }

    /// The remainder; `None` if the divisor is 0.
    pub fn remainder(self, divisor: u128) -> Option<u128> {
        let high = self.high.checked_rem(divisor)?;
        Self { high, low: self.low }
            .divide(divisor)
            .map(|(_, remainder)| remainder)
    }
}

/// Quotient and remainder if the quotient fits: `dividend.high` is below `divisor`, which is therefore not 0.
///
/// Knuth's algorithm D (TAOCP 4.3.1) with 64-bit digits.
fn divide_narrow(dividend: Wide, divisor: u128) -> (u128, u128) {
    let shift = divisor.leading_zeros();
    let divisor = divisor << shift;
    let high = if shift == 0 {
        dividend.high
    } else {
        dividend.high << shift | dividend.low >> (u128::BITS - shift)
    };
    let low = dividend.low << shift;
    let (first, rest) = divide_digit(high, low >> 64, divisor);
    let (second, rest) = divide_digit(rest, low & HALF, divisor);
    (first << 64 | second, rest >> shift)
}

/// One quotient digit of `high` and a further digit divided by `divisor`, and the remainder.
///
/// `divisor` has its highest bit set, and `high` is below it.
fn divide_digit(high: u128, digit: u128, divisor: u128) -> (u128, u128) {
    let (d1, d0) = (divisor >> 64, divisor & HALF);
    let mut quotient = high / d1;
    let mut left = high % d1;
    // At most twice: the estimate is at most 2 too high, because the divisor's highest bit is set.
    while quotient > HALF || quotient * d0 > (left << 64 | digit) {
        quotient -= 1;
        left += d1;
        if left > HALF {
            break;
        }
    }
    let rest = (high << 64 | digit).wrapping_sub(quotient.wrapping_mul(divisor));
    (quotient, rest)
}

/// The lower 64 bits.
const HALF: u128 = u64::MAX as u128;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Runs of set bits of any length: carries are most likely to be lost near powers of two.
    fn number() -> impl Strategy<Value = u128> {
        (any::<u128>(), 0..128_u32, any::<bool>()).prop_map(|(bits, shift, invert)| {
            let number = bits >> shift;
            if invert { !number } else { number }
        })
    }

    proptest! {
        #[test]
        fn a_product_divided_by_one_factor_is_the_other(a in number(), b in number(), rest in number()) {
            prop_assume!(b != 0);
            let rest = rest % b;
            let sum = Wide::product(a, b).sum(Wide { high: 0, low: rest }).unwrap();
            prop_assert_eq!(sum.divide(b), Some((a, rest)));
            prop_assert_eq!(sum.remainder(b), Some(rest));
            prop_assert_eq!(sum.difference(Wide { high: 0, low: rest }), Wide::product(a, b));
        }

        #[test]
        fn a_product_is_what_its_halves_make(a in any::<u64>(), b in number()) {
            let a = u128::from(a);
            let (high, low) = ((b >> 64) * a, (b & HALF) * a);
            let (sum, carry) = (high << 64).overflowing_add(low);
            prop_assert_eq!(Wide::product(a, b), Wide { high: (high >> 64) + u128::from(carry), low: sum });
            prop_assert_eq!(Wide::product(b, a), Wide::product(a, b));
        }

        #[test]
        fn division_is_checked_by_multiplication(high in number(), low in number(), divisor in number()) {
            let dividend = Wide { high, low };
            match dividend.divide(divisor) {
                Some((quotient, rest)) => {
                    prop_assert!(rest < divisor);
                    let back = Wide::product(quotient, divisor).sum(Wide { high: 0, low: rest });
                    prop_assert_eq!(back, Some(dividend));
                }
                None => prop_assert!(high >= divisor),
            }
            if let Some(rest) = dividend.remainder(divisor) {
                prop_assert!(rest < divisor);
            } else {
                prop_assert_eq!(divisor, 0);
            }
        }
    }

    #[test]
    fn the_largest_numbers_are_divided() {
        let most = Wide {
            high: u128::MAX - 1,
            low: u128::MAX,
        };
        assert_eq!(most.divide(u128::MAX), Some((u128::MAX, u128::MAX - 1)));
        assert_eq!(most.sum(Wide { high: 1, low: 1 }), None);
        assert_eq!(Wide { high: 5, low: 0 }.divide(0), None);
        assert_eq!(Wide { high: 0, low: 5 }.divide(0), None);
        assert_eq!(Wide { high: 5, low: 0 }.divide(5), None, "2^128 does not fit");
        assert_eq!(Wide { high: 0, low: 5 }.remainder(0), None);
    }
}
