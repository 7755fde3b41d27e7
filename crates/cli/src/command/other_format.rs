//! The format and the key of another product, from the arguments.

use std::path::Path;

use selenite::EngineError;
use selenite::import::{Format, Key, SALT_SIZE};
use selenite_keyring::read_trusted;
use zeroize::Zeroizing;

use crate::arguments::import::OtherFormat;
use crate::cli_error::CliError;
use crate::command::key_service::read_secret;
use crate::printable;

/// The format that the arguments name, if they do, and the key.
pub fn parse(arguments: &OtherFormat) -> Result<(Option<Format>, Key), CliError> {
    let Some(name) = &arguments.format else {
        return Ok((None, key(arguments)?));
    };
    parse_as(arguments, name).map(|(format, key)| (Some(format), key))
}

/// The format that the arguments name, or that of this name, and the key.
pub fn parse_or(arguments: &OtherFormat, name: &str) -> Result<(Format, Key), CliError> {
    parse_as(arguments, arguments.format.as_deref().unwrap_or(name))
}

fn parse_as(arguments: &OtherFormat, name: &str) -> Result<(Format, Key), CliError> {
    let (format, salt) = format(arguments, name)?;
    let key = key(arguments)?;
    Ok(match salt {
        Some(salt) => (format, key.with_salt(salt)),
        None => (format, key),
    })
}

/// The format of that name, and the salt that is not in the file.
fn format(arguments: &OtherFormat, name: &str) -> Result<(Format, Option<[u8; SALT_SIZE]>), CliError> {
    let usage = |what: String, next: &str| {
        CliError::Engine(EngineError::Usage {
            what,
            next: next.to_owned(),
        })
    };
    let mut format = Format::parse(name).map_err(|error| usage(error.to_string(), "choose one of them"))?;
    let mut salt = None;
    for setting in &arguments.set {
        let (name, value) = setting
            .split_once('=')
            .ok_or_else(|| usage(format!("--set {setting}: not a setting"), "write --set NAME=VALUE"))?;
        if name.eq_ignore_ascii_case("cipher_salt") {
            let parsed = Key::parse_salt(value.as_bytes());
            salt =
                Some(parsed.ok_or_else(|| usage("cipher_salt: not a salt".to_owned(), "write 32 hexadecimal digits"))?);
            continue;
        }
        let set = format.set(name, value);
        set.map_err(|error| usage(format!("--set {setting}: {error}"), "see docs/MIGRATION.md"))?;
    }
    Ok((format, salt))
}

fn key(arguments: &OtherFormat) -> Result<Key, CliError> {
    if let Some(path) = &arguments.passphrase_file {
        let bytes = read(path)?;
        let text = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        if text.is_empty() {
            return Err(bad_key(path, "it is empty", "write the passphrase into it"));
        }
        return Ok(Key::passphrase(text));
    }
    // clap demands one of both.
    let path = arguments.raw_key_file.as_deref().unwrap_or(Path::new(""));
    Key::parse_raw(&read(path)?).map_err(|error| bad_key(path, &error.to_string(), "check the file"))
}

/// Whether the file of the passphrase has a raw key, as SQL has it: `x'...'`.
pub fn names_raw_key(arguments: &OtherFormat) -> bool {
    let bytes = arguments
        .passphrase_file
        .as_deref()
        .and_then(|path| read_trusted(path, SECRET_SIZE_MAX).ok());
    bytes.is_some_and(|bytes| {
        let text = bytes.trim_ascii();
        (text.starts_with(b"x'") || text.starts_with(b"X'")) && Key::parse_raw(text).is_ok()
    })
}

fn bad_key(path: &Path, what: &str, next: &str) -> CliError {
    CliError::Engine(EngineError::Usage {
        what: format!("{}: {what}", printable::path(path)),
        next: next.to_owned(),
    })
}

fn read(path: &Path) -> Result<Zeroizing<Vec<u8>>, CliError> {
    read_secret(path, SECRET_SIZE_MAX)
}

const SECRET_SIZE_MAX: usize = 4096;
