//! A password, wiped when it is dropped.

use std::fmt;

use zeroize::Zeroizing;

use crate::{MessagePart, TdsError};

/// A password in plaintext. `Debug` does not print it.
pub struct Password(Zeroizing<String>);

impl Password {
    /// The password's text. A caller that copies it must wipe the copy.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// A password for tests of clients.
    #[cfg(any(test, feature = "client"))]
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self(Zeroizing::new(text.to_owned()))
    }

    /// Decodes the bytes of LOGIN7: UTF-16, with the nibbles of each byte swapped and then XORed with 0xA5 (MS-TDS
    /// 2.2.6.4).
    ///
    /// Errors: `Malformed` if it is not UTF-16.
    pub(super) fn deobfuscate(hidden: &[u8]) -> Result<Self, TdsError> {
        let (pairs, rest) = hidden.as_chunks::<2>();
        if !rest.is_empty() {
            return Err(MALFORMED);
        }
        // At most three bytes for each unit: the string never reallocates, which would leave an unwiped copy.
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
    part: MessagePart::Login,
    what: "a password",
};
