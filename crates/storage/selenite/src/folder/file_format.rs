//! Determines what a file is, from its first bytes.

use selenite_format::{Chosen, SUPERBLOCK_A, SUPERBLOCK_B, choose};

use crate::EngineError;
use crate::lost_prefix::has_sealed_pages;
use crate::raw_file::RawFile;

/// What a file is. Nothing is authenticated, and the file may be incomplete.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileFormat {
    /// A database in our layout.
    Sealed,
    /// An unencrypted database.
    Plain,
    /// Still empty.
    Empty,
    /// Something else, or a database that another product encrypted.
    Foreign,
}

impl FileFormat {
    /// Reads the first bytes at both positions of a superblock.
    pub fn of(file: &RawFile) -> Result<Self, EngineError> {
        let (mut a, mut b) = ([0; HEAD_BYTES], [0; HEAD_BYTES]);
        let size = file.size()?;
        let a_size = file.read_at(&mut a, SUPERBLOCK_A)?;
        let b_size = file.read_at(&mut b, SUPERBLOCK_B)?;
        let (a, b) = (&a[..a_size], &b[..b_size]);
        if is_ours(a) || is_ours(b) {
            // A database whose creation was interrupted contains nothing (FORMAT 2.6), if no
            // superblock of it is complete.
            return Ok(Self::Sealed);
        }
        Ok(match choose(a, b, size) {
            Chosen::Plain => Self::Plain,
            Chosen::Empty => Self::Empty,
            Chosen::A(_) | Chosen::B(_) | Chosen::Torn => Self::Sealed,
            Chosen::Foreign if has_sealed_pages(file)? => Self::Sealed,
            Chosen::Foreign => Self::Foreign,
        })
    }
}

/// Whether a superblock begins here, complete or not.
fn is_ours(head: &[u8]) -> bool {
    matches!(choose(head, &[], u64::MAX), Chosen::Torn)
}

/// 16 bytes: the size of SQLite's magic, and of ours.
const HEAD_BYTES: usize = 16;
/// The same, as the size of a file: nothing shorter is a database.
pub const HEAD_SIZE: u64 = 16;

#[cfg(test)]
mod tests {
    use super::*;

    const OURS: &[u8; 16] = b"Selenite\r\n\x1a\n\0\0\0\0";

    fn format(a: &[u8], b: &[u8]) -> FileFormat {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let mut bytes = vec![0xaa; 70_000];
        bytes[..a.len()].copy_from_slice(a);
        bytes[32768..32768 + b.len()].copy_from_slice(b);
        std::fs::write(&path, bytes).unwrap();
        FileFormat::of(&RawFile::open_in_folder(&path).unwrap()).unwrap()
    }

    #[test]
    fn a_database_of_ours_is_known_by_either_superblock() {
        assert_eq!(format(OURS, OURS), FileFormat::Sealed);
        assert_eq!(format(OURS, b""), FileFormat::Sealed);
        assert_eq!(format(b"noise", OURS), FileFormat::Sealed);
        assert_eq!(format(b"SQLite format 3\0", OURS), FileFormat::Sealed);
    }

    #[test]
    fn what_is_not_ours_is_plain_or_foreign() {
        assert_eq!(format(b"SQLite format 3\0", b""), FileFormat::Plain);
        assert_eq!(format(b"SQLite format 4\0", b""), FileFormat::Foreign);
        assert_eq!(format(b"", b""), FileFormat::Foreign);
    }

    #[test]
    fn a_link_or_a_pipe_is_not_opened() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        std::fs::write(&file, "x").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert!(RawFile::open_in_folder(&link).is_err());
        let pipe = folder.path().join("pipe");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR,
            0,
        )
        .unwrap();
        // The pipe has no writer: an open that waited would not return.
        assert!(matches!(RawFile::open_in_folder(&pipe), Err(EngineError::Usage { .. })));
    }
}
