//! What is done when the process exits.

use std::sync::OnceLock;

use super::guard::guard_or;
use super::platform::on_exit;

static ACTION: OnceLock<fn()> = OnceLock::new();

/// Calls `action` when the process exits by exit(3) or by returning from `main`; not when it is killed or calls
/// _exit(2). Only the first action of a process is kept. The action must not wait: other threads may hold any lock.
pub fn at_exit(action: fn()) {
    if ACTION.set(action).is_ok() {
        on_exit(run);
    }
}

extern "C" fn run() {
    guard_or((), || {
        if let Some(action) = ACTION.get() {
            action();
        }
    });
}
