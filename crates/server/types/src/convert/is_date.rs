//! ISDATE.

use crate::{
    DataType, Value, Width,
    convert::{DateFormat, convert},
};

/// ISDATE of text: whether it converts to datetime with the session's DATEFORMAT.
#[must_use]
pub fn is_date(text: &str, format: DateFormat) -> bool {
    // Blank text converts to datetime, but ISDATE returns 0 for it.
    let from = DataType::VarChar(Width::Max);
    !text.trim_matches(' ').is_empty()
        && convert(&Value::Text(text.into()), &from, &DataType::DateTime, None, format).is_ok()
}
