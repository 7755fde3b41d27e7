//! The write-ahead log (FORMAT 6).
//!
//! - frame-bound-to-place: a frame is bound to its page number and its position in the log: the
//!   page by its tag, the header block by its tweak. The header of a frame that was moved decrypts
//!   to salts that are not the log's.
//! - header-and-page-together: recovery and `walRewriteChecksums` both read a frame's header and
//!   page at once. An unauthentic frame ends the log in recovery, and is an error in
//!   `walRewriteChecksums`, which would compute a new checksum for it: a read of a frame that this
//!   connection wrote in the current transaction (`TransactionFrames`) is taken for the latter.
//! - missing-key-is-an-error: a key that is not available never ends the log: committed
//!   transactions would be lost (FORMAT 6.4).
//! - no-zero-block-in-commits: no frame of a commit keeps a header block of zeros, not even where
//!   SQLite omits salts and checksums (`sign_forgotten`).
//! - frame-is-written-at-commit: a commit is reported only when all of its frames were written, in
//!   its own xWrite (`writer.rs`). Frames buffered for it count as written for this connection, and
//!   are never written after the write lock was released.

mod frame_buffer;
mod frames;
mod padding;
mod signature;
mod transaction_frames;
mod writer;

use std::any::Any;
use std::ffi::c_int;
use std::sync::Arc;

use selenite_cipher::{PageNo, TRAILER_SIZE};
use selenite_format::FileOffset;
use selenite_format::wal::{self, FRAME_HEADER_SIZE, FrameHeader, HEADER_SIZE, Position};
use zeroize::Zeroize;

use crate::commit_counts::CommitMeter;
use crate::database::{Content, Database};
use crate::device;
use crate::error::VfsError;
use crate::ffi::{Code, Control, File, KeptName, LockLevel, LowerFile, OpenFlags, RawControl, SyncFlags};
use crate::role::Role;
use crate::sealer::Sealer;
use crate::view::View;
use frame_buffer::FrameBuffer;
use transaction_frames::TransactionFrames;

/// An open WAL.
pub struct WalFile {
    database: Arc<Database>,
    lower: LowerFile,
    sealer: Sealer,
    /// The decrypted header: its salts are those of every valid frame.
    header: Option<[u8; HEADER_SIZE]>,
    own_frames: TransactionFrames,
    commits: Option<CommitMeter>,
    /// The size of a frame in bytes in an unencrypted log, once one was written.
    clear_frame_size: Option<u64>,
    /// With what it can be opened again.
    reopen: (KeptName, OpenFlags),
    /// Of [`Database::file_no`].
    file_no: u64,
    buffer: FrameBuffer,
    /// The frame that was written completely when SQLite wrote its first part.
    padding: Option<u64>,
    /// One frame in its form on disk.
    frame: Vec<u8>,
    /// The decrypted page, if SQLite reads a part of it.
    page: Vec<u8>,
}

/// The result of opening a frame.
enum OpenedFrame {
    Page,
    /// The log ends before this frame.
    End,
}

impl WalFile {
    /// A WAL that was just opened.
    ///
    /// # Errors
    /// If the system's random number generator fails.
    pub fn new(
        database: Arc<Database>,
        lower: LowerFile,
        commits: Option<CommitMeter>,
        reopen: (KeptName, OpenFlags),
    ) -> Result<Self, VfsError> {
        let sealer = Sealer::new(Role::Wal)?;
        database.set_log(true);
        Ok(Self {
            file_no: database.file_no(),
            clear_frame_size: None,
            reopen,
            database,
            lower,
            sealer,
            header: None,
            own_frames: TransactionFrames::default(),
            commits,
            buffer: FrameBuffer::default(),
            padding: None,
            frame: Vec::new(),
            page: Vec::new(),
        })
    }

    /// Opens the log of the database that the connection has moved to: the old one may have lost its name.
    fn follow(&mut self) -> Result<(), VfsError> {
        let file_no = self.database.file_no();
        if self.file_no == file_no {
            return Ok(());
        }
        let (name, flags) = &self.reopen;
        let host = &self.database.host;
        let (mut lower, _) = host.lower.open(Some(name.get()), *flags)?;
        lower.set_meter(host.meter(&self.database.settings, &self.database.path, Role::Wal));
        self.lower = lower;
        self.file_no = file_no;
        self.header = None;
        self.own_frames = TransactionFrames::default();
        Ok(())
    }

    fn view(&mut self) -> Result<Option<Arc<View>>, VfsError> {
        self.follow()?;
        let view = self.sealer.view(&self.database);
        if view.is_none() && !matches!(self.database.content(), Content::Plain) {
            return Err(VfsError::SettingsMismatch("a WAL without its database"));
        }
        Ok(view)
    }

    fn try_read(&mut self, out: &mut [u8], offset: u64) -> Result<(), VfsError> {
        let Some(view) = self.view()? else {
            return Ok(self.lower.read(out, offset)?);
        };
        let page_size = view.geometry.page_size();
        self.flush_header(&view)?;
        match wal::position(FileOffset(offset), page_size) {
            Position::Header(within) => self.read_header(out, within),
            Position::Frame { index, within: 0 } if out.len() == FRAME_HEADER_SIZE + page_size.bytes() => {
                self.read_whole_frame(index, out, &view)
            }
            Position::Frame { index, within } if within + out.len() <= FRAME_HEADER_SIZE => {
                self.read_frame_header(index, within, out, &view)
            }
            Position::Frame {
                index,
                within: FRAME_HEADER_SIZE,
            } if out.len() == page_size.bytes() => self.read_frame_page(index, out, &view),
            Position::Frame { index, within }
                if within >= FRAME_HEADER_SIZE && within + out.len() <= FRAME_HEADER_SIZE + page_size.bytes() =>
            {
                let mut page = std::mem::take(&mut self.page);
                page.resize(page_size.bytes(), 0);
                let read = self.read_frame_page(index, &mut page, &view);
                let start = within - FRAME_HEADER_SIZE;
                out.copy_from_slice(&page[start..start + out.len()]);
                page.fill(0);
                self.page = page;
                read
            }
            Position::Frame { .. } => {
                out.fill(0);
                Err(VfsError::SettingsMismatch("a read of the WAL across frames"))
            }
        }
    }

    fn read_header(&mut self, out: &mut [u8], within: usize) -> Result<(), VfsError> {
        out.fill(0);
        let mut disk = [0; HEADER_SIZE];
        self.lower.read(&mut disk, 0)?;
        if wal::header_to_disk(&disk).is_ok() {
            return Err(VfsError::NotEncrypted("its WAL is unencrypted"));
        }
        // An incomplete header is returned unchanged: SQLite then treats the log as empty.
        let header = wal::header_from_disk(&disk).unwrap_or(disk);
        self.header = Some(header);
        let Some(wanted) = header.get(within..within + out.len()) else {
            return Err(VfsError::SettingsMismatch("a read of the WAL across its header"));
        };
        out.copy_from_slice(wanted);
        Ok(())
    }

    /// Loads a frame from the buffer or the file, and decrypts its header's block.
    fn load_frame(&mut self, index: u64, view: &View) -> Result<FrameHeader, VfsError> {
        let page_size = view.geometry.page_size();
        self.frame.resize(FRAME_HEADER_SIZE + page_size.bytes(), 0);
        match self.buffer.frame(index) {
            Some(held) => self.frame.copy_from_slice(held),
            None => self
                .lower
                .read(&mut self.frame, wal::frame_offset(index, page_size).0)?,
        }
        let Some(header) = self.frame.first_chunk() else {
            return Err(Code::IOERR_READ.into());
        };
        Ok(open_header(index, header, view))
    }

    /// A frame's header in its form on disk.
    fn load_header(&mut self, index: u64, view: &View) -> Result<[u8; FRAME_HEADER_SIZE], VfsError> {
        if let Some(bytes) = self.buffer.frame(index).and_then(<[u8]>::first_chunk) {
            return Ok(*bytes);
        }
        let mut bytes = [0; FRAME_HEADER_SIZE];
        self.lower
            .read(&mut bytes, wal::frame_offset(index, view.geometry.page_size()).0)?;
        Ok(bytes)
    }

    fn read_frame_header(&mut self, index: u64, within: usize, out: &mut [u8], view: &View) -> Result<(), VfsError> {
        out.fill(0);
        // This precedes the read of the frame: if ROLLBACK TO truncated the log, the frame may
        // never have been written.
        if within == CHECKSUM_OFFSET
            && let Some(checksum) = self.sign_forgotten(index, view)?
        {
            for (place, word) in out.chunks_mut(4).zip(checksum) {
                place.copy_from_slice(&word.to_be_bytes()[..place.len()]);
            }
            return Ok(());
        }
        let header = open_header(index, &self.load_header(index, view)?, view);
        out.copy_from_slice(&header.encode()[within..within + out.len()]);
        Ok(())
    }

    /// SQLite reads header and page at once to recover a log, and to update the checksums of
    /// rewritten frames (header-and-page-together).
    fn read_whole_frame(&mut self, index: u64, out: &mut [u8], view: &View) -> Result<(), VfsError> {
        out.fill(0);
        let header = self.load_frame(index, view)?;
        let (head, page) = out.split_at_mut(FRAME_HEADER_SIZE);
        let is_own = self.own_frames.has(index, self.database.turn());
        if !self.is_of_log(index, &header)? {
            if is_own {
                return Err(VfsError::Unauthentic {
                    role: Role::Wal,
                    page_no: header.page_no.0,
                });
            }
            // FORMAT 6.4, 1: SQLite reads salts that are not the log's, and ends the log here.
            head.copy_from_slice(&header.encode());
            return Ok(());
        }
        match self.open_recovered(index, header.page_no, page, is_own, view)? {
            OpenedFrame::Page => head.copy_from_slice(&header.encode()),
            OpenedFrame::End => page.fill(0),
        }
        Ok(())
    }

    /// FORMAT 6.4, 2 to 4.
    fn open_recovered(
        &mut self,
        index: u64,
        page_no: PageNo,
        out: &mut [u8],
        is_own: bool,
        view: &View,
    ) -> Result<OpenedFrame, VfsError> {
        let error = match self.open_loaded(page_no, out) {
            Ok(()) => return Ok(OpenedFrame::Page),
            Err(error) => error,
        };
        let is_unknown = matches!(error, VfsError::UnknownEpoch { .. });
        let is_torn = is_unknown || matches!(error, VfsError::Unauthentic { .. });
        if is_own || !is_torn || (is_unknown && self.is_of_newer_database(index, view)?) {
            return Err(error);
        }
        let text = format!("{error}: the log ends there");
        self.database.host.remark(&self.database.path, &text);
        Ok(OpenedFrame::End)
    }

    /// Whether the loaded frame, and the next one, are of a key epoch above the highest in the
    /// superblock: the log was then written when the database was newer than it is now. One such
    /// frame proves nothing: a power failure may have left its trailer in a sector. Neither do two
    /// frames with equal trailers.
    fn is_of_newer_database(&mut self, index: u64, view: &View) -> Result<bool, VfsError> {
        let highest = self
            .sealer
            .view(&self.database)
            .map_or(0, |now| now.page_keys.epoch_max().0);
        let Some(trailer) = self.frame.last_chunk::<TRAILER_SIZE>().copied() else {
            return Ok(false);
        };
        if epoch_of(&trailer) <= highest {
            return Ok(false);
        }
        let Some(next) = self.header_at(index + 1, view)? else {
            return Ok(false);
        };
        if next.salts() != self.salts()? {
            return Ok(false);
        }
        let mut behind = [0; TRAILER_SIZE];
        let end = wal::frame_offset(index + 2, view.geometry.page_size()).0;
        match self.lower.read(&mut behind, end - TRAILER_SIZE_U64) {
            Ok(()) => Ok(epoch_of(&behind) == epoch_of(&trailer) && behind != trailer),
            Err(Code::IOERR_SHORT_READ) => Ok(false),
            Err(code) => Err(code.into()),
        }
    }

    fn read_frame_page(&mut self, index: u64, out: &mut [u8], view: &View) -> Result<(), VfsError> {
        self.open_frame_page(index, out, view).inspect_err(|_| out.fill(0))
    }

    fn open_frame_page(&mut self, index: u64, out: &mut [u8], view: &View) -> Result<(), VfsError> {
        let header = self.load_frame(index, view)?;
        if !self.is_of_log(index, &header)? {
            return Err(VfsError::Unauthentic {
                role: Role::Wal,
                page_no: header.page_no.0,
            });
        }
        self.open_loaded(header.page_no, out)?;
        let passthrough = &self.database.passthrough;
        passthrough.remember(header.page_no, &mut self.frame, FRAME_HEADER_SIZE, out);
        Ok(())
    }

    /// Opens the page of the loaded frame.
    fn open_loaded(&mut self, page_no: PageNo, out: &mut [u8]) -> Result<(), VfsError> {
        let image = &self.frame[FRAME_HEADER_SIZE..];
        match self.sealer.open(&self.database, page_no, image, out) {
            Err(VfsError::UnknownEpoch { .. }) => {
                self.database.refresh(&mut self.database.lock())?;
                self.sealer.open(&self.database, page_no, image, out)
            }
            opened => opened,
        }
    }

    /// Whether a frame's salts are the log's. After SQLite has overwritten a page in place, it
    /// leaves salts and checksums of the frames that follow zero until the commit (`walEncodeFrame`
    /// while `iReCksum` is set).
    fn is_of_log(&mut self, index: u64, header: &FrameHeader) -> Result<bool, VfsError> {
        let is_own = self.own_frames.has(index, self.database.turn());
        if (is_own && header.block == UNSIGNED) || header.salts() == self.salts()? {
            return Ok(true);
        }
        // Another connection may have restarted the log since its header was read.
        self.header = None;
        Ok(header.salts() == self.salts()?)
    }

    fn salts(&mut self) -> Result<[u8; 8], VfsError> {
        let header = match self.header {
            Some(header) => header,
            None => {
                let mut header = [0; HEADER_SIZE];
                self.read_header(&mut header, 0)?;
                header
            }
        };
        let mut salts = [0; 8];
        salts.copy_from_slice(&header[16..24]);
        Ok(salts)
    }

    fn report<T>(&self, result: Result<T, VfsError>) -> Result<T, Code> {
        result.map_err(|error| self.database.report(&error))
    }
}

/// A frame's header with its block decrypted: the salts show whether it is a frame of this log, at
/// this position.
fn open_header(index: u64, bytes: &[u8; FRAME_HEADER_SIZE], view: &View) -> FrameHeader {
    let mut header = FrameHeader::parse(bytes);
    view.log_key
        .open_frame_block(index, header.page_no.0, header.commit_size, &mut header.block);
    header
}

impl File for WalFile {
    fn read(&mut self, out: &mut [u8], offset: u64) -> Result<(), Code> {
        let read = self.try_read(out, offset);
        self.report(read)
    }

    fn write(&mut self, data: &[u8], offset: u64) -> Result<(), Code> {
        let written = self.try_write(data, offset);
        self.report(written)
    }

    fn truncate(&mut self, size: u64) -> Result<(), Code> {
        let followed = self.follow();
        self.report(followed)?;
        let flushed = self.flush_before_truncate(size);
        self.report(flushed)?;
        let size = self.truncated_size(size);
        let size = self.report(size)?;
        self.lower.truncate(size)
    }

    fn sync(&mut self, flags: SyncFlags) -> Result<(), Code> {
        let followed = self.follow();
        self.report(followed)?;
        let flushed = self.flush();
        self.report(flushed)?;
        self.database.host.sync_clock.time(|| self.lower.sync(flags))
    }

    fn size(&mut self) -> Result<u64, Code> {
        let followed = self.follow();
        self.report(followed)?;
        let size = self.lower.size()?;
        let held = self.held_size();
        Ok(size.max(self.report(held)?))
    }

    fn lock(&mut self, level: LockLevel) -> Result<(), Code> {
        self.lower.lock(level.0)
    }

    fn unlock(&mut self, level: LockLevel) -> Result<(), Code> {
        self.lower.unlock(level.0)
    }

    fn check_reserved_lock(&mut self) -> Result<bool, Code> {
        self.lower.check_reserved_lock()
    }

    fn control(&mut self, control: &mut RawControl) -> Result<(), Code> {
        if let Control::Visit(visit) = control.parse() {
            visit.show(self);
            return Ok(());
        }
        device::control_beside_main(&mut self.lower, control)
    }

    fn sector_size(&mut self) -> c_int {
        self.lower.sector_size()
    }

    fn device_characteristics(&mut self) -> c_int {
        let is_plain = matches!(self.database.content(), Content::Plain);
        device::characteristics(self.lower.device_characteristics(), is_plain)
    }

    fn as_any(&mut self) -> &mut dyn Any {
        self
    }
}

impl Drop for WalFile {
    fn drop(&mut self) {
        self.database.set_log(false);
        self.page.zeroize();
    }
}

/// The key epoch that a trailer names (FORMAT 5.1).
fn epoch_of(trailer: &[u8; TRAILER_SIZE]) -> u32 {
    let [a, b, c, d, ..] = *trailer;
    u32::from_be_bytes([a, b, c, d])
}

const TRAILER_SIZE_U64: u64 = 48;
/// The offset of the checksum in a frame's header.
const CHECKSUM_OFFSET: usize = 16;
/// The header block of a frame for which SQLite has not written salts and checksum yet.
const UNSIGNED: [u8; 16] = [0; 16];
