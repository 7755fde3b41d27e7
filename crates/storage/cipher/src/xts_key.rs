//! AES-256-XTS (IEEE 1619) of one block of 16 bytes.

use crate::{BlockCipher, Secret};

/// The two keys of AES-256-XTS.
pub(crate) struct XtsKey {
    data: BlockCipher,
    tweak: BlockCipher,
}

impl XtsKey {
    /// `key` is the data key, then the tweak key.
    pub(crate) fn new(key: &Secret<64>) -> Self {
        let half = |at: usize| Secret::fill(|half: &mut [u8; 32]| half.copy_from_slice(&key.expose()[at..at + 32]));
        Self {
            data: BlockCipher::new(&half(0)),
            tweak: BlockCipher::new(&half(32)),
        }
    }

    /// Seals a block in place.
    pub(crate) fn seal(&self, tweak: [u8; 16], block: &mut [u8; 16]) {
        let mask = self.mask(tweak);
        xor(block, mask);
        self.data.encrypt(block);
        xor(block, mask);
    }

    /// Opens a block in place.
    pub(crate) fn open(&self, tweak: [u8; 16], block: &mut [u8; 16]) {
        let mask = self.mask(tweak);
        xor(block, mask);
        self.data.decrypt(block);
        xor(block, mask);
    }

    /// The mask that is XORed with the block before and after the cipher.
    fn mask(&self, mut tweak: [u8; 16]) -> [u8; 16] {
        self.tweak.encrypt(&mut tweak);
        tweak
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
