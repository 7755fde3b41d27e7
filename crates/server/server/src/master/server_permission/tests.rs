//! What roles and permissions amount to.

use super::*;

fn grant(kind: ServerPermission, grantee: &[u8], on: &[u8], is_denied: bool) -> ServerGrant {
    ServerGrant {
        kind,
        on: on.to_vec(),
        grantee: grantee.to_vec(),
        is_denied,
    }
}

fn role(id: i32, sid: &[u8], owner: &[u8]) -> UserServerRole {
    UserServerRole {
        id,
        name: format!("r{id}"),
        sid: sid.to_vec(),
        owner: owner.to_vec(),
        created: 0,
        modified: 0,
    }
}

/// Security ids of logins and roles, which are longer than those of roles that every server has.
const ANN: &[u8] = b"ann";
const BOB: &[u8] = b"bob";
const EVE: &[u8] = b"eve";
const BOSS: &[u8] = b"boss";
const CLERKS: &[u8] = b"clerks";
const STAFF: &[u8] = b"staff";

#[test]
fn names_and_letters_are_one_permissions_each() {
    for kind in ServerPermission::ALL {
        assert_eq!(ServerPermission::of_name(&kind.name().to_lowercase()), Some(kind));
        assert_eq!(ServerPermission::of_letters(kind.words().1), Some(kind));
    }
    assert_eq!(ServerPermission::of_name("SHUTDOWN"), None);
    for role in ServerRole::ALL {
        assert_eq!(ServerRole::of_id(role.id()), Some(role));
        assert_eq!(ServerRole::of_name(role.name()), Some(role));
        assert_eq!(role.sid().iter().map(|byte| i32::from(*byte)).sum::<i32>(), role.id());
    }
}

#[test]
fn what_is_denied_is_not_held_and_denies_what_it_covers() {
    let security = ServerSecurity {
        roles: Vec::new(),
        members: vec![
            (ServerRole::ProcessAdmin.id(), ANN.to_vec()),
            (ServerRole::BulkAdmin.id(), BOB.to_vec()),
        ],
        grants: vec![
            grant(Kind::AlterServerState, ANN, &[], true),
            grant(Kind::ViewServerState, PUBLIC_SID, &[], false),
            grant(Kind::ConnectSql, EVE, &[], true),
            grant(Kind::Impersonate, BOB, EVE, false),
            grant(Kind::Impersonate, BOB, ANN, false),
            grant(Kind::Impersonate, PUBLIC_SID, ANN, true),
        ],
    };
    let of = security.of(ANN);
    assert!(of.may(Kind::AlterAnyConnection) && of.is_in(ServerRole::ProcessAdmin));
    assert!(!of.may(Kind::AlterServerState) && !of.may(Kind::ViewServerState));
    let of = security.of(BOB);
    assert!(of.may(Kind::ViewServerState) && of.may(Kind::AdministerBulkOperations) && of.may(Kind::ConnectSql));
    assert!(of.impersonates(EVE) && !of.impersonates(ANN) && !of.may(Kind::Impersonate));
    assert!(!security.of(EVE).may(Kind::ConnectSql));
}

#[test]
fn members_of_members_have_what_a_role_was_granted_and_denied() {
    let security = ServerSecurity {
        roles: vec![role(256, CLERKS, BOSS), role(257, STAFF, BOSS)],
        members: vec![
            (256, ANN.to_vec()),
            (257, CLERKS.to_vec()),
            (257, BOB.to_vec()),
            (256, STAFF.to_vec()),
            (ServerRole::DbCreator.id(), STAFF.to_vec()),
            // Of a role that is not known here.
            (400, EVE.to_vec()),
        ],
        grants: vec![
            grant(Kind::AlterAnyServerRole, STAFF, &[], false),
            grant(Kind::CreateServerRole, BOB, &[], true),
        ],
    };
    let of = security.of(ANN);
    assert!(of.is_or_is_in(STAFF) && of.is_or_is_in(ANN) && of.is_in(ServerRole::DbCreator));
    assert!(of.may(Kind::AlterAnyServerRole) && of.may(Kind::CreateServerRole) && of.may(Kind::CreateAnyDatabase));
    let of = security.of(BOB);
    assert!(of.may(Kind::AlterAnyServerRole) && !of.may(Kind::CreateServerRole));
    assert!(!security.of(EVE).may(Kind::AlterAnyServerRole) && !security.of(EVE).is_or_is_in(CLERKS));
}

#[test]
fn who_may_execute_as_an_administrator_in_any_number_of_steps_may_become_one() {
    let mut security = ServerSecurity {
        grants: vec![
            grant(Kind::Impersonate, ANN, BOB, false),
            grant(Kind::Impersonate, BOB, ANN, false),
            grant(Kind::Impersonate, BOB, BOSS, false),
            grant(Kind::Impersonate, EVE, BOSS, true),
        ],
        ..ServerSecurity::default()
    };
    let is_it = |of: &ServerSecurity, sid: &[u8]| of.may_become_administrator(sid, |sid| sid == BOSS);
    assert!(is_it(&security, BOSS) && is_it(&security, BOB) && is_it(&security, ANN));
    assert!(!is_it(&security, STAFF) && !is_it(&security, EVE));
    // As a member of a role, and as the owner of one.
    security.roles = vec![role(256, CLERKS, EVE)];
    security.members = vec![(256, STAFF.to_vec())];
    assert!(!is_it(&security, EVE) && !is_it(&security, STAFF));
    security.grants.push(grant(Kind::Impersonate, CLERKS, ANN, false));
    assert!(is_it(&security, CLERKS) && is_it(&security, EVE) && is_it(&security, STAFF));
}

#[test]
fn who_has_control_has_all_but_what_is_denied() {
    let mut security = ServerSecurity {
        roles: vec![role(256, CLERKS, BOB)],
        members: vec![(256, ANN.to_vec())],
        grants: vec![
            grant(Kind::ControlServer, CLERKS, &[], false),
            grant(Kind::AlterAnyLogin, ANN, &[], true),
        ],
    };
    let of = security.of(ANN);
    for kind in ServerPermission::ALL {
        let is_held = ![Kind::AlterAnyLogin, Kind::Impersonate].contains(&kind);
        assert_eq!(of.may(kind), is_held, "{kind:?}");
    }
    assert!(of.is_denied(Kind::AlterAnyLogin) && !of.is_denied(Kind::ControlServer));
    assert!(security.may_control(ANN) && security.may_control(BOB) && !security.may_control(EVE));
    // That it is denied denies all.
    security.grants.push(grant(Kind::ControlServer, ANN, &[], true));
    let of = security.of(ANN);
    assert!(ServerPermission::ALL.into_iter().all(|kind| !of.may(kind)));
}

#[test]
fn a_role_gives_what_it_has_is_in_and_owns_and_takes_what_it_is_denied() {
    let security = ServerSecurity {
        roles: vec![role(256, CLERKS, BOSS), role(257, STAFF, CLERKS)],
        members: vec![
            (ServerRole::BulkAdmin.id(), STAFF.to_vec()),
            (ServerRole::BulkAdmin.id(), BOB.to_vec()),
        ],
        grants: vec![
            grant(Kind::ViewServerState, CLERKS, &[], false),
            grant(Kind::AlterServerState, BOB, &[], false),
            grant(Kind::AlterServerState, EVE, &[], false),
            grant(Kind::CreateAnyDatabase, CLERKS, &[], true),
        ],
    };
    let gives_no_more = |sid: &[u8], role: &[u8]| security.gives_no_more(role, &security.of(sid), |_| false);
    assert!(gives_no_more(BOB, CLERKS) && gives_no_more(BOB, STAFF));
    // By the role that it owns.
    assert!(!gives_no_more(EVE, CLERKS) && !gives_no_more(ANN, CLERKS));
    assert!(security.denies(CLERKS) && !security.denies(STAFF));
    assert!(security.of(EVE).may(Kind::ViewServerState) && !security.of(EVE).is_denied_any());
}
