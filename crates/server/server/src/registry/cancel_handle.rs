//! How others end a connection whose thread waits for its socket.

use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Weak};

/// Why a connection is ended by another thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CancelReason {
    /// KILL.
    Killed,
    /// The server stops.
    Stopping,
}

/// Ends a connection from another thread: its own thread is notified, and every wait for the socket ends at once.
pub struct CancelHandle {
    /// The connection's thread has it: when that is done, the socket is closed, also if a cancel handle is left.
    socket: Weak<TcpStream>,
    cancelled: AtomicU8,
}

impl CancelHandle {
    /// The cancel handle of a connection.
    pub fn new(socket: &Arc<TcpStream>) -> Self {
        Self {
            socket: Arc::downgrade(socket),
            cancelled: AtomicU8::new(FREE),
        }
    }

    /// Ends the connection. The first reason stays.
    pub fn pull(&self, why: CancelReason) {
        let state = match why {
            CancelReason::Killed => KILLED,
            CancelReason::Stopping => STOPPING,
        };
        // In this order: a thread that the socket wakes finds the reason.
        let _ = self
            .cancelled
            .compare_exchange(FREE, state, Ordering::AcqRel, Ordering::Acquire);
        if let Some(socket) = self.socket.upgrade() {
            // One that the peer has closed needs none of it.
            let _ = socket.shutdown(Shutdown::Both);
        }
    }

    /// Whether it was pulled, and why.
    pub fn cancelled(&self) -> Option<CancelReason> {
        match self.cancelled.load(Ordering::Acquire) {
            KILLED => Some(CancelReason::Killed),
            STOPPING => Some(CancelReason::Stopping),
            _ => None,
        }
    }
}

const FREE: u8 = 0;
const KILLED: u8 = 1;
const STOPPING: u8 = 2;
