//! Walsh averages: the means of all pairs of values, including each value with itself.

use std::cmp::Ordering;

/// All Walsh averages in ascending order, without storing them.
pub struct WalshAverages {
    /// Halves of the values, ascending: their sums are the means, and cannot overflow.
    halves: Vec<f64>,
    /// A buffer for the means of few values.
    means: Vec<f64>,
}

impl WalshAverages {
    /// Without values.
    pub fn new() -> Self {
        Self {
            halves: Vec::new(),
            means: Vec::new(),
        }
    }

    /// Replaces the values by `values`. Returns whether all are finite; otherwise there are none.
    pub fn refill(&mut self, values: impl Iterator<Item = f64>) -> bool {
        self.means.clear();
        self.halves.clear();
        self.halves.extend(values.map(|value| value / 2.0));
        if !self.halves.iter().all(|half| half.is_finite()) {
            self.halves.clear();
            return false;
        }
        self.halves.sort_unstable_by(f64::total_cmp);
        if self.halves.len() <= FEW {
            for (index, half) in self.halves.iter().enumerate() {
                self.means
                    .extend(self.halves.iter().skip(index).map(|other| half + other));
            }
        }
        true
    }

    /// The number of means.
    pub fn count(&self) -> usize {
        self.halves.len() * (self.halves.len() + 1) / 2
    }

    /// The mean at `index`; none if there are too few.
    pub fn nth(&mut self, index: usize) -> Option<f64> {
        if index >= self.count() {
            return None;
        }
        if self.means.is_empty() {
            return Some(self.search(index));
        }
        Some(*self.means.select_nth_unstable_by(index, f64::total_cmp).1)
    }

    /// The median; none if there are none.
    pub fn median(&mut self) -> Option<f64> {
        let count = self.count();
        let high = self.nth(count / 2)?;
        if count % 2 == 1 {
            return Some(high);
        }
        let low = if self.means.is_empty() {
            self.search(count / 2 - 1)
        } else {
            // The selection left all smaller means before it.
            self.means.iter().take(count / 2).copied().max_by(f64::total_cmp)?
        };
        Some(low / 2.0 + high / 2.0)
    }

    /// Bisects the range of floating-point numbers: 64 counts, however many values there are.
    fn search(&self, index: usize) -> f64 {
        let (mut low, mut high) = (rank_of(-f64::MAX), rank_of(f64::MAX));
        while low < high {
            let middle = low + (high - low) / 2;
            if self.count_up_to(number_of(middle)) > index {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        number_of(low)
    }

    /// The number of means of at most `limit`. Sums increase with both terms, rounded or not, so
    /// one pass finds all.
    fn count_up_to(&self, limit: f64) -> usize {
        let mut end = self.halves.len();
        let mut count = 0;
        for (index, half) in self.halves.iter().enumerate() {
            while end > index && (half + self.halves[end - 1]).total_cmp(&limit) == Ordering::Greater {
                end -= 1;
            }
            if end <= index {
                break;
            }
            count += end - index;
        }
        count
    }
}

/// The rank of a number in the order of [`f64::total_cmp`].
fn rank_of(number: f64) -> u64 {
    let bits = number.to_bits();
    if bits & SIGN == 0 { bits | SIGN } else { !bits }
}

fn number_of(rank: u64) -> f64 {
    f64::from_bits(if rank & SIGN == 0 { !rank } else { rank & !SIGN })
}

const SIGN: u64 = 1 << 63;

/// Up to this many values, the means are stored and selected from, which is faster than 64 counts.
const FEW: usize = 150;

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    fn all(values: &[f64]) -> Vec<f64> {
        let mut all = Vec::new();
        for (index, a) in values.iter().enumerate() {
            all.extend(values[index..].iter().map(|b| a / 2.0 + b / 2.0));
        }
        all.sort_by(f64::total_cmp);
        all
    }

    #[test]
    fn search_finds_what_sorting_does() {
        let mut random = ChaCha8Rng::seed_from_u64(41);
        for size in [1, 2, 3, 7, FEW, FEW + 1] {
            let values: Vec<f64> = (0..size)
                .map(|_| f64::from(random.random_range(-20_i32..20)) / 7.0)
                .collect();
            let expected = all(&values);
            let mut averages = WalshAverages::new();
            assert!(averages.refill(values.iter().copied()));
            assert_eq!(averages.count(), expected.len());
            for (index, value) in expected.iter().enumerate().step_by(size / 8 + 1) {
                assert_eq!(averages.search(index), *value, "{index} of {size}");
                assert_eq!(averages.nth(index), Some(*value), "{index} of {size}");
            }
            assert_eq!(averages.nth(expected.len()), None);
        }
    }

    #[test]
    fn values_that_are_not_finite_leave_no_averages() {
        let mut averages = WalshAverages::new();
        assert!(!averages.refill([1.0, f64::NAN].into_iter()));
        assert_eq!((averages.count(), averages.median()), (0, None));
        assert!(!averages.refill([f64::INFINITY].into_iter()));
    }

    #[test]
    fn the_largest_numbers_do_not_overflow() {
        let mut averages = WalshAverages::new();
        averages.refill([f64::MAX; 3].into_iter());
        assert_eq!(averages.median(), Some(f64::MAX));
        averages.refill([-f64::MAX; FEW + 1].into_iter());
        assert_eq!(averages.median(), Some(-f64::MAX));
    }
}
