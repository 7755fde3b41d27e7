//! Messages from a stream of bytes that arrives in pieces.

use super::{HEADER_SIZE, Header, Incoming, Message, MessageKind, PacketSize, Reset};
use crate::{LOGIN_SIZE_MAX, Part, TdsError};

/// What a peer may send, and how much of it is held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limits {
    /// PRELOGIN and LOGIN7 alone: [`PRELOGIN_SIZE_MAX`], [`LOGIN_SIZE_MAX`], and [`PRE_LOGIN_TOTAL_MAX`] in all.
    BeforeLogin,
    /// Requests.
    LoggedIn {
        /// Bytes of one message without its packets' headers.
        message_size_max: u32,
    },
}

/// 20 KiB: a PRELOGIN has some hundred bytes, but the flights of TLS's handshake come as messages of the same kind, and
/// one of its records has 16 KiB.
pub const PRELOGIN_SIZE_MAX: usize = 20 * 1024;
/// 1 MiB: PRELOGIN, the handshake and a login of the largest size, several times over.
pub const PRE_LOGIN_TOTAL_MAX: usize = 1 << 20;

/// Puts messages together. What it holds of one is at most twice its limit, and grows only with what has come.
pub struct MessageReader {
    limits: Limits,
    /// Bytes that came before login, with headers.
    total: usize,
    header: [u8; HEADER_SIZE],
    header_size: usize,
    packet: Option<Packet>,
    message: Option<Message>,
}

/// The packet that is being read, once its header is known.
struct Packet {
    kind: MessageKind,
    status: u8,
    missing: usize,
}

impl MessageReader {
    /// A reader of a new connection.
    #[must_use]
    pub fn new() -> Self {
        Self {
            limits: Limits::BeforeLogin,
            total: 0,
            header: [0; HEADER_SIZE],
            header_size: 0,
            packet: None,
            message: None,
        }
    }

    /// What holds from the next packet on.
    pub fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// Whether nothing of a next message has come.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.message.is_none() && self.packet.is_none() && self.header_size == 0
    }

    /// Takes bytes from the front of `bytes` until a message is whole or none are left. Call it again with the rest.
    ///
    /// Errors: `Malformed`, `Unsupported` (a login as before TDS 7), `TooLarge`. After any the stream has no meaning
    /// left: close it.
    pub fn push(&mut self, bytes: &mut &[u8]) -> Result<Option<Incoming>, TdsError> {
        loop {
            if self.packet.is_none() {
                if !self.push_header(bytes)? {
                    return Ok(None);
                }
                let header = Header::parse(&self.header)?;
                self.header_size = 0;
                self.begin(header)?;
            }
            if let Some(incoming) = self.push_data(bytes)? {
                return Ok(Some(incoming));
            }
            if bytes.is_empty() {
                return Ok(None);
            }
        }
    }

    /// True once the header is whole.
    fn push_header(&mut self, bytes: &mut &[u8]) -> Result<bool, TdsError> {
        let (now, later) = bytes.split_at(bytes.len().min(HEADER_SIZE - self.header_size));
        self.header[self.header_size..][..now.len()].copy_from_slice(now);
        self.header_size += now.len();
        *bytes = later;
        self.count(now.len())?;
        Ok(self.header_size == HEADER_SIZE)
    }

    /// A packet begins: it carries on with the message, begins one, or is an ATTENTION between.
    fn begin(&mut self, header: Header) -> Result<(), TdsError> {
        let Header {
            kind, status, length, ..
        } = header;
        if length > PacketSize::MAX.bytes() {
            return Err(TdsError::TooLarge {
                part: Part::Packet,
                limit: PacketSize::MAX.bytes().into(),
            });
        }
        // MS-TDS 2.2.3.1.2: IGNORE comes only with the bit of the last packet.
        if status & Header::IGNORE != 0 && status & Header::END == 0 {
            return Err(malformed("packet status"));
        }
        self.check_kind(kind)?;
        // A client that gives up a message that it has not sent whole may also just send ATTENTION.
        if kind == MessageKind::Attention {
            self.message = None;
        }
        match &self.message {
            None => self.message = Some(Message::new(kind, reset(kind, status)?, Vec::new())),
            Some(message) if message.kind() == kind => {}
            Some(_) => {
                return Err(malformed("packet type within a message"));
            }
        }
        if kind == MessageKind::Login
            && let Some(message) = &mut self.message
        {
            // So that no growing leaves a password behind.
            message.reserve(LOGIN_SIZE_MAX);
        }
        let missing = usize::from(length) - HEADER_SIZE;
        self.packet = Some(Packet { kind, status, missing });
        Ok(())
    }

    /// The message, if its last packet is whole.
    fn push_data(&mut self, bytes: &mut &[u8]) -> Result<Option<Incoming>, TdsError> {
        let (Some(packet), Some(message)) = (&mut self.packet, &mut self.message) else {
            return Ok(None);
        };
        let (now, later) = bytes.split_at(bytes.len().min(packet.missing));
        let (part, limit) = size_max(self.limits, packet.kind);
        if message.data().len() + now.len() > limit {
            let limit = u64::try_from(limit).unwrap_or(u64::MAX);
            return Err(TdsError::TooLarge { part, limit });
        }
        message.append(now);
        packet.missing -= now.len();
        *bytes = later;
        let (is_whole, status) = (packet.missing == 0, packet.status);
        self.count(now.len())?;
        if !is_whole {
            return Ok(None);
        }
        self.packet = None;
        if status & Header::END == 0 {
            return Ok(None);
        }
        Ok(self.message.take().map(|message| {
            if message.kind() == MessageKind::Attention {
                Incoming::Attention
            } else if status & Header::IGNORE != 0 {
                Incoming::Ignored(message.kind())
            } else {
                Incoming::Message(message)
            }
        }))
    }

    /// `one-limit-before-login`.
    fn count(&mut self, size: usize) -> Result<(), TdsError> {
        if self.limits == Limits::BeforeLogin {
            self.total += size;
            if self.total > PRE_LOGIN_TOTAL_MAX {
                return Err(TdsError::TooLarge {
                    part: Part::Packet,
                    limit: 1 << 20,
                });
            }
        }
        Ok(())
    }

    fn check_kind(&self, kind: MessageKind) -> Result<(), TdsError> {
        let is_logged_in = match self.limits {
            Limits::BeforeLogin => false,
            Limits::LoggedIn { .. } => true,
        };
        match (kind, is_logged_in) {
            (MessageKind::OldLogin, _) => Err(TdsError::Unsupported {
                what: "a login before TDS 7",
            }),
            (MessageKind::TabularResult, _) => Err(malformed("an answer from a client")),
            (MessageKind::Prelogin | MessageKind::Login | MessageKind::Sspi | MessageKind::FederatedToken, false)
            | (
                MessageKind::SqlBatch
                | MessageKind::Rpc
                | MessageKind::Attention
                | MessageKind::BulkLoad
                | MessageKind::TransactionRequest,
                true,
            ) => Ok(()),
            (MessageKind::Prelogin | MessageKind::Login | MessageKind::Sspi | MessageKind::FederatedToken, true) => {
                Err(malformed("a login after the login"))
            }
            (
                MessageKind::SqlBatch
                | MessageKind::Rpc
                | MessageKind::Attention
                | MessageKind::BulkLoad
                | MessageKind::TransactionRequest,
                false,
            ) => Err(malformed("a request before the login")),
        }
    }
}

impl Default for MessageReader {
    fn default() -> Self {
        Self::new()
    }
}

/// The reset that the first packet of a request requests; elsewhere the bits do not count (MS-TDS 2.2.3.1.2).
fn reset(kind: MessageKind, status: u8) -> Result<Reset, TdsError> {
    let is_request = matches!(
        kind,
        MessageKind::SqlBatch | MessageKind::Rpc | MessageKind::TransactionRequest
    );
    match (
        status & Header::RESET != 0,
        status & Header::RESET_KEEPING_TRANSACTION != 0,
    ) {
        (true, true) if is_request => Err(malformed("packet status")),
        (true, _) if is_request => Ok(Reset::Session),
        (_, true) if is_request => Ok(Reset::SessionKeepingTransaction),
        _ => Ok(Reset::None),
    }
}

fn size_max(limits: Limits, kind: MessageKind) -> (Part, usize) {
    match limits {
        Limits::BeforeLogin if kind == MessageKind::Login => (Part::Login, LOGIN_SIZE_MAX),
        Limits::BeforeLogin => (Part::Prelogin, PRELOGIN_SIZE_MAX),
        Limits::LoggedIn { .. } if kind == MessageKind::Attention => (Part::Packet, 0),
        Limits::LoggedIn { message_size_max } => {
            (Part::Packet, usize::try_from(message_size_max).unwrap_or(usize::MAX))
        }
    }
}

fn malformed(what: &'static str) -> TdsError {
    TdsError::Malformed {
        part: Part::Packet,
        what,
    }
}

#[cfg(test)]
mod tests;
