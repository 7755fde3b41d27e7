//! AES-256 in counter mode, then HMAC-SHA-256: the suite whose nonce a FIPS module accepts from its caller (FORMAT 5.2).
//!
//! - checked-first: nothing is decrypted before the tag of its ciphertext was compared.

use aws_lc_rs::cipher::{AES_256, EncryptingKey, EncryptionContext, UnboundCipherKey};
use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::hmac;
use aws_lc_rs::iv::FixedLength;

use super::hmac_tag;
use crate::{PageNonce, Secret, Trailer, Unauthentic};

/// The two keys of the suite.
pub(super) struct CtrHmac {
    cipher: EncryptingKey,
    mac: hmac::Key,
}

impl CtrHmac {
    pub(super) fn new(key: &Secret<64>) -> Self {
        let (cipher, mac) = key.expose().split_at(32);
        Self {
            cipher: UnboundCipherKey::new(&AES_256, cipher)
                .and_then(EncryptingKey::ctr)
                .expect("half of 64 bytes is an AES-256 key"),
            mac: hmac::Key::new(hmac::HMAC_SHA256, mac),
        }
    }

    /// Encrypts `page` in place and returns its tag.
    pub(super) fn seal_in_place(&self, aad: &[u8], trailer: &Trailer, page: &mut [u8]) -> [u8; 16] {
        self.apply_key_stream(&trailer.nonce, page);
        hmac_tag(&self.mac, aad, trailer, page)
    }

    /// Decrypts `page` in place if the tag is right, and leaves it as it is otherwise.
    pub(super) fn open_in_place(&self, aad: &[u8], trailer: &Trailer, page: &mut [u8]) -> Result<(), Unauthentic> {
        verify_slices_are_equal(&hmac_tag(&self.mac, aad, trailer, page), &trailer.tag).map_err(|_| Unauthentic)?;
        self.apply_key_stream(&trailer.nonce, page);
        Ok(())
    }

    /// XORs the key stream of a page. Its blocks are numbered in the last four bytes of the counter block, and the
    /// largest page has 4096, so that no two nonces have a block in common.
    fn apply_key_stream(&self, nonce: &PageNonce, page: &mut [u8]) {
        let mut block = [0; 16];
        block[..12].copy_from_slice(&nonce.bytes());
        let context = EncryptionContext::Iv128(FixedLength::from(block));
        self.cipher
            .less_safe_encrypt(page, context)
            .expect("counter mode takes any size, and the context is one of counter mode");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hex::unhex;
    use crate::{Epoch, SessionId};

    /// RFC 3686, test vector 9, whose counter begins with 1 instead of 0: its block is the second of this key stream.
    #[test]
    fn key_stream_is_that_of_rfc_3686() {
        let key = Secret::fill(|key: &mut [u8; 64]| {
            key[..32].copy_from_slice(&unhex::<32>(
                "ff7a617ce69148e4f1726e2f43581de2aa62d9f805532edff1eed687fb54153d",
            ));
        });
        let nonce = PageNonce {
            session: SessionId([0; 16]),
            salt: unhex("001cc5b751a51d70"),
            counter: 0xa1c1_1148,
        };
        let mut page = [0; 48];
        page[16..].copy_from_slice(&unhex::<32>(
            "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
        ));
        CtrHmac::new(&key).apply_key_stream(&nonce, &mut page);
        assert_eq!(
            page[16..],
            unhex::<32>("eb6c52821d0bbbf7ce7594462aca4faab407df866569fd07f48cc0b583d6071f")
        );
    }

    #[test]
    fn a_page_whose_tag_is_wrong_is_not_decrypted() {
        let key = CtrHmac::new(&Secret::new([1; 64]));
        let mut trailer = Trailer {
            epoch: Epoch(1),
            nonce: PageNonce {
                session: SessionId([2; 16]),
                salt: [3; 8],
                counter: 4,
            },
            tag: [0; 16],
        };
        let mut page = *b"a page of a database";
        trailer.tag = key.seal_in_place(b"place", &trailer, &mut page);
        let sealed = page;
        assert_eq!(key.open_in_place(b"other", &trailer, &mut page), Err(Unauthentic));
        assert_eq!(page, sealed);
        assert_eq!(key.open_in_place(b"place", &trailer, &mut page), Ok(()));
        assert_eq!(&page, b"a page of a database");
    }
}
