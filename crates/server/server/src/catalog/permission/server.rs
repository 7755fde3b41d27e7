//! Who may do what on the server.

use selenite_compiler::SqlError;

use super::error;
use crate::catalog::effective_permissions::Permissions;
use crate::master::{ServerPermission, ServerRole};

/// Whether files of the server may be read: ADMINISTER BULK OPERATIONS.
///
/// # Errors
/// 4834.
pub fn check_bulk(permissions: &Permissions) -> Result<(), SqlError> {
    match permissions.server.may(ServerPermission::AdministerBulkOperations) {
        true => Ok(()),
        false => Err(error(
            4834,
            "You do not have permission to use the bulk load statement.".to_owned(),
        )),
    }
}

/// Whether a permission on the server may be granted, denied and revoked: what makes no other login of an administrator.
pub fn may_grant_on_server(kind: ServerPermission, permissions: &Permissions) -> bool {
    let is_security = permissions.server.is_in(ServerRole::SecurityAdmin);
    permissions.is_administrator || is_security && kind != ServerPermission::Impersonate
}

/// Whether the members of a role of the server may be changed: by administrators, and by its own members unless it is
/// `sysadmin`, in which all members are administrators.
pub fn may_change_members(role: ServerRole, permissions: &Permissions) -> bool {
    permissions.is_administrator || role != ServerRole::SysAdmin && permissions.server.is_in(role)
}

/// Whether a login may be executed as: by administrators, and with IMPERSONATE on it.
pub fn may_impersonate_login(sid: &[u8], permissions: &Permissions) -> bool {
    permissions.is_administrator || permissions.server.impersonates(sid)
}
