//! DONE, DONEPROC and DONEINPROC (MS-TDS 2.2.7.6 to 2.2.7.8).

use super::{DONE, DONE_IN_PROC, DONE_PROC};

/// What is done.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DoneKind {
    /// A statement of a batch.
    Statement,
    /// A procedure.
    Procedure,
    /// A statement of a procedure.
    InProcedure,
}

/// The end of a statement or procedure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Done {
    /// Of what.
    pub kind: DoneKind,
    /// Bits: [`Done::MORE`] and related ones.
    pub status: u16,
    /// What kind of statement it was: [`Done::SELECT`] and related ones, or 0.
    pub command: u16,
    /// Counts only with [`Done::COUNT`].
    pub row_count: u64,
}

impl Done {
    /// Status: the last of its answer.
    pub const FINAL: u16 = 0;
    /// Status: another DONE follows.
    pub const MORE: u16 = 0x01;
    /// Status: the statement ended by an error.
    pub const ERROR: u16 = 0x02;
    /// Status: a transaction is open.
    pub const IN_TRANSACTION: u16 = 0x04;
    /// Status: `row_count` counts.
    pub const COUNT: u16 = 0x10;
    /// Status: the answer to an ATTENTION.
    pub const ATTENTION: u16 = 0x20;
    /// Status of DONEPROC: one of several calls of a message.
    pub const RPC_IN_BATCH: u16 = 0x80;
    /// Status: what came before is void after an error of severity 20 and above.
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

    /// The same, with another to follow.
    #[inline]
    #[must_use]
    pub fn with_more(self) -> Self {
        Self {
            status: self.status | Self::MORE,
            ..self
        }
    }

    /// How many rows, if that counts.
    #[must_use]
    pub fn count(&self) -> Option<u64> {
        (self.status & Self::COUNT != 0).then_some(self.row_count)
    }

    /// The bytes of the token.
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
