//! Prints a definition as T-SQL, and parses it (`kept-as-text`).

use std::fmt;

use selenite_tsql::ast::{StatementKind, Tree};

use super::{ColumnDefinition, KeyDefinition, SCHEMA, TableDefinition};
use crate::SqlError;
use crate::catalog::{ForeignKey, KeyKind, ReferencedAction};

/// The statements that create it: CREATE TABLE, and ALTER TABLE for the properties that CREATE TABLE can't express.
impl fmt::Display for TableDefinition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let table = format!("{}.{}", bracketed(&self.schema), bracketed(&self.name));
        write!(f, "CREATE TABLE {table} (")?;
        for (number, column) in self.columns.iter().enumerate() {
            f.write_str(if number == 0 { "" } else { ", " })?;
            column.fmt_with(self, f)?;
        }
        for key in self
            .keys
            .iter()
            .filter(|key| key.is_in_table || key.kind != KeyKind::Primary)
        {
            f.write_str(", ")?;
            key.fmt(f)?;
        }
        for check in self.checks.iter().filter(|check| check.column.is_none()) {
            write!(f, ", CONSTRAINT {} CHECK ({})", bracketed(&check.name), check.condition)?;
        }
        for key in &self.foreign_keys {
            f.write_str(", ")?;
            foreign_key(f, key)?;
        }
        f.write_str(")")?;
        for key in self
            .keys
            .iter()
            .filter(|key| !key.is_in_table && key.kind == KeyKind::Primary)
        {
            write!(f, ";\nALTER TABLE {table} ADD {key}")?;
        }
        let checks = self.checks.iter();
        let checks = checks.map(|check| (&check.name, check.is_enabled, check.is_trusted));
        let keys = self.foreign_keys.iter();
        let keys = keys.map(|key| (&key.name, key.is_enabled, key.is_trusted));
        for (name, is_enabled, is_trusted) in checks.chain(keys) {
            let name = bracketed(name);
            if !is_trusted {
                write!(f, ";\nALTER TABLE {table} NOCHECK CONSTRAINT {name}")?;
            }
            if !is_trusted && is_enabled {
                write!(f, ";\nALTER TABLE {table} WITH NOCHECK CHECK CONSTRAINT {name}")?;
            }
        }
        Ok(())
    }
}

impl TableDefinition {
    /// Parses a printed definition.
    ///
    /// # Errors
    /// Any error of the text: another program wrote to the catalog.
    pub fn of_tree(tree: &Tree) -> Result<Self, SqlError> {
        let mut statements = tree.statements.iter().map(|statement| &statement.kind);
        let Some(StatementKind::CreateTable(create)) = statements.next() else {
            return Err(SqlError::internal("a table's definition"));
        };
        let schema = create.name.schema.as_ref().map_or(SCHEMA, |schema| &schema.text);
        let mut table = Self::read(create, schema, 0)?;
        for statement in statements {
            let StatementKind::AlterTable(alter) = statement else {
                return Err(SqlError::internal("a table's definition"));
            };
            table = table.alter(&alter.action, 0)?.definition;
        }
        Ok(table)
    }
}

impl ColumnDefinition {
    fn fmt_with(&self, table: &TableDefinition, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&bracketed(&self.name))?;
        if let Some((value, persisted)) = &self.computed {
            let persisted = if *persisted { " PERSISTED" } else { "" };
            return write!(f, " AS ({value}){persisted}");
        }
        match (&self.user_type, &self.data_type) {
            (Some((schema, name)), _) => write!(f, " {}.{}", bracketed(schema), bracketed(name))?,
            (None, Some(data_type)) => write!(f, " {data_type}")?,
            (None, None) => {}
        }
        if super::sqlite::collation(self).is_some() {
            write!(f, " COLLATE {}", self.collation.name())?;
        }
        if let Some(identity) = &self.identity {
            write!(f, " IDENTITY({},{})", identity.seed, identity.increment)?;
        }
        f.write_str(if self.nullable { " NULL" } else { " NOT NULL" })?;
        if let Some((name, value)) = &self.default {
            write!(f, " CONSTRAINT {} DEFAULT ({value})", bracketed(name))?;
        }
        let own = |check: &&super::CheckDefinition| {
            check
                .column
                .as_deref()
                .is_some_and(|column| crate::same_name(column, &self.name))
        };
        for check in table.checks.iter().filter(own) {
            write!(f, " CONSTRAINT {} CHECK ({})", bracketed(&check.name), check.condition)?;
        }
        Ok(())
    }
}

/// The constraint in a table's definition.
impl fmt::Display for KeyDefinition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            KeyKind::Primary => "PRIMARY KEY",
            KeyKind::Unique | KeyKind::Index => "UNIQUE",
        };
        let clustered = if self.is_clustered { "CLUSTERED" } else { "NONCLUSTERED" };
        write!(f, "CONSTRAINT {} {kind} {clustered} (", bracketed(&self.name))?;
        key_columns(f, &self.columns)?;
        f.write_str(if self.ignores_duplicates {
            ") WITH (IGNORE_DUP_KEY = ON)"
        } else {
            ")"
        })
    }
}

pub(super) fn key_columns(f: &mut fmt::Formatter<'_>, columns: &[(String, bool)]) -> fmt::Result {
    for (number, (name, descending)) in columns.iter().enumerate() {
        f.write_str(if number == 0 { "" } else { ", " })?;
        write!(f, "{} {}", bracketed(name), if *descending { "DESC" } else { "ASC" })?;
    }
    Ok(())
}

fn foreign_key(f: &mut fmt::Formatter<'_>, key: &ForeignKey) -> fmt::Result {
    let names = |names: &[String]| names.iter().map(|name| bracketed(name)).collect::<Vec<_>>().join(", ");
    write!(
        f,
        "CONSTRAINT {} FOREIGN KEY ({}) REFERENCES {}.{} ({})",
        bracketed(&key.name),
        names(&key.columns),
        bracketed(&key.referenced_table.0),
        bracketed(&key.referenced_table.1),
        names(&key.referenced_columns)
    )?;
    for (verb, action) in [("DELETE", key.on_delete), ("UPDATE", key.on_update)] {
        let action = match action {
            ReferencedAction::NoAction => continue,
            ReferencedAction::Cascade => "CASCADE",
            ReferencedAction::SetNull => "SET NULL",
            ReferencedAction::SetDefault => "SET DEFAULT",
        };
        write!(f, " ON {verb} {action}")?;
    }
    Ok(())
}

/// An identifier in brackets.
#[must_use]
pub fn bracketed(name: &str) -> String {
    format!("[{}]", name.replace(']', "]]"))
}
