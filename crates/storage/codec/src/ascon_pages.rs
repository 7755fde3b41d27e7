//! The pages of SQLite3 Multiple Ciphers' `ascon128`: Ascon-128 of version 1.2 (C. Dobraunig, M.
//! Eichlseder, F. Mendel, M. Schlaeffer, "Ascon v1.2", 2021), which is not the Ascon-AEAD128 that
//! became NIST SP 800-232.
//!
//! A page ends with a tag and a nonce of 16 bytes each. Its key is the first half of Ascon-Hash of
//! the database's key, the nonce and the page number. The permutation is RustCrypto's; its crates for
//! the modes have the standard's alone, so that the modes are here.

use ascon::{State, permute6, permute12};
use selenite_cipher::{Secret, Unauthentic};
use zeroize::{Zeroize, Zeroizing};

use crate::header::{FirstPage, VISIBLE_END, Visible};
use crate::key::{Key, SALT_SIZE};
use crate::wx_aes::page_iv;

const NONCE_SIZE: usize = 16;
const TAG_SIZE: usize = 16;
const HASH_SIZE: usize = 32;
/// The bytes that are absorbed and squeezed at a time.
const RATE: usize = 8;

/// The codec of one database.
pub struct AsconPages {
    key: Secret<32>,
    first_page: FirstPage,
    /// The reserved bytes of each page; 0 if pages have neither nonce nor tag.
    reserve: usize,
}

impl AsconPages {
    /// Derives the key; `None` for a raw key of another size, or if a salt is needed and was not
    /// given.
    pub fn derive(kdf_iterations: u32, plaintext_header: u8, key: &Key, head: &[u8]) -> Option<Self> {
        let first_page = FirstPage::new(key, head, plaintext_header, VISIBLE_END)?;
        let has_mac = Visible::parse(head)?.reserve > 0;
        Some(Self {
            key: match key.as_passphrase() {
                Some(passphrase) => derive(passphrase, first_page.salt(), kdf_iterations),
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
        let (body, tail) = page.split_at_mut(end);
        let (mut cipher, tag) = self.cipher(page_no, tail);
        cipher.decrypt(&mut body[start..]);
        if let Some(tag) = tag
            && !selenite_cipher::macs_are_equal(&cipher.tag(), tag)
        {
            return Err(Unauthentic);
        }
        self.first_page.complete(page_no, page);
        Ok(())
    }

    /// Encrypts a page in place; `nonce` is random.
    pub fn encrypt(&self, page_no: u32, page: &mut [u8], nonce: [u8; NONCE_SIZE]) {
        let end = page.len().saturating_sub(self.reserve);
        let start = self.first_page.start(page_no).min(end);
        let (body, tail) = page.split_at_mut(end);
        if let Some(own) = tail.last_chunk_mut() {
            *own = nonce;
        }
        let (mut cipher, _) = self.cipher(page_no, tail);
        cipher.encrypt(&mut body[start..]);
        if let Some(tag) = tail.first_chunk_mut() {
            *tag = cipher.tag();
        }
        self.first_page.replace_magic(page_no, page);
    }

    /// The cipher of a page that ends with `tail`, and the tag in it.
    fn cipher<'a>(&self, page_no: u32, tail: &'a [u8]) -> (Ascon128, Option<&'a [u8; TAG_SIZE]>) {
        let nonce = tail.last_chunk().copied().unwrap_or_else(|| page_iv(page_no));
        let mut input = Zeroizing::new([0; 32 + NONCE_SIZE + 4]);
        input[..32].copy_from_slice(self.key.expose());
        input[32..][..NONCE_SIZE].copy_from_slice(&nonce);
        input[32 + NONCE_SIZE..].copy_from_slice(&page_no.to_be_bytes());
        let hash = Zeroizing::new(Sponge::new([0; HASH_SIZE]).hash(&*input));
        let mut key = Zeroizing::new([0; 16]);
        key.copy_from_slice(&hash[..16]);
        (Ascon128::new(&key, nonce), tail.first_chunk())
    }
}

/// PBKDF2 (RFC 8018) whose pseudorandom function is ASCON-cXOF with the passphrase as
/// customization and `PBKDF2` as name (R. Weatherley, "Additional Modes for ASCON Version 1.1").
fn derive(passphrase: &[u8], salt: [u8; SALT_SIZE], iterations: u32) -> Secret<32> {
    let mut name = [0; HASH_SIZE];
    name[..6].copy_from_slice(b"PBKDF2");
    let mut sponge = Sponge::new(name);
    if !passphrase.is_empty() {
        sponge.absorb(passphrase);
        permute12(&mut sponge.0);
        sponge.0[4] ^= 1;
    }
    let mut first = [0; SALT_SIZE + 4];
    first[..SALT_SIZE].copy_from_slice(&salt);
    first[SALT_SIZE..].copy_from_slice(&1_u32.to_be_bytes());
    let mut block = Zeroizing::new(sponge.hash(&first));
    let mut key = block.clone();
    for _ in 1..iterations {
        *block = sponge.hash(&*block);
        for (byte, mask) in key.iter_mut().zip(&*block) {
            *byte ^= mask;
        }
    }
    Secret::fill(|out| out.copy_from_slice(&*key))
}

/// The state of Ascon-Hash.
struct Sponge(State);

impl Sponge {
    const IV: u64 = 0x0040_0c00_0000_0100;

    /// Ascon-Hash for a `name` of zeros, ASCON-cXOF for others.
    fn new(name: [u8; HASH_SIZE]) -> Self {
        let mut state = [Self::IV, 0, 0, 0, 0];
        for (word, bytes) in state[1..].iter_mut().zip(name.as_chunks().0) {
            *word = u64::from_be_bytes(*bytes);
        }
        permute12(&mut state);
        Self(state)
    }

    fn absorb(&mut self, input: &[u8]) {
        let (blocks, rest) = input.as_chunks::<RATE>();
        for block in blocks {
            self.0[0] ^= u64::from_be_bytes(*block);
            permute12(&mut self.0);
        }
        self.0[0] ^= padded(rest);
    }

    /// The hash of what this state absorbed, followed by `input`.
    fn hash(&self, input: &[u8]) -> [u8; HASH_SIZE] {
        let mut state = Self(self.0);
        state.absorb(input);
        let mut out = [0; HASH_SIZE];
        for block in out.as_chunks_mut::<RATE>().0 {
            permute12(&mut state.0);
            *block = state.0[0].to_be_bytes();
        }
        out
    }
}

impl Drop for Sponge {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

/// Fewer than [`RATE`] bytes, as the first of a word, and the bit behind them.
fn padded(bytes: &[u8]) -> u64 {
    let mut block = [0; RATE];
    block[..bytes.len()].copy_from_slice(bytes);
    block[bytes.len()] = 0x80;
    u64::from_be_bytes(block)
}

fn words(bytes: &[u8; 16]) -> [u64; 2] {
    let [high, low] = [0, 8].map(|at| bytes[at..].first_chunk().copied().map_or(0, u64::from_be_bytes));
    [high, low]
}

/// Ascon-128 without associated data.
struct Ascon128 {
    state: State,
    key: [u64; 2],
}

impl Ascon128 {
    const IV: u64 = 0x8040_0c06_0000_0000;

    fn new(key: &[u8; 16], nonce: [u8; NONCE_SIZE]) -> Self {
        let [key, nonce] = [key, &nonce].map(words);
        let mut state = [Self::IV, key[0], key[1], nonce[0], nonce[1]];
        permute12(&mut state);
        state[3] ^= key[0];
        state[4] ^= key[1];
        // Separates the associated data, of which there is none, from the message.
        state[4] ^= 1;
        Self { state, key }
    }

    fn encrypt(&mut self, message: &mut [u8]) {
        let (blocks, rest) = message.as_chunks_mut::<RATE>();
        for block in blocks {
            self.state[0] ^= u64::from_be_bytes(*block);
            *block = self.state[0].to_be_bytes();
            permute6(&mut self.state);
        }
        self.state[0] ^= padded(rest);
        rest.copy_from_slice(&self.state[0].to_be_bytes()[..rest.len()]);
    }

    fn decrypt(&mut self, message: &mut [u8]) {
        let (blocks, rest) = message.as_chunks_mut::<RATE>();
        for block in blocks {
            let encrypted = u64::from_be_bytes(*block);
            *block = (self.state[0] ^ encrypted).to_be_bytes();
            self.state[0] = encrypted;
            permute6(&mut self.state);
        }
        for (byte, mask) in rest.iter_mut().zip(self.state[0].to_be_bytes()) {
            *byte ^= mask;
        }
        self.state[0] ^= padded(rest);
    }

    /// The tag of what was encrypted or decrypted.
    fn tag(mut self) -> [u8; TAG_SIZE] {
        self.state[1] ^= self.key[0];
        self.state[2] ^= self.key[1];
        permute12(&mut self.state);
        let [.., high, low] = self.state;
        let number = u128::from(high ^ self.key[0]) << 64 | u128::from(low ^ self.key[1]);
        number.to_be_bytes()
    }
}

impl Drop for Ascon128 {
    fn drop(&mut self) {
        self.state.zeroize();
        self.key.zeroize();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first of the authors' test vectors, LWC_HASH_KAT_256 of Ascon-Hash.
    #[test]
    fn the_hash_is_that_of_version_1_2() {
        let hash = Sponge::new([0; HASH_SIZE]).hash(b"");
        assert_eq!(hash[..8], [0x73, 0x46, 0xbc, 0x14, 0xf0, 0x36, 0xe8, 0x7a]);
        assert_eq!(hash[24..], [0x4f, 0xa7, 0x96, 0xa8, 0x0d, 0x25, 0x1f, 0x91]);
    }

    /// The first of the authors' test vectors, LWC_AEAD_KAT_128_128 of Ascon-128.
    #[test]
    fn the_tag_is_that_of_version_1_2() {
        let bytes = std::array::from_fn(|index| u8::try_from(index).unwrap());
        let mut cipher = Ascon128::new(&bytes, bytes);
        cipher.encrypt(&mut []);
        let tag = 0xe355_159f_2929_11f7_94cb_1432_a010_3a8a_u128;
        assert_eq!(cipher.tag(), tag.to_be_bytes());
    }
}
