//! SQLite's functions as a value: one per copy of SQLite in the process.

use std::ffi::{CStr, CString, c_char, c_int, c_void};

use super::sqlite::{Database, RawApi, RawContext, RawStatement, RawValue, RawVfs};
use super::{Code, LowerVfs, Name};

type Destructor = Option<unsafe extern "C" fn(*mut c_void)>;
type Function = Option<unsafe extern "C" fn(*mut RawContext, c_int, *mut *mut RawValue)>;
type Step = Function;
type Compare = Option<unsafe extern "C" fn(*mut c_void, c_int, *const c_void, c_int, *const c_void) -> c_int>;
type Final = Option<unsafe extern "C" fn(*mut RawContext)>;

macro_rules! api {
    ($($(#[$doc:meta])* $index:literal $name:ident: $type:ty,)*) => {
        /// The functions of one copy of SQLite that this crate calls.
        ///
        /// A value and not a set of linked symbols: the extension uses its host's, the engine its
        /// own, and a process may contain several (Python's `sqlite3` and apsw).
        #[derive(Clone, Copy)]
        pub struct Api {
            identity: usize,
            version: c_int,
            /// Exists since 3.41.
            pub(super) is_interrupted: Option<unsafe extern "C" fn(*mut Database) -> c_int>,
            $($(#[$doc])* pub(super) $name: $type,)*
        }

        impl Api {
            /// Takes the functions from the table that SQLite passes to an extension.
            ///
            /// # Errors
            /// A SQLite older than 3.40, the oldest supported version, or one without such a function.
            ///
            /// # Safety
            /// `routines` is the pointer that SQLite passed to an extension's entry point.
            pub(super) unsafe fn from_routines(routines: *const RawApi) -> Result<Self, UnfitSqlite> {
                let table = routines.cast::<*const c_void>();
                // SAFETY: the caller's promise.
                let sqlite = unsafe { UnfitSqlite::from_routines(routines) };
                let version = sqlite.version;
                if version < OLDEST {
                    return Err(sqlite);
                }
                Ok(Self {
                    identity: routines.addr(),
                    version,
                    is_interrupted: if version >= 3_041_000 {
                        // SAFETY: `int (*is_interrupted)(sqlite3*)` is at index 266 since 3.41
                        // (sqlite3ext.h).
                        unsafe { *table.add(266).cast() }
                    } else {
                        None
                    },
                    $($name: {
                        // SAFETY: entries are only ever added to the table, and 3.40 has more than
                        // 264 entries (sqlite3ext.h).
                        let entry = unsafe { *table.add($index) };
                        if entry.is_null() {
                            return Err(sqlite);
                        }
                        // SAFETY: the entry at this index has this type (sqlite3ext.h); a test compares each with
                        // the linked library's own function.
                        unsafe { std::mem::transmute::<*const c_void, $type>(entry) }
                    },)*
                })
            }
        }
    };
}

api! {
    36 column_text: unsafe extern "C" fn(*mut RawStatement, c_int) -> *const c_char,
    50 declare_vtab: unsafe extern "C" fn(*mut Database, *const c_char) -> c_int,
    53 errmsg: unsafe extern "C" fn(*mut Database) -> *const c_char,
    57 finalize: unsafe extern "C" fn(*mut RawStatement) -> c_int,
    58 free: unsafe extern "C" fn(*mut c_void),
    79 result_double: unsafe extern "C" fn(*mut RawContext, f64),
    80 result_error: unsafe extern "C" fn(*mut RawContext, *const c_char, c_int),
    83 result_int64: unsafe extern "C" fn(*mut RawContext, i64),
    84 result_null: unsafe extern "C" fn(*mut RawContext),
    85 result_text: unsafe extern "C" fn(*mut RawContext, *const c_char, c_int, Destructor),
    94 step: unsafe extern "C" fn(*mut RawStatement) -> c_int,
    101 user_data: unsafe extern "C" fn(*mut RawContext) -> *mut c_void,
    103 value_bytes: unsafe extern "C" fn(*mut RawValue) -> c_int,
    107 value_int64: unsafe extern "C" fn(*mut RawValue) -> i64,
    109 value_text: unsafe extern "C" fn(*mut RawValue) -> *const c_char,
    113 value_type: unsafe extern "C" fn(*mut RawValue) -> c_int,
    116 prepare_v2: unsafe extern "C" fn(*mut Database, *const c_char, c_int, *mut *mut RawStatement, *mut *const c_char) -> c_int,
    119 create_module_v2: unsafe extern "C" fn(*mut Database, *const c_char, *const c_void, *mut c_void, Destructor) -> c_int,
    126 create_collation_v2: unsafe extern "C" fn(*mut Database, *const c_char, c_int, *mut c_void, Compare, Destructor) -> c_int,
    127 file_control: unsafe extern "C" fn(*mut Database, *const c_char, c_int, *mut c_void) -> c_int,
    141 vfs_find: unsafe extern "C" fn(*const c_char) -> *mut RawVfs,
    142 vfs_register: unsafe extern "C" fn(*mut RawVfs, c_int) -> c_int,
    149 context_db_handle: unsafe extern "C" fn(*mut RawContext) -> *mut Database,
    162 create_function_v2: unsafe extern "C" fn(*mut Database, *const c_char, c_int, c_int, *mut c_void, Function, Step, Final, Destructor) -> c_int,
    165 db_status: unsafe extern "C" fn(*mut Database, c_int, *mut c_int, *mut c_int, c_int) -> c_int,
    167 log: unsafe extern "C" fn(c_int, *const c_char, ...),
    177 vtab_config: unsafe extern "C" fn(*mut Database, c_int, ...) -> c_int,
    180 db_filename: unsafe extern "C" fn(*mut Database, *const c_char) -> *const c_char,
    189 uri_parameter: unsafe extern "C" fn(*const c_char, *const c_char) -> *const c_char,
    192 auto_extension: unsafe extern "C" fn(Option<unsafe extern "C" fn()>) -> c_int,
    197 malloc64: unsafe extern "C" fn(u64) -> *mut c_void,
    245 uri_key: unsafe extern "C" fn(*const c_char, c_int) -> *const c_char,
    246 filename_database: unsafe extern "C" fn(*const c_char) -> *const c_char,
    248 filename_wal: unsafe extern "C" fn(*const c_char) -> *const c_char,
    252 txn_state: unsafe extern "C" fn(*mut Database, *const c_char) -> c_int,
    264 db_name: unsafe extern "C" fn(*mut Database, c_int) -> *const c_char,
}

// SAFETY: the functions are SQLite's; those called here may be called from any thread.
unsafe impl Send for Api {}
// SAFETY: as above.
unsafe impl Sync for Api {}

impl Api {
    /// Identifies the copy of SQLite.
    #[must_use]
    pub fn identity(&self) -> usize {
        self.identity
    }

    /// SQLite's version, as `sqlite3_libversion_number` returns it: 3040001 is 3.40.1.
    #[must_use]
    pub fn version(&self) -> c_int {
        self.version
    }

    /// The VFS of that name, or the default one.
    #[must_use]
    pub fn find_vfs(&self, name: Option<&CStr>) -> Option<LowerVfs> {
        let name = name.map_or(std::ptr::null(), CStr::as_ptr);
        // SAFETY: `name` is null or ends with a zero byte.
        let found = unsafe { (self.vfs_find)(name) };
        LowerVfs::new(found)
    }

    /// Writes a line to SQLite's error log (sqlite.org/errlog.html): never a secret or a value from
    /// the database.
    pub fn write_log(&self, code: c_int, message: &str) {
        let text: Vec<u8> = message.bytes().filter(|&byte| byte != 0).collect();
        if let Ok(text) = CString::new(text) {
            // SAFETY: the format takes one string, and the string passed ends with a zero byte.
            unsafe { (self.log)(code, c"%s".as_ptr(), text.as_ptr()) };
        }
    }

    /// Copies a text into memory that SQLite frees; null if there is not enough memory.
    pub(super) fn allocate_text(&self, text: &str) -> *mut c_char {
        // SAFETY: any size may be requested.
        allocate_text(text, |size| unsafe { (self.malloc64)(size) })
    }

    /// The name of the database file to which a journal or WAL belongs.
    pub(super) fn database_name<'a>(&self, name: &Name<'a>) -> Name<'a> {
        // SAFETY: `name` came from SQLite's own xOpen of a journal or WAL (sqlite.org/c3ref/filename_database.html).
        let database = unsafe { (self.filename_database)(name.as_ptr()) };
        Name::from_raw(database, *self).unwrap_or_else(|| name.same())
    }

    /// The name of the log of a database.
    pub(super) fn log_name<'a>(&self, name: &Name<'a>) -> Option<Name<'a>> {
        // SAFETY: `name` came from SQLite's own xOpen of a database (sqlite.org/c3ref/filename_database.html).
        let log = unsafe { (self.filename_wal)(name.as_ptr()) };
        Name::from_raw(log, *self)
    }

    /// Registers this VFS, and makes it the default if `default` is set.
    pub(super) fn register_vfs(&self, vfs: *mut RawVfs, default: bool) -> Result<(), Code> {
        // SAFETY: `vfs` was filled by `vfs::register` and is never freed.
        Code::check(unsafe { (self.vfs_register)(vfs, c_int::from(default)) })
    }
}

/// A SQLite that the extension cannot work with: the few functions that every one of them has.
pub(super) struct UnfitSqlite {
    version: c_int,
    name: Option<extern "C" fn() -> *const c_char>,
    malloc: Option<unsafe extern "C" fn(c_int) -> *mut c_void>,
}

impl UnfitSqlite {
    /// # Safety
    /// `routines` is the pointer that SQLite passed to an extension's entry point.
    unsafe fn from_routines(routines: *const RawApi) -> Self {
        // SAFETY: the caller's promise; the table has entries 66 to 68 since 3.3 (sqlite3ext.h).
        let entries = unsafe { routines.cast::<*const c_void>().add(66) };
        // SAFETY: as above.
        let [name, version, malloc] = unsafe { *entries.cast::<[*const c_void; 3]>() };
        // SAFETY: index 66 is `const char *(*libversion)(void)`, or null.
        let name = unsafe { std::mem::transmute::<*const c_void, Option<extern "C" fn() -> *const c_char>>(name) };
        // SAFETY: index 67 is `int (*libversion_number)(void)`, or null.
        let version = unsafe { std::mem::transmute::<*const c_void, Option<extern "C" fn() -> c_int>>(version) };
        // SAFETY: index 68 is `void *(*malloc)(int)`, or null.
        let malloc =
            unsafe { std::mem::transmute::<*const c_void, Option<unsafe extern "C" fn(c_int) -> *mut c_void>>(malloc) };
        Self {
            version: version.map_or(0, |version| version()),
            name,
            malloc,
        }
    }

    /// Why the extension is not loaded, in memory that SQLite frees; null if there is not enough.
    pub(super) fn allocate_reason(&self) -> *mut c_char {
        let own = env!("CARGO_PKG_VERSION");
        let name = match self.name {
            // SAFETY: the version is a constant text that ends with a zero byte.
            Some(name) => unsafe { CStr::from_ptr(name()) }.to_string_lossy(),
            None => "of unknown version".into(),
        };
        let text = match self.version < OLDEST {
            true => format!("SQLite {name} is too old: selenite {own} needs SQLite 3.40 or later"),
            false => format!("SQLite {name} was compiled without functions that selenite {own} needs"),
        };
        let Some(malloc) = self.malloc else {
            return std::ptr::null_mut();
        };
        // SAFETY: any size may be requested.
        allocate_text(&text, |size| unsafe {
            malloc(c_int::try_from(size).unwrap_or(c_int::MAX))
        })
    }
}

/// Copies a text into memory of SQLite's; null if there is not enough.
fn allocate_text(text: &str, allocate: impl FnOnce(u64) -> *mut c_void) -> *mut c_char {
    let bytes: Vec<u8> = text.bytes().filter(|&byte| byte != 0).collect();
    let size = u64::try_from(bytes.len()).map_or(u64::MAX, |size| size.saturating_add(1));
    let memory = allocate(size).cast::<u8>();
    if memory.is_null() {
        return std::ptr::null_mut();
    }
    // SAFETY: `memory` has room for the bytes and one more.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), memory, bytes.len()) };
    // SAFETY: within the memory: that one more.
    let end = unsafe { memory.add(bytes.len()) };
    // SAFETY: as above.
    unsafe { end.write(0) };
    memory.cast()
}

/// 3.40, as `sqlite3_libversion_number` returns it.
const OLDEST: c_int = 3_040_000;

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicPtr, Ordering};

    use rusqlite::ffi as linked;

    use super::*;

    static ROUTINES: AtomicPtr<RawApi> = AtomicPtr::new(std::ptr::null_mut());

    unsafe extern "C" fn catch(
        _database: *mut linked::sqlite3,
        _error: *mut *mut c_char,
        routines: *const linked::sqlite3_api_routines,
    ) -> c_int {
        ROUTINES.store(routines.cast_mut().cast(), Ordering::SeqCst);
        0
    }

    /// sqlite3ext.h fixes the order of the routines; the test compares it with the linked library.
    #[test]
    fn every_function_is_the_one_of_its_name() {
        // SAFETY: `catch` has the type of an entry point.
        let code = unsafe { linked::sqlite3_auto_extension(Some(catch)) };
        assert_eq!(code, 0);
        drop(rusqlite::Connection::open_in_memory().unwrap());
        // SAFETY: this is the pointer that SQLite passed to an entry point.
        let api = unsafe { Api::from_routines(ROUTINES.load(Ordering::SeqCst)) }
            .ok()
            .unwrap();
        macro_rules! compare {
            ($($field:ident = $function:ident,)*) => {
                $(
                    assert_eq!(api.$field as *const c_void, linked::$function as *const c_void, stringify!($field));
                    // The table that programs in C pass has it, too.
                    let entry = concat!("  .", stringify!($field), " = ");
                    assert!(FOR_C.contains(entry), "packages/c/selenite.c has no{entry}");
                )*
            };
        }
        compare! {
            column_text = sqlite3_column_text,
            declare_vtab = sqlite3_declare_vtab,
            errmsg = sqlite3_errmsg,
            finalize = sqlite3_finalize,
            free = sqlite3_free,
            result_double = sqlite3_result_double,
            result_error = sqlite3_result_error,
            result_int64 = sqlite3_result_int64,
            result_null = sqlite3_result_null,
            result_text = sqlite3_result_text,
            step = sqlite3_step,
            user_data = sqlite3_user_data,
            value_bytes = sqlite3_value_bytes,
            value_int64 = sqlite3_value_int64,
            value_text = sqlite3_value_text,
            value_type = sqlite3_value_type,
            prepare_v2 = sqlite3_prepare_v2,
            create_module_v2 = sqlite3_create_module_v2,
            create_collation_v2 = sqlite3_create_collation_v2,
            file_control = sqlite3_file_control,
            vfs_find = sqlite3_vfs_find,
            vfs_register = sqlite3_vfs_register,
            context_db_handle = sqlite3_context_db_handle,
            create_function_v2 = sqlite3_create_function_v2,
            db_status = sqlite3_db_status,
            log = sqlite3_log,
            vtab_config = sqlite3_vtab_config,
            db_filename = sqlite3_db_filename,
            uri_parameter = sqlite3_uri_parameter,
            auto_extension = sqlite3_auto_extension,
            malloc64 = sqlite3_malloc64,
            uri_key = sqlite3_uri_key,
            filename_database = sqlite3_filename_database,
            filename_wal = sqlite3_filename_wal,
            txn_state = sqlite3_txn_state,
            db_name = sqlite3_db_name,
        }
        let is_interrupted = api.is_interrupted.unwrap();
        assert_eq!(
            is_interrupted as *const c_void,
            linked::sqlite3_is_interrupted as *const c_void
        );
    }

    const FOR_C: &str = include_str!("../../../../../packages/c/selenite.c");

    extern "C" fn old_version() -> *const c_char {
        c"3.39.4".as_ptr()
    }

    extern "C" fn old_version_number() -> c_int {
        3_039_004
    }

    fn reason(table: &[*const c_void]) -> String {
        // SAFETY: the table has the entries that are read of such a SQLite.
        let refused = unsafe { Api::from_routines(table.as_ptr().cast()) }.err().unwrap();
        let text = refused.allocate_reason();
        // SAFETY: the linked SQLite's own memory, which is not used afterwards.
        let owned = unsafe { CStr::from_ptr(text) }.to_str().unwrap().to_owned();
        // SAFETY: as above.
        unsafe { linked::sqlite3_free(text.cast()) };
        owned
    }

    #[test]
    fn a_sqlite_that_is_too_old_is_refused_by_its_version() {
        let mut table = vec![std::ptr::null(); 300];
        table[66] = old_version as *const c_void;
        table[67] = old_version_number as *const c_void;
        table[68] = linked::sqlite3_malloc as *const c_void;
        let own = env!("CARGO_PKG_VERSION");
        assert_eq!(
            reason(&table),
            format!("SQLite 3.39.4 is too old: selenite {own} needs SQLite 3.40 or later")
        );
        table[67] = linked::sqlite3_libversion_number as *const c_void;
        assert!(
            reason(&table).contains("was compiled without functions"),
            "{}",
            reason(&table)
        );
        table[66..=68].fill(std::ptr::null());
        // SAFETY: the table has the entries that are read, all of them null.
        let refused = unsafe { Api::from_routines(table.as_ptr().cast()) }.err().unwrap();
        assert!(refused.allocate_reason().is_null());
    }
}
