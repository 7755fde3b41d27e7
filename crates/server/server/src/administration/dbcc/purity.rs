//! Values in the file that do not have their column's type: SQLite takes any value in any column.

use rusqlite::Connection;
use selenite_compiler::definition::quoted;
use selenite_runtime::sqlite::stored_ref;
use selenite_types::storage::from_stored;

use super::finding::{Finding, Findings};
use crate::catalog::schema::Schema;

/// Reads every value of a database's tables, or of one, which is named as SQLite names it.
///
/// # Errors
/// SQLite's.
pub(crate) fn check(
    connection: &Connection,
    schema: &Schema,
    table: Option<&str>,
    findings: &mut Findings,
) -> rusqlite::Result<()> {
    for one in schema.sorted_tables() {
        let one = &one.table;
        if table.is_some_and(|name| name != one.sqlite.name) {
            continue;
        }
        let columns: Vec<_> = one.columns.iter().filter(|column| column.computed.is_none()).collect();
        let names: Vec<String> = columns.iter().map(|column| quoted(&column.name)).collect();
        // Columns of all three of its names hide a rowid.
        let row_id = one.row_id().unwrap_or("NULL");
        let sql = format!(
            "SELECT {row_id}, {} FROM main.{}",
            names.join(", "),
            quoted(&one.sqlite.name)
        );
        let mut statement = connection.prepare(&sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let row_id: Option<i64> = row.get(0)?;
            for (at, column) in columns.iter().enumerate() {
                let Err(misfit) = from_stored(stored_ref(row.get_ref(at + 1)?), &column.data_type) else {
                    continue;
                };
                let finding = Finding {
                    number: 2570,
                    severity: 16,
                    text: format!(
                        "Row {} in object ID {} ('{}.{}'). Column \"{}\" value is out of range for data type \"{}\": {misfit}. Update column to a legal value.",
                        row_id.map_or_else(|| "of no number".to_owned(), |id| id.to_string()),
                        one.object_id,
                        one.schema,
                        one.name,
                        column.name,
                        column.data_type,
                    ),
                    page_no: None,
                };
                findings.error(false, finding);
            }
        }
    }
    Ok(())
}
