//! ISDATE.

use crate::{
    DataType, Value, Width,
    convert::{DateFormat, convert},
};

/// ISDATE of text: whether it is a datetime, by the session's DATEFORMAT.
#[must_use]
pub fn is_date(text: &str, format: DateFormat) -> bool {
    // Blanks alone are a datetime, but no date.
    let from = DataType::VarChar(Width::Max);
    !text.trim_matches(' ').is_empty()
        && convert(&Value::Text(text.into()), &from, &DataType::DateTime, None, format).is_ok()
}
