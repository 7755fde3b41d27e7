//! Reproducible random numbers from a seed: SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).

/// A random number generator.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A generator with a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The seed of this run: `SELENITE_SEED`, or `otherwise` if that is not set.
    #[must_use]
    pub fn seed_or(otherwise: u64) -> u64 {
        std::env::var("SELENITE_SEED")
            .ok()
            .and_then(|text| text.parse().ok())
            .unwrap_or(otherwise)
    }

    /// 64 random bits.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// A number below `end`, which must not be 0.
    pub fn below(&mut self, end: u64) -> u64 {
        self.draw() % end
    }

    /// True with probability `wanted / of`.
    pub fn chance(&mut self, wanted: u64, of: u64) -> bool {
        self.below(of) < wanted
    }

    /// Random bytes.
    pub fn bytes(&mut self, size: usize) -> Vec<u8> {
        let mut out = Vec::with_capacity(size + 8);
        while out.len() < size {
            out.extend_from_slice(&self.draw().to_le_bytes());
        }
        out.truncate(size);
        out
    }
}

/// Combines several numbers into a seed.
#[must_use]
pub fn seed_of(parts: &[u64]) -> u64 {
    parts.iter().fold(0x5e1e_417e, |seed, &part| {
        mix(seed ^ mix(part.wrapping_add(0x9e37_79b9_7f4a_7c15)))
    })
}

fn mix(seed: u64) -> u64 {
    let seed = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let seed = (seed ^ (seed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    seed ^ (seed >> 31)
}
