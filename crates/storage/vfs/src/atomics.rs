//! Atomic types and locks: the standard library's, or loom's under `--cfg selenite_loom`
//! (`make audit-loom`).

#[cfg(selenite_loom)]
pub use loom::{
    sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering},
    sync::{Mutex, MutexGuard},
};
#[cfg(not(selenite_loom))]
pub use std::{
    sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering},
    sync::{Mutex, MutexGuard},
};
