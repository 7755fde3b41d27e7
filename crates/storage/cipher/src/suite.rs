//! The cipher suites of pages.

use std::fmt;

use crate::IS_FIPS;

/// How pages are sealed (FORMAT 5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Suite {
    /// Plaintext: the tag is a hash, which anyone can compute.
    None,
    /// AES-128-GCM.
    Aes128,
    /// AES-192-GCM.
    Aes192,
    /// AES-256-GCM.
    Aes256,
    /// AEGIS-128X4.
    Aegis128X4,
    /// AEGIS-256X4.
    Aegis256X4,
    /// ChaCha20-Poly1305.
    ChaCha20,
    /// Triple DES with three keys, CBC, and HMAC-SHA-256. Deprecated.
    TripleDes3Key,
    /// AES-256 in counter mode, then HMAC-SHA-256.
    Aes256CtrHmac,
}

impl Suite {
    /// The suite of new databases.
    pub const DEFAULT: Suite = if IS_FIPS { Suite::Aes256CtrHmac } else { Suite::Aes256 };

    /// All suites, ordered by number.
    pub const ALL: [Suite; 9] = [
        Suite::None,
        Suite::Aes128,
        Suite::Aes192,
        Suite::Aes256,
        Suite::Aegis128X4,
        Suite::Aegis256X4,
        Suite::ChaCha20,
        Suite::TripleDes3Key,
        Suite::Aes256CtrHmac,
    ];

    /// The number of the suite in a file.
    pub fn id(self) -> u16 {
        match self {
            Suite::None => 0,
            Suite::Aes128 => 1,
            Suite::Aes192 => 2,
            Suite::Aes256 => 3,
            Suite::Aegis128X4 => 4,
            Suite::Aegis256X4 => 5,
            Suite::ChaCha20 => 6,
            Suite::TripleDes3Key => 7,
            Suite::Aes256CtrHmac => 8,
        }
    }

    /// The suite of a number, if any.
    pub fn from_id(id: u16) -> Option<Suite> {
        Suite::ALL.into_iter().find(|suite| suite.id() == id)
    }

    /// The name of the suite in the user interface.
    pub fn name(self) -> &'static str {
        match self {
            Suite::None => "NONE",
            Suite::Aes128 => "AES_128",
            Suite::Aes192 => "AES_192",
            Suite::Aes256 => "AES_256",
            Suite::Aegis128X4 => "AEGIS_128X4",
            Suite::Aegis256X4 => "AEGIS_256X4",
            Suite::ChaCha20 => "CHACHA20",
            Suite::TripleDes3Key => "TRIPLE_DES_3KEY",
            Suite::Aes256CtrHmac => "AES_256_CTR_HMAC",
        }
    }

    /// The suite of a name, case-insensitive, if any.
    pub fn from_name(name: &str) -> Option<Suite> {
        Suite::ALL
            .into_iter()
            .find(|suite| suite.name().eq_ignore_ascii_case(name))
    }

    /// The suite whose name differs from `name` only in case and separators, if any: `aes-256` matches `AES_256`.
    pub fn nearest(name: &str) -> Option<Suite> {
        fn letters(name: &str) -> impl Iterator<Item = char> {
            let is_kept = |letter: &char| !matches!(letter, '_' | '-' | ' ');
            name.chars().filter(is_kept).map(|letter| letter.to_ascii_uppercase())
        }
        Suite::ALL
            .into_iter()
            .find(|suite| letters(suite.name()).eq(letters(name)))
    }

    /// The size of a page key in bytes.
    pub fn key_size(self) -> usize {
        match self {
            Suite::None => 0,
            Suite::Aes128 | Suite::Aegis128X4 => 16,
            Suite::Aes192 => 24,
            Suite::Aes256 | Suite::Aegis256X4 | Suite::ChaCha20 => 32,
            Suite::Aes256CtrHmac => 64,
            Suite::TripleDes3Key => 80,
        }
    }

    /// Whether the suite is refused unless requested by name.
    pub fn is_deprecated(self) -> bool {
        match self {
            Suite::TripleDes3Key => true,
            Suite::None
            | Suite::Aes128
            | Suite::Aes192
            | Suite::Aes256
            | Suite::Aegis128X4
            | Suite::Aegis256X4
            | Suite::ChaCha20
            | Suite::Aes256CtrHmac => false,
        }
    }

    /// Whether this build seals pages in the suite.
    ///
    /// The FIPS build seals only in the suite whose nonce AWS-LC's module accepts from its caller.
    pub fn is_sealed_here(self) -> bool {
        !IS_FIPS || self == Suite::Aes256CtrHmac
    }

    /// Whether this build opens pages in the suite.
    ///
    /// The FIPS build opens what it seals and AES-GCM, with the key sizes that are approved services of the module.
    pub fn is_opened_here(self) -> bool {
        self.is_sealed_here() || matches!(self, Suite::Aes128 | Suite::Aes256)
    }

    /// The maximum number of pages that one session seals.
    ///
    /// 128 under triple DES, whose blocks have 64 bits: 128 pages of 64 KiB are the 2^20 blocks that SP 800-67 allows
    /// one key.
    pub fn session_page_count_max(self) -> u32 {
        match self {
            Suite::TripleDes3Key => 128,
            Suite::None
            | Suite::Aes128
            | Suite::Aes192
            | Suite::Aes256
            | Suite::Aegis128X4
            | Suite::Aegis256X4
            | Suite::ChaCha20
            | Suite::Aes256CtrHmac => u32::MAX,
        }
    }
}

impl fmt::Display for Suite {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_identify_their_suite() {
        for (index, suite) in Suite::ALL.into_iter().enumerate() {
            assert_eq!(usize::from(suite.id()), index);
            assert_eq!(Suite::from_id(suite.id()), Some(suite));
            assert_eq!(Suite::from_name(suite.name()), Some(suite));
            assert_eq!(Suite::from_name(&suite.name().to_lowercase()), Some(suite));
        }
        assert_eq!(Suite::from_id(9), None);
        assert_eq!(Suite::from_name("AES"), None);
    }

    #[test]
    fn nearest_ignores_case_and_separators() {
        for name in ["aes256", "AES-256", "aes 256"] {
            assert_eq!(Suite::from_name(name), None);
            assert_eq!(Suite::nearest(name), Some(Suite::Aes256), "{name}");
        }
        assert_eq!(Suite::nearest("aegis256x4"), Some(Suite::Aegis256X4));
        assert_eq!(Suite::nearest("AES"), None);
    }
}
