//! A type as written: a name with arguments.

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
}

/// An argument of a type: length, precision, scale or `max`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeArgument {
    /// A number; the parser does not check whether the type allows it.
    Number(u32),
    /// `max`.
    Max,
}
