//! What pragmas answer.

use rusqlite::Connection;
use rusqlite::types::ValueRef;

/// The first column of all rows, joined by spaces; empty if there are none.
///
/// # Errors
/// What SQLite says.
pub fn answer(connection: &Connection, pragma: &str) -> Result<String, rusqlite::Error> {
    let mut statement = connection.prepare(&format!("PRAGMA {pragma}"))?;
    if statement.column_count() == 0 {
        return Ok(String::new());
    }
    let mut rows = statement.query([])?;
    let mut lines = Vec::new();
    while let Some(row) = rows.next()? {
        lines.push(match row.get_ref(0)? {
            ValueRef::Null => String::new(),
            ValueRef::Integer(number) => number.to_string(),
            ValueRef::Real(number) => number.to_string(),
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        });
    }
    Ok(lines.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_words_and_silence_are_texts() {
        let connection = Connection::open_in_memory().unwrap();
        assert_eq!(answer(&connection, "page_size").unwrap(), "4096");
        assert_eq!(answer(&connection, "journal_mode").unwrap(), "memory");
        assert_eq!(answer(&connection, "cache_size = 7").unwrap(), "");
        assert_eq!(answer(&connection, "no_such_pragma").unwrap(), "");
    }
}
