//! Recognizes a database of ours whose first 64 KiB were overwritten, by its pages.
//!
//! Nothing is authenticated, and only messages depend on it: such a file is damaged, not "no
//! database". Trailers have an epoch, which is a small number, and session and tag, which look
//! random (FORMAT 5.1: of a session at least 96 bits are); in other files these bytes are arbitrary.

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

/// 12 random bytes and four zeros have fewer than eight distinct values once in 53 million times. All pages of a small
/// database are of one session.
fn looks_random(bytes: &[u8; 16]) -> bool {
    let mut sorted = *bytes;
    sorted.sort_unstable();
    sorted.windows(2).filter(|pair| pair[0] != pair[1]).count() >= 7
}

const TRAILER_SIZE: usize = 48;
const PAGE_SIZES: [u32; 7] = [4096, 1024, 2048, 8192, 16384, 32768, 65536];
/// More data keys than this would be one every hour for a century.
const EPOCH_MAX: u32 = 1 << 20;
const SAMPLE_COUNT: u64 = 32;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use selenite_cipher::{Epoch, PageNonce, SessionId, Trailer};

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn a_trailer_is_known_by_any_session_and_tag(
            session: [u8; 12], serial in 0_u32..3, salt: [u8; 8], counter: u32, tag: [u8; 16],
        ) {
            let mut whole = [0; 16];
            whole[..12].copy_from_slice(&session);
            whole[12..].copy_from_slice(&serial.to_be_bytes());
            let nonce = PageNonce { session: SessionId(whole), salt, counter };
            let trailer = Trailer { epoch: Epoch(1), nonce, tag };
            prop_assert!(is_trailer(&trailer.encode()));
        }
    }

    #[test]
    fn text_and_numbers_are_no_trailers() {
        let counts: Vec<u8> = (1..=12_u32).flat_map(u32::to_be_bytes).collect();
        let text = *b"Epochs are small numbers, and this is only text.";
        for bytes in [counts.try_into().unwrap(), [0; 48], [1; 48], text] {
            assert!(!is_trailer(&bytes), "{bytes:?}");
        }
    }
}
