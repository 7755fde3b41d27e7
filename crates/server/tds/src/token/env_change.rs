//! ENVCHANGE (MS-TDS 2.2.7.9).

use super::text;
use crate::{Collation, PacketSize, TdsError};

/// A change of the session's environment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EnvChange<'a> {
    /// 1: database.
    Database {
        /// The new value.
        new: &'a str,
        /// The old value; may be empty.
        old: &'a str,
    },
    /// 2: language.
    Language {
        /// The new value.
        new: &'a str,
        /// The old value; may be empty.
        old: &'a str,
    },
    /// 4: packet size, which applies after this response.
    PacketSize {
        /// The new value.
        new: PacketSize,
        /// The old value.
        old: PacketSize,
    },
    /// 7: SQL collation of the database.
    Collation {
        /// The new value.
        new: Collation,
        /// The old value; `None` at login.
        old: Option<Collation>,
    },
    /// 8: begin transaction, with its descriptor; not 0.
    BeginTransaction(u64),
    /// 9: commit transaction.
    CommitTransaction(u64),
    /// 10: rollback transaction.
    RollbackTransaction(u64),
    /// 18: RESETCONNECTION or RESETCONNECTIONSKIPTRAN acknowledged.
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

/// The transaction descriptor is the old value; the new value is empty.
fn ended(kind: u8, transaction: u64, out: &mut Vec<u8>) {
    out.extend([kind, 0, 8]);
    out.extend(transaction.to_le_bytes());
}
