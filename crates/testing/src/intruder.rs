//! Someone who comes between two calls that reach the disk: what another process may do at that moment, done then.
//!
//! - once-before-the-call: it comes before the call, while no lock of the disk is held, and at most
//!   once. Its own calls count as no one's.
//! - never-where-others-wait: it does not come where another process would have to wait: SQLite
//!   sleeps then, and here no one would wake.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// What is done.
type IntruderTask = Box<dyn FnOnce()>;

thread_local! {
    static WAITING: RefCell<Option<Waiting>> = const { RefCell::new(None) };
    /// Why it panicked: on its way through SQLite no one would hear of that.
    static PANIC: RefCell<Option<Box<dyn Any + Send>>> = const { RefCell::new(None) };
}

struct Waiting {
    /// Calls of this thread that come before.
    before: u64,
    work: IntruderTask,
}

/// As long as this lives, someone waits to come between this thread's calls.
pub struct Intruder(());

impl Intruder {
    /// Does `work` once, when that many more calls of this thread have reached a disk.
    #[must_use]
    pub fn after(count: u64, work: impl FnOnce() + 'static) -> Self {
        let work = Box::new(work);
        WAITING.set(Some(Waiting { before: count, work }));
        Self(())
    }

    /// Waits no longer, and says whether it came.
    ///
    /// # Panics
    /// If its work did.
    #[must_use]
    pub fn end(self) -> bool {
        if let Some(panic) = PANIC.take() {
            resume_unwind(panic);
        }
        WAITING.take().is_none()
    }
}

impl Drop for Intruder {
    fn drop(&mut self) {
        WAITING.set(None);
    }
}

/// A call is about to reach the disk.
pub(crate) fn come() {
    let due = WAITING.with_borrow_mut(|waiting| {
        if let Some(waiting) = waiting
            && waiting.before > 0
        {
            waiting.before -= 1;
            return None;
        }
        waiting.take()
    });
    if let Some(waiting) = due
        && let Err(panic) = catch_unwind(AssertUnwindSafe(waiting.work))
    {
        PANIC.set(Some(panic));
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use super::*;

    #[test]
    fn it_comes_once_and_its_own_calls_are_not_counted() {
        let seen = Rc::new(Cell::new(0));
        let count = seen.clone();
        let intruder = Intruder::after(2, move || {
            come();
            count.set(count.get() + 1);
        });
        come();
        come();
        assert_eq!(seen.get(), 0);
        (0..3).for_each(|_| come());
        assert!(intruder.end() && seen.get() == 1);
        let late = Intruder::after(1, || ());
        come();
        assert!(!late.end());
    }

    #[test]
    #[should_panic(expected = "heard of")]
    fn its_panic_is_heard_of() {
        let intruder = Intruder::after(0, || panic!("heard of"));
        come();
        let _ = intruder.end();
    }
}
