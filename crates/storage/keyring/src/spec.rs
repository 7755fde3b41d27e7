//! The text by which users specify an identity, on a command line or in the configuration.

use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::platform::part_of_name;
use crate::{KeyError, hex};

/// The source of an identity.
///
/// `PATH` (the kind is detected from the content), `age:PATH`, `raw:PATH`, `passphrase:PATH` or
/// `command:NAME`. A path that begins with one of these prefixes is written as `./age:x`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Spec {
    /// A file whose kind is detected from its content.
    Detected(PathBuf),
    /// A file of age identities.
    Age(PathBuf),
    /// A file of 32 bytes.
    Raw(PathBuf),
    /// A file that contains a passphrase.
    Passphrase(PathBuf),
    /// The name of a command in the configuration.
    Command(String),
    /// Keys held in this process ([`crate::HeldMaster`], [`crate::HeldAge`]): `held:` and 32
    /// digits, which are known only to the holder.
    Held([u8; 16]),
}

impl Spec {
    /// Parses a specification whose path need not be UTF-8.
    ///
    /// # Errors
    /// As [`FromStr`].
    pub fn from_os(text: &OsStr) -> Result<Self, KeyError> {
        let bytes = text.as_encoded_bytes();
        let shown = text.to_string_lossy();
        // Prefix and refusals are the same; the path is put in its place.
        let spec: Self = shown.parse()?;
        let path_of = |lossy: &Path| {
            let prefix_size = shown.len() - lossy.as_os_str().len();
            part_of_name(&bytes[prefix_size..]).map_or_else(|| lossy.to_owned(), PathBuf::from)
        };
        Ok(match text.to_str() {
            Some(_) => spec,
            None => spec.map_path(path_of),
        })
    }

    /// The text of which [`Spec::from_os`] makes the same, in the bytes of [`OsStr::as_encoded_bytes`].
    #[must_use]
    pub fn encoded(&self) -> Vec<u8> {
        let (prefix, path) = match self {
            Self::Detected(path) => ("", path),
            Self::Age(path) => ("age:", path),
            Self::Raw(path) => ("raw:", path),
            Self::Passphrase(path) => ("passphrase:", path),
            Self::Command(_) | Self::Held(_) => return self.to_string().into_bytes(),
        };
        [prefix.as_bytes(), path.as_os_str().as_encoded_bytes()].concat()
    }

    /// Applies `map` to the path, if there is one.
    pub(crate) fn map_path(self, map: impl FnOnce(&Path) -> PathBuf) -> Self {
        match self {
            Self::Detected(path) => Self::Detected(map(&path)),
            Self::Age(path) => Self::Age(map(&path)),
            Self::Raw(path) => Self::Raw(map(&path)),
            Self::Passphrase(path) => Self::Passphrase(map(&path)),
            Self::Command(name) => Self::Command(name),
            Self::Held(token) => Self::Held(token),
        }
    }
}

impl FromStr for Spec {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let bad = |spec: &str, problem| {
            Err(KeyError::BadSpec {
                spec: spec.to_owned(),
                problem,
            })
        };
        if holds_age_secret(text) {
            return bad("(a secret key)", "a key was given instead of the path of its file");
        }
        let spec = match text.split_once(':') {
            Some(("age", path)) => Self::Age(path.into()),
            Some(("raw", path)) => Self::Raw(path.into()),
            Some(("passphrase", path)) => Self::Passphrase(path.into()),
            Some(("command", name)) => Self::Command(name.to_owned()),
            Some(("held", digits)) => hex::decode(digits).map_or_else(|| Self::Detected(text.into()), Self::Held),
            _ => Self::Detected(text.into()),
        };
        match &spec {
            Self::Command(name) if !is_command_name(name) => {
                bad(text, "a command's name has 1 to 64 letters, digits, '-', '_' or '.'")
            }
            Self::Command(_) | Self::Held(_) => Ok(spec),
            Self::Detected(_) if text.starts_with("age1") => bad(
                text,
                "age1... is a public recipient, which opens nothing: give the file of its identity",
            ),
            Self::Detected(path) | Self::Age(path) | Self::Raw(path) | Self::Passphrase(path) => {
                match path.as_os_str().is_empty() {
                    true => bad(text, "the path is missing"),
                    false => Ok(spec),
                }
            }
        }
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Detected(path) => write!(f, "{}", path.display()),
            Self::Age(path) => write!(f, "age:{}", path.display()),
            Self::Raw(path) => write!(f, "raw:{}", path.display()),
            Self::Passphrase(path) => write!(f, "passphrase:{}", path.display()),
            Self::Command(name) => write!(f, "command:{name}"),
            Self::Held(token) => write!(f, "held:{}", hex::encode(token)),
        }
    }
}

/// Whether a command may have this name. It is written to files and messages, and is therefore restricted.
pub(crate) fn is_command_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    (1..=COMMAND_NAME_SIZE_MAX).contains(&name.len()) && name.bytes().all(is_plain)
}

/// Whether the text contains an age secret key: such text is never part of an error.
pub(crate) fn holds_age_secret(text: &str) -> bool {
    let upper = text.to_ascii_uppercase();
    upper.contains("AGE-SECRET-KEY") || upper.contains("AGE-PLUGIN-")
}

/// Far below the 512 bytes of a slot's identifier.
const COMMAND_NAME_SIZE_MAX: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spec_is_parsed_by_its_prefix_and_shown_as_it_was() {
        let cases = [
            ("/k", Spec::Detected("/k".into())),
            ("./age:k", Spec::Detected("./age:k".into())),
            ("c:k", Spec::Detected("c:k".into())),
            ("age:k:1", Spec::Age("k:1".into())),
            ("raw:/k", Spec::Raw("/k".into())),
            ("passphrase:k", Spec::Passphrase("k".into())),
            ("command:my-kms_2.x", Spec::Command("my-kms_2.x".into())),
            ("held:0f", Spec::Detected("held:0f".into())),
            (
                "held:000102030405060708090a0b0c0d0e0f",
                Spec::Held(*b"\0\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f"),
            ),
        ];
        for (text, spec) in cases {
            assert_eq!(text.parse::<Spec>().unwrap(), spec);
            assert_eq!(spec.to_string(), text);
        }
    }

    #[test]
    #[cfg(unix)]
    fn a_path_need_not_be_utf_8() {
        use std::os::unix::ffi::OsStrExt;

        let of = |bytes: &[u8]| Spec::from_os(OsStr::from_bytes(bytes));
        let path = || PathBuf::from(OsStr::from_bytes(b"/k\xff:\xc3"));
        let cases = [
            (&b"/k\xff:\xc3"[..], Spec::Detected(path())),
            (b"age:/k\xff:\xc3", Spec::Age(path())),
            (b"raw:/k\xff:\xc3", Spec::Raw(path())),
            (b"passphrase:/k\xff:\xc3", Spec::Passphrase(path())),
            (b"command:kms", Spec::Command("kms".into())),
            ("k\u{e9}".as_bytes(), Spec::Detected("k\u{e9}".into())),
        ];
        for (bytes, spec) in cases {
            assert_eq!(of(bytes).unwrap(), spec);
            assert_eq!(spec.encoded(), bytes);
        }
        for bytes in [&b"command:k\xff"[..], b"age1\xff", b"AGE-SECRET-KEY-1\xffQQQ"] {
            let error = of(bytes).unwrap_err();
            assert!(matches!(error, KeyError::BadSpec { .. }), "{error}");
            assert!(!error.to_string().contains("QQQ"), "{error}");
        }
    }

    #[test]
    fn a_spec_without_path_or_with_a_strange_name_is_refused() {
        for text in [
            "",
            "age1qqqq",
            "age:",
            "raw:",
            "passphrase:",
            "command:",
            "command:a/b",
            "command:a b",
        ] {
            let error = text.parse::<Spec>().unwrap_err();
            assert!(matches!(error, KeyError::BadSpec { .. }), "{text}: {error}");
        }
        assert!(format!("command:{}", "x".repeat(65)).parse::<Spec>().is_err());
    }

    #[test]
    fn a_secret_key_in_place_of_a_path_is_not_repeated() {
        for text in ["AGE-SECRET-KEY-1QQQ", "age:age-secret-key-1qqq", "AGE-PLUGIN-X-1QQQ"] {
            let error = text.parse::<Spec>().unwrap_err();
            assert!(
                !format!("{error} {error:?}").to_ascii_uppercase().contains("1QQQ"),
                "{error}"
            );
        }
    }
}
