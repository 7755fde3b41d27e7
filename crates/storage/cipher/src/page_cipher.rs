//! Seals and opens the pages of one file.

use std::sync::Arc;

use crate::{PageNo, PageNonce, TRAILER_SIZE, Trailer};

use crate::{PageError, PageKeys, key_cache::KeyCache};

/// Seals and opens pages, and caches the page keys of recently used sessions.
pub struct PageCipher {
    keys: Arc<PageKeys>,
    cache: KeyCache,
}

impl PageCipher {
    /// A cipher with keys of one generation.
    pub fn new(keys: Arc<PageKeys>) -> Self {
        Self {
            keys,
            cache: KeyCache::new(),
        }
    }

    /// The keys in use.
    pub fn keys(&self) -> &Arc<PageKeys> {
        &self.keys
    }

    /// Switches to the keys of another generation.
    ///
    /// All cached page keys are discarded, although most would remain valid: a database that was
    /// restored from an older copy may use the number of an epoch a second time, for another key.
    pub fn replace_keys(&mut self, keys: Arc<PageKeys>) {
        self.keys = keys;
        self.cache.clear();
    }

    /// Seals `plain`, a page as SQLite has it, into `out`. Both have the size of a page.
    ///
    /// The caller's duty is that of [`PageNonce`]. `out` is not touched if this fails.
    ///
    /// # Errors
    /// [`PageError::SettingsMismatch`] if SQLite should not write such a page here: a wrong size,
    /// content in the last 48 bytes, a page 1 whose header disagrees with the settings, or suite
    /// NONE where it is not allowed. [`PageError::DeprecatedSuite`] if the suite is deprecated and
    /// not allowed. [`PageError::NotApproved`] if the build does not seal in the suite.
    pub fn seal(&mut self, page_no: PageNo, nonce: PageNonce, plain: &[u8], out: &mut [u8]) -> Result<(), PageError> {
        let body = self.checked_body(page_no, plain)?;
        let (sealed, trailer) = match out.split_last_chunk_mut::<TRAILER_SIZE>() {
            Some((sealed, trailer)) if sealed.len() == body.len() => (sealed, trailer),
            Some(_) | None => return Err(PageError::SettingsMismatch),
        };
        let data_key = self.keys.key_to_seal(page_no)?;
        self.cache
            .key(data_key, nonce.session)
            .seal(page_no, &nonce, body, sealed, trailer);
        Ok(())
    }

    /// Opens `image`, a sealed page, into `out`: a page as SQLite has it, its last 48 bytes zero.
    /// Both have the size of a page. `out` is zero if this fails.
    ///
    /// # Errors
    /// [`PageError::Unauthentic`] if the image was not sealed as this page, or is in suite NONE
    /// where that is not allowed. [`PageError::UnknownEpoch`] if its epoch is not listed.
    /// [`PageError::DeprecatedSuite`] if the suite is deprecated and not allowed.
    /// [`PageError::NotApproved`] if the build does not open the suite.
    /// [`PageError::SettingsMismatch`] if a buffer has another size.
    pub fn open(&mut self, page_no: PageNo, image: &[u8], out: &mut [u8]) -> Result<(), PageError> {
        self.open_or_leave_partial(page_no, image, out)
            .inspect_err(|_| out.fill(0))
    }

    /// Opens a sealed page in place. The result is a page as SQLite has it, its last 48 bytes zero,
    /// or all zero on failure. `scratch` has the size of a page; its content afterwards is
    /// unspecified.
    ///
    /// # Errors
    /// As [`PageCipher::open`].
    pub fn open_in_place(&mut self, page_no: PageNo, page: &mut [u8], scratch: &mut [u8]) -> Result<(), PageError> {
        self.open_here_or_leave_partial(page_no, page, scratch)
            .inspect_err(|_| page.fill(0))
    }

    fn open_here_or_leave_partial(
        &mut self,
        page_no: PageNo,
        page: &mut [u8],
        scratch: &mut [u8],
    ) -> Result<(), PageError> {
        let body_size = self.keys.body_size();
        let (body, trailer) = page
            .split_last_chunk_mut::<TRAILER_SIZE>()
            .ok_or(PageError::SettingsMismatch)?;
        if body.len() != body_size || scratch.len() < body_size {
            return Err(PageError::SettingsMismatch);
        }
        let fields = Trailer::parse(trailer);
        let data_key = self.keys.key_to_open(page_no, fields.epoch)?;
        let page_key = self.cache.key(data_key, fields.nonce.session);
        page_key.open_in_place(page_no, body, trailer, &mut scratch[..body_size])?;
        trailer.fill(0);
        Ok(())
    }

    /// The trailer of a sealed page; `None` if `image` is shorter than one.
    pub fn trailer_of(image: &[u8]) -> Option<&[u8; TRAILER_SIZE]> {
        image.last_chunk()
    }

    fn open_or_leave_partial(&mut self, page_no: PageNo, image: &[u8], out: &mut [u8]) -> Result<(), PageError> {
        let body_size = self.keys.body_size();
        let (Some((sealed, trailer)), Some((body, reserve))) = (
            image.split_last_chunk::<TRAILER_SIZE>(),
            out.split_last_chunk_mut::<TRAILER_SIZE>(),
        ) else {
            return Err(PageError::SettingsMismatch);
        };
        if sealed.len() != body_size || body.len() != body_size {
            return Err(PageError::SettingsMismatch);
        }
        let fields = Trailer::parse(trailer);
        let data_key = self.keys.key_to_open(page_no, fields.epoch)?;
        let page_key = self.cache.key(data_key, fields.nonce.session);
        page_key.open(page_no, sealed, trailer, body)?;
        reserve.fill(0);
        Ok(())
    }

    /// All of a page but its last 48 bytes, if it is a page that may be sealed (FORMAT 5.1).
    fn checked_body<'a>(&self, page_no: PageNo, plain: &'a [u8]) -> Result<&'a [u8], PageError> {
        let page_size = self.keys.page_size();
        match plain.split_last_chunk::<TRAILER_SIZE>() {
            Some((body, reserve))
                if plain.len() == page_size
                    && *reserve == [0; TRAILER_SIZE]
                    && (page_no != PageNo(1) || header_is_good(body, page_size) || is_zero(body)) =>
            {
                Ok(body)
            }
            Some(_) | None => Err(PageError::SettingsMismatch),
        }
    }
}

/// Whether a page is the zeros that fill a gap: SQLite may spill other pages of a new database before page 1.
fn is_zero(body: &[u8]) -> bool {
    body.iter().all(|&byte| byte == 0)
}

/// Whether the header in page 1 states the actual page size and reserved bytes
/// (sqlite.org/fileformat2.html, section 1.3: offsets 16 and 20).
fn header_is_good(body: &[u8], page_size: usize) -> bool {
    // 65536 does not fit into two bytes and is encoded as 1.
    let size_field = u16::try_from(page_size).unwrap_or(1).to_be_bytes();
    body[16..18] == size_field && usize::from(body[20]) == TRAILER_SIZE
}
