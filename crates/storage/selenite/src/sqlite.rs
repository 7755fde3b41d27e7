//! The SQLite that is linked into this program, with the VFS `selenite`.

use std::sync::OnceLock;

use crate::error::{Class, EngineError};

/// Registers the VFS `selenite` with the linked SQLite, once. Every operation calls it.
///
/// # Errors
/// [`EngineError::Sqlite`] if SQLite rejects it, which does not happen.
pub fn install() -> Result<(), EngineError> {
    static INSTALLED: OnceLock<Result<(), String>> = OnceLock::new();
    INSTALLED
        .get_or_init(try_install)
        .clone()
        .map_err(|what| EngineError::Sqlite {
            class: Class::Other,
            what,
            next: "report this".to_owned(),
        })
}

/// Counts the memory of the linked SQLite for each thread ([`selenite_vfs::thread_memory`]). Must
/// be called before anything else uses SQLite.
///
/// # Errors
/// [`EngineError::Sqlite`] if SQLite is in use already.
pub fn count_memory() -> Result<(), EngineError> {
    static COUNTED: OnceLock<Result<(), String>> = OnceLock::new();
    COUNTED
        .get_or_init(|| {
            selenite_vfs::ffi::count_sqlite(libsqlite3_sys::sqlite3_config).map_err(|code| code.to_string())
        })
        .clone()
        .map_err(|what| EngineError::Sqlite {
            class: Class::Other,
            what,
            next: "report this".to_owned(),
        })
}

fn try_install() -> Result<(), String> {
    selenite_vfs::ffi::install_linked(selenite_vfs::installer(), libsqlite3_sys::sqlite3_auto_extension)
        .map_err(|code| code.to_string())?;
    // The VFS is registered when the first connection is opened.
    rusqlite::Connection::open_in_memory()
        .map(drop)
        .map_err(|error| error.to_string())
}
