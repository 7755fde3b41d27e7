//! Texts and dates from a random source.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::RngCore;

/// `count` letters and digits. There is no W among them, so that `Wibble` cannot occur by chance.
pub fn string(random: &mut ChaCha8Rng, count: usize) -> String {
    let mut out = String::with_capacity(count);
    let mut bits = 0;
    for index in 0..count {
        if index % 12 == 0 {
            bits = random.next_u64();
        }
        out.push(char::from(LETTERS[usize::try_from(bits & 31).unwrap_or(0)]));
        bits >>= 5;
    }
    out
}

/// A date and a time of day in 2026, in SQLite's format.
pub fn date(random: &mut ChaCha8Rng) -> String {
    let mut below = |limit: u32| random.next_u32() % limit;
    let (month, day) = (below(12) + 1, below(28) + 1);
    let (hour, minute, second) = (below(24), below(60), below(60));
    format!("2026-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
}

/// 32 characters, for five bits each.
const LETTERS: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVXYZ2345678";

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::rand_core::SeedableRng;

    #[test]
    fn texts_are_as_long_as_asked_for_and_vary() {
        let mut random = ChaCha8Rng::seed_from_u64(3);
        for count in [0, 1, 11, 12, 13, 100] {
            assert_eq!(string(&mut random, count).len(), count);
        }
        let long = string(&mut random, 10_000);
        assert!(LETTERS.iter().all(|letter| long.contains(char::from(*letter))));
        assert!(!long.contains('W'));
        assert_eq!(date(&mut random).len(), 19);
    }
}
