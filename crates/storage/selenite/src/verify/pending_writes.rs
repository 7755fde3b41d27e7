//! The pages that a log or journal is about to write to the database.

use super::{Subject, backfill, journal, wal};
use crate::EngineError;

/// The pages in the log or journal that are still to be written.
pub(super) struct PendingWrites<'a> {
    wal: Option<&'a wal::LogFrames>,
    journal: Option<&'a journal::JournalRecords>,
    /// How many frames of the log are in the database already (copied-frames-stay-copied in
    /// `backfill.rs`).
    copied_count: u64,
}

impl<'a> PendingWrites<'a> {
    pub(super) fn new(
        subject: &Subject<'_>,
        wal: Option<&'a wal::LogFrames>,
        journal: Option<&'a journal::JournalRecords>,
    ) -> Result<Self, EngineError> {
        let copied_count = match wal.and_then(|wal| wal.salts) {
            Some(salts) => backfill::copied_count(subject, salts)?,
            None => 0,
        };
        Ok(Self {
            wal,
            // The transaction of a super-journal may have been committed: then nothing is rolled
            // back.
            journal: journal.filter(|journal| !journal.has_super_journal),
            copied_count,
        })
    }

    /// Whether it has the page.
    pub(super) fn holds(&self, page_no: u32) -> bool {
        let frame = self.wal.and_then(|wal| wal.frames.get(&page_no));
        frame.is_some_and(|frame| frame.index >= self.copied_count)
            || self
                .journal
                .is_some_and(|journal| journal.records.contains_key(&page_no))
    }

    /// The pages from `first` to `last` that it has.
    pub(super) fn held_between(&self, first: u32, last: u32) -> Vec<u32> {
        if first > last {
            return Vec::new();
        }
        let frames = self.wal.iter().flat_map(|wal| wal.frames.range(first..=last));
        let records = self
            .journal
            .iter()
            .flat_map(|journal| journal.records.range(first..=last));
        let mut held: Vec<u32> = frames
            .map(|(&page_no, _)| page_no)
            .chain(records.map(|(&page_no, _)| page_no))
            .collect();
        held.retain(|&page_no| self.holds(page_no));
        held.sort_unstable();
        held.dedup();
        held
    }
}
