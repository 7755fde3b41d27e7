//! The identifier of a key slot.

use std::fmt;

use crate::hex::Hex;

/// 128 random bits, drawn when a key slot is made (FORMAT 3.3).
///
/// It is not secret: it may be logged and shown.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SlotId(pub [u8; 16]);

impl fmt::Display for SlotId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        Hex(&self.0).fmt(formatter)
    }
}

impl fmt::Debug for SlotId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "SlotId({self})")
    }
}
