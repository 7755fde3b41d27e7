//! PARSE and TRY_PARSE.

use selenite_types::{DataType, DateTime2, DateTimeOffset, Family, Value, convert, utf16_length};

use crate::dotnet::{Culture, ParsedMoment, plain_number};
use crate::functions::{Arguments, Rule};
use crate::{Expr, ExprKind, Function, FunctionCall, SqlError};

/// The text, and the culture.
pub(super) const RULES: &[Rule] = &[Rule::National, Rule::National];

/// PARSE or TRY_PARSE.
///
/// Errors: 10761 for a type that text is not parsed to; 8116 for what is no text.
pub(crate) fn parsed(text: Expr, data_type: DataType, culture: Option<Expr>, is_try: bool) -> Result<Expr, SqlError> {
    let name = if is_try { "try_parse" } else { "parse" };
    match data_type.family() {
        Family::Integer
        | Family::Decimal
        | Family::Money
        | Family::Approximate
        | Family::OldDate
        | Family::NewDate
        | Family::Time => {}
        Family::Bit | Family::Text | Family::Binary | Family::Guid | Family::Variant | Family::Xml => {
            return Err(SqlError::parse_type(data_type.bare_name(), &name.to_ascii_uppercase()));
        }
    }
    let function = Function::find(name).ok_or_else(|| SqlError::internal(name))?;
    let mut arguments = Vec::with_capacity(2);
    for (at, argument) in std::iter::once(text).chain(culture).enumerate() {
        Rule::TextOnly.apply(argument.clone(), at + 1, name)?;
        arguments.push(Rule::National.apply(argument, at + 1, name)?);
    }
    let nullable = is_try || arguments.iter().any(|argument| argument.nullable);
    let call = FunctionCall {
        function,
        part: None,
        arguments,
    };
    Ok(Expr::new(ExprKind::Call(Box::new(call)), data_type).with_nullable(nullable))
}

pub(super) fn parse(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let culture = if call.values.len() > 1 { call.text(1)? } else { "" };
    let fault = || SqlError::not_parsed(call.text(0).unwrap_or_default(), call.data_type.bare_name(), culture);
    value_of(call)?.ok_or_else(fault)
}

pub(super) fn try_parse(call: &Arguments<'_>) -> Result<Value, SqlError> {
    Ok(value_of(call)?.unwrap_or(Value::Null))
}

/// The value of the text; `None` if it is none of the type.
fn value_of(call: &Arguments<'_>) -> Result<Option<Value>, SqlError> {
    let text = call.text(0)?;
    let culture = match call.values.len() {
        0 | 1 => Culture::English,
        _ => {
            let name = call.text(1)?;
            let known = Culture::find(name);
            known.ok_or_else(|| SqlError::unsupported(&format!("PARSE with the culture '{name}'")))?
        }
    };
    if utf16_length(text) > TEXT_SIZE_MAX {
        return Err(SqlError::unsupported("PARSE of more than 4000 characters"));
    }
    let family = call.data_type.family();
    if let Family::OldDate | Family::NewDate | Family::Time = family {
        return moment_of(call, text);
    }
    let Some(number) = plain_number(text, family, culture) else {
        return Ok(None);
    };
    Ok(converted(call, &Value::Text(number.into()), TEXT))
}

fn moment_of(call: &Arguments<'_>, text: &str) -> Result<Option<Value>, SqlError> {
    let now = call.environment.now().local();
    let Some(ParsedMoment { local, offset_minutes }) = ParsedMoment::parse(text, now.date)? else {
        return Ok(None);
    };
    if let DataType::DateTimeOffset(_) = call.data_type {
        let moment = DateTimeOffset::from_local(local, offset_minutes.unwrap_or(0));
        let convert = |moment| converted(call, &Value::DateTimeOffset(moment), DataType::DateTimeOffset(7));
        return Ok(moment.and_then(convert));
    }
    let utc = match offset_minutes {
        Some(minutes) => local.checked_add_units(-i64::from(minutes) * UNITS_PER_MINUTE),
        None => Some(local),
    };
    let convert = |moment: DateTime2| converted(call, &Value::DateTime(moment), DataType::DateTime2(7));
    Ok(utc.and_then(convert))
}

fn converted(call: &Arguments<'_>, value: &Value, from: DataType) -> Option<Value> {
    let format = call.environment.session().date_format;
    convert(value, &from, &call.data_type, None, format).ok()
}

const TEXT: DataType = DataType::VarChar(selenite_types::Width::Limited(8000));
const UNITS_PER_MINUTE: i64 = 600_000_000;

/// PARSE takes nvarchar(4000).
const TEXT_SIZE_MAX: usize = 4_000;
