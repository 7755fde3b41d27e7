//! How a statement reads tables of other databases than the one it runs in, its *home*.
//!
//! - `attached-outside-transactions`: outside a transaction of the client's, the other database is attached to home's
//!   connection, read-only, for as long as the statement runs. It reads the tables where they are, with their
//!   indexes, in one of SQLite's read transactions.
//! - `copied-within-transactions`: within one, tables are copied into home's temporary schema. An attached database
//!   would keep its snapshot until COMMIT, and what the session has written through its own connection to that
//!   database would be missing (docs/decisions/0018-cross-database.md).
//! - `read-by-own-connection`: copies are read by the session's own connection to the other database, so its
//!   uncommitted changes are seen, and no one else's. All tables of one database are read in one of SQLite's
//!   transactions.
//! - `stored-columns-only`: a copy has the stored columns of its original in their storage forms, and neither keys
//!   nor checks. A value that does not fit its declared type is reported by the statement, under the original's name.
//! - `copying-is-not-interrupted`: copies are written by statements that nothing interrupts, because SQLite would
//!   roll back the whole transaction with them (sqlite.org/c3ref/interrupt.html). An ATTENTION ends the reading.
//! - `copies-are-temporary`: copies lie where temporary tables do, and are dropped when the statement ends.

use std::sync::Arc;

use rusqlite::Connection;
use rusqlite::limits::Limit;
use rusqlite::types::ToSqlOutput;
use selenite_compiler::SqlError;
use selenite_compiler::catalog::{SqliteName, Table};
use selenite_compiler::definition::{ColumnDefinition, SCHEMA, TableDefinition, quoted};
use selenite_runtime::sqlite::{tsql_error, within_memory};

use crate::Instance;
use crate::database::database_connection::DatabaseConnection;
use crate::database::expectation::open_expected;

/// How the tables of one other database are reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reach {
    /// `attached-outside-transactions`.
    Attached,
    /// `copied-within-transactions`.
    Copied,
}

/// A table of another database that a statement reads.
#[derive(Clone, Debug)]
pub struct CrossDatabaseTable {
    /// The id of that database; for the session's own tables, of the one in use.
    pub database_id: i32,
    /// How it is reached.
    pub reach: Reach,
    /// The table there.
    pub original: Arc<Table>,
    /// The table under the name that home has for it.
    pub local: Arc<Table>,
}

/// Databases that are attached to home's connection while a statement runs.
#[derive(Default)]
pub struct AttachedDatabases {
    ids: Vec<i32>,
}

impl AttachedDatabases {
    /// Attaches `source`, read-only.
    ///
    /// # Errors
    /// 945 and what else keeps it from being opened.
    pub fn attach(
        &mut self,
        instance: &Instance,
        source: &DatabaseConnection,
        home: &DatabaseConnection,
    ) -> Result<(), SqlError> {
        let record = &source.shared.record;
        let Some(path) = &source.shared.path else {
            return Err(SqlError::internal("a database without a file can't be attached"));
        };
        open_expected(instance, record, |access| {
            let uri = access.uri(path).with("mode", "ro");
            let sql = format!("ATTACH ?1 AS {}", attached_schema(record.id));
            home.connection.execute(&sql, [uri.as_str()])
        })?;
        self.ids.push(record.id);
        Ok(())
    }

    /// Detaches all of them. The statement that read them has ended, and its transaction with it.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn detach(self, home: &DatabaseConnection) -> Result<(), SqlError> {
        self.ids.iter().try_for_each(|id| {
            let sql = format!("DETACH {}", attached_schema(*id));
            home.connection.execute_batch(&sql).map_err(|error| tsql_error(&error))
        })
    }
}

/// How many databases SQLite attaches to a connection.
///
/// # Errors
/// What SQLite says.
pub fn attached_max(home: &DatabaseConnection) -> Result<usize, SqlError> {
    let limit = home.connection.limit(Limit::SQLITE_LIMIT_ATTACHED);
    let limit = limit.map_err(|error| tsql_error(&error))?;
    Ok(usize::try_from(limit).unwrap_or(0))
}

/// The schema by which home's connection knows an attached database.
pub fn attached_schema(database_id: i32) -> String {
    format!("selenite_attached_{database_id}")
}

/// Copies all of `tables`, which are of one database, if `check` takes its schema version.
///
/// # Errors
/// That of `check`; SQLite's error.
pub fn copy_all(
    source: &DatabaseConnection,
    home: &DatabaseConnection,
    tables: &[&CrossDatabaseTable],
    check: impl FnOnce(i64) -> Result<(), SqlError>,
) -> Result<(), SqlError> {
    let copy = || {
        tables.iter().try_for_each(|table| {
            // The copy lies in memory, however large the table is.
            within_memory(&mut || table.copy(&source.connection, &home.connection)).map_err(|error| tsql_error(&error))
        })
    };
    source.in_snapshot(|| {
        check(source.schema_version("main")?)?;
        home.undisturbed(copy)
    })
}

/// Drops the copies; those that are not there are none.
///
/// # Errors
/// What SQLite says.
pub fn drop_copies(home: &DatabaseConnection, tables: &[CrossDatabaseTable]) -> Result<(), SqlError> {
    let copied = tables.iter().filter(|table| table.reach == Reach::Copied);
    for table in copied {
        let name = quoted(&table.local.sqlite.name);
        home.connection
            .execute_batch(&format!("DROP TABLE IF EXISTS temp.{name}"))
            .map_err(|error| tsql_error(&error))?;
    }
    Ok(())
}

impl CrossDatabaseTable {
    /// The `number`th table of other databases that a statement names.
    pub fn new(database_id: i32, reach: Reach, original: Arc<Table>, number: usize) -> Self {
        let mut local = Table::clone(&original);
        local.sqlite = match reach {
            Reach::Attached => SqliteName {
                schema: attached_schema(database_id),
                name: original.sqlite.name.clone(),
            },
            Reach::Copied => SqliteName {
                schema: "temp".to_owned(),
                name: format!("selenite_copy_{number}"),
            },
        };
        Self {
            database_id,
            reach,
            original,
            local: Arc::new(local),
        }
    }

    /// `stored-columns-only`.
    fn definition(&self) -> TableDefinition {
        let stored = self.local.columns.iter().filter(|column| column.computed.is_none());
        let columns = stored.map(|column| ColumnDefinition {
            name: column.name.clone(),
            data_type: Some(column.data_type),
            user_type: None,
            nullable: true,
            collation: column.collation.named,
            identity: None,
            default: None,
            computed: None,
        });
        TableDefinition {
            schema: SCHEMA.to_owned(),
            name: self.local.sqlite.name.clone(),
            columns: columns.collect(),
            keys: Vec::new(),
            checks: Vec::new(),
            foreign_keys: Vec::new(),
            indexes: Vec::new(),
        }
    }

    fn copy(&self, source: &Connection, home: &Connection) -> rusqlite::Result<()> {
        let definition = self.definition();
        let copy = quoted(&definition.name);
        home.execute_batch(&format!("DROP TABLE IF EXISTS temp.{copy}"))?;
        home.execute_batch(&definition.sqlite_table("temp", &definition.name))?;
        let names: Vec<String> = definition.columns.iter().map(|column| quoted(&column.name)).collect();
        let original = &self.original.sqlite;
        let mut read = source.prepare(&format!(
            "SELECT {} FROM {}.{}",
            names.join(", "),
            quoted(&original.schema),
            quoted(&original.name)
        ))?;
        let places = vec!["?"; names.len()].join(", ");
        let mut write = home.prepare(&format!("INSERT INTO temp.{copy} VALUES ({places})"))?;
        let mut rows = read.query([])?;
        while let Some(row) = rows.next()? {
            for at in 0..names.len() {
                write.raw_bind_parameter(at + 1, ToSqlOutput::Borrowed(row.get_ref(at)?))?;
            }
            write.raw_execute()?;
        }
        Ok(())
    }
}
