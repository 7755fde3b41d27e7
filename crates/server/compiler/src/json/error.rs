//! Errors of JSON, with SQL Server's texts.

use crate::{Ends, SqlError};

impl SqlError {
    fn json(number: i32, state: u8, text: impl Into<String>) -> Self {
        Self::new(number, Ends::Transaction, text).with_state(state)
    }

    /// 13606: more than 128 levels of nesting.
    pub(crate) fn json_too_deep(state: u8) -> Self {
        let text = "JSON text/path that has more than 128 nesting levels cannot be parsed.";
        Self::new(13606, Ends::Statement, text).with_state(state)
    }

    /// 13607: a malformed path.
    pub(crate) fn json_path_syntax(character: char, position: usize, state: u8) -> Self {
        let text = format!(
            "JSON path is not properly formatted. Unexpected character '{character}' is found at position {position}."
        );
        Self::json(13607, state, text)
    }

    /// 13608: a strict path to nothing.
    pub(crate) fn json_property_missing(state: u8) -> Self {
        Self::json(13608, state, "Property cannot be found on the specified JSON path.")
    }

    /// 13609: malformed JSON text.
    pub(crate) fn json_text_syntax(character: char, position: usize, state: u8) -> Self {
        let text = format!(
            "JSON text is not properly formatted. Unexpected character '{character}' is found at position {position}."
        );
        Self::json(13609, state, text)
    }

    /// 13611: OPENJSON of a strict path to a scalar.
    pub(crate) fn json_not_openable(state: u8) -> Self {
        let text = "Value referenced by JSON path is not an array or object and cannot be opened with OPENJSON.";
        Self::json(13611, state, text)
    }

    /// 13612: a binary column of OPENJSON whose text is not Base64.
    pub(crate) fn json_not_base64() -> Self {
        let text =
            "Cannot convert a string value found in the JSON text to binary value because it is not Base64 encoded.";
        Self::new(13612, Ends::Statement, text).with_state(5)
    }

    /// 13613: a binary column of OPENJSON that is too short for its bytes.
    pub(crate) fn json_binary_truncated() -> Self {
        let text = "Base64 encoded string cannot be converted to binary value. Binary data would be truncated.";
        Self::new(13613, Ends::Statement, text)
    }

    /// 13614: a column of OPENJSON of a type for large objects.
    pub(crate) fn open_json_type() -> Self {
        let text = "TEXT, NTEXT, SQL_VARIANT and IMAGE types cannot be used as column types in OPENJSON function with \
                    explicit schema. These types are not supported in WITH clause.";
        Self::new(13614, Ends::Batch, text)
    }

    /// 13618: AS JSON of a column that is not nvarchar(max).
    pub(crate) fn as_json_type() -> Self {
        let text = "AS JSON option can be specified only for column of nvarchar(max) type in WITH clause.";
        Self::new(13618, Ends::Batch, text)
    }

    /// 13619: JSON_MODIFY of the whole document.
    pub(crate) fn json_modify_path() -> Self {
        Self::new(
            13619,
            Ends::Statement,
            "Unsupported JSON path found in argument 2 of JSON_MODIFY.",
        )
    }

    /// 13621: a strict append to what is no array.
    pub(crate) fn json_array_missing() -> Self {
        Self::json(13621, 1, "Array cannot be found in the specified JSON path.")
    }

    /// 13623: JSON_VALUE of a strict path to an object or array.
    pub(crate) fn json_scalar_missing(state: u8) -> Self {
        Self::json(13623, state, "Scalar value cannot be found in the specified JSON path.")
    }

    /// 13624: JSON_QUERY of a strict path to a scalar.
    pub(crate) fn json_container_missing(state: u8) -> Self {
        Self::json(
            13624,
            state,
            "Object or array cannot be found in the specified JSON path.",
        )
    }

    /// 13625: JSON_VALUE of a strict path to a text that is too long.
    pub(crate) fn json_value_truncated() -> Self {
        Self::json(13625, 1, "String value in the specified JSON path would be truncated.")
    }

    /// 13638: a NULL name in JSON_OBJECT.
    pub(crate) fn json_null_name() -> Self {
        let text = "User error : Name parameter value in 'json_object' cannot be null";
        Self::new(13638, Ends::Statement, text)
    }

    /// 8116: an argument of an unsupported type.
    pub(crate) fn json_null_path(function: &str, state: u8) -> Self {
        let text = format!("Argument data type NULL is invalid for argument 2 of {function} function.");
        Self::new(8116, Ends::Batch, text).with_state(state)
    }

    /// 13600: FOR JSON AUTO without a table.
    pub(crate) fn for_json_without_table() -> Self {
        let text = "FOR JSON AUTO requires at least one table for generating JSON objects. Use FOR JSON PATH or add a FROM \
                    clause with a table name.";
        Self::new(13600, Ends::Batch, text)
    }

    /// 13601: two columns of FOR JSON PATH at one place.
    pub(crate) fn for_json_conflict(property: &str) -> Self {
        let text = format!(
            "Property '{property}' cannot be generated in JSON output due to a conflict with another column name or \
             alias. Use different names and aliases for each column in SELECT list."
        );
        Self::new(13601, Ends::Batch, text)
    }

    /// 13602: FOR JSON in a statement that writes the rows.
    pub(crate) fn for_json_not_allowed(statement: &str) -> Self {
        let text = format!("The FOR JSON clause is not allowed in a {statement} statement.");
        Self::new(13602, Ends::Batch, text)
    }

    /// 6819: FOR XML in a statement that writes the rows.
    pub(crate) fn for_xml_not_allowed(statement: &str, state: u8) -> Self {
        let text = format!("The FOR XML clause is not allowed in a {statement} statement.");
        Self::new(6819, Ends::Batch, text).with_state(state)
    }

    /// 13603: a column of FOR JSON PATH whose name has an empty step.
    pub(crate) fn for_json_name(property: &str) -> Self {
        let text = format!(
            "Property '{property}' cannot be generated in JSON output due to invalid character in the column name or \
             alias. Column name or alias that contains '..', starts or ends with '.' is not allowed in query that has FOR \
             JSON clause."
        );
        Self::new(13603, Ends::Batch, text)
    }

    /// 13605: a column of FOR JSON without a name.
    pub(crate) fn for_json_unnamed() -> Self {
        let text = "Column expressions and data sources without names or aliases cannot be formatted as JSON text using FOR \
                    JSON clause. Add alias to the unnamed column or table.";
        Self::new(13605, Ends::Batch, text)
    }

    /// 13620: ROOT with WITHOUT_ARRAY_WRAPPER.
    pub(crate) fn for_json_root_without_wrapper() -> Self {
        let text = "ROOT option and WITHOUT_ARRAY_WRAPPER option cannot be used together in FOR JSON. Remove one of these \
                    options.";
        Self::new(13620, Ends::Batch, text)
    }
}
