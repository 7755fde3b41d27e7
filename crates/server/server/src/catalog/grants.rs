//! The permissions of a database that were granted or denied, in a table of its file.
//!
//! - `deny-wins`: what is denied, anywhere above or to any role, is not granted by anything else; but
//!   a grant on a column is stronger than a denial on its table.
//! - `one-row-per-grantor`: what the owner of something has granted, and what each principal has who
//!   was granted a permission WITH GRANT OPTION, are rows of their own.
//! - `columns-are-apart`: a row on a column has a class that versions before columns do not know, so
//!   that they do not take it for one on the table.

use rusqlite::{Connection, OptionalExtension};
use selenite_compiler::{SqlError, same_name};
use selenite_runtime::sqlite::tsql_error;

use crate::catalog::permission_kind::{Class, PermissionKind};

/// What was done with a permission.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GrantState {
    /// It was granted.
    Granted,
    /// It was granted WITH GRANT OPTION.
    Grantable,
    /// It was denied.
    Denied,
    /// The grant on the table does not count for the column.
    Excepted,
}

/// What a permission is on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GrantedOn {
    /// Its class.
    pub class: Class,
    /// The number of the object, of the schema, or of the type's row in the catalog; 0 for the database.
    pub major_id: i32,
    /// The column of the object, if it is on that alone.
    pub column: Option<String>,
}

/// A permission that was granted or denied.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Grant {
    /// What it is on.
    pub on: GrantedOn,
    /// The permission.
    pub kind: PermissionKind,
    /// Who has it.
    pub grantee: i32,
    /// Who gave it by a grant option; `None` for the owner, and for those who act as the owner.
    pub grantor: Option<i32>,
    /// What was done.
    pub state: GrantState,
}

impl GrantState {
    /// Whether the permission was granted.
    pub fn is_granted(self) -> bool {
        match self {
            Self::Granted | Self::Grantable => true,
            Self::Denied | Self::Excepted => false,
        }
    }

    /// `state` and `state_desc` in sys.database_permissions.
    pub fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Granted => ("G", "GRANT"),
            Self::Grantable => ("W", "GRANT_WITH_GRANT_OPTION"),
            Self::Denied => ("D", "DENY"),
            Self::Excepted => ("R", "REVOKE"),
        }
    }

    fn of_letter(letter: &str) -> Option<Self> {
        let all = [Self::Granted, Self::Grantable, Self::Denied, Self::Excepted];
        all.into_iter().find(|state| state.words().0 == letter)
    }
}

impl GrantedOn {
    /// Whether it is this, or a column of it.
    pub fn is_within(&self, other: &Self) -> bool {
        (self.class, self.major_id) == (other.class, other.major_id)
            && (other.column.is_none() || self.has_column_of(other))
    }

    /// Whether both are on the same column, or both on the whole.
    pub fn is_same(&self, other: &Self) -> bool {
        (self.class, self.major_id) == (other.class, other.major_id) && self.has_column_of(other)
    }

    fn has_column_of(&self, other: &Self) -> bool {
        match (&self.column, &other.column) {
            (Some(own), Some(other)) => same_name(own, other),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        }
    }

    /// The class in the file: `columns-are-apart`.
    fn stored_class(&self) -> i32 {
        match self.column {
            Some(_) => COLUMN_CLASS,
            None => self.class.number(),
        }
    }
}

/// Reads those of a connection's `main`; none if there never were any.
///
/// # Errors
/// SQLite's error.
pub fn load(connection: &Connection) -> rusqlite::Result<Vec<Grant>> {
    let sql = match shape(connection)? {
        Shape::None => return Ok(Vec::new()),
        // All were granted by the owner, or by those who act as the owner.
        Shape::Old => {
            "SELECT class, major_id, '', type, grantee, 0, CASE is_denied WHEN 0 THEN 'G' ELSE 'D' END \
             FROM main.selenite_permission ORDER BY class, major_id, grantee, type"
        }
        Shape::New => {
            "SELECT class, major_id, column_name, type, grantee, grantor, state FROM main.selenite_permission \
             ORDER BY class, major_id, column_name, grantee, type, grantor"
        }
    };
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    let mut grants = Vec::new();
    while let Some(row) = rows.next()? {
        let column: String = row.get(2)?;
        let class = match row.get(0)? {
            COLUMN_CLASS => Some(Class::Object),
            number => Class::of_number(number),
        };
        let kind = PermissionKind::of_letters(&row.get::<_, String>(3)?);
        let state = GrantState::of_letter(&row.get::<_, String>(6)?);
        // A permission of a later version has no meaning here, and gives nothing.
        if let (Some(class), Some(kind), Some(state)) = (class, kind, state) {
            grants.push(Grant {
                on: GrantedOn {
                    class,
                    major_id: row.get(1)?,
                    column: Some(column).filter(|column| !column.is_empty()),
                },
                kind,
                grantee: row.get(4)?,
                grantor: Some(row.get(5)?).filter(|grantor| *grantor != OWNER),
                state,
            });
        }
    }
    Ok(grants)
}

/// Notes what was granted or denied, in place of what the same grantor did before.
///
/// # Errors
/// SQLite's error.
pub fn set(connection: &Connection, grant: &Grant) -> Result<(), SqlError> {
    let run = || -> rusqlite::Result<()> {
        ensure(connection)?;
        let sql = "INSERT OR REPLACE INTO main.selenite_permission \
                   (class, major_id, column_name, type, grantee, grantor, state, is_denied) \
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
        let values = (
            grant.on.stored_class(),
            grant.on.major_id,
            grant.on.column.as_deref().unwrap_or_default(),
            grant.kind.words().1,
            grant.grantee,
            grant.grantor.unwrap_or(OWNER),
            grant.state.words().0,
            !grant.state.is_granted(),
        );
        connection.execute(sql, values).map(drop)
    };
    run().map_err(|error| tsql_error(&error))
}

/// Forgets what a grantor granted or denied.
///
/// # Errors
/// SQLite's error.
pub fn remove(connection: &Connection, grant: &Grant) -> Result<(), SqlError> {
    let run = || -> rusqlite::Result<()> {
        ensure(connection)?;
        let sql = "DELETE FROM main.selenite_permission WHERE class = ?1 AND major_id = ?2 AND column_name = ?3 \
                   AND type = ?4 AND grantee = ?5 AND grantor = ?6";
        let values = (
            grant.on.stored_class(),
            grant.on.major_id,
            grant.on.column.as_deref().unwrap_or_default(),
            grant.kind.words().1,
            grant.grantee,
            grant.grantor.unwrap_or(OWNER),
        );
        connection.execute(sql, values).map(drop)
    };
    run().map_err(|error| tsql_error(&error))
}

/// Forgets all permissions on an object or schema, which is gone: its number may be given again.
///
/// # Errors
/// SQLite's error.
pub fn forget(connection: &Connection, class: Class, major_id: i32) -> Result<(), SqlError> {
    let of_columns = match class {
        Class::Object => COLUMN_CLASS,
        Class::Database
        | Class::Schema
        | Class::User
        | Class::Type
        | Class::SymmetricKey
        | Class::Certificate
        | Class::AsymmetricKey => class.number(),
    };
    let sql = "DELETE FROM main.selenite_permission WHERE class IN (?1, ?2) AND major_id = ?3";
    change(connection, sql, (class.number(), of_columns, major_id))
}

/// Forgets all permissions on a column, which is gone: another may get its name.
///
/// # Errors
/// SQLite's error.
pub fn forget_column(connection: &Connection, object_id: i32, column: &str) -> Result<(), SqlError> {
    for grant in on_column(connection, object_id, column)? {
        remove(connection, &grant)?;
    }
    Ok(())
}

/// The permissions on a column are those on another name.
///
/// # Errors
/// SQLite's error.
pub fn rename_column(connection: &Connection, object_id: i32, column: &str, new: &str) -> Result<(), SqlError> {
    for mut grant in on_column(connection, object_id, column)? {
        remove(connection, &grant)?;
        grant.on.column = Some(new.to_owned());
        set(connection, &grant)?;
    }
    Ok(())
}

fn on_column(connection: &Connection, object_id: i32, column: &str) -> Result<Vec<Grant>, SqlError> {
    let on = GrantedOn {
        class: Class::Object,
        major_id: object_id,
        column: Some(column.to_owned()),
    };
    let mut grants = load(connection).map_err(|error| tsql_error(&error))?;
    grants.retain(|grant| grant.on.is_same(&on));
    Ok(grants)
}

/// Forgets all permissions of a user or role, who is gone: the number may be given again.
///
/// # Errors
/// SQLite's error.
pub fn forget_grantee(connection: &Connection, grantee: i32) -> Result<(), SqlError> {
    let sql = "DELETE FROM main.selenite_permission WHERE grantee = ?1";
    change(connection, sql, [grantee])
}

fn change(connection: &Connection, sql: &str, values: impl rusqlite::Params) -> Result<(), SqlError> {
    let run = || -> rusqlite::Result<()> {
        match shape(connection)? {
            Shape::None => Ok(()),
            Shape::Old | Shape::New => connection.execute(sql, values).map(drop),
        }
    };
    run().map_err(|error| tsql_error(&error))
}

/// The table in a file.
enum Shape {
    /// There is none.
    None,
    /// That of versions before permissions on columns.
    Old,
    /// That of this version.
    New,
}

fn shape(connection: &Connection) -> rusqlite::Result<Shape> {
    let sql = "SELECT max(name = 'column_name') FROM pragma_table_info('selenite_permission', 'main')";
    let has_columns: Option<Option<bool>> = connection.query_row(sql, [], |row| row.get(0)).optional()?;
    Ok(match has_columns.flatten() {
        None => Shape::None,
        Some(false) => Shape::Old,
        Some(true) => Shape::New,
    })
}

/// Creates the table, if it does not exist; what an earlier version has written is kept.
fn ensure(connection: &Connection) -> rusqlite::Result<()> {
    match shape(connection)? {
        Shape::New => Ok(()),
        Shape::None => connection.execute_batch(TABLE),
        Shape::Old => {
            let kept = load(connection)?;
            connection.execute_batch("DROP TABLE main.selenite_permission")?;
            connection.execute_batch(TABLE)?;
            let sql = "INSERT INTO main.selenite_permission (class, major_id, type, grantee, state, is_denied) \
                       VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
            for grant in kept {
                let (letters, state) = (grant.kind.words().1, grant.state.words().0);
                let is_denied = !grant.state.is_granted();
                let values = (
                    grant.on.stored_class(),
                    grant.on.major_id,
                    letters,
                    grant.grantee,
                    state,
                    is_denied,
                );
                connection.execute(sql, values)?;
            }
            Ok(())
        }
    }
}

/// `is_denied` is what versions before columns read.
const TABLE: &str = "
CREATE TABLE main.selenite_permission (
    class INTEGER NOT NULL,
    major_id INTEGER NOT NULL,
    column_name TEXT NOT NULL DEFAULT '',
    type TEXT NOT NULL,
    grantee INTEGER NOT NULL,
    grantor INTEGER NOT NULL DEFAULT 0,
    state TEXT NOT NULL,
    is_denied INTEGER NOT NULL,
    PRIMARY KEY (class, major_id, column_name, grantee, type, grantor)
) STRICT, WITHOUT ROWID;
";

/// The class of rows on columns in the file.
const COLUMN_CLASS: i32 = 101;
/// The grantor of what the owner grants.
const OWNER: i32 = 0;

#[cfg(test)]
mod tests;
