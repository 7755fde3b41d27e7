//! How others end a connection whose thread waits for its socket.

use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Weak};

/// Why a connection is ended by another thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pull {
    /// KILL.
    Killed,
    /// The server stops.
    Stopping,
}

/// Ends a connection from outside: its thread is told, and every wait for the socket ends at once.
pub struct Leash {
    /// The connection's thread has it: when that is done, the socket is closed, whoever still has a leash.
    socket: Weak<TcpStream>,
    pulled: AtomicU8,
}

impl Leash {
    /// The leash of a connection.
    pub fn new(socket: &Arc<TcpStream>) -> Self {
        Self {
            socket: Arc::downgrade(socket),
            pulled: AtomicU8::new(FREE),
        }
    }

    /// Ends the connection. The first reason stays.
    pub fn pull(&self, why: Pull) {
        let state = match why {
            Pull::Killed => KILLED,
            Pull::Stopping => STOPPING,
        };
        // In this order: whoever is woken by the socket finds the reason.
        let _ = self
            .pulled
            .compare_exchange(FREE, state, Ordering::AcqRel, Ordering::Acquire);
        if let Some(socket) = self.socket.upgrade() {
            // One that the peer has closed needs none of it.
            let _ = socket.shutdown(Shutdown::Both);
        }
    }

    /// Whether it was pulled, and why.
    pub fn pulled(&self) -> Option<Pull> {
        match self.pulled.load(Ordering::Acquire) {
            KILLED => Some(Pull::Killed),
            STOPPING => Some(Pull::Stopping),
            _ => None,
        }
    }
}

const FREE: u8 = 0;
const KILLED: u8 = 1;
const STOPPING: u8 = 2;
