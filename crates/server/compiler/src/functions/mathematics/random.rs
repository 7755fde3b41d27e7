//! RAND.

use selenite_types::Value;

use crate::functions::Arguments;
use crate::{PlanError, RandomState};

/// RAND: the session's next number; a seed restarts, and NULL is seed 0.
pub(super) fn rand(call: &Arguments<'_>) -> Result<Value, PlanError> {
    let state = call.environment.random();
    let before = match call.values {
        [] => state.get(),
        [Value::Null, ..] => RandomState::new(0),
        [_, ..] => RandomState::new(call.int(0)?),
    };
    let (number, after) = before.next();
    state.set(after);
    Ok(Value::Float(number))
}
