//! Signals for `selenite serve`, which only waits for one.

use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use signal_hook::low_level::pipe;

use crate::interrupt::{INTERRUPTED, install};

/// A signal to wait for.
pub struct Signal {
    pipe: UnixStream,
    is_starting: Arc<AtomicBool>,
}

/// Installs the handlers. Until [`Signal::started`] a signal ends the process at once, whatever it
/// waits for; from then on only a second one does.
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
    /// Ends the start: from now on, a signal ends [`Signal::wait`].
    pub fn started(&self) {
        self.is_starting.store(false, Ordering::Release);
    }

    /// Waits for a signal.
    pub fn wait(mut self) {
        // An end or an error of the pipe would be the system's; there is nothing left to wait for then.
        let _ = self.pipe.read(&mut [0]);
    }
}
