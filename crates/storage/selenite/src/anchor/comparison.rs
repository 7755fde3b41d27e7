//! What a database is beside its anchor: the same, changed, or older.

use selenite_cipher::TRAILER_SIZE;
use selenite_format::anchor::Anchor;

use super::tally::{Judgement, Tallied, judge};
use crate::bad_page::{BAD_LISTED_MAX, BadPage, Origin};

/// What a database is beside its anchor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Page by page what it was.
    Same,
    /// It was written to since. That it is newer is not proved.
    Changed,
    /// A page or all of it was put back from an older copy.
    Older,
}

impl Verdict {
    /// In a word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Changed => "changed",
            Self::Older => "older",
        }
    }
}

/// A database beside its anchor.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// When the anchor was written: seconds since 1970-01-01 UTC.
    pub made: u64,
    /// The superblock's generation, then and now.
    pub generation: (u64, u64),
    /// SQLite's change counter, then and now; nothing where page 1 does not open.
    pub change_counter: (u32, Option<u32>),
    /// How many pages the file had, and has.
    pub page_count: (u32, u32),
    /// How many pages differ.
    pub changed_count: u64,
    /// How many of these were sealed in a session that the anchor does not know: new or old, it can't tell.
    pub unknown_count: u64,
    /// The pages that were put back, as many as are listed ([`BAD_LISTED_MAX`]).
    pub older: Vec<BadPage>,
    /// How many were.
    pub older_count: u64,
    is_same: bool,
}

impl Comparison {
    /// Compares all that was seen of a database file.
    pub(crate) fn new(anchor: &Anchor, tallied: &Tallied, (generation, page_count): (u64, u32)) -> Self {
        let mut comparison = Self {
            made: anchor.made,
            generation: (anchor.generation, generation),
            change_counter: (anchor.change_counter, None),
            page_count: (anchor.page_count(), page_count),
            changed_count: count(tallied.differing.pages.len()),
            unknown_count: count(tallied.differing.unknown.len()),
            older: Vec::new(),
            older_count: 0,
            is_same: tallied.root == anchor.root && generation == anchor.generation,
        };
        let mut older = tallied.differing.older.clone();
        older.sort_unstable();
        for page_no in older {
            comparison.add_older(Origin::Database, page_no, None);
        }
        comparison
    }

    /// Compares an image of a log: one that a reader would be given in the place of the page. `is_counted` says that
    /// the page differs already in the file.
    pub(crate) fn add_image(
        &mut self,
        anchor: &Anchor,
        (origin, index): (Origin, u64),
        page_no: u32,
        trailer: &[u8; TRAILER_SIZE],
        is_counted: bool,
    ) {
        let judgement = judge(anchor, page_no, trailer);
        if judgement == Judgement::Same {
            return;
        }
        self.is_same = false;
        if !is_counted {
            self.changed_count += 1;
            self.unknown_count += u64::from(judgement == Judgement::Unknown);
        }
        if judgement == Judgement::Older {
            self.add_older(origin, page_no, Some(index));
        }
    }

    /// The change counter of the present page 1.
    pub(crate) fn set_change_counter(&mut self, counter: Option<u32>) {
        self.change_counter.1 = counter;
    }

    fn add_older(&mut self, origin: Origin, page_no: u32, index: Option<u64>) {
        self.older_count += 1;
        if self.older.len() < BAD_LISTED_MAX {
            let why = "older than the anchor: put back from a copy".to_owned();
            self.older.push(BadPage::new(origin, page_no, index, why));
        }
    }

    /// Whether the superblock is of an older generation.
    #[must_use]
    pub fn generation_is_lower(&self) -> bool {
        self.generation.1 < self.generation.0
    }

    /// Whether SQLite's change counter went back. It counts modulo 2^32, and never goes half of that ahead.
    #[must_use]
    pub fn change_counter_is_lower(&self) -> bool {
        let (then, now) = self.change_counter;
        now.is_some_and(|now| (1..1 << 31).contains(&then.wrapping_sub(now)))
    }

    /// All of it in a word.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        if self.older_count > 0 || self.generation_is_lower() || self.change_counter_is_lower() {
            Verdict::Older
        } else if self.is_same {
            Verdict::Same
        } else {
            Verdict::Changed
        }
    }
}

fn count(size: usize) -> u64 {
    u64::try_from(size).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_counter_that_went_back_is_told_from_one_that_went_round() {
        let counters = |then, now| Comparison {
            made: 0,
            generation: (1, 1),
            change_counter: (then, now),
            page_count: (1, 1),
            changed_count: 0,
            unknown_count: 0,
            older: Vec::new(),
            older_count: 0,
            is_same: true,
        };
        for (then, now, is_lower) in [
            (5, Some(5), false),
            (5, Some(6), false),
            (5, Some(4), true),
            (u32::MAX, Some(2), false),
            (2, Some(u32::MAX), true),
            (5, None, false),
        ] {
            let comparison = counters(then, now);
            assert_eq!(comparison.change_counter_is_lower(), is_lower, "{then} {now:?}");
            let expected = if is_lower { Verdict::Older } else { Verdict::Same };
            assert_eq!(comparison.verdict(), expected);
        }
    }
}
