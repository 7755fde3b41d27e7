//! Allocators that count memory per calling thread, and settings of the C library's.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::OnceLock;

use super::Code;
use crate::thread_memory::{admits_sqlite, note_rust, note_sqlite};

/// The system's allocator with counters per thread, for use as a program's `#[global_allocator]`.
#[derive(Clone, Copy, Default, Debug)]
pub struct CountingAllocator;

// SAFETY: every method calls the system allocator's with the same arguments; counting allocates
// nothing, since the thread's counters are constants without a destructor.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's own promise.
        let block = unsafe { System.alloc(layout) };
        if !block.is_null() {
            note_rust(signed(layout.size()));
        }
        block
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's own promise.
        let block = unsafe { System.alloc_zeroed(layout) };
        if !block.is_null() {
            note_rust(signed(layout.size()));
        }
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller's own promise.
        unsafe { System.dealloc(block, layout) };
        note_rust(-signed(layout.size()));
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's own promise.
        let moved = unsafe { System.realloc(block, layout, size) };
        if !moved.is_null() {
            note_rust(signed(size) - signed(layout.size()));
        }
        moved
    }
}

/// Keeps up to 16 MiB of freed memory in the process, for a program that opens one database after another: glibc
/// else returns it to the kernel after each, which has to zero it again for the next (`man 3 mallopt`). Other C libraries
/// have no such setting.
pub fn keep_freed_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    for (setting, bytes) in [
        (libc::M_TRIM_THRESHOLD, KEPT_MEMORY),
        (libc::M_MMAP_THRESHOLD, KEPT_MEMORY / 4),
    ] {
        // SAFETY: changes numbers of the allocator under its own lock.
        unsafe { libc::mallopt(setting, bytes) };
    }
}

/// In bytes: more than a small database needs.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const KEPT_MEMORY: c_int = 16 << 20;

/// `sqlite3_mem_methods` (sqlite.org/c3ref/mem_methods.html).
#[repr(C)]
#[derive(Clone, Copy)]
struct MemoryMethods {
    malloc: Option<unsafe extern "C" fn(c_int) -> *mut c_void>,
    free: Option<unsafe extern "C" fn(*mut c_void)>,
    realloc: Option<unsafe extern "C" fn(*mut c_void, c_int) -> *mut c_void>,
    size: Option<unsafe extern "C" fn(*mut c_void) -> c_int>,
    round_up: Option<unsafe extern "C" fn(c_int) -> c_int>,
    init: Option<unsafe extern "C" fn(*mut c_void) -> c_int>,
    shutdown: Option<unsafe extern "C" fn(*mut c_void)>,
    data: *mut c_void,
}

// SAFETY: SQLite calls its allocator's functions from any thread.
unsafe impl Send for MemoryMethods {}
// SAFETY: as above.
unsafe impl Sync for MemoryMethods {}

/// A binding's `sqlite3_config`.
pub type Config = unsafe extern "C" fn(c_int, ...) -> c_int;

/// Counts the allocations of the SQLite that is linked into this program: pass its
/// `sqlite3_config`. Must be called before any use of SQLite.
///
/// # Errors
/// Those of `sqlite3_config`: SQLITE_MISUSE if SQLite is already in use; its memory is then not
/// counted.
pub fn count_sqlite(config: Config) -> Result<(), Code> {
    if OWN.get().is_some() {
        return Ok(());
    }
    let mut own = MemoryMethods {
        malloc: None,
        free: None,
        realloc: None,
        size: None,
        round_up: None,
        init: None,
        shutdown: None,
        data: ptr::null_mut(),
    };
    // SAFETY: this option takes a pointer to a struct of this shape, which SQLite fills
    // (sqlite.org/c3ref/c_config_covering_index_scan.html).
    Code::check(unsafe { config(CONFIG_GETMALLOC, &raw mut own) })?;
    let mut counting = MemoryMethods {
        malloc: Some(malloc),
        free: Some(free),
        realloc: Some(realloc),
        ..own
    };
    // SAFETY: this option takes a pointer to a struct of this shape, which SQLite copies. SQLite
    // allocates nothing before it is initialized, and refuses this option from then on: so `OWN` is
    // set before the functions above need it.
    Code::check(unsafe { config(CONFIG_MALLOC, &raw mut counting) })?;
    // A concurrent caller sets the same value.
    let _ = OWN.set(own);
    Ok(())
}

/// SQLite's own allocator.
static OWN: OnceLock<MemoryMethods> = OnceLock::new();

const CONFIG_MALLOC: c_int = 4;
const CONFIG_GETMALLOC: c_int = 5;

unsafe extern "C" fn malloc(bytes: c_int) -> *mut c_void {
    let Some(own) = OWN.get().and_then(|own| own.malloc) else {
        return ptr::null_mut();
    };
    if !admits_sqlite(i64::from(bytes)) {
        return ptr::null_mut();
    }
    // SAFETY: SQLite's own call of its own function.
    let block = unsafe { own(bytes) };
    note_sqlite(size(block));
    block
}

unsafe extern "C" fn free(block: *mut c_void) {
    note_sqlite(-size(block));
    if let Some(own) = OWN.get().and_then(|own| own.free) {
        // SAFETY: SQLite's own call of its own function.
        unsafe { own(block) };
    }
}

unsafe extern "C" fn realloc(block: *mut c_void, bytes: c_int) -> *mut c_void {
    let Some(own) = OWN.get().and_then(|own| own.realloc) else {
        return ptr::null_mut();
    };
    let before = size(block);
    let more = i64::from(bytes) - before;
    if more > 0 && !admits_sqlite(more) {
        return ptr::null_mut();
    }
    // SAFETY: SQLite's own call of its own function.
    let moved = unsafe { own(block, bytes) };
    if !moved.is_null() {
        note_sqlite(size(moved) - before);
    }
    moved
}

/// The size of a block of SQLite's, in bytes; 0 for null.
fn size(block: *mut c_void) -> i64 {
    match OWN.get().and_then(|own| own.size) {
        // SAFETY: the block was allocated by SQLite's allocator, and is not freed yet.
        Some(own) if !block.is_null() => i64::from(unsafe { own(block) }),
        Some(_) | None => 0,
    }
}

fn signed(size: usize) -> i64 {
    i64::try_from(size).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::thread_memory;

    #[test]
    fn the_allocator_counts_what_a_thread_has() {
        std::thread::spawn(|| {
            thread_memory::begin(1 << 40, 0);
            let layout = Layout::from_size_align(1 << 20, 8).unwrap();
            // SAFETY: the size is not zero, and the block is freed with its layout.
            let block = unsafe { CountingAllocator.alloc(layout) };
            assert_eq!(thread_memory::used(), 1 << 20);
            // SAFETY: as above.
            let block = unsafe { CountingAllocator.realloc(block, layout, 3 << 20) };
            assert_eq!(thread_memory::used(), 3 << 20);
            let layout = Layout::from_size_align(3 << 20, 8).unwrap();
            // SAFETY: as above.
            unsafe { CountingAllocator.dealloc(block, layout) };
            assert_eq!(thread_memory::used(), 0);
        })
        .join()
        .unwrap();
    }
}
