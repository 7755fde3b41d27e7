//! RAND.

use selenite_types::Value;

use crate::functions::Arguments;
use crate::{RandomState, SqlError};

/// RAND: the session's next number; a seed resets the generator, and NULL is seed 0.
pub(super) fn rand(call: &Arguments<'_>) -> Result<Value, SqlError> {
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
