//! GRANT, DENY and REVOKE.
//!
//! - `who-may-grant`: the owner of the database, the owner of a schema for what is in it, and who
//!   has CONTROL.

use selenite_compiler::catalog::FunctionResult;
use selenite_compiler::{SqlError, same_name};
use selenite_tsql::ast::{Name, ObjectName, Permission, PermissionAction, PermissionChange};

use super::user::{UserWork, is_fixed_role, is_reserved};
use super::{error, refused};
use crate::catalog::effective_permissions::Securable;
use crate::catalog::grants::{self, Class, Grant, PermissionKind};
use crate::catalog::principals::{DBO, GUEST, PUBLIC, not_there};

fn word(action: PermissionAction) -> &'static str {
    match action {
        PermissionAction::Grant => "GRANT",
        PermissionAction::Deny => "DENY",
        PermissionAction::Revoke => "REVOKE",
    }
}

/// What permissions are changed on.
struct Target {
    class: Class,
    id: i32,
    /// The schema, or that of the object.
    schema: Option<String>,
    /// The permissions of ALL.
    all: &'static [PermissionKind],
}

impl UserWork<'_> {
    pub fn change_permissions(&self, change: &PermissionChange) -> Result<(), SqlError> {
        let target = self.target(change)?;
        let kinds = kinds(&change.permissions, &target, word(change.action))?;
        let mut grantees = Vec::new();
        for name in &change.principals {
            grantees.push(self.grantee(&name.text, &target)?);
        }
        for grantee in grantees {
            for kind in &kinds {
                self.change(change.action, *kind, &target, grantee)?;
            }
        }
        Ok(())
    }

    fn change(
        &self,
        action: PermissionAction,
        kind: PermissionKind,
        target: &Target,
        grantee: i32,
    ) -> Result<(), SqlError> {
        if action == PermissionAction::Revoke {
            let is_it = |grant: &&Grant| {
                (grant.class, grant.major_id, grant.kind, grant.grantee) == (target.class, target.id, kind, grantee)
            };
            let is_denied = self
                .present
                .grants()
                .iter()
                .find(is_it)
                .is_some_and(|grant| grant.is_denied);
            if kind == PermissionKind::Connect && !is_denied {
                return Err(refused("REVOKE CONNECT, unlike DENY CONNECT,"));
            }
            return grants::revoke(self.connection, (target.class, target.id), kind, grantee);
        }
        grants::set(
            self.connection,
            &Grant {
                class: target.class,
                major_id: target.id,
                kind,
                grantee,
                grantor: self.permissions.user.as_ref().map_or(DBO, |(id, _)| *id),
                is_denied: action == PermissionAction::Deny,
            },
        )
    }

    fn target(&self, change: &PermissionChange) -> Result<Target, SqlError> {
        let Some(securable) = &change.securable else {
            return self.database_target();
        };
        let name = &securable.name;
        let class = securable.class.as_deref().unwrap_or("OBJECT").to_ascii_uppercase();
        match class.as_str() {
            "OBJECT" => self.object_target(name),
            "SCHEMA" => {
                let found = self.schema.names().named(&name.name.text);
                let found = found.filter(|schema| schema.has_objects());
                let may = |schema: &str| self.permissions.may(PermissionKind::Control, Securable::Schema(schema));
                let found = found.filter(|schema| may(&schema.name));
                let found = found.ok_or_else(|| not_there("find", "schema", &name.name.text))?;
                Ok(Target {
                    class: Class::Schema,
                    id: found.id,
                    schema: Some(found.name.clone()),
                    all: &[],
                })
            }
            "TYPE" => self.type_target(name),
            "DATABASE" if same_name(&name.name.text, self.database) => self.database_target(),
            "DATABASE" => Err(not_there("find", "database", &name.name.text)),
            other => Err(refused(&format!("A permission on {other}"))),
        }
    }

    fn database_target(&self) -> Result<Target, SqlError> {
        if !self.permissions.may(PermissionKind::Control, Securable::Database) {
            return Err(error(4613, "Grantor does not have GRANT permission.".to_owned()));
        }
        Ok(Target {
            class: Class::Database,
            id: 0,
            schema: None,
            all: &[],
        })
    }

    fn type_target(&self, name: &ObjectName) -> Result<Target, SqlError> {
        let own = name.name.text.as_str();
        let is_here = |database: &Name| same_name(&database.text, self.database);
        let in_schema = |schema: &str| self.schema.user_type(schema, own);
        let found = match &name.schema {
            Some(schema) => in_schema(&schema.text),
            None => in_schema(&self.permissions.default_schema).or_else(|| in_schema("dbo")),
        };
        let found = found.filter(|_| name.database.as_ref().is_none_or(is_here));
        let may = |schema: &str| {
            self.permissions
                .may(PermissionKind::Control, Securable::Type(schema, own))
        };
        match found.filter(|found| may(&found.row.schema)) {
            Some(found) => Ok(Target {
                class: Class::Type,
                id: found.row.object_id,
                schema: Some(found.row.schema.clone()),
                all: &[],
            }),
            None => Err(not_there("find", "type", own)),
        }
    }

    fn object_target(&self, name: &ObjectName) -> Result<Target, SqlError> {
        let own = name.name.text.as_str();
        if name
            .database
            .as_ref()
            .is_some_and(|database| !same_name(&database.text, self.database))
        {
            let text = "You can only grant or revoke permissions on objects in the current database.";
            return Err(error(4610, text.to_owned()));
        }
        let in_schema = |schema: &str| {
            let table = self
                .schema
                .table(schema, own)
                .map(|table| (table.table.object_id, ON_ROWS));
            let view = || self.schema.view(schema, own).map(|view| (view.row.object_id, ON_ROWS));
            let procedure = || self.schema.procedure(schema, own).map(|row| (row.object_id, ON_CALLS));
            let function = || {
                let function = self.schema.function(schema, own)?;
                let returns_value = matches!(function.function.as_ref().ok()?.result, FunctionResult::Scalar(_));
                Some((
                    function.row.object_id,
                    if returns_value { ON_CALLS } else { ON_FUNCTIONS },
                ))
            };
            let sequence = || {
                let sequence = self.schema.sequence(schema, own)?;
                Some((sequence.row.object_id, ON_SEQUENCES))
            };
            let found = table.or_else(view).or_else(procedure).or_else(function);
            let (id, all) = found.or_else(sequence)?;
            Some((self.schema.names().named(schema)?.name.clone(), id, all))
        };
        let found = match &name.schema {
            Some(schema) => in_schema(&schema.text),
            None => in_schema(&self.permissions.default_schema).or_else(|| in_schema("dbo")),
        };
        let is_alone = |id: i32| self.schema.objects().iter().filter(|object| object.id == id).count() == 1;
        let may = |schema: &str| self.permissions.may_on(PermissionKind::Control, (schema, own));
        match found.filter(|(schema, id, _)| may(schema) && is_alone(*id)) {
            Some((schema, id, all)) => Ok(Target {
                class: Class::Object,
                id,
                schema: Some(schema),
                all,
            }),
            None => Err(not_there("find", "object", own)),
        }
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

/// The permissions that are changed.
fn kinds(written: &[Permission], target: &Target, word: &str) -> Result<Vec<PermissionKind>, SqlError> {
    if written.is_empty() {
        return match target.all {
            [] => Err(refused(&format!("{word} ALL on a database, schema or type"))),
            all => Ok(all.to_vec()),
        };
    }
    let mut kinds = Vec::new();
    for permission in written {
        let Some(kind) = PermissionKind::of_name(&permission.name) else {
            return Err(refused(&format!("{word} {}", permission.name.to_ascii_uppercase())));
        };
        let is_of_rows = ON_ROWS.contains(&kind) || kind == PermissionKind::Execute;
        let is_compatible = match target.class {
            Class::Object if is_of_rows => target.all.contains(&kind),
            Class::Type if kind == PermissionKind::ViewDefinition => {
                return Err(refused(&format!("{word} VIEW DEFINITION on a type")));
            }
            Class::Database | Class::Object | Class::Schema | Class::Type => kind.is_on(target.class),
        };
        if !is_compatible {
            let text = format!(
                "Granted or revoked privilege {} is not compatible with object.",
                kind.name()
            );
            return Err(error(4606, text));
        }
        kinds.push(kind);
    }
    Ok(kinds)
}

/// ALL on a table or view.
const ON_ROWS: &[PermissionKind] = &[
    PermissionKind::Select,
    PermissionKind::Insert,
    PermissionKind::Update,
    PermissionKind::Delete,
    PermissionKind::References,
];
/// ALL on a function that returns rows: those that it has here.
const ON_FUNCTIONS: &[PermissionKind] = &[PermissionKind::Select];
/// What NEXT VALUE FOR needs.
const ON_SEQUENCES: &[PermissionKind] = &[PermissionKind::Update];
/// ALL on a procedure, or on a function that returns a value.
const ON_CALLS: &[PermissionKind] = &[PermissionKind::Execute];
