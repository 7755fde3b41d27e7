//! The page size of a database.

use std::fmt;

use crate::FormatError;

/// A page size that a database of this format can have: a power of two from 1024 to 65536 (FORMAT 3.1).
///
/// 512 is excluded: with 48 reserved bytes SQLite would have less than its required minimum of 480.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageSize {
    shift: u8,
}

impl PageSize {
    /// 1024.
    pub const MIN: Self = Self { shift: 10 };
    /// 65536.
    pub const MAX: Self = Self { shift: 16 };
    /// 4096: SQLite's default.
    pub const DEFAULT: Self = Self { shift: 12 };

    /// The size as a byte count in memory.
    pub const fn bytes(self) -> usize {
        1 << self.shift
    }

    /// The size as encoded in the superblock.
    pub const fn as_u32(self) -> u32 {
        1 << self.shift
    }

    /// The size, for file offsets.
    pub const fn as_u64(self) -> u64 {
        1 << self.shift
    }

    /// Bytes 16 and 17 of an SQLite database of this page size
    /// (<https://sqlite.org/fileformat.html>, 1.3.2): 65536 does not fit and is encoded as 1.
    pub const fn sqlite_encoding(self) -> [u8; 2] {
        match self.shift {
            16 => [0, 1],
            shift => (1_u16 << shift).to_be_bytes(),
        }
    }
}

impl TryFrom<u32> for PageSize {
    type Error = FormatError;

    /// # Errors
    /// [`FormatError::PageSize`] if `size` is not a power of two from 1024 to 65536.
    fn try_from(size: u32) -> Result<Self, FormatError> {
        (Self::MIN.shift..=Self::MAX.shift)
            .map(|shift| Self { shift })
            .find(|page_size| page_size.as_u32() == size)
            .ok_or(FormatError::PageSize { size })
    }
}

impl fmt::Debug for PageSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PageSize({})", self.as_u32())
    }
}

impl fmt::Display for PageSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.as_u32())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn try_from_takes_the_seven_powers_of_two_and_nothing_else() {
        let taken: Vec<u32> = (0..200_000).filter(|&size| PageSize::try_from(size).is_ok()).collect();
        assert_eq!(taken, [1024, 2048, 4096, 8192, 16384, 32768, 65536]);
        assert_eq!(
            PageSize::try_from(u32::MAX),
            Err(FormatError::PageSize { size: u32::MAX })
        );
    }

    #[test]
    fn sqlite_encoding_is_read_as_sqlite_reads_it() {
        for size in [1024, 2048, 4096, 8192, 16384, 32768, 65536] {
            let page_size = PageSize::try_from(size).unwrap();
            let [high, low] = page_size.sqlite_encoding();
            // sqlite3BtreeOpen: (zDbHeader[16]<<8) | (zDbHeader[17]<<16)
            assert_eq!(u32::from(high) << 8 | u32::from(low) << 16, size);
            assert_eq!(
                (page_size.bytes() as u64, page_size.as_u64()),
                (u64::from(size), u64::from(size))
            );
        }
    }
}
