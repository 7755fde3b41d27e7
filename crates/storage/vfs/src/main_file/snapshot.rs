//! The pages of a read transaction, in their sealed form, for copying.
//!
//! - view-stays: the connection is in a read transaction and does not write. The pages that it sees
//!   do not change: no process overwrites a page of the file that it would read there, or a frame
//!   up to the end that it noted (`read_lock.rs`); on read mark 0 it reads only the file.
//! - last-frame-or-file: the content of a page is its last frame up to that end, or else the page
//!   in the file. Only frames are valid whose header belongs to this log and position.
//! - no-other-descriptor: no other descriptor of these files is opened: closing it would release
//!   the process's locks (fcntl(2)).

use std::sync::Arc;

use selenite_cipher::PageNo;
use selenite_format::{
    Geometry, PageSize, PageSource, SourceError,
    archive::{LogEnd, LogPosition},
};
use selenite_keyring::Unlocked;
use zeroize::Zeroizing;

use super::MainFile;
use crate::{
    error::VfsError,
    ffi::{Code, LockLevel},
    index_header::{BACKFILLED, IndexHeader},
    role::Role,
    view::View,
    wal_file::WalFile,
};

/// The pages that a connection sees in its read transaction.
pub struct Snapshot<'a> {
    main: &'a mut MainFile,
    pub(super) log: Option<Log<'a>>,
    geometry: Geometry,
    page_count: u32,
    pub(super) end: Option<LogEnd>,
}

pub(super) struct Log<'a> {
    pub(super) file: &'a mut WalFile,
    /// Whether the transaction reads the log at all.
    is_seen: bool,
    /// Page and last frame, ascending; determined when the first page is read.
    frames: Option<Vec<(u32, u32)>>,
}

impl<'a> Snapshot<'a> {
    /// The snapshot of the transaction that the connection of `main` is in. `log` is its WAL, if
    /// one is open.
    pub(crate) fn new(main: &'a mut MainFile, log: Option<&'a mut WalFile>) -> Result<Self, VfsError> {
        main.flush()?;
        let Some(view) = main.sealer.view(&main.database) else {
            return Err(VfsError::NotEncrypted("it has no sealed pages"));
        };
        if !main.read_lock.is_held() {
            return Err(VfsError::SettingsMismatch(
                "a copy outside a read transaction, or with locking_mode=exclusive",
            ));
        }
        if main.database.holds_write_lock(&main.database.lock()) {
            return Err(VfsError::SettingsMismatch(
                "a copy by a connection that writes, or with locking_mode=exclusive",
            ));
        }
        let geometry = view.geometry;
        if !main.read_lock.has_shm() {
            if main.database.has_log() || main.read_lock.level() != LockLevel::SHARED {
                return Err(VfsError::SettingsMismatch(
                    "a copy by a connection with locking_mode=exclusive",
                ));
            }
            let page_count = main.page_count_without_log(geometry)?;
            return Ok(Self {
                main,
                log: None,
                geometry,
                page_count,
                end: None,
            });
        }
        let Some((index, looks_in_log)) = main.read_lock.log_end() else {
            return Err(VfsError::SettingsMismatch("a WAL whose index can't be read"));
        };
        let frame_count = index.frame_count();
        let end = LogEnd {
            position: LogPosition {
                salts: index.salts(),
                frames: frame_count,
            },
            checksum: if frame_count > 0 {
                index.frame_checksum()
            } else {
                [0; 8]
            },
        };
        let file = log.ok_or(VfsError::SettingsMismatch("a WAL that is not open"))?;
        let log = Some(Log {
            file,
            is_seen: looks_in_log && frame_count > 0,
            frames: None,
        });
        // A log without any commit does not contain the page count (pagerPagecount() in pager.c).
        let page_count = match index.page_count() {
            0 => main.page_count_without_log(geometry)?,
            count => count,
        };
        Ok(Self {
            page_count,
            main,
            log,
            geometry,
            end: Some(end),
        })
    }

    /// The size of every page.
    #[must_use]
    pub fn page_size(&self) -> PageSize {
        self.geometry.page_size()
    }

    /// The number of pages of the database.
    #[must_use]
    pub fn page_count(&self) -> u32 {
        self.page_count
    }

    /// Whether this is SQLite's lock-byte page, which has no image.
    #[must_use]
    pub fn is_lock_page(&self, page_no: u32) -> bool {
        self.geometry.place(PageNo(page_no)).is_none()
    }

    /// The position in the log at which the transaction began; `None` in rollback mode.
    #[must_use]
    pub fn position(&self) -> Option<LogPosition> {
        self.end.map(|end| end.position)
    }

    /// As [`Snapshot::position`], with the data that distinguishes this log from another of the
    /// same length.
    #[must_use]
    pub fn end(&self) -> Option<LogEnd> {
        self.end
    }

    /// The position after the first `frames` frames of this log, if it can be determined: the
    /// transaction must read the log, and these frames be in it.
    ///
    /// # Errors
    /// `Unauthentic`; errors of the VFS below.
    pub fn place_behind(&mut self, frames: u32) -> Result<Option<LogEnd>, VfsError> {
        let Some(end) = self.end else { return Ok(None) };
        let position = LogPosition { frames, ..end.position };
        let checksum = if frames == 0 {
            [0; 8]
        } else if frames == end.position.frames {
            end.checksum
        } else if frames > end.position.frames {
            return Ok(None);
        } else {
            let view = self.view()?;
            let Some(log) = self.log.as_mut().filter(|log| log.is_seen) else {
                return Ok(None);
            };
            let index = u64::from(frames) - 1;
            let header = log.file.committed_header(index, position.salts, &view)?;
            header.checksum_bytes()
        };
        Ok(Some(LogEnd { position, checksum }))
    }

    /// Whether frames of the log can be read: not if the transaction reads only the file.
    #[must_use]
    pub fn sees_log(&self) -> bool {
        self.log.as_ref().is_some_and(|log| log.is_seen)
    }

    /// Whether the log is unchanged since the transaction began, as far as its index shows: nothing
    /// was committed since, and not all frames of the transaction are copied; after that, other
    /// connections may be waiting for this one to read only the file. This reads only memory.
    #[must_use]
    pub fn is_last(&self) -> bool {
        let Some((index, _)) = self.main.read_lock.log_end() else {
            return false;
        };
        self.main.region.as_ref().is_some_and(|region| {
            let copied = region.word(BACKFILLED);
            let is_held = self.sees_log() && copied.is_none_or(|copied| copied >= index.frame_count());
            IndexHeader::read(region) == Some(index) && !is_held
        })
    }

    /// Superblock and master key, as this connection now knows them.
    ///
    /// # Errors
    /// `NotEncrypted`; the reason why the database is now refused.
    pub fn unlocked(&mut self) -> Result<Unlocked, VfsError> {
        self.main.refresh()?;
        let view = self.main.sealer.view(&self.main.database);
        let view = view.ok_or(VfsError::NotEncrypted("it has no sealed pages"))?;
        Ok(view.unlocked.duplicate())
    }

    /// Reads the sealed images of adjacent pages, from `first` on, into `images`. The image of the
    /// lock-byte page is zeros.
    ///
    /// # Errors
    /// `Unauthentic` if the file ends before a page; errors of the VFS below.
    ///
    /// # Panics
    /// If the size of `images` is not that of whole pages.
    pub fn read(&mut self, first: u32, images: &mut [u8]) -> Result<(), VfsError> {
        self.look_up()?;
        let size = self.geometry.page_size().bytes();
        assert!(images.len().is_multiple_of(size), "room for whole pages");
        let mut page_no = first;
        let mut rest = images;
        while !rest.is_empty() {
            let count = self.run(page_no, rest.len() / size);
            let (run, behind) = rest.split_at_mut(count * size);
            self.read_run(page_no, run)?;
            page_no = page_no.saturating_add(u32::try_from(count).unwrap_or(u32::MAX));
            rest = behind;
        }
        Ok(())
    }

    /// Opens an image that was read, into the page as SQLite uses it.
    ///
    /// # Errors
    /// `Unauthentic`, `UnknownEpoch`, `DeprecatedSuite`: of this page alone.
    pub fn open(&mut self, page_no: u32, image: &[u8], plain: &mut [u8]) -> Result<(), VfsError> {
        let main = &mut *self.main;
        let opened = match main.sealer.open(&main.database, PageNo(page_no), image, plain) {
            Err(VfsError::UnknownEpoch { .. }) => {
                main.database.refresh(&mut main.database.lock())?;
                main.sealer.open(&main.database, PageNo(page_no), image, plain)
            }
            opened => opened,
        };
        match opened {
            Err(VfsError::Unauthentic { page_no, .. }) if self.is_in_log(page_no) => Err(VfsError::Unauthentic {
                role: Role::Wal,
                page_no,
            }),
            opened => opened,
        }
    }

    /// Passes the last image of each page among the log's frames from `from` on to `each`, sealed
    /// and opened, by ascending page number.
    ///
    /// # Errors
    /// Those of `each`, of [`Snapshot::open`] and of the VFS below.
    pub fn log_pages<E: From<VfsError>>(
        &mut self,
        from: u32,
        mut each: impl FnMut(u32, &[u8], &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let view = self.view()?;
        let frames = self.last_frames(from)?;
        let mut image = vec![0; view.page_bytes()];
        let mut plain = Zeroizing::new(vec![0; view.page_bytes()]);
        for (page_no, frame) in frames {
            if page_no > self.page_count {
                continue;
            }
            let Some(log) = &mut self.log else { break };
            log.file.committed_image(u64::from(frame), &mut image, &view)?;
            self.open(page_no, &image, &mut plain)?;
            each(page_no, &image, &plain)?;
        }
        Ok(())
    }

    pub(super) fn view(&mut self) -> Result<Arc<View>, VfsError> {
        let view = self.main.sealer.view(&self.main.database);
        view.ok_or(VfsError::NotEncrypted("it has no sealed pages"))
    }

    /// last-frame-or-file: the last of several frames of one page, by ascending page number.
    fn last_frames(&mut self, from: u32) -> Result<Vec<(u32, u32)>, VfsError> {
        let view = self.view()?;
        let log = self.log.as_mut().filter(|log| log.is_seen);
        let (Some(log), Some(end)) = (log, self.end) else {
            return Ok(Vec::new());
        };
        let LogPosition { salts, frames: count } = end.position;
        let mut frames = Vec::new();
        for frame in from..count {
            let header = log.file.committed_header(u64::from(frame), salts, &view)?;
            frames.push((header.page_no.0, frame));
        }
        keep_last(&mut frames);
        Ok(frames)
    }

    fn look_up(&mut self) -> Result<(), VfsError> {
        if self.log.as_ref().is_some_and(|log| log.is_seen && log.frames.is_none()) {
            let frames = self.last_frames(0)?;
            if let Some(log) = &mut self.log {
                log.frames = Some(frames);
            }
        }
        Ok(())
    }

    /// Whether the transaction reads a page in the log.
    pub fn is_in_log(&mut self, page_no: u32) -> bool {
        self.look_up().is_ok() && self.frame_of(page_no).is_some()
    }

    fn source_error(&self, page_no: u32, error: &VfsError) -> SourceError {
        let what = format!("{}: {error}", self.main.database.path);
        if matches!(error, VfsError::Unauthentic { .. } | VfsError::UnknownEpoch { .. }) {
            return SourceError::Unauthentic { page_no, what };
        }
        SourceError::Read { what }
    }

    /// Reads the image that a page has in the file, if the transaction reads it in the log. Returns whether it does: the
    /// image need not be whole, until a checkpoint has ended.
    ///
    /// # Errors
    /// Those of the VFS below.
    pub fn read_below_log(&mut self, page_no: u32, image: &mut [u8]) -> Result<bool, VfsError> {
        self.look_up()?;
        match (self.frame_of(page_no), self.geometry.place(PageNo(page_no))) {
            (Some(_), Some(place)) => self.read_file(place.0, image).map(|()| true),
            _ => Ok(false),
        }
    }

    fn read_file(&mut self, offset: u64, images: &mut [u8]) -> Result<(), VfsError> {
        let mut inner = self.main.database.lock();
        match inner.lower.read(images, offset) {
            // Missing bytes are zeros, which are not authentic (FORMAT 2.5).
            Err(Code::IOERR_SHORT_READ) => Ok(()),
            read => Ok(read?),
        }
    }

    pub(super) fn frame_of(&self, page_no: u32) -> Option<u32> {
        let frames = self.log.as_ref()?.frames.as_ref()?;
        let at = frames.binary_search_by_key(&page_no, |(known, _)| *known).ok()?;
        Some(frames[at].1)
    }

    /// How many pages from `first` on, `most` at most, are adjacent in the file; 1 for a page of
    /// the log.
    fn run(&self, first: u32, most: usize) -> usize {
        let place = |page_no: u32| match self.frame_of(page_no) {
            Some(_) => None,
            None => self.geometry.place(PageNo(page_no)).map(|place| place.0),
        };
        let Some(begin) = place(first) else { return 1 };
        let size = self.geometry.page_size().as_u64();
        let is_beside = |&(page_no, offset): &(u32, u64)| place(page_no) == Some(begin + offset * size);
        let pages = (first..=u32::MAX).zip(0..).take(most);
        pages.take_while(is_beside).count().max(1)
    }

    fn read_run(&mut self, first: u32, images: &mut [u8]) -> Result<(), VfsError> {
        if let (Some(frame), Some(log)) = (self.frame_of(first), &mut self.log) {
            let view = self.main.sealer.view(&self.main.database);
            let view = view.ok_or(VfsError::NotEncrypted("it has no sealed pages"))?;
            return log.file.committed_image(u64::from(frame), images, &view);
        }
        let Some(place) = self.geometry.place(PageNo(first)) else {
            images.fill(0);
            return Ok(());
        };
        self.read_file(place.0, images)
    }
}

/// last-frame-or-file: keeps the last of several frames of one page, by ascending page number.
fn keep_last(frames: &mut Vec<(u32, u32)>) {
    frames.sort_unstable();
    frames.dedup_by(|later, kept| {
        let is_same = later.0 == kept.0;
        if is_same {
            kept.1 = later.1;
        }
        is_same
    });
}

impl PageSource for Snapshot<'_> {
    fn page_size(&self) -> PageSize {
        Snapshot::page_size(self)
    }

    fn page_count(&self) -> u32 {
        Snapshot::page_count(self)
    }

    fn read(&mut self, first: u32, images: &mut [u8]) -> Result<(), SourceError> {
        Snapshot::read(self, first, images).map_err(|error| self.source_error(first, &error))
    }

    fn open(&mut self, page_no: u32, image: &[u8], plain: &mut [u8]) -> Result<(), SourceError> {
        Snapshot::open(self, page_no, image, plain).map_err(|error| self.source_error(page_no, &error))
    }
}

impl MainFile {
    /// The page count as SQLite determines it: by page 1, or else by the file.
    fn page_count_without_log(&mut self, geometry: Geometry) -> Result<u32, VfsError> {
        let present = {
            let mut inner = self.database.lock();
            geometry.page_count(inner.lower.size()?)
        };
        if present == 0 {
            return Ok(0);
        }
        let mut page = vec![0; geometry.page_size().bytes()];
        let read = self.read_one(PageNo(1), &mut page, geometry);
        let is_valid = page[24..28] == page[92..96];
        let count = u32::from_be_bytes([page[28], page[29], page[30], page[31]]);
        page.fill(0);
        match read {
            Ok(()) => Ok(if is_valid && count > 0 { count } else { present }),
            // A page that is not authentic is reported when it is opened.
            Err(VfsError::Unauthentic { .. }) => Ok(present),
            Err(error) => Err(error),
        }
    }
}
