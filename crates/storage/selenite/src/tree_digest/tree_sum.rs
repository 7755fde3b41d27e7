//! A summary of a b-tree: how many entries it has, and the sum of their hashes, with and without
//! their positions.
//!
//! Sums of consecutive parts can be combined, so that threads may share a tree.

/// The summary of a b-tree, or of a part of one.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct TreeSum {
    /// How many entries there are.
    pub count: u64,
    hashes: u128,
    /// The sum of each hash times its position, from 0.
    places: u128,
}

impl TreeSum {
    /// Adds the next entry.
    pub fn add(&mut self, hash: u64) {
        let place = u128::from(self.count);
        self.places = self.places.wrapping_add(place.wrapping_mul(u128::from(hash)));
        self.hashes = self.hashes.wrapping_add(u128::from(hash));
        self.count += 1;
    }

    /// Appends the sum of the entries that follow.
    pub fn append(&mut self, next: &Self) {
        let shift = u128::from(self.count).wrapping_mul(next.hashes);
        self.places = self.places.wrapping_add(next.places).wrapping_add(shift);
        self.hashes = self.hashes.wrapping_add(next.hashes);
        self.count += next.count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(hashes: &[u64]) -> TreeSum {
        let mut sum = TreeSum::default();
        hashes.iter().for_each(|&hash| sum.add(hash));
        sum
    }

    #[test]
    fn the_sum_of_two_parts_is_that_of_the_whole() {
        let hashes = [7, u64::MAX, 0, 3, u64::MAX - 1, 7, 12];
        for cut in 0..=hashes.len() {
            let mut parts = sum(&hashes[..cut]);
            parts.append(&sum(&hashes[cut..]));
            assert_eq!(parts, sum(&hashes));
        }
    }

    #[test]
    fn an_added_removed_or_moved_entry_changes_the_sum() {
        let whole = sum(&[1, 2, 3, 4]);
        for other in [
            &[1, 2, 3][..],
            &[1, 2, 3, 4, 0],
            &[2, 1, 3, 4],
            &[1, 2, 4, 3],
            &[0, 2, 3, 5],
            &[1, 2, 3, 5],
        ] {
            assert_ne!(whole, sum(other));
        }
    }
}
