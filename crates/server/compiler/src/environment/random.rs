//! The generator of RAND.
//!
//! L'Ecuyer's combined generator ("Efficient and portable combined random number generators", 1988): with the second
//! seed 67890, and 12345 for the first where 0 is given, it returns the same numbers as SQL Server's documentation
//! shows.

/// The state of a session's random number generator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RandomState {
    first: i64,
    second: i64,
}

impl RandomState {
    /// The state of RAND(seed) before its first number. Seeds that differ only in sign are equal.
    #[must_use]
    pub fn new(seed: i32) -> Self {
        let first = match i64::from(seed).abs() % FIRST_MODULUS {
            0 => 12_345,
            seed => seed,
        };
        Self { first, second: 67_890 }
    }

    /// The next number, between 0 and 1 exclusively, and the next state.
    #[must_use]
    pub fn next(self) -> (f64, Self) {
        let first = self.first * 40_014 % FIRST_MODULUS;
        let second = self.second * 40_692 % SECOND_MODULUS;
        let difference = first - second;
        let number = if difference < 1 {
            difference + FIRST_MODULUS - 1
        } else {
            difference
        };
        let number = i32::try_from(number).unwrap_or(i32::MAX);
        (f64::from(number) * SCALE, Self { first, second })
    }
}

const FIRST_MODULUS: i64 = 2_147_483_563;
const SECOND_MODULUS: i64 = 2_147_483_399;
const SCALE: f64 = 4.656_613e-10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_numbers_that_the_documentation_shows() {
        let mut state = RandomState::new(100);
        for expected in [0.715_436_657_367_485, 0.284_633_807_679_82, 0.013_103_908_285_036_4] {
            let (number, next) = state.next();
            assert!((number - expected).abs() < 1e-14, "{number} is not {expected}");
            state = next;
        }
        assert!((RandomState::new(0).next().0 - 0.943_597_390_424_144).abs() < 1e-14);
        assert!((RandomState::new(1).next().0 - 0.713_591_993_212_924).abs() < 1e-14);
    }

    #[test]
    fn no_seed_leaves_the_range() {
        for seed in [i32::MIN, -1, 0, 1, 2_147_483_563, i32::MAX] {
            let mut state = RandomState::new(seed);
            for _ in 0..1000 {
                let (number, next) = state.next();
                assert!(number > 0.0 && number < 1.0, "seed {seed} gave {number}");
                state = next;
            }
        }
    }
}
