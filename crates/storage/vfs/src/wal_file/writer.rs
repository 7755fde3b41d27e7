//! SQLite's writes to the log: buffered up to the commit frame, and then written together with it
//! (frame-is-written-at-commit).
//!
//! The order of SQLite's writes is in wal.c. `walFrames` appends frames, each as a header and then
//! a page; pages that this transaction has appended before are overwritten in place, without a
//! header; the last frame of a commit is always appended. `walRewriteChecksums` then reads frames
//! and writes only headers, without a write or a sync after the last: so nothing is buffered after
//! a commit frame was written, until the next transaction.

use selenite_cipher::PageNo;
use selenite_format::FileOffset;
use selenite_format::wal::{self, FRAME_HEADER_SIZE, FrameHeader, HEADER_SIZE, Position};

use super::WalFile;
use super::frame_buffer::Header;
use super::transaction_frames::TransactionFrames;
use crate::error::VfsError;
use crate::ffi::Code;
use crate::view::View;

impl WalFile {
    pub(super) fn try_write(&mut self, data: &[u8], offset: u64) -> Result<(), VfsError> {
        let Some(view) = self.view()? else {
            self.lower.write(data, offset)?;
            self.note_clear_write(data, offset);
            return Ok(());
        };
        let page_size = view.geometry.page_size();
        self.renew(&view);
        let position = wal::position(FileOffset(offset), page_size);
        if let Position::Frame { index, within } = position
            && self.is_padding(index, within, data.len(), &view)
        {
            return self.write_padding(index, within, data, &view);
        }
        match position {
            Position::Header(0) if data.len() == HEADER_SIZE => self.write_header(data, page_size.as_u32()),
            Position::Frame { index, within: 0 } if data.len() == FRAME_HEADER_SIZE => {
                self.flush_header(&view)?;
                self.write_frame_header(index, data, &view)
            }
            Position::Frame {
                index,
                within: FRAME_HEADER_SIZE,
            } if data.len() == page_size.bytes() => match self.buffer.take_header_of(index) {
                Some(header) => self.append(&header, data, &view),
                None => {
                    self.flush_header(&view)?;
                    self.write_over(index, data, &view)
                }
            },
            Position::Header(_) | Position::Frame { .. } => Err(VfsError::SettingsMismatch(
                "a write to the WAL that is not a header or a whole page",
            )),
        }
    }

    /// Counts commits of an unencrypted database.
    fn note_clear_write(&mut self, data: &[u8], offset: u64) {
        let Some(commits) = &mut self.commits else { return };
        if offset == 0 && data.len() == HEADER_SIZE {
            self.own_frames = TransactionFrames::default();
        } else if let Ok(header) = <&[u8; FRAME_HEADER_SIZE]>::try_from(data) {
            let header = FrameHeader::parse(header);
            self.own_frames.note(offset, &header, self.database.turn());
            if let Some((first, last)) = self.own_frames.take_commit() {
                // A transaction of several frames has already written the page of its first frame. Frames are told by
                // the offsets of their headers here.
                let behind = self
                    .clear_frame_size
                    .map_or(0, |size| last.saturating_sub(first) / size);
                commits.note(1 + behind);
            }
        } else if data.len().is_power_of_two() {
            self.clear_frame_size = u64::try_from(FRAME_HEADER_SIZE + data.len()).ok();
        }
    }

    /// The header of a new log: buffered frames belonged to the previous one.
    fn write_header(&mut self, data: &[u8], page_size: u32) -> Result<(), VfsError> {
        let header: [u8; HEADER_SIZE] = data.try_into().map_err(|_| Code::IOERR_WRITE)?;
        let disk = wal::header_to_disk(&header).map_err(|_| VfsError::SettingsMismatch("the header of the WAL"))?;
        if header[8..12] != page_size.to_be_bytes() {
            return Err(VfsError::SettingsMismatch("the page size of the WAL"));
        }
        self.padding = None;
        self.header = None;
        self.buffer.discard();
        self.own_frames = TransactionFrames::default();
        self.lower.write(&disk, 0)?;
        self.header = Some(header);
        Ok(())
    }

    fn write_frame_header(&mut self, index: u64, data: &[u8], view: &View) -> Result<(), VfsError> {
        let bytes: &[u8; FRAME_HEADER_SIZE] = data.try_into().map_err(|_| Code::IOERR_WRITE)?;
        let mut header = FrameHeader::parse(bytes);
        self.padding = None;
        if self.own_frames.note(index, &header, self.database.turn()) {
            self.sealer.begin();
        }
        if let (Some(commits), Some((first, last))) = (&mut self.commits, self.own_frames.take_commit()) {
            commits.note(last - first + 1);
        }
        view.log_key
            .seal_frame_block(index, header.page_no.0, header.commit_size, &mut header.block);
        let header = Header {
            index,
            bytes: header.encode(),
            is_commit: header.commit_size != 0,
        };
        if self.buffer.is_written(index) {
            return self.write_alone(&header, view);
        }
        self.buffer.hold(header);
        Ok(())
    }

    /// Adds a frame, whose header was written first; a commit frame is written, with all buffered
    /// ones.
    fn append(&mut self, header: &Header, data: &[u8], view: &View) -> Result<(), VfsError> {
        if !self.buffer.has_room(header.index) {
            self.write_held(view)?;
        }
        let page_no = FrameHeader::parse(&header.bytes).page_no;
        let (head, image) = self.buffer.room(header.index).split_at_mut(FRAME_HEADER_SIZE);
        self.sealer.seal(&self.database, page_no, data, image)?;
        head.copy_from_slice(&header.bytes);
        self.buffer.add();
        if !header.is_commit {
            return Ok(());
        }
        if let Err(error) = self.write_held(view) {
            // SQLite rolls back the transaction, or drops only this frame and writes it again
            // (no-whole-transaction-stays in `frame_buffer.rs`).
            self.buffer.remove_last();
            return Err(error);
        }
        self.buffer.set_written(header.index);
        Ok(())
    }

    /// Handles a page without a header: it belongs to a frame whose header is already written, and
    /// a cache spill overwrites the page.
    fn write_over(&mut self, index: u64, data: &[u8], view: &View) -> Result<(), VfsError> {
        if let Some(frame) = self.buffer.frame_mut(index)
            && let Some((head, image)) = frame.split_first_chunk_mut()
        {
            let page_no = FrameHeader::parse(head).page_no;
            return self.sealer.seal(&self.database, page_no, data, image);
        }
        let PageNo(page_no) = FrameHeader::parse(&self.load_header(index, view)?).page_no;
        self.frame.resize(FRAME_HEADER_SIZE + view.page_bytes(), 0);
        let image = &mut self.frame[FRAME_HEADER_SIZE..];
        self.sealer.seal(&self.database, PageNo(page_no), data, image)?;
        let offset = wal::frame_offset(index, view.geometry.page_size()).0 + FRAME_HEADER_SIZE_U64;
        self.lower.write(image, offset)?;
        self.database.host.log_counters.note_write(1);
        Ok(())
    }

    /// Writes a header without a page at its position.
    pub(super) fn write_alone(&mut self, header: &Header, view: &View) -> Result<(), VfsError> {
        if header.is_commit {
            self.write_held(view)?;
            self.buffer.set_written(header.index);
        }
        if let Some(frame) = self.buffer.frame_mut(header.index) {
            frame[..FRAME_HEADER_SIZE].copy_from_slice(&header.bytes);
            return Ok(());
        }
        let offset = wal::frame_offset(header.index, view.geometry.page_size());
        Ok(self.lower.write(&header.bytes, offset.0)?)
    }

    /// Writes all buffered frames at once. After an error they remain buffered.
    fn write_held(&mut self, view: &View) -> Result<(), VfsError> {
        let Some((first, bytes)) = self.buffer.held() else {
            return Ok(());
        };
        self.lower
            .write(bytes, wal::frame_offset(first, view.geometry.page_size()).0)?;
        self.database.host.log_counters.note_write(self.buffer.count());
        self.buffer.clear();
        Ok(())
    }

    /// Drops what was written before this turn.
    fn renew(&mut self, view: &View) {
        let frame_size = FRAME_HEADER_SIZE + view.page_bytes();
        self.buffer.renew(self.database.turn(), frame_size);
    }

    /// Writes a header whose page was not the next write.
    pub(super) fn flush_header(&mut self, view: &View) -> Result<(), VfsError> {
        self.renew(view);
        match self.buffer.take_header() {
            Some(header) => self.write_alone(&header, view),
            None => Ok(()),
        }
    }

    /// Writes everything that is buffered: for SQLite it counts as written.
    pub(super) fn flush(&mut self) -> Result<(), VfsError> {
        let Some(view) = self.view()? else {
            return Ok(());
        };
        self.flush_header(&view)?;
        self.write_held(&view)
    }

    /// Writes the buffered frames below `size`, and drops the rest.
    pub(super) fn flush_before_truncate(&mut self, size: u64) -> Result<(), VfsError> {
        if size == 0 {
            self.buffer.discard();
            return Ok(());
        }
        self.flush()
    }

    /// The offset of the end of the last buffered frame; 0 if there is none.
    pub(super) fn held_size(&mut self) -> Result<u64, VfsError> {
        let Some(view) = self.view()? else {
            return Ok(0);
        };
        self.flush_header(&view)?;
        let page_size = view.geometry.page_size();
        Ok(match self.buffer.held() {
            Some((first, bytes)) => {
                wal::frame_offset(first, page_size).0 + u64::try_from(bytes.len()).map_err(|_| Code::IOERR)?
            }
            None => 0,
        })
    }
}

const FRAME_HEADER_SIZE_U64: u64 = 24;
