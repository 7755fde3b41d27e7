//! All unsafe code of this crate: SQLite's C interface, as values and traits that are safe to use.
//!
//! - no-unwinding-into-c: no panic crosses into C: every `extern "C"` function runs its one safe
//!   call inside `guard::guard`.
//! - one-call-per-file: SQLite calls one file's methods one at a time (a connection's mutex, or the
//!   caller's duty in single-thread mode: sqlite.org/threadsafe.html), so a file is `&mut` in its
//!   methods.
//! - names-outlive-files: a name that SQLite passes to `xOpen` is not moved or freed until the file
//!   is closed (sqlite.org/c3ref/vfs.html).
//!
//! The meaning of a file's content is left to the modules above: this module does not know keys or
//! pages.
#![expect(unsafe_code, reason = "the one room for it: SQLite's C interface")]

mod api;
mod arena;
mod code;
mod collation;
mod connections;
mod control;
mod exit;
mod file;
mod fork_page;
mod function;
mod guard;
mod index_alias;
mod install;
mod lower;
mod machine;
mod memory;
mod module;
mod name;
mod platform;
mod shm;
mod sqlite;
mod transaction;
mod vfs;

pub use api::Api;
pub use arena::{Arena, ArenaPart};
pub use code::Code;
pub use collation::Collation;
pub use control::{Connection, Control, Pragma, RawControl, VfsName};
pub use exit::at_exit;
pub use file::{File, LockLevel};
pub use fork_page::ForkPage;
pub(crate) use function::SchemaFile;
pub use function::{COPY_COUNT_MAX, Entry, FileVisit, FunctionCall, Value};
pub use index_alias::IndexAlias;
pub use install::{AutoExtension, EntryPoint, Installer, VFS_NAME, entry_point, install_linked};
pub use lower::{LowerFile, LowerVfs};
pub use machine::{cycle_count, hardware_random, os_random};
pub use memory::{Config, CountingAllocator, count_sqlite, keep_freed_memory};
pub use module::{Table, TableRow};
pub use name::{KeptName, Name};
pub use platform::{
    ByteLock, check_support, descriptors, descriptors_of, file_identity, forget_cached, is_elevated,
    lock_byte_of_description, lock_memory, locked_memory_limit, make_private_file, open_private, open_regular_file,
    path_of_name, process_status, system_page_size,
};
pub use shm::{ShmLock, ShmMemory, ShmRegion};
pub use sqlite::{Database, OpenFlags, RawApi, SyncFlags};
pub use transaction::{Interrupts, ReadTransaction, TransactionState};
pub use vfs::{OpenedFile, Registered, Vfs, register};
