//! What backups on a medium are: RESTORE HEADERONLY, FILELISTONLY and LABELONLY.
//!
//! - `only-known-values`: every value reported was authenticated, or was recorded by this server
//!   when it made the backup. An unknown value is NULL.

use std::sync::Arc;

use selenite::Watch;
use selenite::backups::{self, Known, Listed};
use selenite_backup::Entry;
use selenite_runtime::machine::Affected;
use selenite_tds::{Collation, Column};
use selenite_tsql::ast;
use selenite_types::{DataType, Decimal, Guid, Moment, Value, Width};

use super::device::Device;
use super::making::reading_access;
use super::option::RestoreOptions;
use super::{Ended, Refused, Words, backup_error};
use crate::administration::Administration;
use crate::database_error::of_master;
use crate::execution_context::ExecutionContext;
use crate::instance::VERSION;
use crate::master::BackupRecord;

/// A backup set.
struct Set {
    position: usize,
    entry: Entry,
    known: Option<Known>,
    noted: Option<BackupRecord>,
}

impl Administration<'_, '_> {
    pub(crate) fn header_only(
        &mut self,
        restore: &ast::Restore,
        words: Words<'_>,
        (_, execution): (u32, &mut ExecutionContext<'_>),
    ) -> Result<Affected, Ended> {
        let asks_for_one = restore.options.iter().any(|option| option.name.is("FILE"));
        let (options, _, sets) = self.sets(restore, words)?;
        let sets: Vec<Set> = sets
            .into_iter()
            .filter(|set| !asks_for_one || set.position == options.file)
            .collect();
        let offset = execution.state.now.offset_minutes;
        rows(HEADER, execution, sets.iter().map(|set| set.header(offset)))
    }

    pub(crate) fn file_list_only(
        &mut self,
        restore: &ast::Restore,
        words: Words<'_>,
        (_, execution): (u32, &mut ExecutionContext<'_>),
    ) -> Result<Affected, Ended> {
        let (options, device, sets) = self.sets(restore, words)?;
        let set = sets.into_iter().find(|set| set.position == options.file);
        let set = set.ok_or_else(|| Refused::because(backup_error::no_such_set(options.file, &device.name)))?;
        let folder = self.session.instance.data_folder().to_owned();
        let file = set
            .noted
            .as_ref()
            .map(|noted| folder.join(format!("{}.db", noted.database)));
        rows(
            FILES,
            execution,
            [set.file(file.map(|file| file.display().to_string()))].into_iter(),
        )
    }

    pub(crate) fn label_only(
        &mut self,
        restore: &ast::Restore,
        words: Words<'_>,
        (_, execution): (u32, &mut ExecutionContext<'_>),
    ) -> Result<Affected, Ended> {
        let (_, _, sets) = self.sets(restore, words)?;
        let offset = execution.state.now.offset_minutes;
        let first = sets
            .iter()
            .filter_map(|set| set.known.as_ref())
            .map(|known| known.made)
            .min();
        let row = vec![
            Value::Null,
            Value::Null,
            Value::Int(1),
            Value::Int(1),
            Value::Null,
            Value::Int(1),
            Value::TinyInt(0),
            Value::Null,
            text(&format!("Selenite {}", env!("CARGO_PKG_VERSION"))),
            Value::Null,
            moment(first.map(|first| i64::try_from(first).unwrap_or(i64::MAX)), offset),
            Value::Int(1),
            Value::Bit(sets.iter().any(|set| set.is_compressed() == Some(true))),
        ];
        rows(LABEL, execution, [row].into_iter())
    }

    /// All backup sets of the statement's device.
    fn sets(&self, restore: &ast::Restore, words: Words<'_>) -> Result<(RestoreOptions, Device, Vec<Set>), Ended> {
        let options = RestoreOptions::read(&restore.options, words)?;
        let instance = self.session.instance;
        let device = Device::of(&restore.devices, words, instance.data_folder())?;
        let (entries, _) = device.sets(false)?;
        if entries.is_empty() {
            return Err(Refused::because(backup_error::empty_medium(&device.name)).into());
        }
        let (access, _held) = reading_access(instance).map_err(Refused::because)?;
        let listing = backups::list(device.destination.as_ref(), &access, None, &Watch::none());
        let listing = listing.map_err(|error| Refused::because(backup_error::of_engine(&device.name, &error)))?;
        let mut archives = listing.archives;
        let mut sets = Vec::with_capacity(entries.len());
        for (index, entry) in entries.into_iter().enumerate() {
            let at = archives
                .iter()
                .position(|listed| listed.entry.name == entry.name && listed.entry.database_id == entry.database_id);
            let known = at
                .map(|at| archives.swap_remove(at))
                .and_then(|listed: Listed| listed.known);
            let noted = instance.master().backup(entry.name.as_str());
            // What was noted of an archive counts only where that is authentic.
            let noted = noted
                .map_err(|error| Refused::because(of_master(&error)))?
                .filter(|_| known.is_some());
            sets.push(Set {
                position: index + 1,
                entry,
                known,
                noted,
            });
        }
        Ok((options, device, sets))
    }
}

impl Set {
    fn is_compressed(&self) -> Option<bool> {
        self.noted.as_ref().map(|noted| noted.is_compressed)
    }

    fn is_differential(&self) -> Option<bool> {
        self.known.as_ref().map(|known| known.base.is_some())
    }

    /// How many bytes the database's pages are.
    fn size(&self) -> Option<u64> {
        let known = self.known.as_ref()?;
        Some(u64::from(known.page_count) * u64::from(known.page_size))
    }

    fn guid(&self) -> Value {
        Value::Guid(Guid(self.entry.database_id.0))
    }

    fn header(&self, offset: i16) -> Vec<Value> {
        let noted = self.noted.as_ref();
        let of_text = |value: Option<&String>| value.map_or(Value::Null, |value| text(value));
        let version = |part: u32| Value::Int(i32::try_from(part).unwrap_or(i32::MAX));
        let is_differential = self.is_differential();
        let start = noted.map(|noted| noted.started);
        let made = self
            .known
            .as_ref()
            .map(|known| i64::try_from(known.made).unwrap_or(i64::MAX));
        HEADER
            .iter()
            .map(|(name, _)| match *name {
                "BackupName" => of_text(noted.and_then(|noted| noted.name.as_ref())),
                "BackupDescription" => of_text(noted.and_then(|noted| noted.description.as_ref())),
                "BackupType" => is_differential.map_or(Value::Null, |is| Value::SmallInt(if is { 5 } else { 1 })),
                "BackupTypeDescription" => is_differential.map_or(Value::Null, |is| {
                    text(if is { "Database Differential" } else { "Database" })
                }),
                "Compressed" => self
                    .is_compressed()
                    .map_or(Value::Null, |is| Value::TinyInt(u8::from(is))),
                "Position" => Value::SmallInt(i16::try_from(self.position).unwrap_or(i16::MAX)),
                "DeviceType" => Value::TinyInt(2),
                "UserName" => of_text(noted.map(|noted| &noted.login)),
                "ServerName" | "MachineName" => of_text(noted.map(|noted| &noted.server)),
                "DatabaseName" => of_text(noted.map(|noted| &noted.database)),
                "DatabaseCreationDate" => moment(noted.map(|noted| noted.database_created), offset),
                "BackupSize" => decimal(self.size()),
                "CompressedBackupSize" => Value::BigInt(i64::try_from(self.entry.size).unwrap_or(i64::MAX)),
                "BackupStartDate" => moment(start.or(made), offset),
                "BackupFinishDate" => moment(noted.map(|noted| noted.finished), offset),
                "SoftwareVersionMajor" if noted.is_some() => version(VERSION.major.into()),
                "SoftwareVersionMinor" if noted.is_some() => version(VERSION.minor.into()),
                "SoftwareVersionBuild" if noted.is_some() => version(VERSION.build.into()),
                "FamilyGUID" => self.guid(),
                "HasBackupChecksums" => Value::Bit(true),
                "IsDamaged" => self
                    .known
                    .as_ref()
                    .map_or(Value::Null, |known| Value::Bit(known.missing_count > 0)),
                "IsCopyOnly" => noted.map_or(Value::Null, |noted| Value::Bit(noted.is_copy_only)),
                "HasBulkLoggedData"
                | "IsSnapshot"
                | "IsReadOnly"
                | "IsSingleUser"
                | "BeginsLogChain"
                | "HasIncompleteMetaData"
                | "IsForceOffline" => Value::Bit(false),
                "RecoveryModel" => text("SIMPLE"),
                "Containment" => Value::TinyInt(0),
                _ => Value::Null,
            })
            .collect()
    }

    fn file(&self, path: Option<String>) -> Vec<Value> {
        let size = self.size();
        let is_whole = self.known.is_some();
        FILES
            .iter()
            .map(|(name, _)| match *name {
                "LogicalName" => self.noted.as_ref().map_or(Value::Null, |noted| text(&noted.database)),
                "PhysicalName" => path.as_ref().map_or(Value::Null, |path| text(path)),
                "Type" => text("D"),
                "FileGroupName" => text("PRIMARY"),
                "Size" => decimal(size),
                "FileId" => Value::BigInt(1),
                "FileGroupId" => Value::Int(1),
                "UniqueId" => self.guid(),
                "BackupSizeInBytes" => size.map_or(Value::Null, |size| {
                    Value::BigInt(i64::try_from(size).unwrap_or(i64::MAX))
                }),
                "SourceBlockSize" => self.known.as_ref().map_or(Value::Null, |known| {
                    Value::Int(i32::try_from(known.page_size).unwrap_or(i32::MAX))
                }),
                "IsReadOnly" => Value::Bit(false),
                "IsPresent" => Value::Bit(is_whole),
                _ => Value::Null,
            })
            .collect()
    }
}

/// Columns, by name and type: all of them may be NULL.
type Shape = &'static [(&'static str, DataType)];

fn rows(
    shape: Shape,
    execution: &mut ExecutionContext<'_>,
    rows: impl Iterator<Item = Vec<Value>>,
) -> Result<Affected, Ended> {
    let columns: Vec<Column> = shape
        .iter()
        .map(|(name, data_type)| Column {
            name: (*name).to_owned(),
            data_type: *data_type,
            is_nullable: true,
            is_identity: false,
            is_computed: false,
            collation: Collation::DEFAULT,
        })
        .collect();
    execution.reply.columns(&columns)?;
    let mut count = 0;
    for row in rows {
        execution.reply.row(&row)?;
        count += 1;
    }
    Ok(Affected::Rows(count))
}

fn text(text: &str) -> Value {
    Value::Text(Arc::from(text))
}

fn decimal(number: Option<u64>) -> Value {
    number.map_or(Value::Null, |number| {
        Value::Decimal(Decimal {
            unscaled: number.into(),
            scale: 0,
        })
    })
}

/// A datetime of seconds since 1970-01-01 UTC, in the server's own time.
fn moment(seconds: Option<i64>, offset_minutes: i16) -> Value {
    let seconds = seconds
        .and_then(|seconds| u64::try_from(seconds).ok())
        .filter(|seconds| *seconds > 0);
    seconds.map_or(Value::Null, |seconds| {
        let moment = Moment {
            unix_ns: seconds.saturating_mul(1_000_000_000),
            offset_minutes,
        };
        Value::DateTime(moment.datetime_local())
    })
}

const NAME: DataType = DataType::NVarChar(Width::Limited(128));
const fn wide(length: u16) -> DataType {
    DataType::NVarChar(Width::Limited(length))
}
const LSN: DataType = DataType::Numeric {
    precision: 25,
    scale: 0,
};
const SIZE: DataType = DataType::Numeric {
    precision: 20,
    scale: 0,
};

const HEADER: Shape = &[
    ("BackupName", NAME),
    ("BackupDescription", wide(255)),
    ("BackupType", DataType::SmallInt),
    ("ExpirationDate", DataType::DateTime),
    ("Compressed", DataType::TinyInt),
    ("Position", DataType::SmallInt),
    ("DeviceType", DataType::TinyInt),
    ("UserName", NAME),
    ("ServerName", NAME),
    ("DatabaseName", NAME),
    ("DatabaseVersion", DataType::Int),
    ("DatabaseCreationDate", DataType::DateTime),
    ("BackupSize", SIZE),
    ("FirstLSN", LSN),
    ("LastLSN", LSN),
    ("CheckpointLSN", LSN),
    ("DatabaseBackupLSN", LSN),
    ("BackupStartDate", DataType::DateTime),
    ("BackupFinishDate", DataType::DateTime),
    ("SortOrder", DataType::SmallInt),
    ("CodePage", DataType::SmallInt),
    ("UnicodeLocaleId", DataType::Int),
    ("UnicodeComparisonStyle", DataType::Int),
    ("CompatibilityLevel", DataType::TinyInt),
    ("SoftwareVendorId", DataType::Int),
    ("SoftwareVersionMajor", DataType::Int),
    ("SoftwareVersionMinor", DataType::Int),
    ("SoftwareVersionBuild", DataType::Int),
    ("MachineName", NAME),
    ("Flags", DataType::Int),
    ("BindingID", DataType::UniqueIdentifier),
    ("RecoveryForkID", DataType::UniqueIdentifier),
    ("Collation", NAME),
    ("FamilyGUID", DataType::UniqueIdentifier),
    ("HasBulkLoggedData", DataType::Bit),
    ("IsSnapshot", DataType::Bit),
    ("IsReadOnly", DataType::Bit),
    ("IsSingleUser", DataType::Bit),
    ("HasBackupChecksums", DataType::Bit),
    ("IsDamaged", DataType::Bit),
    ("BeginsLogChain", DataType::Bit),
    ("HasIncompleteMetaData", DataType::Bit),
    ("IsForceOffline", DataType::Bit),
    ("IsCopyOnly", DataType::Bit),
    ("FirstRecoveryForkID", DataType::UniqueIdentifier),
    ("ForkPointLSN", LSN),
    ("RecoveryModel", wide(60)),
    ("DifferentialBaseLSN", LSN),
    ("DifferentialBaseGUID", DataType::UniqueIdentifier),
    ("BackupTypeDescription", wide(60)),
    ("BackupSetGUID", DataType::UniqueIdentifier),
    ("CompressedBackupSize", DataType::BigInt),
    ("Containment", DataType::TinyInt),
    ("KeyAlgorithm", wide(32)),
    ("EncryptorThumbprint", DataType::VarBinary(Width::Limited(20))),
    ("EncryptorType", wide(32)),
];

const FILES: Shape = &[
    ("LogicalName", NAME),
    ("PhysicalName", wide(260)),
    ("Type", DataType::Char(1)),
    ("FileGroupName", NAME),
    ("Size", SIZE),
    ("MaxSize", SIZE),
    ("FileId", DataType::BigInt),
    ("CreateLSN", LSN),
    ("DropLSN", LSN),
    ("UniqueId", DataType::UniqueIdentifier),
    ("ReadOnlyLSN", LSN),
    ("ReadWriteLSN", LSN),
    ("BackupSizeInBytes", DataType::BigInt),
    ("SourceBlockSize", DataType::Int),
    ("FileGroupId", DataType::Int),
    ("LogGroupGUID", DataType::UniqueIdentifier),
    ("DifferentialBaseLSN", LSN),
    ("DifferentialBaseGUID", DataType::UniqueIdentifier),
    ("IsReadOnly", DataType::Bit),
    ("IsPresent", DataType::Bit),
    ("TDEThumbprint", DataType::VarBinary(Width::Limited(32))),
    ("SnapshotURL", wide(360)),
];

const LABEL: Shape = &[
    ("MediaName", NAME),
    ("MediaSetId", DataType::UniqueIdentifier),
    ("FamilyCount", DataType::Int),
    ("FamilySequenceNumber", DataType::Int),
    ("MediaFamilyId", DataType::UniqueIdentifier),
    ("MediaSequenceNumber", DataType::Int),
    ("MediaLabelPresent", DataType::TinyInt),
    ("MediaDescription", wide(255)),
    ("SoftwareName", NAME),
    ("SoftwareVendorId", DataType::Int),
    ("MediaDate", DataType::DateTime),
    ("MirrorCount", DataType::Int),
    ("IsCompressed", DataType::Bit),
];
