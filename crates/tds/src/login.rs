//! The login (MS-TDS 2.2.6.4).

mod feature;
mod password;
mod tds_version;

pub use feature::Feature;
pub use password::Password;
pub use tds_version::TdsVersion;

use crate::TdsError;

/// 128 KiB - 1: what MS-TDS 2.2.6.4 allows.
pub const LOGIN_SIZE_MAX: usize = (128 << 10) - 1;

/// LOGIN7.
#[derive(Debug)]
pub struct Login {
    /// What the client speaks at most.
    pub tds_version: TdsVersion,
    /// Which size of packets it asks for; 0 for the server's own.
    pub packet_size: u32,
    /// The version of its library.
    pub client_version: u32,
    /// Its process.
    pub client_process: u32,
    /// Of a connection that this one goes on with.
    pub connection_id: u32,
    /// Minutes from UTC; not believed by SQL Server either.
    pub time_zone_minutes: i32,
    /// Of the client's language.
    pub lcid: u32,
    /// Whether a database that can't be used ends the login.
    pub is_database_fatal: bool,
    /// Whether a language that can't be used ends the login.
    pub is_language_fatal: bool,
    /// ODBC's or OLE DB's defaults of SET options: ANSI_DEFAULTS but for CURSOR_CLOSE_ON_COMMIT and IMPLICIT_TRANSACTIONS.
    pub is_odbc: bool,
    /// Login by Windows; it can't be had here.
    pub is_integrated: bool,
    /// ApplicationIntent=ReadOnly.
    pub is_read_only: bool,
    /// A user instance of SQL Server Express; it can't be had here.
    pub is_user_instance: bool,
    /// The client's machine.
    pub host_name: String,
    /// Who logs in.
    pub user_name: String,
    /// By what.
    pub password: Password,
    /// The program.
    pub app_name: String,
    /// Whom the client means to reach.
    pub server_name: String,
    /// Its library.
    pub library_name: String,
    /// `us_english` and its like; empty for the login's own.
    pub language: String,
    /// Empty for the login's own.
    pub database: String,
    /// The network card's number.
    pub client_id: [u8; 6],
    /// A first token of SSPI.
    pub sspi: Vec<u8>,
    /// A file to attach as database; it can't be had here.
    pub attach_file: String,
    /// The password to set before anything else.
    pub new_password: Option<Password>,
    /// What the client would like beyond all this.
    pub features: Vec<Feature>,
}

impl Login {
    /// Reads the data of a message.
    ///
    /// Errors: `Cut`, `Malformed`, `TooLarge`, `Unsupported`.
    pub fn parse(data: &[u8]) -> Result<Self, TdsError> {
        let _ = data;
        unimplemented!()
    }
}
