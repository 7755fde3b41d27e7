//! APPLOCK_MODE and APPLOCK_TEST: locks that clients name themselves.

use selenite_types::Value;

use crate::SqlError;
use crate::functions::Arguments;

/// APPLOCK_MODE: the mode in which an owner holds a lock.
pub(super) fn mode(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let lock = [call.text(0)?, call.text(1)?, call.text(2)?];
    Ok(Value::Text(call.environment.lock_mode(lock)?))
}

/// APPLOCK_TEST: whether a lock would be granted at once.
pub(super) fn test(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let lock = [call.text(0)?, call.text(1)?, call.text(3)?];
    let is_free = call.environment.would_lock(lock, call.text(2)?)?;
    Ok(Value::SmallInt(i16::from(is_free)))
}
