//! A buffer for pages that is aligned to a page of memory, and zeroed when it is dropped.

/// Bytes that begin at a multiple of 4096: the kernel copies whole pages into it, and ciphers read
/// whole blocks from it.
pub(crate) struct PageBuffer {
    bytes: Vec<u8>,
    start: usize,
    size: usize,
}

impl PageBuffer {
    /// A buffer of zeros.
    pub(crate) fn new(size: usize) -> Self {
        let bytes = vec![0; size + ALIGNMENT];
        let start = bytes.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT);
        Self { bytes, start, size }
    }

    /// All of it.
    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..self.start + self.size]
    }
}

impl Drop for PageBuffer {
    fn drop(&mut self) {
        self.bytes.fill(0);
    }
}

const ALIGNMENT: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_begins_at_a_page_of_memory_and_has_its_size() {
        for size in [1024, 65536, 262_144, 1_048_576] {
            let mut buffer = PageBuffer::new(size);
            assert_eq!(
                (buffer.bytes().as_ptr().align_offset(4096), buffer.bytes().len()),
                (0, size)
            );
        }
    }
}
