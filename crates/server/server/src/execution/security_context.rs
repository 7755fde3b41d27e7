//! EXECUTE AS and REVERT.
//!
//! - `a-stack-of-contexts`: the session acts as the top of a stack, and as its login where that is empty. What a
//!   procedure, trigger or text has put there goes with its frame, however that ends.
//! - `revert-stays-in-its-frame`: REVERT takes back what the running frame has put there, and nothing below.
//! - `users-stay-in-their-database`: a user of EXECUTE AS has rights in its own database alone
//!   ([`Identity::permissions`]). That is in use as long as the session executes as its user: it is neither dropped nor
//!   replaced, since another database could get its number.

use std::sync::Arc;

use selenite_compiler::{Ends, SqlError};

use crate::catalog::permission::error;
use crate::database::database_connection::SharedDatabase;
use crate::execution_context::SessionInfo;
use crate::names::identity::Identity;

/// `a-stack-of-contexts`.
pub(crate) struct SecurityContexts {
    own: Identity,
    stack: Vec<SecurityContext>,
}

/// Whom a session executes as.
struct SecurityContext {
    identity: Identity,
    /// The database in which it began, and in which it is reverted.
    database: Arc<SharedDatabase>,
    reverts: Reverts,
}

/// What takes a context back.
pub(crate) enum Reverts {
    /// REVERT.
    Freely,
    /// Nothing: WITH NO REVERT.
    Never,
    /// REVERT WITH COOKIE of these bytes.
    ByCookie(Vec<u8>),
}

impl SecurityContexts {
    /// That of the session's login alone.
    pub fn of(session: &SessionInfo<'_>) -> Self {
        let login_info = session.login_info;
        Self {
            own: Identity {
                login: Arc::from(login_info.login.as_str()),
                sid: login_info.sid.to_vec(),
                user: None,
            },
            stack: Vec::new(),
        }
    }

    /// Whom the session acts as.
    pub fn current(&self) -> &Identity {
        self.below(self.stack.len())
    }

    /// Whom it acted as when there were so many.
    pub fn below(&self, count: usize) -> &Identity {
        let found = count.checked_sub(1).and_then(|at| self.stack.get(at));
        found.map_or(&self.own, |context| &context.identity)
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.stack.len()
    }

    /// Another one begins, in a database.
    pub fn begin(&mut self, identity: Identity, database: Arc<SharedDatabase>, reverts: Reverts) {
        self.stack.push(SecurityContext {
            identity,
            database,
            reverts,
        });
    }

    /// What was begun since there were so many ends.
    pub fn end_since(&mut self, count: usize) {
        self.stack.truncate(count);
    }

    /// REVERT in a frame that began when there were `count`, in a database.
    pub fn revert(&mut self, count: usize, database_id: i32, cookie: Option<&[u8]>) -> Result<(), SqlError> {
        let Some(context) = self.stack.last().filter(|_| self.stack.len() > count) else {
            return Ok(());
        };
        let is_right = match (&context.reverts, cookie) {
            (Reverts::Never, _) => {
                // 15196: REVERT of EXECUTE AS WITH NO REVERT.
                let text = "The current security context is non-revertible.";
                return Err(error(15_196, text));
            }
            (Reverts::Freely, None) => true,
            (Reverts::ByCookie(own), Some(given)) => own == given,
            (Reverts::Freely, Some(_)) | (Reverts::ByCookie(_), None) => false,
        };
        if !is_right {
            let text = "The current security context cannot be reverted using this statement. A cookie may or may not be \
                        needed with 'Revert' statement depending on how the context was set with 'Execute As' statement.";
            return Err(error(15_591, text));
        }
        if context.database.record.id != database_id {
            let text = "The current security context cannot be reverted. Please switch to the original database where \
                        'Execute As' was called and try it again.";
            return Err(error(15_199, text));
        }
        self.stack.pop();
        Ok(())
    }
}

/// 18059: a session that is reset while it executes as another.
pub(crate) fn reset_of_another() -> SqlError {
    let text = "The connection has been dropped because the principal that opened it subsequently assumed a new security \
                context, and then tried to reset the connection under its impersonated security context. This scenario is not \
                supported. See \"Impersonation Overview\" in Books Online.";
    SqlError::new(18_059, Ends::Connection, text.to_owned()).with_severity(20)
}
