//! HKDF-SHA-256 (RFC 5869).
//!
//! Extraction is HMAC and done here, once: aws-lc-rs would keep salt and key, and extract anew for
//! every key that is expanded.

use aws_lc_rs::hkdf::{HKDF_SHA256, KeyType, Prk};
use aws_lc_rs::hmac;

use crate::Secret;

/// The outcome of `Extract(salt, ikm)`, from which any number of keys can be expanded.
pub(crate) struct PseudorandomKey(Secret<32>);

impl PseudorandomKey {
    /// `Extract(salt, input_key)`.
    pub(crate) fn extract(salt: &[u8], input_key: &[u8]) -> Self {
        let salt_key = hmac::Key::new(hmac::HMAC_SHA256, salt);
        Self(Secret::fill(|bytes| {
            hmac::sign_to_buffer(&salt_key, input_key, bytes)
                .expect("HMAC-SHA-256 writes 32 bytes, which the buffer has");
        }))
    }

    /// `Expand(self, info, N)`, the info being the parts one behind the other.
    pub(crate) fn expand<const N: usize>(&self, info: &[&[u8]]) -> Secret<N> {
        let key = Prk::new_less_safe(HKDF_SHA256, self.0.expose());
        Secret::fill(|bytes| {
            key.expand(info, Size(N))
                .and_then(|expanded| expanded.fill(bytes))
                .expect("N is the size asked for, and below the 8160 bytes HKDF can give");
        })
    }
}

/// A size in bytes, as aws-lc-rs wants to be told it.
struct Size(usize);

impl KeyType for Size {
    fn len(&self) -> usize {
        self.0
    }
}
