//! The secret that opens a database: a passphrase or a raw key.

use selenite_cipher::Secret;
use zeroize::Zeroizing;

/// The size of a salt in bytes, in all formats.
pub const SALT_SIZE: usize = 16;

/// A passphrase or a raw key, and a salt if the file doesn't contain it.
pub struct Key {
    pub(crate) kind: KeyKind,
    salt: Option<[u8; SALT_SIZE]>,
}

pub(crate) enum KeyKind {
    Passphrase(Zeroizing<Vec<u8>>),
    Raw(Zeroizing<Vec<u8>>),
}

/// Bytes that are not a raw key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KeyFormatError;

impl std::fmt::Display for KeyFormatError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(
            "not a raw key: expected 32 bytes (16 for AEGIS-128), or twice as many hexadecimal digits, followed by the \
             salt's 16 bytes or 32 digits if there is one",
        )
    }
}

impl std::error::Error for KeyFormatError {}

impl Key {
    /// A passphrase, as the product's `PRAGMA key` got it.
    pub fn passphrase(bytes: &[u8]) -> Self {
        Self {
            kind: KeyKind::Passphrase(Zeroizing::new(bytes.to_vec())),
            salt: None,
        }
    }

    /// Parses a raw key, followed by a salt or not: bytes, hexadecimal digits, or digits as in
    /// `x'...'` or `raw:...`.
    ///
    /// # Errors
    /// [`KeyFormatError`].
    pub fn parse_raw(bytes: &[u8]) -> Result<Self, KeyFormatError> {
        let parsed = parse_digits(bytes).unwrap_or_else(|| Zeroizing::new(bytes.to_vec()));
        let (key, salt) = match parsed.len() {
            16 | 32 => (parsed.as_slice(), None),
            48 => parsed
                .split_last_chunk::<SALT_SIZE>()
                .map_or((&[][..], None), |(key, salt)| (key, Some(*salt))),
            _ => return Err(KeyFormatError),
        };
        Ok(Self {
            kind: KeyKind::Raw(Zeroizing::new(key.to_vec())),
            salt,
        })
    }

    /// Parses a salt: 16 bytes as hexadecimal digits, with the decorations of `PRAGMA cipher_salt` or
    /// without.
    pub fn parse_salt(bytes: &[u8]) -> Option<[u8; SALT_SIZE]> {
        parse_digits(bytes)?.as_slice().try_into().ok()
    }

    /// The same key with the salt of a file that doesn't contain it: `cipher_salt` of SQLCipher's
    /// plaintext headers.
    #[must_use]
    pub fn with_salt(self, salt: [u8; SALT_SIZE]) -> Self {
        Self {
            salt: Some(salt),
            ..self
        }
    }

    /// The salt that was given, or else the file's first bytes.
    pub(crate) fn salt(&self, head: &[u8]) -> Option<[u8; SALT_SIZE]> {
        self.salt.or_else(|| head.first_chunk().copied())
    }

    /// Whether a salt was given.
    pub fn has_salt(&self) -> bool {
        self.salt.is_some()
    }

    /// A raw key of `N` bytes; `None` for a passphrase, or for a raw key of another size.
    pub(crate) fn raw<const N: usize>(&self) -> Option<Secret<N>> {
        match &self.kind {
            KeyKind::Raw(bytes) if bytes.len() == N => Some(Secret::fill(|out| out.copy_from_slice(bytes))),
            KeyKind::Raw(_) | KeyKind::Passphrase(_) => None,
        }
    }

    /// The passphrase; `None` for a raw key.
    pub(crate) fn as_passphrase(&self) -> Option<&[u8]> {
        match &self.kind {
            KeyKind::Passphrase(bytes) => Some(bytes),
            KeyKind::Raw(_) => None,
        }
    }
}

/// The bytes of hexadecimal digits, with the decorations of `PRAGMA key` or without; `None` if
/// there is anything else.
fn parse_digits(bytes: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let digits = bytes.trim_ascii();
    let digits = digits.strip_prefix(b"raw:").unwrap_or(digits);
    let quoted = digits.strip_prefix(b"x'").or_else(|| digits.strip_prefix(b"X'"));
    let digits = quoted.map_or(Some(digits), |rest| rest.strip_suffix(b"'"))?;
    let value = |digit: u8| {
        char::from(digit)
            .to_digit(16)
            .and_then(|value| u8::try_from(value).ok())
    };
    let (pairs, rest) = digits.as_chunks::<2>();
    if !rest.is_empty() || pairs.is_empty() {
        return None;
    }
    let parsed = pairs.iter().map(|&[high, low]| Some(value(high)? << 4 | value(low)?));
    parsed.collect::<Option<Vec<u8>>>().map(Zeroizing::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIGITS: &str = "00112233445566778899aabbccddeeff00112233445566778899AABBCCDDEEFF";

    fn raw(text: &[u8]) -> Option<(Vec<u8>, Option<[u8; 16]>)> {
        let key = Key::parse_raw(text).ok()?;
        let KeyKind::Raw(bytes) = &key.kind else { return None };
        Some((bytes.to_vec(), key.salt))
    }

    #[test]
    fn a_raw_key_is_read_in_every_form() {
        let key: Vec<u8> = (0..32_u8).map(|index| (index % 16) * 0x11).collect();
        for text in [DIGITS.to_owned(), format!("x'{DIGITS}'\n"), format!("raw:{DIGITS}")] {
            assert_eq!(raw(text.as_bytes()), Some((key.clone(), None)), "{text}");
        }
        assert_eq!(raw(&key), Some((key.clone(), None)));
        let salt = [0xab; 16];
        let with_salt = format!("x'{DIGITS}{}'", "ab".repeat(16));
        assert_eq!(raw(with_salt.as_bytes()), Some((key.clone(), Some(salt))));
        assert_eq!(raw(&[key.as_slice(), &salt].concat()), Some((key.clone(), Some(salt))));
        assert_eq!(raw(&DIGITS.as_bytes()[..32]), Some((key[..16].to_vec(), None)));
    }

    #[test]
    fn anything_else_is_not_a_raw_key() {
        for text in ["", "passphrase", "x'00", &DIGITS[1..], &DIGITS[2..]] {
            assert_eq!(raw(text.as_bytes()), None, "{text}");
        }
    }
}
