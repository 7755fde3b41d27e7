//! One copy of SQLite in this process: its functions, the VFS below ours, the databases it has open.
//!
//! H1. State is kept per copy: a process may hold Python's SQLite and apsw's, each with its own VFS list.
//! H2. POSIX locks are the process's, not the copy's: a file that another copy has open is refused.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use selenite_cipher::Suite;
use selenite_format::PageSize;
use selenite_keyring::{Cache, Config, Identity, KeyError, Keyring, Recipient, Spec, Unlocked};

use crate::counters::Counters;
use crate::database::Database;
use crate::error::VfsError;
use crate::ffi::{Api, Code, LowerVfs, Name};
use crate::log_counters::LogCounters;

/// What all databases of one copy of SQLite share.
pub struct Host {
    /// SQLite's functions.
    pub api: Api,
    /// The VFS below.
    pub lower: LowerVfs,
    /// What was sealed and opened.
    pub counters: Counters,
    /// How logs were written.
    pub log_counters: LogCounters,
    /// Unwrapped master keys, so that a passphrase is not stretched at every open.
    cache: Cache,
    open: Mutex<Vec<Open>>,
    last_error: Mutex<Option<String>>,
}

struct Open {
    name_address: usize,
    path: String,
    database: Weak<Database>,
}

impl Host {
    /// A copy of SQLite that has just loaded us.
    #[must_use]
    pub fn new(api: Api, lower: LowerVfs) -> Self {
        Self {
            api,
            lower,
            counters: Counters::default(),
            log_counters: LogCounters::default(),
            cache: Cache::new(),
            open: Mutex::default(),
            last_error: Mutex::default(),
        }
    }

    /// The configuration, read anew: a program may set its environment after it loaded us.
    ///
    /// # Errors
    /// As the keyring has it.
    pub fn load_config() -> Result<Config, KeyError> {
        Config::load(&|variable| std::env::var_os(variable))
    }

    /// Opens a superblock with one of the identities.
    ///
    /// # Errors
    /// As the keyring has it.
    pub fn unlock(
        &self,
        bytes: &[u8],
        identities: &[Box<dyn Identity>],
        keyring: &Keyring,
    ) -> Result<Unlocked, KeyError> {
        selenite_keyring::unlock(bytes, identities, keyring, &self.cache)
    }

    /// Keys for a new database, wrapped for each identity that the spec names.
    ///
    /// # Errors
    /// `NoKey` where there is none; as the keyring has it.
    pub fn create_keys(
        spec: Option<&Spec>,
        config: &Config,
        page_size: PageSize,
        suite: Suite,
        now: u64,
    ) -> Result<Unlocked, KeyError> {
        let spec = spec.ok_or(KeyError::NoKey)?;
        let recipients: Vec<Box<dyn Recipient>> = selenite_keyring::load(spec, config)?
            .into_iter()
            .map(|identity| identity as Box<dyn Recipient>)
            .collect();
        selenite_keyring::create(page_size, suite, &recipients, now, &mut selenite_keyring::os_random)
    }

    /// Notes an open database, so that its WAL and journals find it.
    pub fn enter(&self, name: &Name<'_>, database: &Arc<Database>) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|entry| entry.database.strong_count() > 0);
        open.push(Open {
            name_address: name.address(),
            path: name.path().to_string_lossy().into_owned(),
            database: Arc::downgrade(database),
        });
    }

    /// The database to which a WAL or journal belongs: by the connection's own name, or else by path (a shim above
    /// may pass names of its own).
    #[must_use]
    pub fn find(&self, database_name: &Name<'_>) -> Option<Arc<Database>> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let own = open
            .iter()
            .rev()
            .find(|entry| entry.name_address == database_name.address());
        if let Some(database) = own.and_then(|entry| entry.database.upgrade()) {
            return Some(database);
        }
        let path = database_name.path().to_string_lossy();
        open.iter()
            .rev()
            .filter(|entry| entry.path == path)
            .find_map(|entry| entry.database.upgrade())
    }

    /// Whether this copy has a database open under that path.
    #[must_use]
    pub fn has_open(&self, path: &str) -> bool {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.iter()
            .any(|entry| entry.path == path && entry.database.strong_count() > 0)
    }

    /// Why the last file was refused.
    #[must_use]
    pub fn last_error(&self) -> Option<String> {
        self.last_error.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Writes an error to SQLite's log and keeps it for `selenite_last_error()`.
    pub fn report(&self, path: &str, error: &VfsError) -> Code {
        let code = error.code();
        if matches!(error, VfsError::Lower(_)) {
            return code;
        }
        let message = format!("selenite: {path}: {error}");
        self.api.write_log(code.as_raw(), &message);
        *self.last_error.lock().unwrap_or_else(PoisonError::into_inner) = Some(message);
        code
    }

    /// Keeps an advice for `selenite_last_error()`, where SQLite itself will fail and can't say why.
    pub fn advise(&self, path: &str, text: &str) {
        let message = format!("selenite: {path}: {text}");
        *self.last_error.lock().unwrap_or_else(PoisonError::into_inner) = Some(message);
    }

    /// Writes a remark to SQLite's log.
    pub fn remark(&self, path: &str, text: &str) {
        const NOTICE: i32 = 27;
        self.api.write_log(NOTICE, &format!("selenite: {path}: {text}"));
    }
}
