//! Backups that this server has made: what an archive has no room for.

use rusqlite::{OptionalExtension, Row};

use super::{Master, MasterError};

/// The record of a backup.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BackupRecord {
    /// The archive's name, which is unique.
    pub archive: String,
    /// The database's name at that time.
    pub database: String,
    /// When the database was created: seconds since 1970-01-01 UTC.
    pub database_created: i64,
    /// The name given to the backup.
    pub name: Option<String>,
    /// Its description.
    pub description: Option<String>,
    /// Whether COPY_ONLY was specified.
    pub is_copy_only: bool,
    /// Whether its pages are compressed.
    pub is_compressed: bool,
    /// The login that made it.
    pub login: String,
    /// The server's name at that time.
    pub server: String,
    /// Its folder.
    pub place: String,
    /// When it began: seconds since 1970-01-01 UTC.
    pub started: i64,
    /// When it was complete.
    pub finished: i64,
}

impl Master {
    /// Notes a backup.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn add_backup(&self, record: &BackupRecord) -> Result<(), MasterError> {
        self.change(|connection| {
            connection.execute_batch(TABLE)?;
            connection.execute(
                "INSERT OR REPLACE INTO selenite_backup (archive, database, database_created, name, description, \
                 is_copy_only, is_compressed, login, server, place, started, finished) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
                (
                    &record.archive,
                    &record.database,
                    record.database_created,
                    &record.name,
                    &record.description,
                    record.is_copy_only,
                    record.is_compressed,
                    &record.login,
                    &record.server,
                    &record.place,
                    record.started,
                    record.finished,
                ),
            )?;
            Ok(())
        })
    }

    /// The record of an archive, if it was made here.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn backup(&self, archive: &str) -> Result<Option<BackupRecord>, MasterError> {
        self.with(|connection| {
            let table = "SELECT 1 FROM sqlite_schema WHERE name = 'selenite_backup'";
            if connection.query_row(table, [], |_| Ok(())).optional()?.is_none() {
                return Ok(None);
            }
            let sql = "SELECT archive, database, database_created, name, description, is_copy_only, is_compressed, login, \
                       server, place, started, finished FROM selenite_backup WHERE archive = ?1";
            Ok(connection.prepare_cached(sql)?.query_row([archive], record).optional()?)
        })
    }
}

fn record(row: &Row<'_>) -> rusqlite::Result<BackupRecord> {
    Ok(BackupRecord {
        archive: row.get(0)?,
        database: row.get(1)?,
        database_created: row.get(2)?,
        name: row.get(3)?,
        description: row.get(4)?,
        is_copy_only: row.get(5)?,
        is_compressed: row.get(6)?,
        login: row.get(7)?,
        server: row.get(8)?,
        place: row.get(9)?,
        started: row.get(10)?,
        finished: row.get(11)?,
    })
}

/// It was copied to a server that had no record of it.
const TABLE: &str = "
CREATE TABLE IF NOT EXISTS selenite_backup (
    archive TEXT PRIMARY KEY,
    database TEXT NOT NULL,
    database_created INTEGER NOT NULL,
    name TEXT,
    description TEXT,
    is_copy_only INTEGER NOT NULL,
    is_compressed INTEGER NOT NULL,
    login TEXT NOT NULL,
    server TEXT NOT NULL,
    place TEXT NOT NULL,
    started INTEGER NOT NULL,
    finished INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
";
