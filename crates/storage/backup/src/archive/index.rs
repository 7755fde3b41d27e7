//! The list of the pages in a part: `count (4)`, then the numbers (4 each) and the marks (8 each).

use selenite_format::anchor::Mark;

use super::block::BLOCK_SIZE_MAX;
use super::error::ArchiveError;

/// The maximum number of pages in one block of an index.
#[must_use]
pub const fn index_count_max() -> usize {
    (BLOCK_SIZE_MAX - COUNT_SIZE) / (NUMBER_SIZE + MARK_SIZE)
}

/// A block of an index.
pub struct IndexBlock<'a> {
    numbers: &'a [[u8; NUMBER_SIZE]],
    marks: &'a [[u8; MARK_SIZE]],
}

impl<'a> IndexBlock<'a> {
    /// Writes up to [`index_count_max`] numbers and marks into `out`, which is cleared first.
    ///
    /// # Panics
    /// If there are too many, or none.
    pub fn encode(pages: &[(u32, Mark)], out: &mut Vec<u8>) {
        assert!((1..=index_count_max()).contains(&pages.len()));
        out.clear();
        out.extend(
            u32::try_from(pages.len())
                .expect("a hundred thousand at most")
                .to_be_bytes(),
        );
        out.extend(pages.iter().flat_map(|(page_no, _)| page_no.to_be_bytes()));
        out.extend(pages.iter().flat_map(|(_, mark)| mark.0));
    }

    /// Parses a block.
    ///
    /// # Errors
    /// [`ArchiveError::Malformed`].
    pub fn parse(bytes: &'a [u8]) -> Result<Self, ArchiveError> {
        let malformed = ArchiveError::Malformed { what: "index" };
        let (count, rest) = bytes.split_first_chunk::<COUNT_SIZE>().ok_or(malformed)?;
        let count = usize::try_from(u32::from_be_bytes(*count)).map_err(|_| malformed)?;
        if !(1..=index_count_max()).contains(&count) || rest.len() != count * (NUMBER_SIZE + MARK_SIZE) {
            return Err(malformed);
        }
        let (numbers, marks) = rest.split_at(count * NUMBER_SIZE);
        let block = Self {
            numbers: numbers.as_chunks().0,
            marks: marks.as_chunks().0,
        };
        let is_numbered = block.pages().all(|(page_no, _)| page_no > 0);
        is_numbered.then_some(block).ok_or(malformed)
    }

    /// The pages in the order of the part. Of entries with the same number the later one counts.
    pub fn pages(&self) -> impl Iterator<Item = (u32, Mark)> + '_ {
        let numbers = self.numbers.iter().map(|number| u32::from_be_bytes(*number));
        numbers.zip(self.marks.iter().map(|mark| Mark(*mark)))
    }
}

const COUNT_SIZE: usize = 4;
const NUMBER_SIZE: usize = 4;
const MARK_SIZE: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_reads_pages_and_refuses_truncation_and_page_0() {
        let pages = [(3, Mark([3; 8])), (1, Mark([1; 8])), (3, Mark([4; 8]))];
        let mut bytes = Vec::new();
        IndexBlock::encode(&pages, &mut bytes);
        assert!(IndexBlock::parse(&bytes).unwrap().pages().eq(pages));
        for cut in 0..bytes.len() {
            assert!(IndexBlock::parse(&bytes[..cut]).is_err());
        }
        assert!(IndexBlock::parse(&[bytes.as_slice(), &[0]].concat()).is_err());
        assert!(IndexBlock::parse(&[0; 4]).is_err() && IndexBlock::parse(&[0xff; 4]).is_err());
        IndexBlock::encode(&[(0, Mark([3; 8]))], &mut bytes);
        assert!(IndexBlock::parse(&bytes).is_err());
    }

    #[test]
    fn the_largest_index_fits_into_a_block() {
        let mut bytes = Vec::new();
        IndexBlock::encode(&vec![(1, Mark::default()); index_count_max()], &mut bytes);
        assert!(bytes.len() <= BLOCK_SIZE_MAX);
    }
}
