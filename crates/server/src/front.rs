//! The seam to what serves sessions.

use std::sync::Arc;

use selenite_tds::{Login, PacketSize, TdsVersion};

use crate::{Instance, SessionEntry, Wire};

/// Serves sessions once they have logged in.
///
/// One value serves all sessions, each on a thread of its own.
pub trait Front: Send + Sync {
    /// Whether a login may use a database that exists. Asked before the login is answered: if not, it fails with error 4060.
    fn admits(&self, instance: &Instance, login: &str, database: &str) -> bool;

    /// Serves one session, whose login was answered, until its client leaves or it is told to end. When this returns the
    /// connection is closed.
    fn serve(&self, session: Session<'_>) -> Ended;
}

/// A session that begins.
pub struct Session<'a> {
    /// The server: logins, databases, other sessions, counters.
    pub instance: &'a Instance,
    /// Who came, and how.
    pub visitor: Visitor,
    /// Requests come and answers go here.
    pub wire: Wire,
    /// What others can see of this session.
    pub entry: Arc<SessionEntry>,
}

/// Who logged in, and with what wishes.
#[derive(Debug)]
pub struct Visitor {
    /// The login's name as it is stored.
    pub login: String,
    /// Its security id.
    pub sid: [u8; 16],
    /// Whether it may do everything.
    pub is_administrator: bool,
    /// The database in use, as it is stored: the one asked for, or the login's own.
    pub database: String,
    /// Its id.
    pub database_id: i32,
    /// What the client was told its language is.
    pub language: &'static str,
    /// What is spoken.
    pub tds_version: TdsVersion,
    /// The size of packets.
    pub packet_size: PacketSize,
    /// Whether all that follows is encrypted.
    pub is_encrypted: bool,
    /// Host, program, library, options as the client sent them; its passwords are gone.
    pub login7: Login,
}

/// How a session ended, for the log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// The client closed the connection.
    Left,
    /// KILL, or the server stops.
    Told,
    /// The connection broke.
    Broken,
    /// The client broke the protocol, or an error of severity 20 or above ended it.
    Refused,
}
