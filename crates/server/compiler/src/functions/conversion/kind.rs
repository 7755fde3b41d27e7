//! ISNUMERIC, NEWID and NEWSEQUENTIALID.

use selenite_tsql::ast;
use selenite_types::{DataType, Family, Value, convert};

use crate::functions::Arguments;
use crate::{Expr, Function, SqlError};

/// ISNUMERIC: 1 if the value converts to any numeric type.
pub(super) fn is_numeric(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let (value, of) = (call.value(0), call.data_type(0));
    let format = call.environment.session().date_format;
    let becomes = |to: DataType| convert(value, &of, &to, None, format).is_ok();
    let is_number = match of.family() {
        _ if *value == Value::Null => false,
        Family::Text if call.text(0)?.trim_matches(' ').is_empty() => false,
        Family::Bit | Family::Integer | Family::Decimal | Family::Money | Family::Approximate => true,
        Family::Text => {
            becomes(DataType::Float)
                || becomes(DataType::Money)
                || becomes(DataType::Decimal {
                    precision: 38,
                    scale: 0,
                })
        }
        Family::Binary
        | Family::OldDate
        | Family::NewDate
        | Family::Time
        | Family::Guid
        | Family::Variant
        | Family::Xml => false,
    };
    Ok(Value::Int(i32::from(is_number)))
}

pub(super) fn new_id(call: &Arguments<'_>) -> Result<Value, SqlError> {
    Ok(Value::Guid(call.environment.new_guid()))
}

pub(super) fn new_sequential_id(call: &Arguments<'_>) -> Result<Value, SqlError> {
    Ok(Value::Guid(call.environment.new_sequential_guid()))
}

/// NEWSEQUENTIALID if it is the whole of a default, the only place where it may be called.
///
/// Errors: 174.
pub(crate) fn sequential_default(value: &ast::Expr) -> Result<Option<Expr>, SqlError> {
    let ast::ExprKind::Function(call) = &value.kind else {
        return Ok(None);
    };
    let is_named = call.name.single().is_some_and(|name| name.is("newsequentialid"));
    match (&call.arguments, Function::find("newsequentialid")) {
        (ast::Arguments::List(arguments), Some(function)) if is_named && arguments.is_empty() => {
            function.bind(None, Vec::new()).map(Some)
        }
        (_, _) => Ok(None),
    }
}

/// Checks where a default calls NEWSEQUENTIALID; `data_type` is the column's.
///
/// Errors: 302 for a column that is no uniqueidentifier.
pub(crate) fn check_sequential_default(value: &ast::Expr, data_type: Option<DataType>) -> Result<(), SqlError> {
    match sequential_default(value)? {
        Some(_) if data_type != Some(DataType::UniqueIdentifier) => Err(SqlError::sequential_not_default()),
        Some(_) | None => Ok(()),
    }
}
