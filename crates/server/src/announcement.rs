//! What a server says to whoever starts it.

use std::net::SocketAddr;
use std::path::Path;

/// What a server says to whoever starts it, in the order in which it happens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Announcement<'a> {
    /// Nobody named an identity: this age key opens the databases.
    Identity {
        /// Its file.
        path: &'a Path,
        /// Whether it was made just now.
        is_new: bool,
    },
    /// The first password of the login sa. It is said once, and never again.
    Password(&'a str),
    /// The server shows a certificate of its own.
    Certificate {
        /// Its file, for clients.
        path: &'a Path,
        /// SHA-256 of its DER.
        fingerprint: [u8; 32],
        /// Whether it was made just now.
        is_new: bool,
    },
    /// Others than this machine's programs can reach it.
    NotLoopback(SocketAddr),
    /// Passwords and data can go over the network in clear.
    InClear(SocketAddr),
}
