//! The trailers of all pages, collected for an anchor or compared with one.
//!
//! - runs-in-any-order: runs arrive from several threads in any order. A run with a page that did
//!   not open stays incomplete until the page was read a second time.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use selenite_cipher::{SessionId, TRAILER_SIZE, Trailer, sha256};
use selenite_format::Geometry;
use selenite_format::anchor::{Anchor, Mark, run_page_count};

/// Collects the trailers of all pages.
pub(crate) struct Tally<'a> {
    geometry: Geometry,
    known: Option<&'a Anchor>,
    inner: Mutex<Inner>,
}

/// The collected results of all pages.
#[derive(Default)]
pub(crate) struct Tallied {
    /// The mark of every page; zeros for the lock page. Shorter than the file if a page did not open.
    pub(crate) marks: Vec<Mark>,
    /// The hash over the runs (FORMAT 10.4).
    pub(crate) root: [u8; 32],
    /// The highest counter of each session.
    pub(crate) sessions: BTreeMap<SessionId, u32>,
    /// The pages that differ from the anchor.
    pub(crate) differing: Differing,
}

/// Pages that differ from an anchor.
#[derive(Default)]
pub(crate) struct Differing {
    /// All of them.
    pub(crate) pages: Vec<u32>,
    /// Those of a session that is not in the anchor.
    pub(crate) unknown: Vec<u32>,
    /// Those that were put back.
    pub(crate) older: Vec<u32>,
}

/// How an image compares with an anchor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Judgement {
    /// It equals the anchor's.
    Same,
    /// It differs.
    Changed,
    /// It differs, and its session is not in the anchor.
    Unknown,
    /// It differs, and it was sealed before the anchor was written.
    Older,
}

#[derive(Default)]
struct Inner {
    /// By the number of the first page.
    runs: BTreeMap<u32, Run>,
    /// Incomplete runs (`runs-in-any-order`).
    open: BTreeMap<u32, Vec<Option<[u8; TRAILER_SIZE]>>>,
    sessions: BTreeMap<SessionId, u32>,
    differing: Differing,
}

struct Run {
    digest: [u8; 32],
    marks: Vec<Mark>,
}

/// later-images-count-higher of the parent module.
pub(crate) fn judge(anchor: &Anchor, page_no: u32, trailer: &[u8; TRAILER_SIZE]) -> Judgement {
    let index = usize::try_from(page_no).unwrap_or(usize::MAX).wrapping_sub(1);
    if anchor.marks.get(index) == Some(&mark(trailer)) {
        return Judgement::Same;
    }
    let nonce = Trailer::parse(trailer).nonce;
    match anchor.sessions.get(&nonce.session) {
        Some(&highest) if nonce.counter <= highest => Judgement::Older,
        Some(_) => Judgement::Changed,
        None => Judgement::Unknown,
    }
}

impl<'a> Tally<'a> {
    /// An empty tally. Pages are compared with `known`, if there is one.
    pub(crate) fn new(geometry: Geometry, known: Option<&'a Anchor>) -> Self {
        let inner = Mutex::default();
        Self { geometry, known, inner }
    }

    /// Adds a run of pages from `first` on; the last run may be shorter. `None` for the lock page
    /// and for pages that did not open.
    pub(crate) fn run(&self, first: u32, trailers: &[Option<[u8; TRAILER_SIZE]>]) {
        let mut sessions = BTreeMap::new();
        let mut differing = Differing::default();
        for (page_no, trailer) in (first..).zip(trailers) {
            if let Some(trailer) = trailer {
                self.note(page_no, trailer, &mut sessions, &mut differing);
            }
        }
        let run = self.close(first, trailers);
        let mut inner = self.lock();
        inner.merge(sessions, differing);
        match run {
            Some(run) => drop(inner.runs.insert(first, run)),
            None => drop(inner.open.insert(first, trailers.to_vec())),
        }
    }

    /// Adds a page that opened when it was read a second time.
    pub(crate) fn page(&self, page_no: u32, trailer: &[u8; TRAILER_SIZE]) {
        let (mut sessions, mut differing) = (BTreeMap::new(), Differing::default());
        self.note(page_no, trailer, &mut sessions, &mut differing);
        let size = run_page_count(self.geometry.page_size());
        let within = page_no.saturating_sub(1) % size;
        let first = page_no - within;
        let mut inner = self.lock();
        inner.merge(sessions, differing);
        let Some(open) = inner.open.get_mut(&first) else { return };
        if let Some(place) = usize::try_from(within).ok().and_then(|index| open.get_mut(index)) {
            *place = Some(*trailer);
        }
        if let Some(run) = self.close(first, open) {
            inner.open.remove(&first);
            inner.runs.insert(first, run);
        }
    }

    fn note(
        &self,
        page_no: u32,
        trailer: &[u8; TRAILER_SIZE],
        sessions: &mut BTreeMap<SessionId, u32>,
        differing: &mut Differing,
    ) {
        let nonce = Trailer::parse(trailer).nonce;
        let highest = sessions.entry(nonce.session).or_insert(nonce.counter);
        *highest = nonce.counter.max(*highest);
        if let Some(known) = self.known {
            differing.add(page_no, judge(known, page_no, trailer));
        }
    }

    /// The run's digest (FORMAT 10.4) and marks, if all its pages are known.
    fn close(&self, first: u32, trailers: &[Option<[u8; TRAILER_SIZE]>]) -> Option<Run> {
        let mut bytes = Vec::with_capacity(trailers.len() * (4 + TRAILER_SIZE));
        let mut marks = Vec::with_capacity(trailers.len());
        for (page_no, trailer) in (first..).zip(trailers) {
            if page_no == self.geometry.lock_page().0 {
                marks.push(Mark::default());
                continue;
            }
            let trailer = trailer.as_ref()?;
            bytes.extend_from_slice(&page_no.to_be_bytes());
            bytes.extend_from_slice(trailer);
            marks.push(mark(trailer));
        }
        let digest = sha256(&bytes);
        Some(Run { digest, marks })
    }

    /// The results.
    pub(crate) fn finish(self) -> Tallied {
        let inner = self.inner.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut tallied = Tallied {
            sessions: inner.sessions,
            differing: inner.differing,
            ..Tallied::default()
        };
        let mut digests = Vec::with_capacity(inner.runs.len() * 32);
        for (first, run) in inner.runs {
            // Runs after a missing one are left out: the root then matches no anchor.
            if u32::try_from(tallied.marks.len() + 1) == Ok(first) {
                digests.extend_from_slice(&run.digest);
                tallied.marks.extend(run.marks);
            }
        }
        tallied.root = sha256(&digests);
        tallied
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn merge(&mut self, sessions: BTreeMap<SessionId, u32>, differing: Differing) {
        for (session, counter) in sessions {
            let highest = self.sessions.entry(session).or_insert(counter);
            *highest = counter.max(*highest);
        }
        self.differing.pages.extend(differing.pages);
        self.differing.unknown.extend(differing.unknown);
        self.differing.older.extend(differing.older);
    }
}

impl Differing {
    /// Adds the judgement of a page.
    pub(crate) fn add(&mut self, page_no: u32, judgement: Judgement) {
        match judgement {
            Judgement::Same => return,
            Judgement::Changed => {}
            Judgement::Unknown => self.unknown.push(page_no),
            Judgement::Older => self.older.push(page_no),
        }
        self.pages.push(page_no);
    }
}

/// The mark of an image is the first half of its tag.
fn mark(trailer: &[u8; TRAILER_SIZE]) -> Mark {
    let tag = Trailer::parse(trailer).tag;
    let mut mark = Mark::default();
    mark.0.copy_from_slice(&tag[..8]);
    mark
}

#[cfg(test)]
mod tests;
