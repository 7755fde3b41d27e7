//! What all statements on tables are bound with, and what they are bound to.

use selenite_types::DataType;

use crate::catalog::{Catalog, IdentityRule};
use crate::{Collation, Expr, Slot, Variables};

mod compound;
mod inputs;

pub(crate) use compound::{compound, compound_of};
pub use inputs::InputColumn;
pub(crate) use inputs::Inputs;

/// A column of a result.
#[derive(Clone, PartialEq, Debug)]
pub struct ResultColumn {
    /// Its name; empty if it has none.
    pub name: String,
    /// Its type: what its values' stored form is.
    pub data_type: DataType,
    /// Whether it may be NULL.
    pub nullable: bool,
    /// How its text is compared.
    pub collation: Collation,
    /// How it is numbered, if it is a table's own column of that kind.
    pub identity: Option<IdentityRule>,
    /// The table and column that it is, as errors name them; empty for what is computed.
    pub place: String,
}

/// What a statement is bound against.
#[derive(Clone, Copy)]
pub struct Binding<'a> {
    /// What knows the tables.
    pub catalog: &'a dyn Catalog,
    /// The batch's variables.
    pub variables: &'a Variables,
}

/// What a variable is set to for each row.
#[derive(Clone, PartialEq, Debug)]
pub struct SlotValue {
    /// Which variable.
    pub slot: Slot,
    /// Its value, of the variable's type, over the row's inputs.
    pub value: Expr,
}
