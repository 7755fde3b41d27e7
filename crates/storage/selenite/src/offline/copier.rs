//! Decrypts every page under its old key and encrypts it under the new one, on all cores.
//!
//! - few-large-calls: a run of pages is read and written in as few calls as their offsets allow
//!   (FORMAT 2.3), usually one.
//! - one-page-per-worker: each worker holds one decrypted page at a time, in its own buffer, which
//!   it zeros at the end.
//! - uncounted-pages-are-zeros: pages that SQLite does not count are not copied: between SQLite's
//!   last page and the end of the copy, the pages are sealed zeros (FORMAT 2.4, 2.5).

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use selenite_cipher::{PageCipher, PageNo};
use selenite_format::Geometry;
use selenite_vfs::error::VfsError;
use selenite_vfs::session::Nonces;

use super::done_runs::{DoneRun, RunDigest, Trailers};
use super::syncer::Syncer;
use super::{OfflineCopy, thread_panicked};
use crate::{
    EngineError,
    error::io_error,
    storage::WriteAt,
    verify::{BAD_LISTED_MAX, BadPage, Origin},
    watch::Phase,
};

/// A copy in progress.
pub struct Copier<'a> {
    work: &'a OfflineCopy<'a>,
    target: (&'a dyn WriteAt, &'a Path),
    earlier: &'a HashMap<u64, RunDigest>,
    syncer: &'a Syncer<'a>,
    /// How many pages the copy has room for.
    filled_count: u32,
    run_pages: u32,
    next: AtomicU64,
    done: AtomicU64,
    taken_over: AtomicU64,
    has_failed: AtomicBool,
    bad: Mutex<Vec<BadPage>>,
}

/// The ciphers and buffers of one worker.
struct WorkerState {
    opening: PageCipher,
    sealing: PageCipher,
    nonces: Nonces,
    images: Vec<u8>,
    plain: Vec<u8>,
    trailers: Trailers,
}

/// A run of pages.
struct Run {
    number: u64,
    first: u32,
    last: u32,
}

impl<'a> Copier<'a> {
    /// Copies to `target`, except runs that `earlier` lists as done.
    pub fn new(
        work: &'a OfflineCopy<'a>,
        target: (&'a dyn WriteAt, &'a Path),
        earlier: &'a HashMap<u64, RunDigest>,
        syncer: &'a Syncer<'a>,
    ) -> Self {
        let geometry = work.new.geometry;
        let run_pages = u32::try_from(RUN_SIZE / work.new.page_bytes()).unwrap_or(1);
        Self {
            work,
            target,
            earlier,
            syncer,
            filled_count: geometry.page_count(geometry.size_for(work.page_count)),
            run_pages,
            next: AtomicU64::new(0),
            done: AtomicU64::new(0),
            taken_over: AtomicU64::new(0),
            has_failed: AtomicBool::new(false),
            bad: Mutex::default(),
        }
    }

    /// Copies, and returns how many bytes an earlier copy had done.
    pub fn run(&self) -> Result<u64, EngineError> {
        // One thread more than cores: one usually waits for the disk, or for another thread's
        // write to the same file.
        let thread_count = std::thread::available_parallelism().map_or(1, std::num::NonZero::get) + 1;
        let ended: Vec<_> = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..thread_count).map(|_| scope.spawn(|| self.work_on())).collect();
            workers.into_iter().map(std::thread::ScopedJoinHandle::join).collect()
        });
        for worker in ended {
            worker.map_err(|_| thread_panicked())??;
        }
        let mut bad = std::mem::take(&mut *self.lock_bad());
        if !bad.is_empty() {
            bad.sort_by_key(|bad| bad.page_no);
            return Err(EngineError::Refused {
                what: format!(
                    "{}: {} of the pages read so far are not authentic",
                    self.work.path.display(),
                    bad.len()
                ),
                pages: bad,
            });
        }
        self.work.watch.check()?;
        Ok(self.taken_over.load(Ordering::Relaxed))
    }

    fn work_on(&self) -> Result<(), EngineError> {
        let worked = self.take_runs();
        if worked.is_err() {
            self.has_failed.store(true, Ordering::Relaxed);
        }
        worked
    }

    fn take_runs(&self) -> Result<(), EngineError> {
        let page_bytes = self.page_bytes();
        let run_pages = usize::try_from(self.run_pages).unwrap_or(1);
        let mut state = WorkerState {
            opening: PageCipher::new(self.work.old.page_keys.clone()),
            sealing: PageCipher::new(self.work.new.page_keys.clone()),
            nonces: Nonces::new().map_err(|code| self.vfs_error(&VfsError::Lower(code)))?,
            images: vec![0; run_pages * page_bytes],
            plain: vec![0; page_bytes],
            trailers: Trailers::new(run_pages),
        };
        let worked = self.take_runs_with(&mut state);
        state.plain.fill(0);
        worked
    }

    fn take_runs_with(&self, state: &mut WorkerState) -> Result<(), EngineError> {
        while !self.work.watch.is_interrupted() && !self.has_failed.load(Ordering::Relaxed) {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let first = number * u64::from(self.run_pages) + 1;
            let Some(first) = u32::try_from(first).ok().filter(|&first| first <= self.filled_count) else {
                return Ok(());
            };
            let last = self.filled_count.min(first.saturating_add(self.run_pages - 1));
            self.copy(state, &Run { number, first, last })?;
            let size = self.bytes(last - first + 1);
            let done = self.done.fetch_add(size, Ordering::Relaxed) + size;
            let total = self.bytes(self.filled_count);
            self.work.watch.report(Phase::Copying, done, total);
            self.work.operation.copied(done, total);
        }
        Ok(())
    }

    fn copy(&self, state: &mut WorkerState, run: &Run) -> Result<(), EngineError> {
        let extents = extents(self.work.new.geometry, run);
        state.trailers.clear();
        if let Some(known) = self.earlier.get(&run.number)
            && self.is_done(state, &extents, known)?
        {
            self.taken_over
                .fetch_add(self.bytes(run.last - run.first + 1), Ordering::Relaxed);
            return Ok(());
        }
        state.trailers.clear();
        self.read_source(state, &extents)?;
        state.nonces.renew();
        for page_no in extents.iter().flat_map(|extent| extent.pages.clone()) {
            if !self.reseal(state, run, PageNo(page_no))? {
                self.has_failed.store(true, Ordering::Relaxed);
            }
        }
        if self.has_failed.load(Ordering::Relaxed) {
            return Ok(());
        }
        let (file, path) = self.target;
        for extent in &extents {
            let written = file.write_at(&state.images[extent.bytes.clone()], extent.place);
            written.map_err(io_error("write", path))?;
        }
        let digest = state.trailers.digest();
        let number = run.number;
        self.syncer
            .add(DoneRun { number, digest }, self.bytes(run.last - run.first + 1));
        Ok(())
    }

    /// Whether source and copy are unchanged since this run was recorded as done.
    fn is_done(&self, state: &mut WorkerState, extents: &[Extent], known: &RunDigest) -> Result<bool, EngineError> {
        self.read_source(state, extents)?;
        for image in images_of(&state.images, extents, self.page_bytes()) {
            state.trailers.add_source(image);
        }
        let (file, path) = self.target;
        for extent in extents {
            let out = &mut state.images[extent.bytes.clone()];
            let count = file.read_at(out, extent.place).map_err(io_error("read", path))?;
            out[count..].fill(0);
        }
        for image in images_of(&state.images, extents, self.page_bytes()) {
            state.trailers.add_draft(image);
        }
        Ok(state.trailers.digest() == *known)
    }

    fn read_source(&self, state: &mut WorkerState, extents: &[Extent]) -> Result<(), EngineError> {
        for extent in extents {
            let out = &mut state.images[extent.bytes.clone()];
            let count = self
                .work
                .pages
                .read_at(out, extent.place)
                .map_err(io_error("read", self.work.path))?;
            out[count..].fill(0);
        }
        Ok(())
    }

    /// Decrypts a page and encrypts it in its buffer; returns whether it was authentic.
    fn reseal(&self, state: &mut WorkerState, run: &Run, page_no: PageNo) -> Result<bool, EngineError> {
        let page_bytes = self.page_bytes();
        let start = usize::try_from(page_no.0 - run.first).unwrap_or(0) * page_bytes;
        let image = &mut state.images[start..start + page_bytes];
        state.trailers.add_source(image);
        if page_no.0 > self.work.page_count {
            state.plain.fill(0);
        } else if let Err(error) = state.opening.open(page_no, image, &mut state.plain) {
            self.add_bad(page_no, error.to_string());
            return Ok(false);
        }
        let nonce = state
            .nonces
            .draw(self.work.new.page_keys.sealing_suite())
            .map_err(|code| self.vfs_error(&VfsError::Lower(code)))?;
        if let Err(error) = state.sealing.seal(page_no, nonce, &state.plain, image) {
            self.add_bad(page_no, error.to_string());
            return Ok(false);
        }
        state.trailers.add_draft(image);
        Ok(true)
    }

    fn add_bad(&self, page_no: PageNo, why: String) {
        let mut bad = self.lock_bad();
        if bad.len() < BAD_LISTED_MAX {
            bad.push(BadPage::new(Origin::Database, page_no.0, None, why));
        }
    }

    fn lock_bad(&self) -> MutexGuard<'_, Vec<BadPage>> {
        self.bad.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn vfs_error(&self, error: &VfsError) -> EngineError {
        EngineError::of_vfs(error, self.work.path)
    }

    fn page_bytes(&self) -> usize {
        self.work.new.page_bytes()
    }

    fn bytes(&self, page_count: u32) -> u64 {
        u64::from(page_count) * self.work.new.geometry.page_size().as_u64()
    }
}

/// Contiguous pages.
struct Extent {
    pages: Range<u32>,
    /// Their range in the buffer of the run.
    bytes: Range<usize>,
    /// Their offset in both files.
    place: u64,
}

/// `few-large-calls`. The page that SQLite never uses is in no extent.
fn extents(geometry: Geometry, run: &Run) -> Vec<Extent> {
    let page_size = geometry.page_size();
    let mut extents: Vec<Extent> = Vec::new();
    for page_no in run.first..=run.last {
        let Some(place) = geometry.place(PageNo(page_no)) else {
            continue;
        };
        let start = usize::try_from(page_no - run.first).unwrap_or(0) * page_size.bytes();
        let end = start + page_size.bytes();
        match extents.last_mut() {
            Some(last)
                if last.pages.end == page_no
                    && last.place + u64::from(page_no - last.pages.start) * page_size.as_u64() == place.0 =>
            {
                last.pages.end = page_no + 1;
                last.bytes.end = end;
            }
            Some(_) | None => extents.push(Extent {
                pages: page_no..page_no + 1,
                bytes: start..end,
                place: place.0,
            }),
        }
    }
    extents
}

fn images_of<'b>(images: &'b [u8], extents: &'b [Extent], page_bytes: usize) -> impl Iterator<Item = &'b [u8]> {
    extents
        .iter()
        .flat_map(move |extent| images[extent.bytes.clone()].chunks_exact(page_bytes))
}

/// 1 MiB: the cost of a call is then negligible beside that of its data.
const RUN_SIZE: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use selenite_format::PageSize;

    use super::*;

    /// The displaced page and the page that SQLite never uses (FORMAT 2.3), in the middle of runs
    /// and at their ends.
    #[test]
    fn extents_hold_every_page_at_its_place_and_no_lock_byte() {
        for page_size in [1024, 4096, 65536] {
            let geometry = Geometry::new(PageSize::try_from(page_size).unwrap());
            let (displaced, lock) = (geometry.displaced_page().0, geometry.lock_page().0);
            for first in [1, displaced - 3, displaced, displaced + 1, lock - 2, lock, lock + 1] {
                for last in [first, first + 1, first + 5, first + 100] {
                    let run = Run { number: 0, first, last };
                    let mut seen = Vec::new();
                    for extent in extents(geometry, &run) {
                        let bytes = extent.bytes.clone();
                        assert_eq!(bytes.len(), extent.pages.len() * geometry.page_size().bytes());
                        for (index, page_no) in extent.pages.clone().enumerate() {
                            let offset = u64::try_from(index).unwrap() * geometry.page_size().as_u64();
                            assert_eq!(geometry.place(PageNo(page_no)).unwrap().0, extent.place + offset);
                            let start = usize::try_from(page_no - first).unwrap() * geometry.page_size().bytes();
                            assert_eq!(start, bytes.start + index * geometry.page_size().bytes());
                            seen.push(page_no);
                        }
                    }
                    let wanted: Vec<u32> = (first..=last).filter(|&page_no| page_no != lock).collect();
                    assert_eq!(seen, wanted, "pages of {page_size} from {first} to {last}");
                }
            }
        }
    }
}
