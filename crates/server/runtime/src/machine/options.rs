//! The SET options of the machine.

/// The options that control a machine; all others are the host's.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Options {
    /// NOCOUNT: counts are not sent.
    pub no_count: bool,
    /// XACT_ABORT: an error of a statement ends the batch and rolls back.
    pub xact_abort: bool,
    /// IMPLICIT_TRANSACTIONS: a statement on tables begins a transaction.
    pub implicit_transactions: bool,
    /// FMTONLY: statements are not executed; the columns of their results are sent. `@@OPTIONS` has no bit of it.
    pub format_only: bool,
}

impl Options {
    /// `@@OPTIONS`' bits of these options.
    pub const MASK: i32 = IMPLICIT_TRANSACTIONS | NOCOUNT | XACT_ABORT;

    /// The bits of the options that are on.
    #[must_use]
    pub fn bits(self) -> i32 {
        let bit = |on: bool, bit: i32| if on { bit } else { 0 };
        bit(self.no_count, NOCOUNT)
            | bit(self.xact_abort, XACT_ABORT)
            | bit(self.implicit_transactions, IMPLICIT_TRANSACTIONS)
    }
}

const IMPLICIT_TRANSACTIONS: i32 = 2;
const NOCOUNT: i32 = 512;
const XACT_ABORT: i32 = 16_384;
