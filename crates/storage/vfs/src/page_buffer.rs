//! Memory for sealed pages on their way.

use zeroize::Zeroize;

/// Bytes that begin at a page of the machine's memory; wiped when dropped: in suite NONE they are content.
///
/// The system copies a file's pages, which lie so, with `rep movsb`. On AMD Zen 3 that takes up to 30 times as long
/// where the target lies less than 64 bytes behind the source, modulo 4096 (sourceware.org/bugzilla, 30994): as memory
/// from malloc(3), 16 bytes behind the start of a page, does.
#[derive(Default)]
pub struct PageBuffer {
    memory: Vec<u8>,
    start: usize,
    size: usize,
}

impl PageBuffer {
    /// Makes it `size` bytes long. What was in it is lost if it was shorter.
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

    /// The bytes, to be filled.
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
