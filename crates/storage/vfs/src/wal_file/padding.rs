//! Frames that SQLite splits, where overwriting is not powersafe (sqlite.org/psow.html).
//!
//! In this case a write may damage a whole sector. So SQLite repeats the commit frame up to the end
//! of the sector, so that the next transaction begins in another, and syncs at the sector's end, in
//! the middle of the last repetition (`walWriteToLog` in wal.c): that frame is written in two
//! parts, with a sync between them. A page can only be sealed as a whole. But the content of the
//! second part is known in advance: so the whole frame is written with the first part, and the
//! second is only compared.

use selenite_cipher::PageNo;
use selenite_format::wal::{self, FRAME_HEADER_SIZE, FrameHeader, HEADER_SIZE};
use zeroize::Zeroizing;

use super::WalFile;
use crate::error::VfsError;
use crate::view::View;

impl WalFile {
    /// Whether a write is a part of a frame, or of one that was written with its first part.
    pub(super) fn is_padding(&self, index: u64, within: usize, size: usize, view: &View) -> bool {
        let is_header = within == 0 && size == FRAME_HEADER_SIZE;
        let is_page = within == FRAME_HEADER_SIZE && size == view.page_bytes();
        !is_header && (!is_page || self.padding == Some(index))
    }

    /// Handles a part of a frame that repeats the commit frame before it.
    pub(super) fn write_padding(
        &mut self,
        index: u64,
        within: usize,
        data: &[u8],
        view: &View,
    ) -> Result<(), VfsError> {
        let mut page = std::mem::take(&mut self.page);
        page.resize(view.page_bytes(), 0);
        let written = self.repeat(index, (within, data), &mut page, view);
        page.fill(0);
        self.page = page;
        written
    }

    fn repeat(
        &mut self,
        index: u64,
        (within, data): (usize, &[u8]),
        page: &mut [u8],
        view: &View,
    ) -> Result<(), VfsError> {
        let no_padding = || VfsError::SettingsMismatch("a write to the WAL that is not a header or a whole page");
        let before = index.checked_sub(1).ok_or_else(no_padding)?;
        let mut header = self.load_frame(before, view)?;
        if header.commit_size == 0 {
            return Err(no_padding());
        }
        self.open_loaded(header.page_no, page)?;
        let mut log = [0; HEADER_SIZE];
        self.lower.read(&mut log, 0)?;
        let log = wal::Header::parse(&log).map_err(|_| VfsError::SettingsMismatch("the header of the WAL"))?;
        let checksum = wal::checksum(log.order, header.checksum(), &header.encode()[..8]);
        header.sign(log.salts, wal::checksum(log.order, checksum, page));
        let frame = Zeroizing::new([&header.encode()[..], page].concat());
        if frame.get(within..within + data.len()) != Some(data) {
            return Err(no_padding());
        }
        if self.padding == Some(index) {
            return Ok(());
        }
        self.write_repeated(index, header, page, view)
    }

    fn write_repeated(
        &mut self,
        index: u64,
        mut header: FrameHeader,
        page: &[u8],
        view: &View,
    ) -> Result<(), VfsError> {
        // The header is pending if SQLite has written it as a whole.
        if self.buffer.take_header_of(index).is_none() && self.own_frames.note(index, &header, self.database.turn()) {
            self.sealer.begin();
        }
        let PageNo(page_no) = header.page_no;
        view.log_key
            .seal_frame_block(index, page_no, header.commit_size, &mut header.block);
        let (head, image) = self.frame.split_at_mut(FRAME_HEADER_SIZE);
        head.copy_from_slice(&header.encode());
        self.sealer.seal(&self.database, PageNo(page_no), page, image)?;
        self.lower
            .write(&self.frame, wal::frame_offset(index, view.geometry.page_size()).0)?;
        self.database.host.log_counters.note_write(1);
        self.buffer.set_written(index);
        self.padding = Some(index);
        Ok(())
    }
}
