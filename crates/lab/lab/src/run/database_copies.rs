//! The databases of a study, in a folder beside its store: masters, the copies of a session, the key.

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use selenite_worker::protocol::Dataset;

use super::error::RunError;
use crate::config::Config;
use crate::database_files;

/// The folder.
#[derive(Clone, Debug)]
pub(super) struct DatabaseCopies {
    root: PathBuf,
}

impl DatabaseCopies {
    /// The folder of the store at `path`.
    pub(super) fn of(path: &Path) -> DatabaseCopies {
        let mut name = path.as_os_str().to_owned();
        name.push(".copies");
        DatabaseCopies {
            root: PathBuf::from(name),
        }
    }

    pub(super) fn key_file(&self) -> PathBuf {
        self.root.join("key")
    }

    pub(super) fn master(&self, arm: &str, data: &str) -> PathBuf {
        self.root.join("masters").join(arm).join(format!("{data}.db"))
    }

    /// The rows of a dataset, from which servers are loaded.
    pub(super) fn rows(&self, data: &str) -> PathBuf {
        self.root.join("rows").join(format!("{data}.db"))
    }

    pub(super) fn copy_path(&self, session: u32, arm: &str, data: &str) -> PathBuf {
        self.session(session).join(arm).join(format!("{data}.db"))
    }

    /// Creates the folder and the key, if missing. Returns whether the key existed.
    pub(super) fn prepare(&self) -> Result<bool, RunError> {
        fs::create_dir_all(&self.root).map_err(RunError::io("make", &self.root))?;
        let path = self.key_file();
        if fs::metadata(&path).is_ok_and(|found| found.len() == KEY_SIZE as u64) {
            return Ok(true);
        }
        let mut key = [0; KEY_SIZE];
        let random = Path::new("/dev/urandom");
        let read = fs::File::open(random).and_then(|mut file| file.read_exact(&mut key));
        read.map_err(RunError::io("read", random))?;
        let file = fs::File::options()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&path);
        file.and_then(|mut file| file.write_all(&key))
            .map_err(RunError::io("write", &path))?;
        Ok(false)
    }

    /// Prepares the path of a database: creates its folder, and removes an existing file.
    pub(super) fn clear(&self, database: &Path) -> Result<(), RunError> {
        if let Some(folder) = database.parent() {
            fs::create_dir_all(folder).map_err(RunError::io("make", folder))?;
        }
        for suffix in ["", "-wal", "-shm", "-journal", "-selenite"] {
            let mut name = database.as_os_str().to_owned();
            name.push(suffix);
            let path = Path::new(&name);
            match path.is_dir() {
                true => remove(path, |path| fs::remove_dir_all(path))?,
                false => remove(path, |path| fs::remove_file(path))?,
            }
        }
        Ok(())
    }

    /// Copies a master to the path of a copy, and syncs it.
    pub(super) fn copy(&self, master: &Path, copy: &Path) -> Result<(), RunError> {
        self.clear(copy)?;
        database_files::copy(master, copy).map_err(RunError::io("copy", master))
    }

    /// Removes the copies of a session.
    pub(super) fn drop_session(&self, session: u32) -> Result<(), RunError> {
        remove(&self.session(session), |path| fs::remove_dir_all(path))
    }

    /// Removes the copies of all sessions, which a killed run may have left.
    pub(super) fn drop_sessions(&self) -> Result<(), RunError> {
        let Ok(entries) = fs::read_dir(&self.root) else {
            return Ok(());
        };
        for entry in entries.flatten() {
            if entry.file_name().to_string_lossy().starts_with(SESSION) {
                remove(&entry.path(), |path| fs::remove_dir_all(path))?;
            }
        }
        Ok(())
    }

    /// Removes the folder.
    pub(super) fn drop_all(&self) -> Result<(), RunError> {
        remove(&self.root, |path| fs::remove_dir_all(path))
    }

    fn session(&self, session: u32) -> PathBuf {
        self.root.join(format!("{SESSION}{session}"))
    }
}

/// The approximate size of a database with a dataset, in bytes.
pub(super) fn bytes_of(dataset: &Dataset) -> u64 {
    match dataset {
        Dataset::Scan { bytes } => *bytes,
        Dataset::Statements { rows, indexes } => {
            rows.saturating_mul(STATEMENTS_ROW + u64::from(*indexes) * STATEMENTS_ENTRY)
        }
        Dataset::Cards { rows } => rows.saturating_mul(CARDS_ROW),
        Dataset::Wire => WIRE,
    }
    .max(SMALLEST)
}

/// The approximate size of the master of a dataset in a study, in bytes.
fn master_bytes_of(config: &Config, dataset: &Dataset) -> u64 {
    match config.has_servers() && *dataset != Dataset::Wire {
        true => bytes_of(dataset)
            .saturating_mul(SERVER_FACTOR)
            .saturating_add(SERVER_FOLDER),
        false => bytes_of(dataset),
    }
}

/// The approximate total size of one arm's masters, in bytes.
pub(super) fn master_bytes(config: &Config) -> u64 {
    let each = config.data.values().map(|dataset| master_bytes_of(config, dataset));
    each.fold(0, u64::saturating_add)
}

/// The required space on disk, in bytes: masters, copies, and a copy of the largest with its WAL.
pub(super) fn bytes_needed(config: &Config, arms: usize) -> u64 {
    let all = master_bytes(config);
    let largest = config.data.values().map(|dataset| master_bytes_of(config, dataset));
    let largest = largest.max().unwrap_or(0);
    all.saturating_mul(u64::try_from(arms).unwrap_or(u64::MAX))
        .saturating_mul(2)
        .saturating_add(2 * largest)
        .saturating_add(SPARE)
}

fn remove(path: &Path, how: impl FnOnce(&Path) -> std::io::Result<()>) -> Result<(), RunError> {
    match how(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(RunError::io("remove", path)(error)),
        _ => Ok(()),
    }
}

const KEY_SIZE: usize = 32;
const SESSION: &str = "session-";
/// Bytes of a row of testtable, with its share of the page.
const STATEMENTS_ROW: u64 = 64;
/// Bytes of a row's entry in one of its indexes.
const STATEMENTS_ENTRY: u64 = 48;
/// Bytes of a row in each of three tables, with its entries in their indexes.
const CARDS_ROW: u64 = 512;
/// The recorded traffic, and the server's own database.
const WIRE: u64 = 2 << 20;
/// A server's rows have headers that SQLite's have not, and its pages room.
const SERVER_FACTOR: u64 = 2;
/// The data folder of a server without rows: its own tables and its log.
const SERVER_FOLDER: u64 = 128 << 20;
/// The size of an almost empty database.
const SMALLEST: u64 = 64 << 10;
/// The store itself, and a reserve.
const SPARE: u64 = 64 << 20;
