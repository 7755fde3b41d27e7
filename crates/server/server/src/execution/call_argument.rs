//! Arguments of the system's own procedures.

use selenite_compiler::{SqlError, same_name};
use selenite_runtime::machine::{Call, CallArgument};
use selenite_types::{Conversion, DataType, DateFormat, Value, convert};

/// An argument as a sql_variant.
///
/// # Errors
/// 206 for a type that a sql_variant does not hold.
pub(super) fn variant(value: &Value, of: &DataType, format: DateFormat) -> Result<Value, SqlError> {
    Conversion::check_implicit(of, &DataType::SqlVariant)?;
    Ok(convert(value, of, &DataType::SqlVariant, None, format)?)
}

/// The value and the type of an argument, by its name or place.
pub(super) fn argument<'a>(call: &'a Call<'_>, name: &str, place: usize) -> Option<&'a (Value, DataType)> {
    let by_name = |argument: &&CallArgument| argument.name.as_ref().is_some_and(|known| same_name(known, name));
    let by_place = || call.arguments.get(place).filter(|argument| argument.name.is_none());
    let found = call.arguments.iter().find(by_name).or_else(by_place);
    found.and_then(|argument| argument.value.as_ref())
}
