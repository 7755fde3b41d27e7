//! Buffers frames until their commit, so that a transaction is written to the log in one write.
//!
//! - sealed-whole-frames: the buffer contains only sealed, whole, consecutive frames:
//!   [`FrameBuffer::held`] is the future content of the file.
//! - turns-forget: data written before the last turn (see `Database::turn`) is never used again:
//!   the write lock was released, so it was rolled back, and others may have written there.
//! - append-cuts-off: adding a frame removes the buffered frames at its index and after it: SQLite
//!   appends, so those were rolled back.
//! - no-whole-transaction-stays: no whole transaction ever stays buffered: when its commit frame is
//!   added it is written, or that frame is removed.

use selenite_format::wal::{FRAME_HEADER_SIZE, HEADER_SIZE};

/// The frames of one transaction that are not in the file yet.
#[derive(Default)]
pub struct FrameBuffer {
    /// The frames begin at `start`, so that they are aligned in memory as in the file's pages; the
    /// bytes after them are unused.
    bytes: Vec<u8>,
    start: usize,
    frame_size: usize,
    first: u64,
    count: usize,
    /// A frame's header whose page was not written yet.
    header: Option<Header>,
    /// The commit frame that was written last: writes up to it are not buffered.
    commit: Option<u64>,
    turn: u64,
}

/// A frame's header in its form on disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Header {
    /// The frame's index.
    pub index: u64,
    /// The sealed header.
    pub bytes: [u8; FRAME_HEADER_SIZE],
    /// Whether the frame ends a transaction.
    pub is_commit: bool,
}

impl FrameBuffer {
    /// Drops what was written before `turn` (turns-forget).
    pub fn renew(&mut self, turn: u64, frame_size: usize) {
        if self.turn != turn || self.frame_size != frame_size {
            self.discard();
            self.turn = turn;
            self.frame_size = frame_size;
        }
    }

    /// Drops everything.
    pub fn discard(&mut self) {
        self.count = 0;
        self.header = None;
        self.commit = None;
    }

    /// Whether frames up to this one are written as SQLite writes them: after a commit frame it
    /// writes only headers, with new checksums.
    pub fn is_written(&self, index: u64) -> bool {
        self.commit.is_some_and(|commit| index <= commit)
    }

    /// Notes that a commit frame is in the file.
    pub fn set_written(&mut self, commit: u64) {
        self.commit = Some(commit);
    }

    /// Keeps a header until its page is written.
    pub fn hold(&mut self, header: Header) {
        self.header = Some(header);
    }

    /// Removes the header that waits for its page.
    pub fn take_header(&mut self) -> Option<Header> {
        self.header.take()
    }

    /// Removes the header that waits for its page, if it belongs to that frame.
    pub fn take_header_of(&mut self, index: u64) -> Option<Header> {
        self.header.take_if(|header| header.index == index)
    }

    /// A buffered frame, with its header.
    pub fn frame(&self, index: u64) -> Option<&[u8]> {
        let at = self.place(index)?;
        self.bytes.get(at..at + self.frame_size)
    }

    /// As [`FrameBuffer::frame`].
    pub fn frame_mut(&mut self, index: u64) -> Option<&mut [u8]> {
        let at = self.place(index)?;
        self.bytes.get_mut(at..at + self.frame_size)
    }

    /// Whether a frame can be added without a gap or too large a buffer: otherwise the buffered
    /// frames must be written first.
    pub fn has_room(&self, index: u64) -> bool {
        let end = self.end();
        let is_adjacent = index <= end;
        let size = (self.count + 1).saturating_mul(self.frame_size);
        self.count == 0 || (is_adjacent && (index < end || size <= SIZE_MAX))
    }

    /// Room for a frame's header and page. The frame counts once [`FrameBuffer::add`] was called.
    pub fn room(&mut self, index: u64) -> &mut [u8] {
        self.cut(index);
        if self.count == 0 {
            self.first = index;
            self.start = self.aligned_start();
        }
        let at = self.start + self.count * self.frame_size;
        let end = at + self.frame_size;
        if self.bytes.len() < end {
            self.bytes.resize(end, 0);
        }
        &mut self.bytes[at..end]
    }

    /// Adds the frame for which [`FrameBuffer::room`] was called.
    pub fn add(&mut self) {
        self.count += 1;
    }

    /// Removes the frame that was added last (no-whole-transaction-stays).
    pub fn remove_last(&mut self) {
        self.count = self.count.saturating_sub(1);
    }

    /// Drops the buffered frames, because they are in the file now.
    pub fn clear(&mut self) {
        self.count = 0;
    }

    /// Drops the frames from `index` on (append-cuts-off).
    pub fn cut(&mut self, index: u64) {
        let kept = usize::try_from(index.saturating_sub(self.first)).unwrap_or(usize::MAX);
        self.count = self.count.min(kept);
    }

    /// The index of the first buffered frame, and the bytes of all of them.
    pub fn held(&self) -> Option<(u64, &[u8])> {
        let size = self.count * self.frame_size;
        let held = self.bytes.get(self.start..self.start + size)?;
        (self.count > 0).then_some((self.first, held))
    }

    /// The number of buffered frames.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The index of the frame that would be added next.
    fn end(&self) -> u64 {
        self.first + u64::try_from(self.count).unwrap_or(0)
    }

    fn place(&self, index: u64) -> Option<usize> {
        let number = usize::try_from(index.checked_sub(self.first)?).ok()?;
        (number < self.count).then_some(self.start + number * self.frame_size)
    }

    /// The start of the first frame: at the same offset in a page of memory as in a page of the
    /// file. The kernel copies between them, which is slow if source and destination differ by a
    /// little modulo 4096 (Zen 3).
    fn aligned_start(&self) -> usize {
        let index = usize::try_from(self.first).unwrap_or(0);
        let in_file = index.wrapping_mul(self.frame_size).wrapping_add(HEADER_SIZE);
        let in_memory = self.bytes.as_ptr().addr();
        in_file.wrapping_sub(in_memory) % MEMORY_PAGE
    }
}

/// A larger transaction is written in parts of at most this size: 131,071 bytes. SQLite's own VFS
/// accepts no more in one call: `seekAndWriteFd` (os_unix.c) keeps the low 17 bits of the size, and
/// returns SQLITE_FULL if they are zero.
const SIZE_MAX: usize = 0x1ffff;
/// The size of the kernel's pages of a file.
const MEMORY_PAGE: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: usize = FRAME_HEADER_SIZE + 1024;

    fn buffer(turn: u64) -> FrameBuffer {
        let mut buffer = FrameBuffer::default();
        buffer.renew(turn, FRAME);
        buffer
    }

    fn add(buffer: &mut FrameBuffer, index: u64, content: u8) {
        buffer.room(index).fill(content);
        buffer.add();
    }

    fn contents(buffer: &FrameBuffer) -> (u64, Vec<u8>) {
        let Some((first, bytes)) = buffer.held() else {
            return (0, Vec::new());
        };
        assert!(
            bytes
                .chunks(FRAME)
                .all(|frame| frame.iter().all(|byte| *byte == frame[0]))
        );
        (first, bytes.chunks(FRAME).map(|frame| frame[0]).collect())
    }

    #[test]
    fn frames_are_held_in_order() {
        let mut buffer = buffer(1);
        for index in 7..27 {
            assert!(buffer.has_room(index));
            add(&mut buffer, index, u8::try_from(index).unwrap());
        }
        assert_eq!(contents(&buffer), (7, (7..27).collect()));
        assert_eq!(buffer.frame(8).map(|frame| frame[0]), Some(8));
        assert!(buffer.frame(6).is_none() && buffer.frame(27).is_none());
        buffer.clear();
        assert_eq!(buffer.held(), None);
        assert!(buffer.frame(8).is_none());
    }

    #[test]
    fn a_frame_within_cuts_off_those_behind() {
        let mut buffer = buffer(1);
        for index in 7..12 {
            add(&mut buffer, index, u8::try_from(index).unwrap());
        }
        add(&mut buffer, 9, 90);
        assert_eq!(contents(&buffer), (7, vec![7, 8, 90]));
        add(&mut buffer, 10, 100);
        assert_eq!(contents(&buffer), (7, vec![7, 8, 90, 100]));
    }

    #[test]
    fn a_frame_before_cuts_off_all() {
        let mut buffer = buffer(1);
        for index in 7..12 {
            add(&mut buffer, index, 1);
        }
        assert!(buffer.has_room(3));
        add(&mut buffer, 3, 30);
        assert_eq!(contents(&buffer), (3, vec![30]));
    }

    #[test]
    fn a_frame_behind_a_gap_has_no_room() {
        let mut buffer = buffer(1);
        add(&mut buffer, 7, 1);
        assert!(buffer.has_room(8));
        assert!(!buffer.has_room(9));
        buffer.clear();
        assert!(buffer.has_room(9));
    }

    #[test]
    fn no_more_is_held_than_one_write_may_take() {
        let mut buffer = buffer(1);
        let mut index = 0;
        while buffer.has_room(index) {
            add(&mut buffer, index, 1);
            index += 1;
        }
        assert_eq!(index, u64::try_from(SIZE_MAX / FRAME).unwrap());
        assert!(buffer.held().is_some_and(|(_, bytes)| bytes.len() <= SIZE_MAX));
        assert!(buffer.has_room(index - 1), "it takes the place of another");
    }

    #[test]
    fn another_turn_forgets_everything() {
        let mut buffer = buffer(1);
        add(&mut buffer, 7, 1);
        buffer.hold(Header {
            index: 8,
            bytes: [0; FRAME_HEADER_SIZE],
            is_commit: false,
        });
        buffer.set_written(6);
        buffer.renew(1, FRAME);
        assert_eq!((buffer.count(), buffer.is_written(6)), (1, true));
        buffer.renew(2, FRAME);
        assert!(buffer.held().is_none() && buffer.take_header().is_none());
        assert!(buffer.frame(7).is_none() && !buffer.is_written(6));
    }

    #[test]
    fn room_that_was_not_added_is_not_held() {
        let mut buffer = buffer(1);
        add(&mut buffer, 7, 1);
        buffer.room(8).fill(9);
        assert_eq!(contents(&buffer), (7, vec![1]));
        add(&mut buffer, 8, 2);
        buffer.remove_last();
        assert_eq!(contents(&buffer), (7, vec![1]));
    }

    #[test]
    fn up_to_the_commit_everything_goes_through() {
        let mut buffer = buffer(1);
        assert!(!buffer.is_written(0));
        buffer.set_written(5);
        assert!(buffer.is_written(5) && buffer.is_written(0) && !buffer.is_written(6));
    }

    #[test]
    fn frames_lie_in_memory_as_in_the_file() {
        let mut buffer = buffer(1);
        for round in 0..3_u64 {
            let first = 1000 * round;
            for index in first..first + 20 {
                add(&mut buffer, index, 1);
            }
            let (index, bytes) = buffer.held().unwrap();
            let in_file = usize::try_from(index).unwrap() * FRAME + HEADER_SIZE;
            if round > 0 {
                assert_eq!(bytes.as_ptr().addr() % MEMORY_PAGE, in_file % MEMORY_PAGE);
            }
            buffer.clear();
        }
    }
}
