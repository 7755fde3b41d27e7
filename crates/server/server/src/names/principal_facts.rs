//! What USER_NAME, SUSER_NAME, IS_MEMBER and related functions read.

use std::sync::Arc;

use selenite_compiler::{Key, PrincipalFacts, same_name};

use crate::catalog::directory::Directory;
use crate::catalog::effective_permissions::Permissions;
use crate::catalog::fixed_role::FixedRole;
use crate::catalog::permission::sees_server_role;
use crate::catalog::principals::{DBO, GUEST, PUBLIC, Principals};
use crate::master::ServerRole;
use crate::names::identity::Identity;

/// A user or role of the database in use.
pub fn user_facts(key: Key<'_>, permissions: &Permissions, principals: &Principals) -> Option<PrincipalFacts> {
    if key == Key::Current {
        let (id, name) = permissions.user.clone()?;
        return Some(user_or_login(id, name));
    }
    let is_it = |id: i32, name: &str| match key {
        Key::Current => false,
        Key::Name(wanted) => same_name(name, wanted),
        Key::Id(wanted) => id == wanted,
        Key::Sid(_) => false,
    };
    let own = [(DBO, "dbo"), (GUEST, "guest"), (3, "INFORMATION_SCHEMA"), (4, "sys")];
    if let Some((id, name)) = own.into_iter().find(|(id, name)| is_it(*id, name)) {
        return Some(user_or_login(id, Arc::from(name)));
    }
    if is_it(PUBLIC, "public") {
        return Some(role(PUBLIC, "public", true));
    }
    if let Some(found) = FixedRole::ALL.into_iter().find(|role| is_it(role.id(), role.name())) {
        return Some(role(found.id(), found.name(), permissions.is_in(found)));
    }
    let mut roles = principals.roles().iter();
    if let Some(found) = roles.find(|role| is_it(role.id, &role.name)) {
        return Some(role(found.id, &found.name, permissions.is_or_is_in(found.id)));
    }
    let user = principals.users().iter().find(|user| is_it(user.id, &user.name))?;
    Some(user_or_login(user.id, Arc::from(user.name.as_str())))
}

/// A login or role of the server.
pub fn login_facts(
    key: Key<'_>,
    (identity, permissions): (&Identity, impl Fn() -> Permissions),
    directory: &Directory,
) -> Option<PrincipalFacts> {
    let has_sid = |id: i32, sid: &[u8]| {
        let mut logins = directory.records.iter();
        logins.any(|login| login.id == i64::from(id) && login.sid == sid)
    };
    let is_it = |id: i32, name: &str| match key {
        Key::Current => has_sid(id, &identity.sid),
        Key::Name(wanted) => same_name(name, wanted),
        Key::Id(wanted) => id == wanted,
        // The owner of databases is shown as sa, as SQL Server's 0x01.
        Key::Sid([1]) => id == 1,
        Key::Sid(sid) => has_sid(id, sid),
    };
    if let Some((id, name)) = directory.logins.iter().find(|(id, name)| is_it(*id, name)) {
        return Some(user_or_login(*id, Arc::from(name.as_str())));
    }
    if is_it(SERVER_PUBLIC, "public") {
        return Some(role(SERVER_PUBLIC, "public", true));
    }
    let rights = || directory.security.of(&identity.sid);
    let mut roles = ServerRole::ALL.into_iter();
    let Some(found) = roles.find(|role| is_it(role.id(), role.name())) else {
        let mut roles = directory.security.roles.iter();
        let found = roles.find(|role| is_it(role.id, &role.name))?;
        let is_seen = sees_server_role(found, &permissions());
        let is_member = identity.user.is_none() && rights().is_or_is_in(&found.sid);
        return is_seen.then(|| role(found.id, &found.name, is_member));
    };
    let is_member = match (found, identity.user) {
        (_, Some(_)) => false,
        (ServerRole::SysAdmin, None) => directory.is_administrator(&identity.sid),
        (found, None) => rights().is_in(found),
    };
    Some(role(found.id(), found.name(), is_member))
}

fn user_or_login(id: i32, name: Arc<str>) -> PrincipalFacts {
    PrincipalFacts {
        id,
        name,
        is_role: false,
        is_member: false,
    }
}

fn role(id: i32, name: &str, is_member: bool) -> PrincipalFacts {
    PrincipalFacts {
        id,
        name: Arc::from(name),
        is_role: true,
        is_member,
    }
}

/// SQL Server's number.
const SERVER_PUBLIC: i32 = 2;
