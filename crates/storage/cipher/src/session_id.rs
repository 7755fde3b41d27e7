//! The identifier of a writing session.

use std::fmt;

use crate::hex::Hex;

/// 96 random bits, drawn when a process first writes, and the number of the session in that process
/// (FORMAT 5.1); never all zero. Older files have 128 random bits.
///
/// It is not secret: it may be logged and shown.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(pub [u8; 16]);

impl fmt::Display for SessionId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        Hex(&self.0).fmt(formatter)
    }
}

impl fmt::Debug for SessionId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "SessionId({self})")
    }
}
