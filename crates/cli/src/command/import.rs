//! `selenite import`.

use std::path::Path;

use selenite::import::{Format, Import, Key, SALT_SIZE, import};
use selenite::storage::Disk;
use selenite::{Access, EngineError};

use super::encrypt::{json, show};
use super::verify::remember;
use crate::arguments;
use crate::cli_error::CliError;
use crate::lines::Lines;
use crate::meter::Meter;
use crate::output::{print, print_json};
use crate::printable;

pub fn run(arguments: &arguments::import::Import, access: &Access) -> Result<(), CliError> {
    let (format, salt) = format(arguments)?;
    let key = key(arguments)?;
    let how = Import {
        format,
        key: match salt {
            Some(salt) => key.with_salt(salt),
            None => key,
        },
        suite: arguments.cipher,
        recipients: arguments.recipient.clone(),
    };
    let meter = Meter::start();
    let paths = (arguments.database.as_path(), arguments.to.as_path());
    let done = import(&Disk, paths, access, &how, &meter.watch());
    meter.finish();
    let imported = done?;
    let outcome = &imported.outcome;
    if arguments.json {
        let mut value = json(&arguments.database, outcome, Some(how.suite));
        value["format"] = imported.format.to_string().into();
        value["authenticated"] = imported.is_authenticated.into();
        print_json(&value)?;
    } else {
        let mut lines = Lines::default();
        lines.add("imported", printable::path(&arguments.to));
        lines.add("from", imported.format.to_string());
        lines.add("suite", how.suite.name());
        show(&mut lines, outcome, "every value compared, every page verified");
        lines.add_all("key slots", outcome.slots.iter().map(ToString::to_string));
        print(&lines.text())?;
    }
    if let Some(made) = outcome.authenticated {
        remember(|notes| notes.keep_encrypted(&outcome.path, made));
    }
    if !imported.is_authenticated {
        eprintln!(
            "\nThe old format does not authenticate pages: what was altered in the old database before is in the new one, \
             too."
        );
    }
    Ok(())
}

/// The format that the arguments name, and the salt that is not in the file.
fn format(arguments: &arguments::import::Import) -> Result<(Option<Format>, Option<[u8; SALT_SIZE]>), CliError> {
    let Some(name) = &arguments.format else {
        return Ok((None, None));
    };
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
        set.map_err(|error| usage(format!("--set {setting}: {error}"), "see selenite import --help"))?;
    }
    Ok((Some(format), salt))
}

fn key(arguments: &arguments::import::Import) -> Result<Key, CliError> {
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

fn bad_key(path: &Path, what: &str, next: &str) -> CliError {
    CliError::Engine(EngineError::Usage {
        what: format!("{}: {what}", printable::path(path)),
        next: next.to_owned(),
    })
}

fn read(path: &Path) -> Result<selenite::import::SecretBytes, CliError> {
    selenite::import::read_secret(path).map_err(CliError::Engine)
}
