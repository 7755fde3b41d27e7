//! Adds the salts and checksums that SQLite omits from frames until it commits, and those that it
//! never writes (no-zero-block-in-commits). Adding them to a frame is called signing it.

use selenite_format::wal::{self, FrameHeader, HEADER_SIZE};

use super::{UNSIGNED, WalFile};
use crate::error::VfsError;
use crate::view::View;

impl WalFile {
    /// Signs the frames of the current commit that SQLite would leave without salts and checksums,
    /// and returns the checksum with which SQLite has to continue.
    ///
    /// After a page was overwritten in place, SQLite signs all frames from that one on (`iReCksum`)
    /// when it commits, and begins by reading the checksum of the frame before, `index`. Up to 3.40
    /// at least, ROLLBACK TO leaves `iReCksum` unchanged, though the log was truncated before it
    /// (`sqlite3WalSavepointUndo`): the frames that follow then stay unsigned, and recovery would
    /// end the log before a committed transaction.
    pub(super) fn sign_forgotten(&mut self, index: u64, view: &View) -> Result<Option<[u32; 2]>, VfsError> {
        let Some((first, commit)) = self.own_frames.unsigned(self.database.turn()) else {
            return Ok(None);
        };
        let mut log = [0; HEADER_SIZE];
        self.lower.read(&mut log, 0)?;
        let log = wal::Header::parse(&log).map_err(|_| VfsError::SettingsMismatch("the header of the WAL"))?;
        let mut checksum = match first.checked_sub(1) {
            Some(before) => self.load_frame(before, view)?.checksum(),
            None => log.checksum,
        };
        let mut page = std::mem::take(&mut self.page);
        page.resize(view.page_bytes(), 0);
        let mut signed = false;
        let mut result = Ok(());
        for frame in first..=index.min(commit) {
            let header = match self.load_frame(frame, view) {
                Ok(header) if header.block != UNSIGNED && !signed => {
                    checksum = header.checksum();
                    continue;
                }
                loaded => loaded,
            };
            signed = true;
            let done = header.and_then(|header| self.sign(frame, header, (&log, checksum), &mut page, view));
            match done {
                Ok(next) => checksum = next,
                Err(error) => {
                    result = Err(error);
                    break;
                }
            }
        }
        page.fill(0);
        self.page = page;
        result.map(|()| signed.then_some(checksum))
    }

    /// Signs the loaded frame as `walEncodeFrame` would, continuing from the checksum `before`, and
    /// returns its checksum.
    fn sign(
        &mut self,
        index: u64,
        mut header: FrameHeader,
        (log, before): (&wal::Header, [u32; 2]),
        page: &mut [u8],
        view: &View,
    ) -> Result<[u32; 2], VfsError> {
        self.open_loaded(header.page_no, page)?;
        let checksum = wal::checksum(log.order, before, &header.encode()[..8]);
        let checksum = wal::checksum(log.order, checksum, page);
        header.sign(log.salts, checksum);
        view.log_key
            .seal_frame_block(index, header.page_no.0, header.commit_size, &mut header.block);
        self.lower
            .write(&header.encode(), wal::frame_offset(index, view.geometry.page_size()).0)?;
        Ok(checksum)
    }
}
