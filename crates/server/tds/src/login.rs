//! The login (MS-TDS 2.2.6.4).

mod feature;
mod fields;
mod password;
mod tds_version;

pub use feature::Feature;
pub use password::Password;
pub use tds_version::TdsVersion;

use crate::byte_reader::ByteReader;
use crate::{Part, TdsError};
use fields::{
    APP_NAME, ATTACH_FILE, DATABASE, Fields, HOST_NAME, LANGUAGE, LIBRARY_NAME, NEW_PASSWORD, PASSWORD, SERVER_NAME,
    USER_NAME,
};

/// 128 KiB - 1: what MS-TDS 2.2.6.4 allows.
pub const LOGIN_SIZE_MAX: usize = (128 << 10) - 1;

/// LOGIN7.
#[derive(Debug)]
pub struct Login {
    /// What the client speaks at most.
    pub tds_version: TdsVersion,
    /// The requested packet size; 0 for the server's own.
    pub packet_size: u32,
    /// The version of its library.
    pub client_version: u32,
    /// Its process.
    pub client_process: u32,
    /// Of a connection that this one continues.
    pub connection_id: u32,
    /// Minutes from UTC; not believed by SQL Server either.
    pub time_zone_minutes: i32,
    /// Of the client's language.
    pub lcid: u32,
    /// Whether a database that can't be used ends the login.
    pub is_database_fatal: bool,
    /// Whether a language that can't be used ends the login.
    pub is_language_fatal: bool,
    /// ODBC's or OLE DB's defaults of SET options: ANSI_DEFAULTS but for CURSOR_CLOSE_ON_COMMIT and
    /// IMPLICIT_TRANSACTIONS.
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
    /// Errors: `Cut`, `Malformed`; `Unsupported` for a protocol before 7.2 and for a machine that has other bytes
    /// than ours.
    pub fn parse(data: &[u8]) -> Result<Self, TdsError> {
        let mut reader = ByteReader::new(data, Part::Login);
        let size = usize::try_from(reader.u32()?).unwrap_or(usize::MAX);
        let tds_version = TdsVersion(reader.u32()?);
        // Before 7.2 what follows is shorter.
        if tds_version != TdsVersion::V8_0 && tds_version < TdsVersion::V7_2 {
            return Err(TdsError::Unsupported { what: "TDS before 7.2" });
        }
        let fields = Fields::new(data.get(..size).ok_or(TdsError::Cut { part: Part::Login })?)?;
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

    /// What this login requests and can't have here, if anything.
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

/// MS-TDS 2.2.6.4: OptionFlags1's fByteOrder, fChar and fFloat are those of every machine that is still made.
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
