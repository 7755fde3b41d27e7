//! A complete message.

use std::fmt;

use zeroize::Zeroize;

use super::MessageKind;

/// The meaning of a complete message.
#[derive(Debug)]
pub enum Incoming {
    /// A message that requires a response.
    Message(Message),
    /// A packet of a bulk load, whose message is not held as a whole.
    BulkLoad(BulkPiece),
    /// Cancel the running request; the response is a DONE with the bit ATTN (MS-TDS 2.2.1.7). An incomplete message is
    /// discarded with it.
    Attention,
    /// A message that its sender withdrew with the bit IGNORE; the response is a DONE with the bit ERROR (MS-TDS
    /// 2.2.1.7).
    Ignored(MessageKind),
}

/// The data of one packet of a bulk load.
pub struct BulkPiece {
    /// The data, at most a packet's.
    pub data: Vec<u8>,
    /// Whether the message ends with it.
    pub is_last: bool,
}

impl fmt::Debug for BulkPiece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The bytes contain user data.
        write!(f, "BulkPiece({} bytes, last: {})", self.data.len(), self.is_last)
    }
}

/// The reset of the session before a request (MS-TDS 2.2.3.1.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reset {
    /// No reset.
    None,
    /// RESETCONNECTION: the session's state is as after login.
    Session,
    /// RESETCONNECTIONSKIPTRAN: the same, but the transaction stays open.
    SessionKeepingTransaction,
}

/// A message without packet headers. The bytes of a login are wiped on drop.
pub struct Message {
    kind: MessageKind,
    reset: Reset,
    data: Vec<u8>,
}

impl Message {
    /// A message with the given data.
    #[must_use]
    pub fn new(kind: MessageKind, reset: Reset, data: Vec<u8>) -> Self {
        Self { kind, reset, data }
    }

    /// The type of the message.
    #[must_use]
    pub fn kind(&self) -> MessageKind {
        self.kind
    }

    /// The reset that the first packet requests. Only requests have one.
    #[must_use]
    pub fn reset(&self) -> Reset {
        self.reset
    }

    /// The data of all packets.
    #[must_use]
    pub fn data(&self) -> &[u8] {
        &self.data
    }

    pub(super) fn reserve(&mut self, size: usize) {
        self.data.reserve_exact(size.saturating_sub(self.data.len()));
    }

    pub(super) fn take_data(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.data)
    }

    pub(super) fn append(&mut self, bytes: &[u8]) {
        self.data.extend_from_slice(bytes);
    }
}

impl Drop for Message {
    fn drop(&mut self) {
        if self.kind == MessageKind::Login {
            self.data.zeroize();
        }
    }
}

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A login's bytes contain a password, and a request's contain user data.
        write!(
            f,
            "Message({:?}, {:?}, {} bytes)",
            self.kind,
            self.reset,
            self.data.len()
        )
    }
}
