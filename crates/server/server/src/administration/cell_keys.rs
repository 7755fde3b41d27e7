//! Keys of a database that encrypt values: the database master key, certificates, key pairs and symmetric keys.
//!
//! - `keys-belong-to-the-database`: they are in its own file ([`crate::catalog::stored_keys`]), and
//!   change with the transaction that a statement is in. Those of master are the server's, and
//!   encrypt databases ([`super::encryption`]).
//! - `opened-for-the-session`: an open key is the session's alone ([`crate::open_keys`]).
//! - `no-secrets-in-messages`: no error, log or answer contains a password or a key.
//! - `passwords-before-the-lock`: passwords are stretched before a statement waits to write.

mod certificate;
mod key_pair;
mod master_key;
mod symmetric;

use rusqlite::Connection;
use selenite_compiler::{Ends, SqlError, same_name};
use selenite_runtime::machine::{Failure, TableStatement};
use selenite_tsql::ast::{CellKeyStatement, DropKind, Name, StatementKind};

use crate::Instance;
use crate::administration::Administration;
use crate::catalog::effective_permissions::{Permissions, Securable};
use crate::catalog::grants;
use crate::catalog::permission::{error, may_act_as};
use crate::catalog::permission_kind::PermissionKind;
use crate::catalog::principals::{DBO, not_there};
use crate::catalog::schema::Schema;
use crate::catalog::stored_keys::{self, KeyEncryptor, StoredKey, StoredKeyKind, StoredKeys};
use crate::execution_context::ExecutionContext;
use crate::key_chain::KeyChain;
use crate::master::{MASTER, TEMPDB};
use crate::names::session_keys::securable;
use crate::open_keys::OpenKeys;

/// What keys are looked up and changed with.
pub struct KeyWork<'a> {
    instance: &'a Instance,
    /// The database, in a transaction that writes if they are changed.
    connection: &'a Connection,
    schema: &'a Schema,
    database_id: i32,
    permissions: &'a Permissions,
    open: &'a OpenKeys,
}

impl Administration<'_, '_> {
    /// Carries out a statement about keys of the database in use. Returns whether it was one.
    ///
    /// # Errors
    /// The statement's.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "what is about no keys of a database is carried out elsewhere"
    )]
    pub(crate) fn cell_keys(
        &mut self,
        statement: &TableStatement<'_>,
        execution: &mut ExecutionContext<'_>,
    ) -> Result<bool, Failure> {
        let kind = &statement.statement.kind;
        let is_symmetric = |kind: DropKind| kind == DropKind::SymmetricKey;
        let is_own = matches!(kind, StatementKind::CellKey(_))
            || matches!(kind, StatementKind::Drop(drop) if is_symmetric(drop.kind));
        match self.transactions.current {
            MASTER if is_own => return Err(refused("A key in master that encrypts values").into()),
            MASTER => return Ok(false),
            TEMPDB if is_own || is_of_key(kind) => {
                return Err(refused("A key in tempdb that encrypts values").into());
            }
            _ => {}
        }
        match kind {
            StatementKind::CreateMasterKey { password } => {
                self.create_own_master_key(password.as_deref(), execution)?
            }
            StatementKind::RegenerateMasterKey { force, password } => {
                self.regenerate_own_master_key(*force, password, execution)?;
            }
            StatementKind::OpenMasterKey { password } => self.open_own_master_key(password)?,
            StatementKind::CloseMasterKey => self.close_own_master_key()?,
            StatementKind::DropMasterKey => self.drop_own_master_key(execution)?,
            StatementKind::CreateCertificate(create) => self.create_own_certificate(create, execution)?,
            StatementKind::CellKey(statement) => self.cell_key(statement, execution)?,
            StatementKind::Drop(drop) => {
                let kind = match drop.kind {
                    DropKind::SymmetricKey => StoredKeyKind::Symmetric,
                    DropKind::AsymmetricKey => StoredKeyKind::Asymmetric,
                    DropKind::Certificate => StoredKeyKind::Certificate,
                    _ => return Ok(false),
                };
                self.change_keys(execution, |work| {
                    let names = drop.names.iter().map(|name| &name.name.text);
                    names.into_iter().try_for_each(|name| work.drop_key(kind, name))
                })?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn cell_key(&mut self, statement: &CellKeyStatement, execution: &mut ExecutionContext<'_>) -> Result<(), Failure> {
        match statement {
            CellKeyStatement::CreateSymmetricKey(create) => self.create_symmetric_key(create, execution),
            CellKeyStatement::AlterSymmetricKey { name, add, protectors } => {
                self.alter_symmetric_key(name, (*add, protectors), execution)
            }
            CellKeyStatement::OpenSymmetricKey { name, protector } => Ok(self.open_symmetric_key(name, protector)?),
            CellKeyStatement::CloseSymmetricKey(name) => Ok(self.close_symmetric_key(name.as_ref())?),
            CellKeyStatement::CreateKeyPair {
                name,
                authorization,
                algorithm,
                password,
            } => self.create_key_pair(
                (name, authorization.as_ref()),
                (algorithm, password.as_deref()),
                execution,
            ),
            CellKeyStatement::AlterPrivateKey {
                of_certificate,
                name,
                decryption_password,
                encryption_password,
            } => {
                let kind = match of_certificate {
                    true => StoredKeyKind::Certificate,
                    false => StoredKeyKind::Asymmetric,
                };
                let passwords = (decryption_password.as_deref(), encryption_password.as_deref());
                self.alter_private_key((kind, name), passwords, execution)
            }
            CellKeyStatement::AlterMasterKey { add, password } => {
                self.alter_own_master_key(*add, password.as_deref(), execution)
            }
        }
    }

    /// Looks at the keys of the database in use.
    fn with_keys<R>(&mut self, look: impl FnOnce(&KeyWork<'_>) -> Result<R, SqlError>) -> Result<R, SqlError> {
        let database_id = self.transactions.current;
        let database = &self.transactions.connect()?.database;
        let (_, schema) = database.definitions()?;
        look(&KeyWork {
            instance: self.session.instance,
            connection: &database.connection,
            schema: &schema,
            database_id,
            permissions: self.permissions,
            open: self.open_keys,
        })
    }

    /// Changes the keys of the database in use, with the transaction that the statement is in, by what the session may do
    /// then.
    fn change_keys(
        &mut self,
        execution: &mut ExecutionContext<'_>,
        change: impl FnOnce(&KeyWork<'_>) -> Result<(), SqlError>,
    ) -> Result<(), Failure> {
        let (registry, instance, identity) = (self.registry, self.session.instance, self.identity);
        let (open, database_id) = (self.open_keys, self.transactions.current);
        self.transactions.change_database(execution, |database| {
            let (_, schema) = database.definitions()?;
            let permissions = identity.permissions(&*registry.directory(instance)?, database_id, &schema);
            change(&KeyWork {
                instance,
                connection: &database.connection,
                schema: &schema,
                database_id,
                permissions: &permissions,
                open,
            })?;
            database.note_change();
            Ok(())
        })
    }
}

impl KeyWork<'_> {
    fn keys(&self) -> &StoredKeys {
        self.schema.keys()
    }

    fn chain(&self) -> KeyChain<'_> {
        KeyChain {
            instance: self.instance,
            database_id: self.database_id,
            keys: self.keys(),
            open: self.open,
        }
    }

    /// A key that the session's user sees.
    ///
    /// # Errors
    /// 15151.
    fn seen(&self, kind: StoredKeyKind, name: &str) -> Result<&StoredKey, SqlError> {
        let found = self.keys().named(kind, name);
        let found = found.filter(|key| self.permissions.sees_key(securable(key)));
        found.ok_or_else(|| not_there("find", kind.name(), name))
    }

    /// A key on which the session's user has a permission.
    ///
    /// # Errors
    /// 15151, with the verb.
    fn permitted(
        &self,
        (kind, name): (StoredKeyKind, &str),
        wanted: PermissionKind,
        verb: &str,
    ) -> Result<&StoredKey, SqlError> {
        let found = self.keys().named(kind, name);
        let found = found.filter(|key| self.permissions.may_on_key(wanted, securable(key)));
        found.ok_or_else(|| not_there(verb, kind.name(), name))
    }

    /// 15247: a permission on the database.
    fn check_in_database(&self, wanted: PermissionKind) -> Result<(), SqlError> {
        match self.permissions.may(wanted, Securable::Database) {
            true => Ok(()),
            false => Err(error(15247, "User does not have permission to perform this action.")),
        }
    }

    /// Whether a key of a kind may be made.
    fn check_creation(&self, kind: StoredKeyKind) -> Result<(), SqlError> {
        self.check_in_database(match kind {
            StoredKeyKind::Master => PermissionKind::Control,
            StoredKeyKind::Symmetric => PermissionKind::CreateSymmetricKey,
            StoredKeyKind::Asymmetric => PermissionKind::CreateAsymmetricKey,
            StoredKeyKind::Certificate => PermissionKind::CreateCertificate,
        })
    }

    /// The owner of a new key: AUTHORIZATION, or the session's user.
    ///
    /// # Errors
    /// 15151, 15345.
    fn owner(&self, authorization: Option<&Name>, kind: StoredKeyKind) -> Result<i32, SqlError> {
        let Some(name) = authorization else {
            return Ok(self.permissions.new_owner());
        };
        let principals = self.schema.principals();
        let user = match same_name(&name.text, "dbo") {
            true => Some(DBO),
            false => principals.named(&name.text).map(|user| user.id),
        };
        if let Some(id) = user.filter(|id| may_act_as(*id, self.permissions)) {
            return Ok(id);
        }
        if principals.any_id_of(&name.text).is_some() && user.is_none() {
            return Err(not_of_a_role(kind));
        }
        Err(not_there("find", "principal", &name.text))
    }

    /// DROP SYMMETRIC KEY, ASYMMETRIC KEY or CERTIFICATE.
    fn drop_key(&self, kind: StoredKeyKind, name: &str) -> Result<(), SqlError> {
        let key = self.permitted((kind, name), PermissionKind::Control, "drop")?;
        if kind == StoredKeyKind::Symmetric && self.chain().secret(key).is_some() {
            return Err(error(
                50828,
                format!("Cannot drop the symmetric key '{name}' while it is open in the session."),
            ));
        }
        if let Some(other) = self.keys().first_encrypted_by(KeyEncryptor::of_key(kind, key.id)) {
            return Err(match kind {
                StoredKeyKind::Master | StoredKeyKind::Symmetric => encrypts_another(key, other),
                StoredKeyKind::Asymmetric | StoredKeyKind::Certificate => {
                    let text = format!(
                        "The {} cannot be dropped because one or more entities are either signed or encrypted using it.",
                        kind.name()
                    );
                    error(15352, text)
                }
            });
        }
        stored_keys::remove(self.connection, key)?;
        grants::forget(self.connection, kind.class(), key.id)
    }
}

/// Whether a statement is about a master key, a certificate or a key pair.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "all other statements are about other things"
)]
fn is_of_key(kind: &StatementKind) -> bool {
    match kind {
        StatementKind::CreateMasterKey { .. }
        | StatementKind::RegenerateMasterKey { .. }
        | StatementKind::OpenMasterKey { .. }
        | StatementKind::CloseMasterKey
        | StatementKind::DropMasterKey
        | StatementKind::CreateCertificate(_) => true,
        StatementKind::Drop(drop) => matches!(drop.kind, DropKind::AsymmetricKey | DropKind::Certificate),
        _ => false,
    }
}

/// 15580.
fn encrypts_another(key: &StoredKey, other: &StoredKey) -> SqlError {
    let (kind, of, name) = (key.kind.name(), other.kind.name(), &other.name);
    error(
        15580,
        format!("Cannot drop {kind} because {of} '{name}' is encrypted by it."),
    )
}

/// 15345: a key that no role can own.
pub(super) fn not_of_a_role(kind: StoredKeyKind) -> SqlError {
    let text = format!(
        "An entity of type {} cannot be owned by a role, a group, or by principals mapped to certificates or asymmetric keys.",
        kind.name()
    );
    error(15345, text)
}

/// 15313.
fn wrong_decryptor() -> SqlError {
    error(15313, "The key is not encrypted using the specified decryptor.")
}

/// 40510, of a statement that did compile.
fn refused(what: &str) -> SqlError {
    SqlError::unsupported(what).with_ends(Ends::Statement)
}

/// Seconds since 1970-01-01 UTC.
fn now() -> i64 {
    i64::try_from(selenite::now()).unwrap_or(i64::MAX)
}

/// A new GUID.
fn new_guid() -> [u8; 16] {
    crate::names::session_environment::new_guid().0
}
