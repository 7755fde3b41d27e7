//! What a session is, as statements see it.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use selenite_compiler::program::PlanForm;
use selenite_compiler::{CaughtError, Connection, RandomState, Server, Session};
use selenite_tsql::ast::IsolationLevel;
use selenite_types::Moment;

/// Options, counters and facts of a session. A clone costs some counters of references.
#[derive(Clone, Debug)]
pub struct SessionState {
    /// When the statement began.
    pub now: Moment,
    /// Options and counters.
    pub session: Session,
    /// The connected client.
    pub connection: Arc<Connection>,
    /// The server.
    pub server: Arc<Server>,
    /// The error that the innermost CATCH handles.
    pub caught: Option<Arc<CaughtError>>,
    /// RAND's state.
    pub random: Cell<RandomState>,
    /// The database in use.
    pub database: CurrentDatabase,
    /// SET TRANSACTION ISOLATION LEVEL.
    pub isolation: IsolationLevel,
    /// SET ROWCOUNT: how many rows a statement reads or changes at most; 0 is all.
    pub row_count_max: u64,
    /// SET STATISTICS IO: message 3615 after each statement that reads tables, which is the executor's to send.
    pub statistics_io: bool,
    /// SET SHOWPLAN_ALL, SHOWPLAN_TEXT or SHOWPLAN_XML: statements are explained, and not run.
    pub plan_form: Option<PlanForm>,
    /// SET STATISTICS PROFILE: the plan of each statement that was run, as rows.
    pub statistics_profile: bool,
    /// SET STATISTICS XML: the same as a document.
    pub statistics_xml: bool,
    /// How long any statement waits for a lock.
    pub lock_timeout_max: Duration,
}

impl SessionState {
    /// How long a statement waits for a lock: SET LOCK_TIMEOUT, and never longer than the server allows.
    #[must_use]
    pub fn lock_timeout(&self) -> Duration {
        let asked = u64::try_from(self.session.lock_timeout_ms).map(Duration::from_millis);
        asked.map_or(self.lock_timeout_max, |asked| asked.min(self.lock_timeout_max))
    }
}

/// The database in use.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CurrentDatabase {
    /// Its id.
    pub id: i32,
    /// Its name as it is stored.
    pub name: Arc<str>,
}
