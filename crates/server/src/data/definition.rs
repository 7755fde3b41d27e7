//! CREATE, ALTER and DROP of what is in a database, carried out.
//!
//! D1. The caller has begun SQLite's transaction, and rolls it back if this fails: definition, SQLite's schema and catalog change together.

use selenite_plan::machine::Failure;
use selenite_plan::PlanError;
use selenite_tsql::ast::Statement;

use super::database::OpenDatabase;
use super::session_catalog::SessionCatalog;

/// What a definition is carried out with.
pub struct Work<'a> {
    /// The connection, in a transaction that writes.
    pub database: &'a OpenDatabase,
    /// What is there now.
    pub catalog: &'a SessionCatalog,
    /// The text that positions of the statement are in.
    pub source: &'a str,
}

impl Work<'_> {
    /// Carries a statement out; `None` if it is none of these.
    ///
    /// # Errors
    /// The statement's.
    pub fn carry_out(&self, statement: &Statement) -> Result<Option<()>, Failure> {
        let _ = (self.database, self.catalog, self.source);
        Err(PlanError::unsupported(&format!("This definition ({:?})", statement.position)).into())
    }
}
