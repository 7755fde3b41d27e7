//! Signals that a command waits for which has nothing else to do: `selenite serve`.

use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use signal_hook::low_level::pipe;

use crate::interrupt::{INTERRUPTED, install};

/// A signal that is waited for.
pub struct Signal {
    pipe: UnixStream,
    is_starting: Arc<AtomicBool>,
}

/// What is waited for by who has nothing else to do until someone wants it to stop. Until [`Signal::started`] a
/// signal ends the process at once, whatever it waits for; from then on a second one does.
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
