//! LOGIN7 (MS-TDS 2.2.6.4).

mod feature;
mod fields;
mod password;
mod tds_version;

pub use feature::Feature;
pub use password::Password;
pub use tds_version::TdsVersion;

use crate::byte_reader::ByteReader;
use crate::{MessagePart, TdsError};
use fields::{
    APP_NAME, ATTACH_FILE, DATABASE, Fields, HOST_NAME, LANGUAGE, LIBRARY_NAME, NEW_PASSWORD, PASSWORD, SERVER_NAME,
    USER_NAME,
};

/// 128 KiB - 1: the maximum of MS-TDS 2.2.6.4.
pub const LOGIN_SIZE_MAX: usize = (128 << 10) - 1;

/// LOGIN7: the client's login and connection options.
#[derive(Debug)]
pub struct Login {
    /// TDSVersion: the highest version that the client supports.
    pub tds_version: TdsVersion,
    /// PacketSize: the requested packet size; 0 for the server's default.
    pub packet_size: u32,
    /// ClientProgVer: the version of the client library.
    pub client_version: u32,
    /// ClientPID: the client's process id.
    pub client_process: u32,
    /// ConnectionID: the connection that this one continues.
    pub connection_id: u32,
    /// ClientTimeZone: minutes from UTC; ignored, as by SQL Server.
    pub time_zone_minutes: i32,
    /// ClientLCID: the client's locale.
    pub lcid: u32,
    /// fDatabase: whether an unavailable initial database fails the login.
    pub is_database_fatal: bool,
    /// fLanguage: whether an unavailable initial language fails the login.
    pub is_language_fatal: bool,
    /// fODBC: the session starts with the SET options of ODBC and OLE DB: ANSI_DEFAULTS except CURSOR_CLOSE_ON_COMMIT
    /// and IMPLICIT_TRANSACTIONS.
    pub is_odbc: bool,
    /// fIntSecurity: Windows authentication; not supported.
    pub is_integrated: bool,
    /// fReadOnlyIntent: ApplicationIntent=ReadOnly.
    pub is_read_only: bool,
    /// fUserInstance: a user instance of SQL Server Express; not supported.
    pub is_user_instance: bool,
    /// HostName: the client's machine.
    pub host_name: String,
    /// UserName: the name of the login.
    pub user_name: String,
    /// Password: the login's password.
    pub password: Password,
    /// AppName: the client application.
    pub app_name: String,
    /// ServerName: the server that the client addresses.
    pub server_name: String,
    /// CltIntName: the client library.
    pub library_name: String,
    /// Language: `us_english` and others; empty for the login's default.
    pub language: String,
    /// Database: the initial database; empty for the login's default.
    pub database: String,
    /// ClientID: the client's MAC address.
    pub client_id: [u8; 6],
    /// SSPI: the first authentication token.
    pub sspi: Vec<u8>,
    /// AtchDBFile: a file to attach as a database; not supported.
    pub attach_file: String,
    /// ChangePassword: a new password for the login, which is set before anything else.
    pub new_password: Option<Password>,
    /// FeatureExt: the requested features.
    pub features: Vec<Feature>,
}

impl Login {
    /// Parses the data of a message.
    ///
    /// Errors: `Cut`, `Malformed`; `Unsupported` for a protocol before 7.2 and for a client whose byte order, character
    /// set or floating-point format differs.
    pub fn parse(data: &[u8]) -> Result<Self, TdsError> {
        let mut reader = ByteReader::new(data, MessagePart::Login);
        let size = usize::try_from(reader.u32()?).unwrap_or(usize::MAX);
        let tds_version = TdsVersion(reader.u32()?);
        // LOGIN7 before 7.2 has a shorter fixed part.
        if tds_version != TdsVersion::V8_0 && tds_version < TdsVersion::V7_2 {
            return Err(TdsError::Unsupported { what: "TDS before 7.2" });
        }
        let fields = Fields::new(data.get(..size).ok_or(TdsError::Cut {
            part: MessagePart::Login,
        })?)?;
        let packet_size = reader.u32()?;
        let client_version = reader.u32()?;
        let client_process = reader.u32()?;
        let connection_id = reader.u32()?;
        let [option1, option2, types, option3] = reader.array()?;
        check_machine(option1)?;
        let time_zone_minutes = i32::from_le_bytes(reader.array()?);
        let lcid = reader.u32()?;
        let new_password = if option3 & CHANGE_PASSWORD == 0 {
            None
        } else {
            Some(fields.password(NEW_PASSWORD)?)
        };
        let features = if option3 & EXTENSION == 0 {
            Vec::new()
        } else {
            Feature::parse_all(fields.extension()?)?
        };
        Ok(Self {
            tds_version,
            packet_size,
            client_version,
            client_process,
            connection_id,
            time_zone_minutes,
            lcid,
            is_database_fatal: option1 & DATABASE_FATAL != 0,
            is_language_fatal: option2 & LANGUAGE_FATAL != 0,
            is_odbc: option2 & ODBC != 0 || types & OLE_DB != 0,
            is_integrated: option2 & INTEGRATED != 0,
            is_read_only: types & READ_ONLY_INTENT != 0,
            is_user_instance: option3 & USER_INSTANCE != 0,
            host_name: fields.text(HOST_NAME)?,
            user_name: fields.text(USER_NAME)?,
            password: fields.password(PASSWORD)?,
            app_name: fields.text(APP_NAME)?,
            server_name: fields.text(SERVER_NAME)?,
            library_name: fields.text(LIBRARY_NAME)?,
            language: fields.text(LANGUAGE)?,
            database: fields.text(DATABASE)?,
            client_id: fields.client_id()?,
            sspi: fields.sspi()?.to_vec(),
            attach_file: fields.text(ATTACH_FILE)?,
            new_password,
            features,
        })
    }

    /// The first unsupported feature that this login requests, if any.
    #[must_use]
    pub fn unsupported(&self) -> Option<&'static str> {
        if self.is_integrated {
            return Some("Windows authentication");
        }
        if self.features.iter().any(|feature| feature.id == Feature::FEDERATED) {
            return Some("federated authentication");
        }
        if self.is_user_instance {
            return Some("a user instance");
        }
        (!self.attach_file.is_empty()).then_some("AttachDbFilename")
    }
}

/// MS-TDS 2.2.6.4: OptionFlags1's fByteOrder, fChar and fFloat. All machines in use have the same values.
fn check_machine(option1: u8) -> Result<(), TdsError> {
    match option1 & OTHER_MACHINE {
        0 => Ok(()),
        _ => Err(TdsError::Unsupported {
            what: "a client whose numbers or characters are not those of x86",
        }),
    }
}

const OTHER_MACHINE: u8 = 0x0F;
const DATABASE_FATAL: u8 = 0x40;
const LANGUAGE_FATAL: u8 = 0x01;
const ODBC: u8 = 0x02;
const INTEGRATED: u8 = 0x80;
const OLE_DB: u8 = 0x10;
const READ_ONLY_INTENT: u8 = 0x20;
const CHANGE_PASSWORD: u8 = 0x01;
const USER_INSTANCE: u8 = 0x04;
const EXTENSION: u8 = 0x10;

#[cfg(test)]
mod tests;
