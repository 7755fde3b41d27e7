//! The packet header (MS-TDS 2.2.3.1).

use crate::{MessagePart, TdsError};

/// The size of a packet header.
pub const HEADER_SIZE: usize = 8;

/// The type of a message (MS-TDS 2.2.3.1.1).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MessageKind {
    /// 0x01: SQL batch.
    SqlBatch,
    /// 0x02: pre-TDS7 login.
    OldLogin,
    /// 0x03: RPC.
    Rpc,
    /// 0x04: tabular result, a server's response.
    TabularResult,
    /// 0x06: attention signal, which cancels the running request.
    Attention,
    /// 0x07: bulk load data, rows for INSERT BULK.
    BulkLoad,
    /// 0x08: federated authentication token.
    FederatedToken,
    /// 0x0E: Transaction Manager request.
    TransactionRequest,
    /// 0x10: TDS7 login (LOGIN7).
    Login,
    /// 0x11: SSPI message that continues a login.
    Sspi,
    /// 0x12: PRELOGIN; also the TLS handshake.
    Prelogin,
}

impl MessageKind {
    /// The type's byte.
    #[must_use]
    pub const fn byte(self) -> u8 {
        match self {
            Self::SqlBatch => 0x01,
            Self::OldLogin => 0x02,
            Self::Rpc => 0x03,
            Self::TabularResult => 0x04,
            Self::Attention => 0x06,
            Self::BulkLoad => 0x07,
            Self::FederatedToken => 0x08,
            Self::TransactionRequest => 0x0E,
            Self::Login => 0x10,
            Self::Sspi => 0x11,
            Self::Prelogin => 0x12,
        }
    }

    /// The type of a byte; `None` if MS-TDS does not define it.
    #[must_use]
    pub const fn from_byte(byte: u8) -> Option<Self> {
        Some(match byte {
            0x01 => Self::SqlBatch,
            0x02 => Self::OldLogin,
            0x03 => Self::Rpc,
            0x04 => Self::TabularResult,
            0x06 => Self::Attention,
            0x07 => Self::BulkLoad,
            0x08 => Self::FederatedToken,
            0x0E => Self::TransactionRequest,
            0x10 => Self::Login,
            0x11 => Self::Sspi,
            0x12 => Self::Prelogin,
            _ => return None,
        })
    }
}

/// A packet header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Header {
    /// The type of the message.
    pub kind: MessageKind,
    /// Status bits (MS-TDS 2.2.3.1.2): [`Header::END`] and others.
    pub status: u8,
    /// The packet's size, including the header.
    pub length: u16,
    /// The server's process id (SPID); a client's value is ignored.
    pub spid: u16,
    /// The packet counter modulo 256; ignored on input.
    pub packet_id: u8,
}

impl Header {
    /// Status: the last packet of the message.
    pub const END: u8 = 0x01;
    /// Status: the message is ignored; only valid with [`Header::END`].
    pub const IGNORE: u8 = 0x02;
    /// Status: RESETCONNECTION: reset the session before this request.
    pub const RESET: u8 = 0x08;
    /// Status: RESETCONNECTIONSKIPTRAN: reset the session, but keep its transaction.
    pub const RESET_KEEPING_TRANSACTION: u8 = 0x10;

    /// Parses a header.
    ///
    /// Errors: `Malformed` if the type is unknown or the length is below eight.
    pub fn parse(bytes: &[u8; HEADER_SIZE]) -> Result<Self, TdsError> {
        let [
            kind,
            status,
            length_high,
            length_low,
            spid_high,
            spid_low,
            packet_id,
            _window,
        ] = *bytes;
        let kind = MessageKind::from_byte(kind).ok_or(TdsError::Malformed {
            part: MessagePart::Packet,
            what: "type",
        })?;
        let length = u16::from_be_bytes([length_high, length_low]);
        if usize::from(length) < HEADER_SIZE {
            return Err(TdsError::Malformed {
                part: MessagePart::Packet,
                what: "length",
            });
        }
        Ok(Self {
            kind,
            status,
            length,
            spid: u16::from_be_bytes([spid_high, spid_low]),
            packet_id,
        })
    }

    /// The header's eight bytes.
    #[must_use]
    pub const fn encode(&self) -> [u8; HEADER_SIZE] {
        let length = self.length.to_be_bytes();
        let spid = self.spid.to_be_bytes();
        [
            self.kind.byte(),
            self.status,
            length[0],
            length[1],
            spid[0],
            spid[1],
            self.packet_id,
            0,
        ]
    }
}
