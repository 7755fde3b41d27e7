//! Mean and variance.

/// The mean; none without values, or if it is not finite. The mean of equal values is exactly that
/// value.
pub fn mean(values: &[f64]) -> Option<f64> {
    let (first, rest) = values.split_first()?;
    let mean = if rest.iter().all(|value| value == first) {
        *first
    } else {
        values.iter().sum::<f64>() / values.len() as f64
    };
    mean.is_finite().then_some(mean)
}

/// The variance with n - 1 degrees of freedom; none with fewer than two values, or if it is not finite.
pub fn variance(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let center = mean(values)?;
    let squares: f64 = values.iter().map(|value| square(value - center)).sum();
    let variance = squares / (values.len() - 1) as f64;
    variance.is_finite().then_some(variance)
}

/// The square, rounded once: the result of `powi` may differ between platforms and from run to run
/// (Rust's documentation).
pub fn square(value: f64) -> f64 {
    value * value
}

/// The value below which `share` of `sorted` lies, interpolated linearly; none without values.
pub fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let position = share.clamp(0.0, 1.0) * last as f64;
    let index = whole(position, last);
    let low = *sorted.get(index)?;
    let high = *sorted.get(index + 1).unwrap_or(&low);
    Some(low + (high - low) * (position - index as f64))
}

/// The integer part of a number, clamped to 0 to `most`; 0 for NaN.
pub fn whole(value: f64, most: usize) -> usize {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a conversion from a float saturates, and the part behind the point is to be dropped"
    )]
    let whole = value as usize;
    whole.min(most)
}

/// `count` as a `u32`, saturated.
pub fn count(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_of_too_few_values_are_none() {
        assert_eq!(mean(&[]), None);
        assert_eq!(variance(&[]), None);
        assert_eq!(variance(&[1.0]), None);
        assert_eq!(quantile(&[], 0.5), None);
    }

    #[test]
    fn moments_that_overflow_are_none() {
        assert_eq!(mean(&[f64::MAX, f64::MAX / 2.0]), None);
        assert_eq!(variance(&[-1e200, 1e200]), None);
        assert_eq!(mean(&[f64::NAN]), None);
    }

    #[test]
    fn equal_values_have_no_variance_at_all() {
        assert_eq!(mean(&[0.1; 7]), Some(0.1));
        assert_eq!(variance(&[0.1; 7]), Some(0.0));
    }

    #[test]
    fn quantiles_are_interpolated() {
        assert_eq!(quantile(&[1.0, 2.0, 4.0], 0.75), Some(3.0));
        assert_eq!(quantile(&[1.0, 2.0, 4.0], 1.0), Some(4.0));
        assert_eq!(quantile(&[1.0, 2.0, 4.0], f64::NAN).map(f64::is_nan), Some(true));
    }

    #[test]
    fn whole_parts_stay_in_their_bounds() {
        assert_eq!(
            [2.9, -1.0, f64::NAN, f64::INFINITY].map(|value| whole(value, 9)),
            [2, 0, 0, 9]
        );
    }
}
