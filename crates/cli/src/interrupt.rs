//! Signals. Ctrl-C: the operation stops and cleans up; a second one ends the process at once. A
//! file that may not grow (`ulimit -f`) is an error of who writes it, not the end of the process
//! without a word.
//!
//! By crate `signal-hook`: it sets a flag in the signal handler itself, where `ctrlc` would start a thread, and does
//! so without a line of unsafe code here.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;

/// The flag that is set when someone wants it to stop.
pub fn install() -> Arc<AtomicBool> {
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // In this order: the first signal finds the flag not set yet. A signal that can't be caught ends the process,
        // as it would have; what it leaves is found by the next run.
        let _ = flag::register_conditional_shutdown(signal, INTERRUPTED, interrupted.clone());
        let _ = flag::register(signal, interrupted.clone());
    }
    interrupted
}

/// Has a write that would make a file longer than it may be fail, and say so (EFBIG). By default the signal ends the
/// process, without a word and with whatever is half done.
pub fn outlive_limits() {
    // The flag is never read: that there is a handler is enough.
    let _ = flag::register(SIGXFSZ, Arc::default());
}

/// The exit status after a second signal.
pub const INTERRUPTED: i32 = 130;
