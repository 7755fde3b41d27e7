//! Randomness from the machine.

/// A source of random bytes that callers pass in: [`os_random`], or bytes that a test knows.
pub type Random<'a> = dyn FnMut(&mut [u8]) + 'a;

/// Fills `bytes` from the system's random generator, by way of AWS-LC.
///
/// # Panics
///
/// If there is no randomness, which AWS-LC does not outlive either: it aborts. Going on with predictable keys
/// would be worse.
pub fn os_random(bytes: &mut [u8]) {
    aws_lc_rs::rand::fill(bytes).expect("AWS-LC aborts rather than report missing randomness");
}

/// `N` bytes from `random`, for what is not secret: ids, nonces, salts.
pub(crate) fn draw<const N: usize>(random: &mut Random<'_>) -> [u8; N] {
    let mut bytes = [0; N];
    random(&mut bytes);
    bytes
}
