//! The offset of a page in the file (FORMAT 2.1 to 2.4).
//!
//! - places-are-distinct: no two pages share a place.
//! - no-page-on-lock-bytes: no page overlaps a lock byte: bytes 1073741824 to 1073742335 of the
//!   file belong to no page.

use selenite_cipher::PageNo;

use crate::PageSize;

/// The size of the prefix, which precedes SQLite's pages (FORMAT 2.1).
pub const PREFIX_SIZE: u64 = 65536;

/// An offset in the file on disk, as opposed to an offset in a call by SQLite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileOffset(pub u64);

/// The layout of pages for one page size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    page_size: PageSize,
}

impl Geometry {
    /// The geometry of a database with pages of `page_size`.
    pub const fn new(page_size: PageSize) -> Self {
        Self { page_size }
    }

    /// The page size of the geometry.
    pub const fn page_size(self) -> PageSize {
        self.page_size
    }

    /// The offset of `page`; `None` for page 0 and the lock page, which have no place. For page
    /// numbers read from a file.
    pub fn place(self, page: PageNo) -> Option<FileOffset> {
        if page == self.displaced_page() {
            return Some(self.natural_place(self.lock_page()));
        }
        (page.0 != 0 && page != self.lock_page()).then(|| self.natural_place(page))
    }

    /// The offset of `page`.
    ///
    /// # Panics
    /// If `page` is 0 or the lock page: SQLite requests neither, and for page numbers from
    /// elsewhere there is [`Geometry::place`]. Any offset returned here would be that of another
    /// page or of a lock.
    pub fn offset(self, page: PageNo) -> FileOffset {
        let place = self.place(page);
        assert!(place.is_some(), "page {} has no place", page.0);
        place.unwrap_or(FileOffset(u64::MAX))
    }

    /// The page count of a file of `file_size` bytes (FORMAT 2.4).
    pub fn page_count(self, file_size: u64) -> u32 {
        let places = file_size.saturating_sub(PREFIX_SIZE).div_ceil(self.page_size.as_u64());
        // More pages than SQLite can count (2^32 - 2): it refuses the file itself.
        let count = u32::try_from(places).unwrap_or(u32::MAX);
        if count == self.lock_page().0 { count - 1 } else { count }
    }

    /// The size of a file with `page_count` pages. A file without pages still has its prefix.
    ///
    /// All page counts from the displaced page up to the one before the lock page have the same
    /// size, since the displaced page is stored in the place of the lock page:
    /// [`Geometry::page_count`] returns the greatest of those counts.
    pub fn size_for(self, page_count: u32) -> u64 {
        let displaced = (self.displaced_page().0..self.lock_page().0).contains(&page_count);
        let places = if displaced { self.lock_page().0 } else { page_count };
        PREFIX_SIZE + u64::from(places) * self.page_size.as_u64()
    }

    /// The page that SQLite never uses, L in FORMAT 2.3: in SQLite's own layout it begins with the lock bytes.
    pub fn lock_page(self) -> PageNo {
        PageNo((LOCK_BYTE >> self.page_size.as_u32().trailing_zeros()) + 1)
    }

    /// The page whose place would contain the lock bytes, X in FORMAT 2.3: it is stored in the
    /// place of the lock page.
    pub fn displaced_page(self) -> PageNo {
        PageNo(((LOCK_BYTE - PREFIX_SIZE_U32) >> self.page_size.as_u32().trailing_zeros()) + 1)
    }

    fn natural_place(self, page: PageNo) -> FileOffset {
        FileOffset(PREFIX_SIZE + (u64::from(page.0) - 1) * self.page_size.as_u64())
    }
}

/// SQLite's PENDING_BYTE: the first of the 512 bytes used for file locks (os.h).
const LOCK_BYTE: u32 = 0x4000_0000;
const PREFIX_SIZE_U32: u32 = 65536;

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> impl Iterator<Item = Geometry> {
        (10..=16).map(|shift| Geometry::new(PageSize::try_from(1 << shift).unwrap()))
    }

    #[test]
    fn pages_are_consecutive_after_the_prefix() {
        for geometry in all() {
            let size = geometry.page_size().as_u64();
            assert_eq!(geometry.offset(PageNo(1)), FileOffset(65536));
            assert_eq!(geometry.offset(PageNo(2)), FileOffset(65536 + size));
            let last = PageNo(u32::MAX);
            assert_eq!(
                geometry.offset(last),
                FileOffset(65536 + (u64::from(u32::MAX) - 1) * size)
            );
        }
    }

    /// FORMAT 2.3, and os.h: the lock bytes are PENDING_BYTE, RESERVED_BYTE and SHARED_SIZE = 510
    /// from PENDING_BYTE + 2.
    #[test]
    fn no_page_overlaps_a_lock_byte_or_another_page() {
        for geometry in all() {
            let (size, lock, displaced) = (
                geometry.page_size().as_u64(),
                geometry.lock_page(),
                geometry.displaced_page(),
            );
            assert_eq!(u64::from(lock.0), 1_073_741_824 / size + 1);
            assert_eq!(u64::from(displaced.0), (1_073_741_824 - 65536) / size + 1);
            let mut places: Vec<u64> = (displaced.0 - 3..lock.0 + 70)
                .filter_map(|number| geometry.place(PageNo(number)))
                .map(|place| place.0)
                .collect();
            for &place in &places {
                assert!(
                    place + size <= 1_073_741_824 || place > 1_073_742_335,
                    "{geometry:?} {place}"
                );
                assert_eq!((place - 65536) % size, 0);
            }
            let count = places.len();
            places.sort_unstable();
            places.dedup();
            assert_eq!(places.len(), count);
            assert_eq!(geometry.place(lock), None);
            assert_eq!(geometry.place(PageNo(0)), None);
        }
    }

    #[test]
    #[should_panic(expected = "has no place")]
    fn offset_of_the_lock_page_panics() {
        let geometry = Geometry::new(PageSize::DEFAULT);
        geometry.offset(geometry.lock_page());
    }

    #[test]
    fn page_count_rounds_up_and_excludes_the_lock_page() {
        for geometry in all() {
            let (size, lock) = (geometry.page_size().as_u64(), geometry.lock_page().0);
            for (file_size, count) in [
                (0, 0),
                (65535, 0),
                (65536, 0),
                (65537, 1),
                (65536 + size, 1),
                (65537 + size, 2),
            ] {
                assert_eq!(geometry.page_count(file_size), count);
            }
            let end_of_lock_page = 65536 + u64::from(lock) * size;
            assert_eq!(geometry.page_count(end_of_lock_page - size), lock - 1);
            assert_eq!(geometry.page_count(end_of_lock_page - size + 1), lock - 1);
            assert_eq!(geometry.page_count(end_of_lock_page), lock - 1);
            assert_eq!(geometry.page_count(end_of_lock_page + 1), lock + 1);
            assert_eq!(geometry.page_count(u64::MAX), u32::MAX);
        }
    }

    #[test]
    fn size_for_holds_every_page_up_to_the_count() {
        for geometry in all() {
            let (size, lock, displaced) = (
                geometry.page_size().as_u64(),
                geometry.lock_page().0,
                geometry.displaced_page().0,
            );
            for count in (0..5).chain(displaced - 2..lock + 3) {
                let file_size = geometry.size_for(count);
                let end = (1..=count)
                    .rev()
                    .take(70)
                    .filter_map(|number| geometry.place(PageNo(number)))
                    .map(|place| place.0 + size)
                    .max();
                if count != lock {
                    assert_eq!(file_size, end.unwrap_or(65536), "{geometry:?} {count}");
                }
                let back = geometry.page_count(file_size);
                let between = (displaced..=lock).contains(&count);
                assert_eq!(back, if between { lock - 1 } else { count });
            }
        }
    }
}
