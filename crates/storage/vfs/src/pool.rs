//! Decrypted pages, shared by all connections of one copy of SQLite to a file.
//!
//! - pages-by-generation: a page is stored and looked up under a generation of its file. A
//!   connection determines the generation once per read transaction, from the file's label
//!   (`Label`): if the label changes, so does the generation, also after a change by this process
//!   (`pooled_file.rs`).
//! - requested-pages-only: a connection stores only pages that SQLite requested from the database
//!   file under the read lock of that label, opened and authentic. The pool never contains pages of
//!   the log, page 1, or pages that were read ahead and not requested.
//! - bounded-and-wiped: the pool, with its tables, takes no more memory than the limit, and none
//!   before a page is read. Pages are wiped when they are removed, unless another is written over
//!   them immediately; all pages of a file are removed when its last connection closes, and the
//!   memory is freed with the last file. It is excluded from core dumps.
//! - no-lock-across-calls: no lock is held across a call of SQLite or of the VFS below. A forked
//!   child does not use the pool, whose locks may be held there forever, and whose pages are zeros
//!   there: [`Pool::is_on`] is called before every page.
//! - admitted-on-second-read: a page is stored when it is read for the second time within a period
//!   and a generation (`Tables::offer` decides; `filter.rs` records what was read): using memory for
//!   the first time costs a third of reading a page, and a page that is read once is not worth it.
//!   Where checkpoints end generations faster than pages are read again, nothing is stored. A scan
//!   evicts no useful page.
//! - new-limit-empties: a change of the limit empties the pool: usually it is set once in a
//!   process.

mod filter;
pub mod label;
pub mod pooled_file;
mod shard;
mod tables;
#[cfg(test)]
#[cfg(not(selenite_loom))]
mod tests;

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, Weak};

use selenite_cipher::DatabaseId;

use crate::atomics::{AtomicU32, AtomicU64, Mutex, MutexGuard, Ordering};
use crate::ffi::ForkPage;
use pooled_file::PooledFile;
use tables::{Budget, Tables};

/// The pool of one copy of SQLite.
pub struct Pool {
    /// The process that created the pool.
    process: u64,
    budget: Arc<Budget>,
    tables: Mutex<Option<Arc<Tables>>>,
    files: Mutex<BTreeMap<FileKey, Weak<PooledFile>>>,
    file_count: AtomicU32,
    generations: AtomicU64,
}

/// Identifies the connections that may share pages.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct FileKey {
    /// Device and inode.
    pub file: (u64, u64),
    /// The database in that file.
    pub database: DatabaseId,
    /// Whether its readers may see unencrypted pages, and pages in deprecated suites.
    pub rights: (bool, bool),
}

impl Pool {
    /// An empty pool.
    #[must_use]
    pub fn new() -> Arc<Self> {
        let process = u64::from(std::process::id());
        ForkPage::of_process().words()[FORK_WORD].store(process, Ordering::Release);
        let budget = Arc::new(Budget::default());
        budget.limit.store(SIZE_DEFAULT, Ordering::SeqCst);
        Arc::new(Self {
            process,
            budget,
            tables: Mutex::default(),
            files: Mutex::default(),
            file_count: AtomicU32::new(0),
            generations: AtomicU64::new(0),
        })
    }

    /// Whether the pool is in use, in this process.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.limit() > 0 && self.is_own_process()
    }

    /// The maximal size in bytes.
    #[must_use]
    pub fn limit(&self) -> usize {
        self.budget.limit.load(Ordering::Relaxed)
    }

    /// The current size in bytes.
    #[must_use]
    pub fn used(&self) -> usize {
        self.budget.used.load(Ordering::Relaxed)
    }

    /// Sets the limit in bytes, at most 64 GiB; 0 turns the pool off (new-limit-empties).
    pub fn set_limit(&self, limit: usize) {
        let limit = usize::try_from(SIZE_MAX).map_or(limit, |most| limit.min(most));
        if self.budget.limit.swap(limit, Ordering::SeqCst) != limit && self.is_own_process() {
            self.close_tables();
        }
    }

    /// Removes all pages, and frees their memory.
    pub fn clear(&self) {
        if self.is_own_process() {
            self.close_tables();
        }
    }

    /// The pool's entry for the file.
    #[must_use]
    pub fn join(self: &Arc<Self>, key: FileKey) -> Arc<PooledFile> {
        let mut files = lock(&self.files);
        if let Some(file) = files.get(&key).and_then(Weak::upgrade) {
            return file;
        }
        files.retain(|_, file| file.strong_count() > 0);
        let number = self.file_count.fetch_add(1, Ordering::Relaxed);
        let file = Arc::new(PooledFile::new(self.clone(), number));
        files.insert(key, Arc::downgrade(&file));
        file
    }

    /// The tables of pages, for one read transaction; created on first use.
    fn tables(&self) -> Option<Arc<Tables>> {
        let mut tables = lock(&self.tables);
        if tables.is_none() {
            *tables = Tables::new(&self.budget).map(Arc::new);
        }
        tables.clone()
    }

    /// Called when a file's last connection has closed.
    fn leave(&self, file: u32) {
        let is_last = lock(&self.files).values().all(|file| file.strong_count() == 0);
        if is_last {
            self.close_tables();
            return;
        }
        let tables = lock(&self.tables).clone();
        if let Some(tables) = tables {
            tables.forget_file(file);
        }
    }

    fn close_tables(&self) {
        let tables = lock(&self.tables).take();
        if let Some(tables) = tables {
            tables.close();
        }
    }

    /// `no-lock-across-calls`: the word is zero in a forked child, until the child creates a pool
    /// itself.
    fn is_own_process(&self) -> bool {
        ForkPage::of_process().words()[FORK_WORD].load(Ordering::Acquire) == self.process
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// 64 MiB: see docs/decisions/0006-page-pool.md.
const SIZE_DEFAULT: usize = 64 << 20;
/// 64 GiB: tables are allocated for the whole of it, and take a hundredth.
const SIZE_MAX: u64 = 64 << 30;
/// `session.rs` uses the first words of the page.
const FORK_WORD: usize = 40;
