//! The pages of sqleet and of SQLite3 Multiple Ciphers' `chacha20`: ChaCha20 under a one-time key,
//! with Poly1305.
//!
//! A page ends with a nonce and a tag of 16 bytes each. The nonce is ChaCha20's nonce of 12 bytes,
//! followed by a counter to which the page number is added by XOR. Block `counter` of the
//! database's key is the one-time key: 32 bytes for Poly1305, 32 for ChaCha20, which goes on at
//! `counter + 1`.

use chacha20::cipher::{Array, KeyIvInit, StreamCipherCore};
use chacha20::variants::Ietf;
use chacha20::{ChaChaCore, R20};
use poly1305::Poly1305;
use poly1305::universal_hash::KeyInit;
use selenite_cipher::{Secret, Unauthentic};
use zeroize::Zeroize;

use crate::blocks::{Hash, derive};
use crate::header::{FirstPage, VISIBLE_END, Visible};
use crate::key::Key;
use crate::wx_aes::page_iv;

/// The codec of one database.
pub struct ChaCha20Pages {
    key: Secret<32>,
    first_page: FirstPage,
    /// The reserved bytes of each page; 0 if pages have neither nonce nor tag.
    reserve: usize,
}

const NONCE_SIZE: usize = 16;
const TAG_SIZE: usize = 16;
const BLOCK_SIZE: usize = 64;

impl ChaCha20Pages {
    /// Derives the key; `None` for a raw key of another size, or if a salt is needed and was not
    /// given.
    pub fn derive(
        (kdf_iterations, is_legacy, plaintext_header): (u32, bool, u8),
        key: &Key,
        head: &[u8],
    ) -> Option<Self> {
        let start = if is_legacy { 0 } else { VISIBLE_END };
        let first_page = FirstPage::new(key, head, plaintext_header, start)?;
        let has_mac = is_legacy || Visible::parse(head)?.reserve > 0;
        Some(Self {
            key: match key.as_passphrase() {
                Some(passphrase) => derive(Hash::Sha256, passphrase, &first_page.salt(), kdf_iterations),
                None => key.raw()?,
            },
            first_page,
            reserve: if has_mac { NONCE_SIZE + TAG_SIZE } else { 0 },
        })
    }

    /// The reserved bytes of each page.
    pub fn reserve(&self) -> usize {
        self.reserve
    }

    /// Decrypts a page in place.
    pub fn decrypt(&self, page_no: u32, page: &mut [u8]) -> Result<(), Unauthentic> {
        let end = page.len().checked_sub(self.reserve).ok_or(Unauthentic)?;
        let start = self.first_page.start(page_no);
        if end < start {
            return Err(Unauthentic);
        }
        let one_time = self.one_time(page_no, &page[end..]);
        if self.reserve > 0 {
            let (covered, tag) = page.split_at(end + NONCE_SIZE);
            let expected = Poly1305::new(one_time.mac_key.expose().into()).compute_unpadded(covered);
            if !selenite_cipher::macs_are_equal(expected.as_slice(), tag) {
                return Err(Unauthentic);
            }
        }
        one_time.apply(&mut page[start..end]);
        self.first_page.complete(page_no, page);
        Ok(())
    }

    /// Encrypts a page in place; `nonce` is random.
    pub fn encrypt(&self, page_no: u32, page: &mut [u8], nonce: [u8; NONCE_SIZE]) {
        let end = page.len().saturating_sub(self.reserve);
        let start = self.first_page.start(page_no).min(end);
        if let Some(own) = page[end..].first_chunk_mut() {
            *own = nonce;
        }
        let one_time = self.one_time(page_no, &page[end..]);
        one_time.apply(&mut page[start..end]);
        self.first_page.replace_magic(page_no, page);
        if self.reserve > 0 {
            let (covered, tag) = page.split_at_mut(end + NONCE_SIZE);
            let computed = Poly1305::new(one_time.mac_key.expose().into()).compute_unpadded(covered);
            tag.copy_from_slice(computed.as_slice());
        }
    }

    fn one_time(&self, page_no: u32, tail: &[u8]) -> OneTime {
        let nonce: [u8; NONCE_SIZE] = tail.first_chunk().copied().unwrap_or_else(|| page_iv(page_no));
        let [.., a, b, c, d] = nonce;
        let counter = u32::from_le_bytes([a, b, c, d]) ^ page_no;
        let mut nonce_12 = [0; 12];
        nonce_12.copy_from_slice(&nonce[..12]);
        let mut keys = zeroize::Zeroizing::new([0; BLOCK_SIZE]);
        apply(self.key.expose(), &nonce_12, counter, &mut *keys);
        OneTime {
            mac_key: Secret::fill(|out: &mut [u8; 32]| out.copy_from_slice(&keys[..32])),
            page_key: Secret::fill(|out| out.copy_from_slice(&keys[32..])),
            nonce: nonce_12,
            counter: counter.wrapping_add(1),
        }
    }
}

/// The keys of one page.
struct OneTime {
    mac_key: Secret<32>,
    page_key: Secret<32>,
    nonce: [u8; 12],
    counter: u32,
}

impl OneTime {
    fn apply(&self, data: &mut [u8]) {
        apply(self.page_key.expose(), &self.nonce, self.counter, data);
    }
}

/// ChaCha20 from block `counter` on. The counter begins again at 0 after its last value, so this is
/// done by blocks: the library's stream ends before that block.
fn apply(key: &[u8; 32], nonce: &[u8; 12], counter: u32, data: &mut [u8]) {
    let mut core = ChaChaCore::<R20, Ietf>::new(key.into(), nonce.into());
    core.set_block_pos(counter);
    let (blocks, rest) = Array::slice_as_chunks_mut(data);
    core.apply_keystream_blocks(blocks);
    let mut last = Array([0; BLOCK_SIZE]);
    core.write_keystream_block(&mut last);
    for (byte, mask) in rest.iter_mut().zip(&last) {
        *byte ^= mask;
    }
    last.zeroize();
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 8439, 2.3.2: one block at counter 1.
    #[test]
    fn a_block_is_that_of_the_rfc() {
        let key: [u8; 32] = std::array::from_fn(|index| u8::try_from(index).unwrap());
        let nonce = [0, 0, 0, 9, 0, 0, 0, 0x4a, 0, 0, 0, 0];
        let mut block = [0; 64];
        apply(&key, &nonce, 1, &mut block);
        assert_eq!(block[..8], [0x10, 0xf1, 0xe7, 0xe4, 0xd1, 0x3b, 0x59, 0x15]);
    }

    #[test]
    fn the_counter_begins_again_after_its_last_value() {
        let (key, nonce) = ([7; 32], [8; 12]);
        // More than a processor computes at once.
        let mut long = [0; 64 * 12 + 7];
        apply(&key, &nonce, u32::MAX - 1, &mut long);
        for (index, part) in (0_u32..).zip(long.chunks(64)) {
            let mut block = [0; 64];
            let counter = (u32::MAX - 1).wrapping_add(index);
            apply(&key, &nonce, counter, &mut block);
            assert_eq!(part, &block[..part.len()], "{counter}");
        }
    }
}
