//! The ways to stretch the passphrase of a slot: its parameters (FORMAT 4.5) and their cost.

use selenite_cipher::{CostRefused, PassphraseCost, Pbkdf2Cost, SlotKey};

use super::Cost;

/// The parameters of a passphrase slot. Their size says which of the two they are.
pub(super) enum Stretching {
    Argon2id(PassphraseCost),
    Pbkdf2(Pbkdf2Cost),
}

impl Stretching {
    pub(super) fn of(cost: Cost, salt: [u8; 16]) -> Self {
        match cost {
            Cost::Argon2id {
                memory_kib,
                passes,
                lanes,
            } => Self::Argon2id(PassphraseCost {
                memory_kib,
                passes,
                lanes,
                salt,
            }),
            Cost::Pbkdf2 { iterations } => Self::Pbkdf2(Pbkdf2Cost { iterations, salt }),
        }
    }

    /// The parameters of a slot; `None` if they have another size.
    pub(super) fn parse(parameters: &[u8]) -> Option<Self> {
        let (numbers, salt) = parameters.split_last_chunk::<16>()?;
        let (numbers, rest) = numbers.as_chunks::<4>();
        match (numbers, rest) {
            (&[iterations], []) => Some(Self::Pbkdf2(Pbkdf2Cost {
                iterations: u32::from_be_bytes(iterations),
                salt: *salt,
            })),
            (&[memory_kib, passes, lanes], []) => Some(Self::Argon2id(PassphraseCost {
                memory_kib: u32::from_be_bytes(memory_kib),
                passes: u32::from_be_bytes(passes),
                lanes: u32::from_be_bytes(lanes),
                salt: *salt,
            })),
            _ => None,
        }
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        match self {
            Self::Argon2id(cost) => {
                let numbers = [cost.memory_kib, cost.passes, cost.lanes].map(u32::to_be_bytes);
                [numbers.as_flattened(), &cost.salt].concat()
            }
            Self::Pbkdf2(cost) => [cost.iterations.to_be_bytes().as_slice(), &cost.salt].concat(),
        }
    }

    /// Checks the limits of the format.
    pub(super) fn check(&self) -> Result<(), CostRefused> {
        match self {
            Self::Argon2id(cost) => cost.check(),
            Self::Pbkdf2(cost) => cost.check().map(drop),
        }
    }

    /// Whether the cost is at most `factor` times that of [`Cost::ARGON2ID`], in memory, too, or of [`Cost::PBKDF2`].
    pub(super) fn is_within(&self, factor: u32) -> bool {
        let fits_memory = match self {
            Self::Argon2id(cost) => u64::from(cost.memory_kib) <= u64::from(factor) * MEMORY_KIB,
            Self::Pbkdf2(_) => true,
        };
        fits_memory && self.effort() <= u64::from(factor) * DEFAULT_EFFORT
    }

    /// KiB of memory times passes; [`Cost::PBKDF2`] counts as [`Cost::ARGON2ID`].
    pub(super) fn effort(&self) -> u64 {
        match self {
            Self::Argon2id(cost) => u64::from(cost.memory_kib) * u64::from(cost.passes),
            Self::Pbkdf2(cost) => (u64::from(cost.iterations) * DEFAULT_EFFORT).div_ceil(ITERATIONS),
        }
    }

    /// Stretches a passphrase, if the cost is within the limits of the format.
    pub(super) fn key(&self, passphrase: &[u8]) -> Result<SlotKey, CostRefused> {
        match self {
            Self::Argon2id(cost) => SlotKey::from_passphrase(passphrase, cost),
            Self::Pbkdf2(cost) => SlotKey::from_passphrase_by_pbkdf2(passphrase, cost),
        }
    }
}

/// Of [`Cost::ARGON2ID`].
const MEMORY_KIB: u64 = 65536;
const DEFAULT_EFFORT: u64 = MEMORY_KIB * 3;
/// Of [`Cost::PBKDF2`].
const ITERATIONS: u64 = 1_000_000;
