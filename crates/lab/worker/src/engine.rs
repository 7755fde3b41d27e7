//! The operations that differ between SQLite libraries; everything else of a worker is the same for
//! all.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use rusqlite::Connection;

use crate::WorkerError;
use crate::protocol::{CipherTime, DatabaseSpec, Hello, PLAIN, PROTOCOL};

/// An engine: a SQLite library with or without encryption.
///
/// Returned connections have their key and the layout of the database ([`crate::layout`]).
pub trait Engine: Sync {
    /// The engine's name, library and ciphers.
    ///
    /// # Errors
    /// Errors of SQLite.
    fn hello(&self) -> Result<Hello, WorkerError>;

    /// Opens an existing database, and reads its first page, so that a wrong key is an error here.
    ///
    /// # Errors
    /// Errors of the engine and of SQLite.
    fn open(&self, database: &DatabaseSpec) -> Result<Connection, WorkerError>;

    /// Opens an existing database as an application would: with its key, and without a layout, a
    /// check, or a first read.
    ///
    /// # Errors
    /// Errors of the engine and of SQLite.
    fn connect(&self, database: &DatabaseSpec) -> Result<Connection, WorkerError> {
        self.open(database)
    }

    /// Makes a new database with the requested page size.
    ///
    /// # Errors
    /// Errors of the engine and of SQLite; [`WorkerError::Refused`] if the file exists.
    fn create(&self, database: &DatabaseSpec) -> Result<Connection, WorkerError>;

    /// The engine's report of the encryption of an open database.
    ///
    /// # Errors
    /// Errors of the engine and of SQLite.
    fn status(&self, connection: &Connection, database: &DatabaseSpec) -> Result<Status, WorkerError>;

    /// Writes a copy of a closed database as a new file with another cipher.
    ///
    /// # Errors
    /// Errors of the engine and of SQLite; [`WorkerError::Refused`] if the engine cannot do it.
    fn convert(&self, source: &DatabaseSpec, target: &DatabaseSpec) -> Result<(), WorkerError> {
        vacuum_into(self, source, target)
    }

    /// Changes the key of a closed database to the one in `key_file`, and re-encrypts every page.
    ///
    /// # Errors
    /// Errors of the engine and of SQLite; [`WorkerError::Refused`] if the engine cannot do it.
    fn rekey(&self, database: &DatabaseSpec, key_file: &Path) -> Result<(), WorkerError> {
        let _ = key_file;
        Err(WorkerError::Refused(format!(
            "this engine can't change the key of {}",
            database.cipher
        )))
    }

    /// Backs up a closed database into a folder, in a form suitable for storage elsewhere. An
    /// incremental backup is based on the newest one in the folder.
    ///
    /// # Errors
    /// Errors of the engine and of SQLite; [`WorkerError::Refused`] if the engine cannot do it.
    fn back_up(&self, database: &DatabaseSpec, folder: &Path, incremental: bool) -> Result<(), WorkerError> {
        let _ = (folder, incremental);
        Err(no_backups(database))
    }

    /// Restores a database from the newest backup in a folder. Returns its cipher, which may differ
    /// from that of the database that was backed up.
    ///
    /// # Errors
    /// Errors of the engine and of SQLite; [`WorkerError::Refused`] if the engine cannot do it.
    fn restore(&self, database: &DatabaseSpec, folder: &Path) -> Result<String, WorkerError> {
        let _ = folder;
        Err(no_backups(database))
    }

    /// Reads all pages of a closed database, and authenticates them if the engine can. Returns the
    /// number of bytes read.
    ///
    /// # Errors
    /// A page that cannot be read, or is not authentic.
    fn verify_physical(&self, database: &DatabaseSpec) -> Result<u64, WorkerError> {
        read_through(database)
    }

    /// The time of the cipher itself for 4096 bytes, if the engine can measure it.
    ///
    /// # Errors
    /// [`WorkerError::Refused`] for a cipher that the engine does not have.
    fn cipher_time(&self, cipher: &str) -> Result<Option<CipherTime>, WorkerError> {
        let _ = cipher;
        Ok(None)
    }

    /// The counts of the files of the database that this connection has open, in this process so far: CSV with a header,
    /// if the engine counts them and the database's settings ask for it.
    ///
    /// # Errors
    /// What SQLite says.
    fn file_counts(&self, connection: &Connection, database: &DatabaseSpec) -> Result<Option<String>, WorkerError> {
        let _ = (connection, database);
        Ok(None)
    }

    /// The pages that SQLite read and wrote through this connection so far, if the engine can tell.
    fn page_counts(&self, connection: &Connection) -> Option<PageCounts> {
        let _ = connection;
        None
    }
}

/// An engine's report of a database's encryption.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// Names and values, for display.
    pub values: BTreeMap<String, String>,
    /// Whether it is encrypted.
    pub encrypted: bool,
}

/// SQLITE_DBSTATUS_CACHE_MISS and SQLITE_DBSTATUS_CACHE_WRITE of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageCounts {
    /// Pages that were not in the page cache.
    pub read: u64,
    /// Pages that were written.
    pub written: u64,
}

/// The [`Hello`] of an engine: fills in the fields that are the same for all engines.
///
/// # Errors
/// Errors of SQLite.
pub fn hello(engine: &str, library: String, ciphers: Vec<String>) -> Result<Hello, WorkerError> {
    let connection = Connection::open_in_memory()?;
    let (sqlite_version, sqlite_source_id) =
        connection.query_row("SELECT sqlite_version(), sqlite_source_id()", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
    Ok(Hello {
        protocol: PROTOCOL,
        engine: engine.to_owned(),
        library,
        sqlite_version,
        sqlite_source_id,
        ciphers,
        without_aes: BTreeMap::new(),
        server: false,
        works: Vec::new(),
        limits: Vec::new(),
    })
}

/// Copies an unencrypted database to another one by `VACUUM INTO`.
///
/// # Errors
/// [`WorkerError::Refused`] if either is encrypted; errors of SQLite.
pub fn vacuum_into<E: Engine + ?Sized>(
    engine: &E,
    source: &DatabaseSpec,
    target: &DatabaseSpec,
) -> Result<(), WorkerError> {
    if source.cipher != PLAIN || target.cipher != PLAIN {
        return Err(WorkerError::Refused(format!(
            "this engine can't convert {} to {}",
            source.cipher, target.cipher
        )));
    }
    let connection = engine.open(source)?;
    let path = target.path.to_str().ok_or_else(|| no_text(target))?;
    connection.execute("VACUUM INTO ?1", [path])?;
    connection.close().map_err(|(_, error)| error)?;
    Ok(())
}

/// Refuses to make a database where a file exists.
///
/// # Errors
/// [`WorkerError::Refused`] if the file exists.
pub fn check_absent(database: &DatabaseSpec) -> Result<(), WorkerError> {
    if database.path.exists() {
        return Err(WorkerError::Refused(format!(
            "{} is there already",
            database.path.display()
        )));
    }
    Ok(())
}

fn no_backups(database: &DatabaseSpec) -> WorkerError {
    WorkerError::Refused(format!("this engine has no backups of {} of its own", database.cipher))
}

fn no_text(database: &DatabaseSpec) -> WorkerError {
    WorkerError::Refused(format!("{} is not valid UTF-8", database.path.display()))
}

/// Reads the file of a database from start to end. Returns the number of bytes.
///
/// # Errors
/// Errors of reading the file.
pub fn read_through(database: &DatabaseSpec) -> Result<u64, WorkerError> {
    let mut file = File::open(&database.path).map_err(WorkerError::io("open", &database.path))?;
    let mut piece = vec![0; READ_SIZE];
    let mut total: u64 = 0;
    loop {
        let count = file.read(&mut piece).map_err(WorkerError::io("read", &database.path))?;
        if count == 0 {
            return Ok(total);
        }
        total += count as u64;
    }
}

/// 1 MiB per read.
const READ_SIZE: usize = 1 << 20;
