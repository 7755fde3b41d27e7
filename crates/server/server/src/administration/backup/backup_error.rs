//! What BACKUP and RESTORE say when they fail.

use std::io;

use selenite::EngineError;
use selenite_backup::{BackupError, StoreError, StoreErrorKind};
use selenite_compiler::{Ends, SqlError};

fn error(number: i32, text: String) -> SqlError {
    SqlError::new(number, Ends::Statement, text)
}

/// 3201.
pub(crate) fn device_not_opened(device: &str, reason: &io::Error) -> SqlError {
    let text = format!(
        "Cannot open backup device '{device}'. Operating system error {}.",
        system(reason)
    );
    error(3201, text)
}

/// `2(No such file or directory)`.
fn system(reason: &io::Error) -> String {
    let words = reason.to_string();
    match reason.raw_os_error() {
        Some(number) => {
            let words = words.split(" (os error").next().unwrap_or_default();
            format!("{number}({words})")
        }
        None => words,
    }
}

/// 3044.
pub(crate) fn no_device_name() -> SqlError {
    let text = "Invalid zero-length device name. Reissue the BACKUP statement with a valid device name.";
    error(3044, text.to_owned())
}

/// 3206.
pub(crate) fn no_logical_device(name: &str) -> SqlError {
    let text = format!(
        "Backup device '{name}' does not exist. To view existing backup devices, use the sys.backup_devices catalog \
         view. To create a new backup device use either sp_addumpdevice or SQL Server Management Studio."
    );
    error(3206, text)
}

/// 3241.
pub(crate) fn no_medium(device: &str) -> SqlError {
    let text = format!(
        "The media family on device '{device}' is incorrectly formed. SQL Server cannot process this media family."
    );
    error(3241, text)
}

/// 3254.
pub(crate) fn empty_medium(device: &str) -> SqlError {
    error(3254, format!("The volume on device '{device}' is empty."))
}

/// 3287.
pub(crate) fn no_such_set(number: usize, device: &str) -> SqlError {
    error(3287, format!("The file ID {number} on device '{device}' is not valid."))
}

/// 4208.
pub(crate) fn simple_recovery() -> SqlError {
    let text = "The statement BACKUP LOG is not allowed while the recovery model is SIMPLE. Use BACKUP DATABASE or change \
                the recovery model using ALTER DATABASE.";
    error(4208, text.to_owned())
}

/// 3021.
pub(crate) fn in_transaction() -> SqlError {
    let text = "Cannot perform a backup or restore operation within a transaction.";
    error(3021, text.to_owned()).with_state(0)
}

/// 3035.
pub(crate) fn no_base(database: &str) -> SqlError {
    let text = format!(
        "Cannot perform a differential backup for database \"{database}\", because a current database backup does not \
         exist. Perform a full database backup by reissuing BACKUP DATABASE, omitting the WITH DIFFERENTIAL option."
    );
    error(3035, text)
}

/// 3101.
pub(crate) fn in_use() -> SqlError {
    let text = "Exclusive access could not be obtained because the database is in use.";
    error(3101, text.to_owned())
}

/// 3102.
pub(crate) fn in_use_by_this_session(database: &str) -> SqlError {
    let text = format!(
        "RESTORE cannot process database '{database}' because it is in use by this session. It is recommended that the \
         master database be used when performing this operation."
    );
    error(3102, text)
}

/// 3154.
pub(crate) fn another_database(database: &str) -> SqlError {
    let text = format!("The backup set holds a backup of a database other than the existing '{database}' database.");
    error(3154, text).with_state(4)
}

/// 911.
pub(crate) fn unknown_database(database: &str) -> SqlError {
    let text = format!("Database '{database}' does not exist. Make sure that the name is entered correctly.");
    error(911, text)
}

/// An error of a place that keeps archives.
pub(crate) fn of_store(device: &str, why: &StoreError) -> SqlError {
    let what = &why.what;
    match why.kind {
        StoreErrorKind::Missing
        | StoreErrorKind::Denied
        | StoreErrorKind::Unreachable
        | StoreErrorKind::Usage
        | StoreErrorKind::Exists
        | StoreErrorKind::Other => error(
            3201,
            format!(
                "Cannot open backup device '{device}'. Operating system error {}.",
                numbered(what)
            ),
        ),
        StoreErrorKind::Full => error(3202, format!("Write on \"{device}\" failed: {}", numbered(what))),
        StoreErrorKind::InvalidResponse => error(3203, format!("Read on \"{device}\" failed: {what}")),
    }
}

/// The system's words with its number before them, as SQL Server has them.
fn numbered(words: &str) -> String {
    let Some((words, number)) = words.rsplit_once(" (os error ") else {
        return words.to_owned();
    };
    format!("{}({words})", number.trim_end_matches(')'))
}

/// An error of the engine.
pub(crate) fn of_engine(device: &str, why: &EngineError) -> SqlError {
    if let EngineError::Backup(BackupError::Store(store)) = why {
        return of_store(device, store);
    }
    if let EngineError::Backup(BackupError::Key { .. }) | EngineError::Key(_) = why {
        // SQL Server names the certificate that it lacks; a server that has none of the keys can't know its name.
        return error(3279, format!("Access is denied: {why}."));
    }
    if let EngineError::NoRoom { .. } = why {
        return error(3257, format!("There is insufficient free space on disk volume: {why}."));
    }
    match why.class() {
        selenite::Class::Busy => in_use(),
        selenite::Class::Data => error(3189, format!("Damage to the backup set was detected: {why}.")),
        selenite::Class::Other
        | selenite::Class::Usage
        | selenite::Class::NotEncrypted
        | selenite::Class::Key
        | selenite::Class::Io
        | selenite::Class::Interrupted => error(
            3271,
            format!("A nonrecoverable I/O error occurred on file \"{device}\": {why}."),
        ),
    }
}
