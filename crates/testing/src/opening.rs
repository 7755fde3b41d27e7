//! How a test opens a database.

use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use crate::{KeyFile, sim};

/// A URI to be.
#[derive(Clone, Debug)]
pub struct Opening {
    path: String,
    vfs: &'static str,
    parameters: Vec<(String, String)>,
}

impl Opening {
    /// An encrypted database.
    #[must_use]
    pub fn encrypted(path: &str, key: &KeyFile) -> Self {
        Self::plain(path)
            .through("selenite")
            .with("selenite_identity", &key.spec())
    }

    /// An unencrypted database, on the disk itself.
    #[must_use]
    pub fn plain(path: &str) -> Self {
        Self {
            path: path.to_owned(),
            vfs: "sim",
            parameters: Vec::new(),
        }
    }

    /// The same, through another VFS.
    #[must_use]
    pub fn through(mut self, vfs: &'static str) -> Self {
        self.vfs = vfs;
        self
    }

    /// The same, with a parameter.
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

    /// Where it is.
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

    /// Opens it on the thread's disk. It does not wait for locks: a test has no time.
    ///
    /// # Errors
    /// SQLite's.
    pub fn connect(&self) -> rusqlite::Result<Connection> {
        sim::install();
        let connection = Connection::open_with_flags(self.uri(), OpenFlags::default() | OpenFlags::SQLITE_OPEN_URI)?;
        connection.busy_timeout(Duration::ZERO)?;
        Ok(connection)
    }

    /// Attaches it to a connection.
    ///
    /// # Errors
    /// SQLite's.
    pub fn attach(&self, connection: &Connection, schema: &str) -> rusqlite::Result<()> {
        connection.execute(&format!("ATTACH ?1 AS {schema}"), [self.uri()])?;
        Ok(())
    }
}

/// Why Selenite last refused something, in this process.
#[must_use]
pub fn last_error() -> Option<String> {
    let connection = Connection::open_in_memory().ok()?;
    connection
        .query_row("SELECT selenite_last_error()", [], |row| row.get(0))
        .ok()?
}
