//! Authenticates the pages of a database file, on all cores.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use selenite_cipher::PageNo;
use selenite_page::{PageCipher, PageError};
use selenite_vfs::view::View;

use super::{BadPage, Findings, Origin};
use crate::draft::beside;
use crate::raw_file::RawFile;
use crate::storage::Storage;
use crate::watch::Phase;
use crate::{EngineError, Watch};

/// Authenticates all pages; answers how many there are, and the file's size.
pub fn check(
    storage: &dyn Storage,
    path: &Path,
    view: &View,
    watch: &Watch,
    findings: &mut Findings,
) -> Result<(u32, u64), EngineError> {
    check_file(&RawFile::open(storage, path)?, path, view, watch, findings)
}

/// As [`check`], for a file that is open.
pub fn check_file(
    file: &RawFile,
    path: &Path,
    view: &View,
    watch: &Watch,
    findings: &mut Findings,
) -> Result<(u32, u64), EngineError> {
    let size = file.size()?;
    let page_count = view.geometry.page_count(size);
    if page_count == 0 && view.unlocked.superblock.pages_exist {
        return Err(EngineError::NotEncrypted {
            path: path.to_owned(),
            what: "all its pages were cut off",
        });
    }
    let scan = Scan {
        file,
        view,
        watch,
        page_count,
        next: AtomicU64::new(1),
        done: AtomicU64::new(0),
        suspects: Mutex::default(),
    };
    let thread_count = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    std::thread::scope(|scope| {
        for _ in 0..thread_count {
            scope.spawn(|| scan.work());
        }
    });
    watch.check()?;
    for bad in scan.second_look()? {
        findings.add(bad);
    }
    Ok((page_count, size))
}

/// Compares the page count in page 1 with that of the file, which a cut at the end of a page makes smaller; no tag tells
/// of a page that is gone. A file may be longer (FORMAT 2.4). The caller found neither WAL nor journal: with one, the
/// file may rightly lack pages.
pub fn check_count(
    storage: &dyn Storage,
    path: &Path,
    view: &View,
    findings: &mut Findings,
) -> Result<(), EngineError> {
    let file = RawFile::open(storage, path)?;
    for attempt in 0..LOOK_COUNT {
        std::thread::sleep(LOOK_PAUSE * attempt);
        let Some(promised) = header_page_count(&file, view)? else {
            return Ok(());
        };
        let present = view.geometry.page_count(file.size()?);
        if present >= promised || has_log(storage, path)? {
            return Ok(());
        }
        if attempt + 1 == LOOK_COUNT {
            findings.add(BadPage {
                origin: Origin::Database,
                page_no: present + 1,
                index: None,
                why: format!("missing, with all up to page {promised}: the file was cut"),
            });
        }
    }
    Ok(())
}

/// The page count in SQLite's header, if that is valid (sqlite.org/fileformat.html, 1.3.8); nothing, too, if page 1 does
/// not open, which is found elsewhere.
fn header_page_count(file: &RawFile, view: &View) -> Result<Option<u32>, EngineError> {
    let Some(place) = view.geometry.place(PageNo(1)) else {
        return Ok(None);
    };
    let mut cipher = PageCipher::new(view.page_keys.clone());
    let mut image = vec![0; view.page_bytes()];
    let mut plain = vec![0; view.page_bytes()];
    file.read_at(&mut image, place.0)?;
    let promised = match cipher.open(PageNo(1), &image, &mut plain) {
        Ok(()) if plain[24..28] == plain[92..96] => {
            let field = plain[28..32].try_into().expect("four bytes");
            Some(u32::from_be_bytes(field))
        }
        Ok(()) | Err(_) => None,
    };
    plain.fill(0);
    Ok(promised)
}

/// Whether somebody has begun to write meanwhile.
fn has_log(storage: &dyn Storage, path: &Path) -> Result<bool, EngineError> {
    for companion in ["-wal", "-journal"] {
        if RawFile::open_if_there(storage, &beside(path, companion))?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

struct Scan<'a> {
    file: &'a RawFile,
    view: &'a View,
    watch: &'a Watch,
    page_count: u32,
    next: AtomicU64,
    done: AtomicU64,
    suspects: Mutex<Vec<u32>>,
}

/// Why a page was not found authentic.
enum Doubt {
    Page(PageError),
    Read(EngineError),
}

impl Scan<'_> {
    fn page_bytes(&self) -> usize {
        self.view.page_bytes()
    }

    fn total(&self) -> u64 {
        u64::from(self.page_count) * self.view.geometry.page_size().as_u64()
    }

    /// Takes chunk after chunk.
    fn work(&self) {
        let page_bytes = self.page_bytes();
        let chunk_pages = u32::try_from(CHUNK_SIZE / page_bytes).unwrap_or(1).max(1);
        let mut cipher = PageCipher::new(self.view.page_keys.clone());
        let mut images = vec![0; CHUNK_SIZE.max(page_bytes)];
        let mut plain = vec![0; page_bytes];
        while !self.watch.is_interrupted() {
            let first = self.next.fetch_add(u64::from(chunk_pages), Ordering::Relaxed);
            let Some(first) = u32::try_from(first).ok().filter(|&first| first <= self.page_count) else {
                break;
            };
            let last = self.page_count.min(first.saturating_add(chunk_pages - 1));
            self.chunk(&mut cipher, (first, last), &mut images, &mut plain);
            let size = u64::from(last - first + 1) * self.view.geometry.page_size().as_u64();
            let done = self.done.fetch_add(size, Ordering::Relaxed) + size;
            self.watch.report(Phase::Verifying, done, self.total());
        }
        plain.fill(0);
    }

    /// Reads pages that lie side by side at once, and others one by one.
    fn chunk(&self, cipher: &mut PageCipher, (first, last): (u32, u32), images: &mut [u8], plain: &mut [u8]) {
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
            let opened = if read_at_once {
                cipher.open(page_no, image, plain).map_err(Doubt::Page)
            } else {
                self.page(cipher, page_no, image, plain)
            };
            if opened.is_err() {
                self.suspects
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(page_no.0);
            }
        }
    }

    fn page(&self, cipher: &mut PageCipher, page_no: PageNo, image: &mut [u8], plain: &mut [u8]) -> Result<(), Doubt> {
        // The lock-byte page has no place, and nobody reads it.
        let Some(place) = self.view.geometry.place(page_no) else {
            return Ok(());
        };
        self.file.read_at(image, place.0).map_err(Doubt::Read)?;
        cipher.open(page_no, image, plain).map_err(Doubt::Page)
    }

    /// V1. Reads what was doubtful again, some times: a page that others were writing is whole soon.
    fn second_look(&self) -> Result<Vec<BadPage>, EngineError> {
        let mut suspects = std::mem::take(&mut *self.suspects.lock().unwrap_or_else(PoisonError::into_inner));
        suspects.sort_unstable();
        let mut cipher = PageCipher::new(self.view.page_keys.clone());
        let mut image = vec![0; self.page_bytes()];
        let mut plain = vec![0; self.page_bytes()];
        let mut bad = Vec::new();
        for attempt in 0..LOOK_COUNT {
            if suspects.is_empty() {
                break;
            }
            std::thread::sleep(LOOK_PAUSE * attempt);
            bad.clear();
            // The file may have been cut meanwhile: what is gone is not bad.
            let page_count = self.view.geometry.page_count(self.file.size()?);
            suspects.retain(|&page_no| page_no <= page_count);
            for &page_no in &suspects {
                self.watch.check()?;
                if let Err(doubt) = self.page(&mut cipher, PageNo(page_no), &mut image, &mut plain) {
                    bad.push(BadPage {
                        origin: Origin::Database,
                        page_no,
                        index: None,
                        why: doubt.to_string(),
                    });
                }
            }
            suspects = bad.iter().map(|bad| bad.page_no).collect();
        }
        plain.fill(0);
        Ok(bad)
    }
}

impl std::fmt::Display for Doubt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Page(error) => write!(f, "{error}"),
            Self::Read(error) => write!(f, "{error}"),
        }
    }
}

/// 1 MiB: large enough that a call costs nothing beside what it reads.
const CHUNK_SIZE: usize = 1 << 20;
/// Three looks, 0, 20 and 40 ms apart: a page write takes microseconds, a checkpoint's sync does not matter here.
const LOOK_COUNT: u32 = 3;
const LOOK_PAUSE: Duration = Duration::from_millis(20);
