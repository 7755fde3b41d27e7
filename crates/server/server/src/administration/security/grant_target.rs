//! What GRANT, DENY and REVOKE are about.

use selenite_compiler::catalog::FunctionResult;
use selenite_compiler::{SqlError, same_name};
use selenite_tsql::ast::{Name, ObjectName, Permission, PermissionChange};

use super::user::UserWork;
use super::{error, refused};
use crate::catalog::effective_permissions::Securable;
use crate::catalog::grants::GrantedOn;
use crate::catalog::permission_kind::{Class, PermissionKind};
use crate::catalog::principals::{DBO, not_there};
use crate::catalog::stored_keys::StoredKeyKind;

/// What permissions are changed on.
pub struct Target {
    pub class: Class,
    id: i32,
    /// The owner of a key.
    owner: i32,
    /// The schema, or that of the object.
    pub schema: Option<String>,
    /// Its name.
    name: String,
    /// The permissions of ALL.
    all: &'static [PermissionKind],
}

impl Target {
    /// The whole of it, or one of its columns.
    pub fn on(&self, column: Option<String>) -> GrantedOn {
        GrantedOn {
            class: self.class,
            major_id: self.id,
            column,
        }
    }

    /// What a permission on it is asked about.
    pub fn securable(&self) -> Securable<'_> {
        let schema = self.schema.as_deref().unwrap_or_default();
        match self.class {
            Class::Database => Securable::Database,
            Class::Object => Securable::Object(schema, &self.name),
            Class::Schema => Securable::Schema(schema),
            Class::User => Securable::User(self.id),
            Class::Type => Securable::Type(schema, &self.name),
            Class::SymmetricKey | Class::Certificate | Class::AsymmetricKey => {
                Securable::Key(self.class, self.id, self.owner)
            }
        }
    }

    /// The same for a column of it.
    pub fn securable_of<'a>(&'a self, on: &'a GrantedOn) -> Securable<'a> {
        match (&self.schema, &on.column) {
            (Some(schema), Some(column)) => Securable::Column(schema, &self.name, column),
            (Some(_) | None, Some(_) | None) => self.securable(),
        }
    }

    /// 4613, 15151: who may not change permissions on it does not learn whether it is there.
    pub fn not_permitted(&self) -> SqlError {
        let kind = match self.class {
            Class::Database => return error(4613, "Grantor does not have GRANT permission.".to_owned()),
            Class::Object => "object",
            Class::Schema => "schema",
            Class::User => "user",
            Class::Type => "type",
            Class::SymmetricKey => "symmetric key",
            Class::Certificate => "certificate",
            Class::AsymmetricKey => "asymmetric key",
        };
        not_there("find", kind, &self.name)
    }

    fn has_columns(&self) -> bool {
        self.class == Class::Object && self.all == ON_ROWS
    }

    /// The permissions that are changed, each with the columns that are named.
    ///
    /// # Errors
    /// 1020, 4606; 40510.
    pub fn kinds<'p>(
        &self,
        written: &'p [Permission],
        word: &str,
    ) -> Result<Vec<(PermissionKind, &'p [Name])>, SqlError> {
        if written.is_empty() {
            return match self.all {
                [] => Err(refused(&format!("{word} ALL on a database, schema or type"))),
                all => Ok(all.iter().map(|kind| (*kind, &[][..])).collect()),
            };
        }
        let mut kinds = Vec::new();
        for permission in written {
            let Some(kind) = PermissionKind::of_name(&permission.name) else {
                return Err(refused(&format!("{word} {}", permission.name.to_ascii_uppercase())));
            };
            let is_of_rows = ON_ROWS.contains(&kind) || kind == PermissionKind::Execute;
            let is_compatible = match self.class {
                Class::Object if is_of_rows => self.all.contains(&kind),
                Class::Database
                | Class::Object
                | Class::Schema
                | Class::User
                | Class::Type
                | Class::SymmetricKey
                | Class::Certificate
                | Class::AsymmetricKey => kind.is_on(self.class),
            };
            if !is_compatible {
                let text = format!(
                    "Granted or revoked privilege {} is not compatible with object.",
                    kind.name()
                );
                return Err(error(4606, text));
            }
            if !permission.columns.is_empty() {
                self.check_columns(kind, word)?;
            }
            kinds.push((kind, permission.columns.as_slice()));
        }
        Ok(kinds)
    }

    /// Whether a permission on it may be one on columns.
    fn check_columns(&self, kind: PermissionKind, word: &str) -> Result<(), SqlError> {
        if self.class == Class::Object && self.all == ON_FUNCTIONS && kind.is_on_columns() {
            return Err(refused(&format!("{word} on columns of a function")));
        }
        if self.has_columns() && kind.is_on_columns() {
            return Ok(());
        }
        // 1020: a permission that is not one on columns.
        let text = "Sub-entity lists (such as column or security expressions) cannot be specified for entity-level \
                    permissions.";
        Err(error(1020, text.to_owned()).with_severity(15))
    }
}

impl UserWork<'_> {
    pub(super) fn target(&self, change: &PermissionChange) -> Result<Target, SqlError> {
        let Some(securable) = &change.securable else {
            return Ok(self.database_target());
        };
        let name = &securable.name;
        let class = securable.class.as_deref().unwrap_or("OBJECT").to_ascii_uppercase();
        match class.as_str() {
            "OBJECT" => self.object_target(name),
            "SCHEMA" => {
                let found = self.schema.names().named(&name.name.text);
                let found = found.filter(|schema| schema.has_objects());
                let found = found.ok_or_else(|| not_there("find", "schema", &name.name.text))?;
                Ok(Target {
                    class: Class::Schema,
                    owner: DBO,
                    id: found.id,
                    schema: Some(found.name.clone()),
                    name: name.name.text.clone(),
                    all: &[],
                })
            }
            "USER" => self.user_target(&name.name.text),
            "TYPE" => self.type_target(name),
            "SYMMETRIC KEY" => self.key_target(StoredKeyKind::Symmetric, &name.name.text),
            "CERTIFICATE" => self.key_target(StoredKeyKind::Certificate, &name.name.text),
            "ASYMMETRIC KEY" => self.key_target(StoredKeyKind::Asymmetric, &name.name.text),
            "DATABASE" if same_name(&name.name.text, self.database) => Ok(self.database_target()),
            "DATABASE" => Err(not_there("find", "database", &name.name.text)),
            other => Err(refused(&format!("A permission on {other}"))),
        }
    }

    fn database_target(&self) -> Target {
        Target {
            class: Class::Database,
            owner: DBO,
            id: 0,
            schema: None,
            name: self.database.to_owned(),
            all: &[],
        }
    }

    fn user_target(&self, name: &str) -> Result<Target, SqlError> {
        let id = match same_name(name, "dbo") {
            true => Some(DBO),
            false => self.present.named(name).map(|user| user.id),
        };
        let id = id.ok_or_else(|| not_there("find", "user", name))?;
        Ok(Target {
            class: Class::User,
            owner: DBO,
            id,
            schema: None,
            name: name.to_owned(),
            all: &[],
        })
    }

    fn key_target(&self, kind: StoredKeyKind, name: &str) -> Result<Target, SqlError> {
        let found = self.schema.keys().named(kind, name);
        let found = found.ok_or_else(|| not_there("find", kind.name(), name))?;
        Ok(Target {
            class: kind.class(),
            id: found.id,
            owner: found.owner,
            schema: None,
            name: found.name.clone(),
            all: &[],
        })
    }

    pub(super) fn type_target(&self, name: &ObjectName) -> Result<Target, SqlError> {
        let own = name.name.text.as_str();
        let is_here = |database: &Name| same_name(&database.text, self.database);
        let in_schema = |schema: &str| self.schema.user_type(schema, own);
        let found = match &name.schema {
            Some(schema) => in_schema(&schema.text),
            None => in_schema(&self.permissions.default_schema).or_else(|| in_schema("dbo")),
        };
        match found.filter(|_| name.database.as_ref().is_none_or(is_here)) {
            Some(found) => Ok(Target {
                class: Class::Type,
                owner: DBO,
                id: found.row.object_id,
                schema: Some(found.row.schema.clone()),
                name: found.row.name.clone(),
                all: &[],
            }),
            None => Err(not_there("find", "type", own)),
        }
    }

    pub(super) fn object_target(&self, name: &ObjectName) -> Result<Target, SqlError> {
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
        match found.filter(|(_, id, _)| is_alone(*id)) {
            Some((schema, id, all)) => Ok(Target {
                class: Class::Object,
                owner: DBO,
                id,
                schema: Some(schema),
                name: own.to_owned(),
                all,
            }),
            None => Err(not_there("find", "object", own)),
        }
    }

    /// The name of a column of a table or view, as it was defined.
    ///
    /// # Errors
    /// 4615.
    pub(super) fn column_of(&self, target: &Target, name: &Name) -> Result<String, SqlError> {
        let (schema, own) = (target.schema.as_deref().unwrap_or_default(), target.name.as_str());
        let table = self.schema.table(schema, own);
        let columns: Vec<String> = match (table, self.schema.view(schema, own)) {
            (Some(table), _) => table.table.columns.iter().map(|column| column.name.clone()).collect(),
            (None, Some(view)) => {
                let columns = self.catalog.view_columns(view).into_iter();
                columns.map(|column| column.name).collect()
            }
            (None, None) => Vec::new(),
        };
        let found = columns.into_iter().find(|column| same_name(column, &name.text));
        // 4615: a column that there is not.
        found.ok_or_else(|| error(4615, format!("Invalid column name '{}'.", name.text)))
    }
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
