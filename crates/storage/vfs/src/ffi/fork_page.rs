//! A page of memory that is zero in a forked child.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use super::platform::{map_fork_words, on_fork};

/// Sixty-four words that are zero in every process until it writes them itself.
///
/// The kernel wipes the page in a child, however it was forked (madvise(2), `MADV_WIPEONFORK`); a
/// handler of pthread_atfork(3) does so on kernels before 4.14. In addition the process id is
/// compared, as the last resort.
pub struct ForkPage {
    words: &'static [AtomicU64; 64],
    wiped_by_kernel: bool,
}

static PAGE: OnceLock<ForkPage> = OnceLock::new();

impl ForkPage {
    /// The only page of the process.
    #[must_use]
    pub fn of_process() -> &'static Self {
        PAGE.get_or_init(|| {
            let page = map();
            // Miri supports no handlers, and does not fork.
            if cfg!(miri) {
                return page;
            }
            // The handler only stores to atomics, which is safe between fork and exec.
            on_fork(wipe);
            page
        })
    }

    /// The words.
    #[must_use]
    pub fn words(&self) -> &'static [AtomicU64; 64] {
        if !self.wiped_by_kernel {
            self.wipe_once(u64::from(std::process::id()) << 1);
        }
        self.words
    }

    /// Wipes what another process wrote, before any thread of this process uses the words. `ready`
    /// is this process's mark.
    fn wipe_once(&self, ready: u64) {
        loop {
            let seen = self.words[PID].load(Ordering::Acquire);
            if seen == ready {
                return;
            }
            // Another thread of this process is wiping: a thread of the parent has a different
            // mark.
            if seen == ready | 1 {
                std::thread::yield_now();
                continue;
            }
            let won = self.words[PID].compare_exchange(seen, ready | 1, Ordering::AcqRel, Ordering::Relaxed);
            if won.is_ok() {
                self.words[..PID]
                    .iter()
                    .for_each(|word| word.store(0, Ordering::Relaxed));
                self.words[PID].store(ready, Ordering::Release);
                return;
            }
        }
    }
}

/// The last word: the process that wrote the others.
const PID: usize = 63;

extern "C" fn wipe() {
    if let Some(page) = PAGE.get() {
        for word in page.words {
            word.store(0, Ordering::Release);
        }
    }
}

fn map() -> ForkPage {
    // Miri does not support madvise(2).
    let mapped = if cfg!(miri) { None } else { map_fork_words() };
    let Some((words, wiped_by_kernel)) = mapped else {
        return unmapped();
    };
    ForkPage { words, wiped_by_kernel }
}

/// Words in memory of the allocator, which is never freed.
fn unmapped() -> ForkPage {
    ForkPage {
        words: Box::leak(Box::new([const { AtomicU64::new(0) }; 64])),
        wiped_by_kernel: false,
    }
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;

    /// The last resort: one thread must not wipe what another has written, nor see what the parent
    /// wrote.
    #[test]
    fn threads_that_wipe_at_once_see_nothing_of_the_parent_process() {
        for _ in 0..200 {
            let words = Box::leak(Box::new([const { AtomicU64::new(0) }; 64]));
            words[0].store(1 << 32, Ordering::Relaxed);
            words[PID].store((u64::from(std::process::id()) - 1) << 1, Ordering::Relaxed);
            let page = ForkPage {
                words,
                wiped_by_kernel: false,
            };
            let mut taken: Vec<u64> = std::thread::scope(|scope| {
                let take = || page.words()[0].fetch_add(1, Ordering::Relaxed);
                let threads: Vec<_> = (0..4).map(|_| scope.spawn(take)).collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            taken.sort_unstable();
            assert_eq!(taken, [0, 1, 2, 3]);
        }
    }

    #[test]
    fn a_forked_child_finds_the_page_empty() {
        // Other tests draw nonces from the page of their process.
        selenite_testing::own_process!();
        let words = ForkPage::of_process().words();
        words[0].store(7, Ordering::Release);
        // SAFETY: the child only reads memory and exits.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let empty = words[0].load(Ordering::Acquire) == 0;
            // SAFETY: exits without running any code of the parent.
            unsafe { libc::_exit(i32::from(!empty)) };
        }
        let mut status = 0;
        // SAFETY: waits for the child made above.
        unsafe { libc::waitpid(child, &raw mut status, 0) };
        assert_eq!(status, 0);
        assert_eq!(words[0].load(Ordering::Acquire), 7);
    }
}
