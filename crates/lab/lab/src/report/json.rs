//! A summary as JSON, preceded by the version of its model.

use std::fmt;

use crate::summary::{SUMMARY_SCHEMA, Summary};

/// Why a text is not a summary.
#[derive(Debug)]
#[non_exhaustive]
pub enum JsonError {
    /// It is not JSON, or not the JSON of a summary.
    Malformed(serde_json::Error),
    /// It has another version of the model.
    OtherSchema(u64),
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(error) => write!(f, "no summary of a study: {error}"),
            Self::OtherSchema(schema) => {
                write!(
                    f,
                    "a summary of schema {schema}, but this program supports {SUMMARY_SCHEMA}: export it again from its store"
                )
            }
        }
    }
}

impl std::error::Error for JsonError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Malformed(error) => Some(error),
            Self::OtherSchema(_) => None,
        }
    }
}

/// The summary as JSON, indented, with a newline at its end.
///
/// Errors: `Malformed` if a figure is not finite, which JSON cannot represent.
pub fn render(summary: &Summary) -> Result<String, JsonError> {
    let mut text = serde_json::to_string_pretty(summary).map_err(JsonError::Malformed)?;
    text.push('\n');
    Ok(text)
}

/// The summary as JSON in one line.
///
/// Errors: as for [`render`].
pub fn compact(summary: &Summary) -> Result<String, JsonError> {
    serde_json::to_string(summary).map_err(JsonError::Malformed)
}

/// Parses a summary.
///
/// Errors: `OtherSchema` before any other check; `Malformed`.
pub fn parse(text: &str) -> Result<Summary, JsonError> {
    let value: serde_json::Value = serde_json::from_str(text).map_err(JsonError::Malformed)?;
    match value.get("schema").and_then(serde_json::Value::as_u64) {
        Some(schema) if schema != u64::from(SUMMARY_SCHEMA) => return Err(JsonError::OtherSchema(schema)),
        _ => {}
    }
    serde_json::from_value(value).map_err(JsonError::Malformed)
}
