//! Triple DES in CBC mode, then HMAC. Deprecated: for comparison and migration only.
//!
//! The IV is the nonce, encrypted under a separate key: CBC requires an unpredictable IV (SP
//! 800-38A, appendix C), and under a separate key it can never equal a block of a page.

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::hmac;
use cbc::cipher::{Array, BlockCipherEncrypt, BlockModeDecrypt, BlockModeEncrypt, InnerIvInit, KeyInit};
use des::TdesEde3;

use super::hmac_tag;
use crate::{PageNonce, Secret, Trailer, Unauthentic};

/// The three keys of the suite.
pub(super) struct TripleDes {
    cipher: TdesEde3,
    iv: TdesEde3,
    mac: hmac::Key,
}

impl TripleDes {
    pub(super) fn new(key: &Secret<80>) -> Self {
        let (cipher, rest) = key.expose().split_at(24);
        let (iv, mac) = rest.split_at(24);
        Self {
            cipher: TdesEde3::new_from_slice(cipher).expect("it was cut to 24 bytes"),
            iv: TdesEde3::new_from_slice(iv).expect("it was cut to 24 bytes"),
            mac: hmac::Key::new(hmac::HMAC_SHA256, mac),
        }
    }

    pub(super) fn seal(&self, aad: &[u8], trailer: &Trailer, plain: &[u8], out: &mut [u8]) -> [u8; 16] {
        let (plain, plain_rest) = Array::slice_as_chunks(plain);
        let (blocks, _) = Array::slice_as_chunks_mut(out);
        assert!(plain_rest.is_empty(), "a page is a multiple of 8 bytes");
        cbc::Encryptor::inner_iv_init(&self.cipher, &self.iv(&trailer.nonce))
            .encrypt_blocks_b2b(plain, blocks)
            .expect("the buffers are of equal size, and so have as many blocks");
        hmac_tag(&self.mac, aad, trailer, out)
    }

    pub(super) fn open(&self, aad: &[u8], trailer: &Trailer, sealed: &[u8], out: &mut [u8]) -> Result<(), Unauthentic> {
        verify_slices_are_equal(&hmac_tag(&self.mac, aad, trailer, sealed), &trailer.tag).map_err(|_| Unauthentic)?;
        let (sealed, sealed_rest) = Array::slice_as_chunks(sealed);
        let (blocks, _) = Array::slice_as_chunks_mut(out);
        if !sealed_rest.is_empty() {
            return Err(Unauthentic);
        }
        cbc::Decryptor::inner_iv_init(&self.cipher, &self.iv(&trailer.nonce))
            .decrypt_blocks_b2b(sealed, blocks)
            .map_err(|_| Unauthentic)
    }

    fn iv(&self, nonce: &PageNonce) -> Array<u8, cbc::cipher::consts::U8> {
        let mut iv = Array([0; 8]);
        iv[..4].copy_from_slice(&nonce.salt[..4]);
        iv[4..].copy_from_slice(&nonce.counter.to_be_bytes());
        self.iv.encrypt_block(&mut iv);
        iv
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SessionId;
    use crate::hex::unhex;

    /// SP 800-67, appendix B, whose text begins "The qufck".
    #[test]
    fn iv_is_the_nonce_encrypted_as_in_sp_800_67() {
        let key = Secret::fill(|key: &mut [u8; 80]| {
            key[24..48].copy_from_slice(&unhex::<24>("0123456789abcdef23456789abcdef01456789abcdef0123"));
        });
        let nonce = PageNonce {
            session: SessionId([0; 16]),
            salt: *b"The ....",
            counter: u32::from_be_bytes(*b"qufc"),
        };
        let iv = TripleDes::new(&key).iv(&nonce);
        assert_eq!(iv.0, unhex("a826fd8ce53b855f"));
    }
}
