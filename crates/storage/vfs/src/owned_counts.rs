//! Counts that are written by one owner and read by any thread.
//!
//! - single-writer: every owner has its own counts, in its own cache lines, and is their only
//!   writer. No two threads contend for a counter. A reading adds up the counts of all owners,
//!   including dropped ones.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The sums of `N` counts over all their owners. They never decrease.
#[derive(Default)]
pub struct CountSums<const N: usize>(Arc<Mutex<Owners<N>>>);

/// One owner's share of the sums.
pub struct OwnedCounts<const N: usize> {
    counts: Arc<Counts<N>>,
    owners: Arc<Mutex<Owners<N>>>,
}

struct Owners<const N: usize> {
    /// The counts of dropped owners, and counts without an owner.
    rest: [u64; N],
    open: Vec<Arc<Counts<N>>>,
}

/// single-writer.
#[repr(align(64))]
struct Counts<const N: usize>([AtomicU64; N]);

impl<const N: usize> CountSums<N> {
    /// Counts for a new owner.
    #[must_use]
    pub fn owned(&self) -> OwnedCounts<N> {
        let counts = Arc::new(Counts([const { AtomicU64::new(0) }; N]));
        lock(&self.0).open.push(counts.clone());
        OwnedCounts {
            counts,
            owners: self.0.clone(),
        }
    }

    /// The current sums.
    #[must_use]
    pub fn read(&self) -> [u64; N] {
        let owners = lock(&self.0);
        let mut sums = owners.rest;
        for counts in &owners.open {
            counts.add_to(&mut sums);
        }
        sums
    }

    /// Adds counts that have no owner.
    pub fn add(&self, numbers: [u64; N]) {
        let mut owners = lock(&self.0);
        for (sum, number) in owners.rest.iter_mut().zip(numbers) {
            *sum = sum.wrapping_add(number);
        }
    }

    /// The number of owners.
    #[must_use]
    pub fn owner_count(&self) -> usize {
        lock(&self.0).open.len()
    }
}

impl<const N: usize> OwnedCounts<N> {
    /// One of the counts.
    #[must_use]
    pub fn load(&self, index: usize) -> u64 {
        self.counts.0[index].load(Ordering::Relaxed)
    }

    /// Adds to one of the counts.
    pub fn add(&mut self, index: usize, number: u64) {
        // single-writer: the store needs `&mut self`.
        self.counts.0[index].store(self.load(index).wrapping_add(number), Ordering::Relaxed);
    }
}

impl<const N: usize> Drop for OwnedCounts<N> {
    fn drop(&mut self) {
        let mut owners = lock(&self.owners);
        owners.open.retain(|counts| !Arc::ptr_eq(counts, &self.counts));
        self.counts.add_to(&mut owners.rest);
    }
}

impl<const N: usize> Counts<N> {
    fn add_to(&self, sums: &mut [u64; N]) {
        for (sum, count) in sums.iter_mut().zip(&self.0) {
            *sum = sum.wrapping_add(count.load(Ordering::Relaxed));
        }
    }
}

impl<const N: usize> Default for Owners<N> {
    fn default() -> Self {
        Self {
            rest: [0; N],
            open: Vec::new(),
        }
    }
}

fn lock<const N: usize>(owners: &Mutex<Owners<N>>) -> MutexGuard<'_, Owners<N>> {
    owners.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_a_dropped_owner_stay_in_the_sums() {
        let sums = CountSums::<2>::default();
        let (mut one, mut other) = (sums.owned(), sums.owned());
        one.add(0, 3);
        other.add(0, 4);
        other.add(1, 5);
        assert_eq!((one.load(0), sums.read(), sums.owner_count()), (3, [7, 5], 2));
        drop(other);
        one.add(1, 1);
        sums.add([0, 10]);
        assert_eq!((sums.read(), sums.owner_count()), ([7, 16], 1));
    }
}
