//! `lock_memory=1`: no memory of the process is swapped out, or written to a core dump.
//!
//! - all-memory: all memory is locked, not only keys: ciphers also keep expanded keys, and SQLite's
//!   cache and the pool keep pages.
//! - no-finite-limit: under a finite limit the setting is refused: later allocations by any part of
//!   the program could then fail.

use std::sync::Mutex;
use std::sync::PoisonError;

use crate::error::VfsError;
use crate::ffi;

/// Locks the memory of this process, once and until it ends.
///
/// # Errors
/// [`VfsError::Setting`] names the missing permission.
pub fn lock() -> Result<(), VfsError> {
    static IS_LOCKED: Mutex<bool> = Mutex::new(false);
    let mut is_locked = IS_LOCKED.lock().unwrap_or_else(PoisonError::into_inner);
    if *is_locked {
        return Ok(());
    }
    let refused = |why: String| VfsError::Setting(format!("cannot lock memory (lock_memory=1): {why}"));
    let limit = ffi::locked_memory_limit().map_err(|error| refused(error.to_string()))?;
    if let Some(why) = obstacle(limit, &ffi::process_status()) {
        return Err(refused(why));
    }
    ffi::lock_memory().map_err(|error| refused(error.to_string()))?;
    *is_locked = true;
    Ok(())
}

/// Why memory can't be locked under this limit, by a process of this status, which is empty without /proc.
fn obstacle(limit: Option<u64>, status: &str) -> Option<String> {
    if status.is_empty() && cfg!(target_os = "linux") {
        return Some(
            "there is no /proc, by which core dumps are kept from the memory, and which says whether this process has \
             CAP_IPC_LOCK; mount it"
                .to_owned(),
        );
    }
    let limit = limit.filter(|_| !has_ipc_lock(status))?;
    Some(format!(
        "this process may lock {limit} bytes; raise the limit (ulimit -l unlimited, LimitMEMLOCK=infinity) or give it \
         CAP_IPC_LOCK"
    ))
}

/// Whether CAP_IPC_LOCK is among the effective capabilities: then no limit applies.
fn has_ipc_lock(status: &str) -> bool {
    let digits = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let set = digits.and_then(|digits| u64::from_str_radix(digits.trim(), 16).ok());
    set.is_some_and(|set| set >> CAP_IPC_LOCK & 1 == 1)
}

/// capabilities(7)
const CAP_IPC_LOCK: u32 = 14;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_capability_is_read_from_what_the_kernel_says() {
        assert!(has_ipc_lock("Name:\tx\nCapEff:\t000001ffffffffff\n"));
        assert!(has_ipc_lock("CapEff:\t0000000000004000"));
        assert!(!has_ipc_lock("CapPrm:\t0000000000004000\nCapEff:\t000001ffffffbfff"));
        assert!(!has_ipc_lock("CapEff:\tnonsense") && !has_ipc_lock(""));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_machine_without_proc_is_named_and_not_the_limit() {
        for limit in [None, Some(65_536)] {
            assert!(obstacle(limit, "").unwrap().contains("no /proc"));
        }
        let (with, without) = ("CapEff:\t0000000000004000\n", "CapEff:\t0000000000000000\n");
        assert!(obstacle(Some(65_536), without).unwrap().contains("65536 bytes"));
        assert_eq!((obstacle(None, without), obstacle(Some(65_536), with)), (None, None));
    }
}
