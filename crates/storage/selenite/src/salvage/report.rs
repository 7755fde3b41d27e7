//! The result of a salvage.

use std::path::PathBuf;
use std::time::Duration;

use selenite_cipher::Suite;
use selenite_format::PageSize;
use selenite_keyring::SlotSummary;

use super::page_survey::ReadFailure;
use super::snapshot::LISTED_MAX;
use super::tree::Hole;
use crate::bad_page::BadPage;

/// The rows that were salvaged, and what was lost.
#[derive(Debug)]
pub struct Salvaged {
    /// The new database.
    pub path: PathBuf,
    /// The suite that its pages are sealed in.
    pub suite: Suite,
    /// The size of its pages.
    pub page_size: PageSize,
    /// Its size in bytes.
    pub size: u64,
    /// How many pages the damaged database has.
    pub page_count: u32,
    /// Its pages that are not authentic, at most [`LISTED_MAX`]. They may have had no row.
    pub bad_pages: Vec<u32>,
    /// How many pages are not authentic.
    pub bad_count: u64,
    /// Pages that were used, though their last committed image may be in a bad part of a log, at
    /// most [`LISTED_MAX`].
    pub uncertain_pages: Vec<u32>,
    /// How many pages are uncertain.
    pub uncertain_count: u64,
    /// Bad parts of the logs: later commits may be lost; of a journal, records that were not rolled back.
    pub bad_logs: Vec<BadPage>,
    /// Whether every table, index, view and trigger is known.
    pub schema: SchemaState,
    /// One report per table.
    pub tables: Vec<TableReport>,
    /// Entries of the schema that could not be recreated.
    pub not_made: Vec<NotMade>,
    /// Rows whose table is not certain, and the table that has them now.
    pub strays: Option<Strays>,
    /// The key slots of the new database.
    pub slots: Vec<SlotSummary>,
    /// The key slots that could not be recreated.
    pub dropped: Vec<SlotSummary>,
    /// Files that earlier runs left behind; another run may be using them.
    pub leftovers: Vec<PathBuf>,
    /// How long it took.
    pub elapsed: Duration,
}

/// How much of the schema is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SchemaState {
    /// All of it.
    Whole,
    /// Some tables, indexes, views or triggers may be missing.
    Partial,
    /// None of it: page 1 is lost.
    Lost,
}

/// One table.
#[derive(Debug)]
pub struct TableReport {
    /// Its name.
    pub name: String,
    /// How many rows were copied.
    pub row_count: u64,
    /// How many of them were found on pages that no page refers to.
    pub found_count: u64,
    /// What was not copied, at most [`LISTED_MAX`].
    pub lost: Vec<Lost>,
    /// How many rows and pages were not copied.
    pub lost_count: u64,
}

/// A lost part of a table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Lost {
    /// A page, and all pages below it.
    Page(Hole),
    /// A row.
    Row {
        /// Its rowid, if it has one.
        rowid: Option<i64>,
        /// The page that could not be read or was rejected.
        page_no: u32,
        /// The reason.
        why: String,
    },
}

/// An entry of the schema that could not be recreated.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NotMade {
    /// `table`, `index`, `view` or `trigger`.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// SQLite's message.
    pub why: String,
}

/// Rows whose table is not certain.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Strays {
    /// The table that has them now.
    pub table: String,
    /// How many there are.
    pub row_count: u64,
    /// How many more rows could not be read.
    pub lost_count: u64,
}

impl Salvaged {
    /// Whether nothing was lost.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.schema == SchemaState::Whole
            && self.bad_logs.is_empty()
            && self.uncertain_count == 0
            && self.not_made.is_empty()
            && self.strays.is_none()
            && self.tables.iter().all(|table| table.lost_count == 0)
    }

    /// How many rows were copied into their tables.
    #[must_use]
    pub fn row_count(&self) -> u64 {
        self.tables.iter().map(|table| table.row_count).sum()
    }
}

impl TableReport {
    pub(super) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            row_count: 0,
            found_count: 0,
            lost: Vec::new(),
            lost_count: 0,
        }
    }

    pub(super) fn lose(&mut self, lost: Lost) {
        self.lost_count += 1;
        if self.lost.len() < LISTED_MAX {
            self.lost.push(lost);
        }
    }

    pub(super) fn lose_row(&mut self, rowid: Option<i64>, page_no: u32, why: impl Into<String>) {
        self.lose(Lost::Row {
            rowid,
            page_no,
            why: why.into(),
        });
    }
}

impl std::fmt::Display for Lost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Page(hole) => {
                write!(f, "page {}: {}: {}", hole.page_no, hole.why, hole.rows())
            }
            Self::Row {
                rowid: Some(rowid),
                page_no,
                why,
            } => write!(f, "row {rowid}: page {page_no}: {why}"),
            Self::Row {
                rowid: None,
                page_no,
                why,
            } => write!(f, "a row: page {page_no}: {why}"),
        }
    }
}

/// The message for a record that could not be read completely.
pub(super) fn broken_off(why: ReadFailure) -> String {
    format!("the rest of the row is {why}")
}
