//! The configuration of a server.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use selenite::Access;
use selenite_tds::EncryptionMode;

use crate::audit::AuditSettings;
use crate::log::Log;
use crate::password::PasswordCost;

/// The configuration of a server.
#[derive(Clone, Debug)]
pub struct Config {
    /// The folder of the databases. It is created if it is missing.
    pub data: PathBuf,
    /// The identity that opens them; if none is in force, an age key is created, or the existing one is used.
    pub access: Access,
    /// Where to create that age key; the user's configuration folder if it is not specified.
    pub new_identity: Option<PathBuf>,
    /// The address to listen at. Port 0 takes any that is free.
    pub listen: SocketAddr,
    /// The certificate; if none is given, the server creates its own.
    pub tls_files: Option<TlsFiles>,
    /// What clients must, may or can't have encrypted.
    pub encryption: EncryptionMode,
    /// Which thread encrypts packets.
    pub tls_offload: TlsOffload,
    /// How new databases are created.
    pub new_databases: NewDatabases,
    /// The folders whose files BULK INSERT may read.
    pub bulk_folders: Vec<PathBuf>,
    /// The limits.
    pub limits: ServerLimits,
    /// The cost of hashing passwords that are set from now on.
    pub password_cost: PasswordCost,
    /// The audit log.
    pub audit: AuditSettings,
    /// The server's log.
    pub log: Log,
}

/// A certificate and its key, each a PEM file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TlsFiles {
    /// The certificate, then the ones that vouch for it.
    pub certificate: PathBuf,
    /// Its key: PKCS #8, PKCS #1 or SEC 1, not encrypted.
    pub key: PathBuf,
}

/// Which thread encrypts packets.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum TlsOffload {
    /// The session's own thread.
    #[default]
    Inline,
    /// Another thread, for which the session waits: as SQL Server did until 2014.
    Thread,
}

/// How CREATE DATABASE creates a database, and what SET ENCRYPTION OFF makes of one.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum NewDatabases {
    /// Encrypted under the server's identity, from the first byte on.
    #[default]
    Encrypted,
    /// In clear until SET ENCRYPTION ON, as SQL Server has it.
    Clear,
}

/// The limits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ServerLimits {
    /// Connections that have not logged in, at a time.
    pub lobby_max: usize,
    /// Sessions at a time.
    pub sessions: SessionLimits,
    /// Wrong passwords.
    pub attempts: AttemptLimits,
    /// How long a request of a login without administrator's rights may run, a batch or a call; zero is as long as it
    /// takes.
    pub request_time: Duration,
    /// How long a connection may take to log in.
    pub login_time: Duration,
    /// Bytes of one request.
    pub message_size_max: u32,
    /// Passwords that are tried at a time.
    pub password_check_max: usize,
    /// Bytes of memory that one session may use.
    pub session_memory: u64,
    /// Bytes of memory that all sessions may use; 0 is three quarters of the machine's.
    pub server_memory: u64,
    /// How long a statement waits for a lock, whatever SET LOCK_TIMEOUT says.
    pub lock_timeout: Duration,
}

/// How many wrong passwords are tried before a lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AttemptLimits {
    /// In a row, of one login, before it is locked. At least 1.
    pub per_login: u32,
    /// From one address, for all logins together; 0 is no limit.
    pub per_address: u32,
}

/// The limits of sessions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SessionLimits {
    /// At a time.
    pub max: usize,
    /// Of these, of one login.
    pub per_login: usize,
    /// In addition to these, for administrators when all others are taken.
    pub administrators: usize,
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            // Each of the 256 costs a thread and some 100 KiB.
            lobby_max: 256,
            sessions: SessionLimits {
                // Each of the 4096 costs a thread, and file descriptors for its databases.
                max: 4096,
                // A quarter: a client that leaks connections leaves room for others.
                per_login: 1024,
                // One, as SQL Server's dedicated administrator connection.
                administrators: 1,
            },
            attempts: AttemptLimits {
                per_login: 5,
                // 100, and one more each minute: an office with one address has many users who mistype.
                per_address: 100,
            },
            request_time: Duration::ZERO,
            // SQL Server's clients give up after 15 s.
            login_time: Duration::from_secs(15),
            // 256 MiB: SQL Server's limit of a batch is 65,536 packets, which at 4096 bytes is the same.
            message_size_max: 256 << 20,
            // Two: 38 MiB, and some 80 logins a second.
            password_check_max: 2,
            // 256 MiB: a text of 128 MiB, the longest, and a copy of it.
            session_memory: 256 << 20,
            server_memory: 0,
            // SQL Server's clients give a statement 30 s.
            lock_timeout: Duration::from_secs(30),
        }
    }
}

impl Config {
    /// A server of this folder, with all defaults: on loopback, at SQL Server's port.
    #[must_use]
    pub fn new(data: impl Into<PathBuf>) -> Self {
        Self {
            data: data.into(),
            access: Access::default(),
            new_identity: None,
            listen: SocketAddr::from(([127, 0, 0, 1], PORT)),
            tls_files: None,
            encryption: EncryptionMode::Required,
            tls_offload: TlsOffload::Inline,
            new_databases: NewDatabases::default(),
            bulk_folders: Vec::new(),
            limits: ServerLimits::default(),
            password_cost: PasswordCost::DEFAULT,
            audit: AuditSettings::default(),
            log: Log::silent(),
        }
    }
}

/// SQL Server's.
pub const PORT: u16 = 1433;
