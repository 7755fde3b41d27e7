//! The negotiation of encryption (MS-TDS 2.2.6.5, the table of ENCRYPTION).

use crate::{MessagePart, TdsError};

/// ENCRYPTION of a PRELOGIN.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Encryption {
    /// ENCRYPT_OFF (0): encryption is available; only the login is encrypted.
    #[default]
    Off,
    /// ENCRYPT_ON (1): the whole connection is encrypted.
    On,
    /// ENCRYPT_NOT_SUP (2): encryption is not available.
    NotSupported,
    /// ENCRYPT_REQ (3): the whole connection must be encrypted.
    Required,
    /// 4: the message is already inside TLS (TDS 8.0).
    Strict,
}

/// The server's setting.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EncryptionMode {
    /// No TLS.
    Off,
    /// The client decides: none, the login only, or the whole connection.
    Optional,
    /// The whole connection is encrypted, or the login fails.
    Required,
    /// TDS 8.0: TLS starts before the first packet; PRELOGIN is inside TLS, and its ENCRYPTION has no effect.
    Strict,
}

/// The encryption after PRELOGIN.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Channel {
    /// No change: under [`EncryptionMode::Strict`] the connection is already encrypted, otherwise it is plaintext.
    AsItIs,
    /// TLS starts in PRELOGIN messages and ends after LOGIN7.
    LoginOnly,
    /// TLS starts in PRELOGIN messages and continues to the end of the connection.
    Whole,
}

/// The result of the negotiation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Negotiated {
    /// ENCRYPTION of the server's PRELOGIN. It is sent even without an agreement, so that the client can report the
    /// reason.
    pub answer: Encryption,
    /// `None` without an agreement: the response is sent and the connection is closed.
    pub channel: Option<Channel>,
}

/// Negotiates as in the table of MS-TDS 2.2.6.5. A client's `Required` is treated as `On`.
#[must_use]
pub fn negotiate(client: Encryption, mode: EncryptionMode) -> Negotiated {
    let (answer, channel) = match (mode, client) {
        (EncryptionMode::Off, Encryption::Off | Encryption::NotSupported) => {
            (Encryption::NotSupported, Some(Channel::AsItIs))
        }
        (EncryptionMode::Off, Encryption::On | Encryption::Required | Encryption::Strict) => {
            (Encryption::NotSupported, None)
        }
        (EncryptionMode::Optional, Encryption::Off) => (Encryption::Off, Some(Channel::LoginOnly)),
        (EncryptionMode::Optional, Encryption::NotSupported) => (Encryption::NotSupported, Some(Channel::AsItIs)),
        (EncryptionMode::Optional, Encryption::On | Encryption::Required) => (Encryption::On, Some(Channel::Whole)),
        (EncryptionMode::Required, Encryption::Off) => (Encryption::Required, Some(Channel::Whole)),
        (EncryptionMode::Required, Encryption::On | Encryption::Required) => (Encryption::On, Some(Channel::Whole)),
        (EncryptionMode::Required, Encryption::NotSupported) => (Encryption::Required, None),
        // Strict is only valid before the first packet: PRELOGIN outside of TLS does not define it.
        (EncryptionMode::Optional | EncryptionMode::Required, Encryption::Strict) => (Encryption::Required, None),
        // The connection is already encrypted. Each client receives the value that it accepts: mssql-jdbc sends NOT_SUP
        // and closes the connection at any other value, go-mssqldb and SqlClient send 4, tedious and Microsoft's ODBC
        // driver ON.
        (EncryptionMode::Strict, Encryption::On | Encryption::Required) => (Encryption::On, Some(Channel::AsItIs)),
        (EncryptionMode::Strict, Encryption::Off | Encryption::NotSupported) => {
            (Encryption::NotSupported, Some(Channel::AsItIs))
        }
        (EncryptionMode::Strict, Encryption::Strict) => (Encryption::Strict, Some(Channel::AsItIs)),
    };
    Negotiated { answer, channel }
}

impl Encryption {
    /// The option's byte.
    #[must_use]
    pub const fn byte(self) -> u8 {
        match self {
            Self::Off => 0,
            Self::On => 1,
            Self::NotSupported => 2,
            Self::Required => 3,
            Self::Strict => 4,
        }
    }

    pub(super) fn from_byte(byte: u8) -> Result<Self, TdsError> {
        match byte {
            0 => Ok(Self::Off),
            1 => Ok(Self::On),
            2 => Ok(Self::NotSupported),
            3 => Ok(Self::Required),
            4 => Ok(Self::Strict),
            0x80..=0x83 => Err(TdsError::Unsupported {
                what: "a login by the client's certificate",
            }),
            _ => Err(TdsError::Malformed {
                part: MessagePart::Prelogin,
                what: "ENCRYPTION of PRELOGIN",
            }),
        }
    }
}
