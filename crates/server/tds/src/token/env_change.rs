//! ENVCHANGE (MS-TDS 2.2.7.9).

use super::text;
use crate::{Collation, PacketSize, TdsError};

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
    /// 18: the session is reset, as the request's packet requested.
    ResetAcknowledged,
}

impl EnvChange<'_> {
    pub(super) fn encode(&self, out: &mut Vec<u8>) -> Result<(), TdsError> {
        match self {
            Self::Database { new, old } => names(1, new, old, out)?,
            Self::Language { new, old } => names(2, new, old, out)?,
            Self::PacketSize { new, old } => names(4, &new.bytes().to_string(), &old.bytes().to_string(), out)?,
            Self::Collation { new, old } => {
                out.extend([7, 5]);
                out.extend(new.0);
                match old {
                    Some(old) => {
                        out.push(5);
                        out.extend(old.0);
                    }
                    None => out.push(0),
                }
            }
            Self::BeginTransaction(transaction) => {
                out.extend([8, 8]);
                out.extend(transaction.to_le_bytes());
                out.push(0);
            }
            Self::CommitTransaction(transaction) => ended(9, *transaction, out),
            Self::RollbackTransaction(transaction) => ended(10, *transaction, out),
            Self::ResetAcknowledged => out.extend([18, 0, 0]),
        }
        Ok(())
    }
}

fn names(kind: u8, new: &str, old: &str, out: &mut Vec<u8>) -> Result<(), TdsError> {
    out.push(kind);
    text::append_name(new, out)?;
    text::append_name(old, out)
}

/// The transaction is the old value; there is no new one.
fn ended(kind: u8, transaction: u64, out: &mut Vec<u8>) {
    out.extend([kind, 0, 8]);
    out.extend(transaction.to_le_bytes());
}
