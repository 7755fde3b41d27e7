//! The values that make every sealing of a page unique.

use crate::SessionId;

/// The session, salt and counter under which one page is sealed (FORMAT 5.1 to 5.3).
///
/// The caller's duty: no pair of `session` and `counter` is ever used twice, whatever the salt.
/// A second page under the same pair reveals both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageNonce {
    /// The writing process.
    pub session: SessionId,
    /// Drawn for every write; guards against a machine whose memory was copied or restored.
    pub salt: [u8; 8],
    /// Distinct for every page sealed in a session.
    pub counter: u32,
}

impl PageNonce {
    /// The 12 bytes of nonce that the suites use: salt, then counter (FORMAT 5.2).
    pub(crate) fn bytes(&self) -> [u8; 12] {
        let mut bytes = [0; 12];
        bytes[..8].copy_from_slice(&self.salt);
        bytes[8..].copy_from_slice(&self.counter.to_be_bytes());
        bytes
    }
}
