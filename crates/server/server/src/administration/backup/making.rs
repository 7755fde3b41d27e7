//! BACKUP DATABASE.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use selenite::backup::{self, Backup, Report};
use selenite::storage::Disk;
use selenite::{Access, EngineError};
use selenite_backup::{CompressionLevel, Entry, remove_archive};
use selenite_compiler::{SqlError, same_name};
use selenite_keyring::HeldAge;
use selenite_runtime::machine::Affected;
use selenite_tsql::ast;

use super::attended::{AttendedResult, Steps, attend};
use super::device::Device;
use super::option::BackupOptions;
use super::{Ended, Refused, Words, backup_error, send_information};
use crate::Instance;
use crate::administration::Administration;
use crate::administration::encryption::{held_certificates, usable_keys};
use crate::database::expectation::{access_to, plain_access};
use crate::database_error::of_master;
use crate::execution_context::ExecutionContext;
use crate::master::{BackupRecord, DatabaseRecord};

impl Administration<'_, '_> {
    pub(crate) fn back_up_database(
        &mut self,
        backup: &ast::Backup,
        words: Words<'_>,
        (line, execution): (u32, &mut ExecutionContext<'_>),
    ) -> Result<Affected, Ended> {
        let options = BackupOptions::read(&backup.options, words)?;
        let name = words.name(&backup.database)?;
        if self.transactions.is_in_transaction() {
            return Err(Refused::because(backup_error::in_transaction()).into());
        }
        let (record, path) = self.backed_up(&name)?;
        let instance = self.session.instance;
        let device = Device::of(&backup.devices, words, instance.data_folder())?;
        self.check_device(&device, options.replaces)?;
        let (sets, others) = device.sets(true)?;
        // No one drops it meanwhile.
        let held = self.registry.database(instance, &record).map_err(Refused::because)?;
        let how = Backup {
            level: match options.in_full {
                true => CompressionLevel::None,
                false => CompressionLevel::default(),
            },
            incremental: options.differential,
            ..Backup::default()
        };
        let access = access_to(instance, record.id).map_err(Refused::because)?;
        let started = (Instant::now(), selenite::now());
        let destination = device.destination.clone();
        let answer = attend((line, &mut *execution), options.step, move |watch| {
            backup::backup(&Disk, &path, &access, how, &destination, watch)
        })?;
        drop(held);
        let report = match answer {
            AttendedResult::Done(Ok(report)) => report,
            AttendedResult::Done(Err(error)) => {
                device.clean(&sets, &others);
                let is_without_base = options.differential && matches!(error, EngineError::Usage { .. });
                return Err(Refused::because(match is_without_base {
                    true => backup_error::no_base(&record.name),
                    false => backup_error::of_engine(&device.name, &error),
                })
                .into());
            }
            AttendedResult::Stopped(stop) => {
                device.clean(&sets, &others);
                return Err(stop.into());
            }
        };
        let position = if options.replaces { 1 } else { sets.len() + 1 };
        if options.replaces {
            device.replace(&sets, &others).map_err(Refused::because)?;
        }
        if let Some(path) = &device.path {
            self.note_backup(&record, (&report, started.1), &options, path)
                .map_err(Refused::because)?;
        }
        send_processed(
            &Processed {
                what: "BACKUP DATABASE",
                database: &record.name,
                position,
                page_count: report.sent_count,
                page_size: report.page_size,
                elapsed: started.0.elapsed(),
                step: options.step,
            },
            (line, execution),
        )?;
        Ok(Affected::Nothing)
    }

    /// Who is no administrator writes below the folder of backups alone, and removes no backup there.
    fn check_device(&self, device: &Device, replaces: bool) -> Result<(), Ended> {
        if self.permissions.is_administrator {
            return Ok(());
        }
        if !device.is_below_backup {
            let what = "BACKUP to an absolute path by a login that is no administrator";
            return Err(SqlError::unsupported(what).into());
        }
        match replaces {
            true => Err(SqlError::unsupported("BACKUP WITH INIT or FORMAT by a login that is no administrator").into()),
            false => Ok(()),
        }
    }

    /// The database of that name and its file, if it has one that can be backed up.
    fn backed_up(&self, name: &str) -> Result<(DatabaseRecord, PathBuf), Ended> {
        let instance = self.session.instance;
        let directory = self.registry.directory(instance).map_err(Refused::because)?;
        let found = directory.databases.iter().find(|record| same_name(&record.name, name));
        let record = found.ok_or_else(|| Refused::because(backup_error::unknown_database(name)))?;
        if same_name(&record.name, "tempdb") {
            let text = "Backup and restore operations are not allowed on database tempdb.";
            // 3147: a backup of tempdb.
            return Err(Refused::because(SqlError::new(3147, selenite_compiler::Ends::Statement, text)).into());
        }
        let shared = self.registry.database(instance, record).map_err(Refused::because)?;
        match &shared.path {
            Some(path) => Ok((record.clone(), path.clone())),
            None => Err(SqlError::unsupported(&format!("BACKUP DATABASE {}", record.name)).into()),
        }
    }

    fn note_backup(
        &self,
        record: &DatabaseRecord,
        (report, started): (&Report, u64),
        options: &BackupOptions,
        place: &Path,
    ) -> Result<(), SqlError> {
        let seconds = |at: u64| i64::try_from(at).unwrap_or(i64::MAX);
        let noted = self.session.instance.master().add_backup(&BackupRecord {
            archive: report.name.to_string(),
            database: record.name.clone(),
            database_created: record.created,
            name: options.name.clone(),
            description: options.description.clone(),
            is_copy_only: options.copy_only,
            is_compressed: !options.in_full,
            login: self.session.login_info.login.clone(),
            server: self.session.instance.name().to_owned(),
            place: place.display().to_string(),
            started: seconds(started),
            finished: seconds(selenite::now()),
        });
        noted.map_err(|error| of_master(&error))
    }
}

impl Device {
    /// Removes what a failed backup has left, and nothing that existed before. It is no error if that can't be
    /// removed: it is not a backup, and the next one continues with it.
    fn clean(&self, sets: &[Entry], others: &[Entry]) {
        let Ok((_, now)) = self.sets(true) else { return };
        let is_new = |entry: &&Entry| !sets.iter().chain(others).any(|known| known.name == entry.name);
        for entry in now.iter().filter(is_new) {
            let _ = remove_archive(self.destination.as_ref(), entry.database_id, &entry.name, &mut |_| ());
        }
    }

    /// Removes what was there before a backup that replaces it.
    fn replace(&self, sets: &[Entry], others: &[Entry]) -> Result<(), SqlError> {
        // What rests on another goes before it.
        for entry in sets.iter().rev().chain(others) {
            let removed = remove_archive(self.destination.as_ref(), entry.database_id, &entry.name, &mut |_| ());
            removed.map_err(|error| backup_error::of_store(&self.name, &error))?;
        }
        Ok(())
    }
}

/// How backups are opened: by the server's identity, by the key of a provider, or by one of the server's certificates,
/// which are held as long as the second lives.
pub(crate) fn reading_access(instance: &Instance) -> Result<(Access, Option<HeldAge>), SqlError> {
    let held = held_certificates(instance)?;
    let more = held.iter().map(HeldAge::spec).chain(usable_keys(instance)?);
    let access = Access {
        more: more.collect(),
        ..plain_access(instance.access())
    };
    Ok((access, held))
}

/// What was done, for messages.
pub(crate) struct Processed<'a> {
    /// The statement.
    pub what: &'static str,
    /// The database.
    pub database: &'a str,
    /// The number of the backup set.
    pub position: usize,
    /// How many pages were read or written.
    pub page_count: u64,
    /// Of how many bytes.
    pub page_size: u32,
    /// How long it took.
    pub elapsed: Duration,
    /// STATS.
    pub step: Option<u8>,
}

/// 4035, the last 3211, 3014.
pub(crate) fn send_processed(
    done: &Processed<'_>,
    (line, execution): (u32, &mut ExecutionContext<'_>),
) -> Result<(), Ended> {
    let Processed {
        what,
        database,
        position,
        page_count,
        ..
    } = done;
    let text = format!("Processed {page_count} pages for database '{database}', file '{database}' on file {position}.");
    send_information(4035, &text, (line, &mut *execution))?;
    Steps::new(done.step.map(|_| 100)).reach(100, (line, &mut *execution))?;
    let millis = done.elapsed.as_millis().max(1);
    let bytes = u128::from(*page_count) * u128::from(done.page_size);
    // Thousandths of 2^20 bytes a second.
    let speed = bytes * 1_000_000 / millis / (1 << 20);
    let text = format!(
        "{what} successfully processed {page_count} pages in {}.{:03} seconds ({}.{:03} MB/sec).",
        millis / 1000,
        millis % 1000,
        speed / 1000,
        speed % 1000,
    );
    send_information(3014, &text, (line, execution))
}
