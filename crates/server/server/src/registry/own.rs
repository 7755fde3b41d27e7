//! What the calling thread reports of the session that it serves.
//!
//! - `thread-knows-its-session`: a session belongs to one thread (plans/serve.md, S1), which learns
//!   of it when the session enters the registry: so code that waits, deep below the session, needs
//!   no handle. On a thread that serves no session nothing is reported, and nothing counted.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use selenite_compiler::program::Program;

use super::activity::{Activity, SessionSight, TransactionSight};
use super::wait_type::WaitType;

/// A wait of the calling thread's session, until it is dropped.
pub struct OwnWait {
    activity: Option<Arc<Activity>>,
    kind: WaitType,
    begun: Instant,
}

/// The calling thread's session begins to wait.
#[must_use]
pub fn begin_wait(kind: WaitType) -> OwnWait {
    let begun = Instant::now();
    let activity = OWN.with_borrow(Clone::clone);
    if let Some(activity) = &activity {
        activity.begin_wait(kind, begun);
    }
    OwnWait { activity, kind, begun }
}

impl OwnWait {
    /// Reports which session holds what is waited for; 0 is none.
    pub fn blocked_by(&self, spid: u16) {
        if let Some(activity) = &self.activity {
            activity.block(spid);
        }
    }
}

impl Drop for OwnWait {
    fn drop(&mut self) {
        if let Some(activity) = &self.activity {
            activity.end_wait(self.kind, self.begun);
        }
    }
}

/// @@SPID of the calling thread's session; 0 without one.
#[must_use]
pub fn spid() -> u16 {
    OWN.with_borrow(|own| own.as_ref().map_or(0, |activity| activity.spid()))
}

/// The first program that a request runs is the client's own; `state` is called only for it. `text` is the client's, if
/// it is not the program's.
pub fn note_program(
    program: &Arc<Program>,
    text: Option<Arc<str>>,
    is_call: bool,
    state: impl FnOnce() -> SessionSight,
) {
    with(|activity| {
        if activity.note_program(program, text, is_call) {
            activity.note_state(state());
        }
    });
}

/// The session's options, between two requests.
pub fn note_state(state: impl FnOnce() -> SessionSight) {
    with(|activity| activity.note_state(state()));
}

/// The kind of statement that begins; none when it ends.
pub fn note_command(command: Option<&'static str>) {
    with(|activity| {
        activity.note_command(command);
        if command.is_none() {
            activity.note_files();
        }
    });
}

/// The client's transaction: its number and name when it begins, none when it ends.
pub fn note_transaction(begun: Option<(u64, &str)>) {
    let begun = begun.map(|(id, name)| TransactionSight {
        id,
        name: name.to_owned(),
        begun: SystemTime::now(),
    });
    with(|activity| activity.note_transaction(begun));
}

/// The right to write to a database: waited for, or had.
pub fn note_lock(database_id: i32, is_granted: bool) {
    with(|activity| activity.note_lock(database_id, is_granted));
}

/// It is given up.
pub fn forget_lock(database_id: i32) {
    with(|activity| activity.forget_lock(database_id));
}

/// The calling thread serves this session from now on.
pub(super) fn enter(activity: &Arc<Activity>) {
    OWN.set(Some(activity.clone()));
}

/// It serves it no more.
pub(super) fn leave(activity: &Arc<Activity>) {
    OWN.with_borrow_mut(|own| {
        if own.as_ref().is_some_and(|own| Arc::ptr_eq(own, activity)) {
            *own = None;
        }
    });
}

fn with(tell: impl FnOnce(&Activity)) {
    OWN.with_borrow(|own| {
        if let Some(activity) = own {
            tell(activity);
        }
    });
}

thread_local! {
    static OWN: RefCell<Option<Arc<Activity>>> = const { RefCell::new(None) };
}
