//! CREATE and DROP TYPE.

use selenite_compiler::definition::{SCHEMA, TableDefinition};
use selenite_compiler::{Ends, SqlError, declared_type, is_same_type, written_object};
use selenite_tsql::ast::{CreateType, ObjectName, Statement, TypeDefinition, TypeReference, UserType};
use selenite_types::DeclarationContext;

use super::{DefinitionContext, refusal};
use crate::catalog::catalog_rows::{ObjectKind, check_name, salt};
use crate::catalog::effective_permissions::Securable;
use crate::catalog::permission::{check_type, no_drop};
use crate::catalog::permission_kind::{Class, PermissionKind};
use crate::catalog::schema::function::described_table;
use crate::catalog::schema::user_type::{is_system, type_exists};
use crate::catalog::schema_names::SchemaRecord;

impl DefinitionContext<'_> {
    pub(crate) fn define_type(&self, create: &CreateType, statement: &Statement) -> Result<(), SqlError> {
        let own = create.name.name.text.as_str();
        if own.starts_with('#') {
            return Err(SqlError::unsupported("A type with a temporary object's name"));
        }
        self.catalog.check_place(&create.name)?;
        let schema = self.catalog.new_schema(&create.name)?;
        check_name(own)?;
        let reference = TypeReference {
            schema: None,
            name: own.to_owned(),
        };
        if is_system(&reference) || self.catalog.schema.user_type(&schema, own).is_some() {
            return Err(type_exists(&written_object(&create.name)));
        }
        if self.catalog.schema.user_of_new_type((&schema, own)).is_some() {
            let what = "CREATE TYPE with a name that an object of the schema has used for another type";
            return Err(SqlError::unsupported(what));
        }
        match &create.definition {
            TypeDefinition::Alias { base, .. } => {
                if base.user_type.is_some() {
                    return Err(unknown_type(&written_object(&base.name)));
                }
                let place = DeclarationContext::Column { number: 1, name: own };
                declared_type(base, place)?;
            }
            TypeDefinition::Table(elements) => {
                let definition = TableDefinition::of_elements((SCHEMA, own), elements, salt())?;
                if !definition.foreign_keys.is_empty() {
                    return Err(SqlError::unsupported("A foreign key of a table type"));
                }
                for column in &definition.columns {
                    check_name(&column.name)?;
                }
                self.check_rules(&definition)?;
                described_table(own, elements)?;
            }
        }
        self.keep_module(ObjectKind::Type, (&schema, &create.name, None), statement)
            .map(drop)
    }

    pub(crate) fn drop_type(&self, name: &ObjectName, if_exists: bool) -> Result<(), SqlError> {
        self.catalog.check_place(name)?;
        let written = written_object(name);
        let Some(found) = self.catalog.user_type(name) else {
            return match if_exists {
                true => Ok(()),
                false => Err(refusal::not_there("type", &written)),
            };
        };
        let (schema, own) = (found.row.schema.as_str(), found.row.name.as_str());
        let permissions = self.objects.permissions();
        let controls = permissions.may(PermissionKind::Control, Securable::Type(schema, own));
        if !controls && !permissions.may_create_in(schema) {
            return match if_exists {
                true => Ok(()),
                false => Err(no_drop("type", &written)),
            };
        }
        if let Some(object) = self.catalog.schema.user_of_type(found) {
            let text = format!(
                "Cannot drop type '{written}' because it is being referenced by object '{object}'. There may be other \
                 objects that reference this type."
            );
            // 3732: a type that is in use.
            return Err(SqlError::new(3732, Ends::Statement, text));
        }
        self.forget("main", found.row.object_id)
    }

    /// ALTER SCHEMA TRANSFER of a type: it stays the same for what its own text names.
    pub(crate) fn transfer_type(&self, name: &ObjectName, target: &SchemaRecord) -> Result<(), SqlError> {
        self.catalog.check_place(name)?;
        let found = self.catalog.user_type(name);
        let found = found.ok_or_else(|| refusal::not_found("type", &name.name.text))?;
        let securable = Securable::Type(&found.row.schema, &found.row.name);
        if !self.objects.permissions().may(PermissionKind::Control, securable) {
            return Err(refusal::not_found("type", &name.name.text));
        }
        let schema = &self.catalog.schema;
        if schema.user_type(&target.name, &found.row.name).is_some() {
            return Err(refusal::taken_in_schema(&found.row.name));
        }
        if schema.user_of_type(found).is_some() || schema.user_of_new_type((&target.name, &found.row.name)).is_some() {
            return Err(SqlError::unsupported("ALTER SCHEMA TRANSFER of a type that is in use"));
        }
        self.transfer_text(found.row.clone(), Class::Type, target)
    }

    /// The types that a text of an object names: they are the same where names are looked up now and in the schema where
    /// they will be looked up later, and the user may have variables of the tables among them.
    ///
    /// Errors: 40510; 229.
    pub(crate) fn check_types(&self, schemas: (&str, &str), text: &str) -> Result<(), SqlError> {
        for [now, later] in self.catalog.schema.types_in(text, schemas) {
            let is_same = match (&now, &later) {
                (Some(now), Some(later)) => is_same_type(now.full_name(), later.full_name()),
                (now, later) => now.is_none() && later.is_none(),
            };
            if !is_same {
                let what = "A type without its schema that is another one in the schema of the object";
                return Err(SqlError::unsupported(what));
            }
            if let Some(now) = now.and_then(|now| match now {
                UserType::Table(table) => Some(table),
                UserType::Alias(_) => None,
            }) {
                let who = (&self.objects.permissions(), self.catalog.database.as_ref());
                check_type(PermissionKind::Execute, (&now.schema, &now.name), who)?;
            }
        }
        Ok(())
    }

    /// 229: a column of a type on which the user has no REFERENCES.
    pub(crate) fn check_column_types(
        &self,
        new: &TableDefinition,
        old: Option<&TableDefinition>,
    ) -> Result<(), SqlError> {
        for column in &new.columns {
            let before = old.and_then(|old| old.column(&column.name));
            let before = before.and_then(|before| before.user_type.as_ref());
            let Some((schema, name)) = column.user_type.as_ref().filter(|now| Some(*now) != before) else {
                continue;
            };
            let who = (&self.objects.permissions(), self.catalog.database.as_ref());
            check_type(PermissionKind::References, (schema, name), who)?;
        }
        Ok(())
    }
}

/// 2715: an unknown type, or one of a user where there has to be one of the system.
fn unknown_type(name: &str) -> SqlError {
    let text = format!("Column, parameter, or variable #1: Cannot find data type {name}.");
    SqlError::new(2715, Ends::Statement, text).with_state(3)
}

/// 2715: a temporary table is tempdb's, which has no types of users.
pub(super) fn refuse_aliases(definition: &TableDefinition) -> Result<(), SqlError> {
    let mut columns = (1..).zip(&definition.columns);
    match columns.find_map(|(number, column)| Some((number, column.user_type.as_ref()?))) {
        None => Ok(()),
        Some((number, (_, name))) => {
            let text = format!("Column, parameter, or variable #{number}: Cannot find data type {name}.");
            Err(SqlError::new(2715, Ends::Statement, text).with_state(6))
        }
    }
}
