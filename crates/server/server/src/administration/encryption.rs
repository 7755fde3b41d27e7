//! Keys, certificates, and encryption of databases, as T-SQL says it.
//!
//! - `certificate-is-an-age-identity`: the private part of a certificate is an age identity, in
//!   master.db, encrypted with the master key (AES-256-GCM). The master key is in master.db too,
//!   which is itself encrypted. The public part is an X.509 certificate that names the age
//!   recipient.
//! - `provider-key-is-a-key-command`: an asymmetric key of a cryptographic provider is a key command
//!   of the server's configuration.
//! - `database-key-is-a-key-slot`: a database encryption key is a key slot for a certificate's
//!   recipient, or for a provider's key, beside the slot of the server's own identity, which always remains. The scan that
//!   re-encrypts the database's pages creates and renews the data keys.
//! - `encryption-is-read-from-the-file`: what a database is encrypted with is read from its file;
//!   master.db holds what statements requested.
//! - `one-key-change-at-a-time`: statements that change keys are carried out one at a time
//!   ([`Scans::order`]).
//! - `no-secrets-in-messages`: no error, log or answer contains a password or a private key.

mod asymmetric_key;
mod certificate;
mod database_key;
mod key_file;
mod master_key;
mod private_part;
mod provider;
mod provider_library;
mod switch;
mod x509;

pub use asymmetric_key::usable_keys;
pub(crate) use certificate::WantedCertificate;
pub use certificate::held_certificates;
use selenite::EngineError;
use selenite_compiler::{Ends, SqlError};
use selenite_runtime::machine::{Failure, Message, TableStatement};
use selenite_tsql::ast::{self, AlterDatabaseAction, DropKind, KeyManagement, StatementKind};

use crate::administration::Administration;
use crate::execution_context::ExecutionContext;
use crate::master::{ASYMMETRIC_KEY, MASTER};

impl Administration<'_, '_> {
    /// Carries out a statement about keys or encryption. Returns whether it was one.
    ///
    /// # Errors
    /// The statement's.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "what is about no keys is carried out elsewhere"
    )]
    pub(crate) fn encryption(
        &mut self,
        statement: &TableStatement<'_>,
        execution: &mut ExecutionContext<'_>,
    ) -> Result<bool, Failure> {
        let scans = self.registry.scans();
        let order = |execution: &mut ExecutionContext<'_>| scans.order(|| execution.reply.poll());
        match &statement.statement.kind {
            StatementKind::CreateMasterKey { password } => {
                self.admit_in_master("CREATE MASTER KEY")?;
                let _order = order(execution)?;
                self.create_master_key(password.as_deref())?;
            }
            StatementKind::RegenerateMasterKey { force, password } => {
                self.admit_in_master("ALTER MASTER KEY")?;
                let _order = order(execution)?;
                self.regenerate_master_key(*force, password)?;
            }
            StatementKind::OpenMasterKey { password } => {
                self.admit_in_master("OPEN MASTER KEY")?;
                self.open_master_key(password)?;
            }
            StatementKind::CloseMasterKey => self.admit_in_master("CLOSE MASTER KEY")?,
            StatementKind::BackupMasterKey { path, password } => {
                self.admit_in_master("BACKUP MASTER KEY")?;
                self.backup_master_key(path, password)?;
            }
            StatementKind::RestoreMasterKey {
                path,
                file_password,
                password,
                force,
            } => {
                self.admit_in_master("RESTORE MASTER KEY")?;
                let _order = order(execution)?;
                self.restore_master_key(path, (file_password, password), *force)?;
            }
            StatementKind::DropMasterKey => {
                self.admit_in_master("DROP MASTER KEY")?;
                let _order = order(execution)?;
                self.drop_master_key()?;
            }
            StatementKind::CreateCertificate(create) => {
                self.admit_in_master("CREATE CERTIFICATE")?;
                let _order = order(execution)?;
                self.create_certificate(create, execution)?;
            }
            StatementKind::BackupCertificate(backup) => {
                self.admit_in_master("BACKUP CERTIFICATE")?;
                self.backup_certificate(backup)?;
            }
            StatementKind::Drop(drop) if drop.kind == DropKind::Certificate => {
                self.admit_to_drop(drop, ("certificate", "DROP CERTIFICATE"))?;
                let _order = order(execution)?;
                self.drop_certificates(drop)?;
            }
            StatementKind::CreateEncryptionKey(create) => {
                self.admit("CREATE DATABASE ENCRYPTION KEY")?;
                let _order = order(execution)?;
                self.create_encryption_key(create, execution)?;
            }
            StatementKind::AlterEncryptionKey(alter) => {
                self.admit("ALTER DATABASE ENCRYPTION KEY")?;
                let _order = order(execution)?;
                self.alter_encryption_key(alter, execution)?;
            }
            StatementKind::DropEncryptionKey => {
                self.admit("DROP DATABASE ENCRYPTION KEY")?;
                let _order = order(execution)?;
                self.drop_encryption_key(execution)?;
            }
            StatementKind::AlterDatabase(alter) => return self.alter_encryption(alter, execution),
            _ => return self.manage_keys(statement, execution),
        }
        Ok(true)
    }

    /// Carries out a statement about cryptographic providers. Returns whether it was one.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "what is about no providers is carried out elsewhere"
    )]
    fn manage_keys(
        &self,
        statement: &TableStatement<'_>,
        execution: &mut ExecutionContext<'_>,
    ) -> Result<bool, Failure> {
        let order = |execution: &mut ExecutionContext<'_>| self.registry.scans().order(|| execution.reply.poll());
        match &statement.statement.kind {
            StatementKind::KeyManagement(manage) => {
                let _order = match &**manage {
                    KeyManagement::CreateAsymmetricKey(_) => {
                        self.admit_in_master("CREATE ASYMMETRIC KEY")?;
                        order(execution)?
                    }
                    KeyManagement::CreateProvider(_)
                    | KeyManagement::AlterProvider(_)
                    | KeyManagement::Credential(_) => {
                        self.admit("CREATE or ALTER of a cryptographic provider or credential")?;
                        order(execution)?
                    }
                };
                match &**manage {
                    KeyManagement::CreateProvider(create) => self.create_provider(create)?,
                    KeyManagement::AlterProvider(alter) => self.alter_provider(alter)?,
                    KeyManagement::Credential(set) => self.set_credential(set, execution)?,
                    KeyManagement::CreateAsymmetricKey(create) => self.create_asymmetric_key(create)?,
                }
            }
            StatementKind::Drop(drop) => {
                match drop.kind {
                    DropKind::CryptographicProvider => self.admit("DROP CRYPTOGRAPHIC PROVIDER")?,
                    DropKind::Credential => self.admit("DROP CREDENTIAL")?,
                    DropKind::AsymmetricKey => self.admit_to_drop(drop, (ASYMMETRIC_KEY, "DROP ASYMMETRIC KEY"))?,
                    _ => return Ok(false),
                }
                let _order = order(execution)?;
                for name in &drop.names {
                    let name = &name.name.text;
                    match drop.kind {
                        DropKind::CryptographicProvider => self.drop_provider(name)?,
                        DropKind::Credential => self.drop_credential(name)?,
                        _ => self.drop_asymmetric_key(name)?,
                    }
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// ALTER DATABASE, if it sets ENCRYPTION. Returns whether it does.
    fn alter_encryption(
        &mut self,
        alter: &ast::AlterDatabase,
        execution: &mut ExecutionContext<'_>,
    ) -> Result<bool, Failure> {
        let AlterDatabaseAction::Set { options, termination } = &alter.action else {
            return Ok(false);
        };
        if !options.iter().any(|option| option.name.is("ENCRYPTION")) {
            return Ok(false);
        }
        self.transactions.check_none("ALTER DATABASE")?;
        let change = switch::Change::of(options, termination.is_some())?;
        let database_registry = self.registry;
        let _order = database_registry.scans().order(|| execution.reply.poll())?;
        self.switch_encryption(alter.name.as_ref(), change, execution)?;
        Ok(true)
    }

    /// Only administrators have to do with keys. What can't be rolled back is not done in a transaction.
    fn admit(&self, statement: &str) -> Result<(), SqlError> {
        if !self.permissions.is_administrator {
            return Err(not_permitted());
        }
        if self.transactions.is_in_transaction() {
            return Err(unsupported(&format!("{statement} in a transaction")));
        }
        Ok(())
    }

    /// Whether the pages of a database are being re-encrypted. A scan that is over is waited for.
    pub(crate) fn is_being_scanned(&self, database_id: i32) -> bool {
        let scans = self.registry.scans();
        if !scans.is_running(database_id) {
            return false;
        }
        let state = self.subject(database_id).and_then(|subject| subject.state());
        if state.is_ok_and(|state| !state.phase.is_moving()) {
            let Ok(()) = scans.settle(database_id, || Ok::<(), std::convert::Infallible>(()));
        }
        scans.is_running(database_id)
    }

    /// Who may drop nothing does not learn whether it is there.
    fn admit_to_drop(&self, drop: &ast::Drop, (kind, statement): (&str, &str)) -> Result<(), SqlError> {
        match drop.names.first().filter(|_| !self.permissions.is_administrator) {
            Some(name) => Err(missing("drop", kind, &name.name.text)),
            None => self.admit_in_master(statement),
        }
    }

    fn admit_in_master(&self, statement: &str) -> Result<(), SqlError> {
        self.admit(statement)?;
        if self.transactions.current == MASTER {
            return Ok(());
        }
        Err(unsupported(&format!(
            "{statement} outside master (run USE master first)"
        )))
    }
}

/// 40510, of a statement that did compile.
fn unsupported(what: &str) -> SqlError {
    SqlError::unsupported(what).with_ends(Ends::Statement)
}

/// An error that ends the statement.
fn error(number: i32, text: impl Into<String>) -> SqlError {
    SqlError::new(number, Ends::Statement, text)
}

/// 15247: for administrators alone.
fn not_permitted() -> SqlError {
    error(15247, "User does not have permission to perform this action.")
}

/// 15151: what is named is not there.
fn missing(verb: &str, kind: &str, name: &str) -> SqlError {
    let text = format!("Cannot {verb} the {kind} '{name}', because it does not exist or you do not have permission.");
    error(15151, text)
}

/// An error of the engine about a database's file.
fn of_engine(database: &str, failed: &EngineError) -> SqlError {
    if matches!(failed, EngineError::Busy { .. }) {
        let text = format!(
            "CREATE/ALTER/DROP DATABASE ENCRYPTION KEY failed because a lock could not be placed on database \
             '{database}'. Try again later."
        );
        return error(33116, text);
    }
    error(50823, format!("The database '{database}' says: {failed}."))
}

/// An information for the client.
pub(crate) fn info(number: i32, text: &str) -> Message<'_> {
    Message {
        number,
        severity: 10,
        state: 1,
        line: 0,
        procedure: "",
        text,
        to_log: false,
    }
}
