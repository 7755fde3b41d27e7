//! Conversion of values: CAST, CONVERT and implicit conversion.
//!
//! - `allowed-pairs-are-known-before`: [`conversion`] decides by the types alone whether a pair
//!   converts; [`convert`] is total for the pairs that it allows.
//! - `overflow-is-an-error`: a value that does not fit its new type is an error with SQL Server's
//!   number and text, never a wrapped or truncated number.
//! - `null-converts-to-null`: NULL converts to NULL of every type to which its type converts.
//!
//! Errors 2628 and 8152 for text that is too long for its column are left to the caller: here text is truncated without
//! an error, as by CAST.

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
mod to_xml;

pub use date_format::DateFormat;
pub use error::{ConversionError, ConversionFault};
pub use is_date::is_date;
pub use matrix::{Conversion, conversion};

use std::sync::Arc;

use crate::{DataType, Family, SqlVariant, Value, convert::request::Request};

/// Converts `value` of type `from` to type `to`.
///
/// `style` is CONVERT's third argument; `None` for CAST and implicit conversion. `format` is the session's DATEFORMAT,
/// which determines how text is parsed as a date. This function does not check whether the conversion requires CAST;
/// [`Conversion::check_implicit`] does.
///
/// Errors: 529 if the types never convert, even for NULL; otherwise an error of the value or the style. TRY_CAST and
/// TRY_CONVERT return NULL for those with [`ConversionError::is_of_value`].
pub fn convert(
    value: &Value,
    from: &DataType,
    to: &DataType,
    style: Option<i32>,
    format: DateFormat,
) -> Result<Value, ConversionError> {
    convert_while(value, from, to, style, format, &mut |_| true)
}

/// As [`convert`]; what is parsed as xml asks `poll`, with the bytes since its last call, whether to go on.
///
/// # Errors
/// As [`convert`]; an error of xml where `poll` says no, for which the caller has one of its own.
pub fn convert_while(
    value: &Value,
    from: &DataType,
    to: &DataType,
    style: Option<i32>,
    format: DateFormat,
    poll: &mut dyn FnMut(usize) -> bool,
) -> Result<Value, ConversionError> {
    Conversion::check_explicit(from, to)?;
    if *value == Value::Null {
        return Ok(Value::Null);
    }
    if from == to && style.is_none() {
        return Ok(value.clone());
    }
    if *from == DataType::Xml && *to != DataType::Xml {
        return to_xml::from_xml(value, from, to);
    }
    if let Value::SqlVariant(variant) = value
        && *to != DataType::SqlVariant
    {
        return convert(variant.value(), variant.data_type(), to, style, format);
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
        Family::Variant => to_variant(value, &request),
        Family::Xml => to_xml::to_xml(value, &request, poll),
    }
}

/// The value with its type; a sql_variant remains itself.
fn to_variant(value: &Value, request: &Request<'_>) -> Result<Value, ConversionError> {
    if let Value::SqlVariant(variant) = value {
        return Ok(Value::SqlVariant(Arc::clone(variant)));
    }
    SqlVariant::of(*request.from, value.clone()).ok_or_else(|| request.misfit())
}

#[cfg(test)]
mod tests;
