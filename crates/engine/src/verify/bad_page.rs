//! A place that does not hold what was written there.

use std::fmt;

/// The file in which it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Origin {
    /// The database file.
    Database,
    /// The write-ahead log.
    Wal,
    /// The rollback journal.
    Journal,
}

impl Origin {
    /// In a word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Database => "database",
            Self::Wal => "wal",
            Self::Journal => "journal",
        }
    }
}

/// A place that does not hold what was written there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BadPage {
    /// The file in which it is.
    pub origin: Origin,
    /// Which page it should be; 0 where it is a header.
    pub page_no: u32,
    /// Its place in a log: the frame or record, from 0.
    pub index: Option<u64>,
    /// What is wrong with it.
    pub why: String,
}

impl fmt::Display for BadPage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.origin, self.index) {
            (Origin::Database, _) | (Origin::Wal | Origin::Journal, None) if self.page_no == 0 => {
                write!(f, "{}: {}", self.origin.word(), self.why)
            }
            (Origin::Wal, Some(index)) => write!(f, "wal frame {index}, page {}: {}", self.page_no, self.why),
            (Origin::Journal, Some(index)) => {
                write!(f, "journal record {index}, page {}: {}", self.page_no, self.why)
            }
            (Origin::Database | Origin::Wal | Origin::Journal, _) => write!(f, "page {}: {}", self.page_no, self.why),
        }
    }
}

/// Bad places, counted and, up to a limit, listed.
#[derive(Default)]
pub struct Findings {
    bad: Vec<BadPage>,
    bad_count: u64,
}

impl Findings {
    /// Adds one.
    pub fn add(&mut self, bad: BadPage) {
        self.bad_count += 1;
        if self.bad.len() < BAD_LISTED_MAX {
            self.bad.push(bad);
        }
    }

    /// Them and their count, by file and place.
    pub fn into_sorted(mut self) -> (Vec<BadPage>, u64) {
        self.bad.sort_by_key(|bad| (bad.origin, bad.index, bad.page_no));
        (self.bad, self.bad_count)
    }
}

/// 10,000: nobody restores more of them one by one.
pub const BAD_LISTED_MAX: usize = 10_000;
