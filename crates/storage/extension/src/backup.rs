//! `selenite_backup(dest [, schema [, recipients]])`: a full backup to a folder, for applications
//! without the command-line program.
//!
//! - one-read-transaction: the backup is of one read transaction of the calling connection: its
//!   current one, or one begun for the backup. A write transaction is refused: uncommitted changes
//!   are in no backup.
//! - connection-descriptors-only: the database's files are read only with the connection's own
//!   descriptors (`selenite_vfs::snapshot`, no-other-descriptor). In the destination, files are
//!   created under new names, and names are listed; no existing file is opened: it may be a second
//!   name of a database, and closing it would release the process's locks.
//! - no-process-effects: it runs in processes where an application's SQL runs: no signal handler,
//!   no output, no environment variables of its own.
//! - allowed-by-the-program: the program allows it, when it opens the connection (`backup=allow`).
//!   A statement cannot allow it: neither by ATTACH, which has a separate URI, nor by a variable or
//!   a function. Otherwise an injected statement could hand the database to any recipient.

use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use selenite_backup::{
    ArchiveWriter, BackupError, Catalog, CompressionLevel, Copied, Copy, Destination, Folder, ProgressObserver,
};
use selenite_format::archive::Facts;
use selenite_keyring::AgeRecipient;
use selenite_vfs::database::now;
use selenite_vfs::ffi::{Entry, FunctionCall, Interrupts, TransactionState, Value, is_elevated};
use selenite_vfs::selenite::keep_error;
use selenite_vfs::snapshot::{Snapshot, with_snapshot};

/// The functions that this crate adds to those of `selenite_vfs`.
pub const FUNCTIONS: &[Entry] = &[Entry {
    name: c"selenite_backup",
    arguments: -1,
    body: backup,
}];

fn backup(call: &FunctionCall<'_>) -> Result<Value, String> {
    // SQLite reports the message once, for the step of the statement; later it is available from
    // `selenite_last_error()`.
    make(call).inspect_err(|what| keep_error(call, "selenite_backup", what))
}

fn make(call: &FunctionCall<'_>) -> Result<Value, String> {
    if !(1..=3).contains(&call.count()) {
        return Err("selenite_backup takes a folder, a schema if it is not main, and age recipients".to_owned());
    }
    check_allowed(call)?;
    let folder = folder(&call.text(0).ok_or("selenite_backup takes a folder")?)?;
    let schema = call.text(SCHEMA).unwrap_or_else(|| "main".to_owned());
    let schema = CString::new(schema).map_err(|_| "a schema's name has no zero byte")?;
    let recipients = recipients(&call.text(2).unwrap_or_default())?;
    if is_elevated() && recipients.iter().any(AgeRecipient::needs_plugin) {
        // Plugins are found with PATH, which was chosen by the user who started the process.
        return Err("an age plugin is refused in a process with elevated rights".to_owned());
    }
    let began = match call.transaction_state(&schema) {
        TransactionState::None => Some(call.read_transaction(&schema)?),
        TransactionState::Read => None,
        TransactionState::Write => return Err("cannot back up inside a write transaction: commit it first".to_owned()),
    };
    let destination: Arc<dyn Destination> = Arc::new(Folder::new(&folder));
    let interrupts = InterruptCheck(call.interrupts());
    let mut made = Err(String::new());
    with_snapshot(call, SCHEMA, |snapshot| {
        made = copy(snapshot, &destination, &recipients, &interrupts)
    })?;
    drop(began);
    made.map(Value::Text)
}

/// Enforces `allowed-by-the-program`.
fn check_allowed(call: &FunctionCall<'_>) -> Result<(), String> {
    match call.opening_parameter(c"backup").as_deref() {
        Some("allow") => Ok(()),
        Some(_) | None => Err(
            "selenite_backup is not allowed on this connection; the program allows it with backup=allow in the URI \
             by which it opens its main database"
                .to_owned(),
        ),
    }
}

/// `one-read-transaction`: returns the backup's name.
fn copy(
    snapshot: &mut Snapshot<'_>,
    destination: &Arc<dyn Destination>,
    recipients: &[AgeRecipient],
    interrupts: &InterruptCheck<'_>,
) -> Result<String, String> {
    let unlocked = snapshot.unlocked().map_err(|error| error.to_string())?;
    let made = now();
    let id = unlocked.superblock.database_id;
    // If two backups are made within one second, the later one still gets the later name.
    let catalog = Catalog::list(destination.as_ref(), Some(id)).map_err(|error| in_words(error.into()))?;
    let begun = catalog.free_second(id, made);
    let mut archive = ArchiveWriter::begin(destination, &unlocked, begun, recipients).map_err(in_words)?;
    let copy = Copy {
        level: CompressionLevel::default(),
        present: &[],
        verify: false,
        skip_bad: false,
        frugal: false,
        observer: interrupts,
    };
    let Copied { change_counter, .. } = copy.run(snapshot, &mut archive).map_err(in_words)?;
    let facts = Facts {
        begun: archive.begun(),
        base: None,
        page_size: snapshot.page_size(),
        page_count: snapshot.page_count(),
        change_counter,
        generation: unlocked.superblock.generation,
        made,
        log: None,
        digest: None,
        parts: Vec::new(),
        indexes: Vec::new(),
        missing: Vec::new(),
    };
    archive.finish(facts).map_err(in_words)?;
    Ok(archive.name().to_string())
}

/// Parses a folder, given as a path or a file URL.
fn folder(text: &str) -> Result<PathBuf, String> {
    let path = match text.split_once(':') {
        Some((scheme, path)) if scheme.eq_ignore_ascii_case("file") => {
            // A URL may have a host and escapes: a path has neither.
            let path = path.strip_prefix("//").unwrap_or(path);
            if !path.starts_with('/') || path.contains(['%', '?', '#']) {
                return Err("a file URL is file:///FOLDER, without escapes: give the folder's path instead".to_owned());
            }
            path
        }
        Some((scheme, rest)) if is_scheme(scheme) && (rest.starts_with("//") || scheme.eq_ignore_ascii_case("s3")) => {
            return Err("selenite_backup writes to folders: use selenite backup for object stores".to_owned());
        }
        Some(_) | None => text,
    };
    if path.is_empty() {
        return Err("selenite_backup takes a folder".to_owned());
    }
    Ok(Path::new(path).to_owned())
}

fn is_scheme(text: &str) -> bool {
    let is_sign = |sign: u8| sign.is_ascii_alphanumeric() || b"+-.".contains(&sign);
    text.starts_with(|sign: char| sign.is_ascii_alphabetic()) && text.bytes().all(is_sign)
}

/// Parses recipients separated by spaces, commas or line ends.
fn recipients(text: &str) -> Result<Vec<AgeRecipient>, String> {
    let named = text.split([' ', ',', '\n']).filter(|name| !name.is_empty());
    let parsed = named.map(str::parse::<AgeRecipient>);
    parsed.collect::<Result<_, _>>().map_err(|error| error.to_string())
}

fn in_words(error: BackupError) -> String {
    if matches!(error, BackupError::Stopped) {
        return "interrupted".to_owned();
    }
    match error.advice().as_ref() {
        "" => error.to_string(),
        advice => format!("{error}; {advice}"),
    }
}

/// `no-process-effects`: the backup is cancelled only by interrupting the connection.
struct InterruptCheck<'a>(Interrupts<'a>);

impl ProgressObserver for InterruptCheck<'_> {
    fn progress(&self, _: u64, _: u64) {}

    fn is_interrupted(&self) -> bool {
        self.0.is_interrupted()
    }
}

/// The index of this argument.
const SCHEMA: usize = 1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_a_path_or_a_file_url() {
        let path = |text| folder(text).unwrap().display().to_string();
        assert_eq!(path("/backups"), "/backups");
        assert_eq!(path("backups/of 2026"), "backups/of 2026");
        assert_eq!(path("./a:b"), "./a:b");
        assert_eq!(path("a:b"), "a:b");
        assert_eq!(path("file:///backups"), "/backups");
        assert_eq!(path("FILE:/backups"), "/backups");
        for refused in [
            "",
            "file:",
            "file:backups",
            "file://host/backups",
            "file:///a%20b",
            "file:///a?b",
        ] {
            folder(refused).unwrap_err();
        }
        for store in ["s3://bucket/prefix", "S3:bucket", "https://example.org/x", "gs+x://y"] {
            assert!(
                folder(store)
                    .unwrap_err()
                    .contains("use selenite backup for object stores"),
                "{store}"
            );
        }
    }

    #[test]
    fn recipients_are_named_between_spaces_or_commas() {
        assert!(recipients("").unwrap().is_empty());
        let one = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p";
        assert_eq!(recipients(&format!("{one}, {one}\n")).unwrap().len(), 2);
        recipients("age1").map(drop).unwrap_err();
    }
}
