//! Files that are passed through unchanged: super-journals, which contain only names, and all files
//! of an unencrypted database.

use std::any::Any;
use std::ffi::c_int;
use std::sync::Arc;

use selenite_format::wal::{FRAME_HEADER_SIZE, FrameHeader, HEADER_SIZE};

use crate::commit_counts::CommitMeter;
use crate::database::Database;
use crate::ffi::{Code, Control, File, LockLevel, LowerFile, RawControl, ShmLock, ShmRegion, SyncFlags};
use crate::wal_file::TransactionFrames;

/// An open file of the VFS below.
pub struct ClearFile {
    lower: LowerFile,
    commits: Option<ClearCommits>,
}

/// Counts the commits to the write-ahead log of an unencrypted database.
struct ClearCommits {
    database: Arc<Database>,
    meter: CommitMeter,
    /// The frames of the current transaction, by the offsets of their headers.
    own_frames: TransactionFrames,
    /// The size of a frame in bytes, once one was written.
    frame_size: Option<u64>,
}

impl ClearCommits {
    /// Counts a completed write.
    fn note(&mut self, data: &[u8], offset: u64) {
        if offset == 0 && data.len() == HEADER_SIZE {
            self.own_frames = TransactionFrames::default();
        } else if let Ok(header) = <&[u8; FRAME_HEADER_SIZE]>::try_from(data) {
            self.own_frames
                .note(offset, &FrameHeader::parse(header), self.database.turn());
            if let Some((first, last)) = self.own_frames.take_commit() {
                // A transaction of several frames has already written the page of its first frame.
                let behind = self.frame_size.map_or(0, |size| last.saturating_sub(first) / size);
                self.meter.note(1 + behind);
            }
        } else if data.len().is_power_of_two() {
            self.frame_size = u64::try_from(FRAME_HEADER_SIZE + data.len()).ok();
        }
    }
}

impl ClearFile {
    /// Passes `lower` through.
    #[must_use]
    pub fn new(lower: LowerFile) -> Self {
        Self { lower, commits: None }
    }

    /// Passes a write-ahead log through, and counts its commits.
    #[must_use]
    pub fn of_log(lower: LowerFile, database: Arc<Database>, meter: Option<CommitMeter>) -> Self {
        let commits = meter.map(|meter| ClearCommits {
            database,
            meter,
            own_frames: TransactionFrames::default(),
            frame_size: None,
        });
        Self { lower, commits }
    }
}

impl File for ClearFile {
    fn read(&mut self, out: &mut [u8], offset: u64) -> Result<(), Code> {
        self.lower.read(out, offset)
    }

    fn write(&mut self, data: &[u8], offset: u64) -> Result<(), Code> {
        self.lower.write(data, offset)?;
        if let Some(commits) = &mut self.commits {
            commits.note(data, offset);
        }
        Ok(())
    }

    fn truncate(&mut self, size: u64) -> Result<(), Code> {
        self.lower.truncate(size)
    }

    fn sync(&mut self, flags: SyncFlags) -> Result<(), Code> {
        self.lower.sync(flags)
    }

    fn size(&mut self) -> Result<u64, Code> {
        self.lower.size()
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
        let raw = *control;
        match control.parse() {
            Control::Visit(_) => Err(Code::NOTFOUND),
            Control::Pragma(_)
            | Control::SizeHint
            | Control::ChunkSize
            | Control::MmapSize(_)
            | Control::VfsName(_)
            | Control::CheckpointStart
            | Control::CheckpointDone
            | Control::PowersafeOverwrite(_)
            | Control::Connection(_)
            | Control::Atomic
            | Control::Other => self.lower.control(&raw),
        }
    }

    fn sector_size(&mut self) -> c_int {
        self.lower.sector_size()
    }

    fn device_characteristics(&mut self) -> c_int {
        self.lower.device_characteristics()
    }

    fn shm_map(&mut self, region: c_int, size: c_int, extend: bool) -> Result<Option<ShmRegion>, Code> {
        self.lower.shm_map(region, size, extend)
    }

    fn shm_lock(&mut self, lock: ShmLock) -> Result<(), Code> {
        self.lower.shm_lock(lock)
    }

    fn shm_barrier(&mut self) {
        self.lower.shm_barrier();
    }

    fn shm_unmap(&mut self, delete: bool) -> Result<(), Code> {
        self.lower.shm_unmap(delete)
    }

    fn as_any(&mut self) -> &mut dyn Any {
        self
    }
}
