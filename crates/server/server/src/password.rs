//! Passwords: how they are stretched, and what a new one has to be.
//!
//! - `argon2id`: Argon2id, with a salt of its own for each password and its cost beside it. The
//!   hash is computed over the password as UTF-8.
//! - `bounded-hashing`: a bounded number of passwords is hashed at a time, so that strangers who
//!   try passwords cost a bounded memory.

mod gate;
mod rule;

use std::fmt;
use std::sync::{Mutex, PoisonError};

use argon2::{Algorithm, Argon2, Block, Params, Version};
use aws_lc_rs::constant_time::verify_slices_are_equal;
pub use gate::PasswordGate;
pub use rule::{RuleBroken, check_new_password};
use selenite_keyring::os_random;
use zeroize::{Zeroize, Zeroizing};

/// The cost of hashing a password.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PasswordCost {
    /// Memory in KiB.
    pub memory_kib: u32,
    /// Passes over that memory.
    pub passes: u32,
}

/// A password as it is stored.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PasswordHash {
    /// Argon2id's output.
    pub hash: [u8; 32],
    /// Its salt.
    pub salt: [u8; 16],
    /// Its cost.
    pub cost: PasswordCost,
}

/// Why a password was not hashed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum PasswordFault {
    /// The file: a cost outside the limits.
    Cost,
    /// The machine: not enough memory.
    OutOfMemory,
    /// The machine: too many other passwords were being hashed for too long.
    Crowded,
}

impl PasswordCost {
    /// OWASP's recommendation for Argon2id: 19 MiB, two passes, one lane. About 25 ms.
    pub const DEFAULT: Self = Self {
        memory_kib: 19 * 1024,
        passes: 2,
    };
    /// The least that Argon2id does with one lane: for tests.
    pub const LEAST: Self = Self {
        memory_kib: 8,
        passes: 1,
    };
    /// 256 MiB: master.db is authentic, but its contents must not exhaust the machine either.
    const MEMORY_KIB_MAX: u32 = 256 * 1024;
    const PASSES_MAX: u32 = 16;
}

impl PasswordHash {
    /// Hashes a password with a new salt.
    ///
    /// # Errors
    /// [`PasswordFault`].
    pub fn new(password: &str, cost: PasswordCost) -> Result<Self, PasswordFault> {
        let mut salt = [0; 16];
        os_random(&mut salt);
        let hash = stretch(password, &salt, cost)?;
        Ok(Self {
            hash: *hash,
            salt,
            cost,
        })
    }

    /// Whether this is the password. It takes as long if it is not.
    ///
    /// # Errors
    /// [`PasswordFault`].
    pub fn is_of(&self, password: &str) -> Result<bool, PasswordFault> {
        let hash = stretch(password, &self.salt, self.cost)?;
        Ok(verify_slices_are_equal(hash.as_slice(), &self.hash).is_ok())
    }
}

fn stretch(password: &str, salt: &[u8; 16], cost: PasswordCost) -> Result<Zeroizing<[u8; 32]>, PasswordFault> {
    let within = (PasswordCost::LEAST.memory_kib..=PasswordCost::MEMORY_KIB_MAX).contains(&cost.memory_kib)
        && (1..=PasswordCost::PASSES_MAX).contains(&cost.passes);
    if !within {
        return Err(PasswordFault::Cost);
    }
    let params = Params::new(cost.memory_kib, cost.passes, 1, Some(32)).map_err(|_| PasswordFault::Cost)?;
    let mut memory = Memory::new(cost.memory_kib)?;
    let mut hash = Zeroizing::new([0; 32]);
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
        .hash_password_into_with_memory(password.as_bytes(), salt, hash.as_mut_slice(), memory.0.as_mut_slice())
        .map_err(|_| PasswordFault::Cost)?;
    Ok(hash)
}

/// The memory of Argon2id: our own allocation, so that a lack of memory is an error, and wiped after use.
struct Memory(Vec<Block>);

impl Memory {
    fn new(memory_kib: u32) -> Result<Self, PasswordFault> {
        let block_count = usize::try_from(memory_kib).map_err(|_| PasswordFault::OutOfMemory)?;
        let mut spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(index) = spare.iter().position(|blocks| blocks.len() == block_count) {
            return Ok(Self(spare.swap_remove(index)));
        }
        drop(spare);
        let mut blocks = Vec::new();
        blocks
            .try_reserve_exact(block_count)
            .map_err(|_| PasswordFault::OutOfMemory)?;
        blocks.resize(block_count, Block::new());
        Ok(Self(blocks))
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.0.iter_mut().for_each(Zeroize::zeroize);
        let mut spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner);
        if spare.len() == SPARE_COUNT_MAX {
            spare.remove(0);
        }
        spare.push(std::mem::take(&mut self.0));
    }
}

/// Wiped memory for reuse: glibc would keep it for the thread that freed it, and a session has a thread of its own.
static SPARE: Mutex<Vec<Vec<Block>>> = Mutex::new(Vec::new());
/// As many as are hashed at a time (`Limits::password_check_max`).
const SPARE_COUNT_MAX: usize = 2;

/// A generated password: 22 letters and digits, of which none looks like another. It meets the rule for new ones.
#[must_use]
pub fn random_password() -> Zeroizing<String> {
    loop {
        let password = draw();
        if check_new_password("", &password).is_ok() {
            return password;
        }
    }
}

fn draw() -> Zeroizing<String> {
    let mut password = Zeroizing::new(String::with_capacity(RANDOM_SIZE));
    while password.len() < RANDOM_SIZE {
        let mut byte = [0];
        os_random(&mut byte);
        // As many byte values for each character: any other byte is drawn again.
        let index = usize::from(byte[0]);
        if index < 256 / ALPHABET.len() * ALPHABET.len() {
            password.push(char::from(ALPHABET[index % ALPHABET.len()]));
        }
    }
    password
}

impl fmt::Display for PasswordFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cost => "a password's cost is outside the limits",
            Self::OutOfMemory => "not enough memory to check a password",
            Self::Crowded => "too many passwords are being checked",
        })
    }
}

impl std::error::Error for PasswordFault {}

/// 57 characters: without 0, 1, I, O and l.
const ALPHABET: &[u8; 57] = b"23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
/// 22 characters of 57: 128.3 bits, of which the rule takes less than a tenth of one.
const RANDOM_SIZE: usize = 22;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_known_again_and_no_other_is() {
        let hash = PasswordHash::new("Gr\u{fc}n-4", PasswordCost::LEAST).unwrap();
        assert!(hash.is_of("Gr\u{fc}n-4").unwrap());
        for other in ["", "gr\u{fc}n-4", "Gr\u{fc}n-4 ", "Gr\u{fc}n-"] {
            assert!(!hash.is_of(other).unwrap(), "{other:?}");
        }
        assert_ne!(PasswordHash::new("Gr\u{fc}n-4", PasswordCost::LEAST).unwrap(), hash);
    }

    /// Of the reference program (Debian's argon2):
    /// `echo -n password | argon2 saltsaltsaltsalt -id -t 2 -k 64 -p 1 -l 32`.
    #[test]
    fn the_hash_is_argon2id_as_others_make_it() {
        let cost = PasswordCost {
            memory_kib: 64,
            passes: 2,
        };
        let hash = stretch("password", b"saltsaltsaltsalt", cost).unwrap();
        let digits: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(
            digits,
            "8ba3fa702bd2c08fc6a7830ede5f30be3a1751ed492f31cd7d76a0a480725b5a"
        );
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn threads_that_have_stretched_a_password_keep_no_memory() {
        let resident_kib = || {
            let status = std::fs::read_to_string("/proc/self/status").unwrap();
            let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
            line.trim().trim_end_matches(" kB").parse::<u64>().unwrap()
        };
        let before = resident_kib();
        let mut threads = Vec::new();
        for _ in 0..12 {
            let (done, is_done) = std::sync::mpsc::channel();
            let (end, is_over) = std::sync::mpsc::channel::<()>();
            let thread = std::thread::spawn(move || {
                PasswordHash::new("x", PasswordCost::DEFAULT).unwrap();
                done.send(()).unwrap();
                is_over.recv().unwrap_err();
            });
            is_done.recv().unwrap();
            threads.push((thread, end));
        }
        let grown = resident_kib().saturating_sub(before);
        // One needs 19 MiB; twelve would keep 228.
        assert!(grown < 114 * 1024, "{grown} KiB");
        for (thread, end) in threads {
            drop(end);
            thread.join().unwrap();
        }
    }

    #[test]
    fn a_cost_outside_the_limits_is_refused() {
        for (memory_kib, passes) in [(7, 1), (8, 0), (8, 17), (256 * 1024 + 1, 1)] {
            let cost = PasswordCost { memory_kib, passes };
            assert_eq!(PasswordHash::new("x", cost), Err(PasswordFault::Cost));
        }
    }

    #[test]
    fn a_random_password_has_its_size_and_meets_the_rule() {
        let (one, other) = (random_password(), random_password());
        assert_ne!(*one, *other);
        assert_eq!(one.len(), RANDOM_SIZE);
        assert_eq!(check_new_password("sa", &one), Ok(()));
        assert!(one.bytes().all(|byte| ALPHABET.contains(&byte)));
    }
}
