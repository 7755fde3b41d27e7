//! Declared types in SQLite's CREATE TABLE.

use crate::{Argument, DataType, DeclarationContext, DeclarationError, Site};

/// The declared type of a column in SQLite.
///
/// It is the T-SQL type with all its arguments. SQLite derives the column's affinity from it, which changes no storage
/// form: INTEGER for the integers, REAL for real and float, TEXT for text types; NUMERIC for all others, whose forms
/// are integers, BLOBs, or texts that do not look like numbers. A type with `max` is quoted, because SQLite's grammar
/// allows only numbers in parentheses (<https://sqlite.org/syntax/type-name.html>).
#[must_use]
pub fn declared_name(data_type: &DataType) -> String {
    let name = data_type.to_string();
    if name.ends_with("(max)") {
        format!("\"{name}\"")
    } else {
        name
    }
}

/// The type that SQLite's schema declares for a column, in any case, with any whitespace, quoted or not.
///
/// Errors: as for a T-SQL column ([`DataType::from_name`]); 2715 for an unknown or empty type.
pub fn declared_type(declared: &str) -> Result<DataType, DeclarationError> {
    let unknown = || DeclarationError::UnknownType {
        number: 1,
        name: declared.into(),
    };
    let unquoted = declared
        .strip_prefix('"')
        .and_then(|rest| rest.trim_end().strip_suffix('"'));
    let (name, arguments) = match unquoted.unwrap_or(declared).split_once('(') {
        None => (declared, Vec::new()),
        Some((name, rest)) => {
            let inner = rest.trim_end().strip_suffix(')').ok_or_else(unknown)?;
            let arguments = inner.split(',').map(|argument| parse_argument(argument.trim()));
            (name, arguments.collect::<Option<Vec<_>>>().ok_or_else(unknown)?)
        }
    };
    let name = name.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
    let place = DeclarationContext::Column { number: 1, name: "" };
    DataType::from_name(&name, &arguments, &Site { place, line: 1 })
}

fn parse_argument(argument: &str) -> Option<Argument> {
    if argument.eq_ignore_ascii_case("max") {
        return Some(Argument::Max);
    }
    // A number has only digits, no sign.
    let is_number = !argument.is_empty() && argument.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| argument.parse().ok().map(Argument::Number)).flatten()
}
