//! `selenite init`: a key, an encrypted database, and the lines that open it.

mod language;

use std::fs;
use std::path::{Path, PathBuf};

use selenite::storage::Disk;
use selenite::{Access, Database, EngineError, Layout, Spec, keys};
use selenite_doctor::extension;
use selenite_keyring::{Config, SlotSummary};
use serde_json::json;

use crate::arguments::init::Init;
use crate::cli_error::CliError;
use crate::lines::Lines;
use crate::output::{note, print, print_json};
use crate::printable;

/// The identity of the database.
struct Key {
    spec: Spec,
    /// Its recipient, if its file was made now.
    made: Option<String>,
}

pub fn run(arguments: &Init, access: &Access) -> Result<(), CliError> {
    let config = Config::load(&|name| std::env::var_os(name)).map_err(EngineError::from)?;
    for recipient in &arguments.recipient {
        selenite_keyring::parse_recipient(recipient, &config).map_err(EngineError::from)?;
    }
    let is_there = is_encrypted(&arguments.database)?;
    let key = key(access, &config, is_there)?;
    let access = Access {
        identity: Some(key.spec.clone()),
        ..access.clone()
    };
    if !is_there {
        create(arguments, &access)?;
    }
    let slots = keys::list(&Disk, &arguments.database)?.slots;
    show(arguments, &access, &key, !is_there, &slots)?;
    if let Some((path, _)) = file(&key.spec).zip(key.made.as_ref()) {
        let shown = printable::path(path);
        say!("\nKeep a copy of {shown} elsewhere: without it, the database cannot be opened.");
        if is_in_git(path) {
            say!("It is in the working tree of a Git repository: add it to .gitignore.");
        }
    }
    Ok(())
}

/// Whether there is an encrypted database at the path; an unencrypted one is an error.
fn is_encrypted(path: &Path) -> Result<bool, EngineError> {
    if fs::metadata(path).map_or(true, |facts| facts.len() == 0) {
        return Ok(false);
    }
    match selenite::status(&Disk, path, &Access::default())?.sealed {
        Some(_) => Ok(true),
        None => Err(EngineError::NotEncrypted {
            path: path.to_owned(),
            what: "it is there, as a database of stock SQLite",
        }),
    }
}

/// The identity in force, or a new one: in the file that was named, or in the default one.
fn key(access: &Access, config: &Config, is_there: bool) -> Result<Key, EngineError> {
    let spec = match (&access.identity, config.identity()) {
        (Some(spec), _) => spec.clone(),
        (None, Some(spec)) => {
            return Ok(Key {
                spec: spec.clone(),
                made: None,
            });
        }
        (None, None) => Spec::Detected(PathBuf::from(KEY_FILE)),
    };
    // The key of a database that is there is not a new one.
    let is_missing = |path: &Path| !is_there && fs::symlink_metadata(path).is_err();
    let path = match &spec {
        Spec::Detected(path) | Spec::Age(path) => Some(path).filter(|path| is_missing(path)),
        Spec::Raw(_) | Spec::Passphrase(_) | Spec::Command(_) | Spec::Held(_) => None,
    };
    let made = path.map(|path| selenite::create_identity(path)).transpose()?;
    Ok(Key { spec, made })
}

fn create(arguments: &Init, access: &Access) -> Result<(), EngineError> {
    let layout = Layout {
        suite: arguments.cipher,
        ..Layout::default()
    };
    drop(Database::create(&Disk, &arguments.database, access, &layout)?);
    for recipient in &arguments.recipient {
        keys::add(&Disk, &arguments.database, access, recipient, "")?;
    }
    Ok(())
}

fn show(arguments: &Init, access: &Access, key: &Key, is_new: bool, slots: &[SlotSummary]) -> Result<(), CliError> {
    let (language, why) = match arguments.lang {
        Some(language) => (language, None),
        None => language::guess(Path::new(".")),
    };
    let extension = std::env::current_exe()
        .ok()
        .and_then(|program| extension::find(&program));
    let lines = language::Opening::new(&arguments.database, access, &key.spec, extension.as_deref());
    let lines = lines.map(|opening| language.lines(&opening));
    if arguments.json {
        return Ok(print_json(&json!({
            "database": arguments.database.to_string_lossy(),
            "created": is_new,
            "suite": is_new.then(|| arguments.cipher.name()),
            "slots": slots.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "identity": key.spec.to_string(),
            "identity_created": key.made.is_some(),
            "recipient": key.made,
            "language": language.word(),
            "needs": language.needs(),
            "lines": lines,
        }))?);
    }
    let mut text = Lines::default();
    let state = if is_new {
        "new, encrypted"
    } else {
        "there already, encrypted; nothing was changed"
    };
    text.add("database", format!("{}: {state}", printable::path(&arguments.database)));
    if is_new {
        text.add("suite", arguments.cipher.name());
    }
    let state = if key.made.is_some() {
        ": new, readable by its owner only"
    } else {
        ""
    };
    text.add("identity", format!("{}{state}", key.spec));
    text.add_all("key slots", slots.iter().map(ToString::to_string));
    let why = why.map_or_else(String::new, |why| format!(" ({why})"));
    text.add("language", format!("{}{why}; another one: --lang", language.word()));
    text.add("needs", language.needs());
    match lines {
        Some(lines) => print(&format!("{}\n{}", text.text(), printable::lines(&lines.join("\n"))))?,
        None => {
            print(&text.text())?;
            note("no lines of a program: a path is not UTF-8, or has control characters");
        }
    }
    Ok(())
}

/// The file that a spec names.
fn file(spec: &Spec) -> Option<&Path> {
    match spec {
        Spec::Detected(path) | Spec::Age(path) | Spec::Raw(path) | Spec::Passphrase(path) => Some(path),
        Spec::Command(_) | Spec::Held(_) => None,
    }
}

fn is_in_git(path: &Path) -> bool {
    std::path::absolute(path).is_ok_and(|path| path.ancestors().skip(1).any(|folder| folder.join(".git").exists()))
}

const KEY_FILE: &str = "key.txt";
