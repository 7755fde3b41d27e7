//! Frames that wait for their commit, so that a transaction reaches the log in one write.
//!
//! - sealed-whole-frames: only what was sealed lies here, whole frames that follow one another:
//!   [`FrameBuffer::held`] is what the file will have.
//! - turns-forget: what was written before the last turn (see `Database::turn`) is never looked at
//!   again: the write lock was given back, so it was rolled back, and others may have written
//!   there.
//! - append-cuts-off: a frame that is added cuts off what lay at its place and behind: SQLite
//!   appends, so that was rolled back.
//! - no-whole-transaction-stays: no whole transaction ever stays here: once its commit frame is
//!   added it is written, or that frame is taken out.

use selenite_format::wal::{FRAME_HEADER_SIZE, HEADER_SIZE};

/// The frames of one transaction that are not in the file yet.
#[derive(Default)]
pub struct FrameBuffer {
    /// The frames begin at `start`, so that they lie in memory as in the file's pages; what is behind them is of old.
    bytes: Vec<u8>,
    start: usize,
    frame_size: usize,
    first: u64,
    count: usize,
    /// A frame's header that waits for its page.
    header: Option<Header>,
    /// The commit frame that was written last: up to it everything is written through.
    commit: Option<u64>,
    turn: u64,
}

/// A frame's header as it lies on disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Header {
    /// The frame.
    pub index: u64,
    /// Sealed.
    pub bytes: [u8; FRAME_HEADER_SIZE],
    /// Whether a transaction ends with it.
    pub is_commit: bool,
}

impl FrameBuffer {
    /// Forgets what was written before `turn` (turns-forget).
    pub fn renew(&mut self, turn: u64, frame_size: usize) {
        if self.turn != turn || self.frame_size != frame_size {
            self.discard();
            self.turn = turn;
            self.frame_size = frame_size;
        }
    }

    /// Forgets everything.
    pub fn discard(&mut self) {
        self.count = 0;
        self.header = None;
        self.commit = None;
    }

    /// Whether frames up to this one are written as SQLite writes them: after a commit frame it signs headers alone.
    pub fn is_written(&self, index: u64) -> bool {
        self.commit.is_some_and(|commit| index <= commit)
    }

    /// Notes that a commit frame is in the file.
    pub fn set_written(&mut self, commit: u64) {
        self.commit = Some(commit);
    }

    /// Keeps a header until its page comes.
    pub fn hold(&mut self, header: Header) {
        self.header = Some(header);
    }

    /// The header that waits.
    pub fn take_header(&mut self) -> Option<Header> {
        self.header.take()
    }

    /// The header that waits, if it is that frame's.
    pub fn take_header_of(&mut self, index: u64) -> Option<Header> {
        self.header.take_if(|header| header.index == index)
    }

    /// A frame that is held, with its header.
    pub fn frame(&self, index: u64) -> Option<&[u8]> {
        let at = self.place(index)?;
        self.bytes.get(at..at + self.frame_size)
    }

    /// As [`FrameBuffer::frame`].
    pub fn frame_mut(&mut self, index: u64) -> Option<&mut [u8]> {
        let at = self.place(index)?;
        self.bytes.get_mut(at..at + self.frame_size)
    }

    /// Whether a frame can be added without a gap or too large a buffer: else what is held is to be written first.
    pub fn has_room(&self, index: u64) -> bool {
        let end = self.end();
        let is_adjacent = index <= end;
        let size = (self.count + 1).saturating_mul(self.frame_size);
        self.count == 0 || (is_adjacent && (index < end || size <= SIZE_MAX))
    }

    /// Room for a frame's header and page. It counts once [`FrameBuffer::add`] says so.
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

    /// Adds the frame that [`FrameBuffer::room`] was asked for.
    pub fn add(&mut self) {
        self.count += 1;
    }

    /// Takes out the frame that was added last (no-whole-transaction-stays).
    pub fn remove_last(&mut self) {
        self.count = self.count.saturating_sub(1);
    }

    /// Forgets what is held, for it is in the file now.
    pub fn clear(&mut self) {
        self.count = 0;
    }

    /// Forgets the frames from that one on (append-cuts-off).
    pub fn cut(&mut self, index: u64) {
        let kept = usize::try_from(index.saturating_sub(self.first)).unwrap_or(usize::MAX);
        self.count = self.count.min(kept);
    }

    /// The first frame that is held, and the bytes of all of them.
    pub fn held(&self) -> Option<(u64, &[u8])> {
        let size = self.count * self.frame_size;
        let held = self.bytes.get(self.start..self.start + size)?;
        (self.count > 0).then_some((self.first, held))
    }

    /// How many frames are held.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The frame that would be added next.
    fn end(&self) -> u64 {
        self.first + u64::try_from(self.count).unwrap_or(0)
    }

    fn place(&self, index: u64) -> Option<usize> {
        let number = usize::try_from(index.checked_sub(self.first)?).ok()?;
        (number < self.count).then_some(self.start + number * self.frame_size)
    }

    /// Where the first frame is to lie: as far into a page of memory as into a page of the file. The kernel copies from
    /// one to the other, which is slow where source and destination differ by a little modulo 4096 (Zen 3).
    fn aligned_start(&self) -> usize {
        let index = usize::try_from(self.first).unwrap_or(0);
        let in_file = index.wrapping_mul(self.frame_size).wrapping_add(HEADER_SIZE);
        let in_memory = self.bytes.as_ptr().addr();
        in_file.wrapping_sub(in_memory) % MEMORY_PAGE
    }
}

/// A transaction of more is written in parts of at most this size: 131,071 bytes. SQLite's own VFS takes no more in one
/// call: `seekAndWriteFd` (os_unix.c) keeps the low 17 bits of the size, and where they are zero answers SQLITE_FULL.
const SIZE_MAX: usize = 0x1ffff;
/// In which a file is kept by the kernel.
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
