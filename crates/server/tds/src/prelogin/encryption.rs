//! What client and server agree on (MS-TDS 2.2.6.5, the table of ENCRYPTION).

use crate::{Part, TdsError};

/// ENCRYPTION of a PRELOGIN.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Encryption {
    /// 0: can be had; the login is encrypted.
    #[default]
    Off,
    /// 1: all is encrypted.
    On,
    /// 2: can't be had.
    NotSupported,
    /// 3: all must be encrypted.
    Required,
    /// 4: TLS already carries this message (TDS 8).
    Strict,
}

/// What the server wants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EncryptionMode {
    /// No TLS at all.
    Off,
    /// As the client wants: none, the login alone, or all.
    Optional,
    /// All, or no session.
    Required,
    /// TLS before the first packet; PRELOGIN comes through it, and its ENCRYPTION does not count.
    Strict,
}

/// What is encrypted from here on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Channel {
    /// Nothing more than is already: under [`EncryptionMode::Strict`] that is all, else nothing.
    AsItIs,
    /// TLS begins in PRELOGIN messages and ends after LOGIN7.
    LoginOnly,
    /// TLS begins in PRELOGIN messages and stays.
    Whole,
}

/// The server's answer, and what follows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Negotiated {
    /// ENCRYPTION of the server's PRELOGIN. It is sent also if nothing follows, so that the client can say why.
    pub answer: Encryption,
    /// None: they can't agree; the answer is sent and the connection closed.
    pub channel: Option<Channel>,
}

/// Decides as MS-TDS 2.2.6.5 has it. A client's `Required` is taken as `On`.
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
        // Strict belongs before the first packet: inside PRELOGIN there is nothing of that name.
        (EncryptionMode::Optional | EncryptionMode::Required, Encryption::Strict) => (Encryption::Required, None),
        // All is encrypted already. Each client gets the word that it takes for agreement: mssql-jdbc says NOT_SUP
        // and ends the session at any other, go-mssqldb and SqlClient say 4, tedious and Microsoft's ODBC driver ON.
        (EncryptionMode::Strict, Encryption::On | Encryption::Required) => (Encryption::On, Some(Channel::AsItIs)),
        (EncryptionMode::Strict, Encryption::Off | Encryption::NotSupported) => {
            (Encryption::NotSupported, Some(Channel::AsItIs))
        }
        (EncryptionMode::Strict, Encryption::Strict) => (Encryption::Strict, Some(Channel::AsItIs)),
    };
    Negotiated { answer, channel }
}

impl Encryption {
    /// The byte of the option.
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
                part: Part::Prelogin,
                what: "ENCRYPTION of PRELOGIN",
            }),
        }
    }
}
