//! Why a line gives or takes no more.

use std::{fmt, io};

use selenite_tds::TdsError;

/// Why a line gives or takes no more.
#[derive(Debug)]
pub enum LineError {
    /// The peer closed it.
    End,
    /// The peer took longer than it may before login.
    TooSlow,
    /// The peer sent more than it may before login.
    TooMuch,
    /// The peer sends more than there is memory for.
    NoMemory,
    /// The peer sent what is no TLS, or not the TLS that was agreed on.
    Tls(rustls::Error),
    /// The peer broke a rule of TLS inside TDS.
    Framing(&'static str),
    /// The peer sent what is no TDS.
    Tds(TdsError),
    /// The machine, or the network.
    Io(io::Error),
}

impl From<rustls::Error> for LineError {
    fn from(error: rustls::Error) -> Self {
        Self::Tls(error)
    }
}

impl From<TdsError> for LineError {
    fn from(error: TdsError) -> Self {
        Self::Tds(error)
    }
}

impl From<io::Error> for LineError {
    fn from(error: io::Error) -> Self {
        let kind = error.kind();
        // By SO_RCVTIMEO and SO_SNDTIMEO: the error of a blocking socket when its time is over.
        if [io::ErrorKind::WouldBlock, io::ErrorKind::TimedOut].contains(&kind) {
            return Self::TooSlow;
        }
        let ends = [
            io::ErrorKind::ConnectionReset,
            io::ErrorKind::BrokenPipe,
            io::ErrorKind::UnexpectedEof,
        ];
        if ends.contains(&kind) {
            Self::End
        } else {
            Self::Io(error)
        }
    }
}

impl From<LineError> for io::Error {
    fn from(error: LineError) -> Self {
        match error {
            LineError::Io(error) => error,
            LineError::End => io::ErrorKind::BrokenPipe.into(),
            LineError::TooSlow => io::ErrorKind::TimedOut.into(),
            LineError::NoMemory => io::ErrorKind::OutOfMemory.into(),
            LineError::TooMuch | LineError::Tls(_) | LineError::Framing(_) | LineError::Tds(_) => Self::other(error),
        }
    }
}

impl fmt::Display for LineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::End => f.write_str("the peer closed the connection"),
            Self::TooSlow => f.write_str("the peer took too long"),
            Self::TooMuch => f.write_str("the peer sent too much before the login"),
            Self::NoMemory => f.write_str("the peer sent more than there is memory for"),
            Self::Tls(error) => write!(f, "TLS: {error}"),
            Self::Framing(what) => write!(f, "TLS inside TDS: {what}"),
            Self::Tds(error) => write!(f, "TDS: {error}"),
            Self::Io(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for LineError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::End | Self::TooSlow | Self::TooMuch | Self::NoMemory | Self::Framing(_) => None,
            Self::Tls(error) => Some(error),
            Self::Tds(error) => Some(error),
            Self::Io(error) => Some(error),
        }
    }
}
