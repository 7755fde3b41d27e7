//! Installs the VFS, functions and collations in each copy of SQLite that loads this library; the
//! extension's entry point.

use std::ffi::{CStr, c_char, c_int};
use std::io::Write;
use std::sync::OnceLock;

use super::collation::{Collation, add_collations};
use super::connections;
use super::function::{Entry, add_functions};
use super::guard::guard;
use super::module::add_table;
use super::sqlite::{Database, RawApi};
use super::vfs::is_sealing;
use super::{Api, Code, Table};

/// The name of the VFS.
pub const VFS_NAME: &CStr = c"selenite";

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

/// Returns `None` if another copy of the extension, of the same version, serves this SQLite.
fn load(database: *mut Database, error: *mut *mut c_char, routines: *const RawApi) -> Result<Option<Api>, Code> {
    if routines.is_null() {
        // The text of an error must be in memory of SQLite's, and none of its functions is known here.
        let _ = writeln!(std::io::stderr(), "selenite: {NO_ROUTINES}");
        return Err(Code::MISUSE);
    }
    let refuse = |allocate: &dyn Fn() -> *mut c_char| {
        if !error.is_null() {
            // SAFETY: SQLite passes room for one pointer, and frees the string.
            unsafe { error.write(allocate()) };
        }
        Code::ERROR
    };
    // SAFETY: SQLite passes its own routines to an entry point.
    let api = unsafe { Api::from_routines(routines) }.map_err(|unfit| refuse(&|| unfit.allocate_reason()))?;
    let installer = INSTALLER.get().ok_or(Code::MISUSE)?;
    let refuse = |message: String| refuse(&|| api.allocate_text(&message));
    if api.find_vfs(Some(VFS_NAME)).is_some_and(|vfs| !is_sealing(vfs.raw())) {
        return check_other(version(&api, database).as_deref())
            .map(|()| None)
            .map_err(refuse);
    }
    (installer.install)(api).map_err(refuse)?;
    add_functions(database, &api, installer.functions)?;
    add_functions(database, &api, installer.own_functions)?;
    for table in installer.tables {
        add_table(database, &api, table)?;
    }
    add_collations(database, &api, installer.collations)?;
    // After the tables: replacing earlier tables of this connection removes it from the record.
    connections::note(&api, database);
    Ok(Some(api))
}

/// Admits another copy of the extension that was loaded before, from another file, only if it is of
/// this version: a process has one VFS of this name.
fn check_other(version: Option<&str>) -> Result<(), String> {
    let own = env!("CARGO_PKG_VERSION");
    match version {
        Some(version) if version == own => Ok(()),
        Some(version) => Err(format!(
            "two versions of the extension in one process: selenite {version} is loaded, and this is {own}; load one \
             of them only"
        )),
        None => Err(format!(
            "two copies of the extension in one process: another one was loaded after this connection was opened, and \
             this is {own}; load one of them only"
        )),
    }
}

/// The version of the extension that this connection has; `None` if it has none.
fn version(api: &Api, database: *mut Database) -> Option<String> {
    const ROW: c_int = 100;
    let sql = c"SELECT selenite_version()";
    let mut statement = std::ptr::null_mut();
    // SAFETY: SQLite passes an open connection; there is room for one pointer.
    unsafe { (api.prepare_v2)(database, sql.as_ptr(), -1, &raw mut statement, std::ptr::null_mut()) };
    // SAFETY: it was prepared, or is null, which SQLite refuses with a code.
    let is_row = !statement.is_null() && unsafe { (api.step)(statement) } == ROW;
    let text = is_row.then(|| {
        // SAFETY: the statement has a row of one column.
        let text = unsafe { (api.column_text)(statement, 0) };
        // SAFETY: a text ends with a zero byte, and lives until the statement is finalized.
        (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
    });
    // SAFETY: it is null, or was prepared, and is not used afterwards.
    unsafe { (api.finalize)(statement) };
    text.flatten()
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
        let Some(api) = load(database, error, routines)? else {
            return Ok(());
        };
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
    fn only_a_copy_of_the_same_version_is_admitted() {
        let own = env!("CARGO_PKG_VERSION");
        check_other(Some(own)).unwrap();
        let told = check_other(Some("0.0.9")).unwrap_err();
        assert!(
            told.contains("selenite 0.0.9 is loaded, and this is ") && told.contains(own),
            "{told}"
        );
        assert!(check_other(None).unwrap_err().contains("load one of them only"));
    }

    #[test]
    fn an_entry_point_without_routines_is_misuse() {
        let mut error = std::ptr::null_mut();
        let loaded = load(std::ptr::null_mut(), &raw mut error, std::ptr::null());
        assert_eq!(loaded.err(), Some(Code::MISUSE));
        assert!(error.is_null());
    }
}
