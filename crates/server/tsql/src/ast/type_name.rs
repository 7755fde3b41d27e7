//! A type as written: a name with arguments.

use std::sync::Arc;

use super::{ObjectName, Position};

/// A type's name with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeName {
    /// The name with an optional schema (`sys.int`). A type of several words is one name with single spaces: `double
    /// precision`, `character varying`, `national char varying`.
    pub name: ObjectName,
    /// `(10, 2)`, `(max)`; empty without parentheses.
    pub arguments: Vec<TypeArgument>,
    /// The position of the complete type.
    pub position: Position,
    /// What the name means, if it is that of a type of a user that [`crate::parse_typed`] was told of.
    pub user_type: Option<NamedType>,
}

/// What the name of a type of a user means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NamedType {
    /// Another type.
    Alias(Arc<AliasType>),
    /// A table.
    Table,
}

/// A type of a user that is another name of a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AliasType {
    /// Its schema.
    pub schema: String,
    /// Its name.
    pub name: String,
    /// The type for which it stands.
    pub base: TypeName,
    /// `NULL` is true, `NOT NULL` is false, neither is `None`.
    pub nullable: Option<bool>,
}

impl TypeName {
    /// Whether it is the name of a table type.
    #[must_use]
    pub fn is_table(&self) -> bool {
        matches!(self.user_type, Some(NamedType::Table))
    }

    /// The alias type that it names.
    #[must_use]
    pub fn alias(&self) -> Option<&AliasType> {
        match &self.user_type {
            Some(NamedType::Alias(alias)) => Some(alias),
            Some(NamedType::Table) | None => None,
        }
    }
}

/// An argument of a type: length, precision, scale or `max`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeArgument {
    /// A number; the parser does not check whether the type allows it.
    Number(u32),
    /// `max`.
    Max,
}
