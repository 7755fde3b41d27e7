//! Bytes written as lower-case hexadecimal, for identifiers that people compare by eye.

use std::fmt;

/// Displays its bytes as lower-case hexadecimal.
pub(crate) struct Hex<'a>(pub(crate) &'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

/// Parses a hexadecimal test vector.
#[cfg(test)]
pub(crate) fn unhex<const N: usize>(digits: &str) -> [u8; N] {
    assert_eq!(digits.len(), 2 * N);
    std::array::from_fn(|index| u8::from_str_radix(&digits[2 * index..2 * index + 2], 16).expect("two digits"))
}
