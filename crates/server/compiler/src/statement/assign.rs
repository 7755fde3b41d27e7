//! SELECT that sets variables.

use std::ops::ControlFlow;
use std::sync::Arc;

use selenite_types::Value;

use super::inputs::InputColumn;
use super::{Run, SlotValue};
use crate::PlanError;
use crate::execution::Compiled;
use crate::writer::SqlText;

/// `SELECT @a = ..`: each row sets the variables, which the next row sees; the last one's values stay.
#[derive(Clone, Debug)]
pub struct Assign {
    /// The query of what the values are computed from.
    pub text: SqlText,
    /// Its columns.
    pub(crate) inputs: Vec<InputColumn>,
    /// The variables in order, with their values.
    pub values: Vec<SlotValue>,
    /// What the SQL calls.
    pub compiled: Arc<Compiled>,
}

impl Assign {
    /// Runs it, and tells how many rows there were.
    ///
    /// Errors: whatever ends the statement.
    pub fn run(&self, run: &mut Run<'_>) -> Result<u64, PlanError> {
        let mut count = 0;
        run.select(&self.text, &self.compiled, &mut |run, row| {
            count += 1;
            run.assign(&self.values, &InputColumn::read(&self.inputs, row)?)?;
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(count)
    }
}

impl Run<'_> {
    /// Sets variables one after the other, each seeing those before it.
    ///
    /// Errors: whatever evaluating the values gives.
    pub(crate) fn assign(&mut self, values: &[SlotValue], row: &[Value]) -> Result<(), PlanError> {
        for assignment in values {
            let value = assignment.value.evaluate(&self.frame(row))?;
            if let Some(slot) = self.slots.get_mut(assignment.slot.index()) {
                *slot = value;
            }
        }
        Ok(())
    }
}
