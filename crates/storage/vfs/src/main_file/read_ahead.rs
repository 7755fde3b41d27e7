//! Sealed pages that are read before SQLite asks for them: many in one call, each opened when it is asked for.
//!
//! What must hold is that a page served from here is the page that a read at that moment would have given. It does,
//! since between the two moments no one may write it:
//!
//! - window-per-transaction: the window belongs to one connection and one read transaction. It is
//!   filled only while a read lock is seen held (`ReadLock::is_held`), and dropped before that lock
//!   is given back. Without a lock there is none: a connection that is immutable, nolock, or in WAL
//!   mode without shared memory locks.
//! - shared-excludes-writers: in rollback mode the lock is SHARED: anyone who writes the database
//!   takes EXCLUSIVE first, which waits for all who hold SHARED (`pager_wait_on_lock` in
//!   `pager_write_pagelist`; `pagerLockDb` in `sqlite3PagerSharedLock` before a hot journal is
//!   played back). In exclusive mode, too: SHARED is then held all the time. Of a file with a log
//!   that is not open yet, SQLite reads page 1 and no other (`lockBtree`).
//! - read-mark-keeps-pages: in WAL mode it is a read mark. SQLite asks the database for page n only
//!   if `walFindFrame` finds none of its frames from `minFrame`, which was nBackfill + 1 when the
//!   transaction began, to the snapshot's `mxFrame`. The others who write are checkpoints.
//!   `walCheckpoint` copies frames above nBackfill up to `mxSafeFrame`, which is no higher than any
//!   read mark held, and no mark is higher than its holder's `mxFrame`: if one of these frames is
//!   of page n, the reader finds that frame and does not ask for the page here. Under mark 0
//!   nothing at all is copied: `walCheckpoint` locks it exclusively to begin. A log is restarted
//!   only when no process holds marks 1 to 4 (`walRestartLog`). So a page that SQLite asks for lies
//!   still from the beginning of the transaction to its end.
//! - unrequested-may-be-torn: read-mark-keeps-pages says nothing about pages that are read ahead and
//!   not asked for: they may be torn, or newer than the snapshot. A page that does not open is
//!   dropped in silence, and read again should SQLite ask for it.
//! - own-writes-forgotten: own writes: the page that is written is forgotten. All is dropped when
//!   the file is cut, when a checkpoint begins or ends, and when the WAL's memory is mapped or
//!   unmapped (the journal mode changes).
//!
//! The window holds images as they lie on disk, and no opened page. Whether an image is of this place is for its tag to
//! say, here as for any other read.

use selenite_cipher::PageNo;
use selenite_format::Geometry;

use super::run::{Direction, Runs, follows};
use crate::page_buffer::PageBuffer;

/// What one connection has read ahead.
#[derive(Default)]
pub struct ReadAhead {
    buffer: PageBuffer,
    window: Option<Window>,
    runs: Runs,
    /// How many pages the file had in this read transaction.
    page_count: Option<u32>,
    /// Pages that were asked for, and pages that were not: since these numbers were taken last.
    counts: (u64, u64),
}

/// The pages in the buffer.
struct Window {
    first: u32,
    count: u32,
    direction: Direction,
    page_bytes: usize,
    /// The page asked for last.
    last: u32,
    asked: PageSet,
    forgotten: PageSet,
    /// Reads elsewhere since a page of this window was asked for.
    idle: u32,
}

/// Pages to be read into the buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Plan {
    /// The lowest.
    pub first: u32,
    /// How many.
    pub count: u32,
    direction: Direction,
}

impl Plan {
    /// The same, of a file of so many pages; `None` if it has none of these.
    pub fn up_to(self, page_count: u32) -> Option<Self> {
        let count = page_count.checked_sub(self.first)?.saturating_add(1).min(self.count);
        Some(Self { count, ..self })
    }
}

impl ReadAhead {
    /// Notes that a page is asked for, and says what to read with it, if it is not here and reads are in a run.
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
            // Another run's. It is left to it while it makes use of it.
            Some(window) if window.idle < IDLE_MAX && !window.is_exhausted() => {
                window.idle += 1;
                return None;
            }
            Some(_) | None => limits.least,
        };
        limits.plan(page.0, size, direction)
    }

    /// Where to read the planned pages, one image behind the other. What was here before is dropped.
    pub fn begin(&mut self, plan: Plan, page_bytes: usize) -> &mut [u8] {
        self.drop_window();
        self.buffer.resize(page_bytes * to_usize(plan.count));
        self.buffer.bytes_mut()
    }

    /// The planned pages were read, of a file of so many.
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

    /// How many pages the file had when it was last read ahead, in this read transaction.
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

    /// Notes that a page from here was given to SQLite.
    pub fn serve(&mut self, page: PageNo) {
        if let Some(window) = &mut self.window
            && let Some(index) = window.index_of(page.0)
        {
            window.asked.insert(index);
            window.last = page.0;
            window.idle = 0;
        }
    }

    /// A page is no longer what lies here, or never was (unrequested-may-be-torn, own-writes-forgotten).
    pub fn forget(&mut self, page: PageNo) {
        if let Some(window) = &mut self.window
            && let Some(index) = window.index_of(page.0)
        {
            window.forgotten.insert(index);
        }
    }

    /// Drops all that is here: the read transaction ends, or something else of own-writes-forgotten.
    pub fn clear(&mut self) {
        self.drop_window();
        self.runs.clear();
        self.page_count = None;
    }

    /// Pages used and wasted since this was asked last.
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

    /// The page of it that comes last in its direction.
    fn edge(&self) -> u32 {
        match self.direction {
            Direction::Forwards => self.first + self.count - 1,
            Direction::Backwards => self.first,
        }
    }

    fn is_exhausted(&self) -> bool {
        self.last == self.edge()
    }

    /// Twice as many where nearly all were of use, half where few were.
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

/// How many pages are read at once, and which may lie side by side.
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

    /// Images lie one behind the other but for the page displaced by the lock bytes, and page 1 is read by itself.
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

/// 32 KiB: a run that ends soon wastes little.
const SIZE_MIN: u32 = 32768;
/// 256 KiB: what is read stays in the processor's second cache until it is opened. In pages of 1 KiB, 256.
const SIZE_MAX: u32 = 262_144;
/// Reads elsewhere after which a window is given up to another run.
const IDLE_MAX: u32 = 16;

#[cfg(test)]
mod tests;
