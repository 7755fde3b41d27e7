//! A table that is recreated, since SQLite can't change it (sqlite.org/lang_altertable.html#otheralter).
//!
//! - `foreign-keys-are-off`: SQLite does not check foreign keys meanwhile. The switch is one of the
//!   connection's configuration, which works inside a transaction, unlike the pragma. None of our
//!   constraints is deferred, so no open violations are counted.
//! - `references-stay`: the new table has the old one's name when SQLite checks foreign keys again,
//!   so that references to the old table now refer to it.

use std::sync::Arc;

use rusqlite::config::DbConfig;
use selenite_compiler::SqlError;
use selenite_compiler::catalog::{SqliteName, Table};
use selenite_compiler::definition::{
    ColumnSource, IndexDefinition, Rebuild, TableDefinition, TableLocation, bracketed, index_name, null_index_name,
    quoted,
};
use selenite_runtime::sqlite::tsql_error;
use selenite_types::DataType;

use super::DefinitionContext;
use crate::catalog::schema::SchemaTable;
use crate::database::database_connection::DatabaseConnection;

impl DefinitionContext<'_> {
    /// Recreates `old` as `new`, with its rows and indexes.
    pub(crate) fn rebuild(&self, old: &SchemaTable, new: &TableDefinition, how: &Rebuild) -> Result<(), SqlError> {
        if old.times == (0, 0) {
            return Err(SqlError::unsupported(
                "ALTER TABLE of a table that SQLite has made, other than to add a column",
            ));
        }
        let (schema, file_name) = (self.place(&new.name), new.file_name());
        let strange = self.strange_indexes(old)?;
        let keys = KeysOff::new(self.database)?;
        self.execute(&new.sqlite_table(schema, NEW))?;
        self.copy(old, new, how)?;
        let (old_name, new_name) = (quoted(&old.table.sqlite.name), quoted(NEW));
        self.execute(&format!("DROP TABLE {schema}.{old_name}"))?;
        self.execute(&format!("ALTER TABLE {schema}.{new_name} RENAME TO {old_name}"))?;
        for key in new.keys.iter().filter(|key| !key.is_in_table) {
            let names = [
                index_name(&file_name, &key.name),
                null_index_name(&file_name, &key.name),
            ];
            let is_its = |sql: &String| {
                names
                    .iter()
                    .any(|name| sql.contains(&format!("INDEX {} ", quoted(name))))
            };
            let statements: Vec<String> = new.sqlite_keys().into_iter().filter(is_its).collect();
            self.make_unique(&statements, new, (&key.name, &key.columns, None))?;
        }
        for (_, index) in &old.indexes {
            self.make_unique_index(index, new)?;
        }
        for sql in strange {
            self.execute(&sql)?;
        }
        keys.end()?;
        self.check_foreign_keys(new)
    }

    /// Indexes that were created with SQLite alone. Triggers would be lost: they are refused.
    fn strange_indexes(&self, old: &SchemaTable) -> Result<Vec<String>, SqlError> {
        let master = if self.place(&old.definition.name) == super::TEMP {
            "sqlite_temp_schema"
        } else {
            "sqlite_schema"
        };
        let name = &old.table.sqlite.name;
        let read = || -> rusqlite::Result<Vec<(String, String, Option<String>)>> {
            let sql =
                format!("SELECT type, name, sql FROM {master} WHERE tbl_name = ?1 COLLATE NOCASE AND type <> 'table'");
            let mut statement = self.database.connection.prepare(&sql)?;
            let rows = statement.query_map([name], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
            rows.collect()
        };
        let found = read().map_err(|error| tsql_error(&error))?;
        if found.iter().any(|(kind, _, _)| kind == "trigger") {
            return Err(SqlError::unsupported(
                "ALTER TABLE of a table with triggers of SQLite's",
            ));
        }
        let keys = old.definition.keys.iter().map(|key| key.name.as_str());
        let indexes = old
            .indexes
            .iter()
            .map(|(_, index): &(i32, IndexDefinition)| index.name.as_str());
        let own: Vec<String> = keys
            .chain(indexes)
            .flat_map(|index| [index_name(name, index), null_index_name(name, index)])
            .collect();
        let strange = found.into_iter().filter(|(_, name, _)| !own.contains(name));
        Ok(strange.filter_map(|(_, _, sql)| sql).collect())
    }

    /// Unchanged rows are copied by SQLite; rows whose columns are converted, filled or numbered are processed by
    /// T-SQL.
    fn copy(&self, old: &SchemaTable, new: &TableDefinition, how: &Rebuild) -> Result<(), SqlError> {
        let is_plain = |copied: &ColumnSource| match copied {
            ColumnSource::Same(_) | ColumnSource::Null => true,
            ColumnSource::Converted { old, new, .. } => is_same_form(old, new),
            ColumnSource::Value(_) | ColumnSource::Numbered | ColumnSource::Generated => false,
        };
        if how.columns.iter().all(|(_, copied)| is_plain(copied)) {
            return self.copy_as_it_is(old, new, how);
        }
        let place = |name: &str| TableLocation {
            database: self.database_name(&new.name).to_owned(),
            sqlite: SqliteName {
                schema: self.place(&new.name).to_owned(),
                name: name.to_owned(),
            },
            object_id: old.table.object_id,
        };
        let mut plain = new.clone();
        plain.columns.retain(|column| column.computed.is_none());
        plain.keys.clear();
        plain.checks.clear();
        plain.foreign_keys.clear();
        keep_row_version(&mut plain, how);
        let target = plain.table(&place(NEW), &[], |_| Err(SqlError::internal("a computed column")))?;
        // Messages have to contain the table's name: so the old one has another here.
        let source = Table {
            name: SOURCE.to_owned(),
            ..(*old.table).clone()
        };
        let (mut columns, mut values, mut is_numbered) = (Vec::new(), Vec::new(), false);
        for (name, copied) in &how.columns {
            let value = match copied {
                ColumnSource::Same(from) | ColumnSource::Converted { from, .. } => bracketed(from),
                ColumnSource::Value(value) => format!("({value})"),
                ColumnSource::Null => "NULL".to_owned(),
                ColumnSource::Numbered => {
                    is_numbered = true;
                    continue;
                }
                ColumnSource::Generated => continue,
            };
            columns.push(bracketed(name));
            values.push(value);
        }
        let (columns, values) = (columns.join(", "), values.join(", "));
        let text = format!(
            "INSERT INTO {} ({columns}) SELECT {values} FROM [{SOURCE}]",
            bracketed(&new.name)
        );
        let given = target.identity().is_some() && !is_numbered;
        if is_numbered {
            // The numbers of another column do not concern this one.
            let (identities, journal) = (&self.database.shared.identities, &self.database.identity_journal);
            identities.restart(&self.database.connection, &target, journal)?;
        }
        self.run(
            &text,
            self.few(vec![Arc::new(target), Arc::new(source)]),
            given.then_some(old.table.object_id),
        )?;
        Ok(())
    }

    fn copy_as_it_is(&self, old: &SchemaTable, new: &TableDefinition, how: &Rebuild) -> Result<(), SqlError> {
        let (mut columns, mut values) = (Vec::new(), Vec::new());
        for (name, copied) in &how.columns {
            let from = match copied {
                ColumnSource::Same(from) | ColumnSource::Converted { from, .. } => from,
                ColumnSource::Null | ColumnSource::Value(_) | ColumnSource::Numbered | ColumnSource::Generated => {
                    continue;
                }
            };
            columns.push(quoted(name));
            values.push(quoted(from));
        }
        let (mut columns, mut values) = (columns.join(", "), values.join(", "));
        // Rows keep their order, which is that of SQLite's rowid unless a key determines it.
        if let Some(row_id) = old.table.row_id()
            && new.row_id_column().is_none()
            && old.definition.row_id_column().is_none()
            && new.column(row_id).is_none()
        {
            columns = format!("{row_id}, {columns}");
            values = format!("{row_id}, {values}");
        }
        let schema = self.place(&new.name);
        let (to, from) = (quoted(NEW), quoted(&old.table.sqlite.name));
        self.execute(&format!(
            "INSERT INTO {schema}.{to} ({columns}) SELECT {values} FROM {schema}.{from}"
        ))
    }
}

/// A rowversion that is copied is one of bytes meanwhile, which may be given values.
fn keep_row_version(plain: &mut TableDefinition, how: &Rebuild) {
    for column in &mut plain.columns {
        let copied = how.columns.iter().find(|(name, _)| *name == column.name);
        let is_copied = copied.is_some_and(|(_, copied)| matches!(copied, ColumnSource::Same(_)));
        if is_copied && column.data_type == Some(DataType::RowVersion) {
            column.data_type = Some(DataType::Binary(8));
        }
    }
}

/// Whether each value of one type is stored like the same value of the other: then nothing has to be converted or
/// cut.
fn is_same_form(old: &DataType, new: &DataType) -> bool {
    use selenite_types::Width;
    let is_wider = |old: &Width, new: &Width| match (old, new) {
        (_, Width::Max) => true,
        (Width::Max, Width::Limited(_)) => false,
        (Width::Limited(old), Width::Limited(new)) => old <= new,
    };
    match (old, new) {
        (DataType::VarChar(old), DataType::VarChar(new) | DataType::NVarChar(new))
        | (DataType::NVarChar(old), DataType::NVarChar(new))
        | (DataType::VarBinary(old), DataType::VarBinary(new)) => is_wider(old, new),
        (DataType::TinyInt, DataType::SmallInt | DataType::Int | DataType::BigInt)
        | (DataType::SmallInt, DataType::Int | DataType::BigInt)
        | (DataType::Int, DataType::BigInt) => true,
        _ => old == new,
    }
}

/// Foreign keys are not checked while it lives (`foreign-keys-are-off`).
struct KeysOff<'a>(Option<&'a DatabaseConnection>);

impl<'a> KeysOff<'a> {
    fn new(database: &'a DatabaseConnection) -> Result<Self, SqlError> {
        set_keys(database, false)?;
        Ok(Self(Some(database)))
    }

    fn end(mut self) -> Result<(), SqlError> {
        match self.0.take() {
            Some(database) => set_keys(database, true),
            None => Ok(()),
        }
    }
}

impl Drop for KeysOff<'_> {
    fn drop(&mut self) {
        if let Some(database) = self.0.take() {
            // An error is being returned already, and the statement is undone; a switch can fail only for an invalid
            // connection.
            let _ = set_keys(database, true);
        }
    }
}

fn set_keys(database: &DatabaseConnection, is_on: bool) -> Result<(), SqlError> {
    let connection = &database.connection;
    let set = || -> rusqlite::Result<()> {
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY, is_on)?;
        // Otherwise a rename checks the whole schema, and changes what refers to the name.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_LEGACY_ALTER_TABLE, !is_on)?;
        Ok(())
    };
    set().map_err(|error| tsql_error(&error))
}

/// The table while it is created.
const NEW: &str = "selenite_new";
/// The old table, as the statement that copies it names it.
const SOURCE: &str = "selenite_old";
