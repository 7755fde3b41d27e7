//! A call that reached the disk, for tests of the I/O pattern.

use selenite_vfs::role::Role;

/// The kind of a call.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Call {
    /// xOpen.
    Open,
    /// xRead.
    Read,
    /// xWrite.
    Write,
    /// xTruncate.
    Truncate,
    /// xSync.
    Sync,
    /// xFileSize.
    Size,
    /// xLock.
    Lock,
    /// xShmLock.
    ShmLock,
    /// xShmMap.
    ShmMap,
    /// xDelete.
    Delete,
    /// `SQLITE_FCNTL_SIZE_HINT` or `SQLITE_FCNTL_CHUNK_SIZE`.
    SizeHint,
    /// `SQLITE_FCNTL_MMAP_SIZE` with any value other than 0.
    Mmap,
}

/// One call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CallRecord {
    /// The kind of the call.
    pub call: Call,
    /// The role of the file.
    pub role: Role,
    /// The offset in the file; 0 for calls without one.
    pub offset: u64,
    /// The number of bytes; 0 for calls without one.
    pub size: usize,
}
