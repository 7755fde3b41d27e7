//! Who may do what.
//!
//! | who | may |
//! |---|---|
//! | `sysadmin` | everything, in every database, as `dbo`; alone the files of BULK INSERT |
//! | `db_owner` | everything in the database, but to back it up, to restore, to drop or to alter it as a whole |
//! | `db_ddladmin` | CREATE, ALTER and DROP of tables, indexes, views and procedures |
//! | `db_datareader`, `db_datawriter` | SELECT; INSERT, UPDATE and DELETE, on every table and view |
//! | `db_denydatareader`, `db_denydatawriter` | not that, whatever else they are in, but `db_owner` |
//! | the owner of a schema | SELECT, INSERT, UPDATE and DELETE, ALTER, DROP and EXECUTE of what is in it |
//! | a user in no role | to use the database, temporary objects, and views of the system |
//! | a login without a user | master, tempdb and msdb as `guest`, no other database |
//!
//! - `sysadmin-by-default`: a statement that names no role here may be run by `sysadmin` only. The
//!   match over statements has an answer for each of them.
//! - `rows-are-checked-at-binding`: permissions on rows are checked when a statement is bound: what
//!   it reads is what the binder requested from the catalog. A bound statement is kept only as long
//!   as users and roles are the same, since its version counts changes of both
//!   ([`crate::catalog::schema`]).
//! - `procedures-use-the-callers-rights`: a procedure runs with the rights of its caller; only
//!   `db_owner` and the owner of its schema may call one, and everyone a temporary one.
//! - `temporary-objects-are-everyones`: a global temporary object may be used, changed and dropped by
//!   every session, as SQL Server has it.
//! - `definitions-by-permission`: definitions are visible to users who may change them; tables and
//!   views also to users who may read or change rows ([`Permissions::sees`]). The texts of views,
//!   checks and defaults are visible to the former only. The server's own views contain what is
//!   visible.

use std::sync::Arc;

use selenite_compiler::definition::SCHEMA;
use selenite_compiler::{Ends, ObjectKind, SqlError, same_name, written_object};
use selenite_tsql::ast::{self, Create, DropKind, ObjectName, SchemaStatement, StatementKind};

use crate::catalog::directory::Directory;
use crate::catalog::fixed_role::FixedRole;
use crate::catalog::principals::{User, not_there};
use crate::catalog::schema::{Schema, is_global};
use crate::catalog::{catalog_rows, schema_names};
use crate::master::{MASTER, TEMPDB};

/// The permissions of a login in a database.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Permissions {
    /// Whether it is in `sysadmin`.
    pub is_administrator: bool,
    /// Its user's id and name; `None` if it may not use the database.
    pub user: Option<(i32, Arc<str>)>,
    /// The schema of names without one.
    pub default_schema: Arc<str>,
    roles: Vec<FixedRole>,
    /// The schemas that the user, or a role that it is in, owns.
    schemas: Vec<String>,
}

impl Permissions {
    /// The permissions of an administrator.
    #[must_use]
    pub fn administrator() -> Self {
        Self {
            is_administrator: true,
            user: Some((DBO, Arc::from("dbo"))),
            default_schema: Arc::from(SCHEMA),
            roles: vec![FixedRole::Owner],
            schemas: Vec::new(),
        }
    }

    /// The permissions of the login of `sid` in a database.
    #[must_use]
    pub fn of(sid: &[u8], directory: &Directory, database_id: i32, schema: &Schema) -> Self {
        let principals = schema.principals();
        if directory
            .records
            .iter()
            .any(|login| login.sid == sid && login.is_administrator)
        {
            return Self::administrator();
        }
        let user = principals.of_login(sid);
        let roles = FixedRole::ALL.into_iter();
        let roles = roles.filter(|role| user.is_some_and(|user| principals.is_member(*role, user.id)));
        let named = |user: &User| (user.id, Arc::from(user.name.as_str()));
        let guest = || has_guests(database_id).then(|| (GUEST, Arc::from("guest")));
        let roles: Vec<FixedRole> = roles.collect();
        let owns =
            |owner: i32| user.is_some_and(|user| user.id == owner) || roles.iter().any(|role| role.id() == owner);
        let schemas = schema.names().all().iter().filter(|schema| owns(schema.owner));
        let default_schema = match user {
            Some(user) => user.default_schema.as_str(),
            None if has_guests(database_id) => schema_names::GUEST,
            None => SCHEMA,
        };
        Self {
            is_administrator: false,
            default_schema: Arc::from(default_schema),
            schemas: schemas.map(|schema| schema.name.clone()).collect(),
            roles,
            user: user.map(named).or_else(guest),
        }
    }

    /// Whether it is in a role.
    #[must_use]
    pub fn is_in(&self, role: FixedRole) -> bool {
        self.roles.contains(&role)
    }

    /// Whether it has all permissions in the database.
    #[must_use]
    pub fn owns(&self) -> bool {
        self.is_administrator || self.is_in(FixedRole::Owner)
    }

    /// Whether it may create, change and drop objects.
    #[must_use]
    pub fn defines(&self) -> bool {
        self.owns() || self.is_in(FixedRole::DdlAdmin)
    }

    /// Whether it owns a schema, or all of them.
    #[must_use]
    pub fn owns_schema(&self, schema: &str) -> bool {
        self.owns() || self.schemas.iter().any(|known| same_name(known, schema))
    }

    /// Whether it may read tables of any schema.
    #[must_use]
    pub fn reads(&self) -> bool {
        self.owns() || self.is_in(FixedRole::DataReader) && !self.is_in(FixedRole::DenyDataReader)
    }

    /// Whether it may read tables of a schema.
    #[must_use]
    pub fn reads_in(&self, schema: &str) -> bool {
        self.reads() || self.owns_schema(schema) && !self.is_in(FixedRole::DenyDataReader)
    }

    /// Whether it may change rows of tables of any schema.
    #[must_use]
    pub fn writes(&self) -> bool {
        self.owns() || self.is_in(FixedRole::DataWriter) && !self.is_in(FixedRole::DenyDataWriter)
    }

    /// Whether it may change rows of tables of a schema.
    #[must_use]
    pub fn writes_in(&self, schema: &str) -> bool {
        self.writes() || self.owns_schema(schema) && !self.is_in(FixedRole::DenyDataWriter)
    }
}

/// The definitions in a database that are visible to a login: only those of objects on which it has some permission.
impl Permissions {
    /// Whether it sees tables and views.
    #[must_use]
    pub fn sees_tables(&self) -> bool {
        self.defines() || self.reads() || self.writes()
    }

    /// What it sees of a database's objects.
    #[must_use]
    pub fn seen(&self, schema: &Schema) -> Schema {
        let (sees_tables, defines) = (self.sees_tables(), self.defines());
        schema.only(|kind, schema, name| {
            let sees = match kind {
                catalog_rows::ObjectKind::Procedure
                | catalog_rows::ObjectKind::Function
                | catalog_rows::ObjectKind::Type
                | catalog_rows::ObjectKind::Trigger => defines,
                catalog_rows::ObjectKind::Table
                | catalog_rows::ObjectKind::View
                | catalog_rows::ObjectKind::Index
                | catalog_rows::ObjectKind::Sequence
                | catalog_rows::ObjectKind::Synonym => sees_tables,
            };
            sees || self.owns_schema(schema) || is_global(name)
        })
    }

    /// Whether it sees an object of a kind, by its schema and name.
    #[must_use]
    pub fn sees(&self, kind: ObjectKind, (schema, name): (&str, &str)) -> bool {
        if self.owns_schema(schema) || is_global(name) {
            return true;
        }
        match kind {
            ObjectKind::UserTable
            | ObjectKind::View
            | ObjectKind::PrimaryKey
            | ObjectKind::Unique
            | ObjectKind::ForeignKey
            | ObjectKind::Check
            | ObjectKind::Default
            | ObjectKind::Sequence
            | ObjectKind::Synonym => self.sees_tables(),
            ObjectKind::SystemTable => true,
            ObjectKind::Procedure
            | ObjectKind::ExtendedProcedure
            | ObjectKind::ScalarFunction
            | ObjectKind::InlineFunction
            | ObjectKind::TableFunction
            | ObjectKind::Trigger => self.defines(),
        }
    }
}

/// Whether logins without a user may use a database.
#[must_use]
pub fn has_guests(database_id: i32) -> bool {
    [MASTER, TEMPDB, MSDB].contains(&database_id)
}

/// 916: a database that a login has no user in.
pub fn no_access(login: &str, database: &str) -> SqlError {
    let text = format!(
        "The server principal \"{login}\" is not able to access the database \"{database}\" under the current security context."
    );
    SqlError::new(916, Ends::Batch, text).with_severity(14)
}

/// `sysadmin-by-default`: whether a statement may be run at all. Statements on rows are checked when they are bound
/// ([`check_rows`]). `schema_of` is the schema of an object that a name means.
///
/// # Errors
/// SQL Server's own for each.
pub fn check(
    kind: &StatementKind,
    (permissions, schema_of): (&Permissions, SchemaOf<'_>),
    (login, database): (&str, &str),
) -> Result<(), SqlError> {
    if permissions.is_administrator {
        return Ok(());
    }
    match permissions.user {
        Some(_) => check_kind(kind, (permissions, schema_of), (login, database)),
        None => Err(no_access(login, database)),
    }
}

/// The same for a user who is no administrator.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "all other statements are allowed, or refused elsewhere"
)]
fn check_kind(
    kind: &StatementKind,
    (permissions, schema_of): (&Permissions, SchemaOf<'_>),
    (login, database): (&str, &str),
) -> Result<(), SqlError> {
    match kind {
        StatementKind::CreateTable(_)
        | StatementKind::AlterTable(_)
        | StatementKind::CreateIndex(_)
        | StatementKind::AlterIndex(_)
        | StatementKind::DropIndex { .. }
        | StatementKind::View(_)
        | StatementKind::Procedure(_)
        | StatementKind::Sequence(_)
        | StatementKind::Synonym(_)
        | StatementKind::Function(_)
        | StatementKind::CreateType(_)
        | StatementKind::Trigger(_)
        | StatementKind::TriggerSwitch(_)
        | StatementKind::Schema(_) => check_definition(kind, (permissions, schema_of), database),
        StatementKind::Drop(drop) => check_drop(drop, (permissions, schema_of)),
        StatementKind::CreateUser(_)
        | StatementKind::CreateRole(_)
        | StatementKind::AlterUser(_)
        | StatementKind::AlterRole(_)
        | StatementKind::CreateLogin(_)
        | StatementKind::AlterLogin(_) => check_principal(kind, permissions, login),
        StatementKind::CreateDatabase(_)
        | StatementKind::AlterDatabase(_)
        | StatementKind::Backup(_)
        | StatementKind::Restore(_)
        | StatementKind::Dbcc(_)
        | StatementKind::Kill(_)
        | StatementKind::Checkpoint(_)
        | StatementKind::Reconfigure { .. } => check_administration(kind, permissions, (login, database)),
        StatementKind::Shutdown { .. }
        | StatementKind::CreateMasterKey { .. }
        | StatementKind::RegenerateMasterKey { .. }
        | StatementKind::OpenMasterKey { .. }
        | StatementKind::CloseMasterKey
        | StatementKind::BackupMasterKey { .. }
        | StatementKind::RestoreMasterKey { .. }
        | StatementKind::DropMasterKey
        | StatementKind::CreateCertificate(_)
        | StatementKind::BackupCertificate(_)
        | StatementKind::CreateEncryptionKey(_)
        | StatementKind::AlterEncryptionKey(_)
        | StatementKind::DropEncryptionKey => Err(no_action()),
        StatementKind::KeyManagement(manage) => Err(no_key_management(manage)),
        // Statements on rows; refused to all, by name; the machine's own, which come here only with what they do.
        _ => Ok(()),
    }
}

/// Why a login may not manage providers, credentials and keys.
fn no_key_management(manage: &ast::KeyManagement) -> SqlError {
    match manage {
        ast::KeyManagement::AlterProvider(alter) => not_there("alter", "cryptographic provider", &alter.name.text),
        ast::KeyManagement::Credential(set) if set.alter => not_there("alter", "credential", &set.name.text),
        ast::KeyManagement::CreateProvider(_)
        | ast::KeyManagement::Credential(_)
        | ast::KeyManagement::CreateAsymmetricKey(_) => no_action(),
    }
}

/// Logins, users and roles.
#[expect(clippy::wildcard_enum_match_arm, reason = "the caller has picked principals")]
fn check_principal(kind: &StatementKind, permissions: &Permissions, login: &str) -> Result<(), SqlError> {
    match kind {
        StatementKind::AlterRole(alter) if alter.server => Err(not_there("alter", "server role", &alter.name.text)),
        StatementKind::AlterLogin(alter) if is_own_password(alter, login) => Ok(()),
        StatementKind::AlterLogin(alter) => Err(not_there("alter", "login", &alter.name.text)),
        StatementKind::CreateLogin(_) => Err(no_action()),
        _ if permissions.owns() => Ok(()),
        StatementKind::AlterUser(alter) => Err(not_there("alter", "user", &alter.name.text)),
        StatementKind::AlterRole(alter) => Err(not_there("alter", "role", &alter.name.text)),
        _ => Err(no_action()),
    }
}

/// Databases as a whole, and the server.
#[expect(clippy::wildcard_enum_match_arm, reason = "the caller has picked administration")]
fn check_administration(
    kind: &StatementKind,
    permissions: &Permissions,
    (login, database): (&str, &str),
) -> Result<(), SqlError> {
    match kind {
        StatementKind::CreateDatabase(_) => Err(denied_in("CREATE DATABASE", "master")),
        StatementKind::AlterDatabase(alter) => {
            let name = alter.name.as_ref().map_or(database, |name| &name.text);
            let text = format!(
                "User does not have permission to alter database '{name}', the database does not exist, or the database is \
                 not in a state that allows access checks."
            );
            Err(error(5011, text).with_severity(14).with_state(9))
        }
        StatementKind::Backup(backup) => {
            let what = match backup.kind {
                ast::BackupKind::Database => "BACKUP DATABASE",
                ast::BackupKind::Log => "BACKUP LOG",
            };
            let name = match &backup.database {
                ast::NameOrVariable::Name(name) => &name.text,
                ast::NameOrVariable::Variable(name) => name,
            };
            Err(denied_in(what, name))
        }
        StatementKind::Restore(restore) => Err(denied_restore(restore)),
        StatementKind::Dbcc(dbcc) => check_dbcc(dbcc, permissions, (login, database)),
        StatementKind::Kill(_) => {
            let text = "User does not have permission to use the KILL statement.";
            Err(error(6102, text.to_owned()).with_severity(14))
        }
        StatementKind::Checkpoint(_) if permissions.owns() => Ok(()),
        StatementKind::Checkpoint(_) => Err(denied_in("CHECKPOINT", database)),
        StatementKind::Reconfigure { .. } => {
            let text = "You do not have permission to run the RECONFIGURE statement.";
            Err(error(5812, text.to_owned()).with_severity(14))
        }
        _ => Err(no_action()),
    }
}

/// Definitions: its own name, which may be a temporary table's.
#[expect(clippy::wildcard_enum_match_arm, reason = "the caller has picked definitions")]
fn check_definition(
    kind: &StatementKind,
    (permissions, schema_of): (&Permissions, SchemaOf<'_>),
    database: &str,
) -> Result<(), SqlError> {
    if permissions.defines() {
        return check_new_schema(kind, permissions);
    }
    let is_temporary = |name: &ObjectName| is_own(name, permissions, schema_of);
    let is_new_temporary = |name: &ObjectName| name.name.text.starts_with('#');
    match kind {
        StatementKind::CreateTable(create) if is_new_temporary(&create.name) => Ok(()),
        StatementKind::Procedure(procedure) if is_new_temporary(&procedure.name) => Ok(()),
        StatementKind::View(view) if view.create == Create::Alter && is_temporary(&view.name) => Ok(()),
        StatementKind::Procedure(procedure) if procedure.create == Create::Alter && is_temporary(&procedure.name) => {
            Ok(())
        }
        StatementKind::CreateTable(_) => Err(denied_in("CREATE TABLE", database)),
        StatementKind::AlterTable(alter) => no_object_unless(is_temporary(&alter.name), &alter.name, 13),
        StatementKind::CreateIndex(create) => no_object_unless(is_temporary(&create.table), &create.table, 12),
        StatementKind::AlterIndex(alter) => no_object_unless(is_temporary(&alter.table), &alter.table, 9),
        StatementKind::DropIndex { indexes, .. } => match indexes.iter().find(|index| !is_temporary(&index.table)) {
            None => Ok(()),
            Some(index) => Err(no_drop(
                "index",
                &format!("{}.{}", written_object(&index.table), index.name.text),
            )),
        },
        StatementKind::View(view) => denied_module(view.create, "VIEW", &view.name, database),
        StatementKind::Procedure(procedure) => denied_module(procedure.create, "PROCEDURE", &procedure.name, database),
        StatementKind::Trigger(trigger) => no_object_unless(is_temporary(&trigger.table), &trigger.table, 8),
        StatementKind::TriggerSwitch(switch) => no_object_unless(is_temporary(&switch.table), &switch.table, 22),
        StatementKind::Sequence(sequence) if sequence.alter && is_temporary(&sequence.name) => Ok(()),
        StatementKind::Sequence(sequence) if sequence.alter => no_object_unless(false, &sequence.name, 12),
        StatementKind::Sequence(_) => Err(denied_in("CREATE SEQUENCE", database)),
        StatementKind::Synonym(_) => Err(denied_in("CREATE SYNONYM", database)),
        StatementKind::Function(function) if function.create == Create::Alter && is_temporary(&function.name) => Ok(()),
        StatementKind::Function(function) => denied_module(function.create, "FUNCTION", &function.name, database),
        StatementKind::CreateType(_) => Err(denied_in("CREATE TYPE", database)),
        StatementKind::Schema(SchemaStatement::Alter(alter))
            if permissions.owns_schema(&alter.name.text) && is_temporary(&alter.object) =>
        {
            Ok(())
        }
        StatementKind::Schema(SchemaStatement::Alter(alter)) => Err(schema_names::no_schema("alter", &alter.name.text)),
        _ => Err(denied_in("CREATE SCHEMA", database)),
    }
}

/// The schema of the object that a name means, if there is one.
pub type SchemaOf<'a> = &'a dyn Fn(&ObjectName) -> Option<String>;

/// Whether an object is temporary, or in a schema that the user owns.
fn is_own(name: &ObjectName, permissions: &Permissions, schema_of: SchemaOf<'_>) -> bool {
    name.name.text.starts_with('#') || schema_of(name).is_some_and(|schema| permissions.owns_schema(&schema))
}

/// A schema of another owner may be made by those who may act as that owner.
fn check_new_schema(kind: &StatementKind, permissions: &Permissions) -> Result<(), SqlError> {
    let StatementKind::Schema(SchemaStatement::Create(create)) = kind else {
        return Ok(());
    };
    let Some(owner) = &create.authorization else {
        return Ok(());
    };
    let is_self = permissions
        .user
        .as_ref()
        .is_some_and(|(_, name)| same_name(name, &owner.text));
    match permissions.owns() || is_self {
        true => Ok(()),
        false => Err(not_there("find", "principal", &owner.text)),
    }
}

fn denied_module(create: Create, what: &str, name: &ObjectName, database: &str) -> Result<(), SqlError> {
    match create {
        Create::New | Create::NewOrAlter => Err(denied_in(&format!("CREATE {what}"), database)),
        Create::Alter => {
            let text = format!(
                "User does not have permission to perform this operation on {} '{}'.",
                what.to_ascii_lowercase(),
                name.name.text
            );
            Err(error(3704, text))
        }
    }
}

fn check_drop(drop: &ast::Drop, (permissions, schema_of): (&Permissions, SchemaOf<'_>)) -> Result<(), SqlError> {
    let kind = match drop.kind {
        DropKind::Table => "table",
        DropKind::View => "view",
        DropKind::Procedure => "procedure",
        DropKind::Function => "function",
        DropKind::Trigger => "trigger",
        DropKind::Sequence => "sequence",
        DropKind::Synonym => "synonym",
        DropKind::Type => "type",
        DropKind::Schema if permissions.defines() || permissions.owns_schema(&first(drop)) => return Ok(()),
        DropKind::Schema => return Err(schema_names::no_schema("drop", &first(drop))),
        DropKind::User if !permissions.owns() => return Err(not_there("drop", "user", &first(drop))),
        DropKind::Role if !permissions.owns() => return Err(not_there("drop", "role", &first(drop))),
        DropKind::User | DropKind::Role => return Ok(()),
        DropKind::Login => return Err(not_there("drop", "login", &first(drop))),
        DropKind::Certificate => return Err(not_there("drop", "certificate", &first(drop))),
        DropKind::CryptographicProvider => return Err(not_there("drop", "cryptographic provider", &first(drop))),
        DropKind::Credential => return Err(not_there("drop", "credential", &first(drop))),
        DropKind::AsymmetricKey => return Err(not_there("drop", "asymmetric key", &first(drop))),
        DropKind::Database => return Err(no_drop("database", &first(drop))),
    };
    if permissions.defines() {
        return Ok(());
    }
    match drop.names.iter().find(|name| !is_own(name, permissions, schema_of)) {
        None => Ok(()),
        Some(name) => Err(no_drop(kind, &written_object(name))),
    }
}

fn first(drop: &ast::Drop) -> String {
    drop.names
        .first()
        .map_or_else(String::new, |name| name.name.text.clone())
}

/// A client that knows the old password may change its own password, and nothing else.
fn is_own_password(alter: &ast::AlterLogin, login: &str) -> bool {
    let ast::AlterLoginAction::With {
        password: Some(password),
        old_password: Some(_),
        options,
    } = &alter.action
    else {
        return false;
    };
    options.is_empty()
        && !password.unlock
        && !password.must_change
        && selenite_compiler::same_name(&alter.name.text, login)
}

fn denied_restore(restore: &ast::Restore) -> SqlError {
    match &restore.database {
        Some(ast::NameOrVariable::Name(name)) => {
            let text = format!("User does not have permission to RESTORE database '{}'.", name.text);
            error(3110, text).with_severity(14)
        }
        Some(ast::NameOrVariable::Variable(_)) | None => denied_in("CREATE DATABASE", "master"),
    }
}

/// 2571.
fn check_dbcc(dbcc: &ast::Dbcc, permissions: &Permissions, (login, database): (&str, &str)) -> Result<(), SqlError> {
    let command = dbcc.command.text.as_str();
    let is_of_database = [
        "CHECKDB",
        "CHECKTABLE",
        "CHECKALLOC",
        "CHECKCATALOG",
        "CHECKIDENT",
        "SHRINKDATABASE",
        "OPENTRAN",
    ]
    .iter()
    .any(|known| command.eq_ignore_ascii_case(known));
    let is_free = ["TRACESTATUS", "USEROPTIONS"]
        .iter()
        .any(|known| command.eq_ignore_ascii_case(known));
    let is_here = dbcc
        .arguments
        .iter()
        .all(|argument| names_own(command, &argument.to_string(), database));
    if is_free || is_of_database && permissions.owns() && is_here {
        return Ok(());
    }
    let text = format!("User '{login}' does not have permission to run DBCC {command}.");
    Err(error(2571, text).with_severity(14).with_state(3))
}

/// Whether the argument of a DBCC command names something of the database in use, in which the caller's permissions
/// were read.
fn names_own(command: &str, argument: &str, database: &str) -> bool {
    let text = argument.trim_start_matches('N').trim_matches(['\'', '"', '[', ']']);
    let names_object = ["CHECKTABLE", "CHECKIDENT"]
        .iter()
        .any(|known| command.eq_ignore_ascii_case(known));
    let parts: Vec<&str> = text.split('.').collect();
    match (names_object, parts.as_slice()) {
        // The value of a variable is not known here.
        _ if text.starts_with('@') => false,
        (true, [_] | [_, _]) => true,
        (true, [first, ..]) => same_name(first.trim_matches(['[', ']', '"']), database),
        (false, _) => same_name(text, database),
        (true, []) => false,
    }
}

/// Whether files of the server may be read: ADMINISTER BULK OPERATIONS.
///
/// # Errors
/// 4834.
pub fn check_bulk(permissions: &Permissions) -> Result<(), SqlError> {
    match permissions.is_administrator {
        true => Ok(()),
        false => Err(error(
            4834,
            "You do not have permission to use the bulk load statement.".to_owned(),
        )),
    }
}

/// Whether a procedure may be called.
///
/// # Errors
/// 229.
pub fn check_call((schema, name): (&str, &str), permissions: &Permissions, database: &str) -> Result<(), SqlError> {
    match permissions.owns_schema(schema) || name.starts_with('#') {
        true => Ok(()),
        false => Err(denied_on("EXECUTE", [database, schema, name])),
    }
}

pub fn error(number: i32, text: String) -> SqlError {
    SqlError::new(number, Ends::Statement, text)
}

/// 229.
pub fn denied_on(permission: &str, [database, schema, object]: [&str; 3]) -> SqlError {
    let text = format!(
        "The {permission} permission was denied on the object '{object}', database '{database}', schema '{schema}'."
    );
    error(229, text).with_severity(14).with_state(5)
}

/// 262.
pub fn denied_in(permission: &str, database: &str) -> SqlError {
    let text = format!("{permission} permission denied in database '{database}'.");
    error(262, text).with_severity(14)
}

/// 15247.
fn no_action() -> SqlError {
    error(
        15247,
        "User does not have permission to perform this action.".to_owned(),
    )
}

/// 1088.
pub fn no_object(name: &str, state: u8) -> SqlError {
    let text = format!("Cannot find the object \"{name}\" because it does not exist or you do not have permissions.");
    error(1088, text).with_state(state)
}

fn no_object_unless(is_own: bool, name: &ObjectName, state: u8) -> Result<(), SqlError> {
    match is_own {
        true => Ok(()),
        false => Err(no_object(&written_object(name), state)),
    }
}

/// 3701.
fn no_drop(kind: &str, name: &str) -> SqlError {
    let text = format!("Cannot drop the {kind} '{name}', because it does not exist or you do not have permission.");
    error(3701, text).with_severity(14).with_state(20)
}

/// Ids of SQL Server's.
pub const DBO: i32 = 1;
/// The user of logins without a user of their own.
pub const GUEST: i32 = 2;
const MSDB: i32 = 4;
