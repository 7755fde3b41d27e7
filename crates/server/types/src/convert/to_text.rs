//! Conversion to char, varchar, nchar and nvarchar.

use std::{borrow::Cow, sync::Arc};

use crate::{
    Encoding, Value, Width,
    convert::{
        ConversionError, ConversionFault,
        bytes_text::{hex_of, text_of_utf16},
        request::Request,
    },
    decode_code_page,
    format::{
        MomentTextFault, decimal_text, default_style, float_text, float_with_six_decimals, guid_text, moment_text,
        money_text,
    },
    narrow,
};

/// The handling of text that is too long for its type.
enum Cut {
    /// The text is truncated.
    Silently,
    /// char and varchar become an asterisk; for other types it is an error.
    Asterisk,
    /// An error.
    Error(ConversionError),
}

/// Text and dates are truncated, numbers are not.
pub(crate) fn to_text(value: &Value, request: &Request<'_>) -> Result<Value, ConversionError> {
    let style = request.style.unwrap_or(0);
    let overflow = || Cut::Error(request.fail(ConversionFault::ExpressionOverflow));
    let (text, cut) = match value {
        Value::Text(text) => return Ok(of_text(text, request)),
        Value::Bit(bit) => (u8::from(*bit).to_string(), Cut::Asterisk),
        Value::TinyInt(number) => (number.to_string(), Cut::Asterisk),
        Value::SmallInt(number) => (number.to_string(), Cut::Asterisk),
        Value::Int(number) => (number.to_string(), Cut::Asterisk),
        Value::BigInt(number) => (number.to_string(), overflow()),
        Value::Decimal(number) if request.to.is_national() => (decimal_text(*number), overflow()),
        Value::Decimal(number) => (
            decimal_text(*number),
            Cut::Error(request.fail(ConversionFault::Overflow)),
        ),
        Value::Money(units) => (
            money_text(*units, style),
            Cut::Error(request.fail(ConversionFault::MoneyText)),
        ),
        Value::Real(number) => float(f64::from(*number), true, request)?,
        Value::Float(number) => float(*number, false, request)?,
        Value::Binary(bytes) => (of_bytes(bytes, style, request)?, Cut::Silently),
        Value::Date(_) | Value::Time(_) | Value::DateTime(_) => (moment(value, request)?, Cut::Silently),
        Value::DateTimeOffset(_) => (
            moment(value, request)?,
            Cut::Error(request.fail(ConversionFault::DateSyntax)),
        ),
        Value::Guid(guid) if request.to.is_national() => (guid_text(*guid), overflow()),
        Value::Guid(guid) => (guid_text(*guid), Cut::Error(request.fail(ConversionFault::GuidText))),
        Value::Null | Value::SqlVariant(_) => return Err(request.misfit()),
    };
    if request.to.fits(request.to.text_length(&text)) {
        return Ok(fitted(&text, request));
    }
    match cut {
        Cut::Silently => Ok(fitted(&text, request)),
        Cut::Asterisk if !request.to.is_national() => Ok(fitted("*", request)),
        Cut::Asterisk => Err(request.fail(ConversionFault::ExpressionOverflow)),
        Cut::Error(error) => Err(error),
    }
}

/// The same text if it needs no truncation, padding or `?`.
fn of_text(text: &Arc<str>, request: &Request<'_>) -> Value {
    let narrowed = match request.to.encoding() {
        Encoding::Utf8 | Encoding::Utf16 => Cow::Borrowed(text.as_ref()),
        Encoding::CodePage => narrow(text),
    };
    match narrowed {
        Cow::Borrowed(_) if !request.to.is_padded() && request.to.fits(request.to.text_length(text)) => {
            Value::Text(Arc::clone(text))
        }
        Cow::Borrowed(text) => fitted(text, request),
        Cow::Owned(text) => fitted(&text, request),
    }
}

/// Truncates the text to the type, and pads it if the type is padded.
fn fitted(text: &str, request: &Request<'_>) -> Value {
    let Some(Width::Limited(width)) = request.to.width() else {
        return Value::Text(text.into());
    };
    let width = usize::from(width);
    let text = request.to.text_prefix(text, width);
    let missing = width.saturating_sub(request.to.text_length(text));
    if !request.to.is_padded() || missing == 0 {
        return Value::Text(text.into());
    }
    let mut padded = String::with_capacity(text.len() + missing);
    padded.push_str(text);
    padded.extend(std::iter::repeat_n(' ', missing));
    Value::Text(padded.into())
}

fn float(number: f64, is_real: bool, request: &Request<'_>) -> Result<(String, Cut), ConversionError> {
    let style = request.style.unwrap_or(0);
    let unsupported = || request.fail_with(ConversionFault::Unsupported, format!("CONVERT style {style} of float"));
    let text = float_text(number, is_real, style).ok_or_else(unsupported)?;
    let error = if request.to.is_national() {
        request.fail(ConversionFault::ExpressionOverflow)
    } else {
        request.fail_with(ConversionFault::FloatRange, float_with_six_decimals(number))
    };
    Ok((text, Cut::Error(error)))
}

fn moment(value: &Value, request: &Request<'_>) -> Result<String, ConversionError> {
    let style = request.style.unwrap_or_else(|| default_style(request.from));
    moment_text(value, request.from, style).map_err(|fault| match fault {
        MomentTextFault::NoStyle => request.fail_with(ConversionFault::Style, style.to_string()),
        MomentTextFault::NothingShown => request.fail(ConversionFault::Unreadable),
        MomentTextFault::Hijri => request.hijri(style),
    })
}

/// Decodes bytes as characters, or in styles 1 and 2 encodes them as hexadecimal digits.
fn of_bytes(bytes: &[u8], style: i32, request: &Request<'_>) -> Result<String, ConversionError> {
    let length_max = match request.to.width() {
        Some(Width::Limited(width)) => usize::from(width),
        Some(Width::Max) | None => usize::MAX,
    };
    match style {
        0 if request.to.is_national() => text_of_utf16(bytes, length_max)
            .map_err(|_| request.fail_with(ConversionFault::Unsupported, "Text with half a surrogate pair")),
        0 if request.to.encoding() == Encoding::Utf8 => {
            let text = std::str::from_utf8(bytes)
                .map_err(|_| request.fail_with(ConversionFault::Unsupported, "Bytes that are no UTF-8"))?;
            Ok(request.to.text_prefix(text, length_max).to_owned())
        }
        0 => Ok(decode_code_page(bytes.get(..length_max).unwrap_or(bytes))),
        1 | 2 => Ok(hex_of(bytes, style == 1, length_max)),
        _ => Err(request.no_style()),
    }
}
