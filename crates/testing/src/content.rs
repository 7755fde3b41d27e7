//! The bytes of a file: sparse, and cheap to copy.
//!
//! - zeros-beyond-end: bytes of the last chunk beyond the end are zero, so that a file that is
//!   extended again contains zeros there.

use std::sync::Arc;

/// The content of a file. A copy shares all chunks until either copy is written.
#[derive(Clone, Default, Debug)]
pub struct Content {
    size: u64,
    chunks: Vec<Option<Arc<[u8; CHUNK_SIZE]>>>,
}

impl Content {
    /// The size in bytes.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Fills `out`, with zeros beyond the end, and returns the number of bytes before the end.
    pub fn read(&self, out: &mut [u8], offset: u64) -> usize {
        let known = to_usize(self.size.saturating_sub(offset)).min(out.len());
        out[known..].fill(0);
        let start = to_usize(offset);
        let mut done = 0;
        while done < known {
            let (index, within) = ((start + done) / CHUNK_SIZE, (start + done) % CHUNK_SIZE);
            let part = (CHUNK_SIZE - within).min(known - done);
            match &self.chunks[index] {
                Some(chunk) => out[done..done + part].copy_from_slice(&chunk[within..within + part]),
                None => out[done..done + part].fill(0),
            }
            done += part;
        }
        known
    }

    /// Writes `data`, extending the file if necessary.
    pub fn write(&mut self, data: &[u8], offset: u64) {
        let start = to_usize(offset);
        self.grow(offset + to_u64(data.len()));
        let mut done = 0;
        while done < data.len() {
            let (index, within) = ((start + done) / CHUNK_SIZE, (start + done) % CHUNK_SIZE);
            let part = (CHUNK_SIZE - within).min(data.len() - done);
            let chunk = self.chunks[index].get_or_insert_with(|| Arc::new([0; CHUNK_SIZE]));
            Arc::make_mut(chunk)[within..within + part].copy_from_slice(&data[done..done + part]);
            done += part;
        }
    }

    /// Truncates or extends the file.
    pub fn truncate(&mut self, size: u64) {
        if size >= self.size {
            self.grow(size);
            return;
        }
        self.size = size;
        let end = to_usize(size);
        self.chunks.truncate(end.div_ceil(CHUNK_SIZE));
        let within = end % CHUNK_SIZE;
        if within > 0
            && let Some(Some(chunk)) = self.chunks.last_mut()
        {
            Arc::make_mut(chunk)[within..].fill(0);
        }
    }

    /// All bytes, for a small file.
    #[must_use]
    pub fn to_vec(&self) -> Vec<u8> {
        let mut out = vec![0; to_usize(self.size)];
        self.read(&mut out, 0);
        out
    }

    fn grow(&mut self, size: u64) {
        self.size = self.size.max(size);
        let count = to_usize(self.size).div_ceil(CHUNK_SIZE);
        if self.chunks.len() < count {
            self.chunks.resize(count, None);
        }
    }
}

impl From<&[u8]> for Content {
    fn from(bytes: &[u8]) -> Self {
        let mut content = Self::default();
        content.write(bytes, 0);
        content
    }
}

/// Converts an offset or size in memory.
pub(crate) fn to_usize(number: u64) -> usize {
    usize::try_from(number).expect("a file in memory is smaller than the address space")
}

/// Converts a size in memory.
pub(crate) fn to_u64(number: usize) -> u64 {
    u64::try_from(number).expect("a size in memory has at most 64 bits")
}

/// 4 KiB: most pages are that large.
const CHUNK_SIZE: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_truncated_and_extended_contains_zeros() {
        let mut content = Content::from([7_u8; 10_000].as_slice());
        content.truncate(5000);
        content.write(&[9], 9000);
        let mut out = [1; 5001];
        assert_eq!(content.read(&mut out, 4999), 4002);
        assert_eq!(out[0], 7);
        assert!(out[1..4001].iter().all(|&byte| byte == 0));
        assert_eq!(out[4001], 9);
        assert!(out[4002..].iter().all(|&byte| byte == 0));
    }

    #[test]
    fn a_copy_is_independent_of_its_original() {
        let mut content = Content::from(b"before".as_slice());
        let copy = content.clone();
        content.write(b"after!", 0);
        assert_eq!(copy.to_vec(), b"before");
    }
}
