//! wxSQLite3's pages (`aes128cbc`, `aes256cbc`): AES in CBC mode with a key and an IV that follow
//! from the page number. Nothing authenticates them.

use aes::cipher::{BlockCipherDecrypt, BlockCipherEncrypt, KeyInit, consts::U16};
use md5::{Digest, Md5};
use selenite_cipher::{Secret, sha256};

use crate::blocks::{decrypt_cbc, encrypt_cbc};
use crate::header::{MAGIC, Visible};
use crate::key::Key;
use crate::rc4_pages::apply_rc4;

/// The codec of one database.
pub enum WxAes {
    Aes128 { key: Secret<16>, is_legacy: bool },
    Aes256 { key: Secret<32>, is_legacy: bool },
}

impl WxAes {
    /// Derives the key; `None` for a raw key, which these ciphers don't have.
    pub fn derive(is_256: bool, kdf_iterations: u32, is_legacy: bool, key: &Key) -> Option<Self> {
        let padded = padded(key.as_passphrase()?);
        Some(if is_256 {
            let mut digest = sha256(&padded);
            for _ in 0..kdf_iterations {
                digest = sha256(&digest);
            }
            let key = Secret::new(digest);
            Self::Aes256 { key, is_legacy }
        } else {
            let key = Secret::new(key_of_md5(&padded));
            Self::Aes128 { key, is_legacy }
        })
    }

    /// Decrypts a page in place.
    pub fn decrypt(&self, page_no: u32, page: &mut [u8]) {
        self.apply(page_no, page, false);
    }

    /// Encrypts a page in place.
    pub fn encrypt(&self, page_no: u32, page: &mut [u8]) {
        self.apply(page_no, page, true);
    }

    fn apply(&self, page_no: u32, page: &mut [u8], is_encryption: bool) {
        match self {
            Self::Aes128 { key, is_legacy } => {
                let page_key = Secret::<16>::new(Md5::digest(salted(key.expose(), page_no)).into());
                let encryption = aes::Aes128Enc::new(page_key.expose().into());
                let decryption = aes::Aes128Dec::new(page_key.expose().into());
                apply((&encryption, &decryption), *is_legacy, page_no, page, is_encryption);
            }
            Self::Aes256 { key, is_legacy } => {
                let page_key = Secret::<32>::new(sha256(&salted(key.expose(), page_no)));
                let encryption = aes::Aes256Enc::new(page_key.expose().into());
                let decryption = aes::Aes256Dec::new(page_key.expose().into());
                apply((&encryption, &decryption), *is_legacy, page_no, page, is_encryption);
            }
        }
    }
}

fn apply<E, D>((encryption, decryption): (&E, &D), is_legacy: bool, page_no: u32, page: &mut [u8], is_encryption: bool)
where
    E: BlockCipherEncrypt<BlockSize = U16>,
    D: BlockCipherDecrypt<BlockSize = U16>,
{
    let iv = page_iv(page_no);
    let is_split = page_no == 1 && !is_legacy && page.len() >= 24;
    if !is_split {
        if is_encryption {
            encrypt_cbc(encryption, iv, page);
        } else {
            decrypt_cbc(decryption, iv, page);
        }
        return;
    }
    // The first 16 bytes are encrypted by themselves; then the ciphertext of bytes 16 to 23 takes
    // the place of bytes 8 to 15, and those bytes are stored unencrypted.
    if is_encryption {
        let mut visible = [0; 8];
        visible.copy_from_slice(&page[16..24]);
        let (first, rest) = page.split_at_mut(16);
        encrypt_cbc(encryption, iv, first);
        encrypt_cbc(encryption, iv, rest);
        first[8..].copy_from_slice(&rest[..8]);
        rest[..8].copy_from_slice(&visible);
    } else {
        let (first, rest) = page.split_at_mut(16);
        let mut visible = [0; 8];
        visible.copy_from_slice(&rest[..8]);
        if Visible::parse(&[&[0; 16][..], &visible].concat()).is_some() {
            rest[..8].copy_from_slice(&first[8..]);
            decrypt_cbc(decryption, iv, rest);
            // A wrong key decrypts something else.
            if rest[..8] == visible {
                first.copy_from_slice(MAGIC);
            }
        }
    }
}

/// The key, the page number and four letters, whose digest is the key of a page.
fn salted(key: &[u8], page_no: u32) -> zeroize::Zeroizing<Vec<u8>> {
    let parts = [key, &page_no.to_le_bytes(), b"sAlT"];
    zeroize::Zeroizing::new(parts.concat())
}

/// The IV of a page: the MD5 digest of four numbers of a generator that begins with the page
/// number (L'Ecuyer's second generator, <https://doi.org/10.1145/62959.62969>).
pub fn page_iv(page_no: u32) -> [u8; 16] {
    let mut seed = i64::from(page_no) + 1;
    let mut bytes = Vec::with_capacity(16);
    for _ in 0..4 {
        let quotient = seed / 52_774;
        seed = 40_692 * (seed - 52_774 * quotient) - 3_791 * quotient;
        if seed < 0 {
            seed += 2_147_483_399;
        }
        bytes.extend_from_slice(&seed.to_le_bytes()[..4]);
    }
    Md5::digest(bytes).into()
}

/// PDF's standard security handler (PDF 1.7, 7.6.3), which this derivation follows, pads so.
fn padded(passphrase: &[u8]) -> [u8; 32] {
    let mut out = [0; 32];
    let bytes = passphrase.iter().chain(PADDING);
    for (out, byte) in out.iter_mut().zip(bytes) {
        *out = *byte;
    }
    out
}

fn key_of_md5(padded_passphrase: &[u8; 32]) -> [u8; 16] {
    let repeated = |first: [u8; 16]| (0..50).fold(first, |digest, _| Md5::digest(digest).into());
    let owner = repeated(Md5::digest(padded(b"")).into());
    let mut owner_key = *padded_passphrase;
    for round in 0..20_u8 {
        apply_rc4(&owner.map(|byte| byte ^ round), &mut owner_key);
    }
    let both = [padded_passphrase.as_slice(), &owner_key].concat();
    repeated(Md5::digest(both).into())
}

const PADDING: &[u8; 32] = &[
    0x28, 0xbf, 0x4e, 0x5e, 0x4e, 0x75, 0x8a, 0x41, 0x64, 0x00, 0x4e, 0x56, 0xff, 0xfa, 0x01, 0x08, 0x2e, 0x2e, 0x00,
    0xb6, 0xd0, 0x68, 0x3e, 0x80, 0x2f, 0x0c, 0xa9, 0xfe, 0x64, 0x53, 0x69, 0x7a,
];
