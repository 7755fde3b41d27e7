//! The settings with which a test opens a database.

use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use crate::{KeyFile, sim};

/// A URI under construction.
#[derive(Clone, Debug)]
pub struct Opening {
    path: String,
    vfs: &'static str,
    parameters: Vec<(String, String)>,
}

impl Opening {
    /// The settings of an encrypted database.
    #[must_use]
    pub fn encrypted(path: &str, key: &KeyFile) -> Self {
        Self::plain(path)
            .through("selenite")
            .with("selenite_identity", &key.spec())
    }

    /// The settings of an unencrypted database, directly on the disk.
    #[must_use]
    pub fn plain(path: &str) -> Self {
        Self {
            path: path.to_owned(),
            vfs: "sim",
            parameters: Vec::new(),
        }
    }

    /// The same settings, with another VFS.
    #[must_use]
    pub fn through(mut self, vfs: &'static str) -> Self {
        self.vfs = vfs;
        self
    }

    /// The same settings, with an additional parameter.
    #[must_use]
    pub fn with(mut self, key: &str, value: &str) -> Self {
        self.parameters.push((key.to_owned(), value.to_owned()));
        self
    }

    /// The same settings for another file.
    #[must_use]
    pub fn at(&self, path: &str) -> Self {
        Self {
            path: path.to_owned(),
            ..self.clone()
        }
    }

    /// The path of the database.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The URI.
    #[must_use]
    pub fn uri(&self) -> String {
        let mut uri = format!("file:{}?vfs={}", self.path, self.vfs);
        for (key, value) in &self.parameters {
            uri.push_str(&format!("&{key}={value}"));
        }
        uri
    }

    /// Opens the database on the thread's disk. It does not wait for locks: tests do not sleep.
    ///
    /// # Errors
    /// Those of SQLite.
    pub fn connect(&self) -> rusqlite::Result<Connection> {
        sim::install();
        let connection = Connection::open_with_flags(self.uri(), OpenFlags::default() | OpenFlags::SQLITE_OPEN_URI)?;
        connection.busy_timeout(Duration::ZERO)?;
        Ok(connection)
    }

    /// Attaches the database to a connection.
    ///
    /// # Errors
    /// Those of SQLite.
    pub fn attach(&self, connection: &Connection, schema: &str) -> rusqlite::Result<()> {
        connection.execute(&format!("ATTACH ?1 AS {schema}"), [self.uri()])?;
        Ok(())
    }
}

/// The message of Selenite's last error in this process.
#[must_use]
pub fn last_error() -> Option<String> {
    let connection = Connection::open_in_memory().ok()?;
    connection
        .query_row("SELECT selenite_last_error()", [], |row| row.get(0))
        .ok()?
}
