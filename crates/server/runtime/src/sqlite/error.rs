//! Translates SQLite's errors to T-SQL errors.

use rusqlite::ErrorCode;
use selenite_compiler::{Ends, SqlError};

use super::damaged_page::damaged_page;

/// The failure of a change.
#[derive(Clone, Debug)]
pub enum ChangeError {
    /// A T-SQL error: of a registered function, of the row sink, or translated from SQLite's.
    Failed(SqlError),
    /// A violated constraint: SQLite's message.
    Constraint(String),
}

impl ChangeError {
    /// The error where no constraint can be violated.
    #[must_use]
    pub fn unexpected(self) -> SqlError {
        match self {
            Self::Failed(error) => error,
            Self::Constraint(message) => SqlError::internal(&message),
        }
    }
}

impl From<SqlError> for ChangeError {
    fn from(error: SqlError) -> Self {
        Self::Failed(error)
    }
}

/// Whether another process holds a lock that the statement needs.
pub fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
    )
}

/// Translates an error of SQLite that no registered function caused.
pub fn change_error(error: &rusqlite::Error) -> ChangeError {
    if let rusqlite::Error::SqliteFailure(failure, message) = error
        && failure.code == ErrorCode::ConstraintViolation
    {
        return ChangeError::Constraint(message.clone().unwrap_or_default());
    }
    ChangeError::Failed(tsql_error(error))
}

/// Translates an error where no constraint can be violated.
pub fn tsql_error(error: &rusqlite::Error) -> SqlError {
    if let Some(damaged) = damaged_page(error) {
        return damaged;
    }
    let code = error.sqlite_error_code();
    match code {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => lock_timeout(),
        Some(ErrorCode::OutOfMemory) => SqlError::out_of_memory(),
        Some(ErrorCode::DiskFull) => {
            let text = "Could not allocate space in the database because its disk is full.";
            // 1105: a full disk.
            SqlError::new(1105, Ends::Statement, text)
                .with_severity(17)
                .with_state(2)
        }
        // 3906: a database that is read-only.
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => SqlError::new(
            3906,
            Ends::Statement,
            format!("Failed to update the database because it is read-only ({error})."),
        ),
        Some(_) | None => {
            // The rest of SQLite's message contains its SQL, the file's path and the identity that opens it: the client
            // must not see them.
            let failure = if let rusqlite::Error::SqlInputError { error, .. } = error {
                Some(error)
            } else {
                error.sqlite_error()
            };
            if matches!(error, rusqlite::Error::SqlInputError { msg, .. } | rusqlite::Error::SqliteFailure(_, Some(msg)) if is_too_large(msg))
            {
                return SqlError::no_plan();
            }
            let said = match failure {
                Some(failure) => format!(
                    "{} (code {})",
                    failure.to_string().to_lowercase(),
                    failure.extended_code
                ),
                None => "an unexpected answer of the file".to_owned(),
            };
            let text = format!("The storage engine could not carry out the statement: {said}.");
            SqlError::new(50823, Ends::Statement, text)
        }
    }
}

/// Whether SQLite reports that a statement exceeds one of its limits (sqlite.org/limits.html).
fn is_too_large(said: &str) -> bool {
    const LIMITS: [&str; 8] = [
        "nested too deep",
        "tables in a join",
        "too many references to",
        "too many FROM clause terms",
        "Expression tree is too large",
        "too many columns in",
        "too many terms in compound SELECT",
        "parser stack overflow",
    ];
    LIMITS.iter().any(|limit| said.contains(limit))
}

/// 1222: LOCK_TIMEOUT has expired.
pub fn lock_timeout() -> SqlError {
    SqlError::new(1222, Ends::Statement, "Lock request time out period exceeded.").with_state(51)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_a_file_that_can_not_be_opened_does_not_show_its_path() {
        let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY | rusqlite::OpenFlags::SQLITE_OPEN_URI;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secret-name.db");
        let uri = format!("file:{}?mode=ro", path.display());
        let error = rusqlite::Connection::open_with_flags(uri, flags).unwrap_err();
        assert!(error.to_string().contains("secret-name"), "{error}");
        let told = tsql_error(&error);
        assert_eq!(told.number(), 50823);
        assert!(
            !told.text().contains("secret-name") && told.text().contains("open"),
            "{}",
            told.text()
        );
    }
}
