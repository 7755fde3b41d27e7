//! System.Data.SQLite's pages: RC4 with the same key stream for every page. Nothing authenticates
//! them, and two of them reveal each other.

use rc4::{KeyInit, Rc4, StreamCipher};
use selenite_cipher::Secret;
use sha1::{Digest, Sha1};
use zeroize::Zeroize;

use crate::key::Key;

/// The codec of one database.
pub struct Rc4Pages(Secret<16>);

impl Rc4Pages {
    /// Derives the key; `None` for a raw key, which this cipher doesn't have.
    pub fn derive(key: &Key) -> Option<Self> {
        let mut digest = Sha1::digest(key.as_passphrase()?);
        let found = digest.first_chunk().copied().map(Secret::new);
        digest.zeroize();
        found.map(Self)
    }

    /// Decrypts or encrypts a page in place.
    pub fn apply(&self, page: &mut [u8]) {
        apply_rc4(self.0.expose(), page);
    }
}

/// RC4 from the beginning of its key stream.
pub fn apply_rc4(key: &[u8; 16], data: &mut [u8]) {
    let mut cipher = Rc4::new_from_slice(key).expect("RC4 takes keys of 5 to 256 bytes");
    cipher.apply_keystream(data);
}
