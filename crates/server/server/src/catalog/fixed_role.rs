//! Roles that every database has.

use selenite_compiler::same_name;

use crate::catalog::permission_kind::PermissionKind;

/// A role whose members may, or may not, do something; each is enforced.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum FixedRole {
    /// `db_owner`: everything in the database.
    Owner,
    /// `db_accessadmin`: users, and whether they may connect.
    AccessAdmin,
    /// `db_securityadmin`: roles of CREATE ROLE, and permissions.
    SecurityAdmin,
    /// `db_ddladmin`: CREATE, ALTER and DROP of objects.
    DdlAdmin,
    /// `db_backupoperator`: BACKUP, below the folder of backups, and CHECKPOINT.
    BackupOperator,
    /// `db_datareader`: SELECT on all tables and views.
    DataReader,
    /// `db_datawriter`: INSERT, UPDATE and DELETE on all tables.
    DataWriter,
    /// `db_denydatareader`: no SELECT, whatever other roles allow.
    DenyDataReader,
    /// `db_denydatawriter`: no INSERT, UPDATE or DELETE.
    DenyDataWriter,
}

impl FixedRole {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Owner,
        Self::AccessAdmin,
        Self::SecurityAdmin,
        Self::DdlAdmin,
        Self::BackupOperator,
        Self::DataReader,
        Self::DataWriter,
        Self::DenyDataReader,
        Self::DenyDataWriter,
    ];

    /// Whether its members have a permission on everything in the database.
    #[must_use]
    pub fn has(self, wanted: PermissionKind) -> bool {
        use PermissionKind as Kind;
        match self {
            Self::Owner => true,
            Self::AccessAdmin => [Kind::AlterAnyUser, Kind::CreateSchema].contains(&wanted),
            Self::SecurityAdmin => [
                Kind::AlterAnyRole,
                Kind::CreateRole,
                Kind::CreateSchema,
                Kind::ViewDefinition,
            ]
            .contains(&wanted),
            Self::BackupOperator => [Kind::BackupDatabase, Kind::BackupLog, Kind::Checkpoint].contains(&wanted),
            Self::DdlAdmin => [
                Kind::Alter,
                Kind::AlterAnyAsymmetricKey,
                Kind::AlterAnyCertificate,
                Kind::AlterAnySchema,
                Kind::AlterAnySymmetricKey,
                Kind::CreateAsymmetricKey,
                Kind::CreateCertificate,
                Kind::CreateFunction,
                Kind::CreateProcedure,
                Kind::CreateSchema,
                Kind::CreateSequence,
                Kind::CreateSymmetricKey,
                Kind::CreateSynonym,
                Kind::CreateTable,
                Kind::CreateType,
                Kind::CreateView,
                Kind::References,
                Kind::ViewDefinition,
            ]
            .contains(&wanted),
            Self::DataReader => wanted == Kind::Select,
            Self::DataWriter => [Kind::Insert, Kind::Update, Kind::Delete].contains(&wanted),
            Self::DenyDataReader | Self::DenyDataWriter => false,
        }
    }

    /// SQL Server's number.
    #[must_use]
    pub fn id(self) -> i32 {
        match self {
            Self::Owner => 16_384,
            Self::AccessAdmin => 16_385,
            Self::SecurityAdmin => 16_386,
            Self::DdlAdmin => 16_387,
            Self::BackupOperator => 16_389,
            Self::DataReader => 16_390,
            Self::DataWriter => 16_391,
            Self::DenyDataReader => 16_392,
            Self::DenyDataWriter => 16_393,
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Owner => "db_owner",
            Self::AccessAdmin => "db_accessadmin",
            Self::SecurityAdmin => "db_securityadmin",
            Self::DdlAdmin => "db_ddladmin",
            Self::BackupOperator => "db_backupoperator",
            Self::DataReader => "db_datareader",
            Self::DataWriter => "db_datawriter",
            Self::DenyDataReader => "db_denydatareader",
            Self::DenyDataWriter => "db_denydatawriter",
        }
    }

    /// The one of a number.
    #[must_use]
    pub fn of_id(id: i32) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.id() == id)
    }

    /// The one of a name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| same_name(role.name(), name))
    }
}
