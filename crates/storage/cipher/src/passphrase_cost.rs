//! The cost of opening a passphrase slot.

use std::fmt;
use std::num::NonZeroU32;

/// The parameters of Argon2id in a passphrase slot (FORMAT 4.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PassphraseCost {
    /// Memory in KiB.
    pub memory_kib: u32,
    /// Passes over that memory.
    pub passes: u32,
    /// Lanes, which are computed one after the other here.
    pub lanes: u32,
    /// 128 random bits.
    pub salt: [u8; 16],
}

impl PassphraseCost {
    /// 8 MiB: less does not slow down guessing.
    pub const MEMORY_KIB_MIN: u32 = 8192;
    /// 1 GiB: the cost is read from a file that is not yet authentic, and must not exhaust a server.
    pub const MEMORY_KIB_MAX: u32 = 1_048_576;
    /// 16 passes over 1 GiB take about half a minute, the longest acceptable wait for a database.
    pub const PASSES_MAX: u32 = 16;
    /// 16 lanes: more than one has no advantage here, and is accepted for slots made by other programs.
    pub const LANES_MAX: u32 = 16;

    /// Checks the cost before it is spent.
    ///
    /// # Errors
    /// [`CostRefused::OutsideLimits`] if it is not within the limits of FORMAT 4.5.
    pub fn check(&self) -> Result<(), CostRefused> {
        let within = (Self::MEMORY_KIB_MIN..=Self::MEMORY_KIB_MAX).contains(&self.memory_kib)
            && (1..=Self::PASSES_MAX).contains(&self.passes)
            && (1..=Self::LANES_MAX).contains(&self.lanes);
        if within {
            Ok(())
        } else {
            Err(CostRefused::OutsideLimits)
        }
    }
}

/// The parameters of PBKDF2-HMAC-SHA-256 in a passphrase slot (FORMAT 4.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pbkdf2Cost {
    /// Iterations.
    pub iterations: u32,
    /// 128 random bits: the least that SP 800-132, 5.1, asks for.
    pub salt: [u8; 16],
}

impl Pbkdf2Cost {
    /// 600,000: what OWASP's Password Storage Cheat Sheet asks for, since PBKDF2 needs no memory.
    pub const ITERATIONS_MIN: u32 = 600_000;
    /// 2^24 take some ten seconds: the number is read from a file that is not yet authentic.
    pub const ITERATIONS_MAX: u32 = 1 << 24;

    /// Checks the cost before it is spent, and returns the iterations.
    ///
    /// # Errors
    /// [`CostRefused::OutsideLimits`] if it is not within the limits of FORMAT 4.5.
    pub fn check(&self) -> Result<NonZeroU32, CostRefused> {
        let within = (Self::ITERATIONS_MIN..=Self::ITERATIONS_MAX).contains(&self.iterations);
        NonZeroU32::new(self.iterations)
            .filter(|_| within)
            .ok_or(CostRefused::OutsideLimits)
    }
}

/// Why a key was not derived from a passphrase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CostRefused {
    /// The file requests a cost outside the limits of FORMAT 4.5.
    OutsideLimits,
    /// The machine lacks the requested memory.
    OutOfMemory,
    /// Argon2id, in the FIPS build.
    NotApproved,
}

impl fmt::Display for CostRefused {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            CostRefused::OutsideLimits => "the passphrase slot's cost is outside the limits",
            CostRefused::NotApproved => "Argon2id is not FIPS-approved",
            CostRefused::OutOfMemory => "not enough memory for the passphrase slot's cost",
        })
    }
}

impl std::error::Error for CostRefused {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_refuses_iterations_one_beyond_a_limit() {
        let check = |iterations| {
            let cost = Pbkdf2Cost {
                iterations,
                salt: [0; 16],
            };
            cost.check().map(NonZeroU32::get)
        };
        for good in [600_000, 16_777_216] {
            assert_eq!(check(good), Ok(good));
        }
        for bad in [0, 1, 599_999, 16_777_217, u32::MAX] {
            assert_eq!(check(bad), Err(CostRefused::OutsideLimits));
        }
    }

    #[test]
    fn check_refuses_a_cost_one_beyond_any_limit() {
        let cost = |memory_kib, passes, lanes| PassphraseCost {
            memory_kib,
            passes,
            lanes,
            salt: [0; 16],
        };
        for good in [cost(8192, 1, 1), cost(1_048_576, 16, 16)] {
            assert_eq!(good.check(), Ok(()));
        }
        for bad in [
            cost(8191, 1, 1),
            cost(1_048_577, 1, 1),
            cost(8192, 0, 1),
            cost(8192, 17, 1),
            cost(8192, 1, 0),
            cost(8192, 1, 17),
        ] {
            assert_eq!(bad.check(), Err(CostRefused::OutsideLimits));
        }
    }
}
