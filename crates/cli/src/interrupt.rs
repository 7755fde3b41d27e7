//! Signals. On Ctrl-C the operation stops and cleans up; a second one ends the process at once. A
//! write beyond the limit of file sizes (`ulimit -f`) is an error, instead of a signal that ends
//! the process without a message.
//!
//! By crate `signal-hook`: it sets a flag in the signal handler itself, whereas `ctrlc` would start
//! a thread; it needs no unsafe code here.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;

/// Installs the handlers. Returns the flag that a signal sets.
pub fn install() -> Arc<AtomicBool> {
    let interrupted = Arc::new(AtomicBool::new(false));
    let second = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // Actions run in the order of their registration, and a signal can arrive between two
        // registrations: the flag comes first, so that no signal is lost. A signal that cannot be
        // caught ends the process, as without handlers; the next run detects the state that it
        // leaves.
        let _ = flag::register(signal, interrupted.clone());
        let _ = flag::register_conditional_shutdown(signal, INTERRUPTED, second.clone());
        let _ = flag::register(signal, second.clone());
    }
    interrupted
}

/// Makes a write that would exceed the limit of file sizes fail with EFBIG. By default the signal
/// ends the process, without a message and in the middle of its work.
pub fn outlive_limits() {
    // The flag is never read: the existence of a handler is sufficient.
    let _ = flag::register(SIGXFSZ, Arc::default());
}

/// The exit status after a second signal.
pub const INTERRUPTED: i32 = 130;
