//! One connection after login: requests in, packets out.

use std::fmt;
use std::io;
use std::sync::Arc;

use selenite_tds::{Incoming, PacketSink, PacketSize, TdsError, TokenWriter};

/// Requests in, answers out. It belongs to the session's thread.
pub struct Wire {
    line: Arc<()>,
    size: PacketSize,
    spid: u16,
}

/// Where the packets of answers go: each is encrypted and sent when it is given, and waits for a client that does not read.
#[derive(Clone)]
pub struct Outlet(Arc<()>);

/// Tells a long statement that it is to stop. It can be cloned, sent to SQLite's progress handler and asked often.
#[derive(Clone)]
pub struct Interrupts(Arc<()>);

/// Why a request is to stop now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Interrupt {
    /// The client sent ATTENTION: end the request, roll back what has to be, and answer it by a DONE with
    /// [`selenite_tds::Done::ATTENTION`] after [`Wire::take_attention`].
    Attention,
    /// KILL: end the session.
    Killed,
    /// The server stops: end the session.
    Stopping,
    /// The client is gone: end the session.
    Gone,
}

/// Why no request came.
#[derive(Debug)]
#[non_exhaustive]
pub enum WireError {
    /// The client closed the connection between two requests.
    Left,
    /// KILL.
    Killed,
    /// The server stops.
    Stopping,
    /// The client sent what is no TDS, or broke off within a message.
    Peer(TdsError),
    /// The system's error.
    Io(io::Error),
}

impl Wire {
    /// Waits for the next message.
    ///
    /// An ATTENTION that a request has not taken ([`Wire::take_attention`]) comes as [`Incoming::Attention`].
    ///
    /// # Errors
    /// [`WireError`]: the session ends.
    pub fn receive(&mut self) -> Result<Incoming, WireError> {
        let _ = &self.line;
        unimplemented!()
    }

    /// A writer of answers with the session's size of packets.
    #[must_use]
    pub fn answers(&self) -> TokenWriter<Outlet> {
        let _ = (self.size, self.spid);
        unimplemented!()
    }

    /// What tells a long statement to stop.
    #[must_use]
    pub fn interrupts(&self) -> Interrupts {
        Interrupts(self.line.clone())
    }

    /// Whether an ATTENTION was seen since the last time. The caller answers it.
    #[must_use]
    pub fn take_attention(&mut self) -> bool {
        unimplemented!()
    }
}

impl PacketSink for Outlet {
    fn send(&mut self, packet: &[u8]) -> io::Result<()> {
        let _ = (&self.0, packet);
        unimplemented!()
    }
}

impl Interrupts {
    /// Whether to stop. It looks at the socket at most every few milliseconds, and costs some ten nanoseconds else.
    #[must_use]
    pub fn poll(&self) -> Option<Interrupt> {
        let _ = &self.0;
        unimplemented!()
    }
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Left => f.write_str("the client left"),
            Self::Killed => f.write_str("the session was killed"),
            Self::Stopping => f.write_str("the server stops"),
            Self::Peer(error) => write!(f, "{error}"),
            Self::Io(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for WireError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Left | Self::Killed | Self::Stopping => None,
            Self::Peer(error) => Some(error),
            Self::Io(error) => Some(error),
        }
    }
}
