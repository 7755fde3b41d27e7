//! The ids of databases.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension, Row};

use super::{DatabaseName, Master, MasterError, Unfinished, folded, now};

/// A database as the server knows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DatabaseRecord {
    /// Its id: 1 to 4 are master, tempdb, model and msdb.
    pub id: i32,
    /// Its name as it was created.
    pub name: String,
    /// When it was created: seconds since 1970-01-01 UTC.
    pub created: i64,
    /// The name that its file has, if the database was renamed.
    pub(super) file_name: String,
}

impl DatabaseRecord {
    /// Whether it is one of the server's own.
    #[must_use]
    pub fn is_reserved(&self) -> bool {
        self.id < FIRST_ID
    }

    /// Its file in the data folder: a database that is renamed keeps it.
    ///
    /// # Errors
    /// [`MasterError::Name`].
    pub fn path(&self, folder: &Path) -> Result<PathBuf, MasterError> {
        DatabaseName::path_of((&self.name, &self.file_name), folder)
    }
}

impl Master {
    /// All databases, by rising id, without those that are being created or removed.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn databases(&self) -> Result<Vec<DatabaseRecord>, MasterError> {
        self.with(|connection| {
            let mut statement = connection.prepare_cached(&format!("{SELECT} WHERE {IS_WHOLE} ORDER BY id"))?;
            let rows = statement.query_map([], record)?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// The database of that name, case-insensitively.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn database(&self, name: &str) -> Result<Option<DatabaseRecord>, MasterError> {
        self.with(|connection| find(connection, &format!("folded = ?1 AND {IS_WHOLE}"), &folded(name)))
    }

    /// The database of that id.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn database_of(&self, id: i32) -> Result<Option<DatabaseRecord>, MasterError> {
        self.with(|connection| find(connection, &format!("id = ?1 AND {IS_WHOLE}"), &id))
    }

    /// Gives a new database the lowest free id, from 5 up. It is not visible before [`Master::finish_file`]; the
    /// caller creates its file.
    ///
    /// # Errors
    /// [`MasterError::Taken`]; SQLite's error.
    pub fn add_database(&self, name: &DatabaseName) -> Result<DatabaseRecord, MasterError> {
        self.change(|connection| {
            if find(connection, "folded = ?1", &name.folded())?.is_some() {
                return Err(MasterError::Taken(name.as_str().to_owned()));
            }
            let record = DatabaseRecord {
                id: connection.query_row(FREE_ID, [], |row| row.get(0))?,
                name: name.as_str().to_owned(),
                created: now(),
                file_name: String::new(),
            };
            connection.execute(
                "INSERT INTO selenite_database (id, name, folded, created, unfinished) VALUES (?1, ?2, ?3, ?4, ?5)",
                (
                    record.id,
                    &record.name,
                    name.folded(),
                    record.created,
                    Unfinished::Creation.word(),
                ),
            )?;
            Ok(record)
        })
    }

    /// Gives a database another name, also where a login has it as its default database. Its file keeps its name.
    ///
    /// # Errors
    /// [`MasterError::Taken`]; [`MasterError::Unknown`]; [`MasterError::Reserved`]; SQLite's error.
    pub fn rename_database(&self, id: i32, name: &DatabaseName) -> Result<(), MasterError> {
        self.change(|connection| {
            let record = find(connection, &format!("id = ?1 AND {IS_WHOLE}"), &id)?;
            let record = record.ok_or_else(|| MasterError::Unknown(id.to_string()))?;
            if record.is_reserved() {
                return Err(MasterError::Reserved(record.name));
            }
            if find(connection, "folded = ?1", &name.folded())?.is_some_and(|other| other.id != id) {
                return Err(MasterError::Taken(name.as_str().to_owned()));
            }
            let file_name = if record.file_name.is_empty() {
                &record.name
            } else {
                &record.file_name
            };
            connection.execute(
                "UPDATE selenite_database SET name = ?2, folded = ?3, file_name = ?4 WHERE id = ?1",
                (id, name.as_str(), name.folded(), file_name),
            )?;
            super::logins::rename_default_database(connection, &record.name, name.as_str())
        })
    }

    /// Removes a database's records. The caller removes its file.
    ///
    /// # Errors
    /// [`MasterError::Unknown`]; [`MasterError::Reserved`]; SQLite's error.
    pub fn remove_database(&self, name: &str) -> Result<(), MasterError> {
        self.change(|connection| {
            let record = find(connection, "folded = ?1", &folded(name))?;
            let record = record.ok_or_else(|| MasterError::Unknown(name.to_owned()))?;
            if record.is_reserved() {
                return Err(MasterError::Reserved(record.name));
            }
            connection.execute("DELETE FROM selenite_database WHERE id = ?1", [record.id])?;
            Ok(())
        })
    }
}

fn find(
    connection: &Connection,
    condition: &str,
    value: &dyn rusqlite::ToSql,
) -> Result<Option<DatabaseRecord>, MasterError> {
    let sql = format!("{SELECT} WHERE {condition}");
    let mut statement = connection.prepare_cached(&sql)?;
    Ok(statement.query_row([value], record).optional()?)
}

fn record(row: &Row<'_>) -> rusqlite::Result<DatabaseRecord> {
    Ok(DatabaseRecord {
        id: row.get(0)?,
        name: row.get(1)?,
        created: row.get(2)?,
        file_name: row.get(3)?,
    })
}

const SELECT: &str = "SELECT id, name, created, file_name FROM selenite_database";
/// Neither being created nor being removed.
const IS_WHOLE: &str = "unfinished NOT IN ('create', 'drop')";
/// 1 to 4 are the server's own.
const FIRST_ID: i32 = 5;
/// The ids 1 to 4 always exist, so that there is a gap after one of them, or the end.
const FREE_ID: &str = "SELECT min(id) + 1 FROM selenite_database AS one WHERE id >= 4 \
    AND NOT EXISTS (SELECT 1 FROM selenite_database AS next WHERE next.id = one.id + 1)";
