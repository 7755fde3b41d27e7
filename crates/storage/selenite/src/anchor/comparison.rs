//! The comparison of a database with its anchor: the same, changed, or older.

use selenite_cipher::TRAILER_SIZE;
use selenite_format::anchor::Anchor;

use super::tally::{Judgement, Tallied, judge};
use crate::bad_page::{BAD_LISTED_MAX, BadPage, Origin};

/// The result of a comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Every page is as it was.
    Same,
    /// It was written to since. This is no proof that it is newer.
    Changed,
    /// A page or the whole file was put back from an older copy.
    Older,
}

impl Verdict {
    /// The verdict as one word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Changed => "changed",
            Self::Older => "older",
        }
    }
}

/// A database compared with its anchor.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// When the anchor was written: seconds since 1970-01-01 UTC.
    pub made: u64,
    /// The superblock's generation, then and now.
    pub generation: (u64, u64),
    /// SQLite's change counter, then and now; `None` if page 1 does not open.
    pub change_counter: (u32, Option<u32>),
    /// The number of pages, then and now.
    pub page_count: (u32, u32),
    /// The number of pages that differ.
    pub changed_count: u64,
    /// The number of these that were sealed in a session that is not in the anchor: whether they
    /// are new is unknown.
    pub unknown_count: u64,
    /// The pages that were put back, at most [`BAD_LISTED_MAX`].
    pub older: Vec<BadPage>,
    /// The number of pages that were put back.
    pub older_count: u64,
    is_same: bool,
}

impl Comparison {
    /// Compares the collected trailers of a database file.
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

    /// Compares an image in a log that a reader would get instead of the page in the file.
    /// `is_counted` is true if the page already differs in the file.
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

    /// Whether SQLite's change counter decreased. It counts modulo 2^32, and never advances by half
    /// of that.
    #[must_use]
    pub fn change_counter_is_lower(&self) -> bool {
        let (then, now) = self.change_counter;
        now.is_some_and(|now| (1..1 << 31).contains(&then.wrapping_sub(now)))
    }

    /// The verdict on all of it.
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
    fn a_decreased_change_counter_is_distinguished_from_a_wrapped_one() {
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
