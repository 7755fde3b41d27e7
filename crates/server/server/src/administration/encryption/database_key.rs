//! CREATE, ALTER and DROP DATABASE ENCRYPTION KEY.

use std::path::PathBuf;
use std::sync::Arc;

use selenite::reencrypt::Goal;
use selenite::storage::Disk;
use selenite::{Access, EngineError, Suite, keys};
use selenite_compiler::{SqlError, same_name};
use selenite_keyring::{HeldAge, KeyError};
use selenite_runtime::machine::Failure;
use selenite_runtime::sqlite::lock_timeout;
use selenite_tsql::ast::{self, Encryptor, Name};

use super::{error, held_certificates, info, missing, of_engine, unsupported};
use crate::administration::Administration;
use crate::database::database_connection::SharedDatabase;
use crate::database::expectation::access_to;
use crate::database::file_state::{FileState, Phase};
use crate::database::write_queue::{NoPermit, WritePermit};
use crate::database_error::{deadlock, of_master};
use crate::execution_context::ExecutionContext;
use crate::master::{ASYMMETRIC_KEY, CERTIFICATE, DatabaseRecord, EncryptionKeyRecord, Protector, Tde};
use crate::registry::own;
use crate::{Instance, NewDatabases};

/// A database whose keys are to be changed.
pub struct Subject {
    /// Its id and name.
    pub record: DatabaseRecord,
    /// Its file.
    pub path: PathBuf,
    /// How it is opened.
    pub access: Access,
    shared: Arc<SharedDatabase>,
    instance: Arc<Instance>,
}

impl Subject {
    /// What its file says, as T-SQL shows it.
    ///
    /// # Errors
    /// The error of the engine, or master.db.
    pub fn state(&self) -> Result<FileState, SqlError> {
        let loaded = FileState::load(&self.path, &self.access);
        let loaded = loaded.map_err(|failed| of_engine(&self.record.name, &failed))?;
        let key = self.instance.master().encryption_key(self.record.id);
        Ok(loaded.shown(key.map_err(|fault| of_master(&fault))?.as_ref()))
    }

    /// Whether it stays encrypted when its encryption is switched off.
    pub fn keeps_encrypted(&self) -> bool {
        self.instance.config().new_databases == NewDatabases::Encrypted
    }

    /// Notes what its encryption key is, or is about to be. Before a scan begins, so that the next start continues
    /// after a kill in between.
    ///
    /// # Errors
    /// The error of master.db.
    pub fn note(&self, tde: Tde) -> Result<(), SqlError> {
        let master = self.instance.master();
        let noted = master.change_encryption_key(self.record.id, |key, _| key.tde = tde);
        noted.map_err(|fault| of_master(&fault))
    }

    /// Waits until no session of this server writes to it.
    ///
    /// # Errors
    /// 1222; that the request is to stop.
    fn permit(&self, execution: &mut ExecutionContext<'_>) -> Result<WritePermit, Failure> {
        let timeout = execution.state.lock_timeout();
        let session = own::spid();
        let waits = (session, self.shared.waits.as_ref());
        match self.shared.write_queue.enter(waits, timeout, || execution.reply.poll()) {
            Ok(permit) => Ok(permit),
            Err(NoPermit::Deadlock) => Err(deadlock(session).into()),
            Err(NoPermit::TimedOut) => Err(lock_timeout().into()),
            Err(NoPermit::Stopped(stop)) => Err(stop.into()),
        }
    }
}

impl Administration<'_, '_> {
    /// CREATE DATABASE ENCRYPTION KEY.
    pub(crate) fn create_encryption_key(
        &self,
        create: &ast::EncryptionKey,
        execution: &mut ExecutionContext<'_>,
    ) -> Result<(), Failure> {
        let instance = self.session.instance;
        let subject = self.subject(self.transactions.current)?;
        let kept = instance.master().encryption_key(subject.record.id);
        if kept.map_err(|fault| of_master(&fault))?.is_some() {
            return Err(error(33103, "A database encryption key already exists for this database.").into());
        }
        let suite = algorithm(&create.algorithm)?;
        let protector = self.protector(&create.encryptor)?;
        let slot = {
            let _turn = subject.permit(execution)?;
            add_slot(instance, &subject, &protector)?
        };
        let now = i64::try_from(selenite::now()).unwrap_or(i64::MAX);
        let stored = instance.master().store_encryption_key(&EncryptionKeyRecord {
            database_id: subject.record.id,
            protector: protector.id(),
            algorithm: suite.name().to_owned(),
            slot,
            created: now,
            regenerated: now,
            modified: now,
            set: now,
            scanned: 0,
            tde: Tde::Off,
        });
        stored.map_err(|fault| of_master(&fault))?;
        self.allow_deprecated(&subject, suite)?;
        warn_without_backup(&protector, execution)
    }

    /// ALTER DATABASE ENCRYPTION KEY.
    pub(crate) fn alter_encryption_key(
        &self,
        alter: &ast::AlterEncryptionKey,
        execution: &mut ExecutionContext<'_>,
    ) -> Result<(), Failure> {
        let instance = self.session.instance;
        let subject = self.subject(self.transactions.current)?;
        let key = self.key_of(&subject)?;
        let suite = alter.algorithm.as_ref().map(algorithm).transpose()?;
        let protector = alter.encryptor.as_ref().map(|one| self.protector(one)).transpose()?;
        let state = self.settled(&subject, execution)?;
        if state.phase.is_moving() {
            let text = "Cannot change database encryption key while an encryption, decryption, or key change scan is in \
                progress.";
            return Err(error(33110, text).into());
        }
        if let Some(protector) = &protector {
            let slot = {
                let _turn = subject.permit(execution)?;
                replace_slot((instance, &subject), &state, &key, protector)?
            };
            let changed = instance.master().change_encryption_key(subject.record.id, |key, now| {
                key.protector = protector.id();
                key.slot = slot;
                key.modified = now;
            });
            changed.map_err(|fault| of_master(&fault))?;
            warn_without_backup(protector, execution)?;
        }
        let Some(suite) = suite else {
            return Ok(());
        };
        self.allow_deprecated(&subject, suite)?;
        if state.phase == Phase::Encrypted {
            let goal = if state.suite == suite.name() {
                Goal::NewKey
            } else {
                Goal::Suite(suite)
            };
            self.begin_noted_scan(&subject, goal, (Tde::On, Tde::ChangingKey), execution)?;
        }
        let changed = instance.master().change_encryption_key(subject.record.id, |key, now| {
            suite.name().clone_into(&mut key.algorithm);
            key.regenerated = now;
            key.modified = now;
        });
        Ok(changed.map_err(|fault| of_master(&fault))?)
    }

    /// DROP DATABASE ENCRYPTION KEY.
    pub(crate) fn drop_encryption_key(&self, execution: &mut ExecutionContext<'_>) -> Result<(), Failure> {
        let subject = self.subject(self.transactions.current)?;
        let key = self.key_of(&subject)?;
        let state = self.settled(&subject, execution)?;
        if state.phase != Phase::Clear {
            let text = "Cannot drop the database encryption key because it is currently in use. Database encryption needs to \
                be turned off to be able to drop the database encryption key.";
            return Err(error(33105, text).into());
        }
        {
            let _turn = subject.permit(execution)?;
            remove_slot(&subject, &key.slot)?;
        }
        let removed = self.session.instance.master().remove_encryption_key(subject.record.id);
        Ok(removed.map_err(|fault| of_master(&fault))?)
    }

    /// A deprecated suite that an administrator has named is opened from now on.
    fn allow_deprecated(&self, subject: &Subject, suite: Suite) -> Result<(), SqlError> {
        if !suite.is_deprecated() {
            return Ok(());
        }
        let noted = self.session.instance.master().allow_deprecated(subject.record.id, true);
        noted.map_err(|fault| of_master(&fault))
    }

    /// The database of that id, if its encryption can be changed.
    ///
    /// # Errors
    /// 33102.
    pub(crate) fn subject(&self, id: i32) -> Result<Subject, SqlError> {
        let instance = self.session.instance;
        let record = instance.master().database_of(id).map_err(|fault| of_master(&fault))?;
        let record = record.ok_or_else(|| SqlError::internal("a database that is gone"))?;
        let shared = self.registry.database(instance, &record)?;
        let Some(path) = shared.path.clone().filter(|_| !record.is_reserved()) else {
            let text = "Cannot encrypt a system database. Database encryption operations cannot be performed for 'master', \
                'model', 'tempdb', 'msdb', or 'resource' databases.";
            return Err(error(33102, text));
        };
        Ok(Subject {
            record,
            path,
            access: access_to(instance, id)?,
            shared,
            instance: instance.clone(),
        })
    }

    /// What a database's file says. Where that is that a scan is over, its thread is waited for.
    ///
    /// # Errors
    /// The error of the engine; that the request is to stop.
    pub(crate) fn settled(
        &self,
        subject: &Subject,
        execution: &mut ExecutionContext<'_>,
    ) -> Result<FileState, Failure> {
        let scans = self.registry.scans();
        let state = subject.state()?;
        if state.phase.is_moving() || !scans.is_running(subject.record.id) {
            return Ok(state);
        }
        scans.settle(subject.record.id, || execution.reply.poll())?;
        Ok(subject.state()?)
    }

    fn key_of(&self, subject: &Subject) -> Result<EncryptionKeyRecord, SqlError> {
        let kept = self.session.instance.master().encryption_key(subject.record.id);
        let kept = kept.map_err(|fault| of_master(&fault))?;
        kept.ok_or_else(|| error(33104, "A database encryption key does not exist for this database."))
    }

    /// What protects a database encryption key. A provider's key is tried before any lock is taken.
    ///
    /// # Errors
    /// 15151; 33031, 33030 or 33028; the error of master.db.
    fn protector(&self, encryptor: &Encryptor) -> Result<Protector, SqlError> {
        let master = self.session.instance.master();
        match encryptor {
            Encryptor::Certificate(name) => {
                let found = master.certificate_named(&name.text);
                let found = found.map_err(|fault| of_master(&fault))?.map(Protector::Certificate);
                found.ok_or_else(|| missing("find", CERTIFICATE, &name.text))
            }
            Encryptor::AsymmetricKey(name) => {
                let keys = master.asymmetric_keys().map_err(|fault| of_master(&fault))?;
                let key = keys.into_iter().find(|key| same_name(&key.name, &name.text));
                let key = key.ok_or_else(|| missing("find", ASYMMETRIC_KEY, &name.text))?;
                self.check_asymmetric_key(&key)?;
                Ok(Protector::AsymmetricKey(key))
            }
        }
    }
}

/// The suite of an algorithm that T-SQL has.
fn algorithm(name: &Name) -> Result<Suite, SqlError> {
    let known = [Suite::Aes128, Suite::Aes192, Suite::Aes256, Suite::TripleDes3Key];
    let found = known.into_iter().find(|suite| name.is(suite.name()));
    found.ok_or_else(|| unsupported(&format!("ALGORITHM = {}", name.text)))
}

fn warn_without_backup(protector: &Protector, execution: &mut ExecutionContext<'_>) -> Result<(), Failure> {
    if let Protector::Certificate(certificate) = protector
        && certificate.backed_up == 0
    {
        execution.reply.message(&info(33091, NO_BACKUP))?;
    }
    Ok(())
}

/// The protector's key slot: a new one, or the one that it has.
fn add_slot(instance: &Instance, subject: &Subject, protector: &Protector) -> Result<String, SqlError> {
    let label = protector.label();
    // A server that was killed between file and master.db leaves one.
    if let Some(slot) = subject.state()?.slot(&label) {
        return Ok(slot.to_owned());
    }
    let (access, _held) = marking(instance, subject)?;
    let added = keys::add(&Disk, &subject.path, &access, &protector.recipient(), &label);
    slot_added(added, subject)
}

/// How the database is opened to add a certificate's slot: with the certificate's private key, so that the slot gets
/// an origin mark and a server to which the certificate is restored has the database as its own.
fn marking(instance: &Instance, subject: &Subject) -> Result<(Access, Option<HeldAge>), SqlError> {
    let held = held_certificates(instance)?;
    let access = Access {
        more: held.iter().map(HeldAge::spec).collect(),
        ..subject.access.clone()
    };
    Ok((access, held))
}

fn replace_slot(
    (instance, subject): (&Instance, &Subject),
    state: &FileState,
    key: &EncryptionKeyRecord,
    protector: &Protector,
) -> Result<String, SqlError> {
    if key.protector == protector.id() {
        return Ok(key.slot.clone());
    }
    let label = protector.label();
    if let Some(slot) = state.slot(&label) {
        remove_slot(subject, &key.slot)?;
        return Ok(slot.to_owned());
    }
    let (access, _held) = marking(instance, subject)?;
    let replaced = keys::replace(&Disk, &subject.path, &access, &key.slot, &protector.recipient(), &label);
    if matches!(replaced, Err(EngineError::Key(KeyError::NoSuchSlot { .. }))) {
        // Someone has taken it away: `selenite keys remove`.
        return add_slot(instance, subject, protector);
    }
    slot_added(replaced, subject)
}

fn slot_added(changed: Result<keys::Changed, EngineError>, subject: &Subject) -> Result<String, SqlError> {
    let changed = changed.map_err(|failed| of_engine(&subject.record.name, &failed))?;
    let added = changed.report.added.first();
    let added = added.ok_or_else(|| SqlError::internal("a key slot that was not added"))?;
    Ok(added.id.to_string())
}

fn remove_slot(subject: &Subject, slot: &str) -> Result<(), SqlError> {
    match keys::remove(&Disk, &subject.path, &subject.access, slot, true) {
        Ok(_) | Err(EngineError::Key(KeyError::NoSuchSlot { .. })) => Ok(()),
        Err(failed) => Err(of_engine(&subject.record.name, &failed)),
    }
}

const NO_BACKUP: &str = "Warning: The certificate used for encrypting the database encryption key has not been backed up. You \
    should immediately back up the certificate and the private key associated with the certificate. If the certificate ever \
    becomes unavailable or if you must restore or attach the database on another server, you must have backups of both the \
    certificate and the private key or you will not be able to open the database.";
