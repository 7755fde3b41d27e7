//! The seam to what serves sessions.

use std::sync::Arc;

use selenite_tds::{Feature, PacketSize, TdsVersion};

use crate::master::{DatabaseRecord, LoginRecord};
use crate::{Instance, SessionEntry, Wire};

/// Serves sessions once they have logged in.
///
/// One value serves all sessions, each on a thread of its own.
pub trait Front: Send + Sync {
    /// Whether a login may use a database that exists. Asked before the login is answered: if not, it fails with
    /// error 4060.
    fn admits(&self, instance: &Instance, login: &LoginRecord, database: &DatabaseRecord) -> bool;

    /// The server has started. Called once, before the first session.
    fn begin(&self, _instance: &Arc<Instance>) {}

    /// Serves one session, whose login was answered, until its client disconnects or the session is ended. When this
    /// returns the connection is closed.
    fn serve(&self, session: Session<'_>) -> Ended;

    /// Ends what the front itself has running. Called once, when no session is left and none will come.
    fn close(&self);
}

/// A session that begins.
pub struct Session<'a> {
    /// The server: logins, databases, other sessions, counters.
    pub instance: &'a Arc<Instance>,
    /// The login, and how.
    pub login_info: LoginInfo,
    /// Requests come and answers go here.
    pub wire: Wire,
    /// What others can see of this session.
    pub entry: Arc<SessionEntry>,
}

/// Who logged in, and with what wishes.
#[derive(Clone, Debug)]
pub struct LoginInfo {
    /// The login's name as it is stored.
    pub login: String,
    /// Its principal id.
    pub login_id: i64,
    /// Its security id.
    pub sid: [u8; 16],
    /// Whether it may do everything.
    pub is_administrator: bool,
    /// The database in use, as it is stored: the requested one, or the login's own.
    pub database: String,
    /// Its id.
    pub database_id: i32,
    /// The language that was reported to the client.
    pub language: &'static str,
    /// What is spoken.
    pub tds_version: TdsVersion,
    /// The size of packets.
    pub packet_size: PacketSize,
    /// Whether all that follows is encrypted.
    pub is_encrypted: bool,
    /// HOST_NAME(): the client's machine, as the client calls it.
    pub host: String,
    /// APP_NAME(): the client's program, as it calls itself.
    pub program: String,
    /// The server that the client means to have reached.
    pub server: String,
    /// The client's library, as it calls itself.
    pub library: String,
    /// The library's version.
    pub client_version: u32,
    /// The client's process, as it says.
    pub client_process: u32,
    /// The client's network card, as it says.
    pub client_id: [u8; 6],
    /// The client's language.
    pub lcid: u32,
    /// Whether it begins with the SET options of ODBC and OLE DB.
    pub is_odbc: bool,
    /// ApplicationIntent=ReadOnly.
    pub is_read_only: bool,
    /// What the client would have liked beyond the protocol's version.
    pub features: Vec<Feature>,
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
