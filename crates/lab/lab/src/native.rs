//! The worker for stock SQLite and for Selenite: two engines that share one SQLite, and so one executable.
//!
//! - plain-by-own-vfs: an unencrypted database is opened by SQLite's own VFS. Selenite's is
//!   installed with the first sealed database of the process, so the worker of a plain arm
//!   runs no code of the encryption until it converts.
//!   With the setting `observed=yes` it is opened by Selenite's VFS in clear, which counts the calls for its files.
//! - suite-as-requested: a database is taken only for what was asked for: a file of another suite
//!   is refused, not measured.

mod cipher_time;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rusqlite::{Connection, OpenFlags};
use selenite::backup::{Backup, backup};
use selenite::follow::{Anchoring, write_anchors};
use selenite::offline::{Offline, offline};
use selenite::restore::{Restore, restore};
use selenite::storage::Disk;
use selenite::{Access, AnchorPlace, Encrypt, EngineError, FileUri, Suite, Target, Watch, keys, verify};
use selenite_backup::{Destination, Folder};
use selenite_worker::engine::{Engine, Status, check_absent, hello, vacuum_into};
use selenite_worker::protocol::{CipherTime, DatabaseSpec, Hello, PLAIN};
use selenite_worker::stock::Stock;
use selenite_worker::{WorkerError, conversation, layout};

use crate::drive::{DriveError, WorkerCommand};

/// Serves requests on standard input and output until `quit` or the end of the input.
///
/// # Errors
/// Errors of writing an answer: its reader has closed the pipe.
pub fn serve() -> Result<(), EngineError> {
    let input = io::BufReader::new(io::stdin());
    conversation::converse(&Native, input, &mut io::stdout()).map_err(|source| EngineError::Io {
        verb: "answer on",
        path: "standard output".into(),
        source,
    })
}

/// The command that re-encrypts every page of a database under a new data key, as an administrator
/// would, with the identity that workers use.
///
/// # Errors
/// The identity cannot be expressed as an argument.
pub fn reencryption(program: &Path, database: &DatabaseSpec, options: &[String]) -> Result<WorkerCommand, DriveError> {
    let unnamed = |error: WorkerError| DriveError::NotStarted {
        program: program.to_owned(),
        source: io::Error::other(error.to_string()),
        advice: "put the store where its path is UTF-8".to_owned(),
    };
    let path = database.path.to_str();
    let path = path.ok_or_else(|| unnamed(WorkerError::Refused("the database's name is no text".to_owned())))?;
    let mut args = vec!["--identity".to_owned(), identity(database).map_err(unnamed)?];
    if Suite::from_name(&database.cipher).is_some_and(Suite::is_deprecated) {
        args.push("--allow-deprecated".to_owned());
    }
    args.extend(["reencrypt", path, "--new-key"].map(str::to_owned));
    args.extend(options.iter().cloned());
    Ok(WorkerCommand {
        args,
        ..WorkerCommand::new(program)
    })
}

/// SQLite, with Selenite if a cipher is requested.
#[derive(Clone, Copy, Debug)]
pub struct Native;

impl Engine for Native {
    fn hello(&self) -> Result<Hello, WorkerError> {
        let ciphers = Suite::ALL.iter().map(|suite| suite.name().to_owned()).collect();
        let library = format!("Selenite {}", env!("CARGO_PKG_VERSION"));
        let mut hello = hello("selenite", library, ciphers)?;
        if cfg!(target_arch = "x86_64") {
            let mask = ("OPENSSL_ia32cap".to_owned(), WITHOUT_AES.to_owned());
            hello.without_aes.extend([mask]);
        }
        Ok(hello)
    }

    fn connect(&self, database: &DatabaseSpec) -> Result<Connection, WorkerError> {
        match suite(database)? {
            Some(suite) => connect(database, suite, FLAGS),
            None => Stock.connect(database),
        }
    }

    fn open(&self, database: &DatabaseSpec) -> Result<Connection, WorkerError> {
        let Some(suite) = suite(database)? else {
            return connect_plain(database);
        };
        let connection = connect(database, suite, FLAGS)?;
        layout::apply(&connection, database)?;
        let found: String = connection
            .query_row("SELECT value FROM selenite_status WHERE name = 'suite'", [], |row| {
                row.get(0)
            })
            .map_err(|_| WorkerError::Refused(format!("{} is not sealed by Selenite", database.path.display())))?;
        if found != suite.name() {
            return Err(WorkerError::Refused(format!(
                "{} is sealed in {found}, not in {suite}",
                database.path.display()
            )));
        }
        Ok(connection)
    }

    fn create(&self, database: &DatabaseSpec) -> Result<Connection, WorkerError> {
        let Some(suite) = suite(database)? else {
            return Stock.create(database);
        };
        check_absent(database)?;
        // That of a former database of this name.
        let _ = std::fs::remove_file(anchor_path(database));
        let connection = connect(database, suite, FLAGS | OpenFlags::SQLITE_OPEN_CREATE)?;
        // Selenite takes the page size from the URI. SQLite writes a new file with its first change.
        connection.execute_batch("BEGIN IMMEDIATE; PRAGMA user_version = 0; COMMIT")?;
        layout::apply(&connection, database)?;
        Ok(connection)
    }

    fn status(&self, connection: &Connection, database: &DatabaseSpec) -> Result<Status, WorkerError> {
        let mut status = Status::default();
        if suite(database)?.is_none() {
            return Ok(status);
        }
        let mut statement = connection.prepare("SELECT section, name, value FROM selenite_status")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let (section, name): (String, String) = (row.get(0)?, row.get(1)?);
            let value: rusqlite::types::Value = row.get(2)?;
            status.values.insert(format!("{section}.{name}"), text(value));
        }
        status.encrypted = status
            .values
            .get("database.encrypted")
            .is_some_and(|value| value == "yes");
        Ok(status)
    }

    fn convert(&self, source: &DatabaseSpec, target: &DatabaseSpec) -> Result<(), WorkerError> {
        match (suite(source)?, suite(target)?) {
            (None, None) => vacuum_into(self, source, target),
            (None, Some(to)) => {
                let how = Encrypt {
                    target: Target::New(target.path.clone()),
                    suite: to,
                    recipients: Vec::new(),
                };
                let done = selenite::encrypt(&Disk, &source.path, &access(target, to)?, &how, &Watch::none());
                done.map(drop).map_err(|error| engine_error(&error))
            }
            (Some(from), None) => {
                let to = Target::New(target.path.clone());
                let done = selenite::decrypt(&Disk, &source.path, &access(source, from)?, &to, &Watch::none());
                done.map(drop).map_err(|error| engine_error(&error))
            }
            (Some(from), Some(to)) => Err(WorkerError::Refused(format!(
                "Selenite converts to and from unencrypted databases, not {from} to {to}"
            ))),
        }
    }

    /// As `selenite reencrypt --offline --new-key`: a new data key in the same suite, for every
    /// page. Then the only key slot is changed to the new key.
    fn rekey(&self, database: &DatabaseSpec, key_file: &Path) -> Result<(), WorkerError> {
        let suite = suite(database)?.filter(|suite| *suite != Suite::None);
        let suite = suite.ok_or_else(|| WorkerError::Refused(format!("{} has no key to change", database.cipher)))?;
        let (path, access) = (&database.path, access(database, suite)?);
        let renewed = DatabaseSpec {
            key_file: key_file.to_owned(),
            ..database.clone()
        };
        let recipient = identity(&renewed)?;
        let said = |error: EngineError| engine_error(&error);
        offline(&Disk, path, &access, &Offline::default(), &Watch::none()).map_err(said)?;
        let slots = keys::list(&Disk, path).map_err(said)?.slots;
        let [slot] = slots.as_slice() else {
            let count = slots.len();
            return Err(WorkerError::Wrong(format!("{count} key slots, where there was one")));
        };
        keys::replace(&Disk, path, &access, &slot.id.to_string(), &recipient, "").map_err(said)?;
        Ok(())
    }

    /// As `selenite backup`.
    fn back_up(&self, database: &DatabaseSpec, folder: &Path, incremental: bool) -> Result<(), WorkerError> {
        let suite = suite(database)?.ok_or_else(no_backups)?;
        let how = Backup {
            incremental,
            ..Backup::default()
        };
        let (access, place) = (access(database, suite)?, folder_of_backups(folder));
        let made = backup(&Disk, &database.path, &access, how, &place, &Watch::none());
        made.map(drop).map_err(|error| engine_error(&error))
    }

    /// As `selenite restore`.
    fn restore(&self, database: &DatabaseSpec, folder: &Path) -> Result<String, WorkerError> {
        let suite = suite(database)?.ok_or_else(no_backups)?;
        let (access, place) = (access(database, suite)?, folder_of_backups(folder));
        let how = Restore::new(&database.path);
        let done = restore(&Disk, place.as_ref(), &access, &how, &Watch::none());
        done.map(|restored| restored.suite.to_string())
            .map_err(|error| engine_error(&error))
    }

    fn verify_physical(&self, database: &DatabaseSpec) -> Result<u64, WorkerError> {
        let Some(suite) = suite(database)? else {
            return Stock.verify_physical(database);
        };
        let report = verify::physical(&Disk, &database.path, &access(database, suite)?, &Watch::none())
            .map_err(|error| engine_error(&error))?;
        if !report.is_good() {
            return Err(WorkerError::Wrong(format!(
                "{} pages are not authentic",
                report.bad_count
            )));
        }
        Ok(report.size)
    }

    fn file_counts(&self, connection: &Connection, database: &DatabaseSpec) -> Result<Option<String>, WorkerError> {
        if !is_observed(database) {
            return Ok(None);
        }
        let mut statement = connection.prepare(selenite_plan::observe::sqlite::QUERY)?;
        let names: Vec<&str> = statement.column_names().collect();
        let mut text = names.join(",") + "\n";
        let columns = statement.column_count();
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let values: Result<Vec<String>, rusqlite::Error> =
                (0..columns).map(|column| row.get(column).map(self::text)).collect();
            text.push_str(&values?.join(","));
            text.push('\n');
        }
        Ok(Some(text))
    }

    fn cipher_time(&self, cipher: &str) -> Result<Option<CipherTime>, WorkerError> {
        cipher_time::measure(named(cipher)?).map(Some)
    }
}

/// Opens a database in clear by SQLite's own VFS, or where its calls are to be counted, by Selenite's.
fn connect_plain(database: &DatabaseSpec) -> Result<Connection, WorkerError> {
    if !is_observed(database) {
        return Stock.open(database);
    }
    selenite::install().map_err(|error| engine_error(&error))?;
    let uri = FileUri::new(&database.path, "selenite").with("plain", "allow");
    let connection = Connection::open_with_flags(uri.as_str(), FLAGS)?;
    layout::apply(&connection, database)?;
    Ok(connection)
}

fn is_observed(database: &DatabaseSpec) -> bool {
    database.cipher == PLAIN && database.settings.get(OBSERVED).is_some_and(|value| value == "yes")
}

/// The suite that is asked for; none for an unencrypted database.
fn suite(database: &DatabaseSpec) -> Result<Option<Suite>, WorkerError> {
    if let Some(name) = database.settings.keys().find(|name| !SETTINGS.contains(&name.as_str())) {
        return Err(WorkerError::Refused(format!(
            "there is no setting {name}; there is {}",
            SETTINGS.join(", ")
        )));
    }
    if database.cipher == PLAIN {
        return Ok(None);
    }
    if database.settings.contains_key(OBSERVED) {
        return Err(WorkerError::Refused(format!(
            "{OBSERVED} is a setting of databases in clear"
        )));
    }
    named(&database.cipher).map(Some)
}

fn named(cipher: &str) -> Result<Suite, WorkerError> {
    Suite::from_name(cipher).ok_or_else(|| WorkerError::Refused(format!("there is no cipher {cipher}")))
}

fn connect(database: &DatabaseSpec, suite: Suite, flags: OpenFlags) -> Result<Connection, WorkerError> {
    selenite::install().map_err(|error| engine_error(&error))?;
    let mut uri = FileUri::new(&database.path, "selenite")
        .with("selenite_identity", &identity(database)?)
        .with("cipher", suite.name())
        .with("page_size", &database.page_size.to_string());
    if suite == Suite::None {
        uri = uri.with("plain", "allow");
    }
    if suite.is_deprecated() {
        uri = uri.with("deprecated", "allow");
    }
    if database.settings.get(ANCHOR).is_some_and(|value| value == "yes") && database.path.exists() {
        uri = uri.with("anchor", &anchor(database, suite)?);
    }
    for (name, value) in database
        .settings
        .iter()
        .filter(|(name, _)| ![KEY, OBSERVED, ANCHOR].contains(&name.as_str()))
    {
        uri = uri.with(name, value);
    }
    Ok(Connection::open_with_flags(uri.as_str(), flags)?)
}

fn access(database: &DatabaseSpec, suite: Suite) -> Result<Access, WorkerError> {
    let spec = identity(database)?
        .parse()
        .map_err(|error| WorkerError::Engine(format!("the key file: {error}")))?;
    Ok(Access {
        identity: Some(spec),
        allow_plain: suite == Suite::None,
        allow_deprecated: suite.is_deprecated(),
        busy_wait: layout::BUSY_WAIT,
        ..Access::default()
    })
}

/// The file with the short anchor of a database, beside it; the first one is written here.
fn anchor(database: &DatabaseSpec, suite: Suite) -> Result<String, WorkerError> {
    let path = anchor_path(database);
    let name = path.to_str().map(str::to_owned);
    let name = name.ok_or_else(|| WorkerError::Refused("the database's name is no text".to_owned()))?;
    if !path.exists() {
        let how = Anchoring {
            place: AnchorPlace::File(path),
            every: Duration::ZERO,
            accept_older: false,
            is_first: true,
        };
        let access = access(database, suite)?;
        write_anchors(
            &Disk,
            &database.path,
            &access,
            (how, true),
            &Watch::none(),
            &mut |_, _| {},
        )
        .map_err(|error| engine_error(&error))?;
    }
    Ok(name)
}

fn anchor_path(database: &DatabaseSpec) -> PathBuf {
    let mut path = database.path.clone().into_os_string();
    path.push(".anchor");
    path.into()
}

/// The identity that opens it: the key in its file, an age key beside it, which is created on first use, or the key
/// command of this name in the user's configuration.
fn identity(database: &DatabaseSpec) -> Result<String, WorkerError> {
    let path = database.key_file.to_str().filter(|path| !path.is_empty());
    let path = path.ok_or_else(|| WorkerError::Refused("the key file has no name that could be used".to_owned()))?;
    match database.settings.get(KEY).map(String::as_str) {
        None | Some("raw") => Ok(format!("raw:{path}")),
        Some("age") => {
            let path = format!("{path}.age");
            make_age_key(Path::new(&path))?;
            Ok(format!("age:{path}"))
        }
        Some(command) if command.starts_with("command:") => Ok(command.to_owned()),
        Some(other) => Err(WorkerError::Refused(format!(
            "unknown kind of key {other}: use raw, age or command:NAME"
        ))),
    }
}

fn make_age_key(path: &Path) -> Result<(), WorkerError> {
    if path.exists() {
        return Ok(());
    }
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let key = selenite_keyring::keygen(now.map_or(0, |since| since.as_secs()));
    selenite_keyring::write_key_file(path, key.text.as_bytes())
        .map_err(|error| WorkerError::Engine(format!("the age key: {error}")))
}

fn folder_of_backups(folder: &Path) -> Arc<dyn Destination> {
    Arc::new(Folder::new(folder))
}

fn no_backups() -> WorkerError {
    WorkerError::Refused("an unencrypted database has no backups of ours".to_owned())
}

fn engine_error(error: &EngineError) -> WorkerError {
    WorkerError::Engine(error.to_string())
}

fn text(value: rusqlite::types::Value) -> String {
    use rusqlite::types::Value;
    match value {
        Value::Null => String::new(),
        Value::Integer(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
        Value::Text(text) => text,
        Value::Blob(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
    }
}

/// Does not create a missing file; used by one thread at a time.
const FLAGS: OpenFlags = OpenFlags::SQLITE_OPEN_READ_WRITE
    .union(OpenFlags::SQLITE_OPEN_URI)
    .union(OpenFlags::SQLITE_OPEN_NO_MUTEX);

/// What else a database takes (CONFIGURATION): parameters of its URI that no arm's layout or cipher says, and [`KEY`].
const SETTINGS: [&str; 5] = [ANCHOR, "auto_vacuum", KEY, "pool_size", OBSERVED];

/// `yes` to compare the database with a short anchor whenever it is opened.
const ANCHOR: &str = "anchor";

/// Of a database in clear: `yes` to count the calls for its files.
pub const OBSERVED: &str = "observed";

/// The kind of key that opens it: `raw`, `age` or `command:NAME`.
const KEY: &str = "key";

/// Clears AES-NI and PCLMULQDQ, without which AWS-LC uses no VAES either, in its view of the
/// processor (`crypto/fipsmodule/cpucap/cpu_intel.c`). AEGIS comes from another library, which does
/// not read this variable.
const WITHOUT_AES: &str = "~0x200000200000000";

#[cfg(test)]
mod tests;
