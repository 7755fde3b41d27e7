//! How a database is opened: as the worker opens SQLite itself, and with URIs.

use rusqlite::OpenFlags;

/// For a database that is there.
pub const OPEN: OpenFlags = OpenFlags::SQLITE_OPEN_READ_WRITE
    .union(OpenFlags::SQLITE_OPEN_NO_MUTEX)
    .union(OpenFlags::SQLITE_OPEN_URI);

/// For a new one.
pub const CREATE: OpenFlags = OPEN.union(OpenFlags::SQLITE_OPEN_CREATE);
