//! DONE, DONEPROC and DONEINPROC (MS-TDS 2.2.7.6 to 2.2.7.8).

use super::{DONE, DONE_IN_PROC, DONE_PROC};

/// The token type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DoneKind {
    /// DONE: a statement of a batch.
    Statement,
    /// DONEPROC: a procedure.
    Procedure,
    /// DONEINPROC: a statement of a procedure.
    InProcedure,
}

/// The end of a statement or procedure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Done {
    /// The token type.
    pub kind: DoneKind,
    /// Status bits: [`Done::MORE`] and others.
    pub status: u16,
    /// CurCmd: the type of the statement: [`Done::SELECT`] and others, or 0.
    pub command: u16,
    /// DoneRowCount: only valid with [`Done::COUNT`].
    pub row_count: u64,
}

impl Done {
    /// Status: the last DONE of the response.
    pub const FINAL: u16 = 0;
    /// Status: another DONE follows.
    pub const MORE: u16 = 0x01;
    /// Status: the statement ended with an error.
    pub const ERROR: u16 = 0x02;
    /// Status: a transaction is open.
    pub const IN_TRANSACTION: u16 = 0x04;
    /// Status: `row_count` is valid.
    pub const COUNT: u16 = 0x10;
    /// Status: the response to an ATTENTION.
    pub const ATTENTION: u16 = 0x20;
    /// Status of DONEPROC: one of several calls of a message.
    pub const RPC_IN_BATCH: u16 = 0x80;
    /// Status: the preceding results are invalid after an error of severity 20 or above.
    pub const SERVER_ERROR: u16 = 0x100;

    /// Command: SELECT.
    pub const SELECT: u16 = 0xC1;
    /// Command: INSERT.
    pub const INSERT: u16 = 0xC3;
    /// Command: DELETE.
    pub const DELETE: u16 = 0xC4;
    /// Command: UPDATE.
    pub const UPDATE: u16 = 0xC5;
    /// Command: EXECUTE.
    pub const EXECUTE: u16 = 0xE0;
    /// Command: MERGE.
    pub const MERGE: u16 = 0x117;

    /// The same token with [`Done::MORE`].
    #[inline]
    #[must_use]
    pub fn with_more(self) -> Self {
        Self {
            status: self.status | Self::MORE,
            ..self
        }
    }

    /// The row count, if it is valid.
    #[must_use]
    pub fn count(&self) -> Option<u64> {
        (self.status & Self::COUNT != 0).then_some(self.row_count)
    }

    /// Encodes the token.
    #[inline]
    #[must_use]
    pub fn encode(&self) -> [u8; 13] {
        let kind = match self.kind {
            DoneKind::Statement => DONE,
            DoneKind::Procedure => DONE_PROC,
            DoneKind::InProcedure => DONE_IN_PROC,
        };
        let [a, b] = self.status.to_le_bytes();
        let [c, d] = self.command.to_le_bytes();
        let [e, f, g, h, i, j, k, l] = self.row_count.to_le_bytes();
        [kind, a, b, c, d, e, f, g, h, i, j, k, l]
    }
}
