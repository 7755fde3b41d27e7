//! A password, wiped when it is dropped.

use std::fmt;

use zeroize::Zeroizing;

use crate::{Part, TdsError};

/// A password in the clear. It is never printed.
pub struct Password(Zeroizing<String>);

impl Password {
    /// The text. Anyone who copies it has to wipe the copy.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// For tests of those who log in.
    #[cfg(any(test, feature = "client"))]
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self(Zeroizing::new(text.to_owned()))
    }

    /// From the bytes of LOGIN7: UTF-16 with each byte's halves swapped and each bit of 0xA5 flipped (MS-TDS 2.2.6.4).
    ///
    /// Errors: `Malformed` if it is no UTF-16.
    pub(super) fn reveal(hidden: &[u8]) -> Result<Self, TdsError> {
        let (pairs, rest) = hidden.as_chunks::<2>();
        if !rest.is_empty() {
            return Err(MALFORMED);
        }
        // At most three bytes for each unit, so that it never grows and leaves a copy behind.
        let mut text = Zeroizing::new(String::with_capacity(pairs.len() * 3));
        let units = pairs
            .iter()
            .map(|pair| u16::from_le_bytes(pair.map(|byte| (byte ^ 0xA5).rotate_left(4))));
        for character in char::decode_utf16(units) {
            text.push(character.map_err(|_| MALFORMED)?);
        }
        Ok(Self(text))
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(..)")
    }
}

const MALFORMED: TdsError = TdsError::Malformed {
    part: Part::Login,
    what: "a password",
};
