//! Rows of another database, copied into the temporary schema of the one that a statement runs in.
//!
//! B1. They are read by the session's own connection to that database: what it has written in an open transaction is seen, and nothing
//!     that others have not committed. All tables of one database are read in one of SQLite's transactions.
//! B2. A copy has the stored columns of its original in their storage forms, as they are, and neither keys nor checks: what does not
//!     fit is told by the statement, under the original's name.
//! B3. Copies are written by statements that nothing interrupts, since SQLite would roll back all of the transaction with them
//!     (sqlite.org/c3ref/interrupt.html); the reading is what an ATTENTION ends.
//! B4. They lie where temporary tables do, and are dropped when the statement ends.

use std::sync::Arc;

use rusqlite::Connection;
use rusqlite::types::ToSqlOutput;
use selenite_compiler::PlanError;
use selenite_compiler::catalog::Table;
use selenite_compiler::definition::{ColumnDefinition, TableDefinition, quoted};
use selenite_runtime::sqlite::{trouble, within_memory};

use crate::database::open_database::OpenDatabase;
use crate::database::transaction::execute;

/// A table whose rows a statement reads in another database.
#[derive(Clone, Debug)]
pub struct Borrowed {
    /// The database that it is read from; of the session's own tables, the one in use.
    pub database_id: i32,
    /// The table there.
    pub original: Arc<Table>,
    /// Its copy.
    pub copy: Arc<Table>,
}

/// Copies all of `tables`, which are of one database.
///
/// # Errors
/// What SQLite says.
pub fn lend(source: &OpenDatabase, home: &OpenDatabase, tables: &[&Borrowed]) -> Result<(), PlanError> {
    let is_alone = source.connection.is_autocommit();
    if is_alone {
        execute(source, "BEGIN")?;
    }
    let done = home.undisturbed(|| {
        tables.iter().try_for_each(|table| {
            // The copy lies in memory, however large the table is.
            within_memory(&mut || table.copy(&source.connection, &home.connection)).map_err(|error| trouble(&error))
        })
    });
    if is_alone && !source.connection.is_autocommit() {
        // It has only read.
        execute(source, "COMMIT")?;
    }
    done
}

/// Drops the copies; those that are not there are none.
///
/// # Errors
/// What SQLite says.
pub fn give_back(home: &OpenDatabase, tables: &[Borrowed]) -> Result<(), PlanError> {
    tables.iter().try_for_each(|table| {
        let name = quoted(&table.copy.sqlite.name);
        home.connection
            .execute_batch(&format!("DROP TABLE IF EXISTS temp.{name}"))
            .map_err(|error| trouble(&error))
    })
}

impl Borrowed {
    /// B2.
    fn definition(&self) -> TableDefinition {
        let stored = self.copy.columns.iter().filter(|column| column.computed.is_none());
        let columns = stored.map(|column| ColumnDefinition {
            name: column.name.clone(),
            data_type: Some(column.data_type),
            nullable: true,
            is_binary: column.collation.is_binary,
            identity: None,
            default: None,
            computed: None,
        });
        TableDefinition {
            name: self.copy.sqlite.name.clone(),
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
