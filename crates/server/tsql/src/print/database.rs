//! Databases, BACKUP and RESTORE.

use core::fmt;

use super::{List, Optional, OptionalList, Text, word};
use crate::ast::{
    AlterDatabase, AlterDatabaseAction, Backup, BackupDevice, BackupKind, CreateDatabase, DeviceKind, FileGroup,
    FileSize, FileSpec, Restore, RestoreKind, Setting, SettingValue, SizeUnit, Termination,
};

impl fmt::Display for CreateDatabase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CREATE DATABASE {}", self.name)?;
        write!(f, "{}", Optional("CONTAINMENT = ", self.containment.as_ref(), ""))?;
        write!(f, "{}", OptionalList("ON ", &self.groups, ""))?;
        write!(f, "{}", OptionalList("LOG ON ", &self.log, ""))?;
        write!(f, "{}", Optional("COLLATE ", self.collation.as_ref(), ""))?;
        write!(f, "{}", OptionalList("WITH ", &self.options, ""))
    }
}

impl fmt::Display for FileGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = &self.name {
            write!(f, "FILEGROUP {name} {}", word(self.is_default, "DEFAULT "))?;
        }
        write!(f, "{}", List(&self.files))
    }
}

impl fmt::Display for FileSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut options = Vec::new();
        options.extend(self.name.as_ref().map(|name| format!("NAME = {name}")));
        options.extend(self.file_name.as_ref().map(|path| format!("FILENAME = {}", Text(path))));
        options.extend(self.size.map(|size| format!("SIZE = {size}")));
        options.extend(self.size_max.map(|size| format!("MAXSIZE = {size}")));
        options.extend(self.growth.map(|size| format!("FILEGROWTH = {size}")));
        write!(f, "({})", List(&options))
    }
}

impl fmt::Display for FileSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unlimited => f.write_str("UNLIMITED"),
            Self::Amount { count, unit } => write!(f, "{count}{}", Optional("", unit.as_ref(), "")),
        }
    }
}

impl fmt::Display for SizeUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Kilobytes => "KB",
            Self::Megabytes => "MB",
            Self::Gigabytes => "GB",
            Self::Terabytes => "TB",
            Self::Percent => "%",
        })
    }
}

impl fmt::Display for AlterDatabase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "ALTER DATABASE {name} {}", self.action),
            None => write!(f, "ALTER DATABASE CURRENT {}", self.action),
        }
    }
}

impl fmt::Display for AlterDatabaseAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Set { options, termination } => {
                write!(
                    f,
                    "SET {}{}",
                    List(options),
                    Optional("WITH ", termination.as_ref(), "")
                )
            }
            Self::ModifyName(name) => write!(f, "MODIFY NAME = {name}"),
            Self::Collate(collation) => write!(f, "COLLATE {collation}"),
        }
    }
}

impl fmt::Display for Termination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RollbackAfter(seconds) => write!(f, "ROLLBACK AFTER {seconds} SECONDS"),
            Self::RollbackImmediate => f.write_str("ROLLBACK IMMEDIATE"),
            Self::NoWait => f.write_str("NO_WAIT"),
        }
    }
}

impl fmt::Display for Backup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            BackupKind::Database => "DATABASE",
            BackupKind::Log => "LOG",
        };
        write!(f, "BACKUP {kind} {}", self.database)?;
        write!(f, "{}", OptionalList("TO ", &self.devices, ""))?;
        write!(f, "{}", OptionalList("WITH ", &self.options, ""))
    }
}

impl fmt::Display for BackupDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            DeviceKind::Disk => "DISK = ",
            DeviceKind::Tape => "TAPE = ",
            DeviceKind::Url => "URL = ",
            DeviceKind::Logical => "",
        };
        write!(f, "{kind}{}", self.path)
    }
}

impl fmt::Display for Restore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            RestoreKind::Database => "DATABASE",
            RestoreKind::Log => "LOG",
            RestoreKind::FileListOnly => "FILELISTONLY",
            RestoreKind::HeaderOnly => "HEADERONLY",
            RestoreKind::LabelOnly => "LABELONLY",
            RestoreKind::VerifyOnly => "VERIFYONLY",
        };
        write!(f, "RESTORE {kind}{}", Optional("", self.database.as_ref(), ""))?;
        write!(f, "{}", OptionalList("FROM ", &self.devices, ""))?;
        let options: Vec<_> = self.options.iter().map(RestoreOption).collect();
        write!(f, "{}", OptionalList("WITH ", &options, ""))
    }
}

/// An option of RESTORE; MOVE has its own syntax.
struct RestoreOption<'a>(&'a Setting);

impl fmt::Display for RestoreOption<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.value {
            Some(SettingValue::Values(values)) if self.0.name.is("move") => match values.as_slice() {
                [from, to] => write!(f, "{} {from} TO {to}", self.0.name),
                _ => write!(f, "{}", self.0),
            },
            _ => write!(f, "{}", self.0),
        }
    }
}
