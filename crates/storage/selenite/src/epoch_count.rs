//! Counts the pages of a database file by the data key that encrypts them.
//!
//! Trailers are not encrypted (FORMAT 5.1), so that no key is needed. Nothing is authenticated, and
//! pages that are in the log alone are not counted.

use std::collections::BTreeMap;
use std::path::Path;

use selenite_cipher::{PageNo, TRAILER_SIZE};
use selenite_format::Geometry;
use selenite_format::trailer::split_image;

use crate::raw_file::RawFile;
use crate::storage::Storage;
use crate::superblock_file::inspect_file;
use crate::watch::Phase;
use crate::{EngineError, Watch};

/// The number of pages of each epoch.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct EpochCounts {
    /// By the number of the epoch, for pages that name one.
    pub pages: BTreeMap<u32, u64>,
    /// Places without a page: zeros, or less than a page at the end.
    pub blank_count: u64,
}

/// Reads a whole database file and counts its pages.
///
/// # Errors
/// [`EngineError::NotEncrypted`]; [`EngineError::Key`] for a superblock that is damaged; [`EngineError::Io`];
/// [`EngineError::Interrupted`].
pub fn count_epochs(storage: &dyn Storage, path: &Path, watch: &Watch) -> Result<EpochCounts, EngineError> {
    let file = RawFile::open(storage, path)?;
    let (_, superblock) = inspect_file(&file)?.sealed(path)?;
    let geometry = Geometry::new(superblock.page_size);
    let page_bytes = superblock.page_size.bytes();
    let size = file.size()?;
    let page_count = geometry.page_count(size);
    let run_pages = u32::try_from(RUN_SIZE / page_bytes).unwrap_or(1).max(1);
    let mut images = vec![0; RUN_SIZE.max(page_bytes)];
    let mut counts = EpochCounts::default();
    let mut first = 1;
    while first <= page_count {
        watch.check()?;
        let last = page_count.min(first.saturating_add(run_pages - 1));
        for (from, to) in side_by_side(geometry, first, last) {
            let Some(place) = geometry.place(PageNo(from)) else {
                continue;
            };
            let run_count = usize::try_from(to - from + 1).unwrap_or(1);
            let images = &mut images[..run_count * page_bytes];
            file.read_at(images, place.0)?;
            for image in images.chunks_exact(page_bytes) {
                counts.add(image);
            }
        }
        watch.report(Phase::Verifying, u64::from(last) * superblock.page_size.as_u64(), size);
        if last == u32::MAX {
            break;
        }
        first = last + 1;
    }
    Ok(counts)
}

impl EpochCounts {
    fn add(&mut self, image: &[u8]) {
        let trailer = split_image(image).map_or(&[0; TRAILER_SIZE], |(_, trailer)| trailer);
        match selenite_format::trailer::split(trailer).epoch.0 {
            0 => self.blank_count += 1,
            epoch => *self.pages.entry(epoch).or_default() += 1,
        }
    }
}

/// Splits the pages from `first` to `last` into runs that are contiguous in the file (FORMAT 2.3).
fn side_by_side(geometry: Geometry, first: u32, last: u32) -> Vec<(u32, u32)> {
    let mut runs = Vec::new();
    let mut from = first;
    for special in [geometry.displaced_page().0, geometry.lock_page().0] {
        if !(from..=last).contains(&special) {
            continue;
        }
        if from < special {
            runs.push((from, special - 1));
        }
        runs.push((special, special));
        from = special + 1;
    }
    if from <= last {
        runs.push((from, last));
    }
    runs
}

/// 1 MiB: large enough that the cost of a call is negligible.
const RUN_SIZE: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use selenite_format::PageSize;

    use super::*;

    #[test]
    fn runs_contain_every_page_once_and_each_is_contiguous() {
        for shift in 10..=16 {
            let geometry = Geometry::new(PageSize::try_from(1 << shift).unwrap());
            let size = geometry.page_size().as_u64();
            let (displaced, lock) = (geometry.displaced_page().0, geometry.lock_page().0);
            for (first, last) in [
                (1, 5),
                (displaced - 3, lock + 3),
                (displaced, displaced),
                (lock, lock),
                (lock, lock + 1),
            ] {
                let runs = side_by_side(geometry, first, last);
                let pages: Vec<u32> = runs.iter().flat_map(|&(from, to)| from..=to).collect();
                assert_eq!(pages, (first..=last).collect::<Vec<u32>>());
                for (from, to) in runs {
                    for page in from..=to {
                        let place = geometry.place(PageNo(page)).map(|place| place.0);
                        let of_run = geometry
                            .place(PageNo(from))
                            .map(|place| place.0 + u64::from(page - from) * size);
                        assert_eq!(place, of_run, "page {page} of {from} to {to}");
                    }
                }
            }
        }
    }
}
