//! A codec: the format and the keys of one database.

use selenite_cipher::Unauthentic;

use crate::aegis_pages::AegisPages;
use crate::chacha20_pages::ChaCha20Pages;
use crate::header::{Visible, is_first_page};
use crate::rc4_pages::Rc4Pages;
use crate::sqlcipher::SqlCipher;
use crate::wx_aes::WxAes;
use crate::{Format, Key};

/// Decrypts and encrypts the pages of one database.
pub struct Codec(Pages);

enum Pages {
    SqlCipher(SqlCipher),
    ChaCha20(ChaCha20Pages),
    Aegis(AegisPages),
    /// With the reserved bytes of each page, which these formats don't use.
    WxAes(WxAes, usize),
    Rc4(Rc4Pages),
}

impl Codec {
    /// Derives the keys of a database that begins with `head`, or that will: its first bytes are
    /// the salt, and bytes 16 to 23 are those of its header in formats that leave them unencrypted.
    /// For a passphrase that takes a second or more.
    ///
    /// `None` if the format can't be that of such a file, has no such key, or needs a salt that was
    /// not given.
    pub fn derive(format: &Format, key: &Key, head: &[u8]) -> Option<Self> {
        if format.is_visible() && Visible::parse(head).is_none() {
            return None;
        }
        let pages = match format {
            Format::SqlCipher(format) => Pages::SqlCipher(SqlCipher::derive(format, key, head)?),
            &Format::ChaCha20 {
                kdf_iterations,
                is_legacy,
                plaintext_header,
                page_size: _,
            } => Pages::ChaCha20(ChaCha20Pages::derive(
                (kdf_iterations, is_legacy, plaintext_header),
                key,
                head,
            )?),
            &Format::Aegis {
                variant,
                t_cost,
                m_cost,
                p_cost,
                plaintext_header,
            } => Pages::Aegis(AegisPages::derive(
                variant,
                (t_cost, m_cost, p_cost),
                plaintext_header,
                key,
                head,
            )?),
            &Format::WxAes {
                is_256,
                kdf_iterations,
                is_legacy,
                page_size: _,
            } => {
                let reserve = Visible::parse(head).filter(|_| !is_legacy);
                let reserve = reserve.map_or(0, |visible| usize::from(visible.reserve));
                Pages::WxAes(WxAes::derive(is_256, kdf_iterations, is_legacy, key)?, reserve)
            }
            Format::Rc4 { page_size: _ } => Pages::Rc4(Rc4Pages::derive(key)?),
        };
        Some(Self(pages))
    }

    /// The reserved bytes at the end of each page.
    pub fn reserve(&self) -> usize {
        match &self.0 {
            Pages::SqlCipher(pages) => pages.reserve(),
            Pages::ChaCha20(pages) => pages.reserve(),
            Pages::Aegis(pages) => pages.reserve(),
            Pages::WxAes(_, reserve) => *reserve,
            Pages::Rc4(_) => 0,
        }
    }

    /// Whether each page has a MAC: without one, altered bytes decrypt to something else unnoticed.
    pub fn is_authenticated(&self) -> bool {
        match &self.0 {
            Pages::SqlCipher(pages) => pages.is_authenticated(),
            Pages::ChaCha20(pages) => pages.reserve() > 0,
            Pages::Aegis(_) => true,
            Pages::WxAes(..) | Pages::Rc4(_) => false,
        }
    }

    /// Decrypts a page in place. `page_no` counts from 1.
    ///
    /// # Errors
    /// [`Unauthentic`], in formats that authenticate pages. The page is zeros then.
    pub fn decrypt(&self, page_no: u32, page: &mut [u8]) -> Result<(), Unauthentic> {
        // zero-page-is-unwritten
        if self.is_authenticated() && page.iter().all(|&byte| byte == 0) {
            return Ok(());
        }
        let decrypted = match &self.0 {
            Pages::SqlCipher(pages) => pages.decrypt(page_no, page),
            Pages::ChaCha20(pages) => pages.decrypt(page_no, page),
            Pages::Aegis(pages) => pages.decrypt(page_no, page),
            Pages::WxAes(pages, _) => {
                pages.decrypt(page_no, page);
                Ok(())
            }
            Pages::Rc4(pages) => {
                pages.apply(page);
                Ok(())
            }
        };
        if decrypted.is_err() {
            page.fill(0);
        }
        decrypted
    }

    /// Encrypts a page in place. Its last [`Codec::reserve`] bytes are overwritten. `nonce` is
    /// random, as long as the caller's key is in use.
    pub fn encrypt(&self, page_no: u32, page: &mut [u8], nonce: [u8; 32]) {
        let [half, _] = halves(nonce);
        match &self.0 {
            Pages::SqlCipher(pages) => pages.encrypt(page_no, page, half),
            Pages::ChaCha20(pages) => pages.encrypt(page_no, page, half),
            Pages::Aegis(pages) => pages.encrypt(page_no, page, nonce),
            Pages::WxAes(pages, _) => pages.encrypt(page_no, page),
            Pages::Rc4(pages) => pages.apply(page),
        }
    }

    /// Whether the codec decrypts this first page (first-page-decides).
    pub fn opens(&self, first_page: &[u8]) -> bool {
        let mut page = zeroize::Zeroizing::new(first_page.to_vec());
        self.decrypt(1, &mut page).is_ok() && is_first_page(&page, self.reserve())
    }
}

fn halves(nonce: [u8; 32]) -> [[u8; 16]; 2] {
    let mut halves = [[0; 16]; 2];
    for (half, bytes) in halves.iter_mut().zip(nonce.as_chunks::<16>().0) {
        *half = *bytes;
    }
    halves
}
