//! The kinds of permissions in a database, and what they are on.
//!
//! - `only-what-is-enforced`: a permission that no check asks for has no kind here, and GRANT of it
//!   is refused by name.
//! - `covering`: a permission on a database or schema is one on all that is in it; CONTROL is every
//!   permission, and ALTER of a database or schema lets create, alter and drop what is in it.

use selenite_compiler::same_name;

/// A kind of permission.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum PermissionKind {
    /// ALTER
    Alter,
    /// ALTER ANY ASYMMETRIC KEY
    AlterAnyAsymmetricKey,
    /// ALTER ANY CERTIFICATE
    AlterAnyCertificate,
    /// ALTER ANY ROLE
    AlterAnyRole,
    /// ALTER ANY SCHEMA
    AlterAnySchema,
    /// ALTER ANY SYMMETRIC KEY
    AlterAnySymmetricKey,
    /// ALTER ANY USER
    AlterAnyUser,
    /// BACKUP DATABASE
    BackupDatabase,
    /// BACKUP LOG
    BackupLog,
    /// CHECKPOINT
    Checkpoint,
    /// CONNECT: that it is denied keeps a user out.
    Connect,
    /// CONTROL
    Control,
    /// CREATE ASYMMETRIC KEY
    CreateAsymmetricKey,
    /// CREATE CERTIFICATE
    CreateCertificate,
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
    /// CREATE SYMMETRIC KEY
    CreateSymmetricKey,
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
    /// IMPERSONATE: EXECUTE AS.
    Impersonate,
    /// INSERT
    Insert,
    /// REFERENCES: foreign keys to a table, columns of a type; makes a key visible.
    References,
    /// SELECT
    Select,
    /// SHOWPLAN: plans of statements that one may run.
    ShowPlan,
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
    /// A user, whom others may execute as.
    User,
    /// A type of a user.
    Type,
    /// A symmetric key.
    SymmetricKey,
    /// A certificate.
    Certificate,
    /// A key pair.
    AsymmetricKey,
}

impl Class {
    /// `class` in sys.database_permissions.
    pub fn number(self) -> i32 {
        match self {
            Self::Database => 0,
            Self::Object => 1,
            Self::Schema => 3,
            Self::User => 4,
            Self::Type => 6,
            Self::SymmetricKey => 24,
            Self::Certificate => 25,
            Self::AsymmetricKey => 26,
        }
    }

    pub(crate) fn of_number(number: i32) -> Option<Self> {
        let all = [
            Self::Database,
            Self::Object,
            Self::Schema,
            Self::User,
            Self::Type,
            Self::SymmetricKey,
            Self::Certificate,
            Self::AsymmetricKey,
        ];
        all.into_iter().find(|class| class.number() == number)
    }

    /// `class_desc` in sys.database_permissions.
    pub fn description(self) -> &'static str {
        match self {
            Self::Database => "DATABASE",
            Self::Object => "OBJECT_OR_COLUMN",
            Self::Schema => "SCHEMA",
            Self::User => "DATABASE_PRINCIPAL",
            Self::Type => "TYPE",
            Self::SymmetricKey => "SYMMETRIC_KEYS",
            Self::Certificate => "CERTIFICATE",
            Self::AsymmetricKey => "ASYMMETRIC_KEY",
        }
    }

    /// Whether it is one of keys.
    fn is_key(self) -> bool {
        match self {
            Self::SymmetricKey | Self::Certificate | Self::AsymmetricKey => true,
            Self::Database | Self::Object | Self::Schema | Self::User | Self::Type => false,
        }
    }
}

impl PermissionKind {
    /// All of them.
    pub const ALL: [Self; 34] = [
        Kind::Alter,
        Kind::AlterAnyAsymmetricKey,
        Kind::AlterAnyCertificate,
        Kind::AlterAnyRole,
        Kind::AlterAnySchema,
        Kind::AlterAnySymmetricKey,
        Kind::AlterAnyUser,
        Kind::BackupDatabase,
        Kind::BackupLog,
        Kind::Checkpoint,
        Kind::Connect,
        Kind::Control,
        Kind::CreateAsymmetricKey,
        Kind::CreateCertificate,
        Kind::CreateFunction,
        Kind::CreateProcedure,
        Kind::CreateRole,
        Kind::CreateSchema,
        Kind::CreateSequence,
        Kind::CreateSymmetricKey,
        Kind::CreateSynonym,
        Kind::CreateTable,
        Kind::CreateType,
        Kind::CreateView,
        Kind::Delete,
        Kind::Execute,
        Kind::Impersonate,
        Kind::Insert,
        Kind::References,
        Kind::Select,
        Kind::ShowPlan,
        Kind::Update,
        Kind::ViewDatabaseState,
        Kind::ViewDefinition,
    ];

    /// Its name, and `type` in sys.database_permissions.
    pub fn words(self) -> (&'static str, &'static str) {
        match self {
            Kind::Alter => ("ALTER", "AL"),
            Kind::AlterAnyAsymmetricKey => ("ALTER ANY ASYMMETRIC KEY", "ALAK"),
            Kind::AlterAnyCertificate => ("ALTER ANY CERTIFICATE", "ALCF"),
            Kind::AlterAnyRole => ("ALTER ANY ROLE", "ALRL"),
            Kind::AlterAnySchema => ("ALTER ANY SCHEMA", "ALSM"),
            Kind::AlterAnySymmetricKey => ("ALTER ANY SYMMETRIC KEY", "ALSK"),
            Kind::AlterAnyUser => ("ALTER ANY USER", "ALUS"),
            Kind::BackupDatabase => ("BACKUP DATABASE", "BADB"),
            Kind::BackupLog => ("BACKUP LOG", "BALO"),
            Kind::Checkpoint => ("CHECKPOINT", "CP"),
            Kind::Connect => ("CONNECT", "CO"),
            Kind::Control => ("CONTROL", "CL"),
            Kind::CreateAsymmetricKey => ("CREATE ASYMMETRIC KEY", "CRAK"),
            Kind::CreateCertificate => ("CREATE CERTIFICATE", "CRCF"),
            Kind::CreateFunction => ("CREATE FUNCTION", "CRFN"),
            Kind::CreateProcedure => ("CREATE PROCEDURE", "CRPR"),
            Kind::CreateRole => ("CREATE ROLE", "CRRL"),
            Kind::CreateSchema => ("CREATE SCHEMA", "CRSM"),
            Kind::CreateSequence => ("CREATE SEQUENCE", "CRSO"),
            Kind::CreateSymmetricKey => ("CREATE SYMMETRIC KEY", "CRSK"),
            Kind::CreateSynonym => ("CREATE SYNONYM", "CRSN"),
            Kind::CreateTable => ("CREATE TABLE", "CRTB"),
            Kind::CreateType => ("CREATE TYPE", "CRTY"),
            Kind::CreateView => ("CREATE VIEW", "CRVW"),
            Kind::Delete => ("DELETE", "DL"),
            Kind::Execute => ("EXECUTE", "EX"),
            Kind::Impersonate => ("IMPERSONATE", "IM"),
            Kind::Insert => ("INSERT", "IN"),
            Kind::References => ("REFERENCES", "RF"),
            Kind::Select => ("SELECT", "SL"),
            Kind::ShowPlan => ("SHOWPLAN", "SPLN"),
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

    pub(crate) fn of_letters(letters: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.words().1 == letters)
    }

    /// Whether it can be granted on what is of a class.
    pub fn is_on(self, class: Class) -> bool {
        match self {
            Kind::Control => true,
            Kind::References => class != Class::User,
            Kind::Execute => class != Class::User && !class.is_key(),
            Kind::Impersonate => class == Class::User,
            Kind::Alter => !matches!(class, Class::Type | Class::User),
            Kind::ViewDefinition => class != Class::User,
            Kind::Delete | Kind::Insert | Kind::Select | Kind::Update => {
                !matches!(class, Class::Type | Class::User) && !class.is_key()
            }
            Kind::CreateSequence => matches!(class, Class::Database | Class::Schema),
            Kind::AlterAnyRole
            | Kind::AlterAnyAsymmetricKey
            | Kind::AlterAnyCertificate
            | Kind::AlterAnySchema
            | Kind::AlterAnySymmetricKey
            | Kind::AlterAnyUser
            | Kind::BackupDatabase
            | Kind::BackupLog
            | Kind::Checkpoint
            | Kind::Connect
            | Kind::CreateAsymmetricKey
            | Kind::CreateCertificate
            | Kind::CreateFunction
            | Kind::CreateProcedure
            | Kind::CreateRole
            | Kind::CreateSchema
            | Kind::CreateSymmetricKey
            | Kind::CreateSynonym
            | Kind::CreateTable
            | Kind::CreateType
            | Kind::CreateView
            | Kind::ShowPlan
            | Kind::ViewDatabaseState => class == Class::Database,
        }
    }

    /// Whether it can be granted on columns of a table or view.
    pub fn is_on_columns(self) -> bool {
        match self {
            Kind::References | Kind::Select | Kind::Update => true,
            Kind::Alter
            | Kind::AlterAnyRole
            | Kind::AlterAnyAsymmetricKey
            | Kind::AlterAnyCertificate
            | Kind::AlterAnySchema
            | Kind::AlterAnySymmetricKey
            | Kind::AlterAnyUser
            | Kind::BackupDatabase
            | Kind::BackupLog
            | Kind::Checkpoint
            | Kind::Connect
            | Kind::Control
            | Kind::CreateAsymmetricKey
            | Kind::CreateCertificate
            | Kind::CreateFunction
            | Kind::CreateProcedure
            | Kind::CreateRole
            | Kind::CreateSchema
            | Kind::CreateSequence
            | Kind::CreateSymmetricKey
            | Kind::CreateSynonym
            | Kind::CreateTable
            | Kind::CreateType
            | Kind::CreateView
            | Kind::Delete
            | Kind::Execute
            | Kind::Impersonate
            | Kind::Insert
            | Kind::ShowPlan
            | Kind::ViewDatabaseState
            | Kind::ViewDefinition => false,
        }
    }

    /// Whether having it, on something of `class`, is having `wanted` on that or on what is in it.
    pub fn covers(self, class: Class, wanted: Self) -> bool {
        self == wanted || self == Kind::Control || self.parts(class).contains(&wanted)
    }

    /// What is part of it, besides itself; of CONTROL that is everything.
    fn parts(self, class: Class) -> &'static [Self] {
        const OF_DATABASE: &[PermissionKind] = &[
            Kind::AlterAnyAsymmetricKey,
            Kind::AlterAnyCertificate,
            Kind::AlterAnyRole,
            Kind::AlterAnySchema,
            Kind::AlterAnySymmetricKey,
            Kind::AlterAnyUser,
            Kind::Checkpoint,
            Kind::CreateAsymmetricKey,
            Kind::CreateCertificate,
            Kind::CreateFunction,
            Kind::CreateProcedure,
            Kind::CreateRole,
            Kind::CreateSchema,
            Kind::CreateSequence,
            Kind::CreateSymmetricKey,
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
            (Kind::AlterAnyAsymmetricKey, _) => &[Kind::CreateAsymmetricKey],
            (Kind::AlterAnyCertificate, _) => &[Kind::CreateCertificate],
            (Kind::AlterAnySymmetricKey, _) => &[Kind::CreateSymmetricKey],
            _ => &[],
        }
    }
}

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
}
