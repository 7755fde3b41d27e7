//! The kinds of a database's pages, and which of them have an owner.
//!
//! - one-owner-per-page: a page belongs to one tree, overflow chain or list: the first that
//!   reaches it.

use super::node::{Cell, Node, NodeKind, u32_at};
use super::snapshot::Snapshot;
use crate::bad_page::BadPage;
use crate::codec_source::SourcePages;
use crate::watch::Phase;
use crate::{EngineError, Watch};

/// Why a page can't be read.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ReadFailure {
    /// The page is not authentic.
    Bad,
    /// The page is after the end of the database.
    Missing,
    /// The page is authentic, but not of the kind expected here.
    Misplaced,
}

impl std::fmt::Display for ReadFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Bad => "not authentic",
            Self::Missing => "missing",
            Self::Misplaced => "authentic, but in the wrong place",
        })
    }
}

/// The pages that are salvaged.
pub enum SalvagedPages<'a> {
    /// Of an encrypted database.
    Snapshot(Box<Snapshot<'a>>),
    /// Of a database in another product's format.
    Imported(&'a SourcePages),
}

impl SalvagedPages<'_> {
    /// How many pages are examined.
    pub fn page_count(&self) -> u32 {
        match self {
            Self::Snapshot(snapshot) => snapshot.page_count(),
            Self::Imported(pages) => pages.present_count(),
        }
    }

    /// How many pages there should be: those beyond [`SalvagedPages::page_count`] are missing.
    pub fn promised_count(&self) -> u32 {
        match self {
            Self::Snapshot(snapshot) => snapshot.promised_count(),
            Self::Imported(pages) => pages.page_count(),
        }
    }

    /// Whether a page's image is certainly that of its last commit.
    pub fn is_certain(&self, page_no: u32) -> bool {
        match self {
            Self::Snapshot(snapshot) => snapshot.is_certain(page_no),
            Self::Imported(pages) => pages.is_certain(page_no),
        }
    }

    /// How many bytes of a page SQLite uses.
    pub fn usable_size(&self) -> usize {
        match self {
            Self::Snapshot(snapshot) => snapshot.usable_size(),
            Self::Imported(pages) => pages.usable_size(),
        }
    }

    /// The size of a page in bytes.
    pub fn page_size(&self) -> u64 {
        match self {
            Self::Snapshot(snapshot) => snapshot.page_size(),
            Self::Imported(pages) => u64::try_from(pages.page_size()).unwrap_or(u64::MAX),
        }
    }

    /// The bad parts of the logs.
    pub fn bad_logs(&self) -> &[BadPage] {
        match self {
            Self::Snapshot(snapshot) => snapshot.bad_logs(),
            Self::Imported(pages) => pages.bad_logs(),
        }
    }

    /// Whether it is SQLite's lock-byte page, which has no content.
    pub fn is_lock_page(&self, page_no: u32) -> bool {
        match self {
            Self::Snapshot(snapshot) => snapshot.is_lock_page(page_no),
            Self::Imported(pages) => pages.is_lock_page(page_no),
        }
    }

    /// The decrypted page; `None` if it is missing or not authentic.
    pub fn page(&mut self, page_no: u32) -> Option<Vec<u8>> {
        match self {
            Self::Snapshot(snapshot) => snapshot.page(page_no),
            Self::Imported(pages) => {
                let mut page = vec![0; pages.page_size()];
                let is_there = (1..=pages.present_count()).contains(&page_no);
                (is_there && pages.read(page_no, &mut page).is_ok()).then_some(page)
            }
        }
    }
}

/// The pages of a database, each examined once.
pub struct PageSurvey<'a> {
    pages: SalvagedPages<'a>,
    /// Page n at index n-1.
    marks: Vec<Mark>,
    done: u64,
}

/// The state of a page.
#[derive(Clone, Copy)]
struct Mark {
    is_bad: bool,
    is_taken: bool,
    kind: Option<NodeKind>,
}

impl<'a> PageSurvey<'a> {
    /// Examines every page.
    ///
    /// # Errors
    /// [`EngineError::Interrupted`].
    pub fn survey(mut pages: SalvagedPages<'a>, watch: &Watch) -> Result<Self, EngineError> {
        let (count, size) = (pages.page_count(), pages.page_size());
        let mut marks = Vec::new();
        for page_no in 1..=count {
            watch.check()?;
            let page = pages.page(page_no);
            let is_lock_page = pages.is_lock_page(page_no);
            marks.push(Mark {
                is_bad: page.is_none() && !is_lock_page,
                is_taken: is_lock_page,
                kind: page.and_then(|page| NodeKind::of(&page, page_no)),
            });
            watch.report(Phase::Verifying, u64::from(page_no) * size, u64::from(count) * size);
        }
        Ok(Self { pages, marks, done: 0 })
    }

    /// The pages.
    pub fn pages(&self) -> &SalvagedPages<'a> {
        &self.pages
    }

    /// The pages that are not authentic, or missing.
    pub fn bad_pages(&self) -> impl Iterator<Item = u32> {
        let missing = (self.pages.page_count()..self.pages.promised_count()).map(|page_no| page_no + 1);
        (1..=self.pages.page_count())
            .zip(&self.marks)
            .filter(|(_, mark)| mark.is_bad)
            .map(|(page_no, _)| page_no)
            .chain(missing.filter(|&page_no| !self.pages.is_lock_page(page_no)))
    }

    /// How many of those there are, without enumerating the missing ones: if SQLite's lock-byte
    /// page is among them, it is counted too.
    pub fn bad_count(&self) -> u64 {
        let (here, promised) = (self.pages.page_count(), self.pages.promised_count());
        let bad = self.marks.iter().filter(|mark| mark.is_bad).count();
        u64::try_from(bad).unwrap_or(u64::MAX) + u64::from(promised - here)
    }

    /// The pages that are readable, but whose newest image may be lost (no-older-substitute in
    /// `snapshot.rs`), or whose committed one may (no-uncommitted-substitute in `codec_source/logs.rs`).
    pub fn uncertain_pages(&self) -> impl Iterator<Item = u32> {
        (1..=self.pages.page_count())
            .zip(&self.marks)
            .filter(|(page_no, mark)| {
                !mark.is_bad && !self.pages.is_certain(*page_no) && !self.pages.is_lock_page(*page_no)
            })
            .map(|(page_no, _)| page_no)
    }

    /// The authentic leaves of tables that have no owner.
    pub fn untaken_leaves(&self) -> Vec<u32> {
        (1..=self.pages.page_count())
            .zip(&self.marks)
            .filter(|(_, mark)| mark.kind == Some(NodeKind::TableLeaf) && !mark.is_taken)
            .map(|(page_no, _)| page_no)
            .collect()
    }

    /// Marks a page as taken (one-owner-per-page); returns whether it was free.
    pub fn take(&mut self, page_no: u32) -> bool {
        match self.mark_mut(page_no) {
            Some(mark) => !std::mem::replace(&mut mark.is_taken, true),
            None => false,
        }
    }

    /// The decrypted page.
    pub fn page(&mut self, page_no: u32) -> Result<Vec<u8>, ReadFailure> {
        if self.mark_mut(page_no).is_none() {
            return Err(ReadFailure::Missing);
        }
        self.pages.page(page_no).ok_or(ReadFailure::Bad)
    }

    /// A page of a b-tree, with its bytes.
    pub fn node(&mut self, page_no: u32) -> Result<(Node, Vec<u8>), ReadFailure> {
        let page = self.page(page_no)?;
        let node = Node::parse(&page, page_no, self.pages.usable_size()).ok_or(ReadFailure::Misplaced)?;
        Ok((node, page))
    }

    /// The whole payload of a cell. Takes its overflow pages.
    ///
    /// # Errors
    /// The page at which the payload ends early, and why.
    pub fn payload(&mut self, page: &[u8], cell: &Cell) -> Result<Vec<u8>, (u32, ReadFailure)> {
        let (start, size) = cell.local;
        let mut payload = page[start..start + size].to_vec();
        let mut next = cell.overflow;
        while payload.len() < cell.payload_size {
            let page_no = next.unwrap_or(0);
            let lost = |why| (page_no, why);
            let page = self.page(page_no).map_err(lost)?;
            if !self.take(page_no) {
                return Err(lost(ReadFailure::Misplaced));
            }
            let wanted = (cell.payload_size - payload.len()).min(self.pages.usable_size() - 4);
            payload.extend_from_slice(&page[4..4 + wanted]);
            next = u32_at(&page, 0);
        }
        Ok(payload)
    }

    /// Reports that one more page of rows was copied.
    pub fn report_copied(&mut self, watch: &Watch) {
        let size = self.pages.page_size();
        let total = u64::from(self.pages.page_count()) * size;
        self.done = (self.done + size).min(total);
        watch.report(Phase::Copying, self.done, total);
    }

    fn mark_mut(&mut self, page_no: u32) -> Option<&mut Mark> {
        let index = usize::try_from(page_no).ok()?.checked_sub(1)?;
        self.marks.get_mut(index)
    }
}
