//! The memory allocated by the calling thread, and its limit.
//!
//! A server gives each session a thread, and SQLite's connections stay on it. So the allocations of
//! a thread are those of a session: Rust's memory by [`crate::ffi::CountingAllocator`], SQLite's by
//! [`crate::ffi::count_sqlite`]. The page pool belongs to the process, and is not counted.
//!
//! - per-thread-counters: each thread has its own counters, without atomics; they are added to the
//!   process's total 64 KiB at a time.
//! - reserve-before-large: Rust's allocations never fail: code that is about to make a large one
//!   calls [`reserve`] first. SQLite's allocations fail within [`enforced`].
//! - use-begins: a use starts at [`begin`]: of Rust's earlier allocations only those that the
//!   caller declares as kept are counted; SQLite's memory is always counted.

use std::cell::Cell;
use std::sync::atomic::{AtomicI64, Ordering};

/// Starts a use of this thread, with a limit in bytes and `kept` bytes of Rust's memory that remain
/// from earlier uses. A limit of 0 means no limit.
pub fn begin(limit: u64, kept: u64) {
    let _ = THREAD_COUNTERS.try_with(|counters| {
        counters.base.set(counters.rust.get().saturating_sub(signed(kept)));
        counters.limit.set(signed(limit));
    });
}

/// The bytes that this thread uses.
#[must_use]
pub fn used() -> u64 {
    let used = THREAD_COUNTERS.try_with(ThreadCounters::used).unwrap_or(0);
    u64::try_from(used).unwrap_or(0)
}

/// Runs `body`, and also returns how many bytes of Rust's memory it left allocated.
pub fn measured<R>(body: impl FnOnce() -> R) -> (R, u64) {
    let allocated = || THREAD_COUNTERS.try_with(|counters| counters.rust.get()).unwrap_or(0);
    let before = allocated();
    let done = body();
    (done, u64::try_from(allocated() - before).unwrap_or(0))
}

/// The bytes used by all threads that count.
#[must_use]
pub fn total() -> u64 {
    u64::try_from(TOTAL.load(Ordering::Relaxed)).unwrap_or(0)
}

/// Sets the limit of all threads in bytes. 0 means no limit.
pub fn limit_total(limit: u64) {
    TOTAL_LIMIT.store(signed(limit), Ordering::Relaxed);
}

/// Whether this thread may use `bytes` more.
#[must_use]
pub fn reserve(bytes: u64) -> bool {
    THREAD_COUNTERS
        .try_with(|counters| counters.may_use(signed_size(bytes)))
        .unwrap_or(true)
}

/// Runs `body`, in which SQLite gets no more memory than the thread's limit.
pub fn enforced<R>(body: impl FnOnce() -> R) -> R {
    let before = THREAD_COUNTERS.try_with(|counters| counters.is_enforced.replace(true));
    // Restores it also if `body` panics.
    let _end = Enforced(before.unwrap_or(false));
    body()
}

/// Whether an allocation of SQLite was refused since the last call.
#[must_use]
pub fn take_refused() -> bool {
    THREAD_COUNTERS
        .try_with(|counters| counters.is_refused.replace(false))
        .unwrap_or(false)
}

/// Counts an allocation of Rust; negative for freed memory.
#[inline]
pub(crate) fn note_rust(bytes: i64) {
    let noted = THREAD_COUNTERS.try_with(|counters| {
        counters.rust.set(counters.rust.get() + bytes);
        counters.note(bytes);
    });
    if noted.is_err() {
        note_ending(bytes);
    }
}

/// Counts an allocation of SQLite; negative for freed memory.
pub(crate) fn note_sqlite(bytes: i64) {
    let noted = THREAD_COUNTERS.try_with(|counters| {
        counters.sqlite.set(counters.sqlite.get() + bytes);
        counters.note(bytes);
    });
    if noted.is_err() {
        note_ending(bytes);
    }
}

/// A thread that is ending adds directly to the total.
fn note_ending(bytes: i64) {
    TOTAL.fetch_add(bytes, Ordering::Relaxed);
}

/// Whether SQLite may allocate `bytes` more.
pub(crate) fn admits_sqlite(bytes: i64) -> bool {
    let admits = THREAD_COUNTERS.try_with(|counters| {
        let admits = !counters.is_enforced.get() || counters.may_use(bytes);
        if !admits {
            counters.is_refused.set(true);
        }
        admits
    });
    admits.unwrap_or(true)
}

struct ThreadCounters {
    rust: Cell<i64>,
    sqlite: Cell<i64>,
    /// Rust's memory at the start of the use.
    base: Cell<i64>,
    /// 0 means no limit.
    limit: Cell<i64>,
    is_enforced: Cell<bool>,
    is_refused: Cell<bool>,
    /// Bytes not yet added to the total.
    pending: Cell<i64>,
}

impl ThreadCounters {
    fn used(&self) -> i64 {
        (self.rust.get() - self.base.get()).max(0) + self.sqlite.get().max(0)
    }

    fn may_use(&self, more: i64) -> bool {
        let limit = self.limit.get();
        if limit == 0 {
            return true;
        }
        let wanted = self.used().saturating_add(more);
        if wanted > limit {
            return false;
        }
        let total_limit = TOTAL_LIMIT.load(Ordering::Relaxed);
        // If the total limit is reached, a thread that uses little may continue.
        wanted <= SHARE_ALWAYS || total_limit == 0 || TOTAL.load(Ordering::Relaxed).saturating_add(more) <= total_limit
    }

    #[inline]
    fn note(&self, bytes: i64) {
        let pending = self.pending.get() + bytes;
        if pending.abs() < PENDING_MAX {
            self.pending.set(pending);
        } else {
            self.pending.set(0);
            TOTAL.fetch_add(pending, Ordering::Relaxed);
        }
    }
}

/// Adds the remaining bytes of a thread that ends. Otherwise the total would drift with every
/// session.
impl Drop for ThreadCounters {
    fn drop(&mut self) {
        TOTAL.fetch_add(self.pending.replace(0), Ordering::Relaxed);
    }
}

/// Restores whether SQLite's allocations are limited.
struct Enforced(bool);

impl Drop for Enforced {
    fn drop(&mut self) {
        let _ = THREAD_COUNTERS.try_with(|counters| counters.is_enforced.set(self.0));
    }
}

fn signed(limit: u64) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

fn signed_size(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

thread_local! {
    static THREAD_COUNTERS: ThreadCounters = const { ThreadCounters {
        rust: Cell::new(0),
        sqlite: Cell::new(0),
        base: Cell::new(0),
        limit: Cell::new(0),
        is_enforced: Cell::new(false),
        is_refused: Cell::new(false),
        pending: Cell::new(0),
    } };
}

static TOTAL: AtomicI64 = AtomicI64::new(0);
static TOTAL_LIMIT: AtomicI64 = AtomicI64::new(0);

/// 64 KiB: the maximal error of the total per thread; most requests add nothing to the total.
const PENDING_MAX: i64 = 64 << 10;

/// 4 MiB: enough for a login, a short query and KILL when the other sessions use everything else.
const SHARE_ALWAYS: i64 = 4 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_may_use_its_limit_and_no_more() {
        std::thread::spawn(|| {
            assert!(reserve(u64::MAX));
            note_rust(1000);
            begin(500, 0);
            assert_eq!(used(), 0);
            note_rust(200);
            note_sqlite(100);
            assert_eq!(used(), 300);
            assert!(reserve(200) && !reserve(201));
            // Memory allocated by other threads and freed by this one gives no credit.
            note_rust(-5000);
            assert_eq!(used(), 100);
            assert!(!reserve(u64::MAX));
            begin(500, 0);
            assert_eq!(used(), 100);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn memory_kept_from_earlier_uses_counts_until_it_is_freed() {
        std::thread::spawn(|| {
            begin(500, 0);
            let ((), kept) = measured(|| {
                note_rust(300);
                note_rust(-50);
                note_sqlite(7);
            });
            assert_eq!(kept, 250);
            note_sqlite(-7);
            assert_eq!(measured(|| note_rust(-10)), ((), 0));
            begin(500, kept);
            assert_eq!(used(), 250);
            assert!(reserve(250) && !reserve(251));
            note_rust(-250);
            assert!(reserve(500));
        })
        .join()
        .unwrap();
    }

    #[test]
    fn sqlite_is_refused_memory_only_where_that_is_enforced() {
        std::thread::spawn(|| {
            begin(500, 0);
            assert!(admits_sqlite(501));
            assert!(!take_refused());
            enforced(|| {
                assert!(admits_sqlite(500));
                assert!(!admits_sqlite(501));
                enforced(|| assert!(!admits_sqlite(501)));
                assert!(!admits_sqlite(501));
            });
            assert!(take_refused() && !take_refused());
            assert!(admits_sqlite(501));
        })
        .join()
        .unwrap();
    }

    #[test]
    fn a_thread_that_ends_adds_its_pending_bytes_to_the_total() {
        const THREADS: i64 = 1000;
        let before = TOTAL.load(Ordering::Relaxed);
        for _ in 0..THREADS {
            let thread = std::thread::spawn(|| {
                // Allocated at once, and freed in parts that leave a remainder.
                note_rust(PENDING_MAX + 1);
                note_rust(-(PENDING_MAX / 2));
                note_rust(-(PENDING_MAX / 2) - 1);
            });
            thread.join().unwrap();
        }
        let drift = TOTAL.load(Ordering::Relaxed) - before;
        // Other tests run meanwhile, and each may have some bytes of its own in the total.
        assert!(drift.abs() < THREADS * PENDING_MAX / 8, "{drift}");
    }

    #[test]
    fn allocations_of_a_thread_are_in_the_total() {
        std::thread::spawn(|| {
            let before = total();
            note_rust(PENDING_MAX);
            assert!(total() >= before);
            note_rust(-PENDING_MAX);
        })
        .join()
        .unwrap();
    }
}
