//! The pages that a reader of the database would get: from the journal, the log, or the file.

use selenite_cipher::{PageCipher, PageNo};
use selenite_vfs::view::View;

use super::pages::Opener;
use super::schema::Pages;
use super::{Subject, journal, wal};

/// Decrypts them one by one.
pub(super) struct Effective<'a> {
    subject: &'a Subject<'a>,
    view: &'a View,
    wal: Option<&'a wal::LogFrames>,
    journal: Option<&'a journal::JournalRecords>,
    opener: Opener<'a>,
    cipher: PageCipher,
    count: u32,
}

impl<'a> Effective<'a> {
    pub(super) fn new(
        subject: &'a Subject<'a>,
        view: &'a View,
        (wal, journal): (Option<&'a wal::LogFrames>, Option<&'a journal::JournalRecords>),
        file_count: u32,
    ) -> Self {
        let in_log = wal
            .and_then(|wal| wal.frames.last_key_value())
            .map_or(0, |(&page, _)| page);
        Self {
            subject,
            view,
            wal,
            journal,
            opener: Opener::new(subject.file, view),
            cipher: PageCipher::new(view.page_keys.clone()),
            count: file_count.max(in_log),
        }
    }

    /// SQLite's change counter (sqlite.org/fileformat.html, 1.3.7), if page 1 opens.
    pub(super) fn change_counter(&mut self) -> Option<u32> {
        let mut page = Vec::new();
        Pages::read(self, 1, &mut page).then_some(())?;
        let counter = page.get(24..28)?.first_chunk().map(|bytes| u32::from_be_bytes(*bytes));
        page.fill(0);
        counter
    }

    /// Decrypts an image in the journal or log. `None` if they have none.
    fn image(&mut self, page_no: u32, out: &mut Vec<u8>) -> Option<bool> {
        let page_bytes = self.view.page_bytes();
        let (file, place) = if let Some((found, record)) = self
            .journal
            .and_then(|found| Some((found, found.records.get(&page_no)?)))
        {
            (&found.file, record.offset)
        } else {
            let found = self.wal?;
            let frame = found.frames.get(&page_no)?;
            (&found.file, frame.offset)
        };
        let mut image = vec![0; page_bytes];
        let is_read = file.read_at(&mut image, place).is_ok_and(|count| count == page_bytes);
        out.resize(page_bytes, 0);
        Some(is_read && self.cipher.open(PageNo(page_no), &image, out).is_ok())
    }
}

impl Pages for Effective<'_> {
    fn read(&mut self, page_no: u32, out: &mut Vec<u8>) -> bool {
        if let Some(opens) = self.image(page_no, out) {
            return opens;
        }
        match self.opener.page(PageNo(page_no)) {
            Ok(Some(opened)) => {
                out.clear();
                out.extend_from_slice(opened.plain);
                true
            }
            Ok(None) | Err(_) => false,
        }
    }

    fn count(&self) -> u32 {
        self.count
    }

    fn lock_page(&self) -> u32 {
        self.view.geometry.lock_page().0
    }

    fn is_interrupted(&self) -> bool {
        self.subject.watch.is_interrupted()
    }
}
