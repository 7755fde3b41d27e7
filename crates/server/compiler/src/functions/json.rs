//! JSON functions.
//!
//! - `path-first`: the path is checked before the document: a NULL path is an error, a NULL document is NULL.

use selenite_types::{DataType, Width};

use super::{Function, Rule, Typing};

mod build;
mod modify;
mod open;
mod output;
mod query;

use Rule::{Any, JsonValue, TextOnly};
pub(crate) use open::{OPEN_JSON, OPEN_JSON_COLUMNS};
pub(crate) use output::{FOR_JSON, FOR_JSON_LEVELS, FOR_JSON_ROW, FOR_JSON_VALUES, FOR_ROWS};

pub(super) static FUNCTIONS: &[Function] = &[
    Function::new("isjson", &[TextOnly, Any], INT, query::is_json)
        .optional(1)
        .with_word()
        .making_nulls(),
    Function::new("json_array", &[Any], LONG_TEXT, build::json_array)
        .repeated(usize::MAX)
        .never_null(),
    Function::new(
        "json_modify",
        &[TextOnly, TextOnly, JsonValue],
        LONG_TEXT,
        modify::json_modify,
    )
    .composing_json()
    .taking_nulls(),
    Function::new("json_object", &[Any], LONG_TEXT, build::json_object)
        .repeated(usize::MAX)
        .never_null(),
    Function::new("json_path_exists", &[TextOnly, TextOnly], INT, query::json_path_exists).taking_nulls(),
    Function::new(
        "json_query",
        &[TextOnly, TextOnly],
        Typing::By(query::query_type),
        query::json_query,
    )
    .optional(1)
    .taking_nulls(),
    Function::new("json_value", &[TextOnly, TextOnly], VALUE, query::json_value).taking_nulls(),
];

const INT: Typing = Typing::Is(DataType::Int);
const LONG_TEXT: Typing = Typing::Is(DataType::NVarChar(Width::Max));
const VALUE: Typing = Typing::Is(DataType::NVarChar(Width::Limited(4000)));

#[cfg(test)]
mod tests;
