//! Randomness from the machine.

/// A source of random bytes that callers pass in: [`os_random`], or bytes that a test knows.
pub type Random<'a> = dyn FnMut(&mut [u8]) + 'a;

/// Fills `bytes` from the system's random generator, and asks no other: AWS-LC's own begins in every process with 50
/// ms of timing jitter, which is longer than all else that making a database takes.
///
/// # Panics
///
/// If there is no randomness. Going on with predictable keys would be worse.
pub fn os_random(bytes: &mut [u8]) {
    getrandom::fill(bytes).expect("the system gives randomness");
}

/// `N` bytes from `random`, for what is not secret: ids, nonces, salts.
pub(crate) fn draw<const N: usize>(random: &mut Random<'_>) -> [u8; N] {
    let mut bytes = [0; N];
    random(&mut bytes);
    bytes
}
