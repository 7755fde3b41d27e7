//! One copy of SQLite in this process: its functions, the VFS below, the state that its databases
//! share.
//!
//! - state-per-copy: state is kept per copy: a process may contain Python's SQLite and apsw's, each
//!   with its own VFS list.
//! - one-copy-per-file: POSIX locks belong to the process, not to the copy: a file that another
//!   copy has open is refused.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use selenite_cipher::Suite;
use selenite_format::PageSize;
use selenite_keyring::{Cache, Config, Identity, KeyError, Recipient, Spec, Trust, Unlocked};

use crate::close_lock::CloseLocks;
use crate::counters::Counters;
use crate::environment;
use crate::error::VfsError;
use crate::ffi::{Api, Code, LowerVfs};
use crate::file_meter::FileMeter;
use crate::file_meters::FileMeters;
use crate::last_errors::{LastError, LastErrors};
use crate::log_counters::LogCounters;
use crate::pool::Pool;
use crate::role::Role;
use crate::settings::Settings;
use crate::sync_clock::SyncClock;
use crate::thread_refusal;
use crate::trace_recorder::recorder;

/// The state that all databases of one copy of SQLite share.
pub struct Host {
    /// SQLite's functions.
    pub api: Api,
    /// The VFS below.
    pub lower: LowerVfs,
    /// Counts of pages sealed and opened.
    pub counters: Counters,
    /// Decrypted pages.
    pub pool: Arc<Pool>,
    /// Returns device and inode of the file at a path.
    pub identify: Identify,
    /// Separates closes from first locks.
    pub close_locks: CloseLocks,
    /// The time spent in syncs.
    pub sync_clock: SyncClock,
    /// Counts of writes to logs.
    pub log_counters: LogCounters,
    /// Counts of calls to the VFS below.
    pub file_meters: FileMeters,
    /// Unwrapped master keys, so that the key derivation from a passphrase is not repeated at every
    /// open.
    cache: Cache,
    /// The number of files that are open, or about to be, by path.
    present: Mutex<BTreeMap<String, usize>>,
    /// Paths, with links resolved, that were opened through a symbolic link.
    linked: Mutex<BTreeSet<PathBuf>>,
    last_errors: Mutex<LastErrors>,
    /// Databases that this process is replacing by encrypted ones.
    handing_over: Mutex<BTreeSet<String>>,
    /// Key files that others can read and for which this was already logged.
    warned_key_files: Mutex<BTreeSet<PathBuf>>,
}

/// A file that is open, or about to be. It is dropped after the file below is closed.
pub struct OpenGuard {
    host: Arc<Host>,
    path: String,
}

impl OpenGuard {
    /// The copy of SQLite that has the file open.
    #[must_use]
    pub fn host(&self) -> &Arc<Host> {
        &self.host
    }
}

impl Drop for OpenGuard {
    fn drop(&mut self) {
        let mut present = self.host.present.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = present.get_mut(&self.path) {
            *count -= 1;
            if *count == 0 {
                present.remove(&self.path);
            }
        }
    }
}

/// Identifies files: returns device and inode of the file at a path, if there is one.
pub type Identify = fn(&Path) -> Option<(u64, u64)>;

impl Host {
    /// Whether calls for the files of a database are counted: as its settings say, and while calls are recorded.
    #[must_use]
    pub fn counts_calls(&self, settings: &Settings) -> bool {
        settings.counts_calls || recorder().is_some()
    }

    /// A meter for a file of a database that is being opened.
    #[must_use]
    pub fn meter(&self, settings: &Settings, path: &str, role: Role) -> Option<FileMeter> {
        let is_wanted = self.counts_calls(settings);
        is_wanted.then(|| self.file_meters.meter(path, role)).flatten()
    }

    /// The state of a copy of SQLite that has just loaded the VFS.
    #[must_use]
    pub fn new(api: Api, lower: LowerVfs, identify: Identify) -> Self {
        Self {
            pool: Pool::new(),
            identify,
            api,
            lower,
            counters: Counters::default(),
            close_locks: CloseLocks::default(),
            sync_clock: SyncClock::default(),
            log_counters: LogCounters::default(),
            file_meters: FileMeters::default(),
            cache: Cache::new(),
            present: Mutex::default(),
            linked: Mutex::default(),
            last_errors: Mutex::default(),
            handing_over: Mutex::default(),
            warned_key_files: Mutex::default(),
        }
    }

    /// The configuration, read again: a program may set its environment after it loaded the
    /// extension.
    ///
    /// # Errors
    /// Those of the keyring.
    pub fn load_config() -> Result<Config, KeyError> {
        environment::load_config()
    }

    /// Opens a superblock with one of the identities.
    ///
    /// # Errors
    /// Those of the keyring.
    pub fn unlock(&self, bytes: &[u8], identities: &[Box<dyn Identity>], trust: &Trust) -> Result<Unlocked, KeyError> {
        selenite_keyring::unlock(bytes, identities, trust, &self.cache)
    }

    /// Creates keys for a new database, wrapped for each identity in the spec.
    ///
    /// # Errors
    /// `NoKey` if there is no spec; errors of the keyring.
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

    /// Notes that a file is about to be opened under that path. If this copy has no file open
    /// there, `is_foreign` is called to find out whether another copy has; meanwhile no other
    /// thread opens one.
    ///
    /// # Errors
    /// `OtherSqlite` if another copy has.
    pub fn register_open(
        self: &Arc<Self>,
        path: &str,
        is_foreign: impl FnOnce(&dyn Fn(&str) -> bool) -> bool,
    ) -> Result<OpenGuard, VfsError> {
        let mut present = self.present.lock().unwrap_or_else(PoisonError::into_inner);
        if !present.contains_key(path) && is_foreign(&|other| present.contains_key(other)) {
            return Err(VfsError::OtherSqlite);
        }
        *present.entry(path.to_owned()).or_insert(0) += 1;
        Ok(OpenGuard {
            host: self.clone(),
            path: path.to_owned(),
        })
    }

    /// Notes whether `path`, which has its links resolved, was requested through a symbolic link.
    pub fn note_link(&self, path: &Path, is_linked: bool) {
        let mut linked = self.linked.lock().unwrap_or_else(PoisonError::into_inner);
        if is_linked {
            linked.insert(path.to_owned());
        } else {
            linked.remove(path);
        }
    }

    /// Whether the path was last requested through a symbolic link.
    #[must_use]
    pub fn is_linked(&self, path: &Path) -> bool {
        let linked = self.linked.lock().unwrap_or_else(PoisonError::into_inner);
        linked.contains(path)
    }

    /// Notes whether this process is replacing the database at `path`: its own connections don't wait for it.
    pub(crate) fn note_handing_over(&self, path: &str, is_begun: bool) {
        let mut handing_over = self.handing_over.lock().unwrap_or_else(PoisonError::into_inner);
        if is_begun {
            handing_over.insert(path.to_owned());
        } else {
            handing_over.remove(path);
        }
    }

    /// Whether it is.
    pub(crate) fn is_handing_over(&self, path: &str) -> bool {
        let handing_over = self.handing_over.lock().unwrap_or_else(PoisonError::into_inner);
        handing_over.contains(path)
    }

    /// The paths of the databases that are open, or about to be.
    #[must_use]
    pub fn open_paths(&self) -> Vec<String> {
        let present = self.present.lock().unwrap_or_else(PoisonError::into_inner);
        present.keys().cloned().collect()
    }

    /// The errors of refused files.
    pub(crate) fn last_errors(&self) -> MutexGuard<'_, LastErrors> {
        self.last_errors.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why the file at a path was last refused.
    pub(crate) fn last_error_at(&self, path: &Path) -> Option<LastError> {
        let errors = self.last_errors();
        let whole = std::path::absolute(path).ok()?;
        let real = std::fs::canonicalize(path);
        let names = [Some(path.to_owned()), Some(whole), real.ok()];
        names
            .into_iter()
            .flatten()
            .find_map(|name| errors.of(&name.to_string_lossy()).cloned())
    }

    /// Writes an error to SQLite's log and keeps it for `selenite_last_error()`.
    pub fn report(&self, path: &str, error: &VfsError) -> Code {
        self.report_of(path, error, false)
    }

    /// As [`Host::report`], for an error on opening the file.
    pub fn report_unopened(&self, path: &str, error: &VfsError) -> Code {
        self.report_of(path, error, true)
    }

    fn report_of(&self, path: &str, error: &VfsError, is_of_opening: bool) -> Code {
        let code = if is_of_opening {
            error.code_of_opening()
        } else {
            error.code()
        };
        if matches!(error, VfsError::Lower(_)) {
            if is_of_opening {
                self.last_errors().forget_opening(path);
            }
            return code;
        }
        thread_refusal::note(path, error);
        self.api.write_log(code.as_raw(), &format!("selenite: {path}: {error}"));
        self.last_errors().keep(path, error, is_of_opening);
        code
    }

    /// Keeps an explanation for a file that could not be opened, for `selenite_last_error()`:
    /// SQLite itself will fail without a reason.
    pub fn advise(&self, path: &str, text: &str) {
        self.last_errors().keep_text(path, text, true);
    }

    /// Keeps an error message about an open file.
    pub fn keep_text(&self, path: &str, text: &str) {
        self.last_errors().keep_text(path, text, false);
    }

    /// Writes to SQLite's log, once per file, that others can read a key file.
    pub fn warn_of_readers(&self, path: &Path) {
        let mut told = self.warned_key_files.lock().unwrap_or_else(PoisonError::into_inner);
        if told.insert(path.to_owned()) {
            self.remark(&path.to_string_lossy(), "others can read this key file: chmod go-r");
        }
    }

    /// Writes a notice to SQLite's log.
    pub fn remark(&self, path: &str, text: &str) {
        const NOTICE: i32 = 27;
        self.api.write_log(NOTICE, &format!("selenite: {path}: {text}"));
    }
}
