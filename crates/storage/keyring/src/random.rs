//! Randomness from the system.

use selenite_cipher::IS_FIPS;

/// A source of random bytes that callers pass in: [`os_random`], or fixed bytes in a test.
pub type Random<'a> = dyn FnMut(&mut [u8]) + 'a;

/// Fills `bytes` from the system's random generator only. AWS-LC's own generator starts in every
/// process with 50 ms of timing jitter, which is longer than everything else in creating a
/// database. The FIPS build draws from that one.
///
/// # Panics
///
/// If the system provides no randomness. Continuing with predictable keys would be worse.
pub fn os_random(bytes: &mut [u8]) {
    if IS_FIPS {
        return aws_lc_rs::rand::fill(bytes).expect("the module gives randomness");
    }
    getrandom::fill(bytes).expect("the system gives randomness");
}

/// `N` bytes from `random`, for what is not secret: ids, nonces, salts.
pub(crate) fn draw<const N: usize>(random: &mut Random<'_>) -> [u8; N] {
    let mut bytes = [0; N];
    random(&mut bytes);
    bytes
}
