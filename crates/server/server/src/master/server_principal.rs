//! What logins and roles of the server have in common.
//!
//! `one-space-of-names`: they have different names, numbers and security ids.

use rusqlite::{Connection, OptionalExtension};

use super::{MasterError, folded};

/// `one-space-of-names`.
pub(super) fn check_free(connection: &Connection, name: &str, sid: &[u8]) -> Result<(), MasterError> {
    let sql = "SELECT 1 FROM (SELECT folded, sid FROM selenite_login UNION ALL SELECT folded, sid FROM selenite_server_role) \
               WHERE folded = ?1 OR sid = ?2";
    match connection.query_row(sql, (folded(name), sid), |_| Ok(())).optional()? {
        Some(()) => Err(MasterError::Taken(name.to_owned())),
        None => Ok(()),
    }
}

pub(super) fn check_name(name: &str) -> Result<(), MasterError> {
    let is_short = (1..=UNIT_COUNT_MAX).contains(&name.encode_utf16().count());
    // A backslash makes it a name of Windows, for which SQL Server reserves those names.
    if is_short && !name.contains(|character: char| character == '\\' || character.is_control()) {
        return Ok(());
    }
    Err(MasterError::Name(name.to_owned()))
}

/// A login or role is gone.
pub(super) fn forget_principal(connection: &Connection, sid: &[u8]) -> Result<(), MasterError> {
    connection.execute("DELETE FROM selenite_server_member WHERE member = ?1", [sid])?;
    connection.execute(
        "DELETE FROM selenite_server_permission WHERE grantee = ?1 OR on_login = ?1",
        [sid],
    )?;
    Ok(())
}

/// sysname.
const UNIT_COUNT_MAX: usize = 128;
/// The number of a new login or role of the server, which none had before: a session or a membership may still have
/// that of one that is gone. SQL Server's begin after its own roles and principals.
pub(super) fn next_id(connection: &Connection) -> Result<i64, MasterError> {
    let sql = "SELECT max(256, max(id) + 1) FROM (SELECT id FROM selenite_login UNION ALL \
               SELECT id FROM selenite_server_role UNION ALL SELECT id FROM selenite_last_principal)";
    let id = connection.query_row(sql, [], |row| row.get(0))?;
    connection.execute("DELETE FROM selenite_last_principal", [])?;
    connection.execute("INSERT INTO selenite_last_principal (id) VALUES (?1)", [id])?;
    Ok(id)
}
