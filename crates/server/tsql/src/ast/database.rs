//! Databases, BACKUP and RESTORE.

use super::{Expr, Name, NameOrVariable, Setting};

/// CREATE DATABASE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateDatabase {
    /// The database's name.
    pub name: Name,
    /// `CONTAINMENT = NONE | PARTIAL`.
    pub containment: Option<Name>,
    /// `ON ..`: the first file group is the primary one; empty if absent.
    pub groups: Vec<FileGroup>,
    /// `LOG ON ..`; empty if absent.
    pub log: Vec<FileSpec>,
    /// `COLLATE`.
    pub collation: Option<Name>,
    /// `WITH ..`; empty if absent.
    pub options: Vec<Setting>,
}

/// A file group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileGroup {
    /// `FILEGROUP name`; `None` for the primary file group.
    pub name: Option<Name>,
    /// `DEFAULT`.
    pub is_default: bool,
    /// The files; at least one.
    pub files: Vec<FileSpec>,
}

/// `(NAME = .., FILENAME = .., SIZE = .., MAXSIZE = .., FILEGROWTH = ..)`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileSpec {
    /// `NAME`, given as an identifier or a string.
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
        /// The number.
        count: u64,
        /// The unit; megabytes if absent.
        unit: Option<SizeUnit>,
    },
}

/// A unit of file sizes.
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
    /// The database's name; `None` for CURRENT.
    pub name: Option<Name>,
    /// The action.
    pub action: AlterDatabaseAction,
}

/// The action of ALTER DATABASE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AlterDatabaseAction {
    /// `SET ENCRYPTION ON, RECOVERY SIMPLE, COMPATIBILITY_LEVEL = 120 [WITH ..]`
    Set {
        /// The options; at least one.
        options: Vec<Setting>,
        /// The handling of open transactions that block the change.
        termination: Option<Termination>,
    },
    /// `MODIFY NAME = ..`
    ModifyName(Name),
    /// `COLLATE ..`
    Collate(Name),
}

/// The handling of open transactions that block the change.
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
    /// The kind of backup.
    pub kind: BackupKind,
    /// The database.
    pub database: NameOrVariable,
    /// `TO ..`; at least one for a database, possibly none for a log.
    pub devices: Vec<BackupDevice>,
    /// `WITH ..`; empty if absent.
    pub options: Vec<Setting>,
}

/// The kind of a backup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackupKind {
    /// `BACKUP DATABASE`
    Database,
    /// `BACKUP LOG`
    Log,
}

/// A backup device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackupDevice {
    /// The kind of device.
    pub kind: DeviceKind,
    /// A string or variable; for a logical device its name, as a column with one part.
    pub path: Expr,
}

/// The kind of a backup device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceKind {
    /// `DISK =`
    Disk,
    /// `TAPE =`
    Tape,
    /// `URL =`
    Url,
    /// A logical device, given by its name.
    Logical,
}

/// `RESTORE DATABASE name FROM DISK = 'x' WITH ..`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restore {
    /// The kind of restore.
    pub kind: RestoreKind,
    /// The database; `None` for the kinds that only read a backup.
    pub database: Option<NameOrVariable>,
    /// `FROM ..`; empty for recovery only.
    pub devices: Vec<BackupDevice>,
    /// `WITH ..`; empty if absent. `MOVE 'a' TO 'b'` is a setting MOVE with two values.
    pub options: Vec<Setting>,
}

/// The kind of a restore.
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
