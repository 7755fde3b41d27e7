//! A connection's transaction, queried and begun from within a function's call.

use std::ffi::{CStr, CString, c_int};
use std::marker::PhantomData;
use std::ptr;

use super::FunctionCall;
use super::sqlite::{Database, RawStatement};

/// The state of a connection's transaction in one of its databases
/// (sqlite.org/c3ref/c_txn_none.html).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TransactionState {
    /// No transaction.
    None,
    /// A read transaction.
    Read,
    /// A write transaction.
    Write,
}

impl FunctionCall<'_> {
    /// The state of the transaction in `schema`; `None` if there is no such schema.
    #[must_use]
    pub fn transaction_state(&self, schema: &CStr) -> TransactionState {
        // SAFETY: the connection is in use by the caller, and the name ends with a zero byte.
        match unsafe { (self.api().txn_state)(self.database(), schema.as_ptr()) } {
            1 => TransactionState::Read,
            2 => TransactionState::Write,
            _ => TransactionState::None,
        }
    }

    /// Begins a read transaction in `schema`, unless there is one: an unfinished query holds it.
    ///
    /// # Errors
    /// SQLite's message.
    pub fn read_transaction(&self, schema: &CStr) -> Result<ReadTransaction<'_>, String> {
        const ROW: c_int = 100;
        let name = schema.to_string_lossy().replace('"', "\"\"");
        // A query of the schema has one row, also in an empty database, and needs no right that
        // other queries do not need.
        let sql = CString::new(format!("SELECT count(*) FROM \"{name}\".sqlite_schema")).map_err(|e| e.to_string())?;
        let mut held = ReadTransaction {
            call: self,
            statement: ptr::null_mut(),
        };
        // SAFETY: the connection is in use by the caller; the text ends with a zero byte; there is
        // room for one pointer.
        let prepared = unsafe {
            (self.api().prepare_v2)(
                self.database(),
                sql.as_ptr(),
                -1,
                &raw mut held.statement,
                ptr::null_mut(),
            )
        };
        // SAFETY: it was prepared, and is not finalized before `held` is dropped.
        if prepared == 0 && unsafe { (self.api().step)(held.statement) } == ROW {
            return Ok(held);
        }
        // SAFETY: the connection is in use by the caller.
        let said = unsafe { (self.api().errmsg)(self.database()) };
        // SAFETY: it ends with a zero byte, and is valid until the next call for this connection.
        let said = unsafe { CStr::from_ptr(said) };
        Err(said.to_string_lossy().into_owned())
    }

    /// A handle that reports whether the connection was interrupted.
    #[must_use]
    pub fn interrupts(&self) -> Interrupts<'_> {
        Interrupts {
            is_interrupted: self.api().is_interrupted,
            database: self.database(),
            call: PhantomData,
        }
    }
}

/// A read transaction; dropping it ends the transaction.
pub struct ReadTransaction<'a> {
    call: &'a FunctionCall<'a>,
    statement: *mut RawStatement,
}

impl Drop for ReadTransaction<'_> {
    fn drop(&mut self) {
        // SAFETY: it is null, or was prepared, and is finalized only here.
        unsafe { (self.call.api().finalize)(self.statement) };
    }
}

/// Whether `sqlite3_interrupt` was called for a connection. SQLite before 3.41 does not report it.
pub struct Interrupts<'a> {
    is_interrupted: Option<unsafe extern "C" fn(*mut Database) -> c_int>,
    database: *mut Database,
    call: PhantomData<&'a ()>,
}

// SAFETY: `sqlite3_is_interrupted` reads one atomic flag, which `sqlite3_interrupt` sets from any
// thread; the connection is open as long as the call lasts, which outlives this value.
unsafe impl Sync for Interrupts<'_> {}

impl Interrupts<'_> {
    /// Whether the connection was interrupted.
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        // SAFETY: as above.
        self.is_interrupted
            .is_some_and(|is_interrupted| unsafe { is_interrupted(self.database) } != 0)
    }
}
