//! The header of a SQLite database, on its first page (<https://sqlite.org/fileformat.html>, 1.3).

use crate::key::{Key, SALT_SIZE};

/// The size of the header in bytes.
pub const HEADER_SIZE: usize = 100;
/// The first bytes of every unencrypted database.
pub const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// The end of the bytes that some formats leave unencrypted.
pub const VISIBLE_END: usize = 24;

/// The part of the header that some formats leave unencrypted: bytes 16 to 23.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Visible {
    /// The page size in bytes.
    pub page_size: u32,
    /// The reserved bytes at the end of each page.
    pub reserve: u8,
}

impl Visible {
    /// Parses the bytes from 16 on; `None` if SQLite would not accept them.
    pub fn parse(head: &[u8]) -> Option<Self> {
        let &[_, high, low, write, read, reserve, 64, 32, 32] = head.get(15..24)? else {
            return None;
        };
        let page_size = match u32::from(u16::from_be_bytes([high, low])) {
            1 => 65536,
            size => size,
        };
        let is_valid = page_size.is_power_of_two() && page_size >= 512;
        let has_modes = (1..=2).contains(&write) && (1..=2).contains(&read);
        (is_valid && has_modes).then_some(Self { page_size, reserve })
    }
}

/// What is special about the first page: it begins with the salt, or with bytes of the header that are not encrypted.
pub struct FirstPage {
    salt: [u8; SALT_SIZE],
    /// The first encrypted byte.
    start: usize,
    /// Whether the first bytes are those of the header, not the salt.
    has_plain_header: bool,
}

impl FirstPage {
    /// With the first `plaintext_header` bytes of the header unencrypted, or the salt in their place if there are none.
    /// Encryption begins at `start` at the earliest. `None` if the salt is not in the file and was not given.
    pub fn new(key: &Key, head: &[u8], plaintext_header: u8, start: usize) -> Option<Self> {
        let has_plain_header = plaintext_header > 0;
        if has_plain_header && !key.has_salt() {
            return None;
        }
        Some(Self {
            salt: key.salt(head)?,
            start: usize::from(plaintext_header).max(start),
            has_plain_header,
        })
    }

    /// The salt.
    pub fn salt(&self) -> [u8; SALT_SIZE] {
        self.salt
    }

    /// The first encrypted byte of a page.
    pub fn start(&self, page_no: u32) -> usize {
        if page_no == 1 { self.start } else { 0 }
    }

    /// Puts the magic in the place of the salt, after page `page_no` was decrypted.
    pub fn complete(&self, page_no: u32, page: &mut [u8]) {
        self.put(page_no, page, *MAGIC);
    }

    /// Puts the salt in the place of the magic, after page `page_no` was encrypted.
    pub fn replace_magic(&self, page_no: u32, page: &mut [u8]) {
        self.put(page_no, page, self.salt);
    }

    fn put(&self, page_no: u32, page: &mut [u8], bytes: [u8; 16]) {
        if page_no == 1
            && !self.has_plain_header
            && let Some(first) = page.first_chunk_mut()
        {
            *first = bytes;
        }
    }
}

/// Whether this is the decrypted first page of a database with pages of its size, and at least
/// `reserve` reserved bytes (first-page-decides): SQLCipher keeps more than it needs if its settings
/// were changed after the key was given.
///
/// Formats without a MAC that leave bytes 16 to 23 unencrypted are told by the other fields:
/// schema format, text encoding, and the 20 bytes that must be zero.
pub fn is_first_page(page: &[u8], reserve: usize) -> bool {
    let Some(header) = page.first_chunk::<HEADER_SIZE>() else {
        return false;
    };
    let found = Visible::parse(header);
    let number = |at: usize| {
        header[at..]
            .first_chunk()
            .map_or(u32::MAX, |bytes| u32::from_be_bytes(*bytes))
    };
    header.starts_with(MAGIC)
        && found.is_some_and(|found| {
            usize::try_from(found.page_size) == Ok(page.len()) && usize::from(found.reserve) >= reserve
        })
        && number(SCHEMA_FORMAT) <= 4
        && number(ENCODING) <= 3
        && header[EXPANSION].iter().all(|&byte| byte == 0)
}

const SCHEMA_FORMAT: usize = 44;
const ENCODING: usize = 56;
/// Reserved for expansion: must be zero.
const EXPANSION: std::ops::Range<usize> = 72..92;

#[cfg(test)]
mod tests {
    use super::*;

    fn header(page_size: u16, reserve: u8) -> Vec<u8> {
        let mut page = vec![0; 4096];
        page[..16].copy_from_slice(MAGIC);
        page[16..18].copy_from_slice(&page_size.to_be_bytes());
        page[18..24].copy_from_slice(&[1, 1, reserve, 64, 32, 32]);
        page
    }

    #[test]
    fn a_first_page_has_its_own_size_and_reserve() {
        assert!(is_first_page(&header(4096, 80), 80));
        assert!(is_first_page(&header(4096, 80), 48));
        assert!(!is_first_page(&header(4096, 48), 80));
        assert!(!is_first_page(&header(8192, 80), 80));
        let mut other = header(4096, 80);
        other[21] = 63;
        assert!(!is_first_page(&other, 80));
        for at in [44, 56, 72, 91] {
            let mut other = header(4096, 80);
            other[at] = 9;
            assert!(!is_first_page(&other, 80), "{at}");
        }
    }

    #[test]
    fn a_page_size_of_one_is_65536() {
        assert_eq!(Visible::parse(&header(1, 0)).map(|found| found.page_size), Some(65536));
        assert_eq!(Visible::parse(&header(1000, 0)), None);
        assert_eq!(Visible::parse(&header(4096, 0)[..23]), None);
    }
}
