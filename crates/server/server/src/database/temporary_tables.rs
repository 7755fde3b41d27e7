//! Temporary tables, which are in the temporary schema of the session's connection to the database in use.

use rusqlite::types::Value as SqliteValue;
use rusqlite::{Connection, params_from_iter};
use selenite_compiler::SqlError;
use selenite_compiler::definition::quoted;
use selenite_runtime::sqlite::tsql_error;

use crate::database::database_connection::DatabaseConnection;

/// Moves all of them to another database: they are the session's, whatever database is in use.
///
/// # Errors
/// 40510 within a transaction that has written; SQLite's error: then they stay where they are.
pub fn move_all(from: &DatabaseConnection, to: &DatabaseConnection, is_writing: bool) -> Result<(), SqlError> {
    let made = definitions(&from.connection).map_err(|error| tsql_error(&error))?;
    if made.is_empty() {
        return Ok(());
    }
    if is_writing {
        return Err(SqlError::unsupported(
            "USE of another database within a transaction that has written, while there are temporary tables or table \
             variables",
        ));
    }
    let copied = copy(&from.connection, &to.connection, &made).map_err(|error| tsql_error(&error));
    if copied.is_err() {
        let _ = drop_all(&to.connection, &made);
        return copied;
    }
    let temporary = from.temporary();
    let table_ids = temporary.tables().map(|table| table.table.object_id);
    from.shared.identities.move_counters(&to.shared.identities, table_ids);
    drop_all(&from.connection, &made).map_err(|error| tsql_error(&error))?;
    from.reload_temporary()?;
    to.reload_temporary()
}

/// Drops one, if it exists.
///
/// # Errors
/// SQLite's error.
pub fn drop_table(database: &DatabaseConnection, name: &str) -> Result<(), SqlError> {
    let Some(table) = database.temporary().temporary_table(name).cloned() else {
        return Ok(());
    };
    let sql = format!("DROP TABLE IF EXISTS temp.{}", quoted(&table.table.sqlite.name));
    database
        .connection
        .execute_batch(&sql)
        .map_err(|error| tsql_error(&error))?;
    crate::catalog::catalog_rows::remove(&database.connection, "temp", table.table.object_id)?;
    let id = table.table.object_id;
    database.shared.identities.forget(id, &database.identity_journal);
    Ok(())
}

/// A table or index of the temporary schema.
struct Made {
    is_table: bool,
    name: String,
    sql: String,
}

fn definitions(connection: &Connection) -> rusqlite::Result<Vec<Made>> {
    let mut statement = connection.prepare_cached(
        "SELECT type = 'table', name, sql FROM sqlite_temp_schema WHERE sql IS NOT NULL ORDER BY type = 'table' DESC, rowid",
    )?;
    let rows = statement.query_map([], |row| {
        Ok(Made {
            is_table: row.get(0)?,
            name: row.get(1)?,
            sql: row.get(2)?,
        })
    })?;
    rows.collect()
}

fn copy(from: &Connection, to: &Connection, made: &[Made]) -> rusqlite::Result<()> {
    for one in made.iter().filter(|one| one.is_table) {
        // SQLite keeps the statement without the schema, and with this word in front (sqlite.org/schematab.html).
        let behind = one.sql.strip_prefix("CREATE TABLE ").unwrap_or(&one.sql);
        to.execute_batch(&format!("CREATE TEMP TABLE {behind}"))?;
        let name = quoted(&one.name);
        let mut read = from.prepare(&format!("SELECT * FROM temp.{name}"))?;
        let count = read.column_count();
        let places = vec!["?"; count].join(", ");
        let mut write = to.prepare(&format!("INSERT INTO temp.{name} VALUES ({places})"))?;
        let mut rows = read.query([])?;
        while let Some(row) = rows.next()? {
            let values: Vec<SqliteValue> = (0..count).map(|at| row.get(at)).collect::<rusqlite::Result<_>>()?;
            write.execute(params_from_iter(values))?;
        }
    }
    // An index of a temporary table is temporary without the keyword.
    made.iter()
        .filter(|one| !one.is_table)
        .try_for_each(|one| to.execute_batch(&one.sql))
}

fn drop_all(connection: &Connection, made: &[Made]) -> rusqlite::Result<()> {
    made.iter()
        .filter(|one| one.is_table)
        .try_for_each(|one| connection.execute_batch(&format!("DROP TABLE IF EXISTS temp.{}", quoted(&one.name))))
}
