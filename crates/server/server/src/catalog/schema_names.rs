//! The schemas of a database: those that every database has, and those of CREATE SCHEMA, in a table of its file.

use rusqlite::{Connection, OptionalExtension};
use selenite_compiler::definition::{SCHEMA, of_file_name};
use selenite_compiler::{Ends, SqlError, same_name};
use selenite_runtime::sqlite::tsql_error;

use crate::catalog::fixed_role::FixedRole;
use crate::catalog::grants;
use crate::catalog::permission_kind::Class;
use crate::catalog::system_relations::{INFORMATION, SYS};

/// The schemas of a database.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SchemaNames(Vec<SchemaRecord>);

/// A schema.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SchemaRecord {
    /// `schema_id` in sys.schemas.
    pub id: i32,
    /// Its name.
    pub name: String,
    /// The principal that owns it.
    pub owner: i32,
}

impl Default for SchemaNames {
    /// Those that every database has.
    fn default() -> Self {
        let own = [(SCHEMA, 1), (GUEST, 2), (INFORMATION, 3), (SYS, 4)];
        let roles = FixedRole::ALL.into_iter().map(|role| (role.name(), role.id()));
        let all = own.into_iter().chain(roles);
        let record = |(name, id): (&str, i32)| SchemaRecord {
            id,
            name: name.to_owned(),
            owner: id,
        };
        Self(all.map(record).collect())
    }
}

impl SchemaNames {
    /// Reads those of a connection's `main`.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn load(connection: &Connection) -> Result<Self, SqlError> {
        let mut all = Self::default();
        let read = || -> rusqlite::Result<Vec<SchemaRecord>> {
            let table = "SELECT 1 FROM main.sqlite_schema WHERE type = 'table' AND name = 'selenite_schema'";
            if connection.query_row(table, [], |_| Ok(())).optional()?.is_none() {
                return Ok(Vec::new());
            }
            let mut statement = connection.prepare("SELECT id, name, owner FROM main.selenite_schema ORDER BY id")?;
            let rows = statement.query_map([], |row| {
                Ok(SchemaRecord {
                    id: row.get(0)?,
                    name: row.get(1)?,
                    owner: row.get(2)?,
                })
            })?;
            rows.collect()
        };
        all.0.extend(read().map_err(|error| tsql_error(&error))?);
        all.0.sort_by_key(|schema| schema.id);
        Ok(all)
    }

    /// All of them, by rising id.
    pub fn all(&self) -> &[SchemaRecord] {
        &self.0
    }

    /// The schema of that name.
    pub fn named(&self, name: &str) -> Option<&SchemaRecord> {
        self.0.iter().find(|schema| same_name(&schema.name, name))
    }

    /// The schema of that id.
    pub fn of_id(&self, id: i32) -> Option<&SchemaRecord> {
        self.0.iter().find(|schema| schema.id == id)
    }

    /// The schema and name of an object that is called `stored` in the file. A name that is like one of another schema
    /// is one of `dbo` where there is no such schema.
    pub fn of_file_name(&self, stored: &str) -> (String, String) {
        let found = of_file_name(stored).and_then(|(schema, name)| Some((self.named(&schema)?, name)));
        match found {
            Some((schema, name)) => (schema.name.clone(), name.to_owned()),
            None => (SCHEMA.to_owned(), stored.to_owned()),
        }
    }

    /// The id of the schema of that name; that of `dbo` if there is none.
    pub fn id_of(&self, name: &str) -> i32 {
        self.named(name).map_or(1, |schema| schema.id)
    }
}

impl SchemaRecord {
    /// Whether objects of users may be in it.
    pub fn has_objects(&self) -> bool {
        ![INFORMATION, SYS].iter().any(|known| same_name(known, &self.name))
    }

    /// Whether every database has it.
    pub fn is_fixed(&self) -> bool {
        !(FIRST_ID..FIRST_FIXED_ID).contains(&self.id)
    }
}

/// Notes a new schema.
///
/// # Errors
/// SQLite's error.
pub fn add(connection: &Connection, name: &str, owner: i32) -> Result<(), SqlError> {
    let run = || -> rusqlite::Result<()> {
        connection.execute_batch(TABLE)?;
        let sql = "INSERT INTO main.selenite_schema (id, name, folded, owner) \
                   VALUES ((SELECT max(5, ifnull(max(id), 0) + 1) FROM main.selenite_schema), ?1, ?2, ?3)";
        connection.execute(sql, (name, crate::master::folded(name), owner))?;
        Ok(())
    };
    run().map_err(|error| tsql_error(&error))
}

/// Gives a schema to another principal; the permissions on it go, as in SQL Server.
///
/// # Errors
/// SQLite's error.
pub fn set_owner(connection: &Connection, id: i32, owner: i32) -> Result<(), SqlError> {
    let sql = "UPDATE main.selenite_schema SET owner = ?2 WHERE id = ?1";
    connection
        .execute(sql, (id, owner))
        .map_err(|error| tsql_error(&error))?;
    grants::forget(connection, Class::Schema, id)
}

/// Removes a schema, and the permissions on it.
///
/// # Errors
/// SQLite's error.
pub fn remove(connection: &Connection, id: i32) -> Result<(), SqlError> {
    let sql = "DELETE FROM main.selenite_schema WHERE id = ?1";
    connection.execute(sql, [id]).map_err(|error| tsql_error(&error))?;
    grants::forget(connection, Class::Schema, id)
}

/// 15151: a schema that does not exist; `verb` as in `drop`.
pub fn no_schema(verb: &str, name: &str) -> SqlError {
    let text = format!("Cannot {verb} the schema '{name}', because it does not exist or you do not have permission.");
    SqlError::new(15151, Ends::Statement, text)
}

const TABLE: &str = "
CREATE TABLE IF NOT EXISTS main.selenite_schema (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    folded TEXT NOT NULL UNIQUE,
    owner INTEGER NOT NULL
) STRICT;
";
/// The schema of the user of the same name.
pub const GUEST: &str = "guest";
/// Of a schema of CREATE SCHEMA.
const FIRST_ID: i32 = 5;
/// Of schemas of fixed roles.
const FIRST_FIXED_ID: i32 = 16_384;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_are_added_beside_those_of_every_database() {
        let connection = Connection::open_in_memory().unwrap();
        assert_eq!(SchemaNames::load(&connection).unwrap(), SchemaNames::default());
        add(&connection, "Sales", 1).unwrap();
        add(&connection, "b", 5).unwrap();
        let known = SchemaNames::load(&connection).unwrap();
        assert_eq!(known.named("SALES").unwrap().id, 5);
        assert_eq!(known.of_id(6).unwrap().owner, 5);
        assert_eq!(known.id_of("db_owner"), 16_384);
        assert!(known.all().is_sorted_by_key(|schema| schema.id));
        assert_eq!(known.all().len(), 15);
        let fixed = known.all().iter().filter(|schema| schema.is_fixed());
        assert_eq!(fixed.count(), 13);
        remove(&connection, 5).unwrap();
        assert!(SchemaNames::load(&connection).unwrap().named("sales").is_none());
    }
}
