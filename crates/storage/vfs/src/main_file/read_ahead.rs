//! Reads sealed pages before SQLite requests them: many in one call; each is opened when it is
//! requested.
//!
//! A page served from here must be the page that a read at the time of the request would return. It
//! is, because the page cannot be written between the two times:
//!
//! - window-per-transaction: the window belongs to one connection and one read transaction. It is
//!   filled only while the read lock is known to be held (`ReadLock::is_held`), and dropped before
//!   that lock is released. Without a lock there is no window: a connection that is immutable,
//!   nolock, or in WAL mode without shared memory locks.
//! - shared-excludes-writers: in rollback mode the lock is SHARED: a connection that writes the
//!   database takes EXCLUSIVE first, which waits until no other connection holds SHARED
//!   (`pager_wait_on_lock` in `pager_write_pagelist`; `pagerLockDb` in `sqlite3PagerSharedLock`
//!   before a hot journal is played back). This also holds in exclusive mode: SHARED is then held
//!   all the time. In a file with a log that is not open yet, SQLite reads only page 1
//!   (`lockBtree`).
//! - read-mark-keeps-pages: in WAL mode the lock is a read mark. SQLite reads page n from the
//!   database only if `walFindFrame` finds none of its frames from `minFrame`, which was
//!   nBackfill + 1 when the transaction began, to the snapshot's `mxFrame`. The only other writers are
//!   checkpoints. `walCheckpoint` copies frames above nBackfill up to `mxSafeFrame`, which is no
//!   higher than any read mark held, and no mark is higher than its holder's `mxFrame`: if one of
//!   these frames is of page n, the reader finds that frame and does not read the page here. Under
//!   mark 0 nothing at all is copied: `walCheckpoint` locks it exclusively to begin. A log is
//!   restarted only when no process holds marks 1 to 4 (`walRestartLog`). So a page that SQLite
//!   reads here does not change from the beginning of the transaction to its end.
//! - unrequested-may-be-torn: read-mark-keeps-pages does not cover pages that are read ahead and
//!   not requested: they may be torn, or newer than the snapshot. A page that cannot be opened is
//!   dropped without an error, and read again if SQLite requests it.
//! - own-writes-forgotten: a page that this connection writes is dropped from the window. All pages
//!   are dropped when the file is truncated, when a checkpoint begins or ends, and when the WAL's
//!   memory is mapped or unmapped (the journal mode changes).
//!
//! The window contains images in their form on disk, and no opened page. Whether an image belongs
//! to its page number is verified by its tag, as in any other read.

use selenite_cipher::PageNo;
use selenite_format::Geometry;
use selenite_format::page_run::{Direction, Runs, follows};

use crate::page_buffer::PageBuffer;

/// The pages that one connection has read ahead.
#[derive(Default)]
pub struct ReadAhead {
    buffer: PageBuffer,
    window: Option<Window>,
    runs: Runs,
    /// The number of pages of the file in this read transaction.
    page_count: Option<u32>,
    /// Pages requested, and pages never requested, since these counts were last taken.
    counts: (u64, u64),
}

/// The pages in the buffer.
struct Window {
    first: u32,
    count: u32,
    direction: Direction,
    page_bytes: usize,
    /// The page requested last.
    last: u32,
    asked: PageSet,
    forgotten: PageSet,
    /// Requests outside the window since a page of this window was requested.
    idle: u32,
}

/// Pages to read into the buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Plan {
    /// The lowest page number.
    pub first: u32,
    /// The number of pages.
    pub count: u32,
    direction: Direction,
}

impl Plan {
    /// The plan, limited to a file of `page_count` pages; `None` if the file has none of these.
    pub fn up_to(self, page_count: u32) -> Option<Self> {
        let count = page_count.checked_sub(self.first)?.saturating_add(1).min(self.count);
        Some(Self { count, ..self })
    }
}

impl ReadAhead {
    /// Notes a request for a page, and returns which pages to read with it, if the page is not here
    /// and the requests are sequential.
    pub fn note(&mut self, page: PageNo, geometry: Geometry) -> Option<Plan> {
        let run = self.runs.note(page.0);
        if self.image(page).is_some() {
            return None;
        }
        let direction = run?;
        let limits = Limits::of(geometry);
        let size = match &mut self.window {
            Some(window) if follows(direction, window.edge(), page.0) && direction == window.direction => {
                window.next_size(limits)
            }
            // The window belongs to another run, which keeps it as long as it uses it.
            Some(window) if window.idle < IDLE_MAX && !window.is_exhausted() => {
                window.idle += 1;
                return None;
            }
            Some(_) | None => limits.least,
        };
        limits.plan(page.0, size, direction)
    }

    /// The buffer for the planned pages, one image after the other. The previous window is dropped.
    pub fn begin(&mut self, plan: Plan, page_bytes: usize) -> &mut [u8] {
        self.drop_window();
        self.buffer.resize(page_bytes * to_usize(plan.count));
        self.buffer.bytes_mut()
    }

    /// Notes that the planned pages were read, of a file of `page_count` pages.
    pub fn fill(&mut self, plan: Plan, page_bytes: usize, page_count: u32) {
        self.page_count = Some(page_count);
        self.window = Some(Window {
            first: plan.first,
            count: plan.count,
            direction: plan.direction,
            page_bytes,
            last: match plan.direction {
                Direction::Forwards => plan.first,
                Direction::Backwards => plan.first + plan.count - 1,
            },
            asked: PageSet::default(),
            forgotten: PageSet::default(),
            idle: 0,
        });
    }

    /// The number of pages of the file at the last read-ahead in this read transaction.
    pub fn page_count(&self) -> Option<u32> {
        self.page_count
    }

    /// The image of a page, if it is here.
    pub fn image(&self, page: PageNo) -> Option<&[u8]> {
        let window = self.window.as_ref()?;
        let index = window.index_of(page.0)?;
        let start = index * window.page_bytes;
        self.buffer.bytes().get(start..start + window.page_bytes)
    }

    /// Notes that a page from the window was passed to SQLite.
    pub fn serve(&mut self, page: PageNo) {
        if let Some(window) = &mut self.window
            && let Some(index) = window.index_of(page.0)
        {
            window.asked.insert(index);
            window.last = page.0;
            window.idle = 0;
        }
    }

    /// Drops a page whose image is invalid or outdated (unrequested-may-be-torn,
    /// own-writes-forgotten).
    pub fn forget(&mut self, page: PageNo) {
        if let Some(window) = &mut self.window
            && let Some(index) = window.index_of(page.0)
        {
            window.forgotten.insert(index);
        }
    }

    /// Drops all pages: the read transaction ends, or one of the other cases of
    /// own-writes-forgotten.
    pub fn clear(&mut self) {
        self.drop_window();
        self.runs.clear();
        self.page_count = None;
    }

    /// Pages used and wasted since the last call.
    pub fn take_counts(&mut self) -> (u64, u64) {
        std::mem::take(&mut self.counts)
    }

    fn drop_window(&mut self) {
        if let Some(window) = self.window.take() {
            let used = window.asked.count();
            self.counts.0 += u64::from(used);
            self.counts.1 += u64::from(window.count - used);
        }
    }
}

impl Window {
    fn index_of(&self, page: u32) -> Option<usize> {
        let index = page.checked_sub(self.first).filter(|index| *index < self.count)?;
        let index = to_usize(index);
        (!self.forgotten.has(index)).then_some(index)
    }

    /// The last page of the window in its direction.
    fn edge(&self) -> u32 {
        match self.direction {
            Direction::Forwards => self.first + self.count - 1,
            Direction::Backwards => self.first,
        }
    }

    fn is_exhausted(&self) -> bool {
        self.last == self.edge()
    }

    /// Twice as many if nearly all were used, half if few were.
    fn next_size(&self, limits: Limits) -> u32 {
        let used = self.asked.count();
        let size = if used * 4 >= self.count * 3 {
            self.count * 2
        } else if used * 2 < self.count {
            self.count / 2
        } else {
            self.count
        };
        size.clamp(limits.least, limits.most)
    }
}

/// The numbers of pages to read at once, and which pages are adjacent.
#[derive(Clone, Copy)]
struct Limits {
    least: u32,
    most: u32,
    geometry: Geometry,
}

impl Limits {
    fn of(geometry: Geometry) -> Self {
        let page_size = geometry.page_size().as_u32();
        Self {
            least: (SIZE_MIN / page_size).max(2),
            most: SIZE_MAX / page_size,
            geometry,
        }
    }

    /// Images are adjacent except for the page displaced by the lock bytes; page 1 is read
    /// separately.
    fn plan(self, page: u32, size: u32, direction: Direction) -> Option<Plan> {
        let (displaced, lock) = (self.geometry.displaced_page().0, self.geometry.lock_page().0);
        let (low, high) = match page {
            0 | 1 => return None,
            page if page < displaced => (2, displaced - 1),
            page if page > displaced && page < lock => (displaced + 1, lock - 1),
            page if page > lock => (lock + 1, u32::MAX - 1),
            _ => return None,
        };
        let (first, last) = match direction {
            Direction::Forwards => (page, page.saturating_add(size - 1).min(high)),
            Direction::Backwards => (page.saturating_sub(size - 1).max(low), page),
        };
        Some(Plan {
            first,
            count: last - first + 1,
            direction,
        })
    }
}

/// Some of the pages of a window.
#[derive(Default)]
struct PageSet([u64; 4]);

impl PageSet {
    fn insert(&mut self, index: usize) {
        self.0[index / 64] |= 1 << (index % 64);
    }

    fn has(&self, index: usize) -> bool {
        self.0[index / 64] & 1 << (index % 64) != 0
    }

    fn count(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }
}

fn to_usize(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// 32 KiB: little is wasted if a run ends soon.
const SIZE_MIN: u32 = 32768;
/// 256 KiB: the data stays in the processor's second-level cache until it is opened. In pages of 1
/// KiB, 256.
const SIZE_MAX: u32 = 262_144;
/// Requests elsewhere after which a window is given to another run.
const IDLE_MAX: u32 = 16;

#[cfg(test)]
mod tests;
