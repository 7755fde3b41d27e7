//! The permissions of a database that were granted or denied, in a table of its file.
//!
//! - `only-what-is-enforced`: a permission that no check asks for has no kind here, and GRANT of it
//!   is refused by name.
//! - `covering`: a permission on a database or schema is one on all that is in it; CONTROL is every
//!   permission, and ALTER of a database or schema lets create, alter and drop what is in it.
//! - `deny-wins`: what is denied, anywhere above or to any role, is not granted by anything else.

use rusqlite::{Connection, OptionalExtension};
use selenite_compiler::{SqlError, same_name};
use selenite_runtime::sqlite::tsql_error;

/// A kind of permission.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum PermissionKind {
    /// ALTER
    Alter,
    /// ALTER ANY ROLE
    AlterAnyRole,
    /// ALTER ANY SCHEMA
    AlterAnySchema,
    /// ALTER ANY USER
    AlterAnyUser,
    /// CHECKPOINT
    Checkpoint,
    /// CONNECT: that it is denied keeps a user out.
    Connect,
    /// CONTROL
    Control,
    /// CREATE FUNCTION
    CreateFunction,
    /// CREATE PROCEDURE
    CreateProcedure,
    /// CREATE ROLE
    CreateRole,
    /// CREATE SCHEMA
    CreateSchema,
    /// CREATE SEQUENCE, on a schema, too
    CreateSequence,
    /// CREATE SYNONYM
    CreateSynonym,
    /// CREATE TABLE
    CreateTable,
    /// CREATE TYPE
    CreateType,
    /// CREATE VIEW
    CreateView,
    /// DELETE
    Delete,
    /// EXECUTE: of a table type, variables of it.
    Execute,
    /// INSERT
    Insert,
    /// REFERENCES: foreign keys to a table, columns of a type.
    References,
    /// SELECT
    Select,
    /// UPDATE
    Update,
    /// VIEW DATABASE STATE
    ViewDatabaseState,
    /// VIEW DEFINITION
    ViewDefinition,
}

use PermissionKind as Kind;

/// What permissions are on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// The database.
    Database,
    /// A table, view or procedure.
    Object,
    /// A schema.
    Schema,
    /// A type of a user.
    Type,
}

impl Class {
    /// `class` in sys.database_permissions.
    pub fn number(self) -> i32 {
        match self {
            Self::Database => 0,
            Self::Object => 1,
            Self::Schema => 3,
            Self::Type => 6,
        }
    }

    fn of_number(number: i32) -> Option<Self> {
        [Self::Database, Self::Object, Self::Schema, Self::Type]
            .into_iter()
            .find(|class| class.number() == number)
    }

    /// `class_desc` in sys.database_permissions.
    pub fn description(self) -> &'static str {
        match self {
            Self::Database => "DATABASE",
            Self::Object => "OBJECT_OR_COLUMN",
            Self::Schema => "SCHEMA",
            Self::Type => "TYPE",
        }
    }
}

impl PermissionKind {
    /// All of them.
    pub const ALL: [Self; 24] = [
        Kind::Alter,
        Kind::AlterAnyRole,
        Kind::AlterAnySchema,
        Kind::AlterAnyUser,
        Kind::Checkpoint,
        Kind::Connect,
        Kind::Control,
        Kind::CreateFunction,
        Kind::CreateProcedure,
        Kind::CreateRole,
        Kind::CreateSchema,
        Kind::CreateSequence,
        Kind::CreateSynonym,
        Kind::CreateTable,
        Kind::CreateType,
        Kind::CreateView,
        Kind::Delete,
        Kind::Execute,
        Kind::Insert,
        Kind::References,
        Kind::Select,
        Kind::Update,
        Kind::ViewDatabaseState,
        Kind::ViewDefinition,
    ];

    /// Its name, and `type` in sys.database_permissions.
    pub fn words(self) -> (&'static str, &'static str) {
        match self {
            Kind::Alter => ("ALTER", "AL"),
            Kind::AlterAnyRole => ("ALTER ANY ROLE", "ALRL"),
            Kind::AlterAnySchema => ("ALTER ANY SCHEMA", "ALSM"),
            Kind::AlterAnyUser => ("ALTER ANY USER", "ALUS"),
            Kind::Checkpoint => ("CHECKPOINT", "CP"),
            Kind::Connect => ("CONNECT", "CO"),
            Kind::Control => ("CONTROL", "CL"),
            Kind::CreateFunction => ("CREATE FUNCTION", "CRFN"),
            Kind::CreateProcedure => ("CREATE PROCEDURE", "CRPR"),
            Kind::CreateRole => ("CREATE ROLE", "CRRL"),
            Kind::CreateSchema => ("CREATE SCHEMA", "CRSM"),
            Kind::CreateSequence => ("CREATE SEQUENCE", "CRSO"),
            Kind::CreateSynonym => ("CREATE SYNONYM", "CRSN"),
            Kind::CreateTable => ("CREATE TABLE", "CRTB"),
            Kind::CreateType => ("CREATE TYPE", "CRTY"),
            Kind::CreateView => ("CREATE VIEW", "CRVW"),
            Kind::Delete => ("DELETE", "DL"),
            Kind::Execute => ("EXECUTE", "EX"),
            Kind::Insert => ("INSERT", "IN"),
            Kind::References => ("REFERENCES", "RF"),
            Kind::Select => ("SELECT", "SL"),
            Kind::Update => ("UPDATE", "UP"),
            Kind::ViewDatabaseState => ("VIEW DATABASE STATE", "VWDS"),
            Kind::ViewDefinition => ("VIEW DEFINITION", "VW"),
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.words().0
    }

    /// The one of a name; EXEC and PROC are written, too.
    pub fn of_name(name: &str) -> Option<Self> {
        let long = match name.to_ascii_uppercase().as_str() {
            "EXEC" => "EXECUTE".to_owned(),
            "CREATE PROC" => "CREATE PROCEDURE".to_owned(),
            other => other.to_owned(),
        };
        Self::ALL.into_iter().find(|kind| same_name(kind.name(), &long))
    }

    fn of_letters(letters: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.words().1 == letters)
    }

    /// Whether it can be granted on what is of a class.
    pub fn is_on(self, class: Class) -> bool {
        match self {
            Kind::Control | Kind::Execute | Kind::References => true,
            Kind::Alter | Kind::Delete | Kind::Insert | Kind::Select | Kind::Update | Kind::ViewDefinition => {
                class != Class::Type
            }
            Kind::CreateSequence => matches!(class, Class::Database | Class::Schema),
            Kind::AlterAnyRole
            | Kind::AlterAnySchema
            | Kind::AlterAnyUser
            | Kind::Checkpoint
            | Kind::Connect
            | Kind::CreateFunction
            | Kind::CreateProcedure
            | Kind::CreateRole
            | Kind::CreateSchema
            | Kind::CreateSynonym
            | Kind::CreateTable
            | Kind::CreateType
            | Kind::CreateView
            | Kind::ViewDatabaseState => class == Class::Database,
        }
    }

    /// Whether having it, on something of `class`, is having `wanted` on that or on what is in it.
    pub fn covers(self, class: Class, wanted: Self) -> bool {
        self == wanted || self == Kind::Control || self.parts(class).contains(&wanted)
    }

    /// What is part of it, besides itself; of CONTROL that is everything.
    fn parts(self, class: Class) -> &'static [Self] {
        const OF_DATABASE: &[PermissionKind] = &[
            Kind::AlterAnyRole,
            Kind::AlterAnySchema,
            Kind::AlterAnyUser,
            Kind::Checkpoint,
            Kind::CreateFunction,
            Kind::CreateProcedure,
            Kind::CreateRole,
            Kind::CreateSchema,
            Kind::CreateSequence,
            Kind::CreateSynonym,
            Kind::CreateTable,
            Kind::CreateType,
            Kind::CreateView,
        ];
        match (self, class) {
            (Kind::Alter, Class::Database) => OF_DATABASE,
            (Kind::Alter, Class::Schema) => &[Kind::CreateSequence],
            (Kind::AlterAnySchema, _) => &[Kind::Alter, Kind::CreateSchema],
            (Kind::AlterAnyRole, _) => &[Kind::CreateRole],
            _ => &[],
        }
    }
}

/// A permission that was granted or denied.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Grant {
    /// What it is on.
    pub class: Class,
    /// The number of the object, of the schema, or of the type's row in the catalog; 0 for the database.
    pub major_id: i32,
    /// The permission.
    pub kind: PermissionKind,
    /// Who has it.
    pub grantee: i32,
    /// Who gave it.
    pub grantor: i32,
    /// Whether it was denied.
    pub is_denied: bool,
}

/// Reads those of a connection's `main`; none if there never were any.
///
/// # Errors
/// SQLite's error.
pub fn load(connection: &Connection) -> rusqlite::Result<Vec<Grant>> {
    if !has_table(connection)? {
        return Ok(Vec::new());
    }
    let mut statement = connection.prepare(
        "SELECT class, major_id, type, grantee, grantor, is_denied FROM main.selenite_permission \
         ORDER BY class, major_id, grantee, type",
    )?;
    let rows = statement.query_map([], |row| {
        // A permission of a later version has no meaning here, and gives nothing.
        let class = Class::of_number(row.get(0)?);
        let kind = PermissionKind::of_letters(&row.get::<_, String>(2)?);
        Ok(class
            .zip(kind)
            .map(|(class, kind)| (class, kind, row.get(1), row.get(3), row.get(4), row.get(5))))
    })?;
    let mut grants = Vec::new();
    for row in rows {
        if let Some((class, kind, major_id, grantee, grantor, is_denied)) = row? {
            grants.push(Grant {
                class,
                major_id: major_id?,
                kind,
                grantee: grantee?,
                grantor: grantor?,
                is_denied: is_denied?,
            });
        }
    }
    Ok(grants)
}

/// Notes what was granted or denied, in place of what was before.
///
/// # Errors
/// SQLite's error.
pub fn set(connection: &Connection, grant: &Grant) -> Result<(), SqlError> {
    let run = || -> rusqlite::Result<()> {
        connection.execute_batch(TABLE)?;
        let sql = "INSERT OR REPLACE INTO main.selenite_permission (class, major_id, type, grantee, grantor, is_denied) \
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        let values = (
            grant.class.number(),
            grant.major_id,
            grant.kind.words().1,
            grant.grantee,
            grant.grantor,
            grant.is_denied,
        );
        connection.execute(sql, values).map(drop)
    };
    run().map_err(|error| tsql_error(&error))
}

/// Forgets what was granted or denied.
///
/// # Errors
/// SQLite's error.
pub fn revoke(
    connection: &Connection,
    (class, major_id): (Class, i32),
    kind: PermissionKind,
    grantee: i32,
) -> Result<(), SqlError> {
    let sql = "DELETE FROM main.selenite_permission WHERE class = ?1 AND major_id = ?2 AND type = ?3 AND grantee = ?4";
    delete(connection, sql, (class.number(), major_id, kind.words().1, grantee))
}

/// Forgets all permissions on an object or schema, which is gone: its number may be given again.
///
/// # Errors
/// SQLite's error.
pub fn forget(connection: &Connection, class: Class, major_id: i32) -> Result<(), SqlError> {
    let sql = "DELETE FROM main.selenite_permission WHERE class = ?1 AND major_id = ?2";
    delete(connection, sql, (class.number(), major_id))
}

/// Forgets all permissions of a user or role, who is gone: the number may be given again.
///
/// # Errors
/// SQLite's error.
pub fn forget_grantee(connection: &Connection, grantee: i32) -> Result<(), SqlError> {
    delete(
        connection,
        "DELETE FROM main.selenite_permission WHERE grantee = ?1",
        [grantee],
    )
}

fn delete(connection: &Connection, sql: &str, values: impl rusqlite::Params) -> Result<(), SqlError> {
    let run = || -> rusqlite::Result<()> {
        match has_table(connection)? {
            true => connection.execute(sql, values).map(drop),
            false => Ok(()),
        }
    };
    run().map_err(|error| tsql_error(&error))
}

fn has_table(connection: &Connection) -> rusqlite::Result<bool> {
    let sql = "SELECT 1 FROM main.sqlite_schema WHERE type = 'table' AND name = 'selenite_permission'";
    Ok(connection.query_row(sql, [], |_| Ok(())).optional()?.is_some())
}

const TABLE: &str = "
CREATE TABLE IF NOT EXISTS main.selenite_permission (
    class INTEGER NOT NULL,
    major_id INTEGER NOT NULL,
    type TEXT NOT NULL,
    grantee INTEGER NOT NULL,
    grantor INTEGER NOT NULL,
    is_denied INTEGER NOT NULL,
    PRIMARY KEY (class, major_id, grantee, type)
) STRICT, WITHOUT ROWID;
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_letters_are_one_kinds_each() {
        for kind in PermissionKind::ALL {
            assert_eq!(PermissionKind::of_name(&kind.name().to_lowercase()), Some(kind));
            assert_eq!(PermissionKind::of_letters(kind.words().1), Some(kind));
        }
        assert_eq!(PermissionKind::of_name("exec"), Some(Kind::Execute));
        assert_eq!(PermissionKind::of_name("TAKE OWNERSHIP"), None);
    }

    #[test]
    fn control_covers_all_and_alter_what_is_created() {
        for wanted in PermissionKind::ALL {
            assert!(Kind::Control.covers(Class::Object, wanted));
        }
        assert!(Kind::Alter.covers(Class::Database, Kind::CreateTable));
        assert!(Kind::Alter.covers(Class::Schema, Kind::Alter));
        assert!(!Kind::Alter.covers(Class::Schema, Kind::CreateTable));
        assert!(!Kind::Alter.covers(Class::Database, Kind::Select));
        assert!(!Kind::Alter.covers(Class::Database, Kind::ViewDatabaseState));
        assert!(!Kind::Select.covers(Class::Database, Kind::Update));
        assert!(Kind::AlterAnyRole.covers(Class::Database, Kind::CreateRole));
        assert!(!Kind::AlterAnySchema.covers(Class::Database, Kind::Control));
    }

    #[test]
    fn what_is_set_is_read_and_forgotten() {
        let connection = Connection::open_in_memory().unwrap();
        assert_eq!(load(&connection).unwrap(), []);
        forget(&connection, Class::Object, 5).unwrap();
        let grant = |major_id: i32, is_denied| Grant {
            class: Class::Object,
            major_id,
            kind: Kind::Select,
            grantee: 7,
            grantor: 1,
            is_denied,
        };
        set(&connection, &grant(5, false)).unwrap();
        set(&connection, &grant(5, true)).unwrap();
        set(&connection, &grant(6, false)).unwrap();
        assert_eq!(load(&connection).unwrap(), [grant(5, true), grant(6, false)]);
        revoke(&connection, (Class::Object, 6), Kind::Select, 7).unwrap();
        forget(&connection, Class::Schema, 5).unwrap();
        assert_eq!(load(&connection).unwrap(), [grant(5, true)]);
        forget(&connection, Class::Object, 5).unwrap();
        assert_eq!(load(&connection).unwrap(), []);
        set(&connection, &grant(6, false)).unwrap();
        forget_grantee(&connection, 7).unwrap();
        let later = "INSERT INTO selenite_permission VALUES (1, 5, 'NEWER', 7, 1, 0), (99, 5, 'SL', 7, 1, 0)";
        connection.execute(later, []).unwrap();
        assert_eq!(load(&connection).unwrap(), []);
    }
}
