//! A page, frame or record that does not hold what was written there.

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
    /// The file as one word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Database => "database",
            Self::Wal => "wal",
            Self::Journal => "journal",
        }
    }
}

/// What a page belongs to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Owner {
    /// `sqlite_schema`, the list of tables and indexes.
    Schema,
    /// A table.
    Table(String),
    /// An index.
    Index {
        /// Its name.
        name: String,
        /// The table that it belongs to.
        table: String,
    },
    /// The list of free pages, which contains no data.
    FreeList,
    /// The pointer map of a database with `auto_vacuum`.
    PointerMap,
    /// No page that opens refers to it.
    Unknown,
}

impl Owner {
    /// The kind in words.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Schema => "schema",
            Self::Table(_) => "table",
            Self::Index { .. } => "index",
            Self::FreeList => "free list",
            Self::PointerMap => "pointer map",
            Self::Unknown => "unknown",
        }
    }

    /// The name of the table or index.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Table(name) | Self::Index { name, .. } => Some(name),
            Self::Schema | Self::FreeList | Self::PointerMap | Self::Unknown => None,
        }
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Schema => f.write_str("of sqlite_schema"),
            Self::Table(name) => write!(f, "of table {name}"),
            Self::Index { name, table } => write!(f, "of index {name} on table {table}"),
            Self::FreeList => f.write_str("of the list of free pages"),
            Self::PointerMap => f.write_str("of the pointer map"),
            Self::Unknown => f.write_str("of an unknown owner: no authentic page refers to it"),
        }
    }
}

/// A page, frame or record that does not hold what was written there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BadPage {
    /// The file that contains it.
    pub origin: Origin,
    /// The number of the page that should be there; 0 for a header, or if unknown.
    pub page_no: u32,
    /// Its index in a log: the frame or record, from 0.
    pub index: Option<u64>,
    /// What is wrong with it.
    pub why: String,
    /// What the page belongs to; `None` for a header, or if it was not determined.
    pub owner: Option<Owner>,
}

impl BadPage {
    pub(crate) fn new(origin: Origin, page_no: u32, index: Option<u64>, why: String) -> Self {
        Self {
            origin,
            page_no,
            index,
            why,
            owner: None,
        }
    }
}

impl fmt::Display for BadPage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.origin, self.index) {
            (Origin::Database, _) | (Origin::Wal | Origin::Journal, None) if self.page_no == 0 => {
                write!(f, "{}: {}", self.origin.word(), self.why)?;
            }
            (Origin::Wal, Some(index)) if self.page_no == 0 => write!(f, "wal frame {index}: {}", self.why)?,
            (Origin::Journal, Some(index)) if self.page_no == 0 => write!(f, "journal record {index}: {}", self.why)?,
            (Origin::Wal, Some(index)) => write!(f, "wal frame {index}, page {}: {}", self.page_no, self.why)?,
            (Origin::Journal, Some(index)) => {
                write!(f, "journal record {index}, page {}: {}", self.page_no, self.why)?;
            }
            (Origin::Database | Origin::Wal | Origin::Journal, _) => write!(f, "page {}: {}", self.page_no, self.why)?,
        }
        match &self.owner {
            Some(owner) => write!(f, "; {owner}"),
            None => Ok(()),
        }
    }
}

/// Bad pages: all are counted, and up to a limit listed.
#[derive(Default)]
pub struct Findings {
    bad: Vec<BadPage>,
    bad_count: u64,
}

impl Findings {
    /// Adds a bad page.
    pub fn add(&mut self, bad: BadPage) {
        self.bad_count += 1;
        if self.bad.len() < BAD_LISTED_MAX {
            self.bad.push(bad);
        }
    }

    /// Counts bad pages that are not listed.
    pub fn add_unlisted(&mut self, count: usize) {
        self.bad_count += u64::try_from(count).unwrap_or(u64::MAX);
    }

    /// Whether nothing is bad.
    pub(crate) fn are_none(&self) -> bool {
        self.bad_count == 0
    }

    /// The list, sorted by file and position, and the count.
    pub fn into_sorted(mut self) -> (Vec<BadPage>, u64) {
        self.bad.sort_by_key(|bad| (bad.origin, bad.index, bad.page_no));
        (self.bad, self.bad_count)
    }
}

/// 10,000: more of them are not restored one by one.
pub const BAD_LISTED_MAX: usize = 10_000;
