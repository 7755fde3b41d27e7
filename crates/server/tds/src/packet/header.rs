//! The eight bytes before each packet's data (MS-TDS 2.2.3.1).

use crate::{Part, TdsError};

/// How many bytes a packet's header has.
pub const HEADER_SIZE: usize = 8;

/// What a message is (MS-TDS 2.2.3.1.1).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MessageKind {
    /// 0x01: a text of statements.
    SqlBatch,
    /// 0x02: a login as before TDS 7.
    OldLogin,
    /// 0x03: calls of procedures.
    Rpc,
    /// 0x04: what a server answers.
    TabularResult,
    /// 0x06: stop what is running.
    Attention,
    /// 0x07: rows for INSERT BULK.
    BulkLoad,
    /// 0x08: a token of federated authentication.
    FederatedToken,
    /// 0x0E: begin, commit, roll back.
    TransactionRequest,
    /// 0x10: the login.
    Login,
    /// 0x11: more of a login by SSPI.
    Sspi,
    /// 0x12: what comes before the login; also TLS's handshake.
    Prelogin,
}

impl MessageKind {
    /// The byte that says so.
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

    /// What a byte says; none if MS-TDS has no such type.
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

/// The header of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Header {
    /// Of the message.
    pub kind: MessageKind,
    /// Bits of MS-TDS 2.2.3.1.2: [`Header::END`] and related ones.
    pub status: u8,
    /// The whole packet with these eight bytes.
    pub length: u16,
    /// The server's process; whatever a client says here does not count.
    pub spid: u16,
    /// Counts packets modulo 256; not believed.
    pub packet_id: u8,
}

impl Header {
    /// Status: the message's last packet.
    pub const END: u8 = 0x01;
    /// Status: the message is to be ignored; only with [`Header::END`].
    pub const IGNORE: u8 = 0x02;
    /// Status: set the session back before this request.
    pub const RESET: u8 = 0x08;
    /// Status: set the session back, but leave its transaction.
    pub const RESET_KEEPING_TRANSACTION: u8 = 0x10;

    /// Reads a header.
    ///
    /// Errors: `Malformed` if the type is unknown or the length below eight.
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
            part: Part::Packet,
            what: "type",
        })?;
        let length = u16::from_be_bytes([length_high, length_low]);
        if usize::from(length) < HEADER_SIZE {
            return Err(TdsError::Malformed {
                part: Part::Packet,
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

    /// The eight bytes.
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
