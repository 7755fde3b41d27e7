//! Plans of statements, for SET SHOWPLAN_ALL, SHOWPLAN_TEXT, SHOWPLAN_XML, STATISTICS PROFILE and STATISTICS XML.
//!
//! - `plans-are-sqlites`: a plan is what SQLite says that it will do, and what is done around it. An operator has SQL
//!   Server's name only where it does the same; any other keeps SQLite's words.
//! - `nothing-is-invented`: rows and costs that were not estimated, and counts that were not taken, are NULL, or are
//!   not in the document.

mod access;
mod from_sqlite;
mod operator;
mod outline;
mod rows;
mod xml;

pub(crate) use from_sqlite::{PlanLine, PlanSources, operators};
pub(crate) use operator::{Operator, PlanObject};
pub(crate) use outline::Outline;
pub(crate) use rows::{PlanSet, all, profile, texts};
pub(crate) use xml::document;

/// What a session wants to know of the plans of its statements.
#[derive(Default)]
pub(crate) struct Explained {
    /// Whether the statement that runs is explained, in place of running it or besides.
    pub is_wanted: bool,
    /// The plan of the last one.
    pub operator: Option<Operator>,
}

/// A statement with its plan.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct PlannedStatement {
    /// Its text.
    pub text: String,
    /// SQL Server's words for its kind.
    pub kind: &'static str,
    /// What is done; `None` for a statement that reads and writes no rows.
    pub operator: Option<Operator>,
    /// How many rows it read or changed, if it was run.
    pub row_count: Option<u64>,
}
