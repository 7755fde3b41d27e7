//! The order of all blocks, drawn before the study begins.
//!
//! A session has rounds of two pairs. In a round every cell occurs once, in random order; in a
//! cell, all arms run in random order and then in the reverse order, so that a linear drift affects
//! every arm equally.

use rand::seq::SliceRandom;
use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha20Rng;

/// The size of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The number of sessions.
    pub sessions: u32,
    /// Pairs of each cell in a session; even.
    pub pairs: u32,
    /// The number of cells.
    pub cells: usize,
    /// The number of arms.
    pub arms: usize,
}

/// A scheduled block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draw {
    /// Counted from 1.
    pub session: u32,
    /// The index of the cell.
    pub cell: usize,
    /// The index of the pair in this cell and session.
    pub pair: u32,
    /// The index of the arm.
    pub arm: usize,
    /// The seed of the work; the same for all arms of a pair.
    pub seed: u64,
}

/// All blocks in the order of execution.
#[must_use]
pub fn draw(seed: u64, extent: Extent) -> Vec<Draw> {
    let mut random = stream(seed, BLOCKS);
    let mut draws = Vec::new();
    for session in 1..=extent.sessions {
        for round in 0..extent.pairs / 2 {
            let mut cells: Vec<usize> = (0..extent.cells).collect();
            cells.shuffle(&mut random);
            for cell in cells {
                let mut arms: Vec<usize> = (0..extent.arms).collect();
                arms.shuffle(&mut random);
                for pair in [2 * round, 2 * round + 1] {
                    let seed = work_seed(&mut random);
                    draws.extend(arms.iter().map(|arm| Draw {
                        session,
                        cell,
                        pair,
                        arm: *arm,
                        seed,
                    }));
                    arms.reverse();
                }
            }
        }
    }
    draws
}

/// The order in which a session makes its copies: indexes below `count`.
#[must_use]
pub fn order(seed: u64, session: u32, count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    order.shuffle(&mut stream(seed, ORDERS + u64::from(session)));
    order
}

/// The seed of a dataset's rows, by the index of the dataset: the same for every arm.
#[must_use]
pub fn data_seed(seed: u64, index: usize) -> u64 {
    let mut random = stream(seed, DATA);
    (0..=index).fold(0, |_, _| work_seed(&mut random))
}

/// A seed that SQLite can store as a non-negative integer.
fn work_seed(random: &mut ChaCha20Rng) -> u64 {
    random.random::<u64>() >> 1
}

fn stream(seed: u64, number: u64) -> ChaCha20Rng {
    let mut random = ChaCha20Rng::seed_from_u64(seed);
    random.set_stream(number);
    random
}

const BLOCKS: u64 = 1;
const DATA: u64 = 2;
/// The last stream, because the streams of added sessions follow it.
const ORDERS: u64 = 1 << 32;

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn extents() -> impl Strategy<Value = (u64, Extent)> {
        let extent = (1u32..5, 1u32..5, 1usize..6, 2usize..6);
        (any::<u64>(), extent).prop_map(|(seed, (sessions, rounds, cells, arms))| {
            (
                seed,
                Extent {
                    sessions,
                    pairs: 2 * rounds,
                    cells,
                    arms,
                },
            )
        })
    }

    proptest! {
        #[test]
        fn every_cell_and_pair_has_every_arm_once_in_a_row((seed, extent) in extents()) {
            let draws = draw(seed, extent);
            let all = extent.sessions as usize * extent.pairs as usize * extent.cells * extent.arms;
            prop_assert_eq!(draws.len(), all);
            let mut seen = BTreeMap::new();
            for pair in draws.chunks(extent.arms) {
                let first = pair[0];
                let mut arms: Vec<usize> = pair.iter().map(|draw| draw.arm).collect();
                arms.sort_unstable();
                prop_assert_eq!(arms, (0..extent.arms).collect::<Vec<_>>());
                let key = |draw: &Draw| (draw.session, draw.cell, draw.pair, draw.seed);
                prop_assert!(pair.iter().all(|draw| key(draw) == key(&first)));
                prop_assert!(seen.insert((first.session, first.cell, first.pair), ()).is_none());
            }
        }

        #[test]
        fn odd_pairs_mirror_even_ones((seed, extent) in extents()) {
            let draws = draw(seed, extent);
            for palindrome in draws.chunks(2 * extent.arms) {
                let arms: Vec<usize> = palindrome.iter().map(|draw| draw.arm).collect();
                prop_assert!(arms.iter().eq(arms.iter().rev()));
                prop_assert_eq!(palindrome[0].pair % 2, 0);
            }
        }

        #[test]
        fn every_round_visits_every_cell((seed, extent) in extents()) {
            for round in draw(seed, extent).chunks(2 * extent.arms * extent.cells) {
                let mut cells: Vec<usize> = round.iter().map(|draw| draw.cell).collect();
                cells.sort_unstable();
                cells.dedup();
                prop_assert_eq!(cells, (0..extent.cells).collect::<Vec<_>>());
                prop_assert!(round.iter().all(|draw| draw.pair / 2 == round[0].pair / 2));
            }
        }

        #[test]
        fn the_same_seed_draws_the_same((seed, extent) in extents()) {
            prop_assert_eq!(draw(seed, extent), draw(seed, extent));
            prop_assert_eq!(order(seed, 1, 9), order(seed, 1, 9));
        }
    }

    #[test]
    fn another_seed_draws_otherwise() {
        let extent = Extent {
            sessions: 2,
            pairs: 4,
            cells: 4,
            arms: 3,
        };
        assert_ne!(draw(1, extent), draw(2, extent));
        assert_ne!(data_seed(1, 0), data_seed(1, 1));
    }

    #[test]
    fn every_arm_is_first_equally_often() {
        let draws = draw(
            20_261_121,
            Extent {
                sessions: 100,
                pairs: 8,
                cells: 2,
                arms: 3,
            },
        );
        for arm in 0..3 {
            let first = draws.chunks(3).filter(|pair| pair[0].arm == arm).count();
            assert!((450..620).contains(&first), "arm {arm} is first in {first} of 1600");
        }
    }
}
