//! A digest of all rows of all tables: equal for two databases only if their rows are equal.

use std::fmt::Write;

use rusqlite::Connection;
use rusqlite::types::ValueRef;
use sha2::{Digest as _, Sha256};

use crate::WorkerError;
use crate::protocol::Digest;

/// Reads every row of every table: tables by name, rows by rowid, values with their types.
///
/// # Errors
/// Errors of SQLite.
pub fn of(connection: &Connection) -> Result<Digest, WorkerError> {
    let mut hash = Sha256::new();
    let mut total = 0;
    for table in tables(connection)? {
        text(&mut hash, b'T', table.as_bytes());
        let quoted = table.replace('"', "\"\"");
        let mut statement = connection.prepare(&format!("SELECT rowid, * FROM \"{quoted}\" ORDER BY rowid"))?;
        let columns = statement.column_count();
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            hash.update([b'R']);
            for column in 0..columns {
                value(&mut hash, row.get_ref(column)?);
            }
            total += 1;
        }
    }
    let mut digest = String::with_capacity(64);
    for byte in hash.finalize() {
        let _ = write!(digest, "{byte:02x}");
    }
    Ok(Digest { digest, rows: total })
}

fn tables(connection: &Connection) -> Result<Vec<String>, WorkerError> {
    let mut statement = connection.prepare(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name",
    )?;
    let names = statement.query_map([], |row| row.get(0))?;
    Ok(names.collect::<Result<_, _>>()?)
}

fn value(hash: &mut Sha256, value: ValueRef<'_>) {
    match value {
        ValueRef::Null => hash.update([b'n']),
        ValueRef::Integer(number) => {
            hash.update([b'i']);
            hash.update(number.to_be_bytes());
        }
        ValueRef::Real(number) => {
            hash.update([b'r']);
            hash.update(number.to_be_bytes());
        }
        ValueRef::Text(bytes) => text(hash, b't', bytes),
        ValueRef::Blob(bytes) => text(hash, b'b', bytes),
    }
}

fn text(hash: &mut Sha256, kind: u8, bytes: &[u8]) {
    hash.update([kind]);
    hash.update((bytes.len() as u64).to_be_bytes());
    hash.update(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(sql: &str) -> Digest {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(sql).unwrap();
        of(&connection).unwrap()
    }

    #[test]
    fn every_value_type_table_and_row_number_counts() {
        let digests = [
            digest(""),
            digest("CREATE TABLE a(x)"),
            digest("CREATE TABLE b(x)"),
            digest("CREATE TABLE a(x); INSERT INTO a VALUES (1)"),
            digest("CREATE TABLE a(x); INSERT INTO a VALUES ('1')"),
            digest("CREATE TABLE a(x); INSERT INTO a VALUES (x'31')"),
            digest("CREATE TABLE a(x); INSERT INTO a VALUES (1.0)"),
            digest("CREATE TABLE a(x); INSERT INTO a VALUES (NULL)"),
            digest("CREATE TABLE a(x); INSERT INTO a(rowid, x) VALUES (2, 1)"),
            digest("CREATE TABLE a(x); CREATE TABLE b(x); INSERT INTO b VALUES (1)"),
        ];
        for (index, one) in digests.iter().enumerate() {
            assert_eq!(one.digest.len(), 64);
            assert!(digests[index + 1..].iter().all(|other| other.digest != one.digest));
        }
        assert_eq!(digests[3].rows, 1);
    }

    #[test]
    fn the_order_in_which_tables_and_rows_were_made_does_not_count() {
        let one = digest("CREATE TABLE a(x); CREATE TABLE b(x); INSERT INTO a(rowid, x) VALUES (1, 1), (2, 2)");
        let other = digest("CREATE TABLE b(x); CREATE TABLE a(x); INSERT INTO a(rowid, x) VALUES (2, 2), (1, 1)");
        assert_eq!(one, other);
    }
}
