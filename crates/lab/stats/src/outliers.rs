//! Outliers: counted and shown, never deleted.

use crate::moments::quantile;

/// The median of the finite values; none if there are none.
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    quantile(&sorted, 0.5)
}

/// Whether each value, in order, is farther from the median than `deviations` median absolute
/// deviations (unscaled). A value that is not finite always is. If more than half of the values are
/// equal, every other value is. None if `deviations` is negative or NaN.
#[must_use]
pub fn outliers(values: &[f64], deviations: f64) -> Vec<usize> {
    if deviations.is_nan() || deviations < 0.0 {
        return Vec::new();
    }
    let center = median(values).unwrap_or(0.0);
    let distances: Vec<f64> = values.iter().map(|value| (value - center).abs()).collect();
    let reach = median(&distances).unwrap_or(0.0) * deviations;
    let far = distances
        .iter()
        .enumerate()
        .filter(|(_, distance)| !distance.is_finite() || **distance > reach);
    far.map(|(index, _)| index).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn far_values_are_found_where_they_are() {
        assert_eq!(outliers(&[1.0, 1.1, 9.0, 0.9, 1.0, 1.2, -7.0], 5.0), [2, 6]);
        assert_eq!(outliers(&[1.0, 2.0, 3.0, 4.0], 5.0), [] as [usize; 0]);
    }

    #[test]
    fn a_value_that_is_not_finite_is_an_outlier() {
        assert_eq!(outliers(&[1.0, f64::NAN, 1.0, f64::INFINITY], 5.0), [1, 3]);
        assert_eq!(outliers(&[f64::NAN], 5.0), [0]);
    }

    #[test]
    fn among_equal_values_every_other_one_is() {
        assert_eq!(outliers(&[2.0, 2.0, 2.0, 2.5], 5.0), [3]);
        assert_eq!(outliers(&[2.0; 4], 5.0), [] as [usize; 0]);
    }

    #[test]
    fn an_empty_sample_has_no_outlier() {
        assert_eq!(outliers(&[], 5.0), [] as [usize; 0]);
        assert_eq!(outliers(&[1.0, 5.0], f64::NAN), [] as [usize; 0]);
        assert_eq!(outliers(&[1.0, 5.0], -1.0), [] as [usize; 0]);
        assert_eq!(median(&[]), None);
    }
}
