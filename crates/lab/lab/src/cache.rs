//! The system's page cache: brought into a state, and the state proved.
//!
//! - residency-is-counted: what was asked of the kernel proves nothing: `fincore` of util-linux
//!   counts what is resident.

use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::fs::{Advice, fadvise};

/// Looks at the system's page cache, and empties or fills it for a file.
#[derive(Clone, Debug)]
pub struct PageCache {
    fincore: PathBuf,
}

/// How much of a database, its WAL and its shared memory is in the system's page cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Residence {
    /// Bytes that are resident; whole pages, so it may be more than there are.
    pub resident: u64,
    /// Bytes of the files.
    pub size: u64,
}

/// Why a state of the cache could not be had or proved.
#[derive(Debug)]
#[non_exhaustive]
pub enum CacheError {
    /// The machine: `fincore` is missing.
    NoFincore,
    /// The machine: `fincore` failed, or said what we don't understand.
    Fincore {
        /// Its words.
        said: String,
    },
    /// The machine: pages stay resident.
    NotEvicted {
        /// The database.
        path: PathBuf,
        /// What stayed.
        residence: Residence,
    },
    /// The machine.
    Io {
        /// The verb: `read`, `sync`.
        verb: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl Default for PageCache {
    fn default() -> Self {
        Self::with_fincore("fincore")
    }
}

impl PageCache {
    /// Proves with another `fincore` than the one on the path.
    #[must_use]
    pub fn with_fincore(fincore: impl Into<PathBuf>) -> Self {
        Self {
            fincore: fincore.into(),
        }
    }

    /// Puts a database, its WAL and its shared memory out of the cache, and proves it: less than [`COLD_SHARE_MAX`] is
    /// resident. No one may have it open.
    ///
    /// # Errors
    /// [`CacheError::NotEvicted`] where the file system keeps its pages (tmpfs has no others), or someone has them
    /// mapped; all others.
    pub fn evict(&self, database: &Path) -> Result<Residence, CacheError> {
        let mut residence = Residence::default();
        for _ in 0..ATTEMPTS {
            for path in files(database) {
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

    /// Reads a database and its WAL through, so that they are in the cache as far as there is memory.
    ///
    /// # Errors
    /// All but [`CacheError::NotEvicted`].
    pub fn prefetch(&self, database: &Path) -> Result<Residence, CacheError> {
        let mut buffer = vec![0; BUFFER_BYTES];
        for path in files(database) {
            let mut file = File::open(&path).map_err(io_error("open", &path))?;
            while file.read(&mut buffer).map_err(io_error("read", &path))? > 0 {}
        }
        self.residence(database)
    }

    /// How much of a database, its WAL and its shared memory is in the cache.
    ///
    /// # Errors
    /// [`CacheError::NoFincore`], [`CacheError::Fincore`], [`CacheError::Io`].
    pub fn residence(&self, database: &Path) -> Result<Residence, CacheError> {
        let output = Command::new(&self.fincore)
            .args(["--raw", "--noheadings", "--bytes", "--output", "RES,SIZE", "--"])
            .args(files(database))
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
    /// The resident share, from 0 to 1; 0 of an empty file.
    #[must_use]
    pub fn share(&self) -> f64 {
        if self.size == 0 {
            return 0.0;
        }
        (exact(self.resident) / exact(self.size)).min(1.0)
    }
}

/// The database and those of its companions that are there.
fn files(database: &Path) -> Vec<PathBuf> {
    let companions = ["-wal", "-shm"].map(|suffix| {
        let mut path = OsString::from(database);
        path.push(suffix);
        PathBuf::from(path)
    });
    let there = companions.into_iter().filter(|path| path.exists());
    std::iter::once(database.to_owned()).chain(there).collect()
}

fn evict_once(path: &Path) -> Result<(), CacheError> {
    let file = File::open(path).map_err(io_error("open", path))?;
    // Only clean pages are dropped (posix_fadvise(2)).
    file.sync_all().map_err(io_error("sync", path))?;
    let advised = fadvise(&file, 0, None, Advice::DontNeed);
    advised.map_err(|errno| io_error("evict", path)(errno.into()))
}

/// Adds up lines of `RESIDENT SIZE`.
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
    /// What to do next.
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

/// 1 %: what read-ahead of the header costs in a small file is above it, and such files measure nothing cold.
pub const COLD_SHARE_MAX: f64 = 0.01;
/// Pages under write-back when the first advice came are clean at the second.
const ATTEMPTS: u32 = 3;
/// 1 MiB: larger reads are no faster.
const BUFFER_BYTES: usize = 1 << 20;

#[cfg(test)]
mod tests;
