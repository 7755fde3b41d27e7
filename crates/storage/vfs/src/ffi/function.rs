//! SQL functions, and access to the file behind a connection's database.

use std::any::Any;
use std::ffi::{CStr, c_int, c_void};
use std::slice;
use std::sync::OnceLock;

use super::guard::guard_or;
use super::sqlite::{Database, FCNTL_VISIT, RawContext, RawFile, RawValue};
use super::{Api, Code, Name};

/// The result of an SQL function.
#[derive(Clone, PartialEq, Debug)]
#[expect(missing_docs, reason = "SQLite's own types")]
pub enum Value {
    Null,
    Integer(i64),
    Real(f64),
    Text(String),
}

/// One SQL function.
#[derive(Clone, Copy)]
pub struct Entry {
    /// The SQL name.
    pub name: &'static CStr,
    /// The number of arguments; -1 for any number.
    pub arguments: c_int,
    /// The implementation; the text of an error becomes the statement's error message.
    pub body: fn(&FunctionCall<'_>) -> Result<Value, String>,
}

/// One of a connection's databases.
pub(crate) struct SchemaFile {
    /// The schema's name in SQL.
    pub schema: String,
    /// The address of its file's name in SQLite's memory, which distinguishes connections to the
    /// same file; `None` without a file.
    pub address: Option<usize>,
    /// The path of its file.
    pub path: Option<String>,
}

/// A function's call: its arguments and its connection.
pub struct FunctionCall<'a> {
    api: Api,
    context: *mut RawContext,
    arguments: &'a [*mut RawValue],
}

impl FunctionCall<'_> {
    /// The calling copy of SQLite.
    #[must_use]
    pub fn api(&self) -> &Api {
        &self.api
    }

    /// The number of arguments.
    #[must_use]
    pub fn count(&self) -> usize {
        self.arguments.len()
    }

    /// An argument as text; `None` if it is missing or NULL.
    #[must_use]
    pub fn text(&self, index: usize) -> Option<String> {
        let value = *self.arguments.get(index)?;
        text_of(&self.api, value)
    }

    /// An argument as an integer; `None` if it is missing or NULL.
    #[must_use]
    pub fn integer(&self, index: usize) -> Option<i64> {
        const NULL: c_int = 5;
        let value = *self.arguments.get(index)?;
        // SAFETY: the values live for this call.
        if unsafe { (self.api.value_type)(value) } == NULL {
            return None;
        }
        // SAFETY: as above.
        Some(unsafe { (self.api.value_int64)(value) })
    }

    /// Calls `visitor` with the VFS's file for the database `schema`.
    ///
    /// # Errors
    /// `NOTFOUND` if that database is not on this VFS; `ERROR` if there is no such schema.
    pub fn visit(&self, schema: &CStr, visitor: &mut dyn FnMut(&mut dyn Any)) -> Result<(), Code> {
        visit_file(&self.api, self.database(), schema, visitor)
    }

    /// The connection.
    pub(super) fn database(&self) -> *mut Database {
        // SAFETY: a function's context belongs to a connection (sqlite.org/c3ref/context_db_handle.html).
        unsafe { (self.api.context_db_handle)(self.context) }
    }

    /// The files of the connection's databases, with the names that SQLite passed to xOpen; main's
    /// first. Databases in memory have none.
    pub(crate) fn files(&self) -> Vec<SchemaFile> {
        let database = self.database();
        let file = |index| {
            // SAFETY: the connection is in use by the caller (sqlite.org/c3ref/db_name.html).
            let schema = unsafe { (self.api.db_name)(database, index) };
            if schema.is_null() {
                return None;
            }
            // SAFETY: as above; the schema's name is SQLite's own.
            let name = unsafe { (self.api.db_filename)(database, schema) };
            let name = Name::from_raw(name, self.api).filter(|name| !name.text().is_empty());
            // SAFETY: a schema's name ends with a zero byte and is valid as long as the schema.
            let schema = unsafe { CStr::from_ptr(schema) }.to_string_lossy().into_owned();
            Some(SchemaFile {
                schema,
                address: name.as_ref().map(Name::address),
                path: name.map(|name| name.path().to_string_lossy().into_owned()),
            })
        };
        (0..).map_while(file).collect()
    }

    /// A parameter of the URI with which the program itself opened the connection: that of its main
    /// database. ATTACH, which is SQL, can neither set nor replace it.
    #[must_use]
    pub fn opening_parameter(&self, key: &CStr) -> Option<String> {
        // SAFETY: the connection is in use by the caller. "main" is always the first database, also where
        // SQLITE_DBCONFIG_MAINDBNAME gave it another name (sqlite.org/c3ref/db_filename.html).
        let name = unsafe { (self.api.db_filename)(self.database(), c"main".as_ptr()) };
        Name::from_raw(name, self.api)?.parameter(key)
    }

    /// Calls `visitor` with the VFS's WAL or rollback journal that is open for `schema`. It may be
    /// called from the visitor of [`FunctionCall::visit`]: SQLite calls no file's method for it.
    ///
    /// # Errors
    /// `NOTFOUND` if none is open, or if it is not on this VFS.
    pub fn visit_log(&self, schema: &CStr, visitor: &mut dyn FnMut(&mut dyn Any)) -> Result<(), Code> {
        const JOURNAL_POINTER: c_int = 28;
        let database = self.database();
        let mut file: *mut RawFile = std::ptr::null_mut();
        // SAFETY: the control takes a pointer to a file's pointer (sqlite.org/c3ref/c_fcntl_begin_atomic_write.html).
        let code =
            unsafe { (self.api.file_control)(database, schema.as_ptr(), JOURNAL_POINTER, (&raw mut file).cast()) };
        Code::check(code)?;
        // SAFETY: it is null or the pager's own file, which exists as long as the database is open.
        let methods = unsafe { file.as_ref() }.map_or(std::ptr::null(), |file| file.methods);
        // SAFETY: a file that is open has methods; one that is not has none.
        let control = unsafe { methods.as_ref() }.and_then(|methods| methods.file_control);
        let control = control.ok_or(Code::NOTFOUND)?;
        let mut visit = FileVisit { visitor };
        // SAFETY: the control passes `visit` to this VFS's own file, during this call; other VFSs
        // do not know its number.
        Code::check(unsafe { control(file, FCNTL_VISIT, (&raw mut visit).cast()) })
    }

    /// Reserves bytes at the end of every page of a database at its next VACUUM
    /// (`SQLITE_FCNTL_RESERVE_BYTES`).
    ///
    /// # Errors
    /// Those of SQLite.
    pub fn reserve_bytes(&self, schema: &CStr, count: c_int) -> Result<(), Code> {
        const RESERVE_BYTES: c_int = 38;
        let mut count = count;
        let database = self.database();
        // SAFETY: the control takes an int.
        let code =
            unsafe { (self.api.file_control)(database, schema.as_ptr(), RESERVE_BYTES, (&raw mut count).cast()) };
        Code::check(code)
    }
}

impl FunctionCall<'_> {
    /// How often the connection's page caches contained a requested page, and how often not: the
    /// low 31 bits of each count.
    ///
    /// # Errors
    /// Those of SQLite.
    pub fn cache_reads(&self) -> Result<(u32, u32), Code> {
        const CACHE_HIT: c_int = 7;
        const CACHE_MISS: c_int = 8;
        Ok((self.status(CACHE_HIT)?, self.status(CACHE_MISS)?))
    }

    /// Whether a deferred foreign key constraint is violated.
    ///
    /// # Errors
    /// Those of SQLite.
    pub fn has_open_references(&self) -> Result<bool, Code> {
        const DEFERRED_FOREIGN_KEYS: c_int = 10;
        Ok(self.status(DEFERRED_FOREIGN_KEYS)? != 0)
    }

    fn status(&self, what: c_int) -> Result<u32, Code> {
        let (mut present, mut highest) = (0, 0);
        let database = self.database();
        // SAFETY: the connection is the calling one; both results are ints
        // (sqlite.org/c3ref/db_status.html).
        let code = unsafe { (self.api.db_status)(database, what, &raw mut present, &raw mut highest, 0) };
        Code::check(code)?;
        Ok(u32::try_from(present).unwrap_or(0))
    }
}

pub(super) fn text_of(api: &Api, value: *mut RawValue) -> Option<String> {
    // SAFETY: SQLite's values are valid during the call to which they were passed.
    let text = unsafe { (api.value_text)(value) };
    if text.is_null() {
        return None;
    }
    // SAFETY: as above; called after value_text, as the documentation requires.
    let size = unsafe { (api.value_bytes)(value) };
    // SAFETY: value_text returned that many bytes.
    let bytes = unsafe { slice::from_raw_parts(text.cast::<u8>(), usize::try_from(size).ok()?) };
    Some(String::from_utf8_lossy(bytes).into_owned())
}

pub(super) fn answer(api: &Api, context: *mut RawContext, value: &Value) {
    match value {
        // SAFETY: the context is that of the current call.
        Value::Null => unsafe { (api.result_null)(context) },
        // SAFETY: as above.
        Value::Integer(number) => unsafe { (api.result_int64)(context, *number) },
        // SAFETY: as above.
        Value::Real(number) => unsafe { (api.result_double)(context, *number) },
        Value::Text(text) => {
            let memory = api.allocate_text(text);
            // SAFETY: SQLite frees the memory, which is from its own allocator; null becomes NULL.
            unsafe { (api.result_text)(context, memory, -1, Some(api.free)) };
        }
    }
}

/// The argument of this crate's own file control.
pub struct FileVisit<'a> {
    visitor: &'a mut dyn FnMut(&mut dyn Any),
}

impl FileVisit<'_> {
    /// Passes a file to the visitor.
    pub fn show(&mut self, file: &mut dyn Any) {
        (self.visitor)(file);
    }
}

/// Calls `visitor` with the VFS's file for a connection's `schema`, even below other VFSs.
///
/// # Errors
/// `NOTFOUND` if that database is not on this VFS; `ERROR` if there is no such schema.
pub(super) fn visit_file(
    api: &Api,
    database: *mut Database,
    schema: &CStr,
    visitor: &mut dyn FnMut(&mut dyn Any),
) -> Result<(), Code> {
    let mut visit = FileVisit { visitor };
    // SAFETY: the connection is in use by the caller; the control passes `visit` to this VFS's own
    // file, during this call.
    Code::check(unsafe { (api.file_control)(database, schema.as_ptr(), FCNTL_VISIT, (&raw mut visit).cast()) })
}

/// How many copies of SQLite one process may hold: two are common (Python's own and apsw's), eight are not.
pub const COPY_COUNT_MAX: usize = 8;

/// The copies in the order in which they loaded the library. A context can only be read by its own
/// copy's functions, and does not identify the copy: so every copy has a separate C function, which
/// knows its index here.
static COPIES: [OnceLock<FunctionHome>; COPY_COUNT_MAX] = [const { OnceLock::new() }; COPY_COUNT_MAX];

struct FunctionHome {
    api: Api,
}

unsafe extern "C" fn call<const COPY: usize>(context: *mut RawContext, count: c_int, arguments: *mut *mut RawValue) {
    guard_or((), || {
        let Some(home) = COPIES[COPY].get() else { return };
        // SAFETY: this function was registered with `home.api`'s SQLite, which alone calls it.
        let entry = unsafe { (home.api.user_data)(context) }.cast::<Entry>();
        // SAFETY: `add_functions` passed a static entry.
        let Some(entry) = (unsafe { entry.as_ref() }) else {
            return;
        };
        let count = usize::try_from(count).unwrap_or(0);
        let arguments = if count == 0 {
            &[]
        } else {
            // SAFETY: SQLite passes that many values.
            unsafe { slice::from_raw_parts(arguments, count) }
        };
        let call = FunctionCall {
            api: home.api,
            context,
            arguments,
        };
        match (entry.body)(&call) {
            Ok(value) => answer(&home.api, context, &value),
            Err(message) => {
                let size = c_int::try_from(message.len()).unwrap_or(0);
                // SAFETY: the message has that many bytes; SQLite copies it.
                unsafe { (home.api.result_error)(context, message.as_ptr().cast(), size) };
            }
        }
    });
}

type Trampoline = unsafe extern "C" fn(*mut RawContext, c_int, *mut *mut RawValue);

const TRAMPOLINES: [Trampoline; COPY_COUNT_MAX] = [
    call::<0>, call::<1>, call::<2>, call::<3>, call::<4>, call::<5>, call::<6>, call::<7>,
];

/// The index of this copy among the copies, allocated if it is new.
fn copy_index(api: Api) -> Option<usize> {
    COPIES
        .iter()
        .position(|place| place.get_or_init(|| FunctionHome { api }).api.identity() == api.identity())
}

/// Registers the functions with a connection.
pub(super) fn add_functions(database: *mut Database, api: &Api, entries: &'static [Entry]) -> Result<(), Code> {
    const UTF8_DIRECT_ONLY: c_int = 1 | 0x8_0000;
    let copy = copy_index(*api).ok_or(Code::NOMEM)?;
    for entry in entries {
        let data = std::ptr::from_ref(entry).cast_mut().cast::<c_void>();
        // SAFETY: the connection is open; name and entry are static; the trampoline is this copy's
        // own.
        let code = unsafe {
            (api.create_function_v2)(
                database,
                entry.name.as_ptr(),
                entry.arguments,
                UTF8_DIRECT_ONLY,
                data,
                Some(TRAMPOLINES[copy]),
                None,
                None,
                None,
            )
        };
        Code::check(code)?;
    }
    Ok(())
}
