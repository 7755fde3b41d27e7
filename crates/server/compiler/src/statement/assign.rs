//! SELECT that sets variables.

use std::sync::Arc;

use crate::binding::{InputColumn, SlotValue};
use crate::compiled::Compiled;
use crate::writer::SqlText;

/// `SELECT @a = ..`: each row sets the variables, which the next row sees; the last one's values stay.
#[derive(Clone, Debug)]
pub struct Assign {
    /// The query of what the values are computed from.
    pub text: SqlText,
    /// Its columns.
    pub inputs: Vec<InputColumn>,
    /// The variables in order, with their values.
    pub values: Vec<SlotValue>,
    /// What the SQL calls.
    pub compiled: Arc<Compiled>,
}
