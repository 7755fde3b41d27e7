//! Permissions on the server, its fixed roles, and what a login has of both.
//!
//! - `only-what-is-enforced`: a permission or role that no check asks for has no kind here, and GRANT of it is refused
//!   by name.
//! - `no-way-up`: no permission and no role but `sysadmin` changes who is in `sysadmin`, or a login that is, or that
//!   may execute as one that is ([`ServerSecurity::may_become_administrator`]); CONTROL SERVER executes as none of
//!   them, either.

use std::collections::BTreeSet;

use selenite_compiler::same_name;

use super::UserServerRole;

/// A permission on the server.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum ServerPermission {
    /// ADMINISTER BULK OPERATIONS: files in the folders of the configuration.
    AdministerBulkOperations,
    /// ALTER ANY CONNECTION: KILL.
    AlterAnyConnection,
    /// ALTER ANY LOGIN
    AlterAnyLogin,
    /// ALTER ANY SERVER ROLE: roles of CREATE SERVER ROLE.
    AlterAnyServerRole,
    /// ALTER SERVER STATE: caches.
    AlterServerState,
    /// CONNECT SQL: that it is denied keeps a login out.
    ConnectSql,
    /// CONTROL SERVER: all others, and CONTROL of every database.
    ControlServer,
    /// CREATE ANY DATABASE
    CreateAnyDatabase,
    /// CREATE SERVER ROLE
    CreateServerRole,
    /// IMPERSONATE on a login: EXECUTE AS LOGIN.
    Impersonate,
    /// VIEW ANY DEFINITION
    ViewAnyDefinition,
    /// VIEW SERVER STATE
    ViewServerState,
}

use ServerPermission as Kind;

impl ServerPermission {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Kind::AdministerBulkOperations,
        Kind::AlterAnyConnection,
        Kind::AlterAnyLogin,
        Kind::AlterAnyServerRole,
        Kind::AlterServerState,
        Kind::ConnectSql,
        Kind::ControlServer,
        Kind::CreateAnyDatabase,
        Kind::CreateServerRole,
        Kind::Impersonate,
        Kind::ViewAnyDefinition,
        Kind::ViewServerState,
    ];

    /// Its name, and `type` in sys.server_permissions.
    #[must_use]
    pub fn words(self) -> (&'static str, &'static str) {
        match self {
            Kind::AdministerBulkOperations => ("ADMINISTER BULK OPERATIONS", "ADBO"),
            Kind::AlterAnyConnection => ("ALTER ANY CONNECTION", "ALCO"),
            Kind::AlterAnyLogin => ("ALTER ANY LOGIN", "ALLG"),
            Kind::AlterAnyServerRole => ("ALTER ANY SERVER ROLE", "ALSR"),
            Kind::AlterServerState => ("ALTER SERVER STATE", "ALSS"),
            Kind::ConnectSql => ("CONNECT SQL", "COSQ"),
            Kind::ControlServer => ("CONTROL SERVER", "CL"),
            Kind::CreateAnyDatabase => ("CREATE ANY DATABASE", "CRDB"),
            Kind::CreateServerRole => ("CREATE SERVER ROLE", "CRSR"),
            Kind::Impersonate => ("IMPERSONATE", "IM"),
            Kind::ViewAnyDefinition => ("VIEW ANY DEFINITION", "VWAD"),
            Kind::ViewServerState => ("VIEW SERVER STATE", "VWSS"),
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.words().0
    }

    /// The one of a name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| same_name(kind.name(), name))
    }

    /// The one of a type in sys.server_permissions.
    #[must_use]
    pub fn of_letters(letters: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.words().1 == letters)
    }

    /// Whether having it is having `wanted`.
    fn covers(self, wanted: Self) -> bool {
        self == wanted
            || self == Kind::ControlServer
            || self == Kind::AlterServerState && wanted == Kind::ViewServerState
            || self == Kind::AlterAnyServerRole && wanted == Kind::CreateServerRole
    }
}

/// A role that every server has.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum ServerRole {
    /// `sysadmin`: everything.
    SysAdmin,
    /// `securityadmin`: logins, and permissions on the server.
    SecurityAdmin,
    /// `processadmin`: sessions of others.
    ProcessAdmin,
    /// `dbcreator`: databases of one's own.
    DbCreator,
    /// `bulkadmin`: files of bulk load.
    BulkAdmin,
}

impl ServerRole {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::SysAdmin,
        Self::SecurityAdmin,
        Self::ProcessAdmin,
        Self::DbCreator,
        Self::BulkAdmin,
    ];

    /// SQL Server's number.
    #[must_use]
    pub fn id(self) -> i32 {
        match self {
            Self::SysAdmin => 3,
            Self::SecurityAdmin => 4,
            Self::ProcessAdmin => 7,
            Self::DbCreator => 9,
            Self::BulkAdmin => 10,
        }
    }

    /// Its security id: its number.
    #[must_use]
    pub fn sid(self) -> &'static [u8] {
        match self {
            Self::SysAdmin => &[3],
            Self::SecurityAdmin => &[4],
            Self::ProcessAdmin => &[7],
            Self::DbCreator => &[9],
            Self::BulkAdmin => &[10],
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::SysAdmin => "sysadmin",
            Self::SecurityAdmin => "securityadmin",
            Self::ProcessAdmin => "processadmin",
            Self::DbCreator => "dbcreator",
            Self::BulkAdmin => "bulkadmin",
        }
    }

    /// The one of a number.
    #[must_use]
    pub fn of_id(id: i32) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.id() == id)
    }

    /// The one of a name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| same_name(role.name(), name))
    }

    /// What its members may do. Those of `sysadmin` may do more than there are permissions.
    fn permissions(self) -> &'static [ServerPermission] {
        match self {
            Self::SysAdmin => &Kind::ALL,
            Self::SecurityAdmin => &[Kind::AlterAnyLogin],
            Self::ProcessAdmin => &[Kind::AlterAnyConnection, Kind::AlterServerState],
            Self::DbCreator => &[Kind::CreateAnyDatabase],
            Self::BulkAdmin => &[Kind::AdministerBulkOperations],
        }
    }
}

/// A permission that was granted or denied.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ServerGrant {
    /// The permission.
    pub kind: ServerPermission,
    /// The security id of the login that it is on; empty for the server.
    pub on: Vec<u8>,
    /// The security id of the login or role that has it, or [`PUBLIC_SID`].
    pub grantee: Vec<u8>,
    /// Whether it was denied.
    pub is_denied: bool,
}

/// Who is in which role but `sysadmin`, and what was granted and denied: by security ids, which are never given again.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct ServerSecurity {
    /// The roles of CREATE SERVER ROLE.
    pub roles: Vec<UserServerRole>,
    /// The numbers of roles, and the security ids of logins and roles that are in them.
    pub members: Vec<(i32, Vec<u8>)>,
    /// Permissions.
    pub grants: Vec<ServerGrant>,
}

impl ServerSecurity {
    /// What a login may do on the server that is not in `sysadmin`.
    #[must_use]
    pub fn of(&self, sid: &[u8]) -> ServerRights {
        let principals = self.with_roles(sid);
        let roles = ServerRole::ALL.into_iter();
        let roles: Vec<ServerRole> = roles
            .filter(|role| principals.iter().any(|own| own == role.sid()))
            .collect();
        let own = |grant: &&ServerGrant| principals.contains(&grant.grantee);
        let on_server = |is_denied: bool| {
            let grants = self.grants.iter().filter(own).filter(|grant| grant.on.is_empty());
            grants
                .filter(move |grant| grant.is_denied == is_denied)
                .map(|grant| grant.kind)
        };
        let of_roles = roles.iter().flat_map(|role| role.permissions()).copied();
        let given: Vec<ServerPermission> = of_roles.chain(on_server(false)).chain([Kind::ConnectSql]).collect();
        let denied: Vec<ServerPermission> = on_server(true).collect();
        let has = |kind: &ServerPermission| {
            given.iter().any(|given| given.covers(*kind)) && !denied.iter().any(|denied| denied.covers(*kind))
        };
        let on_logins = |is_denied: bool| -> BTreeSet<Vec<u8>> {
            let grants = self.grants.iter().filter(own).filter(|grant| !grant.on.is_empty());
            let grants = grants.filter(|grant| grant.is_denied == is_denied);
            grants.map(|grant| grant.on.clone()).collect()
        };
        ServerRights {
            held: ServerPermission::ALL.into_iter().filter(has).collect(),
            denied: ServerPermission::ALL
                .into_iter()
                .filter(|kind| denied.iter().any(|denied| denied.covers(*kind)))
                .collect(),
            impersonates: &on_logins(false) - &on_logins(true),
            impersonates_not: on_logins(true),
            roles,
            sid: sid.to_vec(),
            principals,
        }
    }

    /// The security ids of a login or role and of the roles that it is in, through other roles, too; all are in
    /// `public`.
    #[must_use]
    pub fn with_roles(&self, sid: &[u8]) -> Vec<Vec<u8>> {
        reached_from(&[sid, PUBLIC_SID], |own| self.roles_of(own))
    }

    /// The role of CREATE SERVER ROLE of a name.
    #[must_use]
    pub fn role_named(&self, name: &str) -> Option<&UserServerRole> {
        self.roles.iter().find(|role| same_name(&role.name, name))
    }

    /// The security ids of the roles that a principal is in, not those that these are in.
    fn roles_of(&self, sid: &[u8]) -> Vec<&[u8]> {
        let of_id = |id: i32| {
            let own = || self.roles.iter().find(|role| role.id == id);
            match ServerRole::of_id(id) {
                Some(fixed) => Some(fixed.sid()),
                None => own().map(|role| role.sid.as_slice()),
            }
        };
        let members = self.members.iter().filter(|(_, member)| member == sid);
        members.filter_map(|(role, _)| of_id(*role)).collect()
    }

    /// Whether a login or role is one of those administrators, or may become one, however many steps it takes
    /// (`no-way-up`): by IMPERSONATE, as a member of a role, and as the owner of a role, who may become a member. What
    /// is denied does not count: it may be denied no longer tomorrow.
    #[must_use]
    pub fn may_become_administrator(&self, sid: &[u8], is_administrator: impl Fn(&[u8]) -> bool) -> bool {
        self.reach(sid).iter().any(|reached| is_administrator(reached))
    }

    /// Whether a login or role has CONTROL SERVER, or may get it as [`Self::may_become_administrator`] says.
    #[must_use]
    pub fn may_control(&self, sid: &[u8]) -> bool {
        let reached = self.reach(sid);
        let controls = |grant: &ServerGrant| grant.kind == Kind::ControlServer && !grant.is_denied;
        let mut grants = self.grants.iter();
        grants.any(|grant| controls(grant) && reached.contains(&grant.grantee))
    }

    /// Whether who has these rights has all that a member of a role gets: by the role, those that it is in, and those
    /// that it owns.
    #[must_use]
    pub fn gives_no_more(&self, role: &[u8], own: &ServerRights, may_impersonate: impl Fn(&[u8]) -> bool) -> bool {
        let gets = reached_from(&[role], |sid| {
            let owned = self.roles.iter().filter(|role| role.owner == sid);
            let owned = owned.map(|role| role.sid.as_slice());
            self.roles_of(sid).into_iter().chain(owned).collect()
        });
        let mut fixed = ServerRole::ALL
            .into_iter()
            .filter(|role| gets.iter().any(|sid| sid == role.sid()));
        let has = |grant: &ServerGrant| match grant.on.is_empty() {
            true => own.may(grant.kind),
            false => may_impersonate(&grant.on),
        };
        let mut granted = self
            .grants
            .iter()
            .filter(|grant| !grant.is_denied && gets.contains(&grant.grantee));
        fixed.all(|role| own.is_in(role)) && granted.all(has)
    }

    /// Whether something is denied to the members of a role, by it or those that it is in.
    #[must_use]
    pub fn denies(&self, role: &[u8]) -> bool {
        let own = reached_from(&[role], |sid| self.roles_of(sid));
        let mut denied = self.grants.iter().filter(|grant| grant.is_denied);
        denied.any(|grant| own.contains(&grant.grantee))
    }

    fn impersonations(&self) -> impl Iterator<Item = &ServerGrant> {
        let grants = self.grants.iter();
        grants.filter(|grant| !grant.is_denied && !grant.on.is_empty())
    }

    /// The security ids of all that a login or role may act as.
    fn reach(&self, sid: &[u8]) -> Vec<Vec<u8>> {
        reached_from(&[sid, PUBLIC_SID], |own| {
            let owned = self.roles.iter().filter(|role| role.owner == own);
            let owned = owned.map(|role| role.sid.as_slice());
            let impersonated = self.impersonations().filter(|grant| grant.grantee == own);
            let impersonated = impersonated.map(|grant| grant.on.as_slice());
            self.roles_of(own)
                .into_iter()
                .chain(owned)
                .chain(impersonated)
                .collect()
        })
    }
}

/// These, and all that follows from them.
fn reached_from<'a>(from: &[&'a [u8]], next: impl Fn(&[u8]) -> Vec<&'a [u8]>) -> Vec<Vec<u8>> {
    let mut reached = from.to_vec();
    let mut at = 0;
    while let Some(own) = reached.get(at).copied() {
        for found in next(own) {
            if !reached.contains(&found) {
                reached.push(found);
            }
        }
        at += 1;
    }
    reached.into_iter().map(<[u8]>::to_vec).collect()
}

/// What a login may do on the server.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct ServerRights {
    held: BTreeSet<ServerPermission>,
    denied: BTreeSet<ServerPermission>,
    /// The security ids of the logins that it may execute as.
    impersonates: BTreeSet<Vec<u8>>,
    /// Those of the logins on which IMPERSONATE is denied to it.
    impersonates_not: BTreeSet<Vec<u8>>,
    roles: Vec<ServerRole>,
    sid: Vec<u8>,
    /// Its security id, and those of the roles that it is in.
    principals: Vec<Vec<u8>>,
}

impl ServerRights {
    /// Those of an administrator.
    #[must_use]
    pub fn all() -> Self {
        Self {
            held: ServerPermission::ALL.into_iter().collect(),
            denied: BTreeSet::new(),
            impersonates: BTreeSet::new(),
            impersonates_not: BTreeSet::new(),
            roles: ServerRole::ALL.to_vec(),
            sid: Vec::new(),
            principals: Vec::new(),
        }
    }

    /// The security id of the login; empty for an administrator, and for a user of EXECUTE AS.
    #[must_use]
    pub fn sid(&self) -> &[u8] {
        &self.sid
    }

    /// Those that it has, in order.
    pub fn held(&self) -> impl Iterator<Item = ServerPermission> {
        self.held.iter().copied().filter(|kind| *kind != Kind::Impersonate)
    }

    /// Whether it has a permission on the server.
    #[must_use]
    pub fn may(&self, wanted: ServerPermission) -> bool {
        wanted != Kind::Impersonate && self.held.contains(&wanted)
    }

    /// Whether a permission on the server is denied to it.
    #[must_use]
    pub fn is_denied(&self, kind: ServerPermission) -> bool {
        self.denied.contains(&kind)
    }

    /// Whether anything on the server is denied to it.
    #[must_use]
    pub fn is_denied_any(&self) -> bool {
        !self.denied.is_empty() || !self.impersonates_not.is_empty()
    }

    /// Whether IMPERSONATE on the login of a security id is denied to it.
    #[must_use]
    pub fn is_denied_to_impersonate(&self, sid: &[u8]) -> bool {
        self.impersonates_not.contains(sid)
    }

    /// Whether it was granted IMPERSONATE on the login of a security id.
    #[must_use]
    pub fn impersonates(&self, sid: &[u8]) -> bool {
        self.impersonates.contains(sid)
    }

    /// Whether it is in a role that every server has.
    #[must_use]
    pub fn is_in(&self, role: ServerRole) -> bool {
        self.roles.contains(&role)
    }

    /// Whether it is the login of a security id, or in the role of it.
    #[must_use]
    pub fn is_or_is_in(&self, sid: &[u8]) -> bool {
        self.principals.iter().any(|own| own == sid)
    }
}

/// The security id of `public`.
pub const PUBLIC_SID: &[u8] = &[2];

/// Roles of SQL Server's server whose rights mean nothing here, or can't be enforced: refused by name.
pub const UNSUPPORTED_ROLES: [&str; 3] = ["serveradmin", "setupadmin", "diskadmin"];

#[cfg(test)]
mod tests;
