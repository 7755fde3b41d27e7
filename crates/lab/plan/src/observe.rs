//! Observations from the monitoring output of other systems.
//!
//! Each module turns successive snapshots of a server's counters into an [`Observation`](crate::Observation), with one
//! interval for each pair of snapshots. [`query`] has the statements that make the snapshots.
//!
//! - `no-silent-guess`: a counter that is missing, negative, lower than before or of another server
//!   is refused with its position. Estimates and omissions are listed in the notes of the
//!   observation.
//! - `cut-is-found`: a truncated text is refused, or gives the intervals before the truncation.

pub mod by_hand;
mod delimited;
pub mod mariadb;
pub mod postgresql;
pub mod quantity;
pub mod snapshot;
pub mod sql_server;
pub mod sqlite;
pub mod trace;

pub use snapshot::{SnapshotText, Supplement};

/// The names of all queries, and their texts: each makes one snapshot.
pub const QUERIES: [(&str, &str); 13] = [
    ("sqlite", sqlite::QUERY),
    ("sql-server", sql_server::QUERY_FILES),
    ("sql-server-connections", sql_server::QUERY_CONNECTIONS),
    ("mariadb", mariadb::QUERY_MARIADB),
    ("mysql", mariadb::QUERY_MYSQL),
    ("postgresql-13", postgresql::QUERY_13),
    ("postgresql-14", postgresql::QUERY_14),
    ("postgresql-15", postgresql::QUERY_14),
    ("postgresql-16", postgresql::QUERY_16),
    ("postgresql-17", postgresql::QUERY_16),
    ("postgresql-18", postgresql::QUERY_18),
    ("sql-server-performance", sql_server::PERFORMANCE_COMMAND),
    ("sql-server-file-statistics", sql_server::QUERY_FILES_PLAIN),
];

/// The query of a name: what `selenite plan observe --print-query NAME` prints.
#[must_use]
pub fn query(name: &str) -> Option<&'static str> {
    QUERIES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}
