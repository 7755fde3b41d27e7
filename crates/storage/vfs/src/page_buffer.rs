//! A buffer for a sealed page that is being read or written.

use zeroize::Zeroize;

/// Bytes that start at a boundary of the machine's memory pages; wiped when dropped: in suite NONE
/// they are plaintext.
///
/// The system copies from the page cache, which is aligned in the same manner, with `rep movsb`. On
/// AMD Zen 3 that takes up to 30 times as long if the target is less than 64 bytes after the
/// source, modulo 4096 (sourceware.org/bugzilla, 30994): memory from malloc(3) is such a target, 16
/// bytes after the start of a page.
#[derive(Default)]
pub struct PageBuffer {
    memory: Vec<u8>,
    start: usize,
    size: usize,
}

impl PageBuffer {
    /// Sets the size to `size` bytes. The content is lost if the buffer has to grow.
    pub fn resize(&mut self, size: usize) {
        if self.memory.len() < size + ALIGNMENT {
            self.memory.zeroize();
            self.memory = vec![0; size + ALIGNMENT];
            self.start = ALIGNMENT - self.memory.as_ptr().addr() % ALIGNMENT;
        }
        self.size = size;
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.memory[self.start..self.start + self.size]
    }

    /// The bytes, to be written to.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..self.start + self.size]
    }
}

impl Drop for PageBuffer {
    fn drop(&mut self) {
        self.memory.zeroize();
    }
}

const ALIGNMENT: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_begin_at_a_page_of_memory_whatever_their_size() {
        let mut buffer = PageBuffer::default();
        assert!(buffer.bytes().is_empty());
        for size in [1024, 65536, 4096, 262_144] {
            buffer.resize(size);
            assert_eq!(buffer.bytes_mut().len(), size);
            assert!(buffer.bytes().as_ptr().addr().is_multiple_of(4096));
        }
    }
}
