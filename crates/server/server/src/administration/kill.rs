//! KILL: ends another session.

use selenite_compiler::{Ends, SqlError};
use selenite_tsql::ast::{ExprKind, Kill, Literal, UnaryOperator};

use crate::administration::Administration;

impl Administration<'_, '_> {
    /// Ends a session: one that waits for its client at once, one that runs a statement at its next poll. Its
    /// transaction is rolled back, and its connection closed.
    pub(crate) fn kill(&mut self, kill: &Kill) -> Result<(), SqlError> {
        let Some(number) = number(&kill.session.kind) else {
            return Err(SqlError::unsupported("KILL of a unit of work").with_ends(Ends::Statement));
        };
        let invalid = || {
            let text = format!("Session ID {number} is not valid.");
            // 6101: KILL of an invalid number.
            SqlError::new(6101, Ends::Statement, text)
        };
        let spid = u16::try_from(number).map_err(|_| invalid())?;
        if spid == 0 || spid > SPID_MAX {
            return Err(invalid());
        }
        if self.transactions.is_in_transaction() && !kill.status_only {
            let text = "KILL command cannot be used inside user transactions.";
            // 6115: KILL in a transaction.
            return Err(SqlError::new(6115, Ends::Statement, text));
        }
        let registry = self.session.instance.registry();
        if kill.status_only {
            // SQLite does not report the progress of a rollback.
            let text = format!(
                "Status report cannot be obtained. Rollback operation for Process ID {spid} is not in progress."
            );
            // 6120: KILL WITH STATUSONLY.
            return Err(SqlError::new(6120, Ends::Statement, text));
        }
        if spid == self.session.entry.spid() {
            let text = "Cannot use KILL to kill your own process.";
            // 6104: KILL of the session itself.
            return Err(SqlError::new(6104, Ends::Statement, text));
        }
        if !registry.kill(spid) {
            let text = format!("Process ID {spid} is not an active process ID.");
            // 6106: KILL of an unknown session.
            return Err(SqlError::new(6106, Ends::Statement, text));
        }
        Ok(())
    }
}

/// A whole number, perhaps with a sign; `None` for another constant, or one that is far too large.
fn number(kind: &ExprKind) -> Option<i64> {
    if let ExprKind::Unary {
        operator: UnaryOperator::Minus,
        operand,
    } = kind
    {
        return number(&operand.kind).map(|number| -number);
    }
    if let ExprKind::Literal(Literal::Integer(digits)) = kind {
        return Some(digits.parse().unwrap_or(i64::MAX));
    }
    None
}

/// @@SPID is a smallint.
const SPID_MAX: u16 = 32767;
