//! A call that reached the disk, for tests that assert the shape of the I/O.

use selenite_vfs::role::Role;

/// What was asked for.
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
    /// `SQLITE_FCNTL_MMAP_SIZE` with anything but 0.
    Mmap,
}

/// One call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CallRecord {
    /// What was asked for.
    pub call: Call,
    /// Of which file.
    pub role: Role,
    /// Where; of other calls 0.
    pub offset: u64,
    /// How much; of other calls 0.
    pub size: usize,
}
