//! Reassembles messages from a byte stream.

use super::{BulkPiece, HEADER_SIZE, Header, Incoming, Message, MessageKind, PacketSize, Reset};
use crate::{LOGIN_SIZE_MAX, MessagePart, TdsError};

/// The message types that a peer may send, and their size limits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limits {
    /// Only PRELOGIN and LOGIN7: [`PRELOGIN_SIZE_MAX`], [`LOGIN_SIZE_MAX`], and [`PRE_LOGIN_TOTAL_MAX`] in total.
    BeforeLogin,
    /// Only requests.
    LoggedIn {
        /// The size limit of one message, without packet headers.
        message_size_max: u32,
    },
}

/// 20 KiB: a PRELOGIN has some hundred bytes, but a TLS handshake's flights are messages of the same type, and a TLS
/// record has up to 16 KiB.
pub const PRELOGIN_SIZE_MAX: usize = 20 * 1024;
/// 1 MiB: PRELOGIN, the handshake and a login of maximum size, several times over.
pub const PRE_LOGIN_TOTAL_MAX: usize = 1 << 20;

/// Reassembles messages. It buffers at most twice the limit of a message, and only bytes that have arrived.
pub struct MessageReader {
    limits: Limits,
    /// The number of bytes received before login, with headers.
    total: usize,
    header: [u8; HEADER_SIZE],
    header_size: usize,
    packet: Option<Packet>,
    message: Option<Message>,
}

/// The current packet, once its header is complete.
struct Packet {
    kind: MessageKind,
    status: u8,
    missing: usize,
}

impl MessageReader {
    /// A reader for a new connection.
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

    /// Sets the limits from the next packet on.
    pub fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// Whether no byte of a next message has arrived.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.message.is_none() && self.packet.is_none() && self.header_size == 0
    }

    /// Consumes bytes from the front of `bytes` until a message, or a packet of a bulk load, is complete or no bytes are
    /// left. Call it again with
    /// the rest.
    ///
    /// Errors: `Malformed`, `Unsupported` (a pre-TDS7 login), `TooLarge`. After an error the stream is unusable: close
    /// it.
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

    /// True once the header is complete.
    fn push_header(&mut self, bytes: &mut &[u8]) -> Result<bool, TdsError> {
        let (now, later) = bytes.split_at(bytes.len().min(HEADER_SIZE - self.header_size));
        self.header[self.header_size..][..now.len()].copy_from_slice(now);
        self.header_size += now.len();
        *bytes = later;
        self.count(now.len())?;
        Ok(self.header_size == HEADER_SIZE)
    }

    /// Starts a packet: one that continues the message, one that begins a message, or an ATTENTION in between.
    fn begin(&mut self, header: Header) -> Result<(), TdsError> {
        let Header {
            kind, status, length, ..
        } = header;
        if length > PacketSize::MAX.bytes() {
            return Err(TdsError::TooLarge {
                part: MessagePart::Packet,
                limit: PacketSize::MAX.bytes().into(),
            });
        }
        // MS-TDS 2.2.3.1.2: IGNORE is only valid with END.
        if status & Header::IGNORE != 0 && status & Header::END == 0 {
            return Err(malformed("packet status"));
        }
        self.check_kind(kind)?;
        // A client may also abandon an incomplete message by ATTENTION alone.
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
            // Reserves the maximum: a reallocation would leave an unwiped copy of the password.
            message.reserve(LOGIN_SIZE_MAX);
        }
        let missing = usize::from(length) - HEADER_SIZE;
        self.packet = Some(Packet { kind, status, missing });
        Ok(())
    }

    /// Returns the message if its last packet is complete.
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
        let is_last = status & Header::END != 0;
        if status & Header::IGNORE == 0
            && let Some(message) = self
                .message
                .as_mut()
                .filter(|message| message.kind() == MessageKind::BulkLoad)
        {
            let data = message.take_data();
            if is_last {
                self.message = None;
            }
            return Ok(Some(Incoming::BulkLoad(BulkPiece { data, is_last })));
        }
        if !is_last {
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
                    part: MessagePart::Packet,
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

/// The reset that the first packet of a request requests; other packets and messages ignore the bits (MS-TDS
/// 2.2.3.1.2).
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

fn size_max(limits: Limits, kind: MessageKind) -> (MessagePart, usize) {
    match limits {
        Limits::BeforeLogin if kind == MessageKind::Login => (MessagePart::Login, LOGIN_SIZE_MAX),
        Limits::BeforeLogin => (MessagePart::Prelogin, PRELOGIN_SIZE_MAX),
        Limits::LoggedIn { .. } if kind == MessageKind::Attention => (MessagePart::Packet, 0),
        Limits::LoggedIn { message_size_max } => (
            MessagePart::Packet,
            usize::try_from(message_size_max).unwrap_or(usize::MAX),
        ),
    }
}

fn malformed(what: &'static str) -> TdsError {
    TdsError::Malformed {
        part: MessagePart::Packet,
        what,
    }
}

#[cfg(test)]
mod tests;
