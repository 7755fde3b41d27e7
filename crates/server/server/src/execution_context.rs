//! The context in which a statement runs.

use std::sync::Arc;

use crate::bulk_load::BulkFeed;
use crate::reply::Reply;
use crate::session_state::SessionState;
use crate::{Instance, Interrupts, LoginInfo, SessionEntry};

/// The session that an executor belongs to.
#[derive(Clone)]
pub(crate) struct SessionInfo<'a> {
    /// The server.
    pub instance: &'a Arc<Instance>,
    /// The login.
    pub login_info: &'a LoginInfo,
    /// What other sessions see of the session.
    pub entry: &'a Arc<SessionEntry>,
    /// Polled by whatever takes long.
    pub interrupts: Interrupts,
}

/// The session's state and its answer, borrowed by the executor for one statement.
///
/// The executor keeps neither; what outlives the statement, such as a function that SQLite calls, takes a clone of
/// the state. It writes rows and messages, but no DONE and no error: those are the machine's.
pub(crate) struct ExecutionContext<'a> {
    /// What expressions see. The executor writes `identity`, `scope_identity` and `context_info` of its session.
    pub state: &'a mut SessionState,
    /// Where rows and messages go.
    pub reply: &'a mut Reply,
    /// The rows of a bulk load that runs.
    pub bulk: &'a mut Option<BulkFeed>,
}
