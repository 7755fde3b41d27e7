//! Requests to the manager of transactions (MS-TDS 2.2.6.9).

use super::Headers;
use crate::TdsError;

/// A request, with what comes before it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TransactionRequest {
    /// What comes before every request.
    pub headers: Headers,
    /// What is wanted.
    pub step: TransactionStep,
}

/// What is wanted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TransactionStep {
    /// 5.
    Begin {
        /// Of the session from now on.
        isolation: Isolation,
        /// May be empty.
        name: String,
    },
    /// 7.
    Commit {
        /// May be empty.
        name: String,
        /// Another is begun at once.
        next: Option<(Isolation, String)>,
    },
    /// 8.
    Rollback {
        /// Of a savepoint or of the transaction; may be empty.
        name: String,
        /// Another is begun at once.
        next: Option<(Isolation, String)>,
    },
    /// 9.
    Save {
        /// Of the savepoint; never empty.
        name: String,
    },
}

/// How far a transaction is kept from others.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Isolation {
    /// 0: as it is.
    Unchanged,
    /// 1.
    ReadUncommitted,
    /// 2.
    ReadCommitted,
    /// 3.
    RepeatableRead,
    /// 4.
    Serializable,
    /// 5.
    Snapshot,
}

impl TransactionRequest {
    pub(super) fn parse(data: &[u8]) -> Result<Self, TdsError> {
        let _ = data;
        unimplemented!()
    }
}
