//! Signals. Ctrl-C: the operation stops and cleans up; a second one ends the process at once. A
//! file that may not grow (`ulimit -f`) is an error of who writes it, not the end of the process
//! without a word.
//!
//! By crate `signal-hook`: it sets a flag in the signal handler itself, where `ctrlc` would start a thread, and does
//! so without a line of unsafe code here.

use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;
use signal_hook::low_level::pipe;

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

/// A signal that is waited for.
pub struct Signal {
    pipe: UnixStream,
    is_starting: Arc<AtomicBool>,
}

/// What is waited for by who has nothing else to do until someone wants it to stop. Until
/// [`Signal::started`] a signal ends the process at once, whatever it waits for; from then on a
/// second one does.
pub fn signal() -> io::Result<Signal> {
    let is_starting = Arc::new(AtomicBool::new(true));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        flag::register_conditional_shutdown(signal, INTERRUPTED, is_starting.clone())?;
    }
    install();
    let (read, write) = UnixStream::pair()?;
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        pipe::register(signal, write.try_clone()?)?;
    }
    Ok(Signal {
        pipe: read,
        is_starting,
    })
}

impl Signal {
    /// The start is over: a signal is waited for from now on.
    pub fn started(&self) {
        self.is_starting.store(false, Ordering::Release);
    }

    /// Waits.
    pub fn wait(mut self) {
        // An end or an error would be the system's: there is nothing left to wait for then.
        let _ = self.pipe.read(&mut [0]);
    }
}

/// Has a write that would make a file longer than it may be fail, and say so (EFBIG). By default
/// the signal ends the process, without a word and with whatever is half done.
pub fn outlive_limits() {
    // The flag is no one's: that there is a handler is enough.
    let _ = flag::register(SIGXFSZ, Arc::default());
}

const INTERRUPTED: i32 = 130;
