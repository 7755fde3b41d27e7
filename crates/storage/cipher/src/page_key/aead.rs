//! AES-GCM and ChaCha20-Poly1305, from one buffer of the caller into the other.

use aws_lc_rs::aead::{Aad, Algorithm, LessSafeKey, Nonce, UnboundKey};

use crate::{PageNonce, Secret, Trailer, Unauthentic};

/// A key of an AEAD with a nonce of 12 bytes and a tag of 16.
pub(super) struct Aead(LessSafeKey);

impl Aead {
    pub(super) fn new<const N: usize>(algorithm: &'static Algorithm, key: &Secret<N>) -> Self {
        let key = UnboundKey::new(algorithm, key.expose()).expect("the key was expanded to the size of its suite");
        Self(LessSafeKey::new(key))
    }

    pub(super) fn seal(&self, aad: &[u8], nonce: &PageNonce, plain: &[u8], out: &mut [u8]) -> [u8; 16] {
        let mut tag = [0; 16];
        self.0
            .seal_out_of_place_scatter(
                Nonce::assume_unique_for_key(nonce.bytes()),
                Aad::from(aad),
                plain,
                out,
                &[],
                &mut tag,
            )
            .expect("the sizes are equal, and far below the limits of GCM and ChaCha20");
        tag
    }

    pub(super) fn open(&self, aad: &[u8], trailer: &Trailer, sealed: &[u8], out: &mut [u8]) -> Result<(), Unauthentic> {
        self.0
            .open_separate_gather(
                Nonce::assume_unique_for_key(trailer.nonce.bytes()),
                Aad::from(aad),
                sealed,
                &trailer.tag,
                out,
            )
            .map_err(|_| Unauthentic)
    }
}

#[cfg(test)]
mod tests {
    use aws_lc_rs::aead::{AES_128_GCM, AES_192_GCM, AES_256_GCM, CHACHA20_POLY1305};

    use super::*;
    use crate::hex::unhex;
    use crate::{Epoch, SessionId};

    /// A nonce of 12 bytes, split into the fields of a trailer.
    fn nonce(digits: &str) -> PageNonce {
        PageNonce {
            session: SessionId([0; 16]),
            salt: unhex(&digits[..16]),
            counter: u32::from_be_bytes(unhex(&digits[16..])),
        }
    }

    /// Seals, compares ciphertext and tag, and opens again.
    fn check(key: &Aead, nonce: PageNonce, aad: &[u8], plain: &[u8], sealed: &[u8], tag: &str) {
        let mut out = vec![0; plain.len()];
        let trailer = Trailer {
            epoch: Epoch(1),
            nonce,
            tag: key.seal(aad, &nonce, plain, &mut out),
        };
        assert_eq!(out, sealed);
        assert_eq!(trailer.tag, unhex(tag));
        assert_eq!(key.open(aad, &trailer, sealed, &mut out), Ok(()));
        assert_eq!(out, plain);
    }

    /// Test cases 4, 10 and 16 of "The Galois/Counter Mode of Operation" (McGrew and Viega), which
    /// SP 800-38D is made from.
    #[test]
    fn aes_gcm_computes_the_test_cases_of_its_authors() {
        let nonce = nonce("cafebabefacedbaddecaf888");
        let aad: [u8; 20] = unhex("feedfacedeadbeeffeedfacedeadbeefabaddad2");
        let plain: [u8; 60] = unhex(concat!(
            "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72",
            "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39"
        ));
        let key: [u8; 32] = unhex(concat!(
            "feffe9928665731c6d6a8f9467308308",
            "feffe9928665731c6d6a8f9467308308"
        ));

        let aes_128 = Aead::new(&AES_128_GCM, &Secret::<16>::fill(|k| k.copy_from_slice(&key[..16])));
        let sealed: [u8; 60] = unhex(concat!(
            "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e",
            "21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091"
        ));
        check(
            &aes_128,
            nonce,
            &aad,
            &plain,
            &sealed,
            "5bc94fbc3221a5db94fae95ae7121a47",
        );

        let aes_192 = Aead::new(&AES_192_GCM, &Secret::<24>::fill(|k| k.copy_from_slice(&key[..24])));
        let sealed: [u8; 60] = unhex(concat!(
            "3980ca0b3c00e841eb06fac4872a2757859e1ceaa6efd984628593b40ca1e19c",
            "7d773d00c144c525ac619d18c84a3f4718e2448b2fe324d9ccda2710"
        ));
        check(
            &aes_192,
            nonce,
            &aad,
            &plain,
            &sealed,
            "2519498e80f1478f37ba55bd6d27618c",
        );

        let aes_256 = Aead::new(&AES_256_GCM, &Secret::new(key));
        let sealed: [u8; 60] = unhex(concat!(
            "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa",
            "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662"
        ));
        check(
            &aes_256,
            nonce,
            &aad,
            &plain,
            &sealed,
            "76fc6ece0f4e1768cddf8853bb2d551b",
        );
    }

    #[test]
    fn chacha20_poly1305_computes_section_2_8_2_of_rfc_8439() {
        let key: [u8; 32] = unhex("808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f");
        let aad: [u8; 12] = unhex("50515253c0c1c2c3c4c5c6c7");
        let plain = b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip \
            for the future, sunscreen would be it.";
        let sealed: [u8; 114] = unhex(concat!(
            "d31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d6",
            "3dbea45e8ca9671282fafb69da92728b1a71de0a9e060b2905d6a5b67ecd3b36",
            "92ddbd7f2d778b8c9803aee328091b58fab324e4fad675945585808b4831d7bc",
            "3ff4def08e4b7a9de576d26586cec64b6116"
        ));
        let tag = "1ae10b594f09e26a7e902ecbd0600691";
        let chacha20 = Aead::new(&CHACHA20_POLY1305, &Secret::new(key));
        check(&chacha20, nonce("070000004041424344454647"), &aad, plain, &sealed, tag);
    }
}
