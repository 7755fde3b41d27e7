//! A type as it was written: a name with numbers.

use super::{ObjectName, Position};

/// A type's name with the contents of the parentheses after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeName {
    /// The name, perhaps with a schema (`sys.int`). Types of several words have them in one name, divided by one
    /// blank: `double precision`, `character varying`, `national char varying`.
    pub name: ObjectName,
    /// `(10, 2)`, `(max)`; empty without parentheses.
    pub arguments: Vec<TypeArgument>,
    /// The position of the whole type.
    pub position: Position,
}

/// A length, precision, scale or `max`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeArgument {
    /// A number as written; whether the type takes it is not checked.
    Number(u32),
    /// `max`.
    Max,
}
