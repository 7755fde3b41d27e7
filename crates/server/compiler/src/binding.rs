//! The context in which statements on tables are bound, and the parts that they share.

use selenite_types::DataType;

use crate::catalog::{Catalog, IdentityRule};
use crate::{Collation, Expr, Slot, Variables};

mod compound;
mod inputs;

pub(crate) use compound::{compound, compound_of, mutator};
pub use inputs::InputColumn;
pub(crate) use inputs::{Inputs, take_inputs};

/// A column of a result.
#[derive(Clone, PartialEq, Debug)]
pub struct ResultColumn {
    /// Its name; empty if it has none.
    pub name: String,
    /// The type, which decides the storage form of its values.
    pub data_type: DataType,
    /// Whether it may be NULL.
    pub nullable: bool,
    /// The collation of its text.
    pub collation: Collation,
    /// Seed and increment, if it is an identity column of a table.
    pub identity: Option<IdentityRule>,
    /// Whether it is a computed column of a table.
    pub is_computed: bool,
    /// Table and column, as errors name them; empty for a computed value.
    pub place: String,
}

/// The context of binding a statement.
#[derive(Clone, Copy)]
pub struct Binding<'a> {
    /// Resolves names of tables.
    pub catalog: &'a dyn Catalog,
    /// The batch's variables.
    pub variables: &'a Variables,
}

/// An assignment to a variable for each row.
#[derive(Clone, PartialEq, Debug)]
pub struct SlotValue {
    /// The variable.
    pub slot: Slot,
    /// The value, of the variable's type, over the row's inputs.
    pub value: Expr,
}
