//! HKDF-SHA-256 (RFC 5869).
//!
//! Extraction is HMAC and is done here, once: aws-lc-rs would keep salt and key, and repeat the
//! extraction for every expanded key.

use aws_lc_rs::hkdf::{HKDF_SHA256, KeyType, Prk};
use aws_lc_rs::hmac;

use crate::Secret;

/// The result of `Extract(salt, ikm)`, from which any number of keys can be expanded.
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

    /// `Expand(self, info, N)`, where `info` is the concatenation of the parts.
    pub(crate) fn expand<const N: usize>(&self, info: &[&[u8]]) -> Secret<N> {
        let key = Prk::new_less_safe(HKDF_SHA256, self.0.expose());
        Secret::fill(|bytes| {
            key.expand(info, Size(N))
                .and_then(|expanded| expanded.fill(bytes))
                .expect("N is the size asked for, and below the 8160 bytes HKDF can give");
        })
    }
}

/// A size in bytes, in the form that aws-lc-rs requires.
struct Size(usize);

impl KeyType for Size {
    fn len(&self) -> usize {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hex::unhex;

    #[test]
    fn extract_and_expand_compute_test_case_1_of_rfc_5869() {
        let salt: [u8; 13] = unhex("000102030405060708090a0b0c");
        let info: [u8; 10] = unhex("f0f1f2f3f4f5f6f7f8f9");
        let extracted = PseudorandomKey::extract(&salt, &[0x0b; 22]);
        let expanded = extracted.expand::<42>(&[&info[..3], &info[3..]]);
        let expected = concat!(
            "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf",
            "34007208d5b887185865"
        );
        assert_eq!(*expanded.expose(), unhex(expected));
    }

    #[test]
    fn extract_takes_an_empty_salt_as_test_case_3_of_rfc_5869_does() {
        let extracted = PseudorandomKey::extract(&[], &[0x0b; 22]);
        let expected = concat!(
            "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d",
            "9d201395faa4b61a96c8"
        );
        assert_eq!(*extracted.expand::<42>(&[]).expose(), unhex(expected));
    }
}
