//! RESTORE DATABASE, and RESTORE VERIFYONLY.

use std::path::Path;
use std::time::Instant;

use selenite::backups::{self, Verify};
use selenite::restore::{self, Restore, Which};
use selenite::storage::Disk;
use selenite::{EngineError, FileContent, Suite, inspect};
use selenite_backup::{BackupError, Entry};
use selenite_compiler::{Ends, SqlError, same_name};
use selenite_keyring::KeyError;
use selenite_runtime::machine::Affected;
use selenite_tsql::ast;

use super::attended::{AttendedResult, attend};
use super::device::Device;
use super::making::{Processed, reading_access, send_processed};
use super::option::RestoreOptions;
use super::{Ended, Refused, Words, backup_error, send_information};
use crate::administration::Administration;
use crate::database::expectation::plain_access;
use crate::database::new_database::in_the_way;
use crate::database::restored_key::note_key;
use crate::database_error::of_master;
use crate::execution_context::ExecutionContext;
use crate::master::{ASYMMETRIC_KEY, CERTIFICATE, DatabaseName, DatabaseRecord, load_commitment};
use crate::{Instance, NewDatabases};

impl Administration<'_, '_> {
    pub(crate) fn restore_database(
        &mut self,
        restore: &ast::Restore,
        words: Words<'_>,
        (line, execution): (u32, &mut ExecutionContext<'_>),
    ) -> Result<Affected, Ended> {
        let options = RestoreOptions::read(&restore.options, words)?;
        let name = restore.database.as_ref().map(|name| words.name(name)).transpose()?;
        let name = name.unwrap_or_default();
        if self.transactions.is_in_transaction() {
            return Err(Refused::because(backup_error::in_transaction()).into());
        }
        let present = self.restored_over(&name, restore.devices.is_empty())?;
        let file_name = DatabaseName::new(&name).map_err(|error| Refused::because(of_master(&error)))?;
        let instance = self.session.instance;
        let path = match &present {
            Some(record) => record.path(instance.data_folder()),
            None => Ok(file_name.path(instance.data_folder())),
        };
        let path = path.map_err(|error| Refused::because(of_master(&error)))?;
        let device = Device::of(&restore.devices, words, instance.data_folder())?;
        let set = device.set(options.file)?;
        self.check_moves(&options, &set, &path)?;

        let (record, is_new) = match present {
            // REPLACE replaces a file, and writes through no link.
            Some(_) if path.is_symlink() => {
                return Err(Refused::because(not_restored_to(&name, &path)).into());
            }
            Some(record) => (record, false),
            None => {
                if in_the_way(&path).is_some() {
                    return Err(Refused::because(not_restored_to(&name, &path)).into());
                }
                let added = instance.master().add_database(&file_name);
                let record = added.map_err(|error| Refused::because(of_master(&error)))?;
                (record, true)
            }
        };
        let done = self.replace_file((&record, is_new), (&device, &set), &options, (line, &mut *execution));
        if done.is_err() {
            // Either it did not happen, and the name is free again; or its end was not noted.
            self.settle(record.id);
        }
        self.registry.reload();
        done.map(|()| Affected::Nothing)
    }

    /// `restored-database-is-exclusive`: replaces the database's file while no session has it open.
    fn replace_file(
        &mut self,
        (record, is_new): (&DatabaseRecord, bool),
        (device, set): (&Device, &Entry),
        options: &RestoreOptions,
        (line, execution): (u32, &mut ExecutionContext<'_>),
    ) -> Result<(), Ended> {
        let instance = self.session.instance;
        self.transactions.close(record.id);
        let closure = self.registry.close_for_restore(record.id);
        let closure = closure.ok_or_else(|| Refused::because(backup_error::in_use()))?;
        let path = record.path(instance.data_folder());
        let path = path.map_err(|error| Refused::because(of_master(&error)))?;
        if !options.replaces && !is_new {
            check_same_database(&path, set, &record.name)?;
        }
        let how = Restore {
            which: Which::Named(set.name.clone()),
            database_id: Some(set.database_id),
            force: !is_new,
            keep_clear: instance.config().new_databases == NewDatabases::Clear,
            // A certificate may be what opens it; from here on the server does.
            add_own_slot: true,
            ..Restore::new(&path)
        };
        let (access, _held) = reading_access(instance).map_err(Refused::because)?;
        let started = Instant::now();
        let destination = device.destination.clone();
        // The next start completes or undoes what a kill leaves from here on.
        let master = instance.master();
        let noted = match is_new {
            true => master.note_file_id(record.id, set.database_id),
            false => master.begin_restore(record.id, set.database_id),
        };
        noted.map_err(|error| Refused::because(of_master(&error)))?;
        let answer = attend((line, &mut *execution), options.step, move |watch| {
            restore::restore(&Disk, destination.as_ref(), &access, &how, watch)
        })?;
        let restored = match answer {
            AttendedResult::Done(Ok(restored)) => restored,
            AttendedResult::Done(Err(error)) => return Err(unread(instance, (device, set), &error).into()),
            AttendedResult::Stopped(stop) => return Err(stop.into()),
        };
        let noted = note_key(master, record.id, restored.suite, &restored.slots);
        let is_encrypted = restored.suite != Suite::None;
        let noted = noted.and_then(|()| master.allow_deprecated(record.id, restored.suite.is_deprecated()));
        // No session has it open. If the commitment can't be read, the file needs the origin mark of the server's
        // identity when it is opened.
        let known = load_commitment(&path, &plain_access(instance.access())).ok().flatten();
        let commitment = known
            .filter(|(id, _)| *id == restored.database_id)
            .map(|(_, commitment)| commitment);
        let identity = (restored.database_id, commitment);
        let noted = noted.and_then(|()| master.settle_file(record.id, identity, is_encrypted));
        noted.map_err(|error| Refused::because(of_master(&error)))?;
        drop(closure);
        send_processed(
            &Processed {
                what: "RESTORE DATABASE",
                database: &record.name,
                position: options.file,
                page_count: restored.page_count.into(),
                page_size: restored.page_size,
                elapsed: started.elapsed(),
                step: options.step,
            },
            (line, execution),
        )
    }

    /// The existing database, if it may be replaced.
    fn restored_over(&self, name: &str, is_without_device: bool) -> Result<Option<DatabaseRecord>, Ended> {
        let directory = self
            .registry
            .directory(self.session.instance)
            .map_err(Refused::because)?;
        let found = directory.databases.iter().find(|record| same_name(&record.name, name));
        let error = |number, text: &str| Refused::because(SqlError::new(number, Ends::Statement, text));
        let Some(record) = found else {
            return match is_without_device {
                true => Err(Refused::because(backup_error::unknown_database(name)).into()),
                false => Ok(None),
            };
        };
        if same_name(name, "tempdb") {
            let text = "Backup and restore operations are not allowed on database tempdb.";
            return Err(error(3147, text).into());
        }
        if same_name(name, "master") {
            let text = "To restore the master database, the server must be running in single-user mode.";
            return Err(error(3108, text).into());
        }
        if record.is_reserved() {
            return Err(SqlError::unsupported(&format!("RESTORE DATABASE {name}")).into());
        }
        if is_without_device {
            return Err(error(3153, "The database is already fully recovered.").into());
        }
        if self.transactions.current == record.id {
            return Err(Refused::because(backup_error::in_use_by_this_session(&record.name)).into());
        }
        Ok(Some(record.clone()))
    }

    /// A database is one file, at its own path: MOVE may only name that path.
    fn check_moves(&self, options: &RestoreOptions, set: &Entry, path: &Path) -> Result<(), Ended> {
        let known = self.session.instance.master().backup(set.name.as_str());
        let known = known.map_err(|error| Refused::because(of_master(&error)))?;
        for (file, to) in &options.moves {
            if known.as_ref().is_some_and(|known| !same_name(&known.database, file)) {
                let text = format!(
                    "Logical file '{file}' is not part of database '{}'. Use RESTORE FILELISTONLY to list the logical file names.",
                    known.map(|known| known.database).unwrap_or_default()
                );
                // 3234: MOVE of a file that the backup does not have.
                return Err(Refused::because(SqlError::new(3234, Ends::Statement, text).with_state(2)).into());
            }
            if Path::new(to) != path {
                let what = format!("MOVE to another place than {}", path.display());
                return Err(SqlError::unsupported(&what).into());
            }
        }
        Ok(())
    }

    pub(crate) fn verify_only(
        &mut self,
        restore: &ast::Restore,
        words: Words<'_>,
        (line, execution): (u32, &mut ExecutionContext<'_>),
    ) -> Result<Affected, Ended> {
        let options = RestoreOptions::read(&restore.options, words)?;
        let instance = self.session.instance;
        let device = Device::of(&restore.devices, words, instance.data_folder())?;
        let set = device.set(options.file)?;
        let what = Verify {
            database_id: Some(set.database_id),
            name: Some(set.name.clone()),
            unpinned: false,
        };
        let (access, _held) = reading_access(instance).map_err(Refused::because)?;
        let destination = device.destination.clone();
        let answer = attend((line, &mut *execution), options.step, move |watch| {
            backups::verify(destination.as_ref(), &access, &what, watch)
        })?;
        let verified = match answer {
            AttendedResult::Done(Ok(verified)) => verified,
            AttendedResult::Done(Err(error)) => {
                return Err(Refused::because(backup_error::of_engine(&device.name, &error)).into());
            }
            AttendedResult::Stopped(stop) => return Err(stop.into()),
        };
        if verified.bad_count() > 0 {
            let text = "Damage to the backup set was detected.";
            // 3189: a damaged backup.
            return Err(Refused::because(SqlError::new(3189, Ends::Statement, text)).into());
        }
        if verified.closed_count() > 0 || verified.good_count() == 0 {
            if let Some(missing) = missing_protector(instance, &device, &set) {
                return Err(Refused::because(missing).into());
            }
            let why = verified.closed();
            let why = why.map_or_else(
                || "none of the server's keys opens it".to_owned(),
                |error| error.to_string(),
            );
            let text = format!("Access is denied: {why}.");
            // 3279: a backup that none of the keys opens.
            return Err(Refused::because(SqlError::new(3279, Ends::Statement, text)).into());
        }
        let text = format!("The backup set on file {} is valid.", options.file);
        send_information(3262, &text, (line, execution))?;
        Ok(Affected::Nothing)
    }
}

/// Refuses a backup of another database than the existing one.
fn check_same_database(path: &Path, set: &Entry, name: &str) -> Result<(), Ended> {
    // A file that this process has open is reported as in use: no session of this server has it open.
    let present = inspect(&Disk, path);
    let is_same = match present {
        Ok(FileContent::Sealed { superblock, .. }) => superblock.database_id == set.database_id,
        Ok(FileContent::Empty | FileContent::Plain | FileContent::Foreign) => false,
        Err(error) if error.class() == selenite::Class::Io && !path.exists() => true,
        Err(error) => return Err(Refused::because(backup_error::of_engine(name, &error)).into()),
    };
    match is_same {
        true => Ok(()),
        false => Err(Refused::because(backup_error::another_database(name)).into()),
    }
}

/// Why a backup was not read: 33111 where a certificate or a provider's key would open it that the server lacks.
fn unread(instance: &Instance, (device, set): (&Device, &Entry), error: &EngineError) -> Refused {
    let is_closed = matches!(
        error,
        EngineError::Backup(BackupError::Key { .. }) | EngineError::Key(KeyError::WrongKey)
    );
    let missing = is_closed.then(|| missing_protector(instance, device, set)).flatten();
    Refused::because(missing.unwrap_or_else(|| backup_error::of_engine(&device.name, error)))
}

/// 33111: the certificate, or the key of a provider, of a backup is missing.
///
/// The error names the first one that the backup names. None if the server has one of them, which does not open it.
fn missing_protector(instance: &Instance, device: &Device, set: &Entry) -> Option<SqlError> {
    let slots = backups::claimed_slots(device.destination.as_ref(), set);
    let known = instance.master().protectors().unwrap_or_default();
    if known
        .iter()
        .any(|one| slots.iter().any(|slot| slot.label == one.label()))
    {
        return None;
    }
    let named = slots.iter().find_map(|slot| {
        let (kind, digits) = [CERTIFICATE, ASYMMETRIC_KEY].into_iter().find_map(|kind| {
            let digits = slot.label.strip_prefix(kind)?.strip_prefix(' ')?;
            Some((kind, digits))
        })?;
        let is_one = digits.len() == THUMBPRINT_DIGITS && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        is_one.then(|| format!("{kind} with thumbprint '0x{}'", digits.to_ascii_uppercase()))
    })?;
    let text = format!("Cannot find server {named}.");
    Some(SqlError::new(33111, Ends::Statement, text).with_state(3))
}

/// 3156: MOVE to a path that a database cannot have.
fn not_restored_to(name: &str, path: &Path) -> SqlError {
    let text = format!(
        "File '{name}' cannot be restored to '{}'. Use WITH MOVE to identify a valid location for the file.",
        path.display()
    );
    SqlError::new(3156, Ends::Statement, text).with_state(8)
}

/// SHA-1.
const THUMBPRINT_DIGITS: usize = 40;
