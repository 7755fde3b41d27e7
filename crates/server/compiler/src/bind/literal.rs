//! Constants: the type follows from the notation.

use std::sync::Arc;

use selenite_tsql::ast;
use selenite_types::{DataType, DateFormat, Decimal, Value, Width, convert, narrow, narrow_length, utf16_length};

use crate::expr::{NATIONAL_WIDTH_MAX, WIDTH_MAX};
use crate::{Expr, ExprKind, SqlError};

/// Binds a constant.
///
/// Errors: 1007 and 168 for numbers that no type can represent.
pub(super) fn bind(constant: &ast::Literal) -> Result<Expr, SqlError> {
    match constant {
        ast::Literal::Null => Ok(Expr::new(ExprKind::Null, DataType::Int)),
        ast::Literal::Integer(digits) => integer(digits),
        ast::Literal::Decimal(digits) => decimal(digits),
        ast::Literal::Float(text) => float(text),
        ast::Literal::Money(text) => money(text),
        ast::Literal::String(text) => Ok(string(text)),
        ast::Literal::National(text) => Ok(national(text)),
        ast::Literal::Binary(digits) => Ok(binary(digits)),
    }
}

/// The value of a constant, and its type.
///
/// # Errors
/// 1007 and 168 for numbers that no type can represent.
pub fn constant(written: &ast::Literal) -> Result<(Value, DataType), SqlError> {
    let bound = bind(written)?;
    let ExprKind::Literal(value) = bound.kind else {
        return Ok((Value::Null, bound.data_type));
    };
    Ok((value, bound.data_type))
}

/// Binds ODBC constants, whose dates are datetimes.
///
/// Errors: 241 for text that is not a date, 40510 for a time alone.
pub(super) fn bind_odbc(constant: &ast::OdbcLiteral) -> Result<Expr, SqlError> {
    match constant {
        ast::OdbcLiteral::Date(text) | ast::OdbcLiteral::Timestamp(text) => read(text, DataType::DateTime),
        // SQL Server adds the current date.
        ast::OdbcLiteral::Time(_) => Err(SqlError::unsupported("The ODBC constant {t '..'}")),
        ast::OdbcLiteral::Guid(text) => read(text, DataType::UniqueIdentifier),
    }
}

/// A text constant.
pub(crate) fn string(text: &str) -> Expr {
    let length = u16::try_from(narrow_length(text).max(1))
        .ok()
        .filter(|length| *length <= WIDTH_MAX);
    let width = length.map_or(Width::Max, Width::Limited);
    Expr::literal(Value::Text(Arc::from(narrow(text))), DataType::VarChar(width))
}

fn national(text: &str) -> Expr {
    let length = u16::try_from(utf16_length(text).max(1))
        .ok()
        .filter(|length| *length <= NATIONAL_WIDTH_MAX);
    let width = length.map_or(Width::Max, Width::Limited);
    Expr::literal(Value::Text(Arc::from(text)), DataType::NVarChar(width))
}

/// int if the value fits, else a numeric with the number's digits.
fn integer(digits: &str) -> Result<Expr, SqlError> {
    match digits.parse() {
        Ok(number) => Ok(Expr::literal(Value::Int(number), DataType::Int)),
        Err(_) => decimal(digits),
    }
}

/// A numeric with the number's digits, without leading zeros.
fn decimal(text: &str) -> Result<Expr, SqlError> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = format!("{}{fraction}", whole.trim_start_matches('0'));
    let out_of_range = || SqlError::number_out_of_range(text);
    let precision = u8::try_from(digits.len().max(1)).map_err(|_| out_of_range())?;
    let scale = u8::try_from(fraction.len()).map_err(|_| out_of_range())?;
    if precision > PRECISION_MAX {
        return Err(out_of_range());
    }
    let unscaled = if digits.is_empty() {
        0
    } else {
        digits.parse().map_err(|_| out_of_range())?
    };
    Ok(Expr::literal(
        Value::Decimal(Decimal { unscaled, scale }),
        DataType::Numeric { precision, scale },
    ))
}

fn float(text: &str) -> Result<Expr, SqlError> {
    // The exponent may be empty, or a sign alone.
    let bare = text.trim_end_matches(['+', '-']).trim_end_matches(['e', 'E']);
    let readable = if bare.len() < text.len() && !bare.contains(['e', 'E']) {
        bare
    } else {
        text
    };
    match readable.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(Expr::literal(Value::Float(number), DataType::Float)),
        Ok(_) | Err(_) => Err(SqlError::float_out_of_range(text)),
    }
}

fn money(text: &str) -> Result<Expr, SqlError> {
    let mut characters = text.chars();
    characters.next();
    let digits = characters.as_str();
    if digits.is_empty() {
        return Ok(Expr::literal(Value::Money(0), DataType::Money));
    }
    read(digits, DataType::Money)
}

fn binary(digits: &str) -> Expr {
    let even = if digits.len().is_multiple_of(2) {
        digits.to_owned()
    } else {
        format!("0{digits}")
    };
    let bytes: Vec<u8> = even
        .as_bytes()
        .chunks(2)
        .filter_map(|pair| {
            std::str::from_utf8(pair)
                .ok()
                .and_then(|pair| u8::from_str_radix(pair, 16).ok())
        })
        .collect();
    let length = u16::try_from(bytes.len().max(1))
        .ok()
        .filter(|length| *length <= WIDTH_MAX);
    let width = length.map_or(Width::Max, Width::Limited);
    Expr::literal(Value::Binary(Arc::from(bytes)), DataType::VarBinary(width))
}

/// A constant in a fixed text format.
fn read(text: &str, to: DataType) -> Result<Expr, SqlError> {
    let from = DataType::VarChar(Width::Max);
    let value = convert(&Value::Text(Arc::from(text)), &from, &to, None, DateFormat::Ymd)?;
    Ok(Expr::literal(value, to))
}

const PRECISION_MAX: u8 = 38;
