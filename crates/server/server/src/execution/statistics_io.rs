//! SET STATISTICS IO: message 3615.
//!
//! - `one-line-per-statement`: SQLite counts pages by connection, not by table. So a statement's
//!   figures are reported in one line, under the name of the table that it names, or the names of
//!   all of them, separated by commas. The figures include reads for their indexes, for foreign
//!   keys and for SQLite's own schema. For a statement that names no table nothing is reported.
//! - `what-is-counted`: logical reads are pages that SQLite requested from its cache. Physical
//!   reads are those of them that came from a file, the log or the database, and neither from the
//!   cache nor from the page pool. Read-ahead reads are pages that were read without a request. SQL
//!   Server's scan count and its figures of large values have no equivalent here, and are left out.

use std::cell::RefCell;
use std::sync::Arc;

use selenite_compiler::SqlError;
use selenite_compiler::catalog::{Catalog, Relation, SystemFunction, Table};
use selenite_compiler::statement::Binding;
use selenite_runtime::machine::{Failure, Message, TableStatement};
use selenite_runtime::sqlite::tsql_error;
use selenite_tsql::ast::ObjectName;

use crate::execution::session_executor::SessionExecutor;
use crate::execution_context::ExecutionContext;
use crate::names::session_catalog::SessionCatalog;

/// What a connection and its thread have counted up to a moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PageReads {
    /// Hits and misses of SQLite's cache: 31 bits of each.
    hits: u32,
    misses: u32,
    /// Hits of the pool.
    pooled: u64,
    /// Pages that were read ahead and requested later, and all that were read ahead.
    ahead_used: u64,
    ahead: u64,
}

impl PageReads {
    /// As the VFS reports it.
    fn parse(text: &str) -> Option<Self> {
        let mut counts = text.split(' ');
        Some(Self {
            hits: counts.next()?.parse().ok()?,
            misses: counts.next()?.parse().ok()?,
            pooled: counts.next()?.parse().ok()?,
            ahead_used: counts.next()?.parse().ok()?,
            ahead: counts.next()?.parse().ok()?,
        })
    }

    /// Logical, physical and read-ahead reads between two moments.
    fn since(self, before: Self) -> (u64, u64, u64) {
        let cached = |after: u32, before: u32| u64::from(after.wrapping_sub(before) & 0x7FFF_FFFF);
        let missed = cached(self.misses, before.misses);
        let logical = cached(self.hits, before.hits) + missed;
        let at_hand = (self.pooled - before.pooled) + (self.ahead_used - before.ahead_used);
        (logical, missed.saturating_sub(at_hand), self.ahead - before.ahead)
    }
}

impl SessionExecutor<'_> {
    /// The counts before a statement, if its reads are to be reported.
    pub(crate) fn begin_reads(&self, execution: &ExecutionContext<'_>) -> Result<Option<PageReads>, SqlError> {
        if execution.state.statistics_io {
            self.page_reads()
        } else {
            Ok(None)
        }
    }

    /// Message 3615, between the rows of a statement and its DONE.
    pub(crate) fn send_reads(
        &self,
        before: Option<PageReads>,
        statement: &TableStatement<'_>,
        execution: &mut ExecutionContext<'_>,
    ) -> Result<(), Failure> {
        let Some(before) = before else { return Ok(()) };
        let names = self.tables_of(statement);
        let (Some(after), false) = (self.page_reads()?, names.is_empty()) else {
            return Ok(());
        };
        let (logical, physical, ahead) = after.since(before);
        let text = format!(
            "Table '{}'. logical reads {logical}, physical reads {physical}, read-ahead reads {ahead}.",
            names.join(", ")
        );
        execution.reply.message(&Message {
            number: 3615,
            severity: 10,
            state: 1,
            line: statement.line(),
            procedure: "",
            text: &text,
            to_log: false,
        })?;
        Ok(())
    }

    fn page_reads(&self) -> Result<Option<PageReads>, SqlError> {
        let Some(used) = self.transactions.connected().ok() else {
            return Ok(None);
        };
        let connection = &used.database.connection;
        let text: Result<String, _> = connection
            .prepare_cached("SELECT selenite_page_reads()")
            .and_then(|mut statement| statement.query_row([], |row| row.get(0)));
        let text = text.map_err(|error| tsql_error(&error))?;
        Ok(PageReads::parse(&text))
    }

    /// The tables that a statement names, itself or through views: those that are requested when it is bound.
    fn tables_of(&self, statement: &TableStatement<'_>) -> Vec<String> {
        let catalog = Asked {
            catalog: &self.scope.objects.catalog,
            names: RefCell::default(),
        };
        let binding = Binding {
            catalog: &catalog,
            variables: statement.program.variables(),
        };
        // It was bound before, or has failed and reported why.
        let _ = binding.statement(statement.statement);
        catalog.names.into_inner()
    }
}

/// A catalog that records which tables are requested from it.
struct Asked<'a> {
    catalog: &'a SessionCatalog,
    names: RefCell<Vec<String>>,
}

impl Catalog for Asked<'_> {
    fn poll(&self) -> Result<(), SqlError> {
        self.catalog.poll()
    }

    fn relation(&self, name: &ObjectName) -> Result<Option<Relation>, SqlError> {
        let found = self.catalog.relation(name)?;
        if let Some(Relation::Table(table)) = &found {
            let mut names = self.names.borrow_mut();
            if !names.contains(&table.name) {
                names.push(table.name.clone());
            }
        }
        Ok(found)
    }

    fn function(&self, name: &ObjectName) -> Result<Option<Arc<SystemFunction>>, SqlError> {
        self.catalog.function(name)
    }

    fn table_variable(&self, name: &str) -> Result<Option<Arc<Table>>, SqlError> {
        self.catalog.table_variable(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_are_the_difference_of_two_counts_that_may_have_begun_anew() {
        let before = PageReads::parse("2147483646 10 5 1 2").unwrap();
        let after = PageReads::parse("3 30 12 4 9").unwrap();
        assert_eq!(after.since(before), (25, 10, 7));
        assert_eq!(PageReads::parse("1 2 3"), None);
    }
}
