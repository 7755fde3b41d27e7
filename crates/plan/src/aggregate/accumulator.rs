//! The values of one group, as they come.

use selenite_types::Value;

use super::Aggregate;
use crate::PlanError;

/// What an aggregate has seen of its group.
#[derive(Clone, Debug)]
pub struct Accumulator {
    result: Value,
}

impl Accumulator {
    /// One that has seen nothing. `separator` is the value of [`Aggregate::separator`].
    #[must_use]
    pub fn new(aggregate: &Aggregate, separator: &Value) -> Self {
        let _ = (aggregate, separator);
        Self { result: Value::Null }
    }

    /// Takes a value of the operand's type; for `COUNT(*)` any.
    ///
    /// Errors: 8115 when a sum leaves its type.
    pub fn step(&mut self, value: &Value) -> Result<(), PlanError> {
        let _ = value;
        Err(PlanError::unsupported("This aggregate"))
    }

    /// The aggregate of all that was taken.
    ///
    /// Errors: 8115.
    pub fn finish(&self) -> Result<Value, PlanError> {
        Ok(self.result.clone())
    }
}
