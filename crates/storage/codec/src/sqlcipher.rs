//! SQLCipher's pages: AES-256 in CBC mode with an IV a page, and an HMAC over ciphertext, IV and
//! page number (<https://www.zetetic.net/sqlcipher/design/>).
//!
//! A page ends with its IV, its HMAC, and bytes that fill up to a multiple of 16. The first page
//! begins with the salt instead of the magic.

use aes::cipher::KeyInit;
use aes::{Aes256Dec, Aes256Enc};
use hmac::digest::OutputSizeUser;
use hmac::{Hmac, Mac};
use selenite_cipher::{Secret, Unauthentic};

use crate::blocks::{Hash, decrypt_cbc, derive, encrypt_cbc};
use crate::format::SqlCipherFormat;
use crate::header::{FirstPage, VISIBLE_END, Visible};
use crate::key::{Key, SALT_SIZE};
use crate::wx_aes::page_iv;

/// The codec of one database.
pub struct SqlCipher {
    decryption: Aes256Dec,
    encryption: Aes256Enc,
    mac: Option<PageMac>,
    first_page: FirstPage,
    /// The reserved bytes of each page; 0 if there is not even an IV.
    reserve: usize,
}

/// A MAC whose state after its key is kept: it is copied for each page.
enum PageMac {
    Sha1(Hmac<sha1::Sha1>),
    Sha256(Hmac<sha2::Sha256>),
    Sha512(Hmac<sha2::Sha512>),
}

/// What SQLCipher adds to the salt for the key of the HMAC.
const HMAC_SALT_MASK: u8 = 0x3a;
/// `fast_kdf_iter`: the key of the HMAC is derived from another key, not from a passphrase.
const HMAC_KEY_ITERATIONS: u32 = 2;
const IV_SIZE: usize = 16;

impl SqlCipher {
    /// Derives the keys; `None` for a raw key of another size, or if a salt is needed and was not given.
    pub fn derive(format: &SqlCipherFormat, key: &Key, head: &[u8]) -> Option<Self> {
        // Without a header in the clear, encryption begins behind the salt.
        let start = match (format.is_visible, format.plaintext_header) {
            (true, _) => VISIBLE_END,
            (false, 0) => SALT_SIZE,
            (false, _) => 0,
        };
        let first_page = FirstPage::new(key, head, format.plaintext_header, start)?;
        let salt = first_page.salt();
        let page_key: Secret<32> = match key.as_passphrase() {
            Some(passphrase) => derive(format.kdf, passphrase, &salt, format.kdf_iterations),
            None => key.raw()?,
        };
        let mut reserve = format.reserve();
        if format.is_visible && Visible::parse(head)?.reserve == 0 {
            reserve = 0;
        }
        let mac = format.hmac.filter(|_| reserve > 0).map(|hash| {
            let salt = salt.map(|byte| byte ^ HMAC_SALT_MASK);
            PageMac::new(hash, &derive(format.kdf, page_key.expose(), &salt, HMAC_KEY_ITERATIONS))
        });
        Some(Self {
            decryption: Aes256Dec::new(page_key.expose().into()),
            encryption: Aes256Enc::new(page_key.expose().into()),
            mac,
            first_page,
            reserve,
        })
    }

    /// The reserved bytes of each page.
    pub fn reserve(&self) -> usize {
        self.reserve
    }

    /// Whether pages have a MAC.
    pub fn is_authenticated(&self) -> bool {
        self.mac.is_some()
    }

    /// Decrypts a page in place.
    pub fn decrypt(&self, page_no: u32, page: &mut [u8]) -> Result<(), Unauthentic> {
        let end = page.len().checked_sub(self.reserve).ok_or(Unauthentic)?;
        let start = self.first_page.start(page_no);
        if end < start {
            return Err(Unauthentic);
        }
        if let Some(mac) = &self.mac {
            let tag_start = end + IV_SIZE;
            let (covered, tag) = page.split_at(tag_start);
            if !mac.is_tag(&covered[start..], page_no, tag) {
                return Err(Unauthentic);
            }
        }
        let iv = self.iv(page_no, &page[end..]);
        decrypt_cbc(&self.decryption, iv, &mut page[start..end]);
        self.first_page.complete(page_no, page);
        Ok(())
    }

    /// Encrypts a page in place; `iv` is random.
    pub fn encrypt(&self, page_no: u32, page: &mut [u8], iv: [u8; IV_SIZE]) {
        let end = page.len().saturating_sub(self.reserve);
        let start = self.first_page.start(page_no).min(end);
        encrypt_cbc(&self.encryption, iv, &mut page[start..end]);
        self.first_page.replace_magic(page_no, page);
        let tail = &mut page[end..];
        tail.fill(0);
        if let Some(own) = tail.first_chunk_mut() {
            *own = iv;
        }
        if let Some(mac) = &self.mac {
            let (covered, tag) = page.split_at_mut(end + IV_SIZE);
            mac.write(&covered[start..], page_no, tag);
        }
    }

    fn iv(&self, page_no: u32, tail: &[u8]) -> [u8; IV_SIZE] {
        tail.first_chunk().copied().unwrap_or_else(|| page_iv(page_no))
    }
}

impl PageMac {
    fn new(hash: Hash, key: &Secret<32>) -> Self {
        fn keyed<M: KeyInit>(key: &[u8]) -> M {
            M::new_from_slice(key).expect("HMAC takes a key of any size (RFC 2104)")
        }
        let key = key.expose();
        match hash {
            Hash::Sha1 => Self::Sha1(keyed(key)),
            Hash::Sha256 => Self::Sha256(keyed(key)),
            Hash::Sha512 => Self::Sha512(keyed(key)),
        }
    }

    fn is_tag(&self, covered: &[u8], page_no: u32, tail: &[u8]) -> bool {
        fn check<M: Mac + Clone>(mac: &M, covered: &[u8], page_no: u32, tail: &[u8]) -> bool {
            let size = <M as OutputSizeUser>::output_size();
            let Some(tag) = tail.get(..size) else { return false };
            mac.clone()
                .chain_update(covered)
                .chain_update(page_no.to_le_bytes())
                .verify_slice(tag)
                .is_ok()
        }
        match self {
            Self::Sha1(mac) => check(mac, covered, page_no, tail),
            Self::Sha256(mac) => check(mac, covered, page_no, tail),
            Self::Sha512(mac) => check(mac, covered, page_no, tail),
        }
    }

    fn write(&self, covered: &[u8], page_no: u32, tail: &mut [u8]) {
        fn finish<M: Mac + Clone>(mac: &M, covered: &[u8], page_no: u32, tail: &mut [u8]) {
            let tag = mac
                .clone()
                .chain_update(covered)
                .chain_update(page_no.to_le_bytes())
                .finalize()
                .into_bytes();
            for (out, byte) in tail.iter_mut().zip(tag) {
                *out = byte;
            }
        }
        match self {
            Self::Sha1(mac) => finish(mac, covered, page_no, tail),
            Self::Sha256(mac) => finish(mac, covered, page_no, tail),
            Self::Sha512(mac) => finish(mac, covered, page_no, tail),
        }
    }
}
