//! Runs a task of a test between two calls that reach the disk: an action of another process at that moment.
//!
//! - once-before-the-call: the task runs before the call, while no lock of the disk is held, and at
//!   most once. Its own calls are not counted.
//! - never-where-others-wait: the task does not run where another process would have to wait:
//!   SQLite would then sleep, and no other process exists that could end the wait.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// The task.
type Task = Box<dyn FnOnce()>;

thread_local! {
    static WAITING: RefCell<Option<Waiting>> = const { RefCell::new(None) };
    /// The panic of the task, kept here because SQLite would discard it.
    static PANIC: RefCell<Option<Box<dyn Any + Send>>> = const { RefCell::new(None) };
}

struct Waiting {
    /// Remaining calls of this thread before the task.
    before: u64,
    work: Task,
}

/// While this value lives, the task is scheduled between calls of this thread.
pub struct InterleavedTask(());

impl InterleavedTask {
    /// Schedules `work` to run once, after `count` more calls of this thread have reached a disk.
    #[must_use]
    pub fn after(count: u64, work: impl FnOnce() + 'static) -> Self {
        let work = Box::new(work);
        WAITING.set(Some(Waiting { before: count, work }));
        Self(())
    }

    /// Cancels the task, and returns whether it ran.
    ///
    /// # Panics
    /// If the task panicked.
    #[must_use]
    pub fn end(self) -> bool {
        if let Some(panic) = PANIC.take() {
            resume_unwind(panic);
        }
        WAITING.take().is_none()
    }
}

impl Drop for InterleavedTask {
    fn drop(&mut self) {
        WAITING.set(None);
    }
}

/// Runs the task if it is due; called before each call that reaches the disk.
pub(crate) fn run_if_due() {
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
    fn the_task_runs_once_and_its_own_calls_are_not_counted() {
        let seen = Rc::new(Cell::new(0));
        let count = seen.clone();
        let task = InterleavedTask::after(2, move || {
            run_if_due();
            count.set(count.get() + 1);
        });
        run_if_due();
        run_if_due();
        assert_eq!(seen.get(), 0);
        (0..3).for_each(|_| run_if_due());
        assert!(task.end() && seen.get() == 1);
        let late = InterleavedTask::after(1, || ());
        run_if_due();
        assert!(!late.end());
    }

    #[test]
    #[should_panic(expected = "heard of")]
    fn a_panic_of_the_task_is_reported() {
        let task = InterleavedTask::after(0, || panic!("heard of"));
        run_if_due();
        let _ = task.end();
    }
}
