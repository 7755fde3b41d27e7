//! Intervals and probabilities by Student's t.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// The mean of a few values, and how sure it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    /// The mean.
    pub center: f64,
    /// Its standard error.
    pub error: f64,
    /// Values less one.
    pub freedom: f64,
}

impl Mean {
    /// Of these values; none of fewer than two, which say nothing of how sure they are.
    pub fn of(values: &[f64]) -> Option<Self> {
        if values.len() < 2 || values.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let count = f64::from(u32::try_from(values.len()).ok()?);
        let center = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - center).powi(2)).sum();
        Some(Self {
            center,
            error: (squares / (count - 1.0) / count).sqrt(),
            freedom: count - 1.0,
        })
    }

    /// The 95 % interval.
    pub fn interval(&self) -> (f64, f64) {
        let half = self.error * quantile(0.975, self.freedom);
        (self.center - half, self.center + half)
    }

    /// How likely so large a distance from `truth` is by chance; two-sided.
    pub fn p(&self, truth: f64) -> f64 {
        let distance = (self.center - truth).abs();
        if self.error <= 0.0 {
            return if distance > 0.0 { 0.0 } else { 1.0 };
        }
        StudentsT::new(0.0, 1.0, self.freedom).map_or(1.0, |t| (2.0 * t.sf(distance / self.error)).min(1.0))
    }
}

/// The value below which a share of Student's distribution lies.
pub fn quantile(share: f64, freedom: f64) -> f64 {
    StudentsT::new(0.0, 1.0, freedom).map_or(f64::INFINITY, |t| t.inverse_cdf(share))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_the_one_of_the_tables() {
        assert!((quantile(0.975, 7.0) - 2.364_624).abs() < 1e-5);
        let mean = Mean::of(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        let (low, high) = mean.interval();
        assert!(
            (low - 1.036_757).abs() < 1e-5 && (high - 4.963_243).abs() < 1e-5,
            "{low} {high}"
        );
        assert!((mean.p(low) - 0.05).abs() < 1e-9);
        assert!((mean.p(3.0) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn one_value_says_nothing_and_equal_ones_everything() {
        assert_eq!(Mean::of(&[1.0]), None);
        assert_eq!(Mean::of(&[1.0, f64::NAN]), None);
        let equal = Mean::of(&[2.0, 2.0]).unwrap();
        assert_eq!(equal.interval(), (2.0, 2.0));
        assert_eq!((equal.p(2.0), equal.p(1.0)), (1.0, 0.0));
    }
}
