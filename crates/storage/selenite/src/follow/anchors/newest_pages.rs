//! The pages that were sealed last, by their sessions' counters.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use selenite_format::anchor::{NamedPage, ShortAnchor};
use selenite_vfs::error::VfsError;
use selenite_vfs::snapshot::{Sealed, Snapshot};

use super::{KEPT_MIN, NAMED_MAX};

/// What the pages say that were read: the newest of each session.
pub(super) struct Read {
    pub(super) pages: Vec<(u32, Sealed)>,
    /// What the file has of pages whose newest image is in the log.
    pub(super) below: Vec<(u32, Sealed)>,
    /// How many are kept before they are thinned.
    kept_max: usize,
    /// Pages that are not thinned.
    always: BTreeSet<u32>,
    pub(super) count: u64,
}

impl Read {
    pub(super) fn new(given_up: &BTreeSet<u32>) -> Self {
        Self {
            pages: Vec::new(),
            below: Vec::new(),
            kept_max: KEPT_MIN,
            always: given_up.iter().copied().chain([1]).collect(),
            count: 0,
        }
    }

    pub(super) fn take(&mut self, page_no: u32, image: &[u8]) -> Result<(), VfsError> {
        self.pages.push((page_no, Sealed::of(image)));
        self.count += 1;
        if self.pages.len() >= self.kept_max {
            self.pages = thinned(std::mem::take(&mut self.pages), &self.always);
            self.kept_max = KEPT_MIN.max(2 * self.pages.len());
        }
        Ok(())
    }
}

/// The pages by how recently they were sealed: first the last one of each session, then the last but one, and so on.
pub(super) fn newest_first(read: Vec<(u32, Sealed)>) -> Vec<(u32, Sealed)> {
    let mut ranked: Vec<(usize, u32, Sealed)> = ranked(read).collect();
    ranked.sort_by_key(|(rank, page_no, _)| (*rank, *page_no));
    ranked
        .into_iter()
        .map(|(_, page_no, sealed)| (page_no, sealed))
        .collect()
}

/// Those that may be among the newest, and those that are always kept.
fn thinned(read: Vec<(u32, Sealed)>, always: &BTreeSet<u32>) -> Vec<(u32, Sealed)> {
    ranked(read)
        .filter(|(rank, page_no, _)| *rank < NAMED_MAX || always.contains(page_no))
        .map(|(_, page_no, sealed)| (page_no, sealed))
        .collect()
}

/// Each page with the number of pages that its session sealed after it.
fn ranked(mut read: Vec<(u32, Sealed)>) -> impl Iterator<Item = (usize, u32, Sealed)> {
    read.sort_by_key(|(_, sealed)| (sealed.session, Reverse(sealed.counter)));
    let mut last = None;
    let mut rank = 0;
    read.into_iter().map(move |(page_no, sealed)| {
        rank = if last == Some(sealed.session) { rank + 1 } else { 0 };
        last = Some(sealed.session);
        (rank, page_no, sealed)
    })
}

/// In which turn the pages of an anchor count as named, which it does not say: those later that their sessions sealed
/// later.
pub(super) fn recency(
    snapshot: &mut Snapshot<'_>,
    pages: &BTreeMap<u32, NamedPage>,
) -> Result<BTreeMap<u32, u64>, VfsError> {
    let mut image = vec![0; snapshot.page_size().bytes()];
    let mut read = Vec::with_capacity(pages.len());
    let page_count = snapshot.page_count();
    for &page_no in pages.keys().filter(|&&page_no| page_no <= page_count) {
        snapshot.read(page_no, &mut image)?;
        read.push((page_no, Sealed::of(&image)));
    }
    let last_first = newest_first(read).into_iter().map(|(page_no, _)| page_no);
    Ok(last_first.zip((0..=ShortAnchor::PAGES_MAX as u64).rev()).collect())
}
