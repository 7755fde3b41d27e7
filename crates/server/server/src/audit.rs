//! The audit log: who logged in or failed to, and who changed principals, keys, settings and databases.
//!
//! - `one-line-each`: an event is one line of JSON, written by one system call and flushed to the system before the
//!   operation that it records is answered.
//! - `no-secret`: it contains no password, no statement's text and no data of a table. Names that clients send are in
//!   it.
//! - `follows-its-name`: a file that was renamed or removed is closed, and a new one with the log's name is begun:
//!   logrotate needs no signal.

mod refused;
mod statement;

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::net::IpAddr;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

pub use refused::RefusedCalls;
use rusqlite::{Connection, params};
use rustix::fs::OFlags;
pub use statement::{Audited, of_call, of_statement};

use crate::{Log, ServerError};

/// Where the audit log goes, and what happens if it can't be written.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct AuditSettings {
    /// Which file.
    pub target: AuditTarget,
    /// Whether logins are refused while it can't be written; otherwise that is only reported in the server's log.
    pub refuses_logins: bool,
}

/// Where the audit log goes.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub enum AuditTarget {
    /// `audit.jsonl` in the data folder.
    #[default]
    DataFolder,
    /// That file.
    File(PathBuf),
    /// Nowhere.
    None,
}

/// What happened.
#[derive(Clone, Copy, Default, Debug)]
pub struct Event<'a> {
    /// Its name: `LOGIN`, `CREATE DATABASE`.
    pub event: &'a str,
    /// The error's number, of what failed.
    pub error: Option<i32>,
    /// Why a login failed.
    pub reason: Option<&'a str>,
    /// The session's login; of a failed login, the name that it claimed.
    pub login: Option<&'a str>,
    /// Whom the session executes as, if that is another: a login, or a user without one.
    pub executes_as: Option<&'a str>,
    /// The client's address.
    pub address: Option<IpAddr>,
    /// The session.
    pub session: Option<u16>,
    /// The database in use.
    pub database: Option<&'a str>,
    /// What it was done to: a login, a database, a session.
    pub object: Option<&'a str>,
    /// How many there were, of events that are not written one by one.
    pub count: Option<u64>,
}

/// The audit log of a server.
pub struct AuditLog {
    sink: Option<Mutex<Sink>>,
    refuses_logins: bool,
    log: Log,
}

struct Sink {
    path: PathBuf,
    file: Option<File>,
    sqlite: Connection,
    /// Whether it was reported that it can't be written.
    is_failing: bool,
}

impl AuditLog {
    /// Opens it, and creates it if it is missing.
    ///
    /// # Errors
    /// [`ServerError::Io`].
    pub fn open(settings: &AuditSettings, data_folder: &Path, log: &Log) -> Result<Self, ServerError> {
        let path = match &settings.target {
            AuditTarget::None => None,
            AuditTarget::DataFolder => Some(data_folder.join(NAME)),
            AuditTarget::File(path) => Some(path.clone()),
        };
        let open = |path: PathBuf| {
            let failed = |source| ServerError::Io {
                verb: "write the audit log to",
                path: path.clone(),
                source,
            };
            let file = open(&path).map_err(failed)?;
            let sqlite = Connection::open_in_memory().map_err(|error| failed(io::Error::other(error)))?;
            Ok::<_, ServerError>(Mutex::new(Sink {
                path,
                file: Some(file),
                sqlite,
                is_failing: false,
            }))
        };
        Ok(Self {
            sink: path.map(open).transpose()?,
            refuses_logins: settings.refuses_logins,
            log: log.clone(),
        })
    }

    /// Writes an event. If it can't be written, the server's log says so, once until it can be written again. False
    /// if logins are refused for that reason.
    pub fn write(&self, event: &Event<'_>) -> bool {
        let Some(sink) = &self.sink else {
            return true;
        };
        let mut sink = sink.lock().unwrap_or_else(PoisonError::into_inner);
        let written = sink.write(event);
        match &written {
            Ok(()) if sink.is_failing => self.log.line("the audit log can be written again"),
            Err(error) if !sink.is_failing => {
                let path = sink.path.display();
                self.log
                    .line(&format!("{path}: the audit log can't be written: {error}"));
            }
            Ok(()) | Err(_) => {}
        }
        sink.is_failing = written.is_err();
        written.is_ok() || !self.refuses_logins
    }
}

impl Sink {
    fn write(&mut self, event: &Event<'_>) -> io::Result<()> {
        let mut line = self.line(event).map_err(io::Error::other)?;
        line.push('\n');
        self.file()?.write_all(line.as_bytes())
    }

    /// SQLite formats the time and escapes names for JSON. Unknown fields are left out.
    fn line(&self, event: &Event<'_>) -> rusqlite::Result<String> {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let address = event.address.map(|address| address.to_string());
        let mut asked = self.sqlite.prepare_cached(LINE)?;
        asked.query_row(
            params![
                since.as_secs_f64(),
                event.event,
                if event.error.is_none() { "ok" } else { "failed" },
                event.error,
                event.reason,
                event.login,
                event.executes_as,
                address,
                event.session,
                event.database,
                event.object,
                event.count.map(|count| i64::try_from(count).unwrap_or(i64::MAX)),
            ],
            |row| row.get(0),
        )
    }

    /// The file of that name, which may be another one by now.
    fn file(&mut self) -> io::Result<&mut File> {
        let is_same = self.file.as_ref().is_some_and(|file| is_at(file, &self.path));
        if !is_same {
            // The one before is closed only when there is another: what can't be opened loses nothing.
            self.file = Some(open(&self.path)?);
        }
        self.file.as_mut().ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

fn is_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), path.symlink_metadata()) {
        (Ok(open), Ok(there)) => (open.dev(), open.ino()) == (there.dev(), there.ino()),
        _ => false,
    }
}

/// For its owner alone, never through a link, and never another kind of file: a pipe without a reader would keep the
/// server waiting.
fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let flags = i32::try_from(flags.bits()).map_err(io::Error::other)?;
    let file = OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .custom_flags(flags)
        .open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, "not a file")),
    }
}

const NAME: &str = "audit.jsonl";
const LINE: &str = "SELECT json_patch('{}', json_object('time', strftime('%Y-%m-%dT%H:%M:%fZ', ?1, 'unixepoch'), 'event', ?2, \
    'outcome', ?3, 'error', ?4, 'reason', ?5, 'login', ?6, 'executes_as', ?7, 'address', ?8, 'session', ?9, 'database', ?10, 'object', ?11, \
    'count', ?12))";

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::sync::Arc;

    use super::*;

    fn lines(path: &Path) -> Vec<String> {
        let text = std::fs::read_to_string(path).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    /// A member of a line.
    fn member_of(line: &str, member: &str) -> Option<String> {
        let sqlite = Connection::open_in_memory().unwrap();
        let sql = "SELECT CAST(json_extract(?1, '$.' || ?2) AS TEXT)";
        sqlite.query_row(sql, [line, member], |row| row.get(0)).unwrap()
    }

    fn audit(path: &Path, refuses_logins: bool) -> (AuditLog, Arc<Mutex<Vec<String>>>) {
        let told = Arc::new(Mutex::new(Vec::new()));
        let lines = told.clone();
        let log = Log::new(move |line| lines.lock().unwrap().push(line.to_owned()));
        let settings = AuditSettings {
            target: AuditTarget::File(path.to_owned()),
            refuses_logins,
        };
        (AuditLog::open(&settings, Path::new("/nowhere"), &log).unwrap(), told)
    }

    const EVENT: Event<'_> = Event {
        event: "LOGIN",
        error: Some(18456),
        reason: None,
        login: Some("a\"b\n\u{1}{\u{1f512}\u{2028}"),
        executes_as: None,
        address: Some(IpAddr::V4(std::net::Ipv4Addr::LOCALHOST)),
        session: None,
        database: None,
        object: None,
        count: None,
    };

    #[test]
    fn an_event_is_one_line_of_json_whatever_names_are_in_it() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("log");
        let (audit, _) = audit(&path, false);
        assert!(audit.write(&EVENT) && audit.write(&Event { error: None, ..EVENT }));
        let written = lines(&path);
        assert_eq!(written.len(), 2);
        assert_eq!(member_of(&written[0], "login").as_deref(), EVENT.login);
        assert_eq!(member_of(&written[0], "address").as_deref(), Some("127.0.0.1"));
        assert_eq!(member_of(&written[0], "error").as_deref(), Some("18456"));
        assert_eq!(member_of(&written[1], "error"), None);
        assert_eq!(member_of(&written[0], "outcome").as_deref(), Some("failed"));
        assert_eq!(member_of(&written[1], "outcome").as_deref(), Some("ok"));
        assert!(
            !written[0].contains("database") && !written[0].contains("null"),
            "{written:?}"
        );
        let time = member_of(&written[0], "time").unwrap();
        assert!(
            time.len() == 24 && time.starts_with("20") && time.ends_with('Z'),
            "{time}"
        );
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_log_that_was_renamed_is_left_and_another_begun() {
        let place = tempfile::tempdir().unwrap();
        let (path, rotated) = (place.path().join("log"), place.path().join("log.1"));
        let (audit, _) = audit(&path, false);
        audit.write(&EVENT);
        std::fs::rename(&path, &rotated).unwrap();
        audit.write(&EVENT);
        audit.write(&EVENT);
        assert_eq!((lines(&rotated).len(), lines(&path).len()), (1, 2));
    }

    #[test]
    fn an_unwritable_audit_log_is_reported_once_and_refuses_logins_if_configured() {
        for refuses_logins in [false, true] {
            let place = tempfile::tempdir().unwrap();
            let path = place.path().join("folder").join("log");
            std::fs::create_dir(place.path().join("folder")).unwrap();
            let (audit, told) = audit(&path, refuses_logins);
            std::fs::rename(place.path().join("folder"), place.path().join("gone")).unwrap();
            assert_eq!(audit.write(&EVENT), !refuses_logins);
            assert_eq!(audit.write(&EVENT), !refuses_logins);
            assert_eq!(told.lock().unwrap().len(), 1);
            std::fs::create_dir(place.path().join("folder")).unwrap();
            assert!(audit.write(&EVENT));
            assert_eq!(told.lock().unwrap().len(), 2);
            assert_eq!(lines(&path).len(), 1);
        }
    }

    #[test]
    fn a_log_is_written_through_no_link_and_to_no_device() {
        let place = tempfile::tempdir().unwrap();
        let (path, other) = (place.path().join("log"), place.path().join("other"));
        std::fs::write(&other, "").unwrap();
        symlink(&other, &path).unwrap();
        assert!(open(&path).is_err());
        assert!(open(Path::new("/dev/null")).is_err());
    }
}
