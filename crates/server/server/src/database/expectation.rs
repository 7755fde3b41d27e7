//! What a database's file has to be when it is opened: the one that master.db knows.
//!
//! - `clear-until-switched-on`: as long as encryption was not switched on completely, a file in
//!   clear is opened, too, since encryption is switched on within the file. After that the whole
//!   file has to be encrypted, whatever file has its path.
//! - `expected-id`: a file with another database's id is not opened, under whatever key it is. A
//!   file made by another program has no id, and is opened.
//! - `expected-commitment`: nor is a file opened under another master key than the one that was
//!   noted. Only a holder of that key can make a file that has it. A file whose master key was
//!   renewed by the command line is accepted by an administrator (`sp_accept_database`).
//! - `checked-at-each-opening`: master.db is read at each opening. A session that has a database
//!   open has checked it, and the VFS does not let it become another.

use std::sync::Arc;

use rusqlite::{Connection, ErrorCode};
use selenite::{Access, Expected, Suite, take_refusal};
use selenite_compiler::{Ends, SqlError};
use selenite_runtime::sqlite::damaged_page;

use crate::Instance;
use crate::database_error::damaged_page::log_damage;
use crate::database_error::{of_master, too_many_files};
use crate::master::{DatabaseRecord, MASTER, TEMPDB};
use crate::temporary_database::TemporaryDatabase;

/// How a database's file is opened.
///
/// # Errors
/// The error of master.db.
pub fn access_to(instance: &Instance, database_id: i32) -> Result<Access, SqlError> {
    if database_id == TEMPDB {
        return Ok(tempdb(instance)?.access().clone());
    }
    let known = instance.master().file(database_id).map_err(|fault| of_master(&fault))?;
    if database_id == MASTER {
        return Ok(instance.master().access(instance.access()));
    }
    let known = known.as_ref();
    let expected = Expected {
        database_id: known.and_then(|known| known.file_id),
        commitment: known.and_then(|known| known.commitment),
        is_encrypted: known.is_some_and(|known| known.must_be_encrypted),
    };
    Ok(Access {
        expected,
        ..plain_access(instance.access())
    })
}

/// The file of tempdb.
///
/// # Errors
/// 945, and the reason in the log.
pub fn tempdb(instance: &Instance) -> Result<Arc<TemporaryDatabase>, SqlError> {
    let made = instance.temporary_database();
    made.map_err(|error| inaccessible(instance, "tempdb", &error.to_string()))
}

/// Refuses a database in a suite that is deprecated, unless an administrator's statement chose it.
///
/// # Errors
/// 945, and the reason in the log.
pub fn check_suite(instance: &Instance, record: &DatabaseRecord, connection: &Connection) -> Result<(), SqlError> {
    let known = instance.master().file(record.id).map_err(|fault| of_master(&fault))?;
    if known.is_some_and(|known| known.allows_deprecated) {
        return Ok(());
    }
    let sql = "SELECT value FROM selenite_status WHERE section = 'epoch'";
    let suites = connection.prepare(sql).and_then(|mut asked| {
        let told = asked.query_map([], |row| row.get::<_, String>(0))?;
        told.collect::<Result<Vec<_>, _>>()
    });
    let suites = suites.map_err(|error| not_opened(instance, record, &error))?;
    let mut suites = suites
        .iter()
        .filter_map(|told| Suite::from_name(told.split(' ').next()?));
    let Some(suite) = suites.find(|suite| suite.is_deprecated()) else {
        return Ok(());
    };
    let why = format!(
        "it is encrypted with {}, which no statement of this server chose",
        suite.name()
    );
    Err(inaccessible(instance, &record.name, &why))
}

/// Access to a file of which nothing is expected yet: unencrypted or in a deprecated suite, it opens too.
pub fn plain_access(access: &Access) -> Access {
    Access {
        allow_plain: true,
        allow_deprecated: true,
        ..access.clone()
    }
}

/// Opens a database's file by `open`; once more if what is expected of it has changed meanwhile.
///
/// # Errors
/// 945, and the reason in the log; 824 for a page of it; 4060 where other processes keep it locked, or the process has
/// too many files open.
pub fn open_expected<R>(
    instance: &Instance,
    record: &DatabaseRecord,
    open: impl Fn(&Access) -> rusqlite::Result<R>,
) -> Result<R, SqlError> {
    let access = access_to(instance, record.id)?;
    // An earlier refusal is not the reason for this one.
    drop(take_refusal());
    let opened = match open(&access) {
        Ok(opened) => return Ok(opened),
        Err(error) => {
            let now = access_to(instance, record.id)?;
            if now.expected == access.expected {
                Err(error)
            } else {
                open(&now)
            }
        }
    };
    opened.map_err(|error| not_opened(instance, record, &error))
}

fn not_opened(instance: &Instance, record: &DatabaseRecord, error: &rusqlite::Error) -> SqlError {
    let name = &record.name;
    if let Some(damaged) = damaged_page(error) {
        log_damage(instance, &damaged);
        return damaged;
    }
    if let Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::OperationInterrupted) =
        error.sqlite_error_code()
    {
        let text = format!("Cannot open database \"{name}\": {error}.");
        return SqlError::new(4060, Ends::Batch, text).with_severity(11);
    }
    if error.sqlite_error_code() == Some(ErrorCode::CannotOpen) && !instance.descriptors().has_room() {
        return too_many_files(name);
    }
    let why = take_refusal().map_or_else(|| error.to_string(), |refusal| refusal.text);
    inaccessible(instance, name, &why)
}

/// 945: a database that cannot be opened.
///
/// The log gets the reason.
fn inaccessible(instance: &Instance, name: &str, why: &str) -> SqlError {
    instance
        .log()
        .line(&format!("Database '{name}' cannot be opened: {why}."));
    let text = format!(
        "Database '{name}' cannot be opened due to inaccessible files or insufficient memory or disk space.  See the SQL \
         Server errorlog for details."
    );
    SqlError::new(945, Ends::Batch, text).with_severity(14).with_state(2)
}
