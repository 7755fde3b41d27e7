//! In which order SQL Server compares the bytes of a uniqueidentifier.

use crate::Guid;

/// The place on the wire of each byte, from the one that decides first: the last group, then the fourth, and the first
/// three from their lowest byte on. System.Data.SqlTypes.SqlGuid compares so, as the server does.
const ORDER: [usize; 16] = [10, 11, 12, 13, 14, 15, 8, 9, 6, 7, 4, 5, 0, 1, 2, 3];

/// The 16 bytes in the order in which SQL Server compares them: as bytes they sort as the values do.
#[must_use]
pub fn guid_ordered(guid: Guid) -> [u8; 16] {
    ORDER.map(|place| guid.0[place])
}

/// The value whose [`guid_ordered`] these are.
#[must_use]
pub fn guid_from_ordered(ordered: [u8; 16]) -> Guid {
    let mut bytes = [0; 16];
    for (place, byte) in ORDER.into_iter().zip(ordered) {
        bytes[place] = byte;
    }
    Guid(bytes)
}
