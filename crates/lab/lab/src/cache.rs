//! The system's page cache: set to a state, which is then verified.
//!
//! - residency-is-counted: a request to the kernel proves nothing: `fincore` of util-linux counts
//!   the resident pages.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::fs::{Advice, fadvise};

use crate::database_files;

/// Inspects the system's page cache, and evicts a file or loads it.
#[derive(Clone, Debug)]
pub struct PageCache {
    fincore: PathBuf,
}

/// The part of a database, its WAL and its shared memory that is in the system's page cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Residence {
    /// Resident bytes, in whole pages, so it may exceed `size`.
    pub resident: u64,
    /// Size of the files, in bytes.
    pub size: u64,
}

/// Why a state of the cache could not be reached or verified.
#[derive(Debug)]
#[non_exhaustive]
pub enum CacheError {
    /// The machine: `fincore` is not installed.
    NoFincore,
    /// The machine: `fincore` failed, or its output was not understood.
    Fincore {
        /// Its output.
        said: String,
    },
    /// The machine: pages stay resident.
    NotEvicted {
        /// The database.
        path: PathBuf,
        /// The resident part.
        residence: Residence,
    },
    /// The machine: an I/O error.
    Io {
        /// The verb: `read`, `sync`.
        verb: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

impl Default for PageCache {
    fn default() -> Self {
        Self::with_fincore("fincore")
    }
}

impl PageCache {
    /// Uses another `fincore` than the one on the path.
    #[must_use]
    pub fn with_fincore(fincore: impl Into<PathBuf>) -> Self {
        Self {
            fincore: fincore.into(),
        }
    }

    /// Evicts a database, its WAL and its shared memory from the cache, and verifies it: less than
    /// [`COLD_SHARE_MAX`] is resident. No process may have the database open.
    ///
    /// # Errors
    /// [`CacheError::NotEvicted`] if the file system keeps its pages (tmpfs has no other storage),
    /// or a process has them mapped; all others.
    pub fn evict(&self, database: &Path) -> Result<Residence, CacheError> {
        let mut residence = Residence::default();
        for _ in 0..ATTEMPTS {
            for path in files(database)? {
                evict_once(&path)?;
            }
            residence = self.residence(database)?;
            if residence.share() < COLD_SHARE_MAX {
                return Ok(residence);
            }
        }
        Err(CacheError::NotEvicted {
            path: database.to_owned(),
            residence,
        })
    }

    /// Reads a database and its WAL, so that they are in the cache as far as memory allows.
    ///
    /// # Errors
    /// All but [`CacheError::NotEvicted`].
    pub fn prefetch(&self, database: &Path) -> Result<Residence, CacheError> {
        let mut buffer = vec![0; BUFFER_BYTES];
        for path in files(database)? {
            let mut file = File::open(&path).map_err(io_error("open", &path))?;
            while file.read(&mut buffer).map_err(io_error("read", &path))? > 0 {}
        }
        self.residence(database)
    }

    /// The part of a database, its WAL and its shared memory that is in the cache.
    ///
    /// # Errors
    /// [`CacheError::NoFincore`], [`CacheError::Fincore`], [`CacheError::Io`].
    pub fn residence(&self, database: &Path) -> Result<Residence, CacheError> {
        let output = Command::new(&self.fincore)
            .args(["--raw", "--noheadings", "--bytes", "--output", "RES,SIZE", "--"])
            .args(files(database)?)
            .output();
        let output = output.map_err(|source| {
            if source.kind() == io::ErrorKind::NotFound {
                return CacheError::NoFincore;
            }
            io_error("run", &self.fincore)(source)
        })?;
        let said = String::from_utf8_lossy(&output.stdout);
        let parsed = parse(&said).filter(|_| output.status.success());
        parsed.ok_or_else(|| CacheError::Fincore {
            said: format!("{}{}", String::from_utf8_lossy(&output.stderr), said)
                .trim()
                .to_owned(),
        })
    }
}

impl Residence {
    /// The resident share, from 0 to 1; 0 for an empty file.
    #[must_use]
    pub fn share(&self) -> f64 {
        if self.size == 0 {
            return 0.0;
        }
        (exact(self.resident) / exact(self.size)).min(1.0)
    }
}

/// The files of a database and its companions, or of a server's folder.
fn files(database: &Path) -> Result<Vec<PathBuf>, CacheError> {
    database_files::files(database, &["-wal", "-shm"]).map_err(io_error("list", database))
}

fn evict_once(path: &Path) -> Result<(), CacheError> {
    let file = File::open(path).map_err(io_error("open", path))?;
    // Only clean pages are dropped (posix_fadvise(2)).
    file.sync_all().map_err(io_error("sync", path))?;
    let advised = fadvise(&file, 0, None, Advice::DontNeed);
    advised.map_err(|errno| io_error("evict", path)(errno.into()))
}

/// Sums lines of `RESIDENT SIZE`.
fn parse(text: &str) -> Option<Residence> {
    let mut sum = Residence::default();
    let mut lines = 0;
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let mut numbers = line.split_whitespace().map(str::parse::<u64>);
        let (Some(Ok(resident)), Some(Ok(size)), None) = (numbers.next(), numbers.next(), numbers.next()) else {
            return None;
        };
        sum.resident = sum.resident.checked_add(resident)?;
        sum.size = sum.size.checked_add(size)?;
        lines += 1;
    }
    (lines > 0).then_some(sum)
}

#[expect(clippy::cast_precision_loss, reason = "a share needs no more than 52 bits")]
fn exact(number: u64) -> f64 {
    number as f64
}

fn io_error(verb: &'static str, path: &Path) -> impl FnOnce(io::Error) -> CacheError {
    let path = path.to_owned();
    move |source| CacheError::Io { verb, path, source }
}

impl CacheError {
    /// Advice on what to do next.
    #[must_use]
    pub fn advice(&self) -> &'static str {
        match self {
            Self::NoFincore => "install util-linux (Debian and Ubuntu: util-linux-extra in newer releases)",
            Self::Fincore { .. } => "use fincore of util-linux 2.38 or newer",
            Self::NotEvicted { .. } => {
                "put the study on a disk's file system (not tmpfs or overlay), and let nothing else read its databases"
            }
            Self::Io { .. } => "check the path and its permissions",
        }
    }
}

impl fmt::Display for CacheError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoFincore => write!(f, "fincore is missing, so a cold cache cannot be proved"),
            Self::Fincore { said } => write!(f, "fincore could not say what is in the page cache: {said}"),
            Self::NotEvicted { path, residence } => write!(
                f,
                "{}: {:.1} % of it stays in the page cache ({} of {} bytes)",
                path.display(),
                residence.share() * 100.0,
                residence.resident,
                residence.size
            ),
            Self::Io { verb, path, source } => write!(f, "{}: {verb}: {source}", path.display()),
        }
    }
}

impl std::error::Error for CacheError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            Self::NoFincore | Self::Fincore { .. } | Self::NotEvicted { .. } => None,
        }
    }
}

/// 1 %: read-ahead of the header of a small file exceeds it; such files are not suitable for cold measurements.
pub const COLD_SHARE_MAX: f64 = 0.01;
/// Pages that were under write-back at the first advice are clean at the second.
const ATTEMPTS: u32 = 3;
/// 1 MiB: larger reads are not faster.
const BUFFER_BYTES: usize = 1 << 20;

#[cfg(test)]
mod tests;
