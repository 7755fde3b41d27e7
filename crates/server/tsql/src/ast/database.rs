//! Databases, their backups, and how they are restored.

use super::{Expr, Name, NameOrVariable, Setting};

/// CREATE DATABASE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateDatabase {
    /// Its name.
    pub name: Name,
    /// `CONTAINMENT = NONE | PARTIAL`.
    pub containment: Option<Name>,
    /// `ON ..`: the first group is the primary; empty without.
    pub groups: Vec<FileGroup>,
    /// `LOG ON ..`; empty without.
    pub log: Vec<FileSpec>,
    /// `COLLATE`.
    pub collation: Option<Name>,
    /// `WITH ..`; empty without.
    pub options: Vec<Setting>,
}

/// Files with a name of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileGroup {
    /// `FILEGROUP name`; `None` for the primary.
    pub name: Option<Name>,
    /// `DEFAULT`.
    pub is_default: bool,
    /// The files; at least one.
    pub files: Vec<FileSpec>,
}

/// `(NAME = .., FILENAME = .., SIZE = .., MAXSIZE = .., FILEGROWTH = ..)`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileSpec {
    /// `NAME`; of a string its characters.
    pub name: Option<Name>,
    /// `FILENAME`
    pub file_name: Option<String>,
    /// `SIZE`
    pub size: Option<FileSize>,
    /// `MAXSIZE`
    pub size_max: Option<FileSize>,
    /// `FILEGROWTH`
    pub growth: Option<FileSize>,
}

/// A file's size or growth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileSize {
    /// `UNLIMITED`
    Unlimited,
    /// A number with its unit.
    Amount {
        /// How many.
        count: u64,
        /// Of what; megabytes without.
        unit: Option<SizeUnit>,
    },
}

/// A unit of sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizeUnit {
    /// `KB`
    Kilobytes,
    /// `MB`
    Megabytes,
    /// `GB`
    Gigabytes,
    /// `TB`
    Terabytes,
    /// `%`
    Percent,
}

/// ALTER DATABASE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlterDatabase {
    /// Its name; `None` for CURRENT.
    pub name: Option<Name>,
    /// What is done.
    pub action: AlterDatabaseAction,
}

/// What ALTER DATABASE does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AlterDatabaseAction {
    /// `SET ENCRYPTION ON, RECOVERY SIMPLE, COMPATIBILITY_LEVEL = 120 [WITH ..]`
    Set {
        /// The options; at least one.
        options: Vec<Setting>,
        /// What becomes of transactions in the way.
        termination: Option<Termination>,
    },
    /// `MODIFY NAME = ..`
    ModifyName(Name),
    /// `COLLATE ..`
    Collate(Name),
}

/// What becomes of transactions in the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Termination {
    /// `WITH ROLLBACK AFTER n [SECONDS]`
    RollbackAfter(u32),
    /// `WITH ROLLBACK IMMEDIATE`
    RollbackImmediate,
    /// `WITH NO_WAIT`
    NoWait,
}

/// `BACKUP DATABASE name TO DISK = 'x' WITH ..`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backup {
    /// Of what.
    pub kind: BackupKind,
    /// The database.
    pub database: NameOrVariable,
    /// `TO ..`; at least one, but of a log perhaps none.
    pub devices: Vec<BackupDevice>,
    /// `WITH ..`; empty without.
    pub options: Vec<Setting>,
}

/// What is backed up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackupKind {
    /// `BACKUP DATABASE`
    Database,
    /// `BACKUP LOG`
    Log,
}

/// Where a backup is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackupDevice {
    /// Of what kind.
    pub kind: DeviceKind,
    /// A string or variable; of a logical device its name, as a column with one part.
    pub path: Expr,
}

/// A kind of device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceKind {
    /// `DISK =`
    Disk,
    /// `TAPE =`
    Tape,
    /// `URL =`
    Url,
    /// A logical device, by its name.
    Logical,
}

/// `RESTORE DATABASE name FROM DISK = 'x' WITH ..`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restore {
    /// What is done.
    pub kind: RestoreKind,
    /// The database; `None` with the kinds that only read a backup.
    pub database: Option<NameOrVariable>,
    /// `FROM ..`; empty to recover alone.
    pub devices: Vec<BackupDevice>,
    /// `WITH ..`; empty without. `MOVE 'a' TO 'b'` is a setting MOVE of two values.
    pub options: Vec<Setting>,
}

/// What RESTORE does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestoreKind {
    /// `RESTORE DATABASE`
    Database,
    /// `RESTORE LOG`
    Log,
    /// `RESTORE FILELISTONLY`
    FileListOnly,
    /// `RESTORE HEADERONLY`
    HeaderOnly,
    /// `RESTORE LABELONLY`
    LabelOnly,
    /// `RESTORE VERIFYONLY`
    VerifyOnly,
}
