//! What one SQLite library brings to a worker; everything else is the same for all of them.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use rusqlite::Connection;

use crate::WorkerError;
use crate::protocol::{CipherTime, DatabaseSpec, Hello, PLAIN, PROTOCOL};

/// An engine: a SQLite library with or without encryption.
///
/// Connections are handed out keyed, with the layout in force ([`crate::layout`]).
pub trait Engine: Sync {
    /// Who it is.
    ///
    /// # Errors
    /// Errors of SQLite.
    fn hello(&self) -> Result<Hello, WorkerError>;

    /// Opens a database that exists, and reads its first page, so that a wrong key is an error here.
    ///
    /// # Errors
    /// Errors of the engine and of SQLite.
    fn open(&self, database: &DatabaseSpec) -> Result<Connection, WorkerError>;

    /// Opens a database that exists as a program would: with its key, and without a layout, a check, or a first read.
    ///
    /// # Errors
    /// Errors of the engine and of SQLite.
    fn connect(&self, database: &DatabaseSpec) -> Result<Connection, WorkerError> {
        self.open(database)
    }

    /// Makes a new database with the page size asked for.
    ///
    /// # Errors
    /// Errors of the engine and of SQLite; where there is a file already.
    fn create(&self, database: &DatabaseSpec) -> Result<Connection, WorkerError>;

    /// What the engine says of the encryption of an open database.
    ///
    /// # Errors
    /// Errors of the engine and of SQLite.
    fn status(&self, connection: &Connection, database: &DatabaseSpec) -> Result<Status, WorkerError>;

    /// Writes a copy of a database, which is closed, as a new file of another cipher.
    ///
    /// # Errors
    /// Errors of the engine and of SQLite; [`WorkerError::Refused`] for what it can't do.
    fn convert(&self, source: &DatabaseSpec, target: &DatabaseSpec) -> Result<(), WorkerError> {
        vacuum_into(self, source, target)
    }

    /// Gives a database, which is closed and has a key, the one in another file, and re-encrypts every page of it.
    ///
    /// # Errors
    /// Errors of the engine and of SQLite; [`WorkerError::Refused`] for what it can't do.
    fn rekey(&self, database: &DatabaseSpec, key_file: &Path) -> Result<(), WorkerError> {
        let _ = key_file;
        Err(WorkerError::Refused(format!(
            "this engine can't change the key of {}",
            database.cipher
        )))
    }

    /// Backs a database, which is closed, up into a folder, as what may be kept elsewhere. An incremental backup
    /// rests on the newest that is there.
    ///
    /// # Errors
    /// Errors of the engine and of SQLite; [`WorkerError::Refused`] for what it can't do.
    fn back_up(&self, database: &DatabaseSpec, folder: &Path, incremental: bool) -> Result<(), WorkerError> {
        let _ = (folder, incremental);
        Err(no_backups(database))
    }

    /// Makes a database of the newest backup in a folder. Answers its cipher, which may be another than the one that
    /// was backed up.
    ///
    /// # Errors
    /// Errors of the engine and of SQLite; [`WorkerError::Refused`] for what it can't do.
    fn restore(&self, database: &DatabaseSpec, folder: &Path) -> Result<String, WorkerError> {
        let _ = folder;
        Err(no_backups(database))
    }

    /// Reads all pages of a database, which is closed, and authenticates them if the engine can. Answers how many bytes
    /// it read.
    ///
    /// # Errors
    /// What can't be read, or is not authentic.
    fn verify_physical(&self, database: &DatabaseSpec) -> Result<u64, WorkerError> {
        read_through(database)
    }

    /// How long the cipher itself takes for 4096 bytes, if the engine can tell.
    ///
    /// # Errors
    /// [`WorkerError::Refused`] for a cipher it has not.
    fn cipher_time(&self, cipher: &str) -> Result<Option<CipherTime>, WorkerError> {
        let _ = cipher;
        Ok(None)
    }

    /// The pages that SQLite read and wrote through this connection so far, if the engine can tell.
    fn page_counts(&self, connection: &Connection) -> Option<PageCounts> {
        let _ = connection;
        None
    }
}

/// What an engine says of a database's encryption.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// Names and values, for people.
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

/// Fills in what every engine says alike.
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
    })
}

/// A copy by `VACUUM INTO`, of an unencrypted database to one in clear.
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

/// Refuses to make a database where there is a file.
///
/// # Errors
/// [`WorkerError::Refused`].
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

/// Reads the file of a database from its first byte to its last. Answers how many there are.
///
/// # Errors
/// What can't be read.
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

/// 1 MiB at a time.
const READ_SIZE: usize = 1 << 20;
