//! GRANT, DENY and REVOKE.
//!
//! - `who-may-grant`: the owner of the database, the owner of a schema for what is in it, who has
//!   CONTROL, and GRANT and REVOKE of what they have WITH GRANT OPTION. What is granted by CONTROL goes with
//!   it; a denial stays.
//! - `a-denial-stays`: a denial on a column is taken back by REVOKE or GRANT on that column alone,
//!   not by what is done on its table.

use std::borrow::Cow;

use selenite_compiler::{SqlError, same_name};
use selenite_tsql::ast::{PermissionAction, PermissionChange};

use super::grant_rows::GrantRows;
use super::grant_target::Target;
use super::user::{UserWork, is_fixed_role, is_reserved};
use super::{error, refused};
use crate::catalog::effective_permissions::Permissions;
use crate::catalog::grants::{Grant, GrantState, GrantedOn};
use crate::catalog::permission::{may_act_as, may_grant, may_grant_as_owner};
use crate::catalog::permission_kind::PermissionKind;
use crate::catalog::principals::{DBO, GUEST, PUBLIC, not_there};

pub(super) fn word(action: PermissionAction) -> &'static str {
    match action {
        PermissionAction::Grant => "GRANT",
        PermissionAction::Deny => "DENY",
        PermissionAction::Revoke => "REVOKE",
    }
}

impl UserWork<'_> {
    pub fn change_permissions(&self, change: &PermissionChange) -> Result<(), SqlError> {
        let target = self.target(change)?;
        let kinds = target.kinds(&change.permissions, word(change.action))?;
        let actor = self.actor(change)?;
        let mut rows = GrantRows::load(self.connection, self.schema)?;
        let mut changes = Vec::new();
        for (kind, columns) in kinds {
            let mut names = Vec::new();
            for column in columns {
                names.push(Some(self.column_of(&target, column)?));
            }
            let names = if names.is_empty() { vec![None] } else { names };
            for column in names {
                let on = target.on(column);
                let right = actor.right((change.action, kind), (&target, &on), &rows)?;
                changes.push((on, kind, right));
            }
        }
        let mut grantees = Vec::new();
        for name in &change.principals {
            grantees.push(self.grantee(&name.text, &target)?);
        }
        for grantee in grantees {
            for (on, kind, right) in &changes {
                let mut wanted = Grant {
                    on: on.clone(),
                    kind: *kind,
                    grantee,
                    grantor: right.grantor(change.action),
                    state: GrantState::Granted,
                };
                // Who has CONTROL takes back what was granted by it, and otherwise what the owner has granted.
                if matches!(right, Right::Control(_)) && rows.state(&wanted).is_none() {
                    wanted.grantor = wanted.grantor.filter(|_| change.action != PermissionAction::Revoke);
                }
                match change.action {
                    PermissionAction::Grant => grant(&mut rows, wanted, change.grant_option)?,
                    PermissionAction::Deny => deny(&mut rows, wanted, change.cascade)?,
                    PermissionAction::Revoke => revoke(&mut rows, wanted, (change.grant_option, change.cascade))?,
                }
            }
        }
        Ok(())
    }

    /// Who changes permissions: the session, or the principal after AS that it may act as.
    fn actor(&self, change: &PermissionChange) -> Result<Actor<'_>, SqlError> {
        let Some(name) = &change.grantor else {
            return Ok(Actor {
                id: self.permissions.user.as_ref().map(|(id, _)| *id),
                permissions: Cow::Borrowed(self.permissions),
            });
        };
        let found = match same_name(&name.text, "dbo") {
            true => Some(DBO),
            false => self.present.id_of(&name.text),
        };
        let id = found.filter(|id| may_act_as(*id, self.permissions));
        let id = id.ok_or_else(|| not_there("find", "principal", &name.text))?;
        Ok(Actor {
            id: Some(id),
            permissions: Cow::Owned(Permissions::of_principal(id, self.schema)),
        })
    }

    /// 4617, 4624, 15151.
    fn grantee(&self, name: &str, target: &Target) -> Result<i32, SqlError> {
        if same_name(name, "public") {
            return Ok(PUBLIC);
        }
        if is_fixed_role(name) {
            let text = "Cannot grant, deny or revoke permissions to or from special roles.";
            return Err(error(4617, text.to_owned()));
        }
        let found = match same_name(name, "guest") {
            true => Some(GUEST),
            false => self.present.id_of(name),
        };
        let owner = target
            .schema
            .as_ref()
            .and_then(|schema| self.schema.names().named(schema));
        let is_owner = |id: i32| owner.is_some_and(|schema| schema.owner == id);
        let is_own = |id: i32| self.permissions.user.as_ref().is_some_and(|(own, _)| *own == id);
        match found {
            Some(id) if !is_owner(id) && !is_own(id) => Ok(id),
            None if !is_reserved(name) => Err(not_there("find", "user", name)),
            Some(_) | None => {
                let text = "Cannot grant, deny, or revoke permissions to sa, dbo, entity owner, information_schema, sys, or \
                            yourself.";
                Err(error(4624, text.to_owned()))
            }
        }
    }
}

/// Who changes permissions.
struct Actor<'a> {
    id: Option<i32>,
    permissions: Cow<'a, Permissions>,
}

impl Actor<'_> {
    /// By which right a permission is changed.
    ///
    /// # Errors
    /// 4613, 15151.
    fn right(
        &self,
        (action, kind): (PermissionAction, PermissionKind),
        (target, on): (&Target, &GrantedOn),
        rows: &GrantRows<'_>,
    ) -> Result<Right, SqlError> {
        if may_grant((kind, target.securable()), &self.permissions) {
            let permissions = &self.permissions;
            if may_grant_as_owner((kind, target.securable()), permissions) {
                return Ok(Right::Owner);
            }
            let own = self.id.and_then(|own| rows.controller(on, |id| id == own));
            let found = own.or_else(|| rows.controller(on, |id| permissions.is_or_is_in(id)));
            // Everyone's is no one's.
            return Ok(found.filter(|id| *id != PUBLIC).map_or(Right::Owner, Right::Control));
        }
        let may = || self.permissions.may(kind, target.securable_of(on));
        match self.id {
            Some(id) if action != PermissionAction::Deny && rows.has_option(id, kind, on) && may() => {
                Ok(Right::Option(id))
            }
            Some(_) | None => Err(target.not_permitted()),
        }
    }
}

/// By which right permissions are changed.
enum Right {
    /// As the owner.
    Owner,
    /// As the principal who has CONTROL.
    Control(i32),
    /// As the principal who has them WITH GRANT OPTION.
    Option(i32),
}

impl Right {
    /// In whose name: `None` for the owner's. What is denied stays when who denied it has no CONTROL any more.
    fn grantor(&self, action: PermissionAction) -> Option<i32> {
        match self {
            Self::Owner => None,
            Self::Control(_) if action == PermissionAction::Deny => None,
            Self::Control(id) | Self::Option(id) => Some(*id),
        }
    }
}

/// GRANT.
fn grant(rows: &mut GrantRows<'_>, wanted: Grant, with_option: bool) -> Result<(), SqlError> {
    let is_grantable = with_option || rows.state(&wanted) == Some(GrantState::Grantable);
    let state = match is_grantable {
        true => GrantState::Grantable,
        false => GrantState::Granted,
    };
    let wanted = Grant { state, ..wanted };
    match &wanted.on.column {
        // What is on columns alone is part of it now; a denial stays.
        None => forget_columns(rows, &wanted, |state| state != GrantState::Denied)?,
        // The same as on the whole is no row of its own.
        Some(_) if rows.state(&on_whole(&wanted)) == Some(state) => return rows.remove(&wanted),
        Some(_) => {}
    }
    rows.set(wanted)
}

/// DENY: with CASCADE to those, too, to whom the grantee has granted it.
fn deny(rows: &mut GrantRows<'_>, wanted: Grant, cascades: bool) -> Result<(), SqlError> {
    check_cascade(rows, &wanted, cascades, |_| true)?;
    let denied = Grant {
        state: GrantState::Denied,
        ..wanted
    };
    if denied.on.column.is_none() {
        forget_columns(rows, &denied, |_| true)?;
    }
    rows.set(denied.clone())?;
    for orphan in rows.remove_orphans()? {
        rows.set(Grant {
            grantor: None,
            state: GrantState::Denied,
            ..orphan
        })?;
    }
    Ok(())
}

/// REVOKE, or of the option alone.
fn revoke(rows: &mut GrantRows<'_>, wanted: Grant, (of_option, cascades): (bool, bool)) -> Result<(), SqlError> {
    let state = rows.state(&wanted);
    if wanted.kind == PermissionKind::Connect && state != Some(GrantState::Denied) {
        return Err(refused("REVOKE CONNECT, unlike DENY CONNECT,"));
    }
    let grantor = wanted.grantor;
    check_cascade(rows, &wanted, cascades, |row| row.grantor == grantor)?;
    let on_whole = wanted
        .on
        .column
        .is_some()
        .then(|| rows.state(&on_whole(&wanted)))
        .flatten();
    match (of_option, state) {
        (true, Some(GrantState::Grantable)) => rows.set(Grant {
            state: GrantState::Granted,
            ..wanted
        })?,
        (true, Some(GrantState::Denied | GrantState::Excepted)) => {}
        // The whole was granted, but not this column.
        (_, _) if on_whole.is_some_and(GrantState::is_granted) => rows.set(Grant {
            state: GrantState::Excepted,
            ..wanted
        })?,
        (true, Some(GrantState::Granted) | None) | (false, _) => {
            if wanted.on.column.is_none() {
                forget_columns(rows, &wanted, |state| state != GrantState::Denied)?;
            }
            rows.remove(&wanted)?;
        }
    }
    rows.remove_orphans().map(drop)
}

/// 4611: what a grantee may grant is taken away only together with what it has granted.
fn check_cascade(
    rows: &GrantRows<'_>,
    wanted: &Grant,
    cascades: bool,
    counts: impl Fn(&Grant) -> bool,
) -> Result<(), SqlError> {
    let mut own = rows.of_grantee(wanted).filter(|row| counts(row));
    let mut gives = || {
        let is_control = wanted.kind == PermissionKind::Control;
        own.any(|row| row.state == GrantState::Grantable) || is_control && rows.has_others_by(wanted)
    };
    match !cascades && gives() {
        true => {
            let text = "To revoke or deny grantable privileges, specify the CASCADE option.";
            Err(error(4611, text.to_owned()))
        }
        false => Ok(()),
    }
}

/// The same permission on the whole table or view.
fn on_whole(wanted: &Grant) -> Grant {
    Grant {
        on: GrantedOn {
            column: None,
            ..wanted.on.clone()
        },
        ..wanted.clone()
    }
}

/// Forgets what the same grantor did on columns, in these states.
fn forget_columns(
    rows: &mut GrantRows<'_>,
    wanted: &Grant,
    forgets: impl Fn(GrantState) -> bool,
) -> Result<(), SqlError> {
    let of_columns = rows.of_grantee(wanted).filter(|row| row.on.column.is_some());
    let gone = of_columns.filter(|row| row.grantor == wanted.grantor && forgets(row.state));
    let gone: Vec<Grant> = gone.cloned().collect();
    gone.iter().try_for_each(|row| rows.remove(row))
}
