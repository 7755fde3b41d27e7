//! Who may do what on the server.

use selenite_compiler::SqlError;

use super::error;
use crate::catalog::directory::Directory;
use crate::catalog::effective_permissions::Permissions;
use crate::master::{LoginRecord, ServerPermission, ServerRole, UserServerRole};

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

/// Whether a permission on the server may be granted, denied and revoked: with CONTROL SERVER what one has, and by
/// `securityadmin` what makes no login an administrator's other self; never what is denied to oneself, which CONTROL
/// SERVER would be in part. `on` is the login that IMPERSONATE is on.
pub fn may_grant_on_server(
    kind: ServerPermission,
    on: Option<&[u8]>,
    (permissions, directory): (&Permissions, &Directory),
) -> bool {
    let server = &permissions.server;
    let controls = server.may(ServerPermission::ControlServer);
    let is_security = server.is_in(ServerRole::SecurityAdmin) && kind != ServerPermission::ControlServer;
    let is_denied = server.is_denied(kind) || kind == ServerPermission::ControlServer && server.is_denied_any();
    permissions.is_administrator
        || match on {
            Some(login) => controls && may_impersonate_login(login, (permissions, directory)),
            None => !is_denied && (controls && server.may(kind) || is_security),
        }
}

/// Whether a login may be changed and dropped by who may change logins (`no-way-up`): those that may become
/// administrators by administrators, and those that have CONTROL SERVER by those who have it.
pub fn may_alter_login(sid: &[u8], permissions: &Permissions, directory: &Directory) -> bool {
    let controls = permissions.server.may(ServerPermission::ControlServer);
    permissions.is_administrator
        || !directory.may_become_administrator(sid) && (controls || !directory.security.may_control(sid))
}

/// Whether the members of a role of the server may be changed: by administrators, and by its own members unless it is
/// `sysadmin`, in which all members are administrators.
pub fn may_change_members(role: ServerRole, permissions: &Permissions) -> bool {
    permissions.is_administrator || role != ServerRole::SysAdmin && permissions.server.is_in(role)
}

/// Whether a login may be executed as: by administrators, with IMPERSONATE on it, and with CONTROL SERVER if it may not
/// become an administrator.
pub fn may_impersonate_login(sid: &[u8], (permissions, directory): (&Permissions, &Directory)) -> bool {
    let server = &permissions.server;
    let by_control = || {
        server.may(ServerPermission::ControlServer)
            && !server.is_denied_to_impersonate(sid)
            && !directory.may_become_administrator(sid)
    };
    permissions.is_administrator || server.impersonates(sid) || by_control()
}

/// Whether a role of CREATE SERVER ROLE may be renamed and dropped, and its members changed: by its owner, and with
/// ALTER ANY SERVER ROLE by who has all that the role gives. One that may become an administrator only by
/// administrators, one that has CONTROL SERVER only with it: who exchanges the names of two roles decides whom an
/// administrator makes a member of which. A member to whom it denies something does not leave it so.
pub fn may_alter_server_role(role: &UserServerRole, permissions: &Permissions, directory: &Directory) -> bool {
    let (server, security) = (&permissions.server, &directory.security);
    let controls = server.may(ServerPermission::ControlServer);
    let may_impersonate = |login: &[u8]| may_impersonate_login(login, (permissions, directory));
    let is_no_more = || server.is_or_is_in(&role.owner) || security.gives_no_more(&role.sid, server, may_impersonate);
    permissions.is_administrator
        || manages_server_role(role, permissions)
            && !directory.may_become_administrator(&role.sid)
            && (controls || !security.may_control(&role.sid))
            && !(server.is_or_is_in(&role.sid) && security.denies(&role.sid))
            && is_no_more()
}

/// With ALTER ANY SERVER ROLE, and by the owner.
fn manages_server_role(role: &UserServerRole, permissions: &Permissions) -> bool {
    permissions.is_administrator
        || permissions.server.may(ServerPermission::AlterAnyServerRole)
        || permissions.server.is_or_is_in(&role.owner)
}

/// Whether a role of CREATE SERVER ROLE is visible: to its members, too.
pub fn sees_server_role(role: &UserServerRole, permissions: &Permissions) -> bool {
    manages_server_role(role, permissions)
        || permissions.server.is_or_is_in(&role.sid)
        || permissions.server.may(ServerPermission::ViewAnyDefinition)
}

/// Whether a role of the server may be given to an owner: to oneself, to a role that one is in, to a role that one may
/// alter, and to a login that one may execute as.
pub fn may_own_server_role(owner: &[u8], permissions: &Permissions, directory: &Directory) -> bool {
    let mut roles = directory.security.roles.iter();
    let altered = roles
        .find(|role| role.sid == owner)
        .is_some_and(|role| may_alter_server_role(role, permissions, directory));
    permissions.server.is_or_is_in(owner) || altered || may_impersonate_login(owner, (permissions, directory))
}

/// Whether permissions of a login, role or `public` may be changed: if all logins that have them are in reach
/// ([`may_alter_login`]). Nothing is denied to administrators.
pub fn may_change_grantee(grantee: &[u8], permissions: &Permissions, directory: &Directory) -> bool {
    let mut logins = directory.records.iter().filter(|login| !login.is_administrator);
    let is_reached = |login: &LoginRecord| may_alter_login(&login.sid, permissions, directory);
    let has = |login: &LoginRecord| {
        directory
            .security
            .with_roles(&login.sid)
            .iter()
            .any(|own| own == grantee)
    };
    permissions.is_administrator || logins.all(|login| is_reached(login) || !has(login))
}
