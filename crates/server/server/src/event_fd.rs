//! Wakes a thread that waits for a socket.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::{EventfdFlags, eventfd};

/// Wakes a thread that waits for a socket and for this.
pub struct EventFd(OwnedFd);

impl EventFd {
    /// A event that was not rung.
    ///
    /// # Errors
    /// The system's, where it has no more descriptors.
    pub fn new() -> io::Result<Self> {
        Ok(Self(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?))
    }

    /// Rings it, until it is quieted.
    pub fn ring(&self) {
        // It fails only where it was rung 2^64 times: then it rings.
        let _ = rustix::io::write(&self.0, &1_u64.to_ne_bytes());
    }

    /// Quiets it.
    pub fn quiet(&self) {
        // It fails only where it does not ring.
        let _ = rustix::io::read(&self.0, &mut [0; 8]);
    }
}

impl AsFd for EventFd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
