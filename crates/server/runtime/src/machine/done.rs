//! What a client is told when a statement ends.
//!
//! The fields are those of MS-TDS 2.2.7.6 to 2.2.7.8, so that whoever writes packets copies them.

/// What is done.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DoneKind {
    /// DONE: a statement of a batch.
    Statement,
    /// DONEPROC: a procedure or text that the batch or the client called.
    Procedure,
    /// DONEINPROC: a statement of such.
    InProcedure,
}

/// The end of a statement or procedure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Done {
    /// Of what.
    pub kind: DoneKind,
    /// Bits: [`Done::MORE`], [`Done::ERROR`], [`Done::COUNT`].
    pub status: u16,
    /// What kind of statement it was: one of [`Command`]'s numbers.
    pub command: u16,
    /// Counts only with [`Done::COUNT`]; else 0.
    pub row_count: u64,
}

impl Done {
    /// Another DONE follows.
    pub const MORE: u16 = 0x01;
    /// The statement ended by an error.
    pub const ERROR: u16 = 0x02;
    /// `row_count` counts.
    pub const COUNT: u16 = 0x10;

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
}
