//! How a database is encrypted: the cipher and its settings.

use std::fmt;

use crate::aegis_pages::AegisVariant;
use crate::blocks::Hash;

/// How a database is encrypted. A page size of `None` is found on the first page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Format {
    /// SQLCipher, or SQLite3 Multiple Ciphers' cipher of that name.
    SqlCipher(SqlCipherFormat),
    /// `chacha20` of SQLite3 Multiple Ciphers; sqleet if `is_legacy`.
    #[expect(missing_docs, reason = "as in SqlCipherFormat")]
    ChaCha20 {
        kdf_iterations: u32,
        is_legacy: bool,
        page_size: Option<u32>,
        plaintext_header: u8,
    },
    /// `aegis` of SQLite3 Multiple Ciphers; costs as Argon2 names them, memory in KiB.
    #[expect(missing_docs, reason = "as in SqlCipherFormat; the costs are Argon2's")]
    Aegis {
        variant: AegisVariant,
        t_cost: u32,
        m_cost: u32,
        p_cost: u32,
        plaintext_header: u8,
    },
    /// `ascon128` of SQLite3 Multiple Ciphers.
    #[expect(missing_docs, reason = "as in SqlCipherFormat")]
    Ascon { kdf_iterations: u32, plaintext_header: u8 },
    /// `aes128cbc` and `aes256cbc` of wxSQLite3: no authentication.
    #[expect(missing_docs, reason = "as in SqlCipherFormat")]
    WxAes {
        is_256: bool,
        kdf_iterations: u32,
        is_legacy: bool,
        page_size: Option<u32>,
    },
    /// `rc4` of System.Data.SQLite: no authentication.
    Rc4 {
        /// The page size in bytes.
        page_size: Option<u32>,
    },
}

/// The settings of SQLCipher.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SqlCipherFormat {
    /// `cipher_page_size` in bytes.
    pub page_size: Option<u32>,
    /// `cipher_kdf_algorithm`.
    pub kdf: Hash,
    /// `kdf_iter`.
    pub kdf_iterations: u32,
    /// `cipher_hmac_algorithm`; `None` if `cipher_use_hmac` is off.
    pub hmac: Option<Hash>,
    /// `cipher_plaintext_header_size` in bytes.
    pub plaintext_header: u8,
    /// Whether bytes 16 to 23 of the file are unencrypted: so in SQLite3 Multiple Ciphers' cipher,
    /// unless it is in its legacy mode.
    pub is_visible: bool,
}

/// A name or value that no format has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FormatError {
    /// No format has this name.
    Name(String),
    /// The format has no setting of this name.
    Setting(String),
    /// The setting can't have this value.
    Value {
        /// The setting.
        setting: String,
        /// Its values.
        expected: &'static str,
    },
}

impl fmt::Display for FormatError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => write!(
                formatter,
                "no format is called {name}; there are {}",
                Format::names().join(", ")
            ),
            Self::Setting(name) => write!(formatter, "this format has no setting {name}"),
            Self::Value { setting, expected } => write!(formatter, "{setting} must be {expected}"),
        }
    }
}

impl std::error::Error for FormatError {}

impl SqlCipherFormat {
    /// The defaults of a major version, 1 to 4.
    fn of_version(version: u8) -> Self {
        let (hash, kdf_iterations) = match version {
            4.. => (Hash::Sha512, 256_000),
            3 => (Hash::Sha1, 64_000),
            0..=2 => (Hash::Sha1, 4_000),
        };
        Self {
            page_size: None,
            kdf: hash,
            kdf_iterations,
            hmac: (version > 1).then_some(hash),
            plaintext_header: 0,
            is_visible: false,
        }
    }

    /// The reserved bytes of each page: the IV and the MAC, rounded up to a multiple of 16.
    pub fn reserve(&self) -> usize {
        match self.hmac {
            None => 16,
            Some(Hash::Sha1 | Hash::Sha256) => 48,
            Some(Hash::Sha512) => 80,
        }
    }
}

impl Format {
    /// Parses a name, with the defaults of that format.
    ///
    /// # Errors
    /// [`FormatError::Name`].
    pub fn parse(name: &str) -> Result<Self, FormatError> {
        let found = NAMED.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found
            .map(|(_, make)| make())
            .ok_or_else(|| FormatError::Name(name.to_owned()))
    }

    /// The names that [`Format::parse`] knows, in the order in which [`crate::find`] tries them.
    pub fn names() -> Vec<&'static str> {
        NAMED.iter().map(|&(name, _)| name).collect()
    }

    /// All formats with their defaults, in that order.
    pub fn all() -> Vec<Self> {
        NAMED.iter().map(|(_, make)| make()).collect()
    }

    /// Changes a setting, by the name that the product's documentation gives it.
    ///
    /// # Errors
    /// [`FormatError::Setting`] and [`FormatError::Value`].
    pub fn set(&mut self, setting: &str, value: &str) -> Result<(), FormatError> {
        let name = setting.to_ascii_lowercase();
        let name = name.strip_prefix("cipher_").unwrap_or(&name);
        let parse = Parse { setting, value };
        match (self, name) {
            (Self::SqlCipher(format), name) => return format.set(name, &parse),
            (
                Self::ChaCha20 { kdf_iterations, .. }
                | Self::Ascon { kdf_iterations, .. }
                | Self::WxAes { kdf_iterations, .. },
                "kdf_iter",
            ) => *kdf_iterations = parse.count()?,
            (Self::ChaCha20 { is_legacy, .. } | Self::WxAes { is_legacy, .. }, "legacy") => {
                *is_legacy = parse.flag()?
            }
            (
                Self::ChaCha20 { page_size, .. } | Self::WxAes { page_size, .. } | Self::Rc4 { page_size },
                "legacy_page_size" | "page_size",
            ) => *page_size = Some(parse.page_size()?),
            (
                Self::ChaCha20 { plaintext_header, .. }
                | Self::Aegis { plaintext_header, .. }
                | Self::Ascon { plaintext_header, .. },
                "plaintext_header_size",
            ) => *plaintext_header = parse.header_size()?,
            (Self::Aegis { t_cost, .. }, "tcost") => *t_cost = parse.count()?,
            (Self::Aegis { m_cost, .. }, "mcost") => *m_cost = parse.memory_kib()?,
            (Self::Aegis { p_cost, .. }, "pcost") => *p_cost = parse.count()?,
            (Self::Aegis { variant, .. }, "algorithm") => {
                *variant = AegisVariant::parse(value).ok_or_else(|| parse.must_be(AegisVariant::NAMES))?;
            }
            (
                Self::ChaCha20 { .. } | Self::Aegis { .. } | Self::Ascon { .. } | Self::WxAes { .. } | Self::Rc4 { .. },
                _,
            ) => return Err(FormatError::Setting(setting.to_owned())),
        }
        Ok(())
    }

    /// Whether a new database can be made in this format: SQLCipher with a MAC, whose salt is in the
    /// file.
    pub fn is_exportable(&self) -> bool {
        match self {
            Self::SqlCipher(format) => format.hmac.is_some() && !format.is_visible && format.plaintext_header == 0,
            Self::ChaCha20 { .. } | Self::Aegis { .. } | Self::Ascon { .. } | Self::WxAes { .. } | Self::Rc4 { .. } => {
                false
            }
        }
    }

    /// The page size that the format prescribes, if it does.
    pub fn page_size(&self) -> Option<u32> {
        match self {
            Self::SqlCipher(format) => format.page_size,
            Self::ChaCha20 { page_size, .. } | Self::WxAes { page_size, .. } | Self::Rc4 { page_size } => *page_size,
            Self::Aegis { .. } | Self::Ascon { .. } => None,
        }
    }

    /// Sets the page size.
    pub fn set_page_size(&mut self, size: u32) {
        match self {
            Self::SqlCipher(format) => format.page_size = Some(size),
            Self::ChaCha20 { page_size, .. } | Self::WxAes { page_size, .. } | Self::Rc4 { page_size } => {
                *page_size = Some(size);
            }
            Self::Aegis { .. } | Self::Ascon { .. } => {}
        }
    }

    /// Whether the file begins as an unencrypted database does.
    pub fn has_plaintext_header(&self) -> bool {
        match self {
            Self::SqlCipher(format) => format.plaintext_header > 0,
            Self::ChaCha20 { plaintext_header, .. }
            | Self::Aegis { plaintext_header, .. }
            | Self::Ascon { plaintext_header, .. } => *plaintext_header > 0,
            Self::WxAes { .. } | Self::Rc4 { .. } => false,
        }
    }

    /// Whether bytes 16 to 23 of the file are unencrypted.
    pub(crate) fn is_visible(&self) -> bool {
        match self {
            Self::SqlCipher(format) => format.is_visible || format.plaintext_header >= 24,
            Self::ChaCha20 { is_legacy, .. } | Self::WxAes { is_legacy, .. } => !is_legacy,
            Self::Aegis { .. } | Self::Ascon { .. } => true,
            Self::Rc4 { .. } => false,
        }
    }
}

impl SqlCipherFormat {
    fn set(&mut self, name: &str, parse: &Parse<'_>) -> Result<(), FormatError> {
        match name {
            "page_size" | "legacy_page_size" => self.page_size = Some(parse.page_size()?),
            "kdf_iter" => self.kdf_iterations = parse.count()?,
            "kdf_algorithm" => self.kdf = parse.hash()?,
            "hmac_algorithm" => self.hmac = Some(parse.hash()?),
            "use_hmac" | "hmac_use" => {
                let hash = self.hmac.unwrap_or(self.kdf);
                self.hmac = parse.flag()?.then_some(hash);
            }
            "plaintext_header_size" => self.plaintext_header = parse.header_size()?,
            _ => return Err(FormatError::Setting(parse.setting.to_owned())),
        }
        Ok(())
    }
}

/// The product's cipher and the settings that tell formats apart.
impl fmt::Display for Format {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SqlCipher(format) => {
                let product = if format.is_visible {
                    "SQLite3 Multiple Ciphers' sqlcipher"
                } else {
                    "SQLCipher"
                };
                write!(
                    formatter,
                    "{product}, {} with {} iterations, ",
                    format.kdf, format.kdf_iterations
                )?;
                match format.hmac {
                    Some(hash) => write!(formatter, "HMAC {hash}")?,
                    None => formatter.write_str("no HMAC")?,
                }
                if format.plaintext_header > 0 {
                    write!(formatter, ", plaintext header of {} bytes", format.plaintext_header)?;
                }
            }
            Self::ChaCha20 { is_legacy: true, .. } => formatter.write_str("sqleet")?,
            Self::ChaCha20 { kdf_iterations, .. } => {
                write!(
                    formatter,
                    "SQLite3 Multiple Ciphers' chacha20, {kdf_iterations} iterations"
                )?;
            }
            Self::Aegis { variant, .. } => write!(formatter, "SQLite3 Multiple Ciphers' {}", variant.name())?,
            Self::Ascon { kdf_iterations, .. } => {
                write!(
                    formatter,
                    "SQLite3 Multiple Ciphers' ascon128, {kdf_iterations} iterations"
                )?;
            }
            Self::WxAes { is_256, is_legacy, .. } => {
                let name = if *is_256 { "aes256cbc" } else { "aes128cbc" };
                let legacy = if *is_legacy { ", legacy" } else { "" };
                write!(formatter, "wxSQLite3's {name}{legacy}")?;
            }
            Self::Rc4 { .. } => formatter.write_str("System.Data.SQLite's rc4")?,
        }
        match self.page_size() {
            Some(size) => write!(formatter, ", pages of {size} bytes"),
            None => Ok(()),
        }
    }
}

/// A setting's value.
struct Parse<'a> {
    setting: &'a str,
    value: &'a str,
}

impl Parse<'_> {
    fn must_be(&self, expected: &'static str) -> FormatError {
        FormatError::Value {
            setting: self.setting.to_owned(),
            expected,
        }
    }

    /// Limited: a derivation of 100 million iterations takes a minute or more.
    fn count(&self) -> Result<u32, FormatError> {
        let count = self
            .value
            .parse()
            .ok()
            .filter(|count| (1..=100_000_000).contains(count));
        count.ok_or_else(|| self.must_be("a number from 1 to 100000000"))
    }

    /// Limited: Argon2 takes this memory at once.
    fn memory_kib(&self) -> Result<u32, FormatError> {
        let memory = self.value.parse().ok().filter(|memory| (8..=4 << 20).contains(memory));
        memory.ok_or_else(|| self.must_be("a number of KiB from 8 to 4194304"))
    }

    fn flag(&self) -> Result<bool, FormatError> {
        match self.value.to_ascii_lowercase().as_str() {
            "1" | "on" | "true" | "yes" => Ok(true),
            "0" | "off" | "false" | "no" => Ok(false),
            _ => Err(self.must_be("on or off")),
        }
    }

    fn page_size(&self) -> Result<u32, FormatError> {
        let size = self.value.parse().ok();
        let size = size.filter(|size: &u32| size.is_power_of_two() && (512..=65536).contains(size));
        size.ok_or_else(|| self.must_be("a power of two from 512 to 65536"))
    }

    fn header_size(&self) -> Result<u8, FormatError> {
        let size = self.value.parse().ok();
        let size = size.filter(|size: &u8| *size <= 96 && size.is_multiple_of(16));
        size.ok_or_else(|| self.must_be("a multiple of 16 up to 96"))
    }

    fn hash(&self) -> Result<Hash, FormatError> {
        let name = self.value.to_ascii_uppercase();
        let name = name.strip_prefix("PBKDF2_").unwrap_or(&name);
        match name.strip_prefix("HMAC_").unwrap_or(name) {
            "SHA1" => Ok(Hash::Sha1),
            "SHA256" => Ok(Hash::Sha256),
            "SHA512" => Ok(Hash::Sha512),
            _ => Err(self.must_be("SHA1, SHA256 or SHA512")),
        }
    }
}

type Named = (&'static str, fn() -> Format);

/// Formats with a visible header first: the page size and the reserve of the file rule most of them
/// out at once.
const NAMED: &[Named] = &[
    ("chacha20", || Format::ChaCha20 {
        kdf_iterations: 64_007,
        is_legacy: false,
        page_size: None,
        plaintext_header: 0,
    }),
    ("aegis", || Format::Aegis {
        variant: AegisVariant::Aegis256,
        t_cost: 2,
        m_cost: 19 * 1024,
        p_cost: 1,
        plaintext_header: 0,
    }),
    ("aegis-128l", || Format::Aegis {
        variant: AegisVariant::Aegis128L,
        t_cost: 2,
        m_cost: 19 * 1024,
        p_cost: 1,
        plaintext_header: 0,
    }),
    ("ascon128", || Format::Ascon {
        kdf_iterations: 64_007,
        plaintext_header: 0,
    }),
    ("sqlcipher", || {
        Format::SqlCipher(SqlCipherFormat {
            is_visible: true,
            ..SqlCipherFormat::of_version(4)
        })
    }),
    ("aes256cbc", || wx_aes(true, false)),
    ("aes128cbc", || wx_aes(false, false)),
    ("sqlcipher4", || Format::SqlCipher(SqlCipherFormat::of_version(4))),
    ("sqlcipher3", || Format::SqlCipher(SqlCipherFormat::of_version(3))),
    ("sqlcipher2", || Format::SqlCipher(SqlCipherFormat::of_version(2))),
    ("sqlcipher1", || Format::SqlCipher(SqlCipherFormat::of_version(1))),
    ("sqleet", || Format::ChaCha20 {
        kdf_iterations: 12_345,
        is_legacy: true,
        page_size: None,
        plaintext_header: 0,
    }),
    ("aes256cbc-legacy", || wx_aes(true, true)),
    ("aes128cbc-legacy", || wx_aes(false, true)),
    ("rc4", || Format::Rc4 { page_size: None }),
];

fn wx_aes(is_256: bool, is_legacy: bool) -> Format {
    Format::WxAes {
        is_256,
        kdf_iterations: 4_001,
        is_legacy,
        page_size: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(name: &str, settings: &[(&str, &str)]) -> Result<Format, FormatError> {
        let mut format = Format::parse(name)?;
        for (setting, value) in settings {
            format.set(setting, value)?;
        }
        Ok(format)
    }

    #[test]
    fn settings_have_the_names_of_the_products_documents() {
        let format = with(
            "sqlcipher4",
            &[
                ("cipher_page_size", "8192"),
                ("kdf_iter", "4000"),
                ("cipher_kdf_algorithm", "PBKDF2_HMAC_SHA1"),
                ("cipher_hmac_algorithm", "HMAC_SHA256"),
                ("cipher_plaintext_header_size", "32"),
            ],
        );
        let expected = SqlCipherFormat {
            page_size: Some(8192),
            kdf: Hash::Sha1,
            kdf_iterations: 4000,
            hmac: Some(Hash::Sha256),
            plaintext_header: 32,
            is_visible: false,
        };
        assert_eq!(format, Ok(Format::SqlCipher(expected)));
        let off = with("sqlcipher3", &[("cipher_use_hmac", "OFF")]);
        assert!(matches!(off, Ok(Format::SqlCipher(SqlCipherFormat { hmac: None, .. }))));
        assert!(with("aegis", &[("algorithm", "aegis-128x2"), ("mcost", "64")]).is_ok());
        assert!(with("rc4", &[("legacy_page_size", "1024")]).is_ok());
    }

    #[test]
    fn unknown_names_and_values_are_refused() {
        assert!(matches!(with("sqlcipher5", &[]), Err(FormatError::Name(_))));
        assert!(matches!(
            with("rc4", &[("kdf_iter", "1")]),
            Err(FormatError::Setting(_))
        ));
        for (setting, value) in [
            ("cipher_page_size", "1000"),
            ("cipher_page_size", "256"),
            ("kdf_iter", "0"),
            ("kdf_iter", "-1"),
            ("cipher_use_hmac", "maybe"),
            ("cipher_hmac_algorithm", "MD5"),
            ("cipher_plaintext_header_size", "33"),
        ] {
            let refused = with("sqlcipher4", &[(setting, value)]);
            assert!(matches!(refused, Err(FormatError::Value { .. })), "{setting} = {value}");
        }
        assert!(matches!(
            with("aegis", &[("mcost", "4194305")]),
            Err(FormatError::Value { .. })
        ));
    }

    #[test]
    fn every_name_is_parsed() {
        assert_eq!(Format::names().len(), Format::all().len());
        for (name, format) in Format::names().iter().zip(Format::all()) {
            assert_eq!(Format::parse(&name.to_uppercase()), Ok(format));
        }
    }
}
