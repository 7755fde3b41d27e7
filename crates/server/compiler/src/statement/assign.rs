//! SELECT that assigns variables.

use std::sync::Arc;

use crate::binding::{InputColumn, SlotValue};
use crate::compiled::Compiled;
use crate::writer::SqlText;

/// `SELECT @a = ..`: each row assigns the variables, which the next row reads; the last row's values stay.
#[derive(Clone, Debug)]
pub struct Assign {
    /// The query of the inputs from which the values are computed.
    pub text: SqlText,
    /// Its columns.
    pub inputs: Vec<InputColumn>,
    /// The variables in order, with their values.
    pub values: Vec<SlotValue>,
    /// The operations and aggregates of its SQL.
    pub compiled: Arc<Compiled>,
}
