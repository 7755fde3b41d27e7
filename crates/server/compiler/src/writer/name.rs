//! Writes names as SQL.

use crate::SqlError;
use crate::catalog::SqliteName;

/// A name in quotation marks.
///
/// Errors: 40510 for a name with a NUL, which would end the SQL.
pub(crate) fn quoted(name: &str) -> Result<String, SqlError> {
    if name.contains('\0') {
        return Err(SqlError::unsupported("A name with the character 0"));
    }
    Ok(format!("\"{}\"", name.replace('"', "\"\"")))
}

/// A name in SQLite with its schema.
///
/// Errors: as [`quoted`].
pub(crate) fn qualified(name: &SqliteName) -> Result<String, SqlError> {
    Ok(format!("{}.{}", quoted(&name.schema)?, quoted(&name.name)?))
}
