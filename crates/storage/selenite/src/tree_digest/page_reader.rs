//! Sources of a database's pages: SQLite, or a file that no process writes.

use rusqlite::Statement;
use selenite_cipher::{PageCipher, PageNo};
use selenite_vfs::view::View;

use super::DigestFault;
use crate::{Database, storage::ReadAt};

/// Reads decrypted pages.
pub trait PageReader {
    /// Fills `out`, which has the size of a page.
    fn read(&mut self, page_no: u32, out: &mut [u8]) -> Result<(), DigestFault>;
}

/// The pages of a snapshot, from the table-valued function `sqlite_dbpage`
/// (sqlite.org/dbpage.html).
pub struct SnapshotPages<'a>(Statement<'a>);

impl<'a> SnapshotPages<'a> {
    /// Those of `database` in its present transaction. Fails if SQLite was built without
    /// `sqlite_dbpage`.
    pub fn new(database: &'a Database) -> Result<Self, DigestFault> {
        let statement = database
            .connection()
            .prepare("SELECT data FROM sqlite_dbpage('main') WHERE pgno = ?1");
        Ok(Self(
            statement.map_err(|error| DigestFault::Read(database.error(error)))?,
        ))
    }
}

impl PageReader for SnapshotPages<'_> {
    fn read(&mut self, page_no: u32, out: &mut [u8]) -> Result<(), DigestFault> {
        let filled = self.0.query_row([page_no], |row| {
            let data = row.get_ref(0)?.as_blob().unwrap_or_default();
            Ok(data.len() == out.len() && {
                out.copy_from_slice(data);
                true
            })
        });
        match filled {
            Ok(true) => Ok(()),
            Ok(false) | Err(_) => Err(DigestFault::Shape(format!("page {page_no} can't be read"))),
        }
    }
}

/// The form of a file's pages.
#[derive(Clone, Copy)]
pub enum Form<'a> {
    /// Unencrypted, of this size in bytes.
    Clear(usize),
    /// Sealed.
    Sealed(&'a View),
}

impl Form<'_> {
    /// The size of a page.
    pub fn page_bytes(&self) -> usize {
        match self {
            Self::Clear(page_bytes) => *page_bytes,
            Self::Sealed(view) => view.page_bytes(),
        }
    }

    fn place(&self, page_no: u32) -> Option<u64> {
        match self {
            Self::Clear(page_bytes) => {
                let size = u64::try_from(*page_bytes).unwrap_or(u64::MAX);
                u64::from(page_no).checked_sub(1)?.checked_mul(size)
            }
            Self::Sealed(view) => view.geometry.place(PageNo(page_no)).map(|place| place.0),
        }
    }
}

/// The pages of a file, with read-ahead when they are read in order. Sealed ones are decrypted
/// page by page.
pub struct FilePages<'a> {
    file: &'a dyn ReadAt,
    form: Form<'a>,
    cipher: Option<PageCipher>,
    window: Vec<u8>,
    first: u32,
    count: u32,
}

impl<'a> FilePages<'a> {
    /// The pages of this file.
    pub fn new(file: &'a dyn ReadAt, form: Form<'a>) -> Self {
        let cipher = match form {
            Form::Clear(_) => None,
            Form::Sealed(view) => Some(PageCipher::new(view.page_keys.clone())),
        };
        Self {
            file,
            form,
            cipher,
            window: vec![0; WINDOW_SIZE.max(form.page_bytes())],
            first: 0,
            count: 0,
        }
    }

    /// Whether the page has a place in the file.
    pub fn has_place(&self, page_no: u32) -> bool {
        self.form.place(page_no).is_some()
    }

    /// Reads the page into the window; returns its offset there.
    fn find(&mut self, page_no: u32) -> Result<usize, DigestFault> {
        let page_bytes = self.form.page_bytes();
        let end = self.first.saturating_add(self.count);
        if !(self.first..end).contains(&page_no) {
            let is_near = (end..end.saturating_add(NEAR_PAGES)).contains(&page_no);
            let wanted = if is_near { self.window.len() / page_bytes } else { 1 };
            self.fill(page_no, u32::try_from(wanted).unwrap_or(1))?;
        }
        Ok(usize::try_from(page_no - self.first).unwrap_or(0) * page_bytes)
    }

    fn fill(&mut self, page_no: u32, wanted: u32) -> Result<(), DigestFault> {
        let page_bytes = self.form.page_bytes();
        let missing = || DigestFault::Shape(format!("page {page_no} is not there"));
        let place = self.form.place(page_no).ok_or_else(missing)?;
        let size = u64::try_from(page_bytes).unwrap_or(u64::MAX);
        // Contiguous pages only (FORMAT 2.3).
        let count = (1..wanted)
            .take_while(|&next| {
                let place_of_next = page_no.checked_add(next).and_then(|next| self.form.place(next));
                place_of_next == Some(place + u64::from(next) * size)
            })
            .count()
            + 1;
        let read = self
            .file
            .read_at(&mut self.window[..count * page_bytes], place)
            .map_err(|error| DigestFault::Shape(format!("page {page_no} can't be read: {error}")))?;
        self.first = page_no;
        self.count = u32::try_from(read / page_bytes).unwrap_or(0);
        if self.count == 0 {
            return Err(missing());
        }
        Ok(())
    }
}

impl PageReader for FilePages<'_> {
    fn read(&mut self, page_no: u32, out: &mut [u8]) -> Result<(), DigestFault> {
        let start = self.find(page_no)?;
        let image = &self.window[start..start + out.len()];
        match &mut self.cipher {
            None => out.copy_from_slice(image),
            Some(cipher) => cipher
                .open(PageNo(page_no), image, out)
                .map_err(|error| DigestFault::Shape(format!("page {page_no}: {error}")))?,
        }
        Ok(())
    }
}

/// 256 KiB: the cost of a call is then small beside that of its data, which fits into the cache.
const WINDOW_SIZE: usize = 256 << 10;
/// Interior pages are between the leaves: a gap of a few pages still counts as in order.
const NEAR_PAGES: u32 = 8;
