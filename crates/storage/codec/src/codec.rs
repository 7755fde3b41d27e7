//! A codec: the format and the keys of one database.

use selenite_cipher::Unauthentic;

use crate::aegis_pages::AegisPages;
use crate::ascon_pages::AsconPages;
use crate::chacha20_pages::ChaCha20Pages;
use crate::header::{Visible, is_first_page};
use crate::rc4_pages::Rc4Pages;
use crate::sqlcipher::SqlCipher;
use crate::wx_aes::WxAes;
use crate::{Format, Key};

/// Decrypts and encrypts the pages of one database.
pub struct Codec(PageCodec);

enum PageCodec {
    SqlCipher(Box<SqlCipher>),
    ChaCha20(ChaCha20Pages),
    Aegis(AegisPages),
    Ascon(AsconPages),
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
            Format::SqlCipher(format) => PageCodec::SqlCipher(Box::new(SqlCipher::derive(format, key, head)?)),
            &Format::ChaCha20 {
                kdf_iterations,
                is_legacy,
                plaintext_header,
                page_size: _,
            } => PageCodec::ChaCha20(ChaCha20Pages::derive(
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
            } => PageCodec::Aegis(AegisPages::derive(
                variant,
                (t_cost, m_cost, p_cost),
                plaintext_header,
                key,
                head,
            )?),
            &Format::Ascon {
                kdf_iterations,
                plaintext_header,
            } => PageCodec::Ascon(AsconPages::derive(kdf_iterations, plaintext_header, key, head)?),
            &Format::WxAes {
                is_256,
                kdf_iterations,
                is_legacy,
                page_size: _,
            } => {
                let reserve = Visible::parse(head).filter(|_| !is_legacy);
                let reserve = reserve.map_or(0, |visible| usize::from(visible.reserve));
                PageCodec::WxAes(WxAes::derive(is_256, kdf_iterations, is_legacy, key)?, reserve)
            }
            Format::Rc4 { page_size: _ } => PageCodec::Rc4(Rc4Pages::derive(key)?),
        };
        Some(Self(pages))
    }

    /// The reserved bytes at the end of each page.
    pub fn reserve(&self) -> usize {
        match &self.0 {
            PageCodec::SqlCipher(pages) => pages.reserve(),
            PageCodec::ChaCha20(pages) => pages.reserve(),
            PageCodec::Aegis(pages) => pages.reserve(),
            PageCodec::Ascon(pages) => pages.reserve(),
            PageCodec::WxAes(_, reserve) => *reserve,
            PageCodec::Rc4(_) => 0,
        }
    }

    /// Whether each page has a MAC: without one, altered bytes decrypt to something else unnoticed.
    pub fn is_authenticated(&self) -> bool {
        match &self.0 {
            PageCodec::SqlCipher(pages) => pages.is_authenticated(),
            PageCodec::ChaCha20(pages) => pages.reserve() > 0,
            PageCodec::Aegis(_) => true,
            PageCodec::Ascon(pages) => pages.reserve() > 0,
            PageCodec::WxAes(..) | PageCodec::Rc4(_) => false,
        }
    }

    /// Decrypts a page in place. `page_no` counts from 1.
    ///
    /// # Errors
    /// [`Unauthentic`], in formats that authenticate pages. The page is zeros then.
    pub fn decrypt(&self, page_no: u32, page: &mut [u8]) -> Result<(), Unauthentic> {
        let decrypted = match &self.0 {
            PageCodec::SqlCipher(pages) => pages.decrypt(page_no, page),
            PageCodec::ChaCha20(pages) => pages.decrypt(page_no, page),
            PageCodec::Aegis(pages) => pages.decrypt(page_no, page),
            PageCodec::Ascon(pages) => pages.decrypt(page_no, page),
            PageCodec::WxAes(pages, _) => {
                pages.decrypt(page_no, page);
                Ok(())
            }
            PageCodec::Rc4(pages) => {
                pages.apply(page);
                Ok(())
            }
        };
        if decrypted.is_err() {
            page.fill(0);
        }
        decrypted
    }

    /// Encrypts a page of at least 512 bytes in place. Its last [`Codec::reserve`] bytes are
    /// overwritten. `nonce` is random.
    pub fn encrypt(&self, page_no: u32, page: &mut [u8], nonce: [u8; 32]) {
        let mut half = [0; 16];
        half.copy_from_slice(&nonce[..16]);
        match &self.0 {
            PageCodec::SqlCipher(pages) => pages.encrypt(page_no, page, half),
            PageCodec::ChaCha20(pages) => pages.encrypt(page_no, page, half),
            PageCodec::Aegis(pages) => pages.encrypt(page_no, page, nonce),
            PageCodec::Ascon(pages) => pages.encrypt(page_no, page, half),
            PageCodec::WxAes(pages, _) => pages.encrypt(page_no, page),
            PageCodec::Rc4(pages) => pages.apply(page),
        }
    }

    /// Whether the codec decrypts this first page (first-page-decides).
    pub fn opens(&self, first_page: &[u8]) -> bool {
        let mut page = zeroize::Zeroizing::new(first_page.to_vec());
        self.decrypt(1, &mut page).is_ok() && is_first_page(&page, self.reserve())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::header::MAGIC;
    use crate::{Found, find};

    /// A first page as SQLite writes it, with room for the reserved bytes.
    fn first_page(page_size: u16, reserve: u8) -> Vec<u8> {
        let mut page: Vec<u8> = (0..page_size)
            .map(|index| u8::try_from(index % 251).unwrap_or(0))
            .collect();
        page[..100].fill(0);
        page[..16].copy_from_slice(MAGIC);
        page[16..18].copy_from_slice(&page_size.to_be_bytes());
        page[18..24].copy_from_slice(&[1, 1, reserve, 64, 32, 32]);
        page[44..48].copy_from_slice(&4_u32.to_be_bytes());
        page[56..60].copy_from_slice(&1_u32.to_be_bytes());
        page
    }

    /// Every format with the fewest iterations, and its reserved bytes.
    fn formats() -> Vec<(Format, u8)> {
        let reserves = [32, 64, 48, 32, 80, 0, 0, 80, 48, 48, 16, 32, 0, 0, 0];
        let mut formats: Vec<_> = Format::all().into_iter().zip(reserves).collect();
        for (format, _) in &mut formats {
            for (setting, value) in [("kdf_iter", "2"), ("tcost", "1"), ("mcost", "8")] {
                let _ = format.set(setting, value);
            }
        }
        formats
    }

    fn codec_of(format: &Format, page: &[u8]) -> Codec {
        Codec::derive(format, &Key::passphrase(b"correct horse"), page).expect("a format that takes passphrases")
    }

    #[test]
    fn a_page_is_decrypted_as_it_was_encrypted() {
        for (format, reserve) in formats() {
            for page_size in [512, 1024, 4096, 32768] {
                let clear = first_page(page_size, reserve);
                let codec = codec_of(&format, &clear);
                assert_eq!(codec.reserve(), usize::from(reserve), "{format}");
                let used = clear.len() - codec.reserve();
                for page_no in [1, 2, 65_537, u32::MAX] {
                    let mut page = clear.clone();
                    codec.encrypt(page_no, &mut page, [9; 32]);
                    assert!(page[24..used] != clear[24..used], "{format}");
                    codec.decrypt(page_no, &mut page).unwrap();
                    assert!(
                        page[..used] == clear[..used],
                        "{format}, page {page_no} of {page_size} bytes"
                    );
                }
            }
        }
    }

    #[test]
    fn a_page_with_another_bit_or_number_is_zeros_where_there_is_a_mac() {
        for (format, reserve) in formats() {
            let clear = first_page(1024, reserve);
            let codec = codec_of(&format, &clear);
            if !codec.is_authenticated() {
                continue;
            }
            let mut encrypted = clear.clone();
            codec.encrypt(2, &mut encrypted, [9; 32]);
            let mut moved = encrypted.clone();
            assert!(codec.decrypt(3, &mut moved).is_err(), "{format}");
            assert!(moved.iter().all(|&byte| byte == 0));
            // SQLCipher's last bytes are padding, which nothing covers.
            let padding = if matches!(&format, Format::SqlCipher(own) if own.hmac == Some(crate::Hash::Sha1)) {
                12
            } else {
                0
            };
            for at in 0..encrypted.len() - padding {
                let mut page = encrypted.clone();
                page[at] ^= 0x10;
                assert!(codec.decrypt(2, &mut page).is_err(), "{format}: {at}");
                assert!(page.iter().all(|&byte| byte == 0));
            }
            // A lost block of the disk.
            assert!(codec.decrypt(2, &mut [0; 1024]).is_err(), "{format}");
        }
    }

    /// Their key stream depends on the plaintext: nothing could be decrypted, and nothing may stay in the clear.
    #[test]
    fn aegis_without_reserved_bytes_has_no_codec() {
        let aegis = Format::parse("aegis").unwrap();
        for reserve in [0, 32, 63] {
            let page = first_page(1024, reserve);
            assert!(
                Codec::derive(&aegis, &Key::passphrase(b"x"), &page).is_none(),
                "{reserve}"
            );
        }
    }

    #[test]
    fn every_format_is_found_by_its_first_page_and_by_no_other_key() {
        let formats: Vec<_> = formats().into_iter().map(|(format, _)| format).collect();
        for (format, reserve) in self::formats() {
            let mut file = first_page(1024, reserve);
            codec_of(&format, &file).encrypt(1, &mut file, [9; 32]);
            file.extend_from_slice(&[7; 70_000]);
            let go_on = &mut |_: &Format| std::ops::ControlFlow::Continue(());
            let Found {
                format: found,
                page_size,
                ..
            } = find(&formats, &Key::passphrase(b"correct horse"), &file, go_on).expect("one of them");
            let mut expected = format.clone();
            expected.set_page_size(1024);
            assert_eq!((found, page_size), (expected, 1024));
            assert!(
                find(&formats, &Key::passphrase(b"incorrect"), &file, go_on).is_none(),
                "{format}"
            );
            let stop = &mut |_: &Format| std::ops::ControlFlow::Break(());
            assert!(find(&formats, &Key::passphrase(b"correct horse"), &file, stop).is_none());
        }
    }

    proptest! {
        #[test]
        fn nothing_panics_at_any_head_or_page(
            head in proptest::collection::vec(any::<u8>(), 0..200),
            page in proptest::collection::vec(any::<u8>(), 0..700),
            page_no in any::<u32>(),
            is_visible in any::<bool>(),
        ) {
            let mut head = head;
            if is_visible && head.len() >= 24 {
                head[16..24].copy_from_slice(&[2, 0, 1, 1, 80, 64, 32, 32]);
            }
            for (format, _) in formats() {
                if let Some(codec) = Codec::derive(&format, &Key::passphrase(b"x"), &head) {
                    let mut decrypted = page.clone();
                    let _ = codec.decrypt(page_no, &mut decrypted);
                    let _ = codec.opens(&page);
                }
            }
        }
    }
}
