//! A value of one type as a value of another: CAST, CONVERT, and implicit conversions.
//!
//! - `allowed-pairs-are-known-before`: [`conversion`] tells, before anything runs, whether a pair
//!   of types converts; [`convert`] is total over the pairs that it allows.
//! - `overflow-is-an-error`: a value that does not fit its new type is an error with SQL Server's
//!   number and text, never a wrapped or truncated number.
//! - `null-converts-to-null`: NULL converts to NULL of any type, if the types convert at all.
//!
//! Errors 2628 and 8152 of text too long for its column are the caller's: here text is cut to its type without an
//! error, as CAST does.

mod bytes_text;
mod date_format;
mod date_text;
mod digits_text;
mod error;
mod float_bits;
mod integer_type;
mod is_date;
mod matrix;
mod request;
mod to_binary;
mod to_decimal;
mod to_float;
mod to_guid;
mod to_integer;
mod to_moment;
mod to_money;
mod to_text;

pub use date_format::DateFormat;
pub use error::{ConversionError, ConversionFault};
pub use is_date::is_date;
pub use matrix::{Conversion, conversion};

use crate::{DataType, Family, Value, convert::request::Request};

/// Converts `value`, which is of type `from`, to type `to`.
///
/// `style` is CONVERT's third argument; `None` is CAST and implicit conversion. `format` is the session's DATEFORMAT,
/// which decides how text is read as a date. Whether the conversion needs a CAST is not checked:
/// [`Conversion::check_implicit`] does that.
///
/// Errors: 529 if the types never convert, even of NULL; else one that names what is wrong with the value or the
/// style. Of those, TRY_CAST and TRY_CONVERT make NULL if [`ConversionError::is_of_value`].
pub fn convert(
    value: &Value,
    from: &DataType,
    to: &DataType,
    style: Option<i32>,
    format: DateFormat,
) -> Result<Value, ConversionError> {
    Conversion::check_explicit(from, to)?;
    if *value == Value::Null {
        return Ok(Value::Null);
    }
    if from == to && style.is_none() {
        return Ok(value.clone());
    }
    let request = Request {
        from,
        to,
        style,
        format,
    };
    match to.family() {
        Family::Bit | Family::Integer => to_integer::to_integer(value, &request),
        Family::Decimal => to_decimal::to_decimal(value, &request),
        Family::Money => to_money::to_money(value, &request),
        Family::Approximate => to_float::to_float(value, &request),
        Family::Text => to_text::to_text(value, &request),
        Family::Binary => to_binary::to_binary(value, &request),
        Family::OldDate | Family::NewDate | Family::Time => to_moment::to_moment(value, &request),
        Family::Guid => to_guid::to_guid(value, &request),
    }
}

#[cfg(test)]
mod tests;
