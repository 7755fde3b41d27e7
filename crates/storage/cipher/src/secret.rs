//! Key bytes.
//!
//! - one-heap-place: the bytes stay in one place on the heap: moving a secret moves a pointer and
//!   leaves no copy behind on the stack.
//! - zeroed-and-not-printed: they are zeroed on drop, and never printed, cloned by accident or
//!   compared with `==`.

use aws_lc_rs::constant_time::verify_slices_are_equal;
use zeroize::Zeroize;

/// `N` secret bytes, zeroed on drop.
pub struct Secret<const N: usize>(Box<[u8; N]>);

impl<const N: usize> Secret<N> {
    /// Copies the bytes. The caller wipes its own copy; [`Secret::fill`] avoids that copy.
    pub fn new(mut bytes: [u8; N]) -> Self {
        let secret = Self(Box::new(bytes));
        bytes.zeroize();
        secret
    }

    /// Calls `write` with the bytes, zero at first, in their final place.
    pub fn fill(write: impl FnOnce(&mut [u8; N])) -> Self {
        let mut secret = Self(Box::new([0; N]));
        write(&mut secret.0);
        secret
    }

    /// The bytes. A caller that copies them has to wipe the copy.
    pub fn expose(&self) -> &[u8; N] {
        &self.0
    }

    /// Whether two secrets are equal, in a time that does not depend on where they differ.
    pub fn ct_eq(&self, other: &Self) -> bool {
        verify_slices_are_equal(self.0.as_slice(), other.0.as_slice()).is_ok()
    }

    /// A copy of the secret. There is no `Clone`, so that no copy is made by accident.
    pub fn duplicate(&self) -> Self {
        Self::fill(|bytes| bytes.copy_from_slice(self.expose()))
    }
}

impl<const N: usize> Drop for Secret<N> {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ct_eq_compares_the_bytes() {
        let secret = Secret::new([7; 32]);
        assert!(secret.ct_eq(&Secret::fill(|bytes| bytes.fill(7))));
        for index in 0..32 {
            let other = Secret::fill(|bytes: &mut [u8; 32]| {
                bytes.fill(7);
                bytes[index] = 8;
            });
            assert!(!secret.ct_eq(&other));
        }
    }

    #[test]
    fn duplicate_holds_the_same_bytes_in_another_place() {
        let secret = Secret::new(*b"0123456789abcdef");
        let second = secret.duplicate();
        assert!(second.ct_eq(&secret));
        assert_ne!(second.expose().as_ptr(), secret.expose().as_ptr());
    }
}
