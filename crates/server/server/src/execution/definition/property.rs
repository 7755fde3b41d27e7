//! sp_addextendedproperty and the two others: which object is meant, and whether it has the property.

use selenite_compiler::definition::SCHEMA;
use selenite_compiler::{Ends, SqlError, same_name};
use selenite_tsql::ast::{Name, ObjectName, Position};
use selenite_types::Value;

use super::DefinitionContext;
use crate::catalog::extended_properties::{self, ExtendedProperty, HolderKind, PropertyHolder};
use crate::catalog::schema::parameter_names;

/// What is to be done with a property.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PropertyChange {
    /// sp_addextendedproperty
    Add,
    /// sp_updateextendedproperty
    Update,
    /// sp_dropextendedproperty
    Drop,
}

/// The object that is meant: type and name of up to three levels.
pub(crate) type PropertyLevels = [(Option<String>, Option<String>); 3];

impl DefinitionContext<'_> {
    /// Adds, changes or drops a property.
    ///
    /// # Errors
    /// 15135, 15217, 15233, 15600, 40510.
    pub(crate) fn change_property(
        &self,
        change: PropertyChange,
        levels: &PropertyLevels,
        (procedure, name, value): (&str, &str, Value),
    ) -> Result<(), SqlError> {
        let holder = self.holder(levels, procedure)?;
        let properties = self.catalog.schema.properties();
        let there = properties
            .iter()
            .find(|property| property.holder.is(&holder) && same_name(&property.name, name));
        let connection = &self.database.connection;
        let shown = shown(levels);
        match (change, there) {
            (PropertyChange::Add, Some(_)) => {
                // 15233: a property that is there.
                let text = format!("Property cannot be added. Property '{name}' already exists for '{shown}'.");
                Err(error(15_233, text))
            }
            (PropertyChange::Update | PropertyChange::Drop, None) => {
                // 15217: a property that is not there.
                let text =
                    format!("Property cannot be updated or deleted. Property '{name}' does not exist for '{shown}'.");
                Err(error(15_217, text))
            }
            (PropertyChange::Drop, Some(there)) => extended_properties::remove(connection, &there.holder, &there.name),
            (PropertyChange::Add | PropertyChange::Update, there) => {
                let known = there.map(|there| (there.holder.clone(), there.name.clone()));
                let (holder, name) = known.unwrap_or_else(|| (holder, name.to_owned()));
                extended_properties::store(connection, &ExtendedProperty { holder, name, value })
            }
        }
    }

    fn holder(&self, levels: &PropertyLevels, procedure: &str) -> Result<PropertyHolder, SqlError> {
        let mut given = Vec::new();
        let mut is_over = false;
        for level in levels {
            match level {
                (None, None) => is_over = true,
                (Some(kind), Some(name)) if !is_over => given.push((kind.to_uppercase(), name.as_str())),
                _ => return Err(invalid(procedure)),
            }
        }
        let mut given = given.into_iter();
        let Some((kind, schema)) = given.next() else {
            return Ok(whole(HolderKind::Database, 0));
        };
        // Scripts of SQL Server 2000 say USER of a schema.
        let is_old = kind == "USER" && same_name(schema, SCHEMA);
        if kind != "SCHEMA" && !is_old {
            return Err(other_kind(&kind, procedure));
        }
        let schema = self
            .catalog
            .schema
            .names()
            .named(schema)
            .ok_or_else(|| missing(levels))?;
        let Some((kind, own)) = given.next() else {
            return Ok(whole(HolderKind::Schema, schema.id));
        };
        let name = object_name(&schema.name, own);
        let part = given.next();
        let part = part.as_ref().map(|(kind, part)| (kind.as_str(), *part));
        let found = match kind.as_str() {
            "TABLE" => self.holder_in_table(&name, part, procedure)?,
            "VIEW" => self.holder_in_view(&name, part, procedure)?,
            "PROCEDURE" => self.holder_in_procedure(&name, part, procedure)?,
            kind => return Err(other_kind(kind, procedure)),
        };
        found.ok_or_else(|| missing(levels))
    }

    /// A table, or a part of it; `None` if it is not there, as in the following functions.
    fn holder_in_table(
        &self,
        name: &ObjectName,
        part: Option<(&str, &str)>,
        procedure: &str,
    ) -> Result<Option<PropertyHolder>, SqlError> {
        let Some(table) = self.catalog.table(name).cloned() else {
            return Ok(None);
        };
        let id = self.row_of(&table)?;
        let Some((kind, part)) = part else {
            return Ok(Some(whole(HolderKind::Object, id)));
        };
        let definition = &table.definition;
        let (kind, found) = match kind {
            "COLUMN" => {
                let found = definition.column(part).map(|column| column.name.clone());
                (HolderKind::Column, found)
            }
            "CONSTRAINT" => {
                let mut names = definition.constraint_names();
                let found = names.find(|name| same_name(name, part)).map(str::to_owned);
                (HolderKind::Constraint, found)
            }
            "INDEX" => {
                let mut names = table.listed_indexes().into_iter().filter_map(|index| index.name);
                (HolderKind::Index, names.find(|name| same_name(name, part)))
            }
            "TRIGGER" => return Err(SqlError::unsupported("An extended property of a TRIGGER")),
            _ => return Err(invalid(procedure)),
        };
        Ok(found.map(|part| PropertyHolder { kind, id, part }))
    }

    fn holder_in_view(
        &self,
        name: &ObjectName,
        part: Option<(&str, &str)>,
        procedure: &str,
    ) -> Result<Option<PropertyHolder>, SqlError> {
        let Some(view) = self.catalog.view(name).cloned() else {
            return Ok(None);
        };
        let id = view.row.object_id;
        match part {
            None => Ok(Some(whole(HolderKind::Object, id))),
            Some(("COLUMN", part)) => {
                let columns = self.catalog.view_columns(&view);
                let mut names = columns.into_iter().map(|column| column.name);
                let found = names.find(|name| same_name(name, part));
                let kind = HolderKind::Column;
                let of_column = |part: String| PropertyHolder { kind, id, part };
                Ok(found.map(|name| of_column(name.to_string())))
            }
            Some((kind @ ("INDEX" | "TRIGGER"), _)) => {
                let what = format!("An extended property of a {kind} of a view");
                Err(SqlError::unsupported(&what))
            }
            Some(_) => Err(invalid(procedure)),
        }
    }

    fn holder_in_procedure(
        &self,
        name: &ObjectName,
        part: Option<(&str, &str)>,
        procedure: &str,
    ) -> Result<Option<PropertyHolder>, SqlError> {
        let Some(row) = self.catalog.procedure(name).cloned() else {
            return Ok(None);
        };
        let id = row.object_id;
        match part {
            None => Ok(Some(whole(HolderKind::Object, id))),
            Some(("PARAMETER", part)) => {
                let found = parameter_names(&row)?.into_iter().find(|name| same_name(name, part));
                let kind = HolderKind::Parameter;
                Ok(found.map(|part| PropertyHolder { kind, id, part }))
            }
            Some(_) => Err(invalid(procedure)),
        }
    }
}

fn whole(kind: HolderKind, id: i32) -> PropertyHolder {
    PropertyHolder {
        kind,
        id,
        part: String::new(),
    }
}

/// 15600: levels that do not belong together.
fn invalid(procedure: &str) -> SqlError {
    let text = format!("An invalid parameter or option was specified for procedure '{procedure}'.");
    error(15_600, text).with_severity(15)
}

/// 15135: an object that is not there, or has no properties.
fn missing(levels: &PropertyLevels) -> SqlError {
    let text = format!(
        "Object is invalid. Extended properties are not permitted on '{}', or the object does not exist.",
        shown(levels)
    );
    error(15_135, text)
}

fn other_kind(kind: &str, procedure: &str) -> SqlError {
    match OTHERS.contains(&kind) {
        true => SqlError::unsupported(&format!("An extended property of a {kind}")),
        false => invalid(procedure),
    }
}

/// The object's name as messages show it.
fn shown(levels: &PropertyLevels) -> String {
    let names: Vec<&str> = levels.iter().filter_map(|(_, name)| name.as_deref()).collect();
    match names.is_empty() {
        true => "object specified".to_owned(),
        false => names.join("."),
    }
}

fn object_name(schema: &str, own: &str) -> ObjectName {
    let name = |text: &str| Name {
        text: text.to_owned(),
        quoted: true,
        position: Position::default(),
    };
    ObjectName {
        name: name(own),
        schema: Some(name(schema)),
        database: None,
        server: None,
        position: Position::default(),
    }
}

fn error(number: i32, text: String) -> SqlError {
    SqlError::new(number, Ends::Statement, text)
}

/// What SQL Server gives properties, and this server does not.
const OTHERS: [&str; 21] = [
    "AGGREGATE",
    "ASSEMBLY",
    "CONTRACT",
    "DEFAULT",
    "EVENT NOTIFICATION",
    "FILEGROUP",
    "FUNCTION",
    "MESSAGE TYPE",
    "PARTITION FUNCTION",
    "PARTITION SCHEME",
    "PLAN GUIDE",
    "QUEUE",
    "REMOTE SERVICE BINDING",
    "ROUTE",
    "RULE",
    "SEQUENCE",
    "SERVICE",
    "SYNONYM",
    "TYPE",
    "USER",
    "XML SCHEMA COLLECTION",
];
