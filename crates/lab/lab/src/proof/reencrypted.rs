//! The check that every page of a file was re-encrypted, by comparison with its previous contents.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::ProofError;
use super::file_scan::CLEAR_BYTES;

/// Compares a database that no process uses with an earlier copy of it: no page may be unchanged. A
/// page that is sealed again has another nonce, and so no byte in common except by chance. Returns
/// the number of compared pages.
///
/// # Errors
/// [`ProofError::NotReencrypted`], [`ProofError::Io`].
pub fn prove_pages_reencrypted(before: &Path, after: &Path, page_size: u32) -> Result<u64, ProofError> {
    let (mut old, mut new) = (Pages::open(before, page_size)?, Pages::open(after, page_size)?);
    let (mut compared, mut same, mut first) = (0, 0, 0);
    while old.next()? && new.next()? {
        // SQLite never writes its lock page; sealed pages are not zero.
        if old.page.iter().all(|byte| *byte == 0) {
            continue;
        }
        compared += 1;
        if old.page == new.page {
            if same == 0 {
                first = CLEAR_BYTES + old.count.saturating_sub(1) * u64::from(page_size);
            }
            same += 1;
        }
    }
    match same {
        0 => Ok(compared),
        count => Err(ProofError::NotReencrypted {
            path: after.to_owned(),
            count,
            first,
        }),
    }
}

/// The pages of a file, after its superblocks.
struct Pages<'a> {
    path: &'a Path,
    file: io::BufReader<File>,
    page: Vec<u8>,
    count: u64,
}

impl<'a> Pages<'a> {
    fn open(path: &'a Path, page_size: u32) -> Result<Self, ProofError> {
        let opened = File::open(path).and_then(|mut file| {
            io::Seek::seek(&mut file, io::SeekFrom::Start(CLEAR_BYTES))?;
            Ok(file)
        });
        Ok(Self {
            path,
            file: io::BufReader::with_capacity(BUFFER_BYTES, opened.map_err(ProofError::io(path))?),
            page: vec![0; usize::try_from(page_size).unwrap_or(usize::MAX)],
            count: 0,
        })
    }

    /// Reads the next page; false at the end.
    fn next(&mut self) -> Result<bool, ProofError> {
        match self.file.read_exact(&mut self.page) {
            Ok(()) => {
                self.count += 1;
                Ok(true)
            }
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
            Err(error) => Err(ProofError::io(self.path)(error)),
        }
    }
}

/// 1 MiB: larger reads are not faster.
const BUFFER_BYTES: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: u32 = 512;

    fn sealed(folder: &Path, name: &str, pages: &[u8]) -> std::path::PathBuf {
        let path = folder.join(name);
        let mut bytes = vec![7; 64 << 10];
        for page in pages {
            bytes.extend_from_slice(&[*page; PAGE as usize]);
        }
        std::fs::write(&path, bytes).unwrap();
        path
    }

    #[test]
    fn an_unchanged_page_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let before = sealed(folder.path(), "before", &[1, 2, 0, 4]);
        let again = sealed(folder.path(), "again", &[11, 12, 0, 14, 15]);
        assert_eq!(prove_pages_reencrypted(&before, &again, PAGE).unwrap(), 3);
        let shorter = sealed(folder.path(), "shorter", &[11, 12]);
        assert_eq!(prove_pages_reencrypted(&before, &shorter, PAGE).unwrap(), 2);
        let left = sealed(folder.path(), "left", &[11, 2, 0, 4]);
        let error = prove_pages_reencrypted(&before, &left, PAGE).unwrap_err();
        let ProofError::NotReencrypted { count, first, .. } = &error else {
            panic!("{error}")
        };
        assert_eq!((*count, *first), (2, (64 << 10) + u64::from(PAGE)));
        assert!(matches!(
            prove_pages_reencrypted(&before, &folder.path().join("nothing"), PAGE),
            Err(ProofError::Io { .. })
        ));
    }
}
