//! Bytes that were received and not consumed yet.

use zeroize::Zeroize;

/// A buffer of a fixed size, filled at its end and taken from its front.
pub struct Inbound {
    bytes: Box<[u8]>,
    start: usize,
    end: usize,
}

impl Inbound {
    /// An empty one with room for `size` bytes.
    pub fn new(size: usize) -> Self {
        Self {
            bytes: vec![0; size].into_boxed_slice(),
            start: 0,
            end: 0,
        }
    }

    /// The present bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// Takes bytes from the front: at most as many as there are.
    pub fn consume(&mut self, count: usize) {
        self.start += count.min(self.end - self.start);
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
    }

    /// All the room that is available after the present bytes.
    pub fn room(&mut self) -> &mut [u8] {
        if self.start > 0 {
            self.bytes.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        &mut self.bytes[self.end..]
    }

    /// So many bytes were put into the room: at most as many as it had.
    pub fn filled(&mut self, count: usize) {
        self.end = self.bytes.len().min(self.end + count);
    }

    /// Overwrites what was taken: a password was among it.
    pub fn wipe_taken(&mut self) {
        self.bytes[..self.start].zeroize();
        self.bytes[self.end..].zeroize();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(inbound: &mut Inbound, bytes: &[u8]) {
        inbound.room()[..bytes.len()].copy_from_slice(bytes);
        inbound.filled(bytes.len());
    }

    #[test]
    fn what_is_not_taken_moves_to_the_front_when_room_is_needed() {
        let mut inbound = Inbound::new(4);
        put(&mut inbound, b"abcd");
        assert_eq!(inbound.room().len(), 0);
        inbound.consume(3);
        assert_eq!(inbound.bytes(), b"d");
        put(&mut inbound, b"efg");
        assert_eq!(inbound.bytes(), b"defg");
        inbound.consume(9);
        assert!(inbound.is_empty());
        assert_eq!(inbound.room().len(), 4);
    }

    #[test]
    fn what_was_taken_is_wiped_and_the_rest_stays() {
        let mut inbound = Inbound::new(8);
        put(&mut inbound, b"secret-a");
        inbound.consume(7);
        inbound.wipe_taken();
        assert_eq!(inbound.bytes(), b"a");
        assert_eq!(&inbound.bytes[..], b"\0\0\0\0\0\0\0a");
        inbound.consume(1);
        inbound.wipe_taken();
        assert_eq!(&inbound.bytes[..], [0; 8]);
    }
}
