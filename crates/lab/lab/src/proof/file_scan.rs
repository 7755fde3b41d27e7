//! Evidence in a file that is visible without a key.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use memchr::memmem::Finder;

use super::entropy::{BLOCK_BYTES, Entropy};
use super::{MARKER_BYTES_MIN, ProofError};

/// The scan of a database file, its WAL and its journal.
#[derive(Clone, Debug, PartialEq)]
pub struct FileScan {
    /// The database.
    pub path: PathBuf,
    /// The text that was searched for.
    pub marker: String,
    /// The file and the offset of its first occurrence.
    pub marker_at: Option<(PathBuf, u64)>,
    /// The number of searched bytes.
    pub bytes: u64,
    /// Whether the file begins with SQLite's header string.
    pub has_header: bool,
    /// The entropy of the database.
    pub entropy: Entropy,
}

impl FileScan {
    /// Scans a database that no process is writing.
    ///
    /// # Errors
    /// [`ProofError::ShortMarker`], [`ProofError::Io`].
    pub fn at(database: &Path, marker: &str) -> Result<Self, ProofError> {
        check_marker(marker)?;
        let finder = Finder::new(marker.as_bytes());
        let mut marker_at = None;
        let mut bytes = 0;
        for path in files(database) {
            let file = File::open(&path).map_err(ProofError::io(&path))?;
            let (offset, searched) = search(&finder, file).map_err(ProofError::io(&path))?;
            bytes += searched;
            marker_at = marker_at.or(offset.map(|offset| (path, offset)));
        }
        let file = File::open(database).map_err(ProofError::io(database))?;
        let mut header = [0; HEADER.len()];
        let has_header = file.read_exact_at(&mut header, 0).is_ok() && header == *HEADER;
        Ok(Self {
            path: database.to_owned(),
            marker: marker.to_owned(),
            marker_at,
            bytes,
            has_header,
            entropy: sample(&file, false).map_err(ProofError::io(database))?,
        })
    }

    /// The result of the search as text.
    pub(super) fn place_of_marker(&self) -> String {
        match &self.marker_at {
            Some((path, offset)) if *path == self.path => format!("at byte {offset}"),
            Some((path, offset)) => format!("at byte {offset} of {}", path.display()),
            None => "not found".to_owned(),
        }
    }
}

/// The database and its existing companion files.
fn files(database: &Path) -> Vec<PathBuf> {
    let companions = ["-wal", "-journal"].map(|suffix| {
        let mut path = OsString::from(database);
        path.push(suffix);
        PathBuf::from(path)
    });
    let there = companions.into_iter().filter(|path| path.exists());
    std::iter::once(database.to_owned()).chain(there).collect()
}

/// Refuses a marker that may occur by chance.
pub(super) fn check_marker(marker: &str) -> Result<(), ProofError> {
    match marker.len() < MARKER_BYTES_MIN {
        true => Err(ProofError::ShortMarker {
            marker: marker.to_owned(),
        }),
        false => Ok(()),
    }
}

/// The offset of the first occurrence, and the number of bytes searched until then.
pub(super) fn search(finder: &Finder<'_>, mut file: impl Read) -> std::io::Result<(Option<u64>, u64)> {
    let overlap = finder.needle().len() - 1;
    let mut buffer = vec![0; BUFFER_BYTES.max(overlap * 2)];
    // The part of the buffer that is the end of the previous one.
    let mut kept = 0;
    let mut searched: u64 = 0;
    loop {
        let count = match file.read(&mut buffer[kept..]) {
            Ok(0) => return Ok((None, searched)),
            Ok(count) => count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let filled = kept + count;
        let first = searched - kept as u64;
        searched += count as u64;
        if let Some(at) = finder.find(&buffer[..filled]) {
            return Ok((Some(first + at as u64), searched));
        }
        kept = overlap.min(filled);
        buffer.copy_within(filled - kept..filled, 0);
    }
}

/// Reads blocks that are evenly distributed after the [`CLEAR_BYTES`]. In a file whose size is set
/// before it is filled, blocks of zeros were never written.
pub(super) fn sample(file: &File, omits_zeros: bool) -> std::io::Result<Entropy> {
    let size = file.metadata()?.len();
    let begin = if size > CLEAR_BYTES { CLEAR_BYTES } else { 0 };
    let whole = (size - begin) / BLOCK_BYTES as u64;
    let taken = whole.min(BLOCKS_MAX);
    let mut entropy = Entropy::default();
    let mut block = [0; BLOCK_BYTES];
    for index in 0..taken {
        let at = begin + index * whole / taken * BLOCK_BYTES as u64;
        file.read_exact_at(&mut block, at)?;
        if !omits_zeros || block != [0; BLOCK_BYTES] {
            entropy.take(at, &block);
        }
    }
    entropy.finish();
    Ok(entropy)
}

const HEADER: &[u8; 16] = b"SQLite format 3\0";
/// 1 MiB: larger reads are not faster.
const BUFFER_BYTES: usize = 1 << 20;
/// The unencrypted start of an encrypted database has at most this size: Selenite's prefix, with
/// its superblocks (FORMAT 2.1).
pub(super) const CLEAR_BYTES: u64 = 64 << 10;
/// 8 MiB in total: enough to find one block in a thousand, in negligible time.
const BLOCKS_MAX: u64 = 2048;

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns one byte per read, so that every occurrence is split.
    struct Drip<'a>(&'a [u8]);

    impl Read for Drip<'_> {
        fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
            let count = self.0.len().min(out.len()).min(1);
            out[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    #[test]
    fn a_marker_is_found_wherever_reads_split_it() {
        let finder = Finder::new("Wibble");
        assert_eq!(search(&finder, Drip(b"..WiWibble..")).unwrap(), (Some(4), 10));
        assert_eq!(search(&finder, Drip(b"..WiWibbl")).unwrap(), (None, 9));
        assert_eq!(search(&finder, Drip(b"")).unwrap(), (None, 0));
    }

    #[test]
    fn a_marker_across_buffers_is_found() {
        let finder = Finder::new("Wibble");
        for shift in 0..8 {
            let mut bytes = vec![b'.'; BUFFER_BYTES * 2];
            let at = BUFFER_BYTES - 7 + shift;
            bytes[at..at + 6].copy_from_slice(b"Wibble");
            assert_eq!(search(&finder, bytes.as_slice()).unwrap().0, Some(at as u64));
        }
    }
}
