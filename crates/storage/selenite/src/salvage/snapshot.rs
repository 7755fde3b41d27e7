//! The pages of a damaged database as of its last commit.
//!
//! - authenticated-just-now: a page is returned only if it was authenticated as this page in the
//!   same call, never only read.
//! - newest-committed-image: the newest committed image counts: the log's, or else that of a hot
//!   journal, or else the file's. A log counts up to its first bad frame, as in SQLite, unless a
//!   checkpoint has copied frames after that one: then the file is newer than the log's beginning,
//!   and all authentic frames of the log count.
//! - no-older-substitute: a page whose committed image is known to be bad is not replaced by an
//!   older image. If it is unknown which page a bad frame had, and whether it was copied, every
//!   page without a later image may be older than its last commit; and if it is unknown which page
//!   a bad record of a hot journal had, a page without a record may be newer. Such pages are used,
//!   and reported ([`Snapshot::is_certain`]).
//! - no-locks-no-writes: nothing is written and no lock is taken. Concurrent writes are detected
//!   by comparing [`Mark`]s.
//! - damaged-header-by-first-frame: a log whose header is damaged is read with the salts of its
//!   first frame, which was written after the header. If that is damaged, too, the frames after it
//!   may be of an older log, and only the file counts.
//! - page-count-is-bounded: the number of pages is not authenticated: at most as many are examined
//!   as the file and the logs have.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::time::SystemTime;

use selenite_cipher::{PageCipher, PageNo, TRAILER_SIZE};
use selenite_vfs::view::View;

use crate::{
    EngineError, Watch,
    draft::beside,
    raw_file::RawFile,
    storage::Storage,
    verify::frame::FrameAt,
    verify::{BadPage, journal, wal},
};

/// The pages of a damaged database.
pub struct Snapshot<'a> {
    view: &'a View,
    cipher: PageCipher,
    file: RawFile,
    wal: Option<RawFile>,
    journal: Option<RawFile>,
    /// The pages whose image is in a log, and their locations.
    elsewhere: HashMap<u32, ImageLocation>,
    /// How many pages are examined, and how many there should be.
    page_count: u32,
    promised_count: u32,
    bad_logs: Vec<BadPage>,
    /// `no-older-substitute`: the only pages whose newest image is known; `None` if all are.
    certain: Option<HashSet<u32>>,
    mark: Mark,
    image: Vec<u8>,
}

/// The location of a page's committed image.
#[derive(Clone, Copy)]
enum ImageLocation {
    Wal(u64),
    Journal(u64),
    /// It was in a log, and is bad (no-older-substitute).
    Lost,
}

/// State that changes when a database is written to.
#[derive(Clone, PartialEq, Eq)]
pub struct Mark {
    changed: Option<SystemTime>,
    first_page: Option<[u8; TRAILER_SIZE]>,
    wal: Option<([u8; 32], u64)>,
    journal_records: Option<u64>,
}

impl<'a> Snapshot<'a> {
    /// Locates every page.
    ///
    /// # Errors
    /// [`EngineError::NotEncrypted`] if all pages were truncated; [`EngineError::Io`];
    /// [`EngineError::Busy`] if this process has the database open.
    pub fn load(storage: &dyn Storage, path: &Path, view: &'a View, watch: &Watch) -> Result<Self, EngineError> {
        let file = RawFile::open(storage, path)?;
        let present = view.geometry.page_count(file.size()?);
        let changed = std::fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
        let mut snapshot = Self {
            view,
            cipher: PageCipher::new(view.page_keys.clone()),
            page_count: present,
            file,
            wal: None,
            journal: None,
            elsewhere: HashMap::new(),
            bad_logs: Vec::new(),
            promised_count: 0,
            certain: None,
            mark: Mark {
                changed,
                first_page: None,
                wal: None,
                journal_records: None,
            },
            image: vec![0; view.page_bytes()],
        };
        if snapshot.page_count == 0 && view.unlocked.superblock.pages_exist {
            return Err(EngineError::NotEncrypted {
                path: path.to_owned(),
                what: "all its pages were truncated",
            });
        }
        if snapshot.read_image(PageNo(1)) {
            snapshot.mark.first_page = PageCipher::trailer_of(&snapshot.image).copied();
        }
        let known = snapshot.load_journal(storage, path, watch)?;
        let known = snapshot.load_wal(storage, path, watch)? || known;
        if !known && let Some(count) = snapshot.page(1).as_deref().and_then(header_page_count) {
            snapshot.page_count = count;
        }
        // page-count-is-bounded.
        let images = snapshot
            .elsewhere
            .iter()
            .filter(|(_, place)| !matches!(place, ImageLocation::Lost));
        let in_logs = images.map(|(&page_no, _)| page_no).max().unwrap_or(0);
        snapshot.promised_count = snapshot.page_count;
        snapshot.page_count = snapshot.page_count.min(present.max(in_logs));
        Ok(snapshot)
    }

    /// How many pages are examined.
    pub fn page_count(&self) -> u32 {
        self.page_count
    }

    /// How many pages there should be: those beyond [`Snapshot::page_count`] are missing.
    pub fn promised_count(&self) -> u32 {
        self.promised_count
    }

    /// Whether a page's image, if it has one, is certainly that of its last commit
    /// (no-older-substitute).
    pub fn is_certain(&self, page_no: u32) -> bool {
        self.certain.as_ref().is_none_or(|certain| certain.contains(&page_no))
    }

    /// How many bytes of a page SQLite uses.
    pub fn usable_size(&self) -> usize {
        self.view.page_bytes() - TRAILER_SIZE
    }

    /// The size of a page in bytes.
    pub fn page_size(&self) -> u64 {
        self.view.geometry.page_size().as_u64()
    }

    /// The bad parts of the logs.
    pub fn bad_logs(&self) -> &[BadPage] {
        &self.bad_logs
    }

    /// The state to compare with a later one.
    pub fn mark(&self) -> Mark {
        self.mark.clone()
    }

    /// Whether it is SQLite's lock-byte page, which has no place.
    pub fn is_lock_page(&self, page_no: u32) -> bool {
        self.view.geometry.lock_page().0 == page_no
    }

    /// The decrypted page; `None` if it is missing or not authentic. A page that can't be read
    /// counts as not authentic, as salvage is for failing disks.
    pub fn page(&mut self, page_no: u32) -> Option<Vec<u8>> {
        if page_no == 0 || page_no > self.page_count {
            return None;
        }
        let was_read = match self.elsewhere.get(&page_no).copied() {
            None => self.read_image(PageNo(page_no)),
            Some(ImageLocation::Lost) => false,
            Some(ImageLocation::Wal(offset)) => read(self.wal.as_ref(), &mut self.image, offset),
            Some(ImageLocation::Journal(offset)) => read(self.journal.as_ref(), &mut self.image, offset),
        };
        if !was_read {
            return None;
        }
        let mut plain = vec![0; self.image.len()];
        let opened = self.cipher.open(PageNo(page_no), &self.image, &mut plain);
        opened.is_ok().then_some(plain)
    }

    /// Reads the file's own image of a page.
    fn read_image(&mut self, page_no: PageNo) -> bool {
        match self.view.geometry.place(page_no) {
            Some(place) => read(Some(&self.file), &mut self.image, place.0),
            None => false,
        }
    }

    /// Reads the log. Returns whether it has the number of pages.
    fn load_wal(&mut self, storage: &dyn Storage, path: &Path, watch: &Watch) -> Result<bool, EngineError> {
        let Some(file) = RawFile::open_if_there(storage, &beside(path, "-wal"))? else {
            return Ok(false);
        };
        let reading = wal::read(&file, self.view, watch)?;
        self.wal = Some(file);
        self.mark.wal = Some((reading.header, reading.report.committed_count));
        self.bad_logs.extend(reading.bad);
        if reading.salts.is_none() && reading.frames.is_empty() {
            // damaged-header-by-first-frame.
            return Ok(false);
        }
        let mut page_count = reading.page_counts.0;
        let mut frames: Vec<(FrameAt, bool)> = reading.frames.into_iter().map(|frame| (frame, true)).collect();
        let copied = self.count_copied(&reading.behind);
        let is_all_copied = copied == reading.behind.len();
        if copied > 0 {
            // newest-committed-image, the exception.
            page_count = reading.page_counts.1;
            frames.extend(reading.behind.into_iter().map(|frame| (frame, true)));
            frames.extend(reading.bad_frames.into_iter().map(|frame| (frame, false)));
            frames.sort_unstable_by_key(|(frame, _)| frame.index);
            if let Some(unknown) = reading.last_unknown {
                let behind = frames.partition_point(|(frame, _)| frame.index < unknown);
                if is_all_copied {
                    // The file has the content of these frames, and of the frame whose page is
                    // unknown.
                    frames.drain(..behind);
                } else {
                    self.certain = Some(frames[behind..].iter().map(|(frame, _)| frame.page_no).collect());
                }
            }
        }
        for (frame, is_good) in frames {
            match (is_good, is_all_copied) {
                (true, _) => self.elsewhere.insert(frame.page_no, ImageLocation::Wal(frame.offset)),
                // The file has its content.
                (false, true) => self.elsewhere.remove(&frame.page_no),
                // no-older-substitute.
                (false, false) => self.elsewhere.insert(frame.page_no, ImageLocation::Lost),
            };
        }
        if page_count > 0 {
            self.page_count = page_count;
        }
        Ok(page_count > 0)
    }

    /// How many of these frames are in the file unchanged. If none of the newest frames of their
    /// pages is, the result is 0; else older frames count as copied, too.
    fn count_copied(&mut self, frames: &[FrameAt]) -> usize {
        let newest: HashMap<u32, u64> = frames.iter().map(|frame| (frame.page_no, frame.offset)).collect();
        let mut sealed = vec![0; self.image.len()];
        let mut copied = 0;
        for (&page_no, &offset) in &newest {
            if read(self.wal.as_ref(), &mut sealed, offset) && self.read_image(PageNo(page_no)) && self.image == sealed
            {
                copied += 1;
            }
        }
        if copied == 0 {
            return 0;
        }
        copied + (frames.len() - newest.len())
    }

    /// Reverts the pages that an uncommitted transaction had changed. Returns whether the journal
    /// has the number of pages.
    fn load_journal(&mut self, storage: &dyn Storage, path: &Path, watch: &Watch) -> Result<bool, EngineError> {
        let Some(file) = RawFile::open_if_there(storage, &beside(path, "-journal"))? else {
            return Ok(false);
        };
        let reading = journal::read(&file, self.view, watch)?;
        let Some(page_count) = reading.page_count else {
            self.bad_logs.extend(reading.bad);
            return Ok(false);
        };
        if reading.report.record_count == 0 || journal::is_committed(storage, &file) {
            return Ok(false);
        }
        self.mark.journal_records = Some(reading.report.record_count);
        // The count is not authenticated: it is bounded by the number of pages that exist.
        let most = reading.records.iter().map(|record| record.page_no).max();
        let most = most.unwrap_or(0).max(self.page_count);
        for record in reading.records {
            let place = ImageLocation::Journal(record.offset);
            self.elsewhere.entry(record.page_no).or_insert(place);
        }
        let is_known = |page_no| page_no > 0 && page_no <= page_count && !self.elsewhere.contains_key(&page_no);
        if reading.bad.iter().any(|bad| !is_known(bad.page_no)) {
            // no-older-substitute: some page of the file has an image that was never committed.
            self.certain = Some(self.elsewhere.keys().copied().collect());
        }
        for bad in reading.bad {
            self.elsewhere.entry(bad.page_no).or_insert(ImageLocation::Lost);
            if self.bad_logs.len() < LISTED_MAX {
                self.bad_logs.push(bad);
            }
        }
        self.journal = Some(file);
        self.page_count = page_count.min(most);
        Ok(true)
    }
}

fn read(file: Option<&RawFile>, out: &mut [u8], offset: u64) -> bool {
    file.is_some_and(|file| file.read_at(out, offset).is_ok_and(|count| count == out.len()))
}

/// The page count in SQLite's header, if that is valid (sqlite.org/fileformat.html, 1.3.8).
fn header_page_count(page: &[u8]) -> Option<u32> {
    let field = page[28..32].try_into().ok()?;
    let count = u32::from_be_bytes(field);
    (page[24..28] == page[92..96] && count > 0).then_some(count)
}

/// 1,000: a longer list has no use beyond its count.
pub const LISTED_MAX: usize = 1000;
