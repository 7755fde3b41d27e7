//! A message whose last packet has come.

use std::fmt;

use zeroize::Zeroize;

use super::MessageKind;

/// What a whole message means to the session.
#[derive(Debug)]
pub enum Incoming {
    /// A message to be answered.
    Message(Message),
    /// Stop what is running; answered by a DONE with the bit ATTN (MS-TDS 2.2.1.7). A message that was not yet whole is
    /// thrown away with it.
    Attention,
    /// A message that its sender took back by the bit IGNORE; answered by a DONE with the bit ERROR (MS-TDS 2.2.1.7).
    Ignored(MessageKind),
}

/// What is to happen to the session before a request (MS-TDS 2.2.3.1.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reset {
    /// Nothing.
    None,
    /// As if just logged in.
    Session,
    /// The same, but the transaction stays open.
    SessionKeepingTransaction,
}

/// A message without its packets' headers. The bytes of a login are wiped when it is dropped.
pub struct Message {
    kind: MessageKind,
    reset: Reset,
    data: Vec<u8>,
}

impl Message {
    /// A message of these bytes.
    #[must_use]
    pub fn new(kind: MessageKind, reset: Reset, data: Vec<u8>) -> Self {
        Self { kind, reset, data }
    }

    /// What it is.
    #[must_use]
    pub fn kind(&self) -> MessageKind {
        self.kind
    }

    /// The reset that its first packet requests. A request's alone.
    #[must_use]
    pub fn reset(&self) -> Reset {
        self.reset
    }

    /// All packets' data.
    #[must_use]
    pub fn data(&self) -> &[u8] {
        &self.data
    }

    pub(super) fn reserve(&mut self, size: usize) {
        self.data.reserve_exact(size.saturating_sub(self.data.len()));
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
        // A login's bytes hold a password, and a request's are the user's.
        write!(
            f,
            "Message({:?}, {:?}, {} bytes)",
            self.kind,
            self.reset,
            self.data.len()
        )
    }
}
