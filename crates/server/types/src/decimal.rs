//! Exact decimal arithmetic.
//!
//! - `exact-between-operands-and-result`: intermediate results are exact: they have 256 bits.
//! - `division-truncates-others-round`: a division is truncated at its scale; all other results are
//!   rounded to their scale, half away from zero. SQL Server computes and converts in this way.
//! - `at-most-38-digits`: a number with more than 38 digits is not a value: every function returns
//!   `None` for it.

mod wide;

use std::cmp::Ordering;

use self::wide::Wide;
use crate::Decimal;

/// 10^n for every scale.
pub(crate) const POWERS_OF_TEN: [u128; 39] = {
    let mut powers = [1; 39];
    let mut at = 1;
    while at < powers.len() {
        powers[at] = powers[at - 1] * 10;
        at += 1;
    }
    powers
};

/// 10^`exponent`, if it has at most 39 digits.
pub(crate) fn power_of_ten(exponent: u8) -> Option<u128> {
    POWERS_OF_TEN.get(usize::from(exponent)).copied()
}

impl Decimal {
    /// The number with `scale` fractional digits, rounded half away from zero.
    ///
    /// `None` if it has more than 38 digits, or `scale` is above 38.
    #[must_use]
    pub fn rescale(self, scale: u8) -> Option<Self> {
        if scale == self.scale {
            return Some(self);
        }
        let unscaled = match scale.checked_sub(self.scale) {
            Some(more) => self.unscaled.checked_mul(i128::try_from(power_of_ten(more)?).ok()?)?,
            None => round(self.unscaled, power_of_ten(self.scale - scale)?)?,
        };
        Self { unscaled, scale }.checked()
    }

    /// Whether the number has at most `precision` digits.
    #[must_use]
    pub fn fits(self, precision: u8) -> bool {
        power_of_ten(precision).is_none_or(|limit| self.unscaled.unsigned_abs() < limit)
    }

    /// The number of digits: at least 1.
    #[must_use]
    pub fn digits(self) -> u8 {
        let magnitude = self.unscaled.unsigned_abs();
        let count = POWERS_OF_TEN.partition_point(|power| *power <= magnitude);
        u8::try_from(count).unwrap_or(u8::MAX).max(1)
    }

    /// `self` if it has at most 38 digits.
    fn checked(self) -> Option<Self> {
        (self.scale <= 38 && self.fits(38)).then_some(self)
    }
}

/// Compares two numbers of any scales.
pub(crate) fn compare(left: Decimal, right: Decimal) -> Ordering {
    if left.scale == right.scale {
        return left.unscaled.cmp(&right.unscaled);
    }
    if let Some((left, right)) = narrowly_aligned(left, right) {
        return left.cmp(&right);
    }
    let sign = |number: Decimal| number.unscaled.signum();
    sign(left).cmp(&sign(right)).then_with(|| {
        let magnitudes = match (aligned(left, right), aligned(right, left)) {
            (Some(left), Some(right)) => left.cmp(&right),
            (None, None) => Ordering::Equal,
            (None, Some(_)) => Ordering::Greater,
            (Some(_), None) => Ordering::Less,
        };
        if left.unscaled < 0 {
            magnitudes.reverse()
        } else {
            magnitudes
        }
    })
}

/// The sum at `scale`.
pub(crate) fn add(left: Decimal, right: Decimal, scale: u8) -> Option<Decimal> {
    if left.scale == right.scale && scale == left.scale {
        return Decimal {
            unscaled: left.unscaled.checked_add(right.unscaled)?,
            scale,
        }
        .checked();
    }
    let (a, b) = (aligned(left, right)?, aligned(right, left)?);
    let (negative, sum) = match (left.unscaled < 0, right.unscaled < 0) {
        (true, true) => (true, a.sum(b)?),
        (false, false) => (false, a.sum(b)?),
        (true, false) => (a > b, a.difference(b)),
        (false, true) => (b > a, a.difference(b)),
    };
    scaled(negative, sum, left.scale.max(right.scale), scale)
}

/// The difference at `scale`.
pub(crate) fn subtract(left: Decimal, right: Decimal, scale: u8) -> Option<Decimal> {
    add(
        left,
        Decimal {
            unscaled: right.unscaled.checked_neg()?,
            scale: right.scale,
        },
        scale,
    )
}

/// The product at `scale`.
pub(crate) fn multiply(left: Decimal, right: Decimal, scale: u8) -> Option<Decimal> {
    let all = left.scale.checked_add(right.scale)?;
    if all == scale
        && let Some(unscaled) = left.unscaled.checked_mul(right.unscaled)
    {
        return Decimal { unscaled, scale }.checked();
    }
    let negative = (left.unscaled < 0) != (right.unscaled < 0);
    let product = Wide::product(left.unscaled.unsigned_abs(), right.unscaled.unsigned_abs());
    scaled(negative, product, all, scale)
}

/// The quotient, truncated at `scale`. The divisor is not 0.
pub(crate) fn divide(left: Decimal, right: Decimal, scale: u8) -> Option<Decimal> {
    let divisor = right.unscaled.unsigned_abs();
    let mut quotient = left.unscaled.unsigned_abs().checked_div(divisor)?;
    let mut rest = left.unscaled.unsigned_abs() % divisor;
    let up = scale.checked_add(right.scale)?;
    match up.checked_sub(left.scale) {
        Some(mut more) => {
            // At most three iterations, each with as many digits as fit into 128 bits.
            while more > 0 {
                let step = more.min(38);
                let factor = power_of_ten(step)?;
                let (digits, left_over) = Wide::product(rest, factor).divide(divisor)?;
                quotient = quotient.checked_mul(factor)?.checked_add(digits)?;
                rest = left_over;
                more -= step;
            }
        }
        None => quotient /= power_of_ten(left.scale - up)?,
    }
    let negative = (left.unscaled < 0) != (right.unscaled < 0);
    signed(negative, quotient, scale)
}

/// The remainder of the integer division, with the sign of `left`. The divisor is not 0.
///
/// `scale` is at least that of both operands.
pub(crate) fn remainder(left: Decimal, right: Decimal, scale: u8) -> Option<Decimal> {
    let (dividend, divisor) = (aligned(left, right)?, aligned(right, left)?);
    let rest = if divisor.high == 0 {
        dividend.remainder(divisor.low)?
    } else {
        // Only the operand with the smaller scale was multiplied: the dividend fits into 128 bits, and is smaller.
        dividend.low
    };
    let common = left.scale.max(right.scale);
    scaled(left.unscaled < 0, Wide { high: 0, low: rest }, common, scale)
}

/// Both unscaled numbers at the larger scale, if they fit into 128 bits.
fn narrowly_aligned(left: Decimal, right: Decimal) -> Option<(i128, i128)> {
    let widened = |number: Decimal, other: Decimal| match other.scale.checked_sub(number.scale) {
        None | Some(0) => Some(number.unscaled),
        Some(more) => number.unscaled.checked_mul(i128::try_from(power_of_ten(more)?).ok()?),
    };
    Some((widened(left, right)?, widened(right, left)?))
}

/// The magnitude of `number` at the larger scale of both.
fn aligned(number: Decimal, other: Decimal) -> Option<Wide> {
    let factor = power_of_ten(other.scale.saturating_sub(number.scale))?;
    Some(Wide::product(number.unscaled.unsigned_abs(), factor))
}

/// Converts a number from scale `from` to scale `to`, with rounding.
fn scaled(negative: bool, magnitude: Wide, from: u8, to: u8) -> Option<Decimal> {
    let magnitude = match from.checked_sub(to) {
        Some(0) if magnitude.high == 0 => magnitude.low,
        Some(0) => return None,
        Some(fewer) => {
            // A product may have a scale of 76, which exceeds the largest power of ten: divide by 10^38 first. Only the
            // last division decides about rounding.
            let (first, then) = if fewer > 38 { (38, fewer - 38) } else { (0, fewer) };
            let cut = match first {
                0 => magnitude,
                _ => Wide {
                    high: 0,
                    low: magnitude.divide(power_of_ten(first)?)?.0,
                },
            };
            let divisor = power_of_ten(then)?;
            let (quotient, rest) = cut.divide(divisor)?;
            quotient.checked_add(u128::from(rest >= divisor - rest))?
        }
        None => {
            let wider = Wide::product(magnitude.low, power_of_ten(to - from)?);
            if magnitude.high != 0 || wider.high != 0 {
                return None;
            }
            wider.low
        }
    };
    signed(negative, magnitude, to)
}

fn signed(negative: bool, magnitude: u128, scale: u8) -> Option<Decimal> {
    let unscaled = i128::try_from(magnitude).ok()?;
    Decimal {
        unscaled: if negative { -unscaled } else { unscaled },
        scale,
    }
    .checked()
}

/// `number` divided by `divisor`, which is not 0, rounded half away from zero.
fn round(number: i128, divisor: u128) -> Option<i128> {
    let magnitude = number.unsigned_abs();
    let (quotient, rest) = (magnitude.checked_div(divisor)?, magnitude % divisor);
    let rounded = i128::try_from(quotient + u128::from(rest >= divisor - rest)).ok()?;
    Some(if number < 0 { -rounded } else { rounded })
}

#[cfg(test)]
mod tests;
