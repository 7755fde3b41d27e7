//! The errors of what is not permitted.

use selenite_compiler::{Ends, SqlError, written_object};
use selenite_tsql::ast::ObjectName;

/// 916: a database that a login has no user in.
pub fn no_access(login: &str, database: &str) -> SqlError {
    let text = format!(
        "The server principal \"{login}\" is not able to access the database \"{database}\" under the current security context."
    );
    SqlError::new(916, Ends::Batch, text).with_severity(14)
}

/// 3704: a module that may not be altered.
pub fn check_altered(what: &str, name: &ObjectName, may: bool) -> Result<(), SqlError> {
    if may {
        return Ok(());
    }
    let text = format!(
        "User does not have permission to perform this operation on {what} '{}'.",
        name.name.text
    );
    Err(error(3704, text))
}

pub fn error(number: i32, text: impl Into<String>) -> SqlError {
    SqlError::new(number, Ends::Statement, text)
}

/// 229: something that may not be done with an object.
pub fn denied_on(permission: &str, [database, schema, object]: [&str; 3]) -> SqlError {
    let text = format!(
        "The {permission} permission was denied on the object '{object}', database '{database}', schema '{schema}'."
    );
    error(229, text).with_severity(14).with_state(5)
}

/// 230: something that may not be done with a column.
pub fn denied_on_column(permission: &str, column: &str, [database, schema, object]: [&str; 3]) -> SqlError {
    let text = format!(
        "The {permission} permission was denied on the column '{column}' of the object '{object}', database '{database}', \
         schema '{schema}'."
    );
    error(230, text).with_severity(14)
}

/// 262.
pub fn denied_in(permission: &str, database: &str) -> SqlError {
    let text = format!("{permission} permission denied in database '{database}'.");
    error(262, text).with_severity(14)
}

/// 15247.
pub fn no_action() -> SqlError {
    error(
        15247,
        "User does not have permission to perform this action.".to_owned(),
    )
}

/// 1088.
pub fn no_object(name: &str, state: u8) -> SqlError {
    let text = format!("Cannot find the object \"{name}\" because it does not exist or you do not have permissions.");
    error(1088, text).with_state(state)
}

pub fn no_object_unless(is_own: bool, name: &ObjectName, state: u8) -> Result<(), SqlError> {
    match is_own {
        true => Ok(()),
        false => Err(no_object(&written_object(name), state)),
    }
}

/// 3701.
pub fn no_drop(kind: &str, name: &str) -> SqlError {
    let text = format!("Cannot drop the {kind} '{name}', because it does not exist or you do not have permission.");
    error(3701, text).with_severity(14).with_state(20)
}
