//! SQL Server's comparison order of uniqueidentifier.

use crate::Guid;

/// The wire index of each byte, most significant first: the last group, then the fourth, then the first three from
/// their lowest byte on. System.Data.SqlTypes.SqlGuid uses the same order as the server.
const ORDER: [usize; 16] = [10, 11, 12, 13, 14, 15, 8, 9, 6, 7, 4, 5, 0, 1, 2, 3];

/// The 16 bytes in SQL Server's comparison order: they compare bytewise like the values.
#[must_use]
pub fn guid_ordered(guid: Guid) -> [u8; 16] {
    ORDER.map(|place| guid.0[place])
}

/// The inverse of [`guid_ordered`].
#[must_use]
pub fn guid_from_ordered(ordered: [u8; 16]) -> Guid {
    let mut bytes = [0; 16];
    for (place, byte) in ORDER.into_iter().zip(ordered) {
        bytes[place] = byte;
    }
    Guid(bytes)
}
