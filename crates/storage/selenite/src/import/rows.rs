//! Copies a database table by table, where VACUUM INTO would keep more reserved bytes in each page
//! than an encrypted page has room for: SQLCipher's 80.
//!
//! The order is that of VACUUM (`sqlite3RunVacuum` in vacuum.c): tables, rows, then what has no
//! rows of its own. Rowids are kept.

use std::path::Path;
use std::sync::Arc;

use rusqlite::Connection;

use super::vfs::Handle;
use crate::watch::Phase;
use crate::{Access, Database, EngineError, FileUri, Watch};

/// Copies `source`, whose handle it is, into a new database at `target`.
pub fn copy(
    source: &Database,
    (target, uri): (&Path, &FileUri),
    (handle, access): (&Arc<Handle>, &Access),
    watch: &Watch,
) -> Result<(), EngineError> {
    let encoding = source.text("PRAGMA main.encoding")?;
    let mut copy = Database::connect(target, uri, access)?;
    let (stop, file, total) = (watch.clone(), target.to_owned(), handle.pages()?.size());
    copy.on_progress(move || {
        // stat, not open: closing it again would drop SQLite's locks.
        let done = std::fs::metadata(&file).map_or(0, |metadata| metadata.len());
        stop.report(Phase::Copying, done.min(total), total);
        stop.is_interrupted()
    })?;
    let source_uri = handle.uri(source.path());
    let copied = copy_all(copy.connection(), &source_uri, &encoding);
    copied.map_err(|error| crate::sqlite_error::translate_either(error, source.path(), Some(target)))?;
    watch.report(Phase::Copying, total, total);
    copy.close()
}

fn copy_all(copy: &Connection, source: &FileUri, encoding: &str) -> Result<(), rusqlite::Error> {
    copy.pragma_update(None, "encoding", encoding)?;
    copy.execute("ATTACH ?1 AS source", [source.as_str()])?;
    // As VACUUM: what is there is copied, whether it keeps to its constraints or not. The names of
    // SQLite's own tables are allowed while the schema can be written.
    copy.execute_batch(
        "PRAGMA main.synchronous = OFF; PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF;
         PRAGMA writable_schema = ON; BEGIN",
    )?;
    for name in ["user_version", "application_id"] {
        let value: i64 = copy.query_row(&format!("PRAGMA source.{name}"), [], |row| row.get(0))?;
        copy.execute_batch(&format!("PRAGMA main.{name} = {value}"))?;
    }
    for (_, sql) in entries(copy, "type = 'table' AND name <> 'sqlite_sequence' AND rootpage > 0")? {
        define(copy, &sql)?;
    }
    for (name, _) in entries(copy, "type = 'table' AND name <> 'sqlite_sequence' AND rootpage > 0")? {
        copy.execute(&insertion(copy, &name)?, [])?;
    }
    // The insertions have filled it, too.
    if !entries(copy, "name = 'sqlite_sequence'")?.is_empty() {
        copy.execute_batch(
            "DELETE FROM main.sqlite_sequence;
             INSERT INTO main.sqlite_sequence (rowid, name, seq) SELECT rowid, name, seq FROM source.sqlite_sequence",
        )?;
    }
    for (_, sql) in entries(copy, "type = 'index' AND sql IS NOT NULL")? {
        define(copy, &sql)?;
    }
    copy.execute_batch(
        "INSERT INTO main.sqlite_schema SELECT * FROM source.sqlite_schema
           WHERE type IN ('view', 'trigger') OR (type = 'table' AND rootpage = 0);
         COMMIT; PRAGMA writable_schema = RESET; DETACH source",
    )
}

/// Names and definitions in the order in which they were made.
fn entries(copy: &Connection, filter: &str) -> Result<Vec<(String, String)>, rusqlite::Error> {
    let sql = format!("SELECT name, coalesce(sql, '') FROM source.sqlite_schema WHERE {filter} ORDER BY rowid");
    let mut statement = copy.prepare(&sql)?;
    let found = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    found.collect()
}

/// Runs a definition of the source's schema, which SQLite has accepted when it read that schema.
fn define(copy: &Connection, sql: &str) -> Result<(), rusqlite::Error> {
    if !sql.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("CREATE ")) {
        return Err(rusqlite::Error::InvalidQuery);
    }
    copy.execute(sql, []).map(drop)
}

/// The statement that copies a table's rows. Without named columns SQLite copies records as they
/// are (<https://sqlite.org/lang_vacuum.html>; `xferOptimization` in insert.c), but gives new
/// rowids if no column is one.
fn insertion(copy: &Connection, name: &str) -> Result<String, rusqlite::Error> {
    let mut statement = copy.prepare("SELECT name, hidden, pk FROM pragma_table_xinfo(?1, 'source')")?;
    let columns = statement.query_map([name], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let columns: Vec<(String, i64, i64)> = columns.collect::<Result<_, _>>()?;
    let has_rowid: bool = copy.query_row(
        "SELECT NOT wr FROM pragma_table_list(?1) WHERE schema = 'source'",
        [name],
        |row| row.get(0),
    )?;
    let has_key_index: bool = copy.query_row(
        "SELECT EXISTS (SELECT 1 FROM pragma_index_list(?1, 'source') WHERE origin = 'pk')",
        [name],
        |row| row.get(0),
    )?;
    let has_key = columns.iter().any(|(_, _, pk)| *pk > 0);
    let is_rowid_column = has_rowid && has_key && !has_key_index;
    let is_generated = columns.iter().any(|(_, hidden, _)| *hidden > 0);
    let table = quote(name);
    if (is_rowid_column || !has_rowid) && !is_generated {
        return Ok(format!("INSERT INTO main.{table} SELECT * FROM source.{table}"));
    }
    let is_taken = |alias: &&str| columns.iter().any(|(column, ..)| column.eq_ignore_ascii_case(alias));
    let alias = ["rowid", "_rowid_", "oid"].into_iter().find(|alias| !is_taken(alias));
    let rowid = alias.filter(|_| has_rowid && !is_rowid_column).map(str::to_owned);
    let stored = columns.iter().filter(|(_, hidden, _)| *hidden == 0);
    let names: Vec<String> = rowid
        .into_iter()
        .chain(stored.map(|(column, ..)| quote(column)))
        .collect();
    let names = names.join(", ");
    let order = if has_rowid {
        alias.map_or(String::new(), |alias| format!(" ORDER BY {alias}"))
    } else {
        String::new()
    };
    Ok(format!(
        "INSERT INTO main.{table} ({names}) SELECT {names} FROM source.{table} NOT INDEXED{order}"
    ))
}

fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
