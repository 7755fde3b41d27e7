//! DROPCLEANBUFFERS, and FREEPROCCACHE with FREESYSTEMCACHE ('ALL').
//!
//! What DROPCLEANBUFFERS empties: the pool of opened pages, of all databases of this process, at once; SQLite's page
//! caches of this session at once, and of all others before their next statement on tables (`cleanups.rs`); and of
//! the system's own cache of the files, what is on disk already, as far as the system follows advice. Pages that a
//! transaction has changed stay.

use selenite_runtime::machine::{Affected, Failure};
use selenite_runtime::sqlite::tsql_error;

use super::Request;
use super::argument::Argument;
use crate::administration::Administration;

impl Administration<'_, '_> {
    pub(super) fn drop_clean_buffers(&mut self, request: &Request) -> Result<Affected, Failure> {
        match request.arguments.as_slice() {
            [] => {}
            [Argument::Text(_), ..] => return Err(request.unsupported("of one pool")),
            [Argument::Null | Argument::Number(_), ..] => return Err(request.incorrect()),
        }
        self.registry.cleanups.drop_pages();
        // Its own go before the pool: nothing comes back from there.
        let used = self.transactions.connect()?;
        used.database
            .connection
            .query_row("SELECT selenite_drop_pages()", [], |_| Ok(()))
            .map_err(|error| tsql_error(&error))?;
        Ok(Affected::Nothing)
    }

    /// The programs of all texts go as well: `session/command.rs` sees to them.
    pub(super) fn free_plans(&mut self, request: &Request) -> Result<Affected, Failure> {
        match (request.command.as_str(), request.arguments.as_slice()) {
            ("FREEPROCCACHE", []) => {}
            ("FREESYSTEMCACHE", [all]) if all.is("ALL") => {}
            ("FREESYSTEMCACHE", []) => return Err(request.incorrect()),
            _ => return Err(request.unsupported("of a part")),
        }
        self.registry.cleanups.drop_plans();
        Ok(Affected::Nothing)
    }
}
