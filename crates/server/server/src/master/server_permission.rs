//! Permissions on the server, its fixed roles, and what a login has of both.
//!
//! - `only-what-is-enforced`: a permission or role that no check asks for has no kind here, and GRANT of it is refused
//!   by name. CONTROL SERVER is not there: `sysadmin` is.
//! - `no-way-up`: no permission and no role but `sysadmin` changes who is in `sysadmin`, or a login that is, or that
//!   may execute as one that is ([`ServerSecurity::may_become_administrator`]).

use std::collections::BTreeSet;

use selenite_compiler::same_name;

/// A permission on the server.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum ServerPermission {
    /// ADMINISTER BULK OPERATIONS: files in the folders of the configuration.
    AdministerBulkOperations,
    /// ALTER ANY CONNECTION: KILL.
    AlterAnyConnection,
    /// ALTER ANY LOGIN
    AlterAnyLogin,
    /// ALTER SERVER STATE: caches.
    AlterServerState,
    /// CONNECT SQL: that it is denied keeps a login out.
    ConnectSql,
    /// CREATE ANY DATABASE
    CreateAnyDatabase,
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
    pub const ALL: [Self; 9] = [
        Kind::AdministerBulkOperations,
        Kind::AlterAnyConnection,
        Kind::AlterAnyLogin,
        Kind::AlterServerState,
        Kind::ConnectSql,
        Kind::CreateAnyDatabase,
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
            Kind::AlterServerState => ("ALTER SERVER STATE", "ALSS"),
            Kind::ConnectSql => ("CONNECT SQL", "COSQ"),
            Kind::CreateAnyDatabase => ("CREATE ANY DATABASE", "CRDB"),
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
        self == wanted || self == Kind::AlterServerState && wanted == Kind::ViewServerState
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
    /// The security id of the login that has it, or [`PUBLIC_SID`].
    pub grantee: Vec<u8>,
    /// Whether it was denied.
    pub is_denied: bool,
}

/// Who is in which role but `sysadmin`, and what was granted and denied: by security ids, which are never given again.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct ServerSecurity {
    /// Roles and their members.
    pub members: Vec<(ServerRole, Vec<u8>)>,
    /// Permissions.
    pub grants: Vec<ServerGrant>,
}

impl ServerSecurity {
    /// What a login may do on the server that is not in `sysadmin`.
    #[must_use]
    pub fn of(&self, sid: &[u8]) -> ServerRights {
        let roles = self.members.iter().filter(|(_, member)| member == sid);
        let roles: Vec<ServerRole> = roles.map(|(role, _)| *role).collect();
        let own = |grant: &&ServerGrant| grant.grantee == sid || grant.grantee == PUBLIC_SID;
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
            impersonates: &on_logins(false) - &on_logins(true),
            roles,
            sid: sid.to_vec(),
        }
    }

    /// Whether a login is one of those administrators, or may execute as one, however many steps it takes
    /// (`no-way-up`). What is denied does not count: it may be denied no longer tomorrow.
    #[must_use]
    pub fn may_become_administrator(&self, sid: &[u8], is_administrator: impl Fn(&[u8]) -> bool) -> bool {
        let mut reached: Vec<&[u8]> = vec![sid];
        let mut at = 0;
        while let Some(own) = reached.get(at).copied() {
            if is_administrator(own) {
                return true;
            }
            for grant in self
                .grants
                .iter()
                .filter(|grant| !grant.is_denied && !grant.on.is_empty())
            {
                let has = grant.grantee == own || grant.grantee == PUBLIC_SID;
                if has && !reached.contains(&grant.on.as_slice()) {
                    reached.push(&grant.on);
                }
            }
            at += 1;
        }
        false
    }
}

/// What a login may do on the server.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct ServerRights {
    held: BTreeSet<ServerPermission>,
    /// The security ids of the logins that it may execute as.
    impersonates: BTreeSet<Vec<u8>>,
    roles: Vec<ServerRole>,
    sid: Vec<u8>,
}

impl ServerRights {
    /// Those of an administrator.
    #[must_use]
    pub fn all() -> Self {
        Self {
            held: ServerPermission::ALL.into_iter().collect(),
            impersonates: BTreeSet::new(),
            roles: ServerRole::ALL.to_vec(),
            sid: Vec::new(),
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

    /// Whether it may execute as the login of a security id.
    #[must_use]
    pub fn impersonates(&self, sid: &[u8]) -> bool {
        self.impersonates.contains(sid)
    }

    /// Whether it is in a role.
    #[must_use]
    pub fn is_in(&self, role: ServerRole) -> bool {
        self.roles.contains(&role)
    }
}

/// The security id of `public`.
pub const PUBLIC_SID: &[u8] = &[2];

/// Roles of SQL Server's server whose rights mean nothing here, or can't be enforced: refused by name.
pub const UNSUPPORTED_ROLES: [&str; 3] = ["serveradmin", "setupadmin", "diskadmin"];

#[cfg(test)]
mod tests {
    use super::*;

    fn grant(kind: ServerPermission, grantee: &[u8], on: &[u8], is_denied: bool) -> ServerGrant {
        ServerGrant {
            kind,
            on: on.to_vec(),
            grantee: grantee.to_vec(),
            is_denied,
        }
    }

    #[test]
    fn names_and_letters_are_one_permissions_each() {
        for kind in ServerPermission::ALL {
            assert_eq!(ServerPermission::of_name(&kind.name().to_lowercase()), Some(kind));
            assert_eq!(ServerPermission::of_letters(kind.words().1), Some(kind));
        }
        assert_eq!(ServerPermission::of_name("CONTROL SERVER"), None);
        for role in ServerRole::ALL {
            assert_eq!(ServerRole::of_id(role.id()), Some(role));
            assert_eq!(ServerRole::of_name(role.name()), Some(role));
        }
    }

    #[test]
    fn what_is_denied_is_not_held_and_denies_what_it_covers() {
        let security = ServerSecurity {
            members: vec![(ServerRole::ProcessAdmin, vec![7]), (ServerRole::BulkAdmin, vec![8])],
            grants: vec![
                grant(Kind::AlterServerState, &[7], &[], true),
                grant(Kind::ViewServerState, PUBLIC_SID, &[], false),
                grant(Kind::ConnectSql, &[9], &[], true),
                grant(Kind::Impersonate, &[8], &[9], false),
                grant(Kind::Impersonate, &[8], &[7], false),
                grant(Kind::Impersonate, PUBLIC_SID, &[7], true),
            ],
        };
        let of = security.of(&[7]);
        assert!(of.may(Kind::AlterAnyConnection) && of.is_in(ServerRole::ProcessAdmin));
        assert!(!of.may(Kind::AlterServerState) && !of.may(Kind::ViewServerState));
        let of = security.of(&[8]);
        assert!(of.may(Kind::ViewServerState) && of.may(Kind::AdministerBulkOperations) && of.may(Kind::ConnectSql));
        assert!(of.impersonates(&[9]) && !of.impersonates(&[7]) && !of.may(Kind::Impersonate));
        assert!(!security.of(&[9]).may(Kind::ConnectSql));
    }

    #[test]
    fn who_may_execute_as_an_administrator_in_any_number_of_steps_may_become_one() {
        let security = ServerSecurity {
            members: Vec::new(),
            grants: vec![
                grant(Kind::Impersonate, &[5], &[6], false),
                grant(Kind::Impersonate, &[6], &[5], false),
                grant(Kind::Impersonate, &[6], &[1], false),
                grant(Kind::Impersonate, &[8], &[1], true),
            ],
        };
        let is_it = |sid: &[u8]| security.may_become_administrator(sid, |sid| sid == [1]);
        assert!(is_it(&[1]) && is_it(&[6]) && is_it(&[5]));
        assert!(!is_it(&[7]) && !is_it(&[8]));
    }
}
