//! Which statements and procedures are in the audit log, and what they are done to.

use selenite_compiler::{same_name, written_object};
use selenite_runtime::machine::{Call, Failure};
use selenite_tsql::ast::{
    AlterAuthorization, AlterDatabase, AlterDatabaseAction, AlterRole, AlterRoleAction, CellKeyStatement, DropKind,
    ExprKind, KeyManagement, Literal, Name, NameOrVariable, ObjectName, PermissionAction, PermissionChange,
    SchemaStatement, StatementKind,
};
use selenite_types::Value;

/// A statement that is in the audit log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Audited {
    /// Its words.
    pub event: &'static str,
    /// What it is done to, as far as the statement has a name for it.
    pub object: Option<String>,
}

impl Audited {
    /// The error's number, of a statement that failed. `None` if it was stopped, since no client is sent the number
    /// of that.
    pub fn error<R>(done: &Result<R, Failure>) -> Option<i32> {
        match done {
            Ok(_) => None,
            Err(Failure::Error(error)) => Some(error.number()),
            Err(Failure::Stop(_)) => Some(STOPPED),
        }
    }
}

/// What is in the audit log of a statement; none of one that changes no principals, keys, settings or databases.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "all other statements are about rows and objects"
)]
pub fn of_statement(kind: &StatementKind) -> Option<Audited> {
    let (event, object) = match kind {
        StatementKind::CreateDatabase(create) => ("CREATE DATABASE", Some(create.name.text.clone())),
        StatementKind::AlterDatabase(alter) => ("ALTER DATABASE", Some(altered(alter)).filter(|name| !name.is_empty())),
        StatementKind::Backup(backup) => ("BACKUP", written(&backup.database)),
        StatementKind::Restore(restore) => ("RESTORE", restore.database.as_ref().and_then(written)),
        StatementKind::CreateMasterKey { .. } => ("CREATE MASTER KEY", None),
        StatementKind::RegenerateMasterKey { .. } => ("ALTER MASTER KEY", None),
        StatementKind::OpenMasterKey { .. } => ("OPEN MASTER KEY", None),
        StatementKind::BackupMasterKey { .. } => ("BACKUP MASTER KEY", None),
        StatementKind::RestoreMasterKey { .. } => ("RESTORE MASTER KEY", None),
        StatementKind::DropMasterKey => ("DROP MASTER KEY", None),
        StatementKind::CreateCertificate(create) => ("CREATE CERTIFICATE", Some(create.name.text.clone())),
        StatementKind::BackupCertificate(backup) => ("BACKUP CERTIFICATE", Some(backup.name.text.clone())),
        StatementKind::CreateEncryptionKey(_) => ("CREATE DATABASE ENCRYPTION KEY", None),
        StatementKind::AlterEncryptionKey(_) => ("ALTER DATABASE ENCRYPTION KEY", None),
        StatementKind::DropEncryptionKey => ("DROP DATABASE ENCRYPTION KEY", None),
        StatementKind::KeyManagement(manage) => {
            let (event, name) = of_key_management(manage);
            (event, Some(name.text.clone()))
        }
        StatementKind::CellKey(statement) => of_cell_key(statement)?,
        StatementKind::CreateLogin(create) => ("CREATE LOGIN", Some(create.name.text.clone())),
        StatementKind::AlterLogin(alter) => ("ALTER LOGIN", Some(alter.name.text.clone())),
        StatementKind::CreateUser(create) => ("CREATE USER", Some(create.name.text.clone())),
        StatementKind::AlterUser(alter) => ("ALTER USER", Some(alter.name.text.clone())),
        StatementKind::CreateRole(create) => match create.server {
            true => ("CREATE SERVER ROLE", Some(create.name.text.clone())),
            false => ("CREATE ROLE", Some(create.name.text.clone())),
        },
        StatementKind::AlterRole(alter) => match alter.server {
            true => ("ALTER SERVER ROLE", Some(of_role(alter))),
            false => ("ALTER ROLE", Some(of_role(alter))),
        },
        StatementKind::Schema(statement) => of_schema(statement),
        StatementKind::Permission(change) => match change.action {
            PermissionAction::Grant => ("GRANT", Some(of_permission(change, "TO"))),
            PermissionAction::Deny => ("DENY", Some(of_permission(change, "TO"))),
            PermissionAction::Revoke => ("REVOKE", Some(of_permission(change, "FROM"))),
        },
        StatementKind::AlterAuthorization(alter) => ("ALTER AUTHORIZATION", Some(given(alter))),
        StatementKind::Drop(drop) => (dropped(drop.kind)?, Some(names(&drop.names))),
        StatementKind::Kill(kill) => ("KILL", session(&kill.session.kind)),
        StatementKind::Reconfigure { .. } => ("RECONFIGURE", None),
        StatementKind::Shutdown { .. } => ("SHUTDOWN", None),
        _ => return None,
    };
    Some(Audited { event, object })
}

/// A role, and its member or its new name.
fn of_role(alter: &AlterRole) -> String {
    let name = &alter.name.text;
    match &alter.action {
        AlterRoleAction::AddMember(member) => format!("{name}, ADD MEMBER {}", member.text),
        AlterRoleAction::DropMember(member) => format!("{name}, DROP MEMBER {}", member.text),
        AlterRoleAction::Rename(new) => format!("{name}, {}", new.text),
    }
}

/// Permissions, what they are on, and whose they are: as much as fits.
fn of_permission(change: &PermissionChange, preposition: &str) -> String {
    let names: Vec<&str> = change.permissions.iter().map(|one| one.name.as_str()).collect();
    let names = if names.is_empty() {
        "ALL".to_owned()
    } else {
        names.join(", ")
    };
    let on = change.securable.as_ref().map(|securable| {
        let class = securable.class.as_ref().map(|class| format!("{class}::"));
        format!(" ON {}{}", class.unwrap_or_default(), written_object(&securable.name))
    });
    let principals: Vec<&str> = change.principals.iter().map(|one| one.text.as_str()).collect();
    let on = on.unwrap_or_default();
    let told = format!("{names}{on} {preposition} {}", principals.join(", "));
    told.chars().take(PERMISSION_LENGTH_MAX).collect()
}

/// What gets another owner, and that.
fn given(alter: &AlterAuthorization) -> String {
    let own = written_object(&alter.securable.name);
    match &alter.owner {
        Some(owner) => format!("{own}, {}", owner.text),
        None => own,
    }
}

/// The name of a database, with the one that it gets.
fn altered(alter: &AlterDatabase) -> String {
    let name = alter.name.as_ref().map(|name| name.text.as_str());
    let new = match &alter.action {
        AlterDatabaseAction::ModifyName(new) => Some(new.text.as_str()),
        AlterDatabaseAction::Set { .. } | AlterDatabaseAction::Collate(_) => None,
    };
    name.into_iter().chain(new).collect::<Vec<_>>().join(", ")
}

/// What is in the audit log of a procedure's call. Its arguments are: they are names of principals and settings.
pub fn of_call(call: &Call<'_>) -> Option<Audited> {
    let name = &call.procedure.name;
    let event = PROCEDURES.iter().copied().find(|known| name.is(known));
    let event = event.or_else(|| renames_database(call).then_some("sp_rename"))?;
    let told = call.arguments.iter().take(ARGUMENT_COUNT_MAX);
    let told = told.filter_map(|argument| match &argument.value {
        Some((Value::Text(text), _)) => Some(text.chars().take(NAME_LENGTH_MAX).collect()),
        Some((Value::Int(number), _)) => Some(number.to_string()),
        Some(_) | None => None,
    });
    let told = told.collect::<Vec<_>>().join(", ");
    Some(Audited {
        event,
        object: Some(told).filter(|told| !told.is_empty()),
    })
}

/// Whether it is sp_rename of a database.
fn renames_database(call: &Call<'_>) -> bool {
    let is_kind = |value: &Value| matches!(value, Value::Text(text) if same_name(text, "DATABASE"));
    let mut values = call
        .arguments
        .iter()
        .skip(1)
        .filter_map(|argument| argument.value.as_ref());
    call.procedure.name.is("sp_rename") && values.any(|(value, _)| is_kind(value))
}

/// A schema's owner has rights on what is in it.
fn of_schema(statement: &SchemaStatement) -> (&'static str, Option<String>) {
    match statement {
        SchemaStatement::Create(create) => {
            let parts = create.name.iter().chain(&create.authorization);
            let parts: Vec<&str> = parts.map(|name| name.text.as_str()).collect();
            ("CREATE SCHEMA", Some(parts.join(", ")))
        }
        SchemaStatement::Alter(alter) => {
            let told = format!("{}, {}", alter.name.text, written_object(&alter.object));
            ("ALTER SCHEMA", Some(told))
        }
    }
}

fn of_key_management(manage: &KeyManagement) -> (&'static str, &Name) {
    match manage {
        KeyManagement::CreateProvider(create) => ("CREATE CRYPTOGRAPHIC PROVIDER", &create.name),
        KeyManagement::AlterProvider(alter) => ("ALTER CRYPTOGRAPHIC PROVIDER", &alter.name),
        KeyManagement::Credential(set) if set.alter => ("ALTER CREDENTIAL", &set.name),
        KeyManagement::Credential(set) => ("CREATE CREDENTIAL", &set.name),
        KeyManagement::CreateAsymmetricKey(create) => ("CREATE ASYMMETRIC KEY", &create.name),
    }
}

/// Keys are opened and closed as often as values are read: that is not in the log.
fn of_cell_key(statement: &CellKeyStatement) -> Option<(&'static str, Option<String>)> {
    let (event, name) = match statement {
        CellKeyStatement::CreateSymmetricKey(create) => ("CREATE SYMMETRIC KEY", &create.name),
        CellKeyStatement::AlterSymmetricKey { name, .. } => ("ALTER SYMMETRIC KEY", name),
        CellKeyStatement::CreateKeyPair { name, .. } => ("CREATE ASYMMETRIC KEY", name),
        CellKeyStatement::AlterPrivateKey {
            of_certificate: true,
            name,
            ..
        } => ("ALTER CERTIFICATE", name),
        CellKeyStatement::AlterPrivateKey { name, .. } => ("ALTER ASYMMETRIC KEY", name),
        CellKeyStatement::AlterMasterKey { .. } => return Some(("ALTER MASTER KEY", None)),
        CellKeyStatement::OpenSymmetricKey { .. } | CellKeyStatement::CloseSymmetricKey(_) => return None,
    };
    Some((event, Some(name.text.clone())))
}

fn dropped(kind: DropKind) -> Option<&'static str> {
    match kind {
        DropKind::Database => Some("DROP DATABASE"),
        DropKind::Login => Some("DROP LOGIN"),
        DropKind::User => Some("DROP USER"),
        DropKind::Role => Some("DROP ROLE"),
        DropKind::ServerRole => Some("DROP SERVER ROLE"),
        DropKind::Certificate => Some("DROP CERTIFICATE"),
        DropKind::CryptographicProvider => Some("DROP CRYPTOGRAPHIC PROVIDER"),
        DropKind::Credential => Some("DROP CREDENTIAL"),
        DropKind::AsymmetricKey => Some("DROP ASYMMETRIC KEY"),
        DropKind::SymmetricKey => Some("DROP SYMMETRIC KEY"),
        DropKind::Schema => Some("DROP SCHEMA"),
        DropKind::Table
        | DropKind::View
        | DropKind::Procedure
        | DropKind::Function
        | DropKind::Trigger
        | DropKind::Sequence
        | DropKind::Synonym
        | DropKind::Statistics
        | DropKind::Type => None,
    }
}

fn names(names: &[ObjectName]) -> String {
    let names: Vec<&str> = names.iter().map(|name| name.name.text.as_str()).collect();
    names.join(", ")
}

fn written(name: &NameOrVariable) -> Option<String> {
    match name {
        NameOrVariable::Name(name) => Some(name.text.clone()),
        NameOrVariable::Variable(_) => None,
    }
}

fn session(kind: &ExprKind) -> Option<String> {
    if let ExprKind::Literal(Literal::Integer(digits)) = kind {
        return Some(digits.clone());
    }
    None
}

/// 4: none of these procedures takes more. A call that is refused is written, too.
const ARGUMENT_COUNT_MAX: usize = 4;
/// 128 characters: as long as a name may be. A text of megabytes would fill the disk.
const NAME_LENGTH_MAX: usize = 128;
/// 1,000 characters: seven names. A list of thousands would fill the disk.
const PERMISSION_LENGTH_MAX: usize = 1_000;
/// No number of SQL Server's: the client left, or sent ATTENTION.
pub(super) const STOPPED: i32 = 0;
const PROCEDURES: [&str; 7] = [
    "sp_addrolemember",
    "sp_droprolemember",
    "sp_addsrvrolemember",
    "sp_dropsrvrolemember",
    "sp_configure",
    "sp_accept_database",
    "sp_renamedb",
];
