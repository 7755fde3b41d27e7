//! One copy of SQLite in this process: its functions, the VFS below ours, the databases it has open.
//!
//! H1. State is kept per copy: a process may hold Python's SQLite and apsw's, each with its own VFS list.
//! H2. POSIX locks are the process's, not the copy's: a file that another copy has open is refused.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use selenite_cipher::Suite;
use selenite_format::PageSize;
use selenite_keyring::{Cache, Config, Identity, KeyError, Keyring, Spec, Unlocked};

use crate::counters::Counters;
use crate::database::{Database, random};
use crate::error::VfsError;
use crate::ffi::{Api, Code, LowerVfs, Name};

/// What all databases of one copy of SQLite share.
pub struct Host {
    /// SQLite's functions.
    pub api: Api,
    /// The VFS below.
    pub lower: LowerVfs,
    /// What was sealed and opened.
    pub counters: Counters,
    config: Config,
    keyring: Keyring,
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
    /// Reads the configuration, once for every copy.
    ///
    /// # Errors
    /// A config or keyring file that can't be read, or does not say what it should.
    pub fn new(api: Api, lower: LowerVfs) -> Result<Self, KeyError> {
        let config = Config::load(&|variable| std::env::var_os(variable))?;
        let keyring = config.load_keyring()?;
        Ok(Self {
            api,
            lower,
            counters: Counters::default(),
            config,
            keyring,
            cache: Cache::default(),
            open: Mutex::default(),
            last_error: Mutex::default(),
        })
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The identities that a spec names.
    ///
    /// # Errors
    /// As the keyring has it.
    pub fn load_identity(&self, spec: &Spec) -> Result<Vec<Box<dyn Identity>>, KeyError> {
        selenite_keyring::load_identity(spec, &self.config)
    }

    /// Opens a superblock with one of the identities.
    ///
    /// # Errors
    /// As the keyring has it.
    pub fn unlock(&self, bytes: &[u8], identities: &[Box<dyn Identity>]) -> Result<Unlocked, KeyError> {
        selenite_keyring::unlock(bytes, identities, &self.keyring, &self.cache)
    }

    /// Keys for a new database, wrapped for each of the identities.
    ///
    /// # Errors
    /// `NoKey` where there is none; as the keyring has it.
    pub fn create_keys(
        &self,
        identities: &[Box<dyn Identity>],
        page_size: PageSize,
        suite: Suite,
        now: u64,
    ) -> Result<Unlocked, KeyError> {
        if identities.is_empty() {
            return Err(KeyError::NoKey);
        }
        let recipients: Vec<_> = identities.iter().map(|identity| identity.as_recipient()).collect();
        selenite_keyring::create(page_size, suite, &recipients, now, &mut |out| random(out))
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
        let own = open.iter().rev().find(|entry| entry.name_address == database_name.address());
        if let Some(database) = own.and_then(|entry| entry.database.upgrade()) {
            return Some(database);
        }
        let path = database_name.path().to_string_lossy();
        open.iter().rev().filter(|entry| entry.path == path).find_map(|entry| entry.database.upgrade())
    }

    /// Whether this copy has a database open under that path.
    #[must_use]
    pub fn has_open(&self, path: &str) -> bool {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.iter().any(|entry| entry.path == path && entry.database.strong_count() > 0)
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

    /// Writes a remark to SQLite's log.
    pub fn remark(&self, path: &str, text: &str) {
        const NOTICE: i32 = 27;
        self.api.write_log(NOTICE, &format!("selenite: {path}: {text}"));
    }
}
