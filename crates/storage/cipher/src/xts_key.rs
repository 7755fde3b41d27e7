//! AES-256-XTS (IEEE 1619) of one block of 16 bytes.

use aes::Aes256;
use aes::cipher::{Array, BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};

use crate::Secret;

/// The two keys of AES-256-XTS.
pub(crate) struct XtsKey {
    data: Aes256,
    tweak: Aes256,
}

impl XtsKey {
    /// `key` is the data key, then the tweak key.
    pub(crate) fn new(key: &Secret<64>) -> Self {
        let (data, tweak) = key.expose().split_at(32);
        Self {
            data: Aes256::new_from_slice(data).expect("half of 64 bytes is 32"),
            tweak: Aes256::new_from_slice(tweak).expect("half of 64 bytes is 32"),
        }
    }

    /// Seals a block in place.
    pub(crate) fn seal(&self, tweak: [u8; 16], block: &mut [u8; 16]) {
        let mask = self.mask(tweak);
        xor(block, mask);
        self.data.encrypt_block(block.into());
        xor(block, mask);
    }

    /// Opens a block in place.
    pub(crate) fn open(&self, tweak: [u8; 16], block: &mut [u8; 16]) {
        let mask = self.mask(tweak);
        xor(block, mask);
        self.data.decrypt_block(block.into());
        xor(block, mask);
    }

    /// The mask that is XORed with the block before and after the cipher.
    fn mask(&self, tweak: [u8; 16]) -> [u8; 16] {
        let mut mask = Array(tweak);
        self.tweak.encrypt_block(&mut mask);
        mask.0
    }
}

fn xor(block: &mut [u8; 16], mask: [u8; 16]) {
    for (byte, mask) in block.iter_mut().zip(mask) {
        *byte ^= mask;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hex::unhex;

    #[test]
    fn seal_computes_the_first_block_of_vector_10_of_ieee_1619() {
        let data = "2718281828459045235360287471352662497757247093699959574966967627";
        let tweak = "3141592653589793238462643383279502884197169399375105820974944592";
        let key = XtsKey::new(&Secret::new(unhex(&format!("{data}{tweak}"))));
        let number = unhex("ff000000000000000000000000000000");
        let mut block = unhex("000102030405060708090a0b0c0d0e0f");
        key.seal(number, &mut block);
        assert_eq!(block, unhex("1c3b3a102f770386e4836c99e370cf9b"));
        key.open(number, &mut block);
        assert_eq!(block, unhex("000102030405060708090a0b0c0d0e0f"));
    }
}
