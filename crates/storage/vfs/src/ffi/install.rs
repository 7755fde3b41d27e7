//! Installs the VFS, functions and collations in each copy of SQLite that loads this library; the
//! extension's entry point.

use std::ffi::{c_char, c_int};
use std::io::Write;
use std::sync::OnceLock;

use super::collation::{Collation, add_collations};
use super::connections;
use super::function::{Entry, add_functions};
use super::guard::guard;
use super::module::add_table;
use super::sqlite::{Database, RawApi};
use super::{Api, Code, Table};

/// The components installed in each copy of SQLite that loads this library, and in each of its
/// connections.
pub struct Installer {
    /// Called at least once for every copy, before its first connection is used: registers the VFS.
    pub install: fn(Api) -> Result<(), String>,
    /// The SQL functions.
    pub functions: &'static [Entry],
    /// Additional functions, from crates that build on this one.
    pub own_functions: &'static [Entry],
    /// The table-valued functions.
    pub tables: &'static [Table],
    /// The collations.
    pub collations: &'static [Collation],
}

/// SQLite passes no routines to entry points if it was built without extensions.
const NO_ROUTINES: &str =
    "this SQLite is built with SQLITE_OMIT_LOAD_EXTENSION: link selenite.c, and call selenite_register() of selenite.h";

static INSTALLER: OnceLock<Installer> = OnceLock::new();

fn load(database: *mut Database, error: *mut *mut c_char, routines: *const RawApi) -> Result<Api, Code> {
    if routines.is_null() {
        // The text of an error must be in memory of SQLite's, and none of its functions is known here.
        let _ = writeln!(std::io::stderr(), "selenite: {NO_ROUTINES}");
        return Err(Code::MISUSE);
    }
    // SAFETY: SQLite passes its own routines to an entry point.
    let api = unsafe { Api::from_routines(routines) }.ok_or(Code::MISUSE)?;
    let installer = INSTALLER.get().ok_or(Code::MISUSE)?;
    (installer.install)(api).map_err(|message| {
        if !error.is_null() {
            // SAFETY: SQLite passes room for one pointer, and frees the string.
            unsafe { error.write(api.allocate_text(&message)) };
        }
        Code::ERROR
    })?;
    add_functions(database, &api, installer.functions)?;
    add_functions(database, &api, installer.own_functions)?;
    for table in installer.tables {
        add_table(database, &api, table)?;
    }
    add_collations(database, &api, installer.collations)?;
    // After the tables: replacing earlier tables of this connection removes it from the record.
    connections::note(&api, database);
    Ok(api)
}

/// SQLite calls this for every new connection.
unsafe extern "C" fn every_connection(
    database: *mut Database,
    error: *mut *mut c_char,
    routines: *const RawApi,
) -> c_int {
    guard(|| load(database, error, routines).map(|_| ()))
}

/// The implementation of an extension's entry point: installs for this copy of SQLite, and for all
/// connections that it will open.
///
/// Returns SQLITE_OK_LOAD_PERMANENTLY: the VFS outlives the connection that loaded it.
///
/// # Safety
/// The arguments are those that SQLite passed to an extension's entry point (sqlite.org/loadext.html).
pub unsafe fn entry_point(
    installer: Installer,
    database: *mut Database,
    error: *mut *mut c_char,
    routines: *const RawApi,
) -> c_int {
    const OK_LOAD_PERMANENTLY: c_int = 256;
    let code = guard(|| {
        INSTALLER.get_or_init(|| installer);
        let api = load(database, error, routines)?;
        // SAFETY: SQLite calls back with the arguments of an entry point (sqlite.org/c3ref/auto_extension.html).
        let entry =
            unsafe { std::mem::transmute::<EntryPoint<Database, RawApi>, unsafe extern "C" fn()>(every_connection) };
        // SAFETY: the entry stays loaded, permanently.
        Code::check(unsafe { (api.auto_extension)(Some(entry)) })
    });
    if code == 0 { OK_LOAD_PERMANENTLY } else { code }
}

/// An entry point, with a binding's names for SQLite's two opaque structs.
pub type EntryPoint<D, R> = unsafe extern "C" fn(*mut D, *mut *mut c_char, *const R) -> c_int;

/// A binding's `sqlite3_auto_extension`.
pub type AutoExtension<D, R> = unsafe extern "C" fn(Option<EntryPoint<D, R>>) -> c_int;

unsafe extern "C" fn every_linked_connection<D, R>(
    database: *mut D,
    error: *mut *mut c_char,
    routines: *const R,
) -> c_int {
    // SAFETY: SQLite's own arguments, under another binding's names.
    unsafe { every_connection(database.cast(), error, routines.cast()) }
}

/// Installs for the SQLite that is linked into this program: pass its `sqlite3_auto_extension`. The
/// VFS is registered as soon as a first connection, for example in memory, was opened.
///
/// # Errors
/// Those of `sqlite3_auto_extension`.
pub fn install_linked<D, R>(installer: Installer, auto_extension: AutoExtension<D, R>) -> Result<(), Code> {
    INSTALLER.get_or_init(|| installer);
    // SAFETY: only a binding's sqlite3_auto_extension has this type.
    Code::check(unsafe { auto_extension(Some(every_linked_connection::<D, R>)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_point_without_routines_is_misuse() {
        let mut error = std::ptr::null_mut();
        let loaded = load(std::ptr::null_mut(), &raw mut error, std::ptr::null());
        assert_eq!(loaded.err(), Some(Code::MISUSE));
        assert!(error.is_null());
    }
}
