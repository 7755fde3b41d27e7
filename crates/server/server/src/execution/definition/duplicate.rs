//! Unique indexes over existing rows.

use rusqlite::ErrorCode;
use selenite_compiler::SqlError;
use selenite_compiler::definition::{ColumnDefinition, TableDefinition, quoted};
use selenite_runtime::sqlite::{stored_ref, tsql_error};
use selenite_types::storage::from_stored;
use selenite_types::text_of;

use super::{DefinitionContext, refusal};

impl DefinitionContext<'_> {
    /// Creates an index with SQLite's statements; duplicate rows are error 1505.
    pub(crate) fn make_unique(
        &self,
        statements: &[String],
        table: &TableDefinition,
        (index, columns, filter): (&str, &[(String, bool)], Option<&str>),
    ) -> Result<(), SqlError> {
        for sql in statements {
            let Err(error) = self.database.connection.execute_batch(sql) else {
                continue;
            };
            if error.sqlite_error_code() != Some(ErrorCode::ConstraintViolation) {
                return Err(tsql_error(&error));
            }
            let value = self.duplicate(table, columns, filter)?;
            let name = format!("{}.{}", table.schema, table.name);
            return Err(refusal::duplicate_key(&name, index, &value));
        }
        Ok(())
    }

    /// A key that more than one row has, as messages show it.
    fn duplicate(
        &self,
        table: &TableDefinition,
        columns: &[(String, bool)],
        filter: Option<&str>,
    ) -> Result<String, SqlError> {
        let listed: Vec<String> = columns.iter().map(|(name, _)| quoted(name)).collect();
        let keys = columns.iter().map(|(name, _)| {
            table
                .column(name)
                .map_or_else(|| quoted(name), ColumnDefinition::index_key)
        });
        let keys: Vec<String> = keys.collect();
        let (listed, keys) = (listed.join(", "), keys.join(", "));
        let wheres = filter.map_or_else(String::new, |filter| format!(" WHERE {filter}"));
        let sql = format!(
            "SELECT {listed} FROM {}.{}{wheres} GROUP BY {keys} HAVING count(*) > 1 LIMIT 1",
            self.place(&table.name),
            quoted(&table.file_name())
        );
        let read = |row: &rusqlite::Row<'_>| -> rusqlite::Result<Vec<String>> {
            let mut told = Vec::with_capacity(columns.len());
            for (at, (name, _)) in columns.iter().enumerate() {
                let declared = table.column(name).and_then(|column| column.data_type);
                let value = declared.and_then(|declared| {
                    let value = from_stored(stored_ref(row.get_ref(at).ok()?), &declared).ok()?;
                    text_of(&value, &declared)
                });
                told.push(value.unwrap_or_else(|| "<NULL>".to_owned()));
            }
            Ok(told)
        };
        let told = self
            .database
            .connection
            .query_row(&sql, [], read)
            .map_err(|error| tsql_error(&error))?;
        Ok(told.join(", "))
    }
}
