//! Who may do what with databases as a whole.

use selenite_compiler::{SqlError, same_name};
use selenite_tsql::ast::{self, ExprKind, Literal, StatementKind};

use super::{denied_in, error, no_action};
use crate::catalog::effective_permissions::{Permissions, Securable};
use crate::catalog::permission_kind::PermissionKind;
use crate::catalog::written_name::{name_of_column, name_parts};
use crate::master::ServerPermission;

/// Databases as a whole, and the server.
///
/// # Errors
/// SQL Server's own for each.
#[expect(clippy::wildcard_enum_match_arm, reason = "the caller has picked administration")]
pub fn check_administration(
    kind: &StatementKind,
    permissions: &Permissions,
    (login, database): (&str, &str),
) -> Result<(), SqlError> {
    match kind {
        StatementKind::CreateDatabase(_) if permissions.server.may(ServerPermission::CreateAnyDatabase) => Ok(()),
        StatementKind::CreateDatabase(_) => Err(denied_in("CREATE DATABASE", "master")),
        StatementKind::AlterDatabase(alter) => {
            let name = alter.name.as_ref().map_or(database, |name| &name.text);
            let text = format!(
                "User does not have permission to alter database '{name}', the database does not exist, or the database is \
                 not in a state that allows access checks."
            );
            Err(error(5011, text).with_severity(14).with_state(9))
        }
        StatementKind::Backup(backup) => check_backup(backup, permissions, database),
        StatementKind::Restore(restore) => Err(denied_restore(restore)),
        StatementKind::Dbcc(dbcc) => check_dbcc(dbcc, permissions, (login, database)),
        StatementKind::Kill(_) if permissions.server.may(ServerPermission::AlterAnyConnection) => Ok(()),
        StatementKind::Kill(_) => {
            let text = "User does not have permission to use the KILL statement.";
            Err(error(6102, text.to_owned()).with_severity(14))
        }
        StatementKind::Checkpoint(_) if permissions.may(PermissionKind::Checkpoint, Securable::Database) => Ok(()),
        StatementKind::Checkpoint(_) => Err(denied_in("CHECKPOINT", database)),
        StatementKind::Reconfigure { .. } => {
            let text = "You do not have permission to run the RECONFIGURE statement.";
            Err(error(5812, text.to_owned()).with_severity(14))
        }
        _ => Err(no_action()),
    }
}

/// 262: a backup of the database in use, in which the permissions were read. The value of a variable is not known here.
fn check_backup(backup: &ast::Backup, permissions: &Permissions, database: &str) -> Result<(), SqlError> {
    let wanted = match backup.kind {
        ast::BackupKind::Database => PermissionKind::BackupDatabase,
        ast::BackupKind::Log => PermissionKind::BackupLog,
    };
    let (name, is_here) = match &backup.database {
        ast::NameOrVariable::Name(name) => (&name.text, same_name(&name.text, database)),
        ast::NameOrVariable::Variable(name) => (name, false),
    };
    match is_here && permissions.may(wanted, Securable::Database) {
        true => Ok(()),
        false => Err(denied_in(wanted.name(), name)),
    }
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
        "CHECKCONSTRAINTS",
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
        .all(|argument| names_own(command, argument, database));
    let is_of_caches = [
        "DROPCLEANBUFFERS",
        "FREEPROCCACHE",
        "FREESESSIONCACHE",
        "FREESYSTEMCACHE",
    ]
    .iter()
    .any(|known| command.eq_ignore_ascii_case(known))
        && permissions.server.may(ServerPermission::AlterServerState);
    if is_free || is_of_caches || is_of_database && permissions.owns() && is_here {
        return Ok(());
    }
    let text = format!("User '{login}' does not have permission to run DBCC {command}.");
    Err(error(2571, text).with_severity(14).with_state(3))
}

/// Whether the argument of a DBCC command names something of the database in use, in which the caller's permissions
/// were read.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "all else names nothing, or is not known here"
)]
fn names_own(command: &str, argument: &ast::Expr, database: &str) -> bool {
    let names_object = ["CHECKTABLE", "CHECKIDENT", "CHECKCONSTRAINTS"]
        .iter()
        .any(|known| command.eq_ignore_ascii_case(known));
    let text = match &argument.kind {
        ExprKind::Literal(Literal::String(text) | Literal::National(text)) => text.trim_end().to_owned(),
        ExprKind::Column(column) => name_of_column(column),
        // An option's number.
        ExprKind::Literal(_) | ExprKind::Unary { .. } => return names_object,
        // The value of a variable is not known here.
        _ => return false,
    };
    match (names_object, name_parts(&text).as_deref()) {
        (true, Some([_] | [_, _])) => true,
        (true, Some([first, ..])) => same_name(first, database),
        (true, Some([]) | None) => false,
        (false, _) => same_name(&text, database),
    }
}
