//! Table-valued functions: read-only tables whose rows are computed on demand.

use std::any::Any;
use std::ffi::{CStr, CString, c_char, c_int, c_void};

use super::function::{answer, text_of, visit_file};
use super::guard::guard;
use super::sqlite::{Database, RawContext, RawValue};
use super::{Api, Code, Value};

/// One row, a value per visible column.
pub type TableRow = Vec<Value>;

/// A table-valued function with one optional argument: the name of an attached database, `main` by
/// default.
#[derive(Clone, Copy)]
pub struct Table {
    /// The SQL name.
    pub name: &'static CStr,
    /// `CREATE TABLE x(...)`; the last column is `schema HIDDEN`.
    pub declaration: &'static CStr,
    /// The number of columns before the hidden one.
    pub columns: c_int,
    /// Computes the rows for one file of this VFS; an error ends the statement.
    pub rows: fn(&mut dyn Any) -> Result<Vec<TableRow>, Code>,
}

/// `sqlite3_module`.
#[repr(C)]
struct Module {
    version: c_int,
    create: *const c_void,
    connect: unsafe extern "C" fn(
        *mut Database,
        *mut c_void,
        c_int,
        *const *const c_char,
        *mut *mut RawTable,
        *mut *mut c_char,
    ) -> c_int,
    best_index: unsafe extern "C" fn(*mut RawTable, *mut IndexInfo) -> c_int,
    disconnect: unsafe extern "C" fn(*mut RawTable) -> c_int,
    destroy: *const c_void,
    open: unsafe extern "C" fn(*mut RawTable, *mut *mut RawCursor) -> c_int,
    close: unsafe extern "C" fn(*mut RawCursor) -> c_int,
    filter: unsafe extern "C" fn(*mut RawCursor, c_int, *const c_char, c_int, *mut *mut RawValue) -> c_int,
    next: unsafe extern "C" fn(*mut RawCursor) -> c_int,
    eof: unsafe extern "C" fn(*mut RawCursor) -> c_int,
    column: unsafe extern "C" fn(*mut RawCursor, *mut RawContext, c_int) -> c_int,
    rowid: unsafe extern "C" fn(*mut RawCursor, *mut i64) -> c_int,
    /// xUpdate to xIntegrity: none.
    rest: [*const c_void; 13],
}

// SAFETY: constant function pointers.
unsafe impl Sync for Module {}

/// `sqlite3_vtab`, followed by this module's fields.
#[repr(C)]
struct RawTable {
    module: *const c_void,
    references: c_int,
    error: *mut c_char,
    home: *const TableHome,
    database: *mut Database,
}

impl RawTable {
    fn home(&self) -> &TableHome {
        // SAFETY: a module's data outlives its tables (`drop_home`).
        unsafe { &*self.home }
    }
}

/// `sqlite3_vtab_cursor`, followed by this module's fields.
#[repr(C)]
struct RawCursor {
    table: *mut RawTable,
    rows: Vec<TableRow>,
    index: usize,
}

#[repr(C)]
struct Constraint {
    column: c_int,
    operation: u8,
    usable: u8,
    term_offset: c_int,
}

#[repr(C)]
struct ConstraintUsage {
    argument_index: c_int,
    omit: u8,
}

/// The first fields of `sqlite3_index_info`.
#[repr(C)]
struct IndexInfo {
    constraint_count: c_int,
    constraints: *const Constraint,
    order_by_count: c_int,
    order_by: *const c_void,
    usage: *mut ConstraintUsage,
    index_number: c_int,
}

struct TableHome {
    api: Api,
    table: Table,
    /// The connection's address: the connection is forgotten when the module is dropped.
    connection: usize,
}

unsafe extern "C" fn connect(
    database: *mut Database,
    data: *mut c_void,
    _count: c_int,
    _arguments: *const *const c_char,
    out: *mut *mut RawTable,
    _error: *mut *mut c_char,
) -> c_int {
    const DIRECT_ONLY: c_int = 3;
    guard(|| {
        // SAFETY: `add_table` passed a home that outlives the module's tables.
        let home = unsafe { &*data.cast::<TableHome>() };
        // SAFETY: called within xConnect, as required; this option takes no argument
        // (sqlite.org/c3ref/vtab_config.html).
        Code::check(unsafe { (home.api.vtab_config)(database, DIRECT_ONLY) })?;
        // SAFETY: the connection is open; the declaration ends with a zero byte.
        Code::check(unsafe { (home.api.declare_vtab)(database, home.table.declaration.as_ptr()) })?;
        let table = Box::new(RawTable {
            module: std::ptr::null(),
            references: 0,
            error: std::ptr::null_mut(),
            home,
            database,
        });
        // SAFETY: SQLite passes room for one pointer.
        unsafe { out.write(Box::into_raw(table)) };
        Ok(())
    })
}

unsafe extern "C" fn best_index(table: *mut RawTable, info: *mut IndexInfo) -> c_int {
    const EQUAL: u8 = 2;
    guard(|| {
        // SAFETY: SQLite passes a table made by `connect`.
        let hidden = unsafe { &*table }.home();
        let hidden = hidden.table.columns;
        // SAFETY: SQLite passes a valid struct, for this call.
        let info = unsafe { &mut *info };
        let count = usize::try_from(info.constraint_count).unwrap_or(0);
        for index in 0..count {
            // SAFETY: SQLite passes that many constraints.
            let constraint = unsafe { info.constraints.add(index) };
            // SAFETY: as above.
            let constraint = unsafe { &*constraint };
            if constraint.column == hidden && constraint.operation == EQUAL {
                if constraint.usable == 0 {
                    // The argument is from a table that this plan reads later: the plan is
                    // impossible.
                    return Err(Code::CONSTRAINT);
                }
                // SAFETY: SQLite passes as many usages as constraints.
                let usage = unsafe { info.usage.add(index) };
                // SAFETY: as above.
                let usage = unsafe { &mut *usage };
                usage.argument_index = 1;
                usage.omit = 1;
                info.index_number = 1;
                break;
            }
        }
        Ok(())
    })
}

unsafe extern "C" fn disconnect(table: *mut RawTable) -> c_int {
    guard(|| {
        // SAFETY: made by `connect`, and this is its last use.
        drop(unsafe { Box::from_raw(table) });
        Ok(())
    })
}

unsafe extern "C" fn open(table: *mut RawTable, out: *mut *mut RawCursor) -> c_int {
    guard(|| {
        let cursor = Box::new(RawCursor {
            table,
            rows: Vec::new(),
            index: 0,
        });
        // SAFETY: SQLite passes room for one pointer.
        unsafe { out.write(Box::into_raw(cursor)) };
        Ok(())
    })
}

unsafe extern "C" fn close(cursor: *mut RawCursor) -> c_int {
    guard(|| {
        // SAFETY: made by `open`, and this is its last use.
        drop(unsafe { Box::from_raw(cursor) });
        Ok(())
    })
}

unsafe extern "C" fn filter(
    cursor: *mut RawCursor,
    index_number: c_int,
    _text: *const c_char,
    count: c_int,
    arguments: *mut *mut RawValue,
) -> c_int {
    guard(|| {
        // SAFETY: made by `open`.
        let cursor = unsafe { &mut *cursor };
        // SAFETY: a cursor's table outlives it.
        let table = unsafe { &*cursor.table };
        let home = table.home();
        let mut schema = c"main".to_owned();
        if index_number == 1 && count > 0 {
            // SAFETY: SQLite passes `count` values.
            let argument = unsafe { *arguments };
            let name = text_of(&home.api, argument).ok_or(Code::ERROR)?;
            schema = CString::new(name).map_err(|_| Code::ERROR)?;
        }
        let mut rows = Ok(Vec::new());
        let shown = visit_file(&home.api, table.database, &schema, &mut |file| {
            rows = (home.table.rows)(file)
        });
        // A database on another VFS has no rows; this is not an error.
        shown.or_else(|code| if code == Code::NOTFOUND { Ok(()) } else { Err(code) })?;
        cursor.rows = rows?;
        cursor.index = 0;
        Ok(())
    })
}

unsafe extern "C" fn next(cursor: *mut RawCursor) -> c_int {
    guard(|| {
        // SAFETY: made by `open`.
        unsafe { &mut *cursor }.index += 1;
        Ok(())
    })
}

unsafe extern "C" fn eof(cursor: *mut RawCursor) -> c_int {
    // SAFETY: made by `open`.
    let cursor = unsafe { &*cursor };
    c_int::from(cursor.index >= cursor.rows.len())
}

unsafe extern "C" fn column(cursor: *mut RawCursor, context: *mut RawContext, index: c_int) -> c_int {
    guard(|| {
        // SAFETY: made by `open`.
        let cursor = unsafe { &*cursor };
        // SAFETY: a cursor's table outlives it.
        let api = unsafe { &*cursor.table }.home().api;
        let value = usize::try_from(index)
            .ok()
            .and_then(|index| cursor.rows.get(cursor.index)?.get(index));
        answer(&api, context, value.unwrap_or(&Value::Null));
        Ok(())
    })
}

unsafe extern "C" fn rowid(cursor: *mut RawCursor, out: *mut i64) -> c_int {
    guard(|| {
        // SAFETY: made by `open`.
        let index = unsafe { &*cursor }.index;
        // SAFETY: SQLite passes room for one number.
        unsafe { out.write(i64::try_from(index).unwrap_or(i64::MAX)) };
        Ok(())
    })
}

static MODULE: Module = Module {
    version: 1,
    // Without xCreate the table exists without CREATE VIRTUAL TABLE (sqlite.org/vtab.html#epovtab).
    create: std::ptr::null(),
    connect,
    best_index,
    disconnect,
    destroy: std::ptr::null(),
    open,
    close,
    filter,
    next,
    eof,
    column,
    rowid,
    rest: [std::ptr::null(); 13],
};

unsafe extern "C" fn drop_home(home: *mut c_void) {
    // SAFETY: made by `add_table`; SQLite calls this once, after the last table of the module was
    // dropped.
    let home = unsafe { Box::from_raw(home.cast::<TableHome>()) };
    super::connections::forget(home.connection);
}

/// Registers a table-valued function with a connection.
pub(super) fn add_table(database: *mut Database, api: &Api, table: &'static Table) -> Result<(), Code> {
    let home = Box::into_raw(Box::new(TableHome {
        api: *api,
        table: *table,
        connection: database.addr(),
    }))
    .cast::<c_void>();
    let module = (&raw const MODULE).cast::<c_void>();
    // SAFETY: the connection is open; the module is static, and only `drop_home` frees the home.
    Code::check(unsafe { (api.create_module_v2)(database, table.name.as_ptr(), module, home, Some(drop_home)) })
}
