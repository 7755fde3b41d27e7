//! Recognizes a database of ours whose first 64 KiB were overwritten, by its pages.
//!
//! Nothing is authenticated, and only messages depend on it: such a file is damaged, not "no
//! database". Trailers have an epoch, which is a small number, and session and tag, which look
//! random (FORMAT 5.1); in other files these bytes are arbitrary.

use selenite_format::{PREFIX_SIZE, PageSize};

use crate::EngineError;
use crate::raw_file::RawFile;

/// Whether there are sealed pages after the positions of the superblocks.
///
/// # Errors
/// [`EngineError::Io`].
pub fn has_sealed_pages(file: &RawFile) -> Result<bool, EngineError> {
    let size = file.size()?;
    for page_size in PAGE_SIZES.iter().filter_map(|size| PageSize::try_from(*size).ok()) {
        if are_sealed(file, size, page_size.as_u64())? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn are_sealed(file: &RawFile, size: u64, page_size: u64) -> Result<bool, EngineError> {
    let count = size.saturating_sub(PREFIX_SIZE) / page_size;
    let (mut sealed, mut others) = (0, 0);
    for page in 1..=count.min(SAMPLE_COUNT) {
        let mut trailer = [0; TRAILER_SIZE];
        let offset = PREFIX_SIZE + page * page_size - TRAILER_SIZE as u64;
        if file.read_at(&mut trailer, offset)? < trailer.len() {
            break;
        }
        if is_trailer(&trailer) {
            sealed += 1;
        } else {
            others += 1;
        }
    }
    Ok(sealed > 3 * others)
}

fn is_trailer(bytes: &[u8; TRAILER_SIZE]) -> bool {
    let trailer = selenite_format::trailer::split(bytes);
    (1..=EPOCH_MAX).contains(&trailer.epoch.0) && looks_random(&trailer.nonce.session.0) && looks_random(&trailer.tag)
}

/// 16 random bytes have fewer than 11 distinct values once in 30,000 times.
fn looks_random(bytes: &[u8; 16]) -> bool {
    let mut sorted = *bytes;
    sorted.sort_unstable();
    sorted.windows(2).filter(|pair| pair[0] != pair[1]).count() >= 10
}

const TRAILER_SIZE: usize = 48;
const PAGE_SIZES: [u32; 7] = [4096, 1024, 2048, 8192, 16384, 32768, 65536];
/// More data keys than this would be one every hour for a century.
const EPOCH_MAX: u32 = 1 << 20;
const SAMPLE_COUNT: u64 = 32;
