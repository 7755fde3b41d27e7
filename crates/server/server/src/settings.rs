//! What a server's flags and its configuration file say.
//!
//! ```toml
//! data = "~/databases"           # relative paths start at this file's folder
//! identity = "age:key.txt"
//! listen = "127.0.0.1:1433"
//! tls-cert = "server.crt"
//! tls-key = "server.key"
//! encryption = "require"
//! ```
//!
//! - `unknown-key-is-an-error`: an unknown key is an error: a typo must not leave something open.

use std::net::{SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::time::Duration;

use directories::{BaseDirs, ProjectDirs};
use selenite::Access;
use selenite_keyring::{Spec, read_trusted_text};
use selenite_tds::EncryptionMode;
use serde::Deserialize;

use crate::config::{PORT, TlsFiles};
use crate::{AuditTarget, Config, NewDatabases, ServerError, ServerLimits, TlsOffload};

/// The settings of a server's flags, or of its configuration file. A setting that is not given has its default.
#[derive(Clone, PartialEq, Eq, Default, Deserialize, Debug)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Settings {
    /// The folder of the databases.
    pub data: Option<PathBuf>,
    /// The spec of the identity that opens them.
    pub identity: Option<String>,
    /// The address to listen at: an address, a name, or either with a port.
    pub listen: Option<String>,
    /// The certificate, and those that vouch for it.
    pub tls_cert: Option<PathBuf>,
    /// Its key.
    pub tls_key: Option<PathBuf>,
    /// `off`, `optional`, `require` or `strict`.
    pub encryption: Option<String>,
    /// `inline` or `thread`.
    pub tls_offload: Option<String>,
    /// The limit of sessions.
    pub max_sessions: Option<usize>,
    /// The limit of one login's sessions.
    pub max_sessions_per_login: Option<usize>,
    /// How many sessions are reserved for administrators in addition.
    pub admin_sessions: Option<usize>,
    /// The limit of connections that have not logged in.
    pub max_logins: Option<usize>,
    /// How many seconds a login may take.
    pub login_timeout: Option<u64>,
    /// How many MiB of memory a session may use.
    pub session_memory: Option<u64>,
    /// How many MiB of memory all sessions may use.
    pub server_memory: Option<u64>,
    /// How many seconds a statement waits for a lock.
    pub lock_timeout: Option<u64>,
    /// How many wrong passwords in a row lock a login.
    pub attempts_per_login: Option<u32>,
    /// How many wrong passwords an address has; 0 is no limit.
    pub attempts_per_address: Option<u32>,
    /// How many seconds a batch or a call may run; 0 is as long as it takes.
    pub statement_timeout: Option<u64>,
    /// Where the audit log is written: a file, or `none`.
    pub audit_log: Option<PathBuf>,
    /// `continue` or `refuse-logins`: what happens if the audit log can't be written.
    pub audit_failure: Option<String>,
    /// `encrypted` or `clear`.
    pub new_databases: Option<String>,
    /// The folders whose files BULK INSERT may read.
    pub bulk_folders: Option<Vec<PathBuf>>,
    /// The new file for the first password of the login sa, instead of standard output.
    pub password_file: Option<PathBuf>,
    /// Whether memory is kept out of swap.
    pub lock_memory: Option<bool>,
}

impl Settings {
    /// Reads a configuration file.
    ///
    /// # Errors
    /// [`ServerError::Io`]; [`ServerError::Usage`] with the position of the error.
    pub fn read(path: &Path) -> Result<Self, ServerError> {
        // It names the identity: anyone who can write the file decides about keys.
        let text = read_trusted_text(path).map_err(|error| ServerError::Engine(error.into()))?;
        let home = BaseDirs::new().map(|dirs| dirs.home_dir().to_owned());
        Self::parse(&text, path, home.as_deref())
    }

    fn parse(text: &str, path: &Path, home: Option<&Path>) -> Result<Self, ServerError> {
        let mut settings: Self = toml::from_str(text).map_err(|error| ServerError::Usage {
            what: format!("{}: {}", path.display(), error.to_string().trim_end()),
            next: "correct the file; docs/CONFIGURATION.md describes its keys".to_owned(),
        })?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let settle = |path: &Path| match (path.strip_prefix("~"), home) {
            (Ok(below), Some(home)) => home.join(below),
            _ => folder.join(path),
        };
        let audit_log = settings.audit_log.as_mut().filter(|path| path.as_os_str() != NO_FILE);
        if let Some(path) = audit_log {
            *path = settle(path);
        }
        let Self {
            data,
            tls_cert,
            tls_key,
            password_file,
            ..
        } = &mut settings;
        for named in [data, tls_cert, tls_key, password_file] {
            *named = named.as_deref().map(settle);
        }
        for folder in settings.bulk_folders.iter_mut().flatten() {
            *folder = settle(folder);
        }
        if let Some(identity) = &mut settings.identity {
            *identity = settle_spec(identity, settle)?;
        }
        Ok(settings)
    }

    /// These settings, and the others' where these have none.
    #[must_use]
    pub fn or(self, others: Self) -> Self {
        Self {
            data: self.data.or(others.data),
            identity: self.identity.or(others.identity),
            listen: self.listen.or(others.listen),
            tls_cert: self.tls_cert.or(others.tls_cert),
            tls_key: self.tls_key.or(others.tls_key),
            encryption: self.encryption.or(others.encryption),
            tls_offload: self.tls_offload.or(others.tls_offload),
            max_sessions: self.max_sessions.or(others.max_sessions),
            max_sessions_per_login: self.max_sessions_per_login.or(others.max_sessions_per_login),
            admin_sessions: self.admin_sessions.or(others.admin_sessions),
            max_logins: self.max_logins.or(others.max_logins),
            login_timeout: self.login_timeout.or(others.login_timeout),
            session_memory: self.session_memory.or(others.session_memory),
            server_memory: self.server_memory.or(others.server_memory),
            lock_timeout: self.lock_timeout.or(others.lock_timeout),
            attempts_per_login: self.attempts_per_login.or(others.attempts_per_login),
            attempts_per_address: self.attempts_per_address.or(others.attempts_per_address),
            statement_timeout: self.statement_timeout.or(others.statement_timeout),
            audit_log: self.audit_log.or(others.audit_log),
            audit_failure: self.audit_failure.or(others.audit_failure),
            new_databases: self.new_databases.or(others.new_databases),
            bulk_folders: self.bulk_folders.or(others.bulk_folders),
            password_file: self.password_file.or(others.password_file),
            lock_memory: self.lock_memory.or(others.lock_memory),
        }
    }

    /// The configuration of a server with these settings. Their identity comes before the one of `access`.
    ///
    /// # Errors
    /// [`ServerError::Usage`]; [`ServerError::Engine`] for an invalid identity.
    pub fn config(&self, access: Access) -> Result<Config, ServerError> {
        let data = match &self.data {
            Some(data) => data.clone(),
            None => default_data()?,
        };
        let mut config = Config::new(data);
        config.access = access;
        if let Some(identity) = &self.identity {
            config.access.identity = Some(identity.parse::<Spec>()?);
        }
        if let Some(listen) = &self.listen {
            config.listen = resolve(listen)?;
        }
        config.tls_files = match (&self.tls_cert, &self.tls_key) {
            (Some(certificate), Some(key)) => Some(TlsFiles {
                certificate: certificate.clone(),
                key: key.clone(),
            }),
            (None, None) => None,
            _ => {
                return Err(usage(
                    "a certificate without its key, or a key without its certificate",
                    BOTH,
                ));
            }
        };
        if let Some(word) = &self.encryption {
            config.encryption = encryption(word)?;
        }
        if let Some(word) = &self.tls_offload {
            config.tls_offload = offload(word)?;
        }
        if let Some(word) = &self.new_databases {
            config.new_databases = new_databases(word)?;
        }
        config.bulk_folders = self.bulk_folders.clone().unwrap_or_default();
        if let Some(path) = &self.audit_log {
            config.audit.target = match path.as_os_str() == NO_FILE {
                true => AuditTarget::None,
                false => AuditTarget::File(path.clone()),
            };
        }
        if let Some(word) = &self.audit_failure {
            config.audit.refuses_logins = refuses_logins(word)?;
        }
        config.limits = self.limits(config.limits)?;
        Ok(config)
    }

    fn limits(&self, mut limits: ServerLimits) -> Result<ServerLimits, ServerError> {
        let sessions = &mut limits.sessions;
        sessions.max = self.max_sessions.unwrap_or(sessions.max);
        // A quarter of all, unless it is given.
        let quarter = sessions.max.div_ceil(4);
        sessions.per_login = self.max_sessions_per_login.unwrap_or(quarter).min(sessions.max);
        sessions.administrators = self.admin_sessions.unwrap_or(sessions.administrators);
        limits.lobby_max = self.max_logins.unwrap_or(limits.lobby_max);
        limits.login_time = self.login_timeout.map_or(limits.login_time, Duration::from_secs);
        let attempts = &mut limits.attempts;
        attempts.per_login = self.attempts_per_login.unwrap_or(attempts.per_login);
        attempts.per_address = self.attempts_per_address.unwrap_or(attempts.per_address);
        limits.request_time = self.statement_timeout.map_or(limits.request_time, Duration::from_secs);
        let is_sound = limits.sessions.max > 0
            && limits.sessions.per_login > 0
            && limits.attempts.per_login > 0
            && limits.lobby_max > 0
            && (Duration::from_secs(1)..=LOGIN_TIME_MAX).contains(&limits.login_time);
        if !is_sound {
            return Err(usage("a limit of 0, or a login timeout of more than an hour", LIMITS));
        }
        self.limit_resources(&mut limits)?;
        Ok(limits)
    }

    /// Memory and waits.
    fn limit_resources(&self, limits: &mut ServerLimits) -> Result<(), ServerError> {
        let bytes = |mib: u64| mib.saturating_mul(1 << 20);
        limits.session_memory = self.session_memory.map_or(limits.session_memory, bytes);
        limits.server_memory = self.server_memory.map_or(limits.server_memory, bytes);
        limits.lock_timeout = self.lock_timeout.map_or(limits.lock_timeout, Duration::from_secs);
        let is_sound = limits.session_memory >= SESSION_MEMORY_MIN
            && (limits.server_memory == 0 || limits.server_memory >= limits.session_memory)
            && (Duration::from_secs(1)..=LOCK_TIMEOUT_MAX).contains(&limits.lock_timeout);
        match is_sound {
            true => Ok(()),
            false => Err(usage(
                "a memory limit that is too small, or a lock timeout below a second or above a day",
                RESOURCES,
            )),
        }
    }
}

fn encryption(word: &str) -> Result<EncryptionMode, ServerError> {
    match word {
        "off" => Ok(EncryptionMode::Off),
        "optional" => Ok(EncryptionMode::Optional),
        "require" => Ok(EncryptionMode::Required),
        "strict" => Ok(EncryptionMode::Strict),
        _ => Err(usage(
            format!("encryption {word:?}"),
            "use off, optional, require or strict",
        )),
    }
}

fn offload(word: &str) -> Result<TlsOffload, ServerError> {
    match word {
        "inline" => Ok(TlsOffload::Inline),
        "thread" => Ok(TlsOffload::Thread),
        _ => Err(usage(format!("tls-offload {word:?}"), "use inline or thread")),
    }
}

fn refuses_logins(word: &str) -> Result<bool, ServerError> {
    match word {
        "continue" => Ok(false),
        "refuse-logins" => Ok(true),
        _ => Err(usage(
            format!("audit-failure {word:?}"),
            "use continue or refuse-logins",
        )),
    }
}

fn new_databases(word: &str) -> Result<NewDatabases, ServerError> {
    match word {
        "encrypted" => Ok(NewDatabases::Encrypted),
        "clear" => Ok(NewDatabases::Clear),
        _ => Err(usage(format!("new-databases {word:?}"), "use encrypted or clear")),
    }
}

/// An address with or without its port. Of a name the first address is used.
fn resolve(listen: &str) -> Result<SocketAddr, ServerError> {
    let bare = listen.trim_start_matches('[').trim_end_matches(']');
    let with_port = listen.to_socket_addrs().ok().and_then(|mut found| found.next());
    let without = || (bare, PORT).to_socket_addrs().ok().and_then(|mut found| found.next());
    with_port.or_else(without).ok_or_else(|| {
        usage(
            format!("invalid address to listen on: {listen:?}"),
            "use ADDRESS:PORT, such as 127.0.0.1:1433",
        )
    })
}

/// A spec with its path resolved by `settle`, as paths of the file are.
fn settle_spec(spec: &str, settle: impl Fn(&Path) -> PathBuf) -> Result<String, ServerError> {
    let settled = match spec.parse::<Spec>()? {
        Spec::Detected(path) => Spec::Detected(settle(&path)),
        Spec::Age(path) => Spec::Age(settle(&path)),
        Spec::Raw(path) => Spec::Raw(settle(&path)),
        Spec::Passphrase(path) => Spec::Passphrase(settle(&path)),
        spec @ (Spec::Command(_) | Spec::Held(_)) => spec,
    };
    Ok(settled.to_string())
}

fn default_data() -> Result<PathBuf, ServerError> {
    let dirs = ProjectDirs::from("", "", "selenite");
    let dirs = dirs.ok_or_else(|| usage("no data folder given, and no home folder", "add --data DIR"))?;
    Ok(dirs.data_local_dir().join("server"))
}

fn usage(what: impl Into<String>, next: &str) -> ServerError {
    ServerError::Usage {
        what: what.into(),
        next: next.to_owned(),
    }
}

/// The value of a setting for a file that is not to exist.
const NO_FILE: &str = "none";
const BOTH: &str = "give both --tls-cert and --tls-key, or neither";
const LIMITS: &str = "limits must be at least 1, the login timeout 1 to 3600 seconds";
const RESOURCES: &str =
    "session-memory must be at least 16 (MiB), server-memory at least that, lock-timeout 1 to 86400 (seconds)";
/// 16 MiB: the size of a connection to a database and a short statement.
const SESSION_MEMORY_MIN: u64 = 16 << 20;
/// A day.
const LOCK_TIMEOUT_MAX: Duration = Duration::from_secs(86_400);
/// An hour.
const LOGIN_TIME_MAX: Duration = Duration::from_secs(3600);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_says_what_flags_say_and_flags_win() {
        let text = "data = \"data\"\nidentity = \"age:~/key\"\nlisten = \"127.0.0.2\"\ntls-cert = \"/c\"\ntls-key = \"k\"\n\
            encryption = \"strict\"\ntls-offload = \"thread\"\nmax-sessions = 7\nmax-logins = 8\nlogin-timeout = 9\n\
            session-memory = 64\nserver-memory = 1024\nlock-timeout = 5\n";
        let file = Settings::parse(text, Path::new("/etc/s.toml"), Some(Path::new("/home/x"))).unwrap();
        let flags = Settings {
            listen: Some("127.0.0.3:99".to_owned()),
            ..Settings::default()
        };
        let config = flags.or(file.clone()).config(Access::default()).unwrap();
        assert_eq!(config.data, Path::new("/etc/data"));
        assert_eq!(config.access.identity, Some(Spec::Age("/home/x/key".into())));
        assert_eq!(config.listen, SocketAddr::from(([127, 0, 0, 3], 99)));
        let files = config.tls_files.unwrap();
        assert_eq!((files.certificate, files.key), ("/c".into(), "/etc/k".into()));
        assert_eq!(config.encryption, EncryptionMode::Strict);
        assert_eq!(config.tls_offload, TlsOffload::Thread);
        assert_eq!((config.limits.sessions.max, config.limits.lobby_max), (7, 8));
        assert_eq!(config.limits.sessions.per_login, 2);
        assert_eq!(config.limits.login_time, Duration::from_secs(9));
        let limits = config.limits;
        assert_eq!((limits.session_memory, limits.server_memory), (64 << 20, 1 << 30));
        assert_eq!(limits.lock_timeout, Duration::from_secs(5));
        let listen = file.config(Access::default()).unwrap().listen;
        assert_eq!(listen, SocketAddr::from(([127, 0, 0, 2], PORT)));
    }

    #[test]
    fn limits_and_the_audit_log_are_set() {
        let text = "data = \"/d\"\nmax-sessions = 100\nmax-sessions-per-login = 30\nadmin-sessions = 2\nattempts-per-login = 3\n\
            attempts-per-address = 0\nstatement-timeout = 7\naudit-log = \"a.jsonl\"\naudit-failure = \"refuse-logins\"\n\
            new-databases = \"clear\"\nlock-memory = true\nbulk-folders = [\"in\", \"/loads\"]\n";
        let file = Settings::parse(text, Path::new("/etc/s.toml"), None).unwrap();
        assert_eq!(file.lock_memory, Some(true));
        let config = file.config(Access::default()).unwrap();
        let sessions = config.limits.sessions;
        assert_eq!(
            (sessions.max, sessions.per_login, sessions.administrators),
            (100, 30, 2)
        );
        assert_eq!(
            (config.limits.attempts.per_login, config.limits.attempts.per_address),
            (3, 0)
        );
        assert_eq!(config.limits.request_time, Duration::from_secs(7));
        assert_eq!(config.new_databases, NewDatabases::Clear);
        assert_eq!(config.bulk_folders, [Path::new("/etc/in"), Path::new("/loads")]);
        assert_eq!(config.audit.target, AuditTarget::File("/etc/a.jsonl".into()));
        assert!(config.audit.refuses_logins);
        let none = Settings::parse("audit-log = \"none\"", Path::new("/s.toml"), None).unwrap();
        let none = Settings {
            data: Some("/d".into()),
            ..none
        };
        assert_eq!(none.config(Access::default()).unwrap().audit.target, AuditTarget::None);
    }

    #[test]
    fn what_makes_no_sense_is_refused_by_name() {
        for text in [
            "dta = \"x\"",
            "listen = 5",
            "identity = \"AGE-SECRET-KEY-1QQQ\"",
            "data =",
        ] {
            let error = Settings::parse(text, Path::new("/s.toml"), None).unwrap_err();
            assert!(!error.to_string().contains("1QQQ"), "{error}");
        }
        let bad = |settings: Settings| matches!(settings.config(Access::default()), Err(ServerError::Usage { .. }));
        let none = || Settings {
            data: Some("/data".into()),
            ..Settings::default()
        };
        assert!(none().config(Access::default()).is_ok());
        assert!(bad(Settings {
            tls_cert: Some("c".into()),
            ..none()
        }));
        assert!(bad(Settings {
            encryption: Some("on".to_owned()),
            ..none()
        }));
        assert!(bad(Settings {
            tls_offload: Some("yes".to_owned()),
            ..none()
        }));
        assert!(bad(Settings {
            max_sessions: Some(0),
            ..none()
        }));
        assert!(bad(Settings {
            login_timeout: Some(0),
            ..none()
        }));
        assert!(bad(Settings {
            attempts_per_login: Some(0),
            ..none()
        }));
        assert!(bad(Settings {
            new_databases: Some("maybe".to_owned()),
            ..none()
        }));
        assert!(bad(Settings {
            audit_failure: Some("stop".to_owned()),
            ..none()
        }));
        assert!(bad(Settings {
            session_memory: Some(15),
            ..none()
        }));
        assert!(bad(Settings {
            server_memory: Some(100),
            ..none()
        }));
        assert!(bad(Settings {
            lock_timeout: Some(0),
            ..none()
        }));
        assert!(bad(Settings {
            listen: Some(String::new()),
            ..none()
        }));
    }

    #[test]
    fn an_address_needs_no_port() {
        for (text, address) in [
            ("127.0.0.1", "127.0.0.1:1433"),
            ("[::1]", "[::1]:1433"),
            ("::1", "[::1]:1433"),
            ("[::1]:5", "[::1]:5"),
        ] {
            assert_eq!(resolve(text).unwrap(), address.parse().unwrap(), "{text}");
        }
    }
}
