//! The entropy of blocks of a file.

use std::collections::HashSet;
use std::fmt;

/// Size of a block: at most a page of a large file, and enough bytes for a significant estimate.
pub const BLOCK_BYTES: usize = 4096;
/// The minimum of bits per byte of a random block. Of 4096 random bytes, Shannon's entropy is 7.955
/// on average with a deviation of 0.004, so that at most one in 10^30 is below 7.9; pages of
/// unencrypted rows have 3 to 6.
pub const RANDOM_BITS_MIN: f64 = 7.9;

/// Statistics of some blocks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Entropy {
    /// The number of blocks.
    pub blocks: u32,
    /// Blocks with less than [`RANDOM_BITS_MIN`].
    pub clear: u32,
    /// The offset of the first of those.
    pub first_clear: Option<u64>,
    /// The lowest bits per byte of a block.
    pub least: f64,
    /// The sum of the blocks' bits per byte.
    sum: f64,
    /// Aligned units of 16 bytes in all random blocks.
    pub cells: u32,
    /// Units that occurred before.
    pub repeats: u32,
    /// The offset of the first of those.
    pub first_repeat: Option<u64>,
    seen: HashSet<[u8; CELL_BYTES]>,
}

impl Entropy {
    /// Adds the block at an offset.
    pub(super) fn take(&mut self, offset: u64, block: &[u8; BLOCK_BYTES]) {
        let bits = shannon(block);
        self.least = if self.blocks == 0 { bits } else { self.least.min(bits) };
        self.blocks += 1;
        self.sum += bits;
        if bits < RANDOM_BITS_MIN {
            self.clear += 1;
            self.first_clear.get_or_insert(offset);
            return;
        }
        let (cells, _) = block.as_chunks::<CELL_BYTES>();
        for (index, cell) in (0..).zip(cells) {
            self.cells += 1;
            if !self.seen.insert(*cell) {
                self.repeats += 1;
                self.first_repeat.get_or_insert(offset + index * CELL_BYTES as u64);
            }
        }
    }

    /// Frees the memory for the detection of repetitions.
    pub(super) fn finish(&mut self) {
        self.seen = HashSet::new();
    }

    /// Whether more units repeat than the fields that are the same in every page by design, such as
    /// a session in its trailer (FORMAT 5.1): in pages of 512 bytes, one unit in 32.
    #[must_use]
    pub fn is_repetitive(&self) -> bool {
        self.repeats > self.cells / REPEAT_ONE_IN
    }

    /// The mean bits per byte of all blocks.
    #[must_use]
    pub fn mean(&self) -> f64 {
        if self.blocks == 0 {
            0.0
        } else {
            self.sum / f64::from(self.blocks)
        }
    }

    /// Whether all blocks look random, except for fewer than a database of unencrypted rows would have.
    #[must_use]
    pub fn is_random(&self) -> bool {
        self.blocks > 0 && self.clear <= self.blocks / CLEAR_ONE_IN
    }
}

impl fmt::Display for Entropy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mean, least) = (self.mean(), self.least);
        write!(
            f,
            "{mean:.3} bits per byte, least {least:.3}, of {} blocks; {} below {RANDOM_BITS_MIN}; ",
            self.blocks, self.clear
        )?;
        write!(f, "{} of {} aligned 16 bytes repeated", self.repeats, self.cells)
    }
}

/// Shannon's entropy of a block's bytes, in bits per byte.
fn shannon(block: &[u8; BLOCK_BYTES]) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in block {
        counts[usize::from(*byte)] += 1;
    }
    let share = |count: u32| f64::from(count) / 4096.0;
    let terms = counts.into_iter().filter(|count| *count > 0).map(share);
    -terms.map(|share| share * share.log2()).sum::<f64>()
}

/// The block size of AES: with a cipher without chaining, equal blocks have equal ciphertexts.
const CELL_BYTES: usize = 16;
/// In a cipher without chaining, more than 5 % of the units repeat in every page of rows that is not full.
const REPEAT_ONE_IN: u32 = 20;
/// SQLite's lock-byte page is never written (sqlite.org/fileformat2.html), and a header may be unencrypted.
const CLEAR_ONE_IN: u32 = 100;

#[cfg(test)]
mod tests {
    use rand::{RngCore, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    #[test]
    fn random_blocks_are_random_and_nothing_repeats() {
        let mut random = ChaCha8Rng::seed_from_u64(20_261_121);
        let mut entropy = Entropy::default();
        for index in 0..1000 {
            let mut block = [0; BLOCK_BYTES];
            random.fill_bytes(&mut block);
            entropy.take(index * 4096, &block);
        }
        assert!(entropy.is_random(), "{entropy}");
        assert!((7.93..7.975).contains(&entropy.least), "{entropy}");
        assert!((7.953..7.957).contains(&entropy.mean()), "{entropy}");
        assert_eq!((entropy.repeats, entropy.first_repeat), (0, None));
    }

    #[test]
    fn one_block_of_zeros_is_forgiven_among_a_hundred_and_no_more() {
        let mut random = ChaCha8Rng::seed_from_u64(7);
        let mut entropy = Entropy::default();
        let mut verdicts = Vec::new();
        for index in 0..100_u64 {
            let mut block = [0; BLOCK_BYTES];
            if index != 50 {
                random.fill_bytes(&mut block);
            }
            entropy.take(index * 4096, &block);
            verdicts.push(entropy.is_random());
        }
        let expected: Vec<bool> = (0..100).map(|index| index < 50 || index == 99).collect();
        assert_eq!(verdicts, expected);
        entropy.take(100 * 4096, &[0; BLOCK_BYTES]);
        assert!(!entropy.is_random());
        assert_eq!((entropy.clear, entropy.first_clear), (2, Some(50 * 4096)));
    }

    #[test]
    fn equal_cells_are_seen_in_blocks_that_look_random() {
        let mut random = ChaCha8Rng::seed_from_u64(8);
        let mut block = [0; BLOCK_BYTES];
        random.fill_bytes(&mut block);
        for cell in 10..22 {
            block.copy_within(16..32, cell * 16);
        }
        let mut entropy = Entropy::default();
        entropy.take(8192, &block);
        assert!(entropy.is_random() && !entropy.is_repetitive(), "{entropy}");
        assert_eq!((entropy.repeats, entropy.first_repeat), (12, Some(8192 + 160)));

        block.copy_within(16..32, 400);
        let mut entropy = Entropy::default();
        entropy.take(8192, &block);
        assert!(entropy.is_random() && entropy.is_repetitive(), "{entropy}");
    }

    #[test]
    fn a_trailer_that_is_the_same_in_every_page_is_no_repetition() {
        let mut random = ChaCha8Rng::seed_from_u64(9);
        let mut entropy = Entropy::default();
        for index in 0..100 {
            let mut block = [0; BLOCK_BYTES];
            random.fill_bytes(&mut block);
            block[4048..4068].fill(1);
            entropy.take(index * 4096, &block);
        }
        assert_eq!(entropy.repeats, 99);
        assert!(!entropy.is_repetitive());
    }

    #[test]
    fn no_block_is_not_random() {
        assert!(!Entropy::default().is_random());
    }
}
