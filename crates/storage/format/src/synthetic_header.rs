//! The header that SQLite reads from a database without pages.

use crate::{PageSize, RESERVE};

/// The number of bytes that SQLite reads from the start of a file when it opens it.
pub const SQLITE_HEADER_SIZE: usize = 100;

/// How a database releases free pages: `PRAGMA auto_vacuum`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AutoVacuum {
    /// Never.
    None,
    /// At every commit.
    Full,
    /// On request, by `PRAGMA incremental_vacuum`.
    Incremental,
}

/// The result of SQLite's first read of 100 bytes from an empty file.
///
/// From it sqlite3BtreeOpen (btree.c) takes page size (offset 16), reserve (20) and auto-vacuum (52
/// and 64), and uses them for a new database; the rest is as newDatabase in that file would write
/// it.
pub fn synthetic_header(page_size: PageSize, auto_vacuum: AutoVacuum) -> [u8; SQLITE_HEADER_SIZE] {
    let (auto, incremental) = match auto_vacuum {
        AutoVacuum::None => (0, 0),
        AutoVacuum::Full => (1, 0),
        AutoVacuum::Incremental => (1, 1),
    };
    let mut header = [0; SQLITE_HEADER_SIZE];
    header[..16].copy_from_slice(b"SQLite format 3\0");
    header[16..18].copy_from_slice(&page_size.sqlite_encoding());
    // Write and read versions: 1, a rollback journal.
    header[18..20].copy_from_slice(&[1, 1]);
    header[20] = RESERVE;
    // Payload fractions; SQLite refuses others.
    header[21..24].copy_from_slice(&[64, 32, 32]);
    header[55] = auto;
    header[67] = incremental;
    header
}

#[cfg(test)]
mod tests {
    use super::*;

    /// <https://sqlite.org/fileformat.html>, 1.3: the offsets of the database header.
    #[test]
    fn header_says_what_sqlite_takes_from_it() {
        let header = synthetic_header(PageSize::DEFAULT, AutoVacuum::Incremental);
        assert_eq!(header[..24], *b"SQLite format 3\0\x10\x00\x01\x01\x30\x40\x20\x20");
        assert_eq!(header[52..56], [0, 0, 0, 1]);
        assert_eq!(header[64..68], [0, 0, 0, 1]);
        assert_eq!(
            header[24..52].iter().chain(&header[56..64]).chain(&header[68..]).max(),
            Some(&0)
        );
        assert_eq!(synthetic_header(PageSize::MAX, AutoVacuum::None)[16..18], [0, 1]);
        assert_eq!(
            synthetic_header(PageSize::MIN, AutoVacuum::Full)[52..68],
            *b"\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\0"
        );
    }
}
