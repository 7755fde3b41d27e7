//! The engine at work on a thread of its own, while the session's thread reports its progress.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::thread::{self, Thread};
use std::time::Duration;

use selenite::{EngineError, Observer, Progress, Watch};
use selenite_runtime::machine::Stop;

use super::{Ended, send_information};
use crate::execution_context::ExecutionContext;

/// What the engine returned, or that the session does not wait for it any more.
pub(crate) enum AttendedResult<R> {
    /// It is done, or failed.
    Done(Result<R, EngineError>),
    /// It was stopped, since the client wants no more of it.
    Stopped(Stop),
}

/// Who looks on.
struct SessionObserver {
    is_stopped: AtomicBool,
    /// How much is done, in per cent.
    percent: AtomicU8,
    /// Who is to be woken at each per cent.
    session: Thread,
}

impl Observer for SessionObserver {
    fn progress(&self, progress: Progress) {
        if progress.total == 0 {
            return;
        }
        let percent = u128::from(progress.done) * 100 / u128::from(progress.total);
        // The last per cent is reported when all is done.
        let percent = u8::try_from(percent.min(99)).unwrap_or(99);
        if self.percent.fetch_max(percent, Ordering::Relaxed) < percent {
            self.session.unpark();
        }
    }

    fn is_interrupted(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }
}

/// Runs `work`, sends 3211 at each `step` per cent, and stops it when the client cancels.
pub(crate) fn attend<R: Send>(
    (line, execution): (u32, &mut ExecutionContext<'_>),
    step: Option<u8>,
    work: impl FnOnce(&Watch) -> Result<R, EngineError> + Send,
) -> Result<AttendedResult<R>, Ended> {
    let observer = Arc::new(SessionObserver {
        is_stopped: AtomicBool::new(false),
        percent: AtomicU8::new(0),
        session: thread::current(),
    });
    let watch = Watch::new(observer.clone());
    let mut steps = Steps::new(step);
    let (outcome, stopped) = thread::scope(|scope| {
        let session = thread::current();
        let worker = scope.spawn(move || {
            let done = work(&watch);
            session.unpark();
            done
        });
        let mut stopped = None;
        while !worker.is_finished() {
            thread::park_timeout(LOOK_EVERY);
            if stopped.is_some() {
                continue;
            }
            let percent = observer.percent.load(Ordering::Relaxed);
            let told = steps.reach(percent, (line, &mut *execution));
            let told = told.and_then(|()| Ok(execution.reply.poll()?));
            if let Err(why) = told {
                observer.is_stopped.store(true, Ordering::Relaxed);
                stopped = Some(why);
            }
        }
        (worker.join(), stopped)
    });
    let outcome = match outcome {
        Ok(outcome) => outcome,
        // The hook has reported it.
        Err(panic) => std::panic::resume_unwind(panic),
    };
    match (outcome, stopped) {
        // A backup that is complete stays, also if the client is gone.
        (Ok(done), _) => Ok(AttendedResult::Done(Ok(done))),
        (Err(_), Some(Ended::Stopped(selenite_runtime::machine::Failure::Stop(stop)))) => {
            Ok(AttendedResult::Stopped(stop))
        }
        (Err(_), Some(other)) => Err(other),
        (Err(error), None) => Ok(AttendedResult::Done(Err(error))),
    }
}

/// Which steps were reported.
pub(crate) struct Steps {
    step: Option<u8>,
    told: u8,
}

impl Steps {
    /// None is reported without a `step`.
    pub(crate) fn new(step: Option<u8>) -> Self {
        Self { step, told: 0 }
    }

    /// Tells those that are reached.
    pub(crate) fn reach(&mut self, percent: u8, told: (u32, &mut ExecutionContext<'_>)) -> Result<(), Ended> {
        let Some(step) = self.step else { return Ok(()) };
        let reached = percent - percent % step.max(1);
        if reached <= self.told {
            return Ok(());
        }
        self.told = reached;
        send_information(3211, &format!("{reached} percent processed."), told)
    }
}

/// An ATTENTION is answered within 50 ms.
const LOOK_EVERY: Duration = Duration::from_millis(10);
