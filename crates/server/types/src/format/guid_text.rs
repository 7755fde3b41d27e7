//! uniqueidentifier as text.

use crate::Guid;

/// 32 hexadecimal digits in groups of 8, 4, 4, 4 and 12; the first three groups are little-endian on the wire.
pub(crate) fn guid_text(guid: Guid) -> String {
    let mut text = String::with_capacity(36);
    for (count, index) in ORDER.iter().enumerate() {
        if matches!(count, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        push_hex(&mut text, guid.0[*index]);
    }
    text
}

/// Appends two upper-case digits.
pub(crate) fn push_hex(text: &mut String, byte: u8) {
    for digit in [byte >> 4, byte & 15] {
        text.push(char::from(if digit < 10 { b'0' + digit } else { b'A' + digit - 10 }));
    }
}

/// The wire index of each byte of the text.
pub(crate) const ORDER: [usize; 16] = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15];
