//! Opened pages, shared by all connections of one copy of SQLite to a file.
//!
//! P1. A page is put in and taken out under a generation of its file. A connection learns the generation once in a read
//!     transaction, from the file's label ([`Label`]): where the label is another, so is the generation.
//! P2. What a connection puts in is what SQLite asked the database file for under the read lock of that label, opened
//!     and authentic. Pages of the log are never here, nor page 1, nor what was read ahead and not asked for.
//! P3. Pages take no more memory than the limit, with what is kept beside them. They are wiped on the way out, and all
//!     of a file's when its last connection closes.
//! P4. No lock is held across a call of SQLite's or of the VFS below. A forked child does not touch the pool, whose locks
//!     may be held for ever there: [`Pool::is_on`] is asked before.
//! P5. A page is put in when it is read for the third time, and a scan displaces no page that is of use. Memory that is
//!     used for the first time costs ten times what it costs to open a page: what is read once or twice is not worth it.

pub mod label;
mod shard;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use selenite_cipher::DatabaseId;

use crate::ffi::ForkPage;
use label::Label;
use shard::{PageKey, Shard, Slot};

/// The pool of one copy of SQLite.
pub struct Pool {
    /// The process that made it.
    process: u64,
    limit: AtomicUsize,
    /// Bytes in use, by [`cost`].
    used: AtomicUsize,
    shards: [Mutex<Shard>; SHARD_COUNT],
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
    /// What its reader may see: pages in clear, pages in deprecated suites.
    pub rights: (bool, bool),
}

/// A file whose pages are in the pool, as long as a connection has it open.
pub struct PooledFile {
    pool: Arc<Pool>,
    number: u32,
    labelled: Mutex<Option<Label>>,
    /// Connections that have the WAL index mapped: a log is another one once the last of them has gone.
    log_users: AtomicUsize,
    /// The generation of the label above.
    generation: Arc<AtomicU64>,
    /// Pages that were read before: one bit each, modulo their count.
    seen: Bits,
    /// Pages that were read twice.
    seen_twice: Bits,
    /// Pages that may be in the pool in the present generation: who finds none there takes no lock.
    held: Bits,
}

impl Pool {
    /// An empty pool.
    #[must_use]
    pub fn new() -> Arc<Self> {
        let process = u64::from(std::process::id());
        ForkPage::of_process().words()[FORK_WORD].store(process, Ordering::Release);
        Arc::new(Self {
            process,
            limit: AtomicUsize::new(SIZE_DEFAULT),
            used: AtomicUsize::new(0),
            shards: Default::default(),
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
        self.limit.load(Ordering::Relaxed)
    }

    /// How many bytes it takes.
    #[must_use]
    pub fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    /// Makes it larger or smaller; 0 empties it.
    pub fn set_limit(&self, limit: usize) {
        if self.limit.swap(limit, Ordering::SeqCst) <= limit || !self.is_own_process() {
            return;
        }
        for shard in &self.shards {
            while self.used() > limit {
                let Some(slot) = lock(shard).pop() else { break };
                self.release(slot);
            }
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
        let file = Arc::new(PooledFile {
            pool: self.clone(),
            number: self.file_count.fetch_add(1, Ordering::Relaxed),
            labelled: Mutex::default(),
            log_users: AtomicUsize::new(0),
            generation: Arc::new(AtomicU64::new(0)),
            seen: Bits::new(),
            seen_twice: Bits::new(),
            held: Bits::new(),
        });
        files.insert(key, Arc::downgrade(&file));
        file
    }

    /// P4. The word is zero in a forked child, until it makes a pool itself.
    fn is_own_process(&self) -> bool {
        ForkPage::of_process().words()[FORK_WORD].load(Ordering::Acquire) == self.process
    }

    fn shard(&self, key: PageKey) -> MutexGuard<'_, Shard> {
        // Neighbours lie in different shards: scans side by side do not meet.
        let index = key.page.wrapping_add(key.file) % SHARD_COUNT_U32;
        lock(&self.shards[usize::try_from(index).unwrap_or(0)])
    }

    fn reserve(&self, size: usize) -> bool {
        let limit = self.limit();
        let grow = |used: usize| used.checked_add(size).filter(|sum| *sum <= limit);
        self.used.fetch_update(Ordering::SeqCst, Ordering::SeqCst, grow).is_ok()
    }

    fn release(&self, slot: Slot) {
        let size = cost(slot.page_bytes());
        drop(slot);
        self.used.fetch_sub(size, Ordering::SeqCst);
    }
}

impl PooledFile {
    /// The generation of a label that was just read: the present one, or a new one.
    #[must_use]
    pub fn generation_of(&self, label: Label) -> u64 {
        let mut labelled = lock(&self.labelled);
        if *labelled != Some(label) {
            *labelled = Some(label);
            let generation = self.pool.generations.fetch_add(1, Ordering::SeqCst) + 1;
            self.generation.store(generation, Ordering::SeqCst);
            self.held.clear();
        }
        self.generation.load(Ordering::SeqCst)
    }

    /// A connection begins to use the log.
    pub fn enter_log(&self) {
        self.log_users.fetch_add(1, Ordering::SeqCst);
    }

    /// A connection that used the log no longer does.
    pub fn leave_log(&self) {
        if self.log_users.fetch_sub(1, Ordering::SeqCst) == 1 && self.pool.is_own_process() {
            *lock(&self.labelled) = None;
        }
    }

    /// Gives a page of that generation to SQLite, if it is here.
    pub fn read(&self, page: u32, generation: u64, out: &mut [u8]) -> bool {
        let key = self.key(page);
        self.held.has(page) && self.pool.shard(key).read(key, generation, out)
    }

    /// Takes in a page that SQLite asked for, and that was not here (P2, P5).
    pub fn offer(&self, page: u32, generation: u64, bytes: &[u8], is_of_scan: bool) {
        let is_known = self.seen.insert(page) && self.seen_twice.insert(page);
        if !is_known || self.generation.load(Ordering::Relaxed) != generation {
            return;
        }
        let (pool, key) = (&self.pool, self.key(page));
        let mut shard = pool.shard(key);
        if shard.renew(key, generation, bytes) {
            self.held.insert(page);
            return;
        }
        if pool.reserve(cost(bytes.len())) {
            shard.add(Slot::new(key, generation, self.generation.clone(), bytes));
            self.held.insert(page);
            return;
        }
        match shard.evict(is_of_scan) {
            Some(slot) if slot.page_bytes() == bytes.len() && pool.used() <= pool.limit() => {
                shard.add(slot.reuse(key, generation, &self.generation, bytes));
                self.held.insert(page);
            }
            Some(slot) => pool.release(slot),
            None => {}
        }
    }

    fn key(&self, page: u32) -> PageKey {
        PageKey {
            file: self.number,
            page,
        }
    }
}

impl Drop for PooledFile {
    fn drop(&mut self) {
        if !self.pool.is_own_process() {
            return;
        }
        for shard in &self.pool.shards {
            let taken = lock(shard).take_file(self.number);
            taken.into_iter().for_each(|slot| self.pool.release(slot));
        }
    }
}

/// One bit a page, of all pages alike modulo [`BIT_COUNT`].
struct Bits(Box<[AtomicU64]>);

impl Bits {
    fn new() -> Self {
        Self((0..BIT_COUNT / 64).map(|_| AtomicU64::new(0)).collect())
    }

    fn place(&self, page: u32) -> (&AtomicU64, u64) {
        let index = usize::try_from(page).unwrap_or(0) % BIT_COUNT;
        (&self.0[index / 64], 1 << (index % 64))
    }

    fn has(&self, page: u32) -> bool {
        let (word, bit) = self.place(page);
        word.load(Ordering::Relaxed) & bit != 0
    }

    /// Sets the bit, and says whether it was set before.
    fn insert(&self, page: u32) -> bool {
        let (word, bit) = self.place(page);
        word.load(Ordering::Relaxed) & bit != 0 || word.fetch_or(bit, Ordering::Relaxed) & bit != 0
    }

    fn clear(&self) {
        for word in &self.0 {
            word.store(0, Ordering::Relaxed);
        }
    }
}

/// What a page takes, with its place in the tables.
fn cost(page_bytes: usize) -> usize {
    page_bytes + 160
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// None: see docs/decisions/0006-pool-off.md.
const SIZE_DEFAULT: usize = 0;
const SHARD_COUNT: usize = 16;
const SHARD_COUNT_U32: u32 = 16;
/// 32 KiB of bits: a database of 1 GiB in pages of 4 KiB.
const BIT_COUNT: usize = 1 << 18;
/// Sessions have the first words of the page, see `session.rs`.
const FORK_WORD: usize = 40;
