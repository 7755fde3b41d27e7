//! A block of pages before compression: `count (4)`, then the numbers (4 each), the marks (8 each)
//! and the pages.

use selenite_format::PageSize;
use selenite_format::anchor::Mark;

use super::error::ArchiveError;

/// The maximum size of a block before compression, in bytes.
pub const BLOCK_SIZE_MAX: usize = 1 << 20;

/// The maximum number of pages of this size in a block.
#[must_use]
pub fn page_count_max(page_size: PageSize) -> usize {
    (BLOCK_SIZE_MAX - COUNT_SIZE) / (NUMBER_SIZE + MARK_SIZE + page_size.bytes())
}

/// A page in a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PackedPage<'a> {
    /// The number of the page, from 1.
    pub page_no: u32,
    /// The mark, which identifies this image of the page.
    pub mark: Mark,
    /// The bytes of the page as SQLite has them.
    pub bytes: &'a [u8],
}

/// A parsed block.
pub struct Block<'a> {
    bytes: &'a [u8],
    count: usize,
    page_size: usize,
}

impl<'a> Block<'a> {
    /// Writes up to [`page_count_max`] pages into `out`, which is cleared first.
    ///
    /// # Panics
    /// If a page has another size, or there are too many.
    pub fn encode(page_size: PageSize, pages: &[PackedPage<'_>], out: &mut Vec<u8>) {
        assert!(pages.len() <= page_count_max(page_size), "too many pages for one block");
        let count = u32::try_from(pages.len()).expect("there are a thousand at most");
        out.clear();
        out.extend(count.to_be_bytes());
        for page in pages {
            out.extend(page.page_no.to_be_bytes());
        }
        for page in pages {
            out.extend(page.mark.0);
        }
        for page in pages {
            assert_eq!(page.bytes.len(), page_size.bytes());
            out.extend_from_slice(page.bytes);
        }
    }

    /// Parses a block.
    ///
    /// # Errors
    /// [`ArchiveError::Malformed`].
    pub fn parse(page_size: PageSize, bytes: &'a [u8]) -> Result<Self, ArchiveError> {
        let malformed = |what| ArchiveError::Malformed { what };
        let (count, rest) = bytes.split_first_chunk::<COUNT_SIZE>().ok_or(malformed("block size"))?;
        let count = usize::try_from(u32::from_be_bytes(*count)).unwrap_or(usize::MAX);
        if count == 0 || count > page_count_max(page_size) {
            return Err(malformed("page count of a block"));
        }
        if rest.len() != count * (NUMBER_SIZE + MARK_SIZE + page_size.bytes()) {
            return Err(malformed("block size"));
        }
        let block = Self {
            bytes: rest,
            count,
            page_size: page_size.bytes(),
        };
        let mut last = 0;
        for page in block.pages() {
            if page.page_no <= last {
                return Err(malformed("order of pages"));
            }
            last = page.page_no;
        }
        Ok(block)
    }

    /// The pages, by ascending number.
    pub fn pages(&self) -> impl Iterator<Item = PackedPage<'a>> + '_ {
        let (numbers, rest) = self.bytes.split_at(self.count * NUMBER_SIZE);
        let (marks, pages) = rest.split_at(self.count * MARK_SIZE);
        let numbers = numbers.as_chunks::<NUMBER_SIZE>().0.iter();
        let marks = marks.as_chunks::<MARK_SIZE>().0.iter();
        let pages = pages.chunks_exact(self.page_size);
        numbers.zip(marks).zip(pages).map(|((number, mark), bytes)| PackedPage {
            page_no: u32::from_be_bytes(*number),
            mark: Mark(*mark),
            bytes,
        })
    }
}

const COUNT_SIZE: usize = 4;
const NUMBER_SIZE: usize = 4;
const MARK_SIZE: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    fn size(bytes: u32) -> PageSize {
        PageSize::try_from(bytes).unwrap()
    }

    #[test]
    fn pages_are_parsed_in_order() {
        let page = vec![7; 1024];
        let pages = [3, 4, 900].map(|page_no| PackedPage {
            page_no,
            mark: Mark([u8::try_from(page_no % 251).unwrap(); 8]),
            bytes: &page,
        });
        let mut bytes = vec![1, 2, 3];
        Block::encode(size(1024), &pages, &mut bytes);
        let block = Block::parse(size(1024), &bytes).unwrap();
        assert_eq!(block.pages().collect::<Vec<_>>(), pages);
        for cut in 0..bytes.len() {
            assert!(Block::parse(size(1024), &bytes[..cut]).is_err());
        }
        bytes.push(0);
        assert!(Block::parse(size(1024), &bytes).is_err());
    }

    #[test]
    fn parse_refuses_unordered_numbers_and_wrong_counts() {
        let page = vec![0; 1024];
        for numbers in [[2, 2], [2, 1], [0, 1]] {
            let pages = numbers.map(|page_no| PackedPage {
                page_no,
                mark: Mark::default(),
                bytes: &page,
            });
            let mut bytes = Vec::new();
            Block::encode(size(1024), &pages, &mut bytes);
            assert!(Block::parse(size(1024), &bytes).is_err(), "{numbers:?}");
        }
        assert!(Block::parse(size(1024), &[0; 4]).is_err());
        assert!(Block::parse(size(1024), &[0xff; 4]).is_err());
    }

    #[test]
    fn the_largest_block_is_within_its_size() {
        for shift in 10..17 {
            let page_size = size(1 << shift);
            let page = vec![0; page_size.bytes()];
            let count = u32::try_from(page_count_max(page_size)).unwrap();
            let pages: Vec<_> = (1..=count)
                .map(|page_no| PackedPage {
                    page_no,
                    mark: Mark::default(),
                    bytes: &page,
                })
                .collect();
            let mut bytes = Vec::new();
            Block::encode(page_size, &pages, &mut bytes);
            assert!(count >= 15 && bytes.len() <= BLOCK_SIZE_MAX);
        }
    }
}
