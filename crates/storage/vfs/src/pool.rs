//! Opened pages, shared by all connections of one copy of SQLite to a file.
//!
//! - pages-by-generation: a page is put in and taken out under a generation of its file. A
//!   connection learns the generation once in a read transaction, from the file's label
//!   (`Label`): where the label is another, so is the generation, also after a change of our own
//!   (`pooled_file.rs`).
//! - requested-pages-only: what a connection puts in is what SQLite asked the database file for
//!   under the read lock of that label, opened and authentic. Pages of the log are never here, nor
//!   page 1, nor what was read ahead and not asked for.
//! - bounded-and-wiped: the pool takes no more memory than the limit, with its tables, and none
//!   before a page is read. Pages are wiped on the way out, unless another is written over them at
//!   once; all of a file's when its last connection closes, and the memory is given back with the
//!   last file. It is not in core dumps.
//! - no-lock-across-calls: no lock is held across a call of SQLite's or of the VFS below. A forked
//!   child does not touch the pool, whose locks may be held for ever there, and whose pages are
//!   zeros there: [`Pool::is_on`] is asked before, for every page.
//! - admitted-on-second-read: a page is put in when it is read for the second time within a while
//!   (`Tables::offer` decides; `filter.rs` knows what was read): memory that is used for the first time costs a third
//!   of what it costs to read a page, and what is read once is not worth it. A scan displaces no page that is of use.
//! - new-limit-empties: a change of the limit empties the pool: it is said once in a process, as a
//!   rule.

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
    /// The process that made it.
    process: u64,
    budget: Arc<Budget>,
    tables: Mutex<Option<Arc<Tables>>>,
    files: Mutex<BTreeMap<FileKey, Weak<PooledFile>>>,
    file_count: AtomicU32,
    generations: AtomicU64,
}

/// Whose pages may be shared.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct FileKey {
    /// Device and inode.
    pub file: (u64, u64),
    /// The database that lies there.
    pub database: DatabaseId,
    /// What its reader may see: unencrypted pages, pages in deprecated suites.
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

    /// Whether there is a pool, in this process.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.limit() > 0 && self.is_own_process()
    }

    /// How many bytes it may take.
    #[must_use]
    pub fn limit(&self) -> usize {
        self.budget.limit.load(Ordering::Relaxed)
    }

    /// How many bytes it takes.
    #[must_use]
    pub fn used(&self) -> usize {
        self.budget.used.load(Ordering::Relaxed)
    }

    /// Makes it larger or smaller, up to 64 GiB; 0 turns it off (new-limit-empties).
    pub fn set_limit(&self, limit: usize) {
        let limit = usize::try_from(SIZE_MAX).map_or(limit, |most| limit.min(most));
        if self.budget.limit.swap(limit, Ordering::SeqCst) != limit && self.is_own_process() {
            self.close_tables();
        }
    }

    /// Takes all pages out of it, and gives their memory back.
    pub fn clear(&self) {
        if self.is_own_process() {
            self.close_tables();
        }
    }

    /// The file's place in the pool.
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

    /// The pages, for one read transaction; made where there are none.
    fn tables(&self) -> Option<Arc<Tables>> {
        let mut tables = lock(&self.tables);
        if tables.is_none() {
            *tables = Tables::new(&self.budget).map(Arc::new);
        }
        tables.clone()
    }

    /// A file's last connection has closed.
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

    /// `no-lock-across-calls`: the word is zero in a forked child, until it makes a pool itself.
    fn is_own_process(&self) -> bool {
        ForkPage::of_process().words()[FORK_WORD].load(Ordering::Acquire) == self.process
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// 64 MiB: see docs/decisions/0006-page-pool.md.
const SIZE_DEFAULT: usize = 64 << 20;
/// 64 GiB: tables are made for the whole of it, and take a hundredth.
const SIZE_MAX: u64 = 64 << 30;
/// Sessions have the first words of the page, see `session.rs`.
const FORK_WORD: usize = 40;
