//! Holm's correction for several tests.

/// The p-values adjusted for the number of tests: the probability of any false finding is at most
/// the adjusted value that is compared (Holm, "A simple sequentially rejective multiple test
/// procedure", 1979). In the order given. NaN counts as 1: a test that could not be made is still
/// one of those planned, and finds nothing.
#[must_use]
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<(usize, f64)> = p_values.iter().copied().map(probability).enumerate().collect();
    order.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut adjusted = vec![1.0; p_values.len()];
    let mut largest: f64 = 0.0;
    for (place, (index, p_value)) in order.into_iter().enumerate() {
        let left = (p_values.len() - place) as f64;
        largest = largest.max((p_value * left).min(1.0));
        adjusted[index] = largest;
    }
    adjusted
}

fn probability(value: f64) -> f64 {
    if value.is_nan() { 1.0 } else { value.clamp(0.0, 1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_corrected_for_those_above_it() {
        assert_eq!(holm(&[0.04, 0.01, 0.5]), [0.08, 0.03, 0.5]);
        assert_eq!(holm(&[0.02, 0.02]), [0.04, 0.04]);
        assert_eq!(holm(&[]), Vec::<f64>::new());
    }

    #[test]
    fn an_invalid_probability_finds_nothing_and_still_counts() {
        assert_eq!(holm(&[f64::NAN, 0.01]), [1.0, 0.02]);
        assert_eq!(holm(&[7.0, -1.0]), [1.0, 0.0]);
    }
}
