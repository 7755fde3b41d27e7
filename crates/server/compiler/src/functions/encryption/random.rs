//! CRYPT_GEN_RANDOM.

use std::sync::Arc;

use selenite_types::Value;

use crate::SqlError;
use crate::functions::Arguments;

/// Random bytes of the system's generator; NULL if the number is not one from 1 to 8000. The seed, which SQL Server takes
/// as additional input, changes nothing: the system's generator has more.
pub(super) fn crypt_gen_random(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let Value::Int(count) = call.value(0) else {
        return Err(SqlError::internal("a number of random bytes"));
    };
    match usize::try_from(*count) {
        Ok(count @ 1..=8000) => {
            let mut bytes = vec![0; count];
            call.environment.random_bytes(&mut bytes);
            Ok(Value::Binary(Arc::from(bytes)))
        }
        Ok(_) | Err(_) => Ok(Value::Null),
    }
}
