//! The names of the parameters that a database's URI may have.
//!
//! - misspelling-is-refused: a parameter with a spelling close to one of Selenite's is refused by
//!   name: `encryptd=required` would open an unencrypted database.
//! - others-pass: other parameters are ignored: they are SQLite's, or those of a VFS above or
//!   below.

use crate::error::VfsError;

/// Refuses the first name that is probably a misspelt parameter of Selenite.
///
/// # Errors
/// [`VfsError::Setting`] names it, and the probable parameter.
pub fn check(names: impl IntoIterator<Item = String>) -> Result<(), VfsError> {
    names.into_iter().try_for_each(|name| check_one(&name))
}

fn check_one(name: &str) -> Result<(), VfsError> {
    if OURS.contains(&name) || SQLITES.contains(&name) {
        return Ok(());
    }
    if KEYS.contains(&name) {
        return Err(VfsError::Setting(format!(
            "URI parameter {name} refused: keys cannot be given in a URI; name a key file with selenite_identity"
        )));
    }
    let plain = |name: &str| name.to_ascii_lowercase().replace(['-', '_'], "");
    let wanted = plain(name);
    let near = OURS
        .iter()
        .map(|ours| {
            // `identity` is the name in the command line and the configuration.
            let short = ours.strip_prefix("selenite_").unwrap_or(ours);
            let [whole, short] = [ours, short].map(|name| strsim::osa_distance(&wanted, &plain(name)));
            (whole.min(short), ours)
        })
        .min()
        .filter(|(distance, ours)| *distance <= edits_max(ours));
    match near {
        Some((_, ours)) => Err(VfsError::Setting(format!(
            "unknown URI parameter {}; did you mean {ours}?",
            shown(name)
        ))),
        None if wanted.starts_with("selenite") => Err(VfsError::Setting(format!(
            "unknown URI parameter {}; known are {}",
            shown(name),
            OURS.join(", ")
        ))),
        None => Ok(()),
    }
}

/// The name as written to a log: it may contain any characters.
fn shown(name: &str) -> String {
    name.escape_default().take(SHOWN_SIZE_MAX).collect()
}

/// The maximal edit distance: one for a short word, two for a longer one.
fn edits_max(word: &str) -> usize {
    if word.len() <= SHORT { 1 } else { 2 }
}

/// The parameters that `Settings` and `selenite_backup` read.
const OURS: [&str; 16] = [
    "selenite_identity",
    "page_size",
    "cipher",
    "auto_vacuum",
    "plain",
    "deprecated",
    "pool_size",
    "database_id",
    "commitment",
    "origin",
    "encrypted",
    "backup",
    "lock_memory",
    "meter",
    "anchor",
    "anchor_missing",
];
/// <https://sqlite.org/c3ref/open.html#urifilenameexamples>, and the parameters of SQLite's own
/// VFSs.
const SQLITES: [&str; 14] = [
    "vfs",
    "mode",
    "cache",
    "psow",
    "nolock",
    "immutable",
    "modeof",
    "reserve",
    "ptr",
    "sz",
    "max",
    "freeonclose",
    "hexdump",
    "delay",
];
/// Parameters by which other products take a key.
const KEYS: [&str; 4] = ["key", "hexkey", "textkey", "passphrase"];
const SHORT: usize = 5;
const SHOWN_SIZE_MAX: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    fn said(name: &str) -> String {
        check([name.to_owned()]).unwrap_err().to_string()
    }

    #[test]
    fn a_misspelt_parameter_is_refused_by_name() {
        for (name, meant) in [
            ("encryptd", "encrypted"),
            ("Encrypted", "encrypted"),
            ("encrypt", "encrypted"),
            ("cypher", "cipher"),
            ("chiper", "cipher"),
            ("pagesize", "page_size"),
            ("page-size", "page_size"),
            ("databaseid", "database_id"),
            ("plian", "plain"),
            ("depreciated", "deprecated"),
            ("selenite_identiy", "selenite_identity"),
            ("identity", "selenite_identity"),
            ("backups", "backup"),
            ("comitment", "commitment"),
        ] {
            assert_eq!(
                said(name),
                format!("unknown URI parameter {name}; did you mean {meant}?")
            );
        }
        assert!(said("selenite_key").contains("known are selenite_identity, page_size"));
        for key in KEYS {
            assert!(said(key).contains("keys cannot be given in a URI"), "{key}");
        }
        assert!(!said("selenite\u{1b}[2J").contains('\u{1b}'));
    }

    #[test]
    fn parameters_of_ours_of_sqlite_and_of_other_vfs_pass() {
        check(OURS.map(str::to_owned)).unwrap();
        check(SQLITES.map(str::to_owned)).unwrap();
        for name in [
            "", "timeout", "uri", "user", "name", "path", "owner", "size", "zv", "rev", "pages", "main",
        ] {
            check([name.to_owned()]).unwrap();
        }
    }
}
