//! What keeps a type from being inferred.

use selenite_compiler::{Ends, SqlError};
use selenite_types::DataType;

/// 11502: a parameter in a place that does not determine its type.
pub(crate) fn no_context(name: &str) -> SqlError {
    let text = format!("The type for parameter '{name}' cannot be deduced in this context.");
    SqlError::new(11_502, Ends::Statement, text)
}

/// 11503: two parameters in one expression.
pub(crate) fn two_untyped(first: &str, second: &str) -> SqlError {
    let text = format!(
        "The parameter type cannot be deduced because a single expression contains two untyped parameters, '{first}' and \
         '{second}'."
    );
    SqlError::new(11_503, Ends::Statement, text)
}

/// 11506: a parameter that several types would do for.
pub(crate) fn two_possible(name: &str, first: &DataType, second: &DataType) -> SqlError {
    let text = format!(
        "The parameter type for '{name}' cannot be uniquely deduced; two possibilities are '{first}' and '{second}'."
    );
    SqlError::new(11_506, Ends::Statement, text)
}

/// 11507: a parameter that no type would do for.
pub(crate) fn none_possible(name: &str) -> SqlError {
    let text = format!("The parameter type for '{name}' cannot be deduced because no type would make the query valid.");
    SqlError::new(11_507, Ends::Statement, text)
}

/// 11508: a parameter that is used twice.
pub(crate) fn used_twice(name: &str) -> SqlError {
    let text = format!("The undeclared parameter '{name}' is used more than once in the batch being analyzed.");
    SqlError::new(11_508, Ends::Statement, text)
}
