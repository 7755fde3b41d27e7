//! The order of columns in a table's records, queried from the new database, in which the table
//! was just created.

use super::record::FieldKind;
use crate::{Database, EngineError};

/// A table's columns in the order of its records.
pub struct TableLayout {
    /// The table.
    pub name: String,
    /// The columns that are in a record, in its order.
    pub columns: Vec<Column>,
    /// Whether rows have rowids.
    pub has_rowid: bool,
    /// The name by which the rowid can be set, if any.
    pub rowid_name: Option<String>,
}

/// A column.
#[derive(Clone)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Whether its value is computed: it can't be set.
    pub is_generated: bool,
    /// Whether it is the rowid: records have NULL in it.
    pub is_rowid: bool,
    /// Whether the record has it already: a key column under another collation.
    pub is_repeated: bool,
    is_not_null: bool,
    is_text: bool,
}

impl Column {
    /// Whether its value is given when a row is inserted.
    pub fn is_given(&self) -> bool {
        !self.is_generated && !self.is_rowid && !self.is_repeated
    }
}

impl TableLayout {
    /// Queries it.
    pub fn of(database: &Database, name: &str) -> Result<Self, EngineError> {
        Self::read(database, name).map_err(|error| database.error(error))
    }

    fn read(database: &Database, name: &str) -> Result<Self, rusqlite::Error> {
        let connection = database.connection();
        let has_rowid: bool = connection.query_row(
            "SELECT NOT wr FROM pragma_table_list(?1) WHERE schema = 'main'",
            [name],
            |row| row.get(0),
        )?;
        let key_index: Option<String> = connection.query_row(
            "SELECT max(name) FROM pragma_index_list(?1, 'main') WHERE origin = 'pk'",
            [name],
            |row| row.get(0),
        )?;
        let mut statement = connection.prepare(
            "SELECT cid, name, upper(type), \"notnull\", hidden, pk FROM pragma_table_xinfo(?1, 'main') WHERE hidden <> 2",
        )?;
        // An INTEGER PRIMARY KEY is the rowid itself: any other primary key has an index.
        let is_key_rowid = has_rowid && key_index.is_none();
        let mut columns = statement
            .query_map([name], |row| {
                let (kind, hidden, key): (String, i64, i64) = (row.get(2)?, row.get(4)?, row.get(5)?);
                let has = |word| kind.contains(word);
                let column = Column {
                    name: row.get(1)?,
                    is_generated: hidden == 3,
                    is_rowid: is_key_rowid && key > 0,
                    is_repeated: false,
                    is_not_null: row.get(3)?,
                    // sqlite.org/datatype3.html, 3.1.
                    is_text: !has("INT") && (has("CHAR") || has("CLOB") || has("TEXT")),
                };
                Ok((row.get(0)?, column))
            })?
            .collect::<Result<Vec<(i64, Column)>, _>>()?;
        let is_taken = |alias: &&str| {
            columns
                .iter()
                .any(|(_, column)| column.name.eq_ignore_ascii_case(alias))
        };
        let alias = ["rowid", "_rowid_", "oid"].into_iter().find(|alias| !is_taken(alias));
        let key = columns.iter().find(|(_, column)| column.is_rowid);
        let rowid_name = match (has_rowid, alias, key) {
            (false, _, _) | (true, None, None) => None,
            (true, Some(alias), _) => Some(alias.to_owned()),
            (true, None, Some((_, column))) => Some(column.name.clone()),
        };
        if let Some(index) = key_index.filter(|_| !has_rowid) {
            let mut statement = connection.prepare("SELECT cid FROM pragma_index_xinfo(?1, 'main') ORDER BY seqno")?;
            let order: Vec<i64> = statement
                .query_map([index], |row| row.get(0))?
                .collect::<Result<_, _>>()?;
            columns = in_order(&order, columns);
        }
        Ok(Self {
            name: name.to_owned(),
            columns: columns.into_iter().map(|(_, column)| column).collect(),
            has_rowid,
            rowid_name,
        })
    }

    /// Whether a record could be of this table. A record may lack columns that were added later.
    pub fn fits(&self, fields: &[FieldKind]) -> bool {
        fields.len() <= self.columns.len()
            && self.columns.iter().zip(fields).all(|(column, field)| match field {
                FieldKind::Null => column.is_rowid || !column.is_not_null,
                FieldKind::Integer(_) | FieldKind::Real | FieldKind::Constant(_) => !column.is_rowid && !column.is_text,
                FieldKind::Blob(_) | FieldKind::Text(_) => !column.is_rowid,
            })
    }
}

/// The columns of a table without rowids, whose records are those of its key's index: the key's
/// columns come first, and a column with two collations in the key appears twice
/// (`convertToWithoutRowidTable` in build.c).
fn in_order(order: &[i64], columns: Vec<(i64, Column)>) -> Vec<(i64, Column)> {
    let mut ordered: Vec<(i64, Column)> = Vec::with_capacity(order.len());
    for wanted in order {
        let is_repeated = ordered.iter().any(|(id, _)| id == wanted);
        if let Some((id, column)) = columns.iter().find(|(id, _)| id == wanted) {
            let column = column.clone();
            ordered.push((*id, Column { is_repeated, ..column }));
        }
    }
    ordered.extend(columns.into_iter().filter(|(id, _)| !order.contains(id)));
    ordered
}

/// A name, quoted for SQL.
pub fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
