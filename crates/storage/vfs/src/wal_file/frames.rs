//! Frames in their form on disk, for copying them sealed.

use selenite_format::wal::{self, FRAME_HEADER_SIZE, FrameHeader, HEADER_SIZE, WordOrder};

use super::{WalFile, open_header};
use crate::error::VfsError;
use crate::ffi::Code;
use crate::role::Role;
use crate::view::View;

impl WalFile {
    /// The header of a committed frame of the log with these salts.
    ///
    /// # Errors
    /// `Unauthentic` if it belongs to another log or position.
    pub(crate) fn committed_header(
        &mut self,
        index: u64,
        salts: [u8; 8],
        view: &View,
    ) -> Result<FrameHeader, VfsError> {
        let mut bytes = [0; FRAME_HEADER_SIZE];
        self.lower
            .read(&mut bytes, wal::frame_offset(index, view.geometry.page_size()).0)?;
        check(open_header(index, &bytes, view), salts)
    }

    /// The header of any frame at that position; `None` after the end of the file.
    ///
    /// # Errors
    /// Those of the VFS below.
    pub(crate) fn header_at(&mut self, index: u64, view: &View) -> Result<Option<FrameHeader>, VfsError> {
        let mut bytes = [0; FRAME_HEADER_SIZE];
        let place = wal::frame_offset(index, view.geometry.page_size()).0;
        match self.lower.read(&mut bytes, place) {
            Ok(()) => Ok(Some(open_header(index, &bytes, view))),
            Err(Code::IOERR_SHORT_READ) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// The size that the file gets if SQLite truncates it to `size`: one byte more where a frame of
    /// an older log ends. So a file that ends with a whole frame was not truncated there, and its
    /// end is the end of a log ([`super::super::main_file::Snapshot::pages_since`], `whole-frames`).
    ///
    /// # Errors
    /// Those of the VFS below.
    pub(super) fn truncated_size(&mut self, size: u64) -> Result<u64, VfsError> {
        let Some(view) = self.view()? else { return Ok(size) };
        let page_size = view.geometry.page_size();
        let Some(last) = wal::frame_count(size, page_size).checked_sub(1) else {
            return Ok(size);
        };
        if wal::frame_offset(last + 1, page_size).0 != size || self.lower.size()? <= size {
            return Ok(size);
        }
        let Some(header) = self.header_at(last, &view)? else {
            return Ok(size);
        };
        // Another connection may have restarted the log since its header was read.
        self.header = None;
        Ok(size + u64::from(header.salts() != self.salts()?))
    }

    /// Whether the file ends after exactly `count` frames.
    ///
    /// # Errors
    /// Those of the VFS below.
    pub(crate) fn ends_after(&mut self, count: u32, view: &View) -> Result<bool, VfsError> {
        Ok(self.lower.size()? == wal::frame_offset(u64::from(count), view.geometry.page_size()).0)
    }

    /// The byte order of the words in this log's checksums.
    ///
    /// # Errors
    /// Those of the VFS below; if the file has no valid header.
    pub(crate) fn word_order(&mut self) -> Result<WordOrder, VfsError> {
        let mut log = [0; HEADER_SIZE];
        self.lower.read(&mut log, 0)?;
        let log = wal::Header::parse(&log).map_err(|_| VfsError::SettingsMismatch("the header of the WAL"))?;
        Ok(log.order)
    }

    /// Reads a committed frame's page into `image`, in its sealed form.
    ///
    /// # Errors
    /// Those of the VFS below.
    pub(crate) fn committed_image(&mut self, index: u64, image: &mut [u8], view: &View) -> Result<(), VfsError> {
        let frame = wal::frame_offset(index, view.geometry.page_size()).0;
        let header_size = u64::try_from(FRAME_HEADER_SIZE).unwrap_or(u64::MAX);
        Ok(self.lower.read(image, frame + header_size)?)
    }
}

fn check(header: FrameHeader, salts: [u8; 8]) -> Result<FrameHeader, VfsError> {
    if header.salts() == salts {
        return Ok(header);
    }
    Err(VfsError::Unauthentic {
        role: Role::Wal,
        page_no: header.page_no.0,
    })
}
