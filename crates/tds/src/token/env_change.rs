//! ENVCHANGE (MS-TDS 2.2.7.9).

use crate::{Collation, PacketSize};

/// What changed for the session.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EnvChange<'a> {
    /// 1: the database.
    Database {
        /// Now.
        new: &'a str,
        /// Before; may be empty.
        old: &'a str,
    },
    /// 2: the language.
    Language {
        /// Now.
        new: &'a str,
        /// Before; may be empty.
        old: &'a str,
    },
    /// 4: the size of packets after this answer.
    PacketSize {
        /// Now.
        new: PacketSize,
        /// Before.
        old: PacketSize,
    },
    /// 7: the collation of the database.
    Collation {
        /// Now.
        new: Collation,
        /// Before; none at login.
        old: Option<Collation>,
    },
    /// 8: a transaction begins, named by this number until it ends; not 0.
    BeginTransaction(u64),
    /// 9: the transaction is committed.
    CommitTransaction(u64),
    /// 10: the transaction is rolled back.
    RollbackTransaction(u64),
    /// 18: the session is set back, as the request's packet asked.
    ResetAcknowledged,
}
