//! The pages of SQLite3 Multiple Ciphers' `aegis`: AEGIS under a key and a nonce of the page, with
//! a tag of 32 bytes.
//!
//! A page ends with its tag and a random nonce. The key stream of the database's key and that
//! nonce is the page's key and nonce, whose last four bytes are the page number instead.

use aegis::{aegis128l, aegis128x2, aegis128x4, aegis256, aegis256x2, aegis256x4};
use argon2::{Algorithm, Argon2, Params, Version};
use selenite_cipher::{Secret, Unauthentic};
use zeroize::Zeroizing;

use crate::header::{FirstPage, VISIBLE_END, Visible};
use crate::key::Key;

/// A member of the AEGIS family.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the algorithms' own names")]
pub enum AegisVariant {
    Aegis128L,
    Aegis128X2,
    Aegis128X4,
    Aegis256,
    Aegis256X2,
    Aegis256X4,
}

impl AegisVariant {
    pub(crate) const NAMES: &str = "aegis-128l, aegis-128x2, aegis-128x4, aegis-256, aegis-256x2 or aegis-256x4";

    /// Parses a name, or the number that the product's `algorithm` has, from 1.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let numbers = ["1", "2", "3", "4", "5", "6"];
        let mut numbered = numbers.into_iter().zip([
            Self::Aegis128L,
            Self::Aegis128X2,
            Self::Aegis128X4,
            Self::Aegis256,
            Self::Aegis256X2,
            Self::Aegis256X4,
        ]);
        let found = numbered.find(|(number, variant)| text == *number || text.eq_ignore_ascii_case(variant.name()));
        found.map(|(_, variant)| variant)
    }

    /// Its name, as the product has it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Aegis128L => "aegis-128l",
            Self::Aegis128X2 => "aegis-128x2",
            Self::Aegis128X4 => "aegis-128x4",
            Self::Aegis256 => "aegis-256",
            Self::Aegis256X2 => "aegis-256x2",
            Self::Aegis256X4 => "aegis-256x4",
        }
    }

    /// All members.
    pub(crate) const ALL: [Self; 6] = [
        Self::Aegis256,
        Self::Aegis256X2,
        Self::Aegis256X4,
        Self::Aegis128L,
        Self::Aegis128X2,
        Self::Aegis128X4,
    ];

    /// The size of keys, and of nonces, in bytes.
    pub(crate) fn key_size(self) -> usize {
        match self {
            Self::Aegis128L | Self::Aegis128X2 | Self::Aegis128X4 => 16,
            Self::Aegis256 | Self::Aegis256X2 | Self::Aegis256X4 => 32,
        }
    }
}

const TAG_SIZE: usize = 32;

/// The codec of one database.
pub struct AegisPages {
    variant: AegisVariant,
    /// The first [`AegisVariant::key_size`] bytes are the key.
    key: Secret<32>,
    first_page: FirstPage,
}

/// Calls a method of the variant, whose key and nonce are the two halves of `keys`.
macro_rules! with_variant {
    ($variant:expr, $keys:expr, $cipher:ident => $body:expr) => {
        match $variant {
            AegisVariant::Aegis128L => with_variant!(@ aegis128l::Aegis128L::<TAG_SIZE>, 16, $keys, $cipher, $body),
            AegisVariant::Aegis128X2 => with_variant!(@ aegis128x2::Aegis128X2::<TAG_SIZE>, 16, $keys, $cipher, $body),
            AegisVariant::Aegis128X4 => with_variant!(@ aegis128x4::Aegis128X4::<TAG_SIZE>, 16, $keys, $cipher, $body),
            AegisVariant::Aegis256 => with_variant!(@ aegis256::Aegis256::<TAG_SIZE>, 32, $keys, $cipher, $body),
            AegisVariant::Aegis256X2 => with_variant!(@ aegis256x2::Aegis256X2::<TAG_SIZE>, 32, $keys, $cipher, $body),
            AegisVariant::Aegis256X4 => with_variant!(@ aegis256x4::Aegis256X4::<TAG_SIZE>, 32, $keys, $cipher, $body),
        }
    };
    (@ $type:ty, $size:literal, $keys:expr, $cipher:ident, $body:expr) => {{
        let mut key = Zeroizing::new([0; $size]);
        key.copy_from_slice(&$keys[..$size]);
        let mut nonce = [0; $size];
        nonce.copy_from_slice(&$keys[$size..2 * $size]);
        let $cipher = <$type>::new(&key, &nonce);
        $body
    }};
}

impl AegisPages {
    /// Derives the key; `None` for a raw key of another size, or if a salt is needed and was not
    /// given, if Argon2 does not take the costs, or for pages without tags.
    pub fn derive(
        variant: AegisVariant,
        (t_cost, m_cost, p_cost): (u32, u32, u32),
        plaintext_header: u8,
        key: &Key,
        head: &[u8],
    ) -> Option<Self> {
        let first_page = FirstPage::new(key, head, plaintext_header, VISIBLE_END)?;
        let size = variant.key_size();
        // Pages without a tag have the key stream of AEGIS's encryption, which depends on the plaintext.
        if usize::from(Visible::parse(head)?.reserve) < size + TAG_SIZE {
            return None;
        }
        let mut derived = Zeroizing::new([0; 32]);
        match key.as_passphrase() {
            Some(passphrase) => {
                let params = Params::new(m_cost, t_cost, p_cost, Some(size)).ok()?;
                let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
                argon2
                    .hash_password_into(passphrase, &first_page.salt(), &mut derived[..size])
                    .ok()?;
            }
            None if size == 16 => derived[..16].copy_from_slice(key.raw::<16>()?.expose()),
            None => derived.copy_from_slice(key.raw::<32>()?.expose()),
        }
        Some(Self {
            variant,
            key: Secret::fill(|out| out.copy_from_slice(&*derived)),
            first_page,
        })
    }

    /// The reserved bytes of each page.
    pub fn reserve(&self) -> usize {
        self.variant.key_size() + TAG_SIZE
    }

    /// Decrypts a page in place.
    pub fn decrypt(&self, page_no: u32, page: &mut [u8]) -> Result<(), Unauthentic> {
        let end = page.len().checked_sub(self.reserve()).ok_or(Unauthentic)?;
        let start = self.first_page.start(page_no);
        if end < start {
            return Err(Unauthentic);
        }
        let (body, tail) = page.split_at_mut(end);
        let body = &mut body[start..];
        let (tag, nonce) = tail.split_first_chunk::<TAG_SIZE>().ok_or(Unauthentic)?;
        let keys = self.page_keys(page_no, nonce);
        with_variant!(self.variant, keys, cipher => cipher.decrypt_in_place(body, tag, &[]))
            .map_err(|_| Unauthentic)?;
        self.first_page.complete(page_no, page);
        Ok(())
    }

    /// Encrypts a page in place; the first bytes of `nonce`, as many as needed, are random.
    pub fn encrypt(&self, page_no: u32, page: &mut [u8], nonce: [u8; 32]) {
        let end = page.len().saturating_sub(self.reserve());
        let start = self.first_page.start(page_no).min(end);
        let (body, tail) = page.split_at_mut(end);
        if let Some((tag, own)) = tail.split_first_chunk_mut::<TAG_SIZE>() {
            let size = own.len().min(nonce.len());
            own[..size].copy_from_slice(&nonce[..size]);
            let keys = self.page_keys(page_no, own);
            *tag = with_variant!(self.variant, keys, cipher => cipher.encrypt_in_place(&mut body[start..], &[]));
        }
        self.first_page.replace_magic(page_no, page);
    }

    /// The key and the nonce of a page, one behind the other.
    fn page_keys(&self, page_no: u32, nonce: &[u8]) -> Zeroizing<[u8; 64]> {
        let size = self.variant.key_size();
        let mut both = Zeroizing::new([0; 64]);
        both[..size].copy_from_slice(&self.key.expose()[..size]);
        let given = nonce.len().min(size);
        both[size..][..given].copy_from_slice(&nonce[..given]);
        let mut keys = Zeroizing::new([0; 64]);
        with_variant!(self.variant, both, cipher => cipher.stream(&mut keys[..2 * size]));
        keys[2 * size - 4..][..4].copy_from_slice(&page_no.to_be_bytes());
        keys
    }
}
