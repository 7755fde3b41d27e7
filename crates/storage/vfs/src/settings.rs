//! The settings: from the URI's parameters, then the environment, then the configuration file.

use std::ffi::{CStr, OsString};

use selenite_cipher::{DatabaseId, Suite};
use selenite_format::{AutoVacuum, PageSize};
use selenite_keyring::{Config, OriginPolicy, Spec};

use crate::anchor_place::AnchorPlace;
use crate::error::VfsError;
use crate::ffi::Name;
use crate::uri_parameters;

/// The settings of one database. None of them is a secret: an identity is referred to, never
/// contained.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The location of the identity.
    pub identity: Option<Spec>,
    /// The page size of a new database.
    pub page_size: PageSize,
    /// The suite of a new database.
    pub suite: Suite,
    /// The mode in which a new database frees pages.
    pub auto_vacuum: AutoVacuum,
    /// Whether an unencrypted database is allowed.
    pub allow_plain: bool,
    /// Whether TRIPLE_DES_3KEY is allowed.
    pub allow_deprecated: bool,
    /// Whether the process's memory has to be locked.
    pub lock_memory: bool,
    /// Whether calls for its files are counted.
    pub counts_calls: bool,
    /// The new limit of the pool in bytes, if set.
    pub pool_size: Option<usize>,
    /// The required id of the database when it is opened; a file without a superblock is allowed as
    /// `allow_plain` says.
    pub expected_id: Option<DatabaseId>,
    /// Whether SQLite takes no locks on the file (`nolock=1`): the application promises that no other connection uses
    /// it.
    pub takes_no_locks: bool,
    /// The required commitment of the master key when the file is opened (FORMAT 4.2); a file
    /// without a superblock is allowed as `allow_plain` says. A file with this commitment is
    /// allowed whatever its origin.
    pub expected_commitment: Option<[u8; 32]>,
    /// Which origins are allowed, if set here; otherwise the environment or the configuration file
    /// decides.
    pub origin: Option<OriginPolicy>,
    /// Where its newest short anchor is, with which it is compared when it is opened (FORMAT 10.8).
    pub anchor: Option<AnchorPlace>,
    /// Whether it is opened although there is no anchor to compare it with.
    pub allow_no_anchor: bool,
    /// Whether all pages of the file must be encrypted when it is opened, whatever `allow_plain`
    /// says.
    pub expects_encrypted: bool,
}

/// Looks up an environment variable.
pub type Environment<'a> = &'a dyn Fn(&str) -> Option<OsString>;

impl Settings {
    /// Reads the settings for a database that is being opened.
    ///
    /// # Errors
    /// [`VfsError::Setting`] names the parameter and its allowed values.
    pub fn read(name: &Name<'_>, environment: Environment<'_>, config: &Config) -> Result<Self, VfsError> {
        uri_parameters::check(name.parameter_names())?;
        // `selenite_backup` reads it when it is called, only from the URI of the main database:
        // here it is only checked.
        parse(name.parameter(c"backup"), false, |value| parse_allow("backup", value))?;
        let lookup = |key: &'static CStr, variable: &'static str| -> Result<Option<String>, VfsError> {
            if let Some(value) = name.parameter(key) {
                return Ok(Some(value));
            }
            environment(variable)
                .map(|value| {
                    value
                        .into_string()
                        .map_err(|_| VfsError::Setting(format!("{variable} is not valid UTF-8")))
                })
                .transpose()
        };
        // `Config::load` has read SELENITE_IDENTITY.
        let identity = match name.path_parameter(c"selenite_identity") {
            Some(spec) => Some(Spec::from_os(&spec)?),
            None => config.identity().cloned(),
        };
        Ok(Self {
            identity,
            page_size: parse(
                lookup(c"page_size", "SELENITE_PAGE_SIZE")?,
                PageSize::DEFAULT,
                parse_page_size,
            )?,
            suite: parse(lookup(c"cipher", "SELENITE_CIPHER")?, Suite::DEFAULT, parse_suite)?,
            auto_vacuum: parse(
                lookup(c"auto_vacuum", "SELENITE_AUTO_VACUUM")?,
                AutoVacuum::None,
                parse_auto_vacuum,
            )?,
            allow_plain: parse(lookup(c"plain", "SELENITE_PLAIN")?, false, |value| {
                parse_allow("plain", value)
            })?,
            allow_deprecated: parse(lookup(c"deprecated", "SELENITE_DEPRECATED")?, false, |value| {
                parse_allow("deprecated", value)
            })?,
            lock_memory: parse(lookup(c"lock_memory", "SELENITE_LOCK_MEMORY")?, false, |value| {
                parse_switch("lock_memory", value)
            })?,
            counts_calls: parse(lookup(c"meter", "SELENITE_METER")?, true, |value| {
                parse_switch("meter", value)
            })?,
            pool_size: lookup(c"pool_size", "SELENITE_POOL_SIZE")?
                .map(|value| parse_pool_size(&value))
                .transpose()?,
            takes_no_locks: name.parameter(c"nolock").is_some_and(|value| is_true(&value)),
            // These refer to one file, and are read from its URI alone.
            expected_id: parse(name.parameter(c"database_id"), None, |value| parse_id(value).map(Some))?,
            expected_commitment: parse(name.parameter(c"commitment"), None, |value| {
                parse_digits("commitment", value).map(Some)
            })?,
            // `Config::load` has read SELENITE_ORIGIN.
            origin: parse(name.parameter(c"origin"), None, |value| Ok(Some(value.parse()?)))?,
            anchor: name.path_parameter(c"anchor").map(AnchorPlace::parse).transpose()?,
            allow_no_anchor: parse(name.parameter(c"anchor_missing"), false, |value| {
                parse_allow("anchor_missing", value)
            })?,
            expects_encrypted: parse(name.parameter(c"encrypted"), false, |value| match value {
                "required" => Ok(true),
                _ => Err(VfsError::Setting(format!(
                    "invalid encrypted={value}; the only value is `required`"
                ))),
            })?,
        })
    }
}

impl Settings {
    /// Whether a connection goes on in another database that takes the name of its own: it admits either kind, has an
    /// identity, and does not expect a certain database.
    pub fn may_move(&self) -> bool {
        let expects_one = self.expected_id.is_some()
            || self.expected_commitment.is_some()
            || self.anchor.is_some()
            || self.expects_encrypted;
        self.allow_plain && self.identity.is_some() && !expects_one
    }

    /// Whether these settings allow creating a new database.
    ///
    /// # Errors
    /// `NoKeyToMake` without an identity; `DeprecatedSuite` or `NotEncrypted` for a suite that is
    /// not allowed.
    pub fn check_new(&self) -> Result<(), VfsError> {
        if self.identity.is_none() {
            return Err(VfsError::NoKeyToMake);
        }
        if self.suite.is_deprecated() && !self.allow_deprecated {
            return Err(VfsError::DeprecatedSuite);
        }
        if self.suite == Suite::None && !self.allow_plain {
            return Err(VfsError::NotEncrypted("the suite NONE needs plain=allow"));
        }
        Ok(())
    }
}

/// Parses a boolean as `sqlite3_uri_boolean` does.
fn is_true(value: &str) -> bool {
    let word = value.to_ascii_lowercase();
    let digits: String = word.chars().take_while(char::is_ascii_digit).collect();
    ["yes", "true", "on"].contains(&word.as_str()) || digits.parse::<u32>().is_ok_and(|number| number != 0)
}

fn parse<T>(
    value: Option<String>,
    otherwise: T,
    parse: impl FnOnce(&str) -> Result<T, VfsError>,
) -> Result<T, VfsError> {
    value.map_or(Ok(otherwise), |value| parse(&value))
}

fn parse_page_size(value: &str) -> Result<PageSize, VfsError> {
    value
        .parse::<u32>()
        .ok()
        .and_then(|size| PageSize::try_from(size).ok())
        .ok_or_else(|| VfsError::Setting(format!("page_size {value} is not a power of two from 1024 to 65536")))
}

fn parse_suite(value: &str) -> Result<Suite, VfsError> {
    Suite::from_name(value).ok_or_else(|| {
        let names: Vec<_> = Suite::ALL.iter().map(|suite| suite.name()).collect();
        let nearest = Suite::nearest(value).map(|suite| format!("; did you mean {}?", suite.name()));
        let names = names.join(", ");
        VfsError::Setting(format!(
            "unknown cipher {value:?}{} known: {names}",
            nearest.as_deref().unwrap_or(";")
        ))
    })
}

fn parse_id(value: &str) -> Result<DatabaseId, VfsError> {
    parse_digits("database_id", value).map(DatabaseId)
}

/// Parses `N` bytes, two hexadecimal digits each.
pub fn parse_digits<const N: usize>(key: &'static str, value: &str) -> Result<[u8; N], VfsError> {
    let bad = || VfsError::Setting(format!("{key} {value} is not {} hexadecimal digits", 2 * N));
    let digits = value.as_bytes();
    let is_plain = digits.len() == 2 * N && digits.iter().all(u8::is_ascii_hexdigit);
    if !is_plain {
        return Err(bad());
    }
    let mut bytes = [0; N];
    for (byte, at) in bytes.iter_mut().zip((0..2 * N).step_by(2)) {
        *byte = u8::from_str_radix(&value[at..at + 2], 16).map_err(|_| bad())?;
    }
    Ok(bytes)
}

fn parse_auto_vacuum(value: &str) -> Result<AutoVacuum, VfsError> {
    match value.to_ascii_lowercase().as_str() {
        "none" | "0" => Ok(AutoVacuum::None),
        "full" | "1" => Ok(AutoVacuum::Full),
        "incremental" | "2" => Ok(AutoVacuum::Incremental),
        _ => Err(VfsError::Setting(format!(
            "auto_vacuum {value} is none of none, full, incremental"
        ))),
    }
}

/// Parses the size of the page pool: bytes, or with a suffix letter KiB, MiB or GiB.
///
/// # Errors
/// [`VfsError::Setting`].
pub fn parse_pool_size(value: &str) -> Result<usize, VfsError> {
    let short = value.strip_suffix("iB").unwrap_or(value);
    let (digits, shift) = match short.as_bytes().last() {
        Some(b'k' | b'K') => (&short[..short.len() - 1], 10),
        Some(b'm' | b'M') => (&short[..short.len() - 1], 20),
        Some(b'g' | b'G') => (&short[..short.len() - 1], 30),
        Some(_) | None => (value, 0),
    };
    digits
        .parse::<usize>()
        .ok()
        .and_then(|number| number.checked_mul(1 << shift))
        .ok_or_else(|| {
            VfsError::Setting(format!(
                "pool_size {value} is not a number of bytes, such as 64M or 64MiB"
            ))
        })
}

fn parse_switch(key: &'static str, value: &str) -> Result<bool, VfsError> {
    match value {
        "1" => Ok(true),
        "0" | "" => Ok(false),
        _ => Err(VfsError::Setting(format!(
            "invalid {key}={value}, of the URI or SELENITE_{}; use 1 or 0",
            key.to_ascii_uppercase()
        ))),
    }
}

fn parse_allow(key: &'static str, value: &str) -> Result<bool, VfsError> {
    match value {
        "allow" => Ok(true),
        "refuse" | "" => Ok(false),
        _ => Err(VfsError::Setting(format!(
            "invalid {key}={value}; use `allow` or `refuse`"
        ))),
    }
}
