//! Who may do what.
//!
//! | who | may |
//! |---|---|
//! | `sysadmin` | everything, in every database, as `dbo` |
//! | who has CONTROL SERVER | what the permissions on the server let do, CONTROL of every database, SHUTDOWN; not what is denied, nor what `sysadmin` alone does: whole databases, RESTORE, keys of the server |
//! | `securityadmin` | logins but those that are in `sysadmin` or may execute as one, permissions on the server |
//! | `processadmin` | KILL, the state of the server, caches |
//! | `dbcreator` | CREATE DATABASE, whose `db_owner` it is then; no ALTER, DROP or RESTORE |
//! | `bulkadmin` | BULK INSERT and OPENROWSET from the folders of the configuration |
//! | who is in a role of the server but `sysadmin` | its members, too |
//! | who owns a role of CREATE SERVER ROLE, or has ALTER ANY SERVER ROLE and what the role gives | the role and its members, unless it may become `sysadmin` |
//! | `db_owner` | everything in the database, but to restore, to drop or to alter it as a whole |
//! | `db_securityadmin` | GRANT, DENY and REVOKE, but of CONTROL on the database; members of roles of CREATE ROLE that have not that |
//! | `db_accessadmin` | users, and GRANT and DENY of CONNECT |
//! | `db_backupoperator` | BACKUP to what is below the folder of backups, CHECKPOINT |
//! | `db_ddladmin` | CREATE, ALTER and DROP of what is in schemas, REFERENCES |
//! | `db_datareader`, `db_datawriter` | SELECT; INSERT, UPDATE and DELETE, on every table and view |
//! | `db_denydatareader`, `db_denydatawriter` | not that, whatever else they are in, but `db_owner` |
//! | the owner of a schema | SELECT, INSERT, UPDATE and DELETE, ALTER, DROP and EXECUTE of what is in it |
//! | who was granted it, or a role that they are in | what [`crate::catalog::grants`] lists |
//! | a user in no role | to use the database, temporary objects, and views of the system |
//! | a login without a user | master, tempdb and msdb as `guest`, no other database |
//!
//! - `sysadmin-by-default`: a statement that names no role here may be run by `sysadmin` only. The
//!   match over statements has an answer for each of them.
//! - `rows-are-checked-at-binding`: permissions on rows are checked when a statement is bound: what
//!   it reads is what the binder requested from the catalog. A bound statement is kept only as long
//!   as users, roles and permissions are the same, since its version counts changes of all
//!   ([`crate::catalog::schema`]).
//! - `columns-are-checked-by-use`: of a table or view on whose columns something was granted or denied,
//!   each column that a statement names is checked, in whatever clause; all columns where it names
//!   none ([`check_columns`]).
//! - `ownership-chains`: what a view or procedure names is not checked if it has the same owner as
//!   the view or procedure: that of its schema. What has another owner is checked for the caller,
//!   and so is a text that a procedure executes, and TRUNCATE. A temporary procedure has no owner. That of
//!   a procedure is the one that it has when it begins ([`crate::catalog::running_module`]).
//! - `types-are-executed`: a variable of a table type, and rows that a client sends, need EXECUTE on
//!   the type; in a module, if the type has another owner. A column of a table needs REFERENCES on
//!   its type. A type is visible to users with any permission on it ([`Permissions::sees_type`]).
//! - `temporary-objects-are-everyones`: a global temporary table may be used, changed and dropped by
//!   every session, as SQL Server has it, and a global temporary procedure called; that is changed and
//!   dropped as whom it was made, and by administrators.
//! - `definitions-by-permission`: an object is visible to users with any permission on it
//!   ([`Permissions::sees`]); the texts of views, procedures, checks and defaults to those with ALTER
//!   or VIEW DEFINITION. The server's own views contain what is visible.

mod administration;
mod denial;
mod server;

use administration::check_administration;
pub(crate) use denial::{check_altered, denied_in, denied_on, error, no_access, no_action, no_drop, no_object};
use denial::{denied_on_column, no_object_unless};
use selenite_compiler::catalog::{Column, Table};
use selenite_compiler::definition::{SCHEMA, mentions};
use selenite_compiler::{SqlError, same_name, written_object};
use selenite_tsql::ast::{self, Create, DropKind, ObjectName, SchemaStatement, StatementKind};
pub(crate) use server::{
    check_bulk, may_alter_login, may_alter_server_role, may_change_grantee, may_change_members, may_grant_on_server,
    may_impersonate_login, may_own_server_role, sees_server_role,
};

use crate::catalog::effective_permissions::{Permissions, Securable};
use crate::catalog::fixed_role::FixedRole;
use crate::catalog::permission_kind::PermissionKind;
use crate::catalog::principals::not_there;
use crate::catalog::schema_names;
use crate::master::ServerPermission;

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
    // Who is let in nowhere may still be oneself again.
    if permissions.is_administrator || matches!(kind, StatementKind::Revert(_)) {
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
        StatementKind::Shutdown { .. } if permissions.server.may(ServerPermission::ControlServer) => Ok(()),
        StatementKind::Shutdown { .. }
        | StatementKind::BackupMasterKey { .. }
        | StatementKind::RestoreMasterKey { .. }
        | StatementKind::BackupCertificate(_)
        | StatementKind::CreateEncryptionKey(_)
        | StatementKind::AlterEncryptionKey(_)
        | StatementKind::DropEncryptionKey => Err(no_action()),
        StatementKind::KeyManagement(manage) => Err(no_key_management(manage)),
        // Keys, whose database and owner are known where they are changed; statements on rows; refused to all, by name;
        // the machine's own, which come here only with what they do.
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
        StatementKind::AlterLogin(alter) if is_own_password(alter, login) => Ok(()),
        // Which login it is, is known where it is changed.
        StatementKind::AlterLogin(_) | StatementKind::CreateLogin(_)
            if permissions.server.may(ServerPermission::AlterAnyLogin) =>
        {
            Ok(())
        }
        StatementKind::AlterLogin(alter) => Err(not_there("alter", "login", &alter.name.text)),
        StatementKind::CreateLogin(_) => Err(no_action()),
        StatementKind::CreateUser(_) | StatementKind::AlterUser(_)
            if permissions.may(PermissionKind::AlterAnyUser, Securable::Database) =>
        {
            Ok(())
        }
        StatementKind::CreateRole(create) if create.server => {
            match permissions.server.may(ServerPermission::CreateServerRole) {
                true => Ok(()),
                false => Err(no_action()),
            }
        }
        StatementKind::CreateRole(_) if permissions.may(PermissionKind::CreateRole, Securable::Database) => Ok(()),
        // Which role it is, and whose, is known where it is changed.
        StatementKind::AlterRole(_) => Ok(()),
        StatementKind::AlterUser(alter) => Err(not_there("alter", "user", &alter.name.text)),
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
    let is_temporary = |name: &ObjectName| is_own(name, permissions, schema_of);
    match kind {
        StatementKind::View(view) if view.create == Create::Alter => {
            check_altered("view", &view.name, is_temporary(&view.name))
        }
        StatementKind::Procedure(procedure) if procedure.create == Create::Alter => {
            check_altered("procedure", &procedure.name, is_temporary(&procedure.name))
        }
        StatementKind::Function(function) if function.create == Create::Alter => {
            check_altered("function", &function.name, is_temporary(&function.name))
        }
        StatementKind::AlterTable(alter) => {
            no_object_unless(is_temporary(&alter.name), &alter.name, 13)?;
            match &alter.action {
                ast::AlterTableAction::Add { elements, .. } => {
                    check_references(elements, (permissions, schema_of), database)
                }
                _ => Ok(()),
            }
        }
        StatementKind::CreateIndex(create) => no_object_unless(is_temporary(&create.table), &create.table, 12),
        StatementKind::AlterIndex(alter) => no_object_unless(is_temporary(&alter.table), &alter.table, 9),
        StatementKind::DropIndex { indexes, .. } => match indexes.iter().find(|index| !is_temporary(&index.table)) {
            None => Ok(()),
            Some(index) => Err(no_drop(
                "index",
                &format!("{}.{}", written_object(&index.table), index.name.text),
            )),
        },
        StatementKind::Trigger(trigger) => no_object_unless(is_temporary(&trigger.table), &trigger.table, 8),
        StatementKind::TriggerSwitch(switch) => no_object_unless(is_temporary(&switch.table), &switch.table, 22),
        StatementKind::Sequence(sequence) if sequence.alter => {
            no_object_unless(is_temporary(&sequence.name), &sequence.name, 12)
        }
        StatementKind::Schema(SchemaStatement::Alter(alter))
            if permissions.may_create_in(&alter.name.text)
                && (is_of_type(alter) || controls(&alter.object, permissions, schema_of)) =>
        {
            Ok(())
        }
        StatementKind::Schema(SchemaStatement::Alter(alter)) => Err(schema_names::no_schema("alter", &alter.name.text)),
        new => check_new_object(new, (permissions, schema_of), database),
    }
}

/// What is created: a permission in the database, and ALTER on the schema.
#[expect(clippy::wildcard_enum_match_arm, reason = "the caller has picked definitions")]
fn check_new_object(
    kind: &StatementKind,
    (permissions, schema_of): (&Permissions, SchemaOf<'_>),
    database: &str,
) -> Result<(), SqlError> {
    let is_temporary = |name: &ObjectName| name.name.text.starts_with('#');
    let check = |wanted: PermissionKind| match permissions.may(wanted, Securable::Database) {
        true => Ok(()),
        false => Err(denied_in(wanted.name(), database)),
    };
    match kind {
        StatementKind::CreateTable(create) if is_temporary(&create.name) => Ok(()),
        StatementKind::Procedure(procedure) if is_temporary(&procedure.name) => Ok(()),
        StatementKind::CreateTable(create) => {
            check(PermissionKind::CreateTable)?;
            check_new(&create.name, permissions)?;
            check_references(&create.elements, (permissions, schema_of), database)
        }
        StatementKind::View(view) => {
            check(PermissionKind::CreateView)?;
            check_new_module(&view.name, permissions, schema_of)
        }
        StatementKind::Procedure(procedure) => {
            check(PermissionKind::CreateProcedure)?;
            check_new_module(&procedure.name, permissions, schema_of)
        }
        StatementKind::Function(function) => {
            check(PermissionKind::CreateFunction)?;
            check_new_module(&function.name, permissions, schema_of)
        }
        StatementKind::Sequence(sequence) => check_new_sequence(&sequence.name, permissions, database),
        StatementKind::Synonym(synonym) => {
            check(PermissionKind::CreateSynonym)?;
            check_new(&synonym.name, permissions)
        }
        StatementKind::CreateType(create) => {
            check(PermissionKind::CreateType)?;
            check_new(&create.name, permissions)
        }
        StatementKind::Schema(SchemaStatement::Create(create)) => {
            check(PermissionKind::CreateSchema)?;
            check_new_schema(create, permissions)?;
            let elements = create.elements.iter();
            elements
                .map(|element| &element.kind)
                .try_for_each(|element| check_element(element, (permissions, schema_of), database))
        }
        _ => Err(no_action()),
    }
}

/// What is made with its schema: who makes it may alter it.
#[expect(clippy::wildcard_enum_match_arm, reason = "nothing else is carried out there")]
fn check_element(
    element: &StatementKind,
    (permissions, schema_of): (&Permissions, SchemaOf<'_>),
    database: &str,
) -> Result<(), SqlError> {
    let may = |kind: PermissionKind| match permissions.may(kind, Securable::Database) {
        true => Ok(()),
        false => Err(denied_in(kind.name(), database)),
    };
    // Beside the new schema, names without one are looked up in `dbo`, not in the user's.
    let of_new = |name: &ObjectName| match &name.schema {
        Some(_) => schema_of(name),
        None => schema_of(&ObjectName {
            schema: Some(ast::Name {
                text: SCHEMA.to_owned(),
                ..name.name.clone()
            }),
            ..name.clone()
        }),
    };
    match element {
        StatementKind::CreateTable(create) => {
            may(PermissionKind::CreateTable)?;
            check_references(&create.elements, (permissions, &of_new), database)
        }
        StatementKind::View(_) => may(PermissionKind::CreateView),
        _ => Ok(()),
    }
}

/// 229, 230: a foreign key to a table without REFERENCES on it, or on the columns that it names.
fn check_references(
    elements: &[ast::TableElement],
    (permissions, schema_of): (&Permissions, SchemaOf<'_>),
    database: &str,
) -> Result<(), SqlError> {
    let constraints = elements.iter().flat_map(|element| match element {
        ast::TableElement::Column(column) => column.constraints.as_slice(),
        ast::TableElement::Constraint(constraint) => std::slice::from_ref(&**constraint),
        ast::TableElement::Index(_) => &[],
    });
    for constraint in constraints {
        let ast::ConstraintKind::ForeignKey(key) = &constraint.kind else {
            continue;
        };
        if let Some(schema) = schema_of(&key.table) {
            let columns: Vec<&str> = key.referenced.iter().map(|column| column.text.as_str()).collect();
            // Without columns it is those of the primary key, whose names are not known here.
            let columns = Some(columns.as_slice()).filter(|columns| !columns.is_empty());
            let object = [database, &schema, &key.table.name.text];
            check_columns(PermissionKind::References, object, columns, permissions)?;
        }
    }
    Ok(())
}

/// Whether something may be done with these columns of a table or view, given its database, schema and name; with all of
/// them, if it is not known with which.
///
/// # Errors
/// 229 if it is permitted on none of its columns, otherwise 230.
pub fn check_columns(
    wanted: PermissionKind,
    object: [&str; 3],
    columns: Option<&[&str]>,
    permissions: &Permissions,
) -> Result<(), SqlError> {
    let [_, schema, name] = object;
    let may_on_all = permissions.may_on(wanted, (schema, name));
    if may_on_all && !permissions.excepts_columns(wanted, (schema, name)) {
        return Ok(());
    }
    let may_on_some = may_on_all || permissions.is_granted_on_columns(wanted, (schema, name));
    let columns = columns.filter(|_| may_on_some);
    let columns = columns.ok_or_else(|| denied_on(wanted.name(), object))?;
    let may = |column: &&&str| permissions.may(wanted, Securable::Column(schema, name, column));
    match columns.iter().find(|column| !may(column)) {
        Some(column) => Err(denied_on_column(wanted.name(), column, object)),
        None => Ok(()),
    }
}

/// Whether a computed column may be read: what was denied on a column is not read through it. That a column it is
/// computed from was not granted does not count, since the owner of the table has made it.
///
/// # Errors
/// 230.
pub fn check_computed(table: &Table, expression: &str, permissions: &Permissions) -> Result<(), SqlError> {
    let on = (table.schema.as_str(), table.name.as_str());
    let wanted = PermissionKind::Select;
    let is_denied = |column: &&Column| {
        permissions.is_denied_on_column(wanted, on, &column.name) && mentions(expression, &column.name)
    };
    match table.columns.iter().find(is_denied) {
        Some(column) => {
            let object = [table.database.as_str(), on.0, on.1];
            Err(denied_on_column(wanted.name(), &column.name, object))
        }
        None => Ok(()),
    }
}

/// The same for a module, which CREATE OR ALTER may change.
fn check_new_module(name: &ObjectName, permissions: &Permissions, schema_of: SchemaOf<'_>) -> Result<(), SqlError> {
    check_new(name, permissions)?;
    no_object_unless(
        schema_of(name).is_none() || is_own(name, permissions, schema_of),
        name,
        11,
    )
}

/// The schema that something new is to be in.
fn new_schema<'a>(name: &'a ObjectName, permissions: &'a Permissions) -> &'a str {
    let own = name.schema.as_ref().map(|schema| schema.text.as_str());
    own.unwrap_or(&permissions.default_schema)
}

/// 262: a sequence in a schema without CREATE SEQUENCE there.
fn check_new_sequence(name: &ObjectName, permissions: &Permissions, database: &str) -> Result<(), SqlError> {
    let schema = Securable::Schema(new_schema(name, permissions));
    match permissions.may(PermissionKind::CreateSequence, schema) {
        true => Ok(()),
        false => Err(denied_in("CREATE SEQUENCE", database)),
    }
}

/// 2760: what is new is in a schema that the user may alter.
fn check_new(name: &ObjectName, permissions: &Permissions) -> Result<(), SqlError> {
    let schema = new_schema(name, permissions);
    match permissions.may_create_in(schema) {
        true => Ok(()),
        false => Err(SqlError::unknown_schema(schema)),
    }
}

/// The schema of the object that a name means, if there is one.
pub type SchemaOf<'a> = &'a dyn Fn(&ObjectName) -> Option<String>;

/// Whether an object is temporary, or one that the user may alter.
fn is_own(name: &ObjectName, permissions: &Permissions, schema_of: SchemaOf<'_>) -> bool {
    let may = |schema: String| permissions.may_on(PermissionKind::Alter, (&schema, &name.name.text));
    name.name.text.starts_with('#') || schema_of(name).map_or_else(|| permissions.defines(), may)
}

/// Whether an object is one that the user may do everything with: to define objects is not enough, since the owner of
/// the schema that an object is moved into is the owner of the object, too.
fn controls(name: &ObjectName, permissions: &Permissions, schema_of: SchemaOf<'_>) -> bool {
    let may = |schema: String| permissions.may_on(PermissionKind::Control, (&schema, &name.name.text));
    schema_of(name).map_or_else(|| permissions.defines(), may)
}

/// Whether a type is transferred: CONTROL of it is checked where it is found.
fn is_of_type(alter: &ast::AlterSchema) -> bool {
    (alter.class.as_deref()).is_some_and(|class| class.eq_ignore_ascii_case("TYPE"))
}

/// Whether an object is temporary, or one that the user may drop.
fn may_drop(name: &ObjectName, permissions: &Permissions, schema_of: SchemaOf<'_>) -> bool {
    let may = |schema: String| permissions.may_drop((&schema, &name.name.text));
    name.name.text.starts_with('#') || schema_of(name).map_or_else(|| permissions.defines(), may)
}

/// A schema of another owner may be made by those who may act as that owner.
fn check_new_schema(create: &ast::CreateSchema, permissions: &Permissions) -> Result<(), SqlError> {
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

fn check_drop(drop: &ast::Drop, (permissions, schema_of): (&Permissions, SchemaOf<'_>)) -> Result<(), SqlError> {
    let kind = match drop.kind {
        DropKind::Table => "table",
        DropKind::View => "view",
        DropKind::Procedure => "procedure",
        DropKind::Function => "function",
        DropKind::Trigger => "trigger",
        DropKind::Sequence => "sequence",
        DropKind::Synonym => "synonym",
        // Whose table it is.
        DropKind::Statistics => {
            let may = |name: &ObjectName| {
                table_of_statistics(name).is_none_or(|table| is_own(&table, permissions, schema_of))
            };
            return match drop.names.iter().find(|name| !may(name)) {
                None => Ok(()),
                Some(name) => Err(no_drop("statistics", &written_object(name))),
            };
        }
        DropKind::Schema if permissions.may(PermissionKind::Control, Securable::Schema(&first(drop))) => return Ok(()),
        DropKind::Schema if permissions.may(PermissionKind::AlterAnySchema, Securable::Database) => return Ok(()),
        DropKind::Schema => return Err(schema_names::no_schema("drop", &first(drop))),
        DropKind::User if !permissions.may(PermissionKind::AlterAnyUser, Securable::Database) => {
            return Err(not_there("drop", "user", &first(drop)));
        }
        // Whose role or key it is, and in which schema a type is, is known where it is dropped.
        DropKind::User | DropKind::Role | DropKind::ServerRole | DropKind::Type => return Ok(()),
        DropKind::Login if permissions.server.may(ServerPermission::AlterAnyLogin) => return Ok(()),
        DropKind::SymmetricKey | DropKind::Certificate | DropKind::AsymmetricKey => return Ok(()),
        DropKind::Login => return Err(not_there("drop", "login", &first(drop))),
        DropKind::CryptographicProvider => return Err(not_there("drop", "cryptographic provider", &first(drop))),
        DropKind::Credential => return Err(not_there("drop", "credential", &first(drop))),
        DropKind::Database => return Err(no_drop("database", &first(drop))),
    };
    match drop.names.iter().find(|name| !may_drop(name, permissions, schema_of)) {
        None => Ok(()),
        Some(name) => Err(no_drop(kind, &written_object(name))),
    }
}

/// The table in the name of statistics: what is before the last point.
pub(crate) fn table_of_statistics(name: &ObjectName) -> Option<ObjectName> {
    Some(ObjectName {
        server: None,
        database: name.server.clone(),
        schema: name.database.clone(),
        name: name.schema.clone()?,
        position: name.position,
    })
}

fn first(drop: &ast::Drop) -> String {
    drop.names
        .first()
        .map_or_else(String::new, |name| name.name.text.clone())
}

/// A client that knows the old password may change its own password, and nothing else.
pub(crate) fn is_own_password(alter: &ast::AlterLogin, login: &str) -> bool {
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

/// Whether a permission on something may be granted, denied and revoked without a grant option.
pub fn may_grant((kind, on): (PermissionKind, Securable<'_>), permissions: &Permissions) -> bool {
    permissions.may(PermissionKind::Control, on) || may_grant_by_role((kind, on), permissions)
}

/// Whether it is the owner, or a fixed role, by which a permission that may be granted is: not CONTROL that was granted,
/// with which what was granted by it goes.
pub fn may_grant_as_owner((kind, on): (PermissionKind, Securable<'_>), permissions: &Permissions) -> bool {
    permissions.owns() || permissions.is_owner_of(on) || may_grant_by_role((kind, on), permissions)
}

fn may_grant_by_role((kind, on): (PermissionKind, Securable<'_>), permissions: &Permissions) -> bool {
    let is_whole = kind == PermissionKind::Control && on == Securable::Database;
    let is_connect = kind == PermissionKind::Connect && permissions.is_in(FixedRole::AccessAdmin);
    // What `db_owner` may is not `db_securityadmin`'s to give.
    let is_user = matches!(on, Securable::User(_));
    let is_security = permissions.is_in(FixedRole::SecurityAdmin) && !is_whole && !is_user;
    is_security || is_connect
}

/// Whether a user of the database may be executed as: oneself, with IMPERSONATE, and any for the owner of the database;
/// with CONTROL of the database those that may not become its owner.
pub fn may_impersonate(user: i32, permissions: &Permissions) -> bool {
    permissions.user.as_ref().is_some_and(|(own, _)| *own == user)
        || permissions.may(PermissionKind::Impersonate, Securable::User(user))
}

/// Whether permissions may be granted in the name of a principal: one's own, a role that one is in, and any of them for
/// the owner of the database.
pub fn may_act_as(principal: i32, permissions: &Permissions) -> bool {
    permissions.owns() || permissions.is_or_is_in(principal)
}

/// Whether plans of statements in a database may be shown, to those who may run them: SHOWPLAN.
///
/// # Errors
/// 262.
pub fn check_plans(permissions: &Permissions, database: &str) -> Result<(), SqlError> {
    match permissions.may(PermissionKind::ShowPlan, Securable::Database) {
        true => Ok(()),
        false => Err(denied_in("SHOWPLAN", database).with_state(4)),
    }
}

/// Whether a procedure may be called. `is_chained` says whether another one with the same owner calls it.
///
/// # Errors
/// 229.
pub fn check_call(
    (schema, name): (&str, &str),
    is_chained: bool,
    (permissions, database): (&Permissions, &str),
) -> Result<(), SqlError> {
    match is_chained || permissions.may_on(PermissionKind::Execute, (schema, name)) || name.starts_with('#') {
        true => Ok(()),
        false => Err(denied_on("EXECUTE", [database, schema, name])),
    }
}

/// Whether something may be done with a type, by its schema and name.
///
/// # Errors
/// 229.
pub fn check_type(
    wanted: PermissionKind,
    (schema, name): (&str, &str),
    (permissions, database): (&Permissions, &str),
) -> Result<(), SqlError> {
    match permissions.may(wanted, Securable::Type(schema, name)) {
        true => Ok(()),
        false => Err(denied_on(wanted.name(), [database, schema, name])),
    }
}
