//! The interface to what serves sessions.

use std::sync::Arc;

use selenite_tds::{Feature, PacketSize, TdsVersion};

use crate::master::{DatabaseRecord, LoginRecord};
use crate::{Instance, SessionEntry, Wire};

/// Serves sessions once they have logged in.
///
/// One value serves all sessions, each on a thread of its own.
pub trait Front: Send + Sync {
    /// Whether a login may use an existing database. Called before the login is answered: if not, it fails with error
    /// 4060.
    fn admits(&self, instance: &Instance, login: &LoginRecord, database: &DatabaseRecord) -> bool;

    /// The server has started. Called once, before the first session.
    fn begin(&self, _instance: &Arc<Instance>) {}

    /// Serves one session, whose login was answered, until its client disconnects or the session is ended. When this
    /// returns the connection is closed.
    fn serve(&self, session: Session<'_>) -> Ended;

    /// Ends the front's own background work. Called once, when no session is left and none will come.
    fn close(&self);
}

/// A session that begins.
pub struct Session<'a> {
    /// The server: logins, databases, other sessions, counters.
    pub instance: &'a Arc<Instance>,
    /// The login and its options.
    pub login_info: LoginInfo,
    /// Requests arrive here and answers are sent here.
    pub wire: Wire,
    /// What other sessions can see of this session.
    pub entry: Arc<SessionEntry>,
}

/// A login and the options that it requested.
#[derive(Clone, Debug)]
pub struct LoginInfo {
    /// The login's name as it is stored.
    pub login: String,
    /// Its principal id.
    pub login_id: i64,
    /// Its security id.
    pub sid: [u8; 16],
    /// Whether it is an administrator.
    pub is_administrator: bool,
    /// The database in use, as it is stored: the requested one, or the login's own.
    pub database: String,
    /// Its id.
    pub database_id: i32,
    /// The language that was reported to the client.
    pub language: &'static str,
    /// The version of TDS.
    pub tds_version: TdsVersion,
    /// The size of packets.
    pub packet_size: PacketSize,
    /// Whether everything that follows is encrypted.
    pub is_encrypted: bool,
    /// HOST_NAME(): the client's machine, as the client calls it.
    pub host: String,
    /// APP_NAME(): the client's program, as it calls itself.
    pub program: String,
    /// The name of the server as the client specified it.
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
    /// The features that the client requested beyond the protocol's version.
    pub features: Vec<Feature>,
}

/// How a session ended, for the log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// The client closed the connection.
    Left,
    /// KILL, or the server stops.
    Terminated,
    /// The connection broke.
    Broken,
    /// The client broke the protocol, or an error of severity 20 or above ended it.
    Refused,
}
