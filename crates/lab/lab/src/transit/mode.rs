//! The modes of encryption of a connection.

use selenite_tds::Encryption;
use selenite_worker::protocol::PLAIN;

/// The encrypted part of a connection, and the method.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// Nothing.
    Off,
    /// The login alone: the mode of SQL Server's clients that request no encryption.
    Optional,
    /// Everything, by TLS 1.2 inside TDS.
    Require,
    /// Everything, by TLS 1.3 around TDS 8.
    Strict,
    /// As `Require`, but each packet is encrypted by another thread, as SQL Server 2014 did.
    Offload,
}

/// The ciphers of the worker: all modes but the plain one.
pub const CIPHERS: [&str; 4] = ["optional", "require", "strict", "offload"];

impl Mode {
    /// The mode of a cipher's name, or of [`PLAIN`].
    #[must_use]
    pub fn of(cipher: &str) -> Option<Self> {
        match cipher {
            PLAIN => Some(Self::Off),
            "optional" => Some(Self::Optional),
            "require" => Some(Self::Require),
            "strict" => Some(Self::Strict),
            "offload" => Some(Self::Offload),
            _ => None,
        }
    }

    /// The value of the server's `--encryption`.
    #[must_use]
    pub fn of_server(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Optional => "optional",
            Self::Require | Self::Offload => "require",
            Self::Strict => "strict",
        }
    }

    /// The value of the server's `--tls-offload`.
    #[must_use]
    pub fn offload(self) -> &'static str {
        match self {
            Self::Offload => "thread",
            Self::Off | Self::Optional | Self::Require | Self::Strict => "inline",
        }
    }

    /// The mode that the client requests.
    #[must_use]
    pub fn asked(self) -> Encryption {
        match self {
            Self::Off => Encryption::NotSupported,
            Self::Optional => Encryption::Off,
            Self::Require | Self::Offload => Encryption::On,
            Self::Strict => Encryption::Strict,
        }
    }

    /// The description in the worker's status.
    #[must_use]
    pub fn says(self) -> &'static str {
        match self {
            Self::Off => "nothing",
            Self::Optional => "the login alone",
            Self::Require | Self::Strict => "all",
            Self::Offload => "all, by another thread",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cipher_is_a_mode_of_its_own() {
        let modes: Vec<Mode> = CIPHERS.iter().map(|name| Mode::of(name).unwrap()).collect();
        assert_eq!(modes, [Mode::Optional, Mode::Require, Mode::Strict, Mode::Offload]);
        assert_eq!(Mode::of(PLAIN), Some(Mode::Off));
        assert_eq!(Mode::of("AES_256"), None);
    }
}
