//! The definition of a column.

use std::sync::Arc;

use selenite_tsql::ast::{self, ColumnKind, ExprKind, Literal, UnaryOperator};
use selenite_types::{DataType, DeclarationContext, Family};

use super::ColumnDefinition;
use super::subquery::check_scalar;
use crate::catalog::{Column, ColumnDefault, Computed, IdentityRule};
use crate::{Collation, SqlError, declared_type};

impl ColumnDefinition {
    /// Reads a column; `number` is its position in the statement, from 1. Its constraints are read elsewhere.
    pub(super) fn read(column: &ast::ColumnDefinition, table: &str, number: u32) -> Result<Self, SqlError> {
        let name = column.name.text.clone();
        let line = column.position.line;
        let mut read = Self {
            name,
            data_type: None,
            user_type: None,
            nullable: true,
            collation: selenite_types::Collation::DEFAULT,
            identity: None,
            default: None,
            computed: None,
        };
        match &column.kind {
            ColumnKind::Computed { value, persisted } => {
                check_scalar(value).map_err(|error| error.on_line(line))?;
                read.computed = Some((Arc::new(value.clone()), *persisted));
                return Ok(read);
            }
            ColumnKind::Typed(type_name) => {
                let place = DeclarationContext::Column {
                    number,
                    name: &column.name.text,
                };
                read.data_type = Some(declared_type(type_name, place).map_err(|error| error.on_line(line))?);
                read.user_type = alias_name(type_name);
            }
        }
        if let Some(collation) = &column.collation {
            read.collate(collation).map_err(|error| error.on_line(line))?;
        }
        read.nullable = column.nullable.unwrap_or(match &column.kind {
            ColumnKind::Typed(type_name) => is_nullable_type(type_name),
            ColumnKind::Computed { .. } => true,
        });
        if let Some(identity) = &column.identity {
            read.number(identity, (table, column.nullable))
                .map_err(|error| error.on_line(line))?;
        }
        Ok(read)
    }

    /// Sets the collation that COLLATE specifies.
    ///
    /// Errors: 447 for a type other than text; as [`Collation::explicit`].
    pub(super) fn collate(&mut self, collation: &ast::Name) -> Result<(), SqlError> {
        let data_type = self.data_type.unwrap_or(DataType::Int);
        if data_type.family() != Family::Text {
            return Err(SqlError::collate_type(data_type.bare_name()));
        }
        self.collation = Collation::explicit(&collation.text)?.named;
        self.data_type = Some(data_type.under(self.collation));
        Ok(())
    }

    fn number(&mut self, identity: &ast::Identity, (table, nullable): (&str, Option<bool>)) -> Result<(), SqlError> {
        let fits = match self.data_type {
            Some(DataType::TinyInt | DataType::SmallInt | DataType::Int | DataType::BigInt) => true,
            Some(DataType::Decimal { scale, .. } | DataType::Numeric { scale, .. }) => scale == 0,
            Some(_) | None => false,
        };
        if !fits {
            return Err(SqlError::identity_type(&self.name));
        }
        if nullable == Some(true) {
            return Err(SqlError::identity_nullable(&self.name, table));
        }
        self.nullable = false;
        let (seed, increment) = match &identity.seed_and_increment {
            None => (1, 1),
            Some((seed, increment)) => (
                whole(seed).ok_or_else(|| SqlError::identity_value(&self.name))?,
                whole(increment).ok_or_else(|| SqlError::identity_value(&self.name))?,
            ),
        };
        if increment == 0 {
            return Err(SqlError::identity_value(&self.name));
        }
        self.identity = Some(IdentityRule { seed, increment });
        Ok(())
    }

    /// The column as queries use it.
    pub(super) fn of_table(
        &self,
        column_type: &mut impl FnMut(&ast::Expr) -> Result<DataType, SqlError>,
    ) -> Result<Column, SqlError> {
        let data_type = match (&self.data_type, &self.computed) {
            (Some(data_type), _) => *data_type,
            (None, Some((value, _))) => column_type(value)?,
            (None, None) => return Err(SqlError::internal("a column without a type")),
        };
        Ok(Column {
            name: self.name.clone(),
            data_type,
            nullable: self.nullable,
            collation: Collation::implicit(self.collation),
            identity: self.identity,
            default: self.default.as_ref().map(|(name, value)| ColumnDefault {
                name: name.clone(),
                value: value.clone(),
            }),
            computed: self.computed.as_ref().map(|(value, persisted)| Computed {
                value: value.clone(),
                persisted: *persisted,
            }),
        })
    }
}

/// Whether a column of a type is NULL unless it is declared NOT NULL: not of sysname or rowversion, nor of an alias type that says so.
pub(super) fn is_nullable_type(type_name: &ast::TypeName) -> bool {
    match type_name.alias() {
        Some(alias) => alias.nullable.unwrap_or(!is_sysname(&alias.base)),
        None => !type_name.is_table() && !is_sysname(type_name) && !is_row_version(type_name),
    }
}

/// The schema and name of an alias type, or of a type of old whose values are those of another type.
pub(super) fn alias_name(type_name: &ast::TypeName) -> Option<(String, String)> {
    if let Some(alias) = type_name.alias() {
        return Some((alias.schema.clone(), alias.name.clone()));
    }
    let name = type_name.name.name.text.to_lowercase();
    let old = match name.strip_prefix("national ") {
        Some("text") => "ntext",
        Some(_) | None => name.as_str(),
    };
    OLD_TYPES.contains(&old).then(|| (SYS.to_owned(), old.to_owned()))
}

/// The schema of the types of old.
pub const SYS: &str = "sys";
/// They are varchar(max), nvarchar(max) and varbinary(max) but for their names.
pub const OLD_TYPES: [&str; 3] = ["text", "ntext", "image"];

fn is_sysname(type_name: &ast::TypeName) -> bool {
    type_name.name.name.is("sysname")
}

fn is_row_version(type_name: &ast::TypeName) -> bool {
    type_name.name.name.is("rowversion") || type_name.name.name.is("timestamp")
}

/// An integer, optionally with a sign.
fn whole(value: &ast::Expr) -> Option<i128> {
    if let ExprKind::Literal(Literal::Integer(digits)) = &value.kind {
        return digits.parse().ok();
    }
    let ExprKind::Unary { operator, operand } = &value.kind else {
        return None;
    };
    let number = whole(operand)?;
    match operator {
        UnaryOperator::Plus => Some(number),
        UnaryOperator::Minus => number.checked_neg(),
        UnaryOperator::BitNot => None,
    }
}
