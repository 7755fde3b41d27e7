//! What a server announces when it starts.

use std::net::SocketAddr;
use std::path::Path;

/// What a server announces when it starts, in the order in which it happens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Announcement<'a> {
    /// No identity was configured: this age key opens the databases.
    Identity {
        /// Its file.
        path: &'a Path,
        /// Whether it was created just now.
        is_new: bool,
    },
    /// The first password of the login sa. It is announced once, and never again.
    Password(&'a str),
    /// The server uses a certificate of its own.
    Certificate {
        /// Its file, for clients.
        path: &'a Path,
        /// SHA-256 of its DER.
        fingerprint: [u8; 32],
        /// Whether it was created just now.
        is_new: bool,
    },
    /// The process may have too few file descriptors for the configured number of sessions.
    FewerSessions {
        /// The configured number of sessions.
        promised: usize,
        /// The number that is possible.
        allowed: usize,
        /// How many descriptors the process may have.
        descriptors: u64,
    },
    /// Other machines can reach it.
    NotLoopback(SocketAddr),
    /// Passwords and data can go over the network in clear.
    InClear(SocketAddr),
}
