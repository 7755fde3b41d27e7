//! AES-256 of single blocks, from which XTS and the salts of nonces are made.

use crate::Secret;

#[cfg(not(feature = "fips"))]
mod implementation {
    use aes::Aes256;
    use aes::cipher::{BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};

    pub(super) struct Cipher(Aes256);

    impl Cipher {
        pub(super) fn new(key: &[u8; 32]) -> Self {
            Self(Aes256::new(key.into()))
        }

        pub(super) fn encrypt(&self, block: &mut [u8; 16]) {
            self.0.encrypt_block(block.into());
        }

        pub(super) fn decrypt(&self, block: &mut [u8; 16]) {
            self.0.decrypt_block(block.into());
        }
    }
}

/// By the FIPS module, as electronic code book of one block.
#[cfg(feature = "fips")]
mod implementation {
    use aws_lc_rs::cipher::{
        AES_256, DecryptingKey, DecryptionContext, EncryptingKey, EncryptionContext, UnboundCipherKey,
    };

    pub(super) struct Cipher {
        encrypting: EncryptingKey,
        decrypting: DecryptingKey,
    }

    impl Cipher {
        pub(super) fn new(key: &[u8; 32]) -> Self {
            let key = || UnboundCipherKey::new(&AES_256, key);
            Self {
                encrypting: key().and_then(EncryptingKey::ecb).expect("an AES-256 key has 32 bytes"),
                decrypting: key().and_then(DecryptingKey::ecb).expect("an AES-256 key has 32 bytes"),
            }
        }

        pub(super) fn encrypt(&self, block: &mut [u8; 16]) {
            self.encrypting
                .less_safe_encrypt(block, EncryptionContext::None)
                .expect("16 bytes are a block, and this mode has no context");
        }

        pub(super) fn decrypt(&self, block: &mut [u8; 16]) {
            self.decrypting
                .decrypt(block, DecryptionContext::None)
                .expect("16 bytes are a block, and this mode has no context");
        }
    }
}

/// A key of AES-256 for single blocks.
pub struct BlockCipher(implementation::Cipher);

impl BlockCipher {
    /// Expands the key.
    pub fn new(key: &Secret<32>) -> Self {
        Self(implementation::Cipher::new(key.expose()))
    }

    /// Encrypts a block in place.
    pub fn encrypt(&self, block: &mut [u8; 16]) {
        self.0.encrypt(block);
    }

    /// Decrypts a block in place.
    pub fn decrypt(&self, block: &mut [u8; 16]) {
        self.0.decrypt(block);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hex::unhex;

    #[test]
    fn a_block_is_encrypted_as_in_fips_197() {
        let key = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
        let cipher = BlockCipher::new(&Secret::new(unhex(key)));
        let mut block = unhex("00112233445566778899aabbccddeeff");
        cipher.encrypt(&mut block);
        assert_eq!(block, unhex("8ea2b7ca516745bfeafc49904b496089"));
        cipher.decrypt(&mut block);
        assert_eq!(block, unhex("00112233445566778899aabbccddeeff"));
    }
}
