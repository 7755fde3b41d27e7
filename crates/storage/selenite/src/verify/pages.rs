//! Authenticates the pages of a database file, on all cores.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use selenite_cipher::{PageCipher, PageError, PageNo, TRAILER_SIZE};
use selenite_format::anchor::run_page_count;
use selenite_vfs::view::View;

use super::keys::look_again;
use super::page_buffer::PageBuffer;
use super::{BAD_LISTED_MAX, BadPage, Findings, Origin, Subject};
use crate::{EngineError, Watch, anchor::Tally, raw_file::RawFile, watch::Phase};

/// Authenticates all pages; returns how many there are, the file's size, and the numbers of those
/// that are not authentic, in order. `tally` gets the trailer of each authentic page.
pub fn check(
    subject: &Subject<'_>,
    view: &mut View,
    tally: Option<&Tally<'_>>,
) -> Result<(u32, u64, Vec<u32>), EngineError> {
    let file = subject.file;
    let (page_count, size, mut suspects) = scan((file, subject.path), view, tally, subject.watch)?;
    if !suspects.is_empty() {
        look_again((subject.keys, file), view, subject.watch, |view| {
            recheck((file, view), tally, subject.watch, &mut suspects)?;
            Ok(((), suspects.is_empty()))
        })?;
    }
    Ok((page_count, size, suspects))
}

/// As [`check`], for a file that no other process writes to, and whose keys do not change.
pub fn check_file(
    file: &RawFile,
    path: &Path,
    view: &View,
    watch: &Watch,
    findings: &mut Findings,
) -> Result<(), EngineError> {
    let (_, _, mut suspects) = scan((file, path), view, None, watch)?;
    recheck((file, view), None, watch, &mut suspects)?;
    report_bad(file, view, &suspects, findings)
}

/// Adds pages that are not authentic, with the reason for as many as are listed. Reasons for all
/// of them could take more memory than the database.
pub fn report_bad(file: &RawFile, view: &View, bad: &[u32], findings: &mut Findings) -> Result<(), EngineError> {
    let mut opener = Opener::new(file, view);
    let (listed, unlisted) = bad.split_at(bad.len().min(BAD_LISTED_MAX));
    let page_count = view.geometry.page_count(file.size()?);
    for &page_no in listed.iter().filter(|&&page_no| page_no <= page_count) {
        // read-twice: a page that opens now is not bad.
        if let Err(failure) = opener.page(PageNo(page_no)) {
            findings.add(BadPage::new(Origin::Database, page_no, None, failure.to_string()));
        }
    }
    findings.add_unlisted(unlisted.len());
    Ok(())
}

/// Opens all pages; returns how many there are, the file's size, and the pages that did not open,
/// in order.
fn scan(
    (file, path): (&RawFile, &Path),
    view: &View,
    tally: Option<&Tally<'_>>,
    watch: &Watch,
) -> Result<(u32, u64, Vec<u32>), EngineError> {
    let size = file.size()?;
    let page_count = view.geometry.page_count(size);
    if page_count == 0 && view.unlocked.superblock.pages_exist {
        return Err(EngineError::NotEncrypted {
            path: path.to_owned(),
            what: "all its pages were truncated",
        });
    }
    let scan = Scan {
        file,
        view,
        watch,
        tally,
        page_count,
        next: AtomicU64::new(1),
        done: AtomicU64::new(0),
        suspects: Mutex::default(),
    };
    // While one thread waits for the disk, another decrypts what it has read. This thread is one of them.
    let worth = usize::try_from(size / BYTES_PER_THREAD).unwrap_or(usize::MAX);
    let thread_count = match worth {
        // To ask for the cores takes longer than a small database.
        0 | 1 => 1,
        _ => worth.min(std::thread::available_parallelism().map_or(1, std::num::NonZero::get) * THREADS_PER_CORE),
    };
    std::thread::scope(|scope| {
        for _ in 1..thread_count {
            scope.spawn(|| scan.work());
        }
        scan.work();
    });
    watch.check()?;
    let mut suspects = scan.suspects.into_inner().unwrap_or_else(PoisonError::into_inner);
    suspects.sort_unstable();
    Ok((page_count, size, suspects))
}

/// `read-twice`: reads doubtful pages again: a page that others were writing is complete soon.
/// Removes from `suspects` those that open now.
fn recheck(
    (file, view): (&RawFile, &View),
    tally: Option<&Tally<'_>>,
    watch: &Watch,
    suspects: &mut Vec<u32>,
) -> Result<(), EngineError> {
    let mut opener = Opener::new(file, view);
    // The file may have been truncated meanwhile: pages beyond its end are not bad.
    let page_count = view.geometry.page_count(file.size()?);
    suspects.retain(|&page_no| {
        if page_no > page_count {
            return false;
        }
        if watch.is_interrupted() {
            return true;
        }
        match opener.page(PageNo(page_no)) {
            Ok(opened) => {
                if let (Some(tally), Some(opened)) = (tally, opened) {
                    tally.page(page_no, opened.trailer);
                }
                false
            }
            Err(_) => true,
        }
    });
    watch.check()
}

/// Opens pages of the file one by one.
pub(super) struct Opener<'a> {
    file: &'a RawFile,
    view: &'a View,
    cipher: PageCipher,
    page: PageBuffer,
    scratch: PageBuffer,
}

impl<'a> Opener<'a> {
    pub(super) fn new(file: &'a RawFile, view: &'a View) -> Self {
        Self {
            file,
            view,
            cipher: PageCipher::new(view.page_keys.clone()),
            page: PageBuffer::new(view.page_bytes()),
            scratch: PageBuffer::new(view.page_bytes()),
        }
    }

    /// A page's trailer and plaintext; `None` for the lock-byte page, which has no place and is
    /// never read.
    pub(super) fn page(&mut self, page_no: PageNo) -> Result<Option<OpenedPage<'_>>, OpenFailure> {
        let Some(place) = self.view.geometry.place(page_no) else {
            return Ok(None);
        };
        let page = self.page.bytes();
        self.file.read_at(page, place.0).map_err(OpenFailure::Read)?;
        let trailer = trailer_of(page);
        let opened = self.cipher.open_in_place(page_no, page, self.scratch.bytes());
        opened.map_err(OpenFailure::Page)?;
        // The reserve of a decrypted page is zero; the trailer is stored there for the caller.
        let scratch = self.scratch.bytes();
        let (_, room) = scratch
            .split_last_chunk_mut::<TRAILER_SIZE>()
            .expect("a page is longer");
        *room = trailer;
        let plain = self.page.bytes();
        Ok(Some(OpenedPage { trailer: room, plain }))
    }
}

/// A page that opened.
pub(super) struct OpenedPage<'a> {
    /// Its trailer, from its end.
    pub(super) trailer: &'a [u8; TRAILER_SIZE],
    /// The decrypted page.
    pub(super) plain: &'a [u8],
}

fn trailer_of(image: &[u8]) -> [u8; TRAILER_SIZE] {
    image.last_chunk().copied().unwrap_or([0; TRAILER_SIZE])
}

/// Why a page does not count as authentic.
pub(super) enum OpenFailure {
    Page(PageError),
    Read(EngineError),
}

struct Scan<'a> {
    file: &'a RawFile,
    view: &'a View,
    watch: &'a Watch,
    tally: Option<&'a Tally<'a>>,
    page_count: u32,
    next: AtomicU64,
    done: AtomicU64,
    suspects: Mutex<Vec<u32>>,
}

impl Scan<'_> {
    fn page_bytes(&self) -> usize {
        self.view.page_bytes()
    }

    fn total(&self) -> u64 {
        u64::from(self.page_count) * self.view.geometry.page_size().as_u64()
    }

    /// Processes runs of pages. A run is small enough to be decrypted while it is in the
    /// processor's cache.
    fn work(&self) {
        let page_size = self.view.geometry.page_size();
        let run = run_page_count(page_size);
        let mut cipher = PageCipher::new(self.view.page_keys.clone());
        let run_size = usize::try_from(run).unwrap_or(1) * self.page_bytes();
        let (mut images, mut scratch) = (PageBuffer::new(run_size), PageBuffer::new(self.page_bytes()));
        let mut trailers = Vec::new();
        while !self.watch.is_interrupted() {
            let first = self.next.fetch_add(u64::from(run), Ordering::Relaxed);
            let Some(first) = u32::try_from(first).ok().filter(|&first| first <= self.page_count) else {
                break;
            };
            let last = self.page_count.min(first.saturating_add(run - 1));
            trailers.clear();
            self.run(
                &mut cipher,
                (first, last),
                (images.bytes(), scratch.bytes()),
                &mut trailers,
            );
            if let Some(tally) = self.tally {
                tally.run(first, &trailers);
            }
            let size = u64::from(last - first + 1) * page_size.as_u64();
            let done = self.done.fetch_add(size, Ordering::Relaxed) + size;
            self.watch.report(Phase::Verifying, done, self.total());
        }
    }

    /// Reads contiguous pages in one call, and others one by one; decrypts each in its buffer.
    fn run(
        &self,
        cipher: &mut PageCipher,
        (first, last): (u32, u32),
        (images, scratch): (&mut [u8], &mut [u8]),
        trailers: &mut Vec<Option<[u8; TRAILER_SIZE]>>,
    ) {
        let geometry = self.view.geometry;
        let is_special = |page: PageNo| (first..=last).contains(&page.0);
        let side_by_side = !is_special(geometry.lock_page()) && !is_special(geometry.displaced_page());
        let size = usize::try_from(last - first + 1).unwrap_or(1) * self.page_bytes();
        let images = &mut images[..size];
        let read_at_once = side_by_side
            && geometry
                .place(PageNo(first))
                .is_some_and(|place| self.file.read_at(images, place.0).is_ok());
        for (page_no, image) in (first..=last).zip(images.chunks_exact_mut(self.page_bytes())) {
            let page_no = PageNo(page_no);
            let is_read = read_at_once
                || geometry
                    .place(page_no)
                    .is_none_or(|place| self.file.read_at(image, place.0).is_ok());
            let trailer = trailer_of(image);
            // The lock-byte page has no place, and is never read.
            let is_good =
                page_no == geometry.lock_page() || is_read && cipher.open_in_place(page_no, image, scratch).is_ok();
            trailers.push((is_good && page_no != geometry.lock_page()).then_some(trailer));
            if !is_good {
                let mut suspects = self.suspects.lock().unwrap_or_else(PoisonError::into_inner);
                suspects.push(page_no.0);
            }
        }
    }
}

impl std::fmt::Display for OpenFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Page(error) => write!(f, "{error}"),
            Self::Read(error) => write!(f, "{error}"),
        }
    }
}

/// Two: with one the disk was idle while pages were decrypted, and a third had no effect.
const THREADS_PER_CORE: usize = 2;
/// Three threads less saved about 3 ms of CPU for two pages, on a loaded machine: one takes about as long as decrypting
/// this.
const BYTES_PER_THREAD: u64 = 2 << 20;
