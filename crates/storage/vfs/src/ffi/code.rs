//! A SQLite result code that is not `SQLITE_OK`.

use std::ffi::c_int;
use std::num::NonZeroI32;

/// An error code of SQLite: a primary or extended result code (sqlite.org/rescode.html).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Code(NonZeroI32);

#[expect(missing_docs, reason = "named as at sqlite.org/rescode.html")]
impl Code {
    pub const ERROR: Self = Self::known(1);
    pub const PERM: Self = Self::known(3);
    pub const BUSY: Self = Self::known(5);
    pub const BUSY_RECOVERY: Self = Self::known(5 | (1 << 8));
    pub const NOMEM: Self = Self::known(7);
    pub const READONLY: Self = Self::known(8);
    pub const IOERR: Self = Self::known(10);
    pub const CORRUPT: Self = Self::known(11);
    pub const NOTFOUND: Self = Self::known(12);
    pub const FULL: Self = Self::known(13);
    pub const CANTOPEN: Self = Self::known(14);
    pub const CONSTRAINT: Self = Self::known(19);
    pub const MISMATCH: Self = Self::known(20);
    pub const MISUSE: Self = Self::known(21);
    pub const AUTH: Self = Self::known(23);
    pub const AUTH_USER: Self = Self::known(23 | (1 << 8));
    pub const NOTADB: Self = Self::known(26);
    pub const IOERR_READ: Self = Self::known(10 | (1 << 8));
    pub const IOERR_SHORT_READ: Self = Self::known(10 | (2 << 8));
    pub const IOERR_WRITE: Self = Self::known(10 | (3 << 8));
    pub const IOERR_FSYNC: Self = Self::known(10 | (4 << 8));
    pub const IOERR_TRUNCATE: Self = Self::known(10 | (6 << 8));
    pub const IOERR_DELETE_NOENT: Self = Self::known(10 | (23 << 8));
    pub const IOERR_SHMMAP: Self = Self::known(10 | (21 << 8));
    pub const IOERR_AUTH: Self = Self::known(10 | (28 << 8));
    pub const IOERR_VNODE: Self = Self::known(10 | (27 << 8));
    pub const IOERR_DATA: Self = Self::known(10 | (32 << 8));
    pub const IOERR_BADKEY: Self = Self::known(10 | (35 << 8));
    pub const IOERR_CODEC: Self = Self::known(10 | (36 << 8));

    const fn known(code: c_int) -> Self {
        match NonZeroI32::new(code) {
            Some(code) => Self(code),
            None => panic!("SQLITE_OK is not an error"),
        }
    }

    /// The numeric result code.
    #[must_use]
    pub fn as_raw(self) -> c_int {
        self.0.get()
    }

    /// Converts the result of a call into SQLite or the VFS below.
    ///
    /// # Errors
    /// Every code except `SQLITE_OK`.
    pub fn check(raw: c_int) -> Result<(), Self> {
        NonZeroI32::new(raw).map_or(Ok(()), |code| Err(Self(code)))
    }

    /// Converts a result into SQLite's code.
    #[must_use]
    pub fn raw_of(result: Result<(), Self>) -> c_int {
        result.map_or_else(Self::as_raw, |()| 0)
    }
}

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SQLite result code {}", self.0)
    }
}

impl std::error::Error for Code {}
