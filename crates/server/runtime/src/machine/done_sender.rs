//! The DONEs of an answer: each is held back until it is known whether another token follows.

use selenite_tds::{Done, DoneKind};

use super::{Host, Stop};

/// The state of an answer.
#[derive(Debug, Default)]
pub(super) struct DoneSender {
    pending: Option<Done>,
}

/// How statements of a frame are reported.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Manner {
    /// The token.
    pub(super) kind: DoneKind,
    /// NOCOUNT.
    pub(super) no_count: bool,
}

/// The contents of a statement's DONE.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum DoneReport {
    /// No count.
    Plain,
    /// The number of changed rows.
    Count(u64),
    /// The number of sent rows.
    Rows(u64),
    /// The error bit.
    Error,
}

impl DoneSender {
    /// Sends a statement's DONE: MS-TDS 2.2.7.7 and SET NOCOUNT.
    #[inline]
    pub(super) fn send_done<H: Host + ?Sized>(
        &mut self,
        manner: Manner,
        command: u16,
        report: DoneReport,
        host: &mut H,
    ) -> Result<(), Stop> {
        let is_quiet = manner.no_count && manner.kind == DoneKind::InProcedure;
        let (status, row_count) = match report {
            DoneReport::Plain | DoneReport::Count(_) if is_quiet => return Ok(()),
            DoneReport::Plain => (0, 0),
            DoneReport::Count(_) | DoneReport::Rows(_) if manner.no_count => (0, 0),
            DoneReport::Count(count) | DoneReport::Rows(count) => (Done::COUNT, count),
            DoneReport::Error => (Done::ERROR, 0),
        };
        let done = Done {
            kind: manner.kind,
            status,
            command,
            row_count,
        };
        self.push(done, host)
    }

    /// Sends the pending DONE with MORE, and holds this one.
    #[inline]
    pub(super) fn push<H: Host + ?Sized>(&mut self, done: Done, host: &mut H) -> Result<(), Stop> {
        match self.pending.replace(done) {
            Some(before) => host.done(before.with_more()),
            None => Ok(()),
        }
    }

    /// Sends the pending DONE with MORE, before another token.
    pub(super) fn flush<H: Host + ?Sized>(&mut self, host: &mut H) -> Result<(), Stop> {
        match self.pending.take() {
            Some(before) => host.done(before.with_more()),
            None => Ok(()),
        }
    }

    /// Sends the last DONE: the pending one, or `otherwise`.
    pub(super) fn finish<H: Host + ?Sized>(&mut self, otherwise: Done, host: &mut H) -> Result<(), Stop> {
        let last = self.pending.take().unwrap_or(otherwise);
        host.done(last)
    }

    /// Discards the pending DONE: the client is disconnected.
    pub(super) fn drop_pending(&mut self) {
        self.pending = None;
    }
}
