//! One copy of SQLite in this process: its functions, the VFS below ours, what its databases share.
//!
//! - state-per-copy: state is kept per copy: a process may hold Python's SQLite and apsw's, each
//!   with its own VFS list.
//! - one-copy-per-file: POSIX locks are the process's, not the copy's: a file that another copy has
//!   open is refused.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use selenite_cipher::Suite;
use selenite_format::PageSize;
use selenite_keyring::{Cache, Config, Identity, KeyError, Recipient, Spec, Trust, Unlocked};

use crate::closing::Closings;
use crate::counters::Counters;
use crate::environment;
use crate::error::VfsError;
use crate::ffi::{Api, Code, LowerVfs};
use crate::file_meters::FileMeters;
use crate::last_errors::{LastError, LastErrors};
use crate::log_counters::LogCounters;
use crate::pool::Pool;
use crate::sync_clock::SyncClock;
use crate::thread_refusal;

/// What all databases of one copy of SQLite share.
pub struct Host {
    /// SQLite's functions.
    pub api: Api,
    /// The VFS below.
    pub lower: LowerVfs,
    /// What was sealed and opened.
    pub counters: Counters,
    /// Opened pages.
    pub pool: Arc<Pool>,
    /// Device and inode of the file at a path.
    pub identify: Identify,
    /// Keep closes away from locks.
    pub closings: Closings,
    /// How long syncs took.
    pub sync_clock: SyncClock,
    /// How logs were written.
    pub log_counters: LogCounters,
    /// What was read from and written to the VFS below.
    pub file_meters: FileMeters,
    /// Unwrapped master keys, so that a passphrase is not stretched at every open.
    cache: Cache,
    /// How many files are open, or about to be, under each path.
    present: Mutex<BTreeMap<String, usize>>,
    /// Paths, without links, that SQLite was asked for through a symbolic link.
    linked: Mutex<BTreeSet<PathBuf>>,
    last_errors: Mutex<LastErrors>,
    /// Key files of which the log was told that others can read them.
    told_readable: Mutex<BTreeSet<PathBuf>>,
}

/// A file that is open, or about to be. It is dropped once the file below is closed.
pub struct Presence {
    host: Arc<Host>,
    path: String,
}

impl Presence {
    /// Whose file it is.
    #[must_use]
    pub fn host(&self) -> &Arc<Host> {
        &self.host
    }
}

impl Drop for Presence {
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

/// Tells files apart: answers device and inode of the file at a path, if there is one.
pub type Identify = fn(&Path) -> Option<(u64, u64)>;

impl Host {
    /// A copy of SQLite that has just loaded us.
    #[must_use]
    pub fn new(api: Api, lower: LowerVfs, identify: Identify) -> Self {
        Self {
            pool: Pool::new(),
            identify,
            api,
            lower,
            counters: Counters::default(),
            closings: Closings::default(),
            sync_clock: SyncClock::default(),
            log_counters: LogCounters::default(),
            file_meters: FileMeters::default(),
            cache: Cache::new(),
            present: Mutex::default(),
            linked: Mutex::default(),
            last_errors: Mutex::default(),
            told_readable: Mutex::default(),
        }
    }

    /// The configuration, read again: a program may set its environment after it loaded us.
    ///
    /// # Errors
    /// As the keyring has it.
    pub fn load_config() -> Result<Config, KeyError> {
        environment::load_config()
    }

    /// Opens a superblock with one of the identities.
    ///
    /// # Errors
    /// As the keyring has it.
    pub fn unlock(&self, bytes: &[u8], identities: &[Box<dyn Identity>], trust: &Trust) -> Result<Unlocked, KeyError> {
        selenite_keyring::unlock(bytes, identities, trust, &self.cache)
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

    /// Notes that a file is about to be opened under that path. Where this copy has none open
    /// there, `is_foreign` is asked whether someone else has; no other thread opens one meanwhile.
    ///
    /// # Errors
    /// `OtherSqlite` if so.
    pub fn arrive(
        self: &Arc<Self>,
        path: &str,
        is_foreign: impl FnOnce(&dyn Fn(&str) -> bool) -> bool,
    ) -> Result<Presence, VfsError> {
        let mut present = self.present.lock().unwrap_or_else(PoisonError::into_inner);
        if !present.contains_key(path) && is_foreign(&|other| present.contains_key(other)) {
            return Err(VfsError::OtherSqlite);
        }
        *present.entry(path.to_owned()).or_insert(0) += 1;
        Ok(Presence {
            host: self.clone(),
            path: path.to_owned(),
        })
    }

    /// Notes whether a path, without links, was asked for by one that leads through a symbolic link.
    pub fn note_link(&self, path: &Path, is_linked: bool) {
        let mut linked = self.linked.lock().unwrap_or_else(PoisonError::into_inner);
        if is_linked {
            linked.insert(path.to_owned());
        } else {
            linked.remove(path);
        }
    }

    /// Whether it was, when SQLite asked for its full name last.
    #[must_use]
    pub fn is_linked(&self, path: &Path) -> bool {
        let linked = self.linked.lock().unwrap_or_else(PoisonError::into_inner);
        linked.contains(path)
    }

    /// The paths of the databases that are open, or about to be.
    #[must_use]
    pub fn open_paths(&self) -> Vec<String> {
        let present = self.present.lock().unwrap_or_else(PoisonError::into_inner);
        present.keys().cloned().collect()
    }

    /// Why files were refused.
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

    /// The same, of a file that is not opened for it.
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
            return code;
        }
        thread_refusal::note(path, error);
        self.api.write_log(code.as_raw(), &format!("selenite: {path}: {error}"));
        self.last_errors().keep(path, error, is_of_opening);
        code
    }

    /// Keeps an advice about a file that is not opened, for `selenite_last_error()`: SQLite itself
    /// will fail and can't say why.
    pub fn advise(&self, path: &str, text: &str) {
        self.last_errors().keep_text(path, text, true);
    }

    /// Keeps why something about an open file failed.
    pub fn keep_text(&self, path: &str, text: &str) {
        self.last_errors().keep_text(path, text, false);
    }

    /// Tells SQLite's log, once, that others can read a key file.
    pub fn warn_of_readers(&self, path: &Path) {
        let mut told = self.told_readable.lock().unwrap_or_else(PoisonError::into_inner);
        if told.insert(path.to_owned()) {
            self.remark(&path.to_string_lossy(), "others can read this key file: chmod go-r");
        }
    }

    /// Writes a remark to SQLite's log.
    pub fn remark(&self, path: &str, text: &str) {
        const NOTICE: i32 = 27;
        self.api.write_log(NOTICE, &format!("selenite: {path}: {text}"));
    }
}
