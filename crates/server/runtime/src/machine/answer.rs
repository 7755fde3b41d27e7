//! The DONEs of an answer: each is held back until it is known whether another thing follows.

use selenite_tds::{Done, DoneKind};

use super::{Host, Stop};

/// What has been sent and what has not.
#[derive(Debug, Default)]
pub(super) struct Answer {
    pending: Option<Done>,
}

/// How statements of a frame are reported.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Manner {
    /// As what.
    pub(super) kind: DoneKind,
    /// NOCOUNT.
    pub(super) no_count: bool,
}

/// What a statement's DONE says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum DoneReport {
    /// Nothing but that it is done.
    Plain,
    /// How many rows it changed.
    Count(u64),
    /// How many rows it sent.
    Rows(u64),
    /// That it failed.
    Error,
}

impl Answer {
    /// A statement is done: MS-TDS 2.2.7.7 and SET NOCOUNT.
    #[inline]
    pub(super) fn send_done<H: Host + ?Sized>(
        &mut self,
        manner: Manner,
        command: u16,
        told: DoneReport,
        host: &mut H,
    ) -> Result<(), Stop> {
        let is_quiet = manner.no_count && manner.kind == DoneKind::InProcedure;
        let (status, row_count) = match told {
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

    /// Any DONE: the one before it has MORE.
    #[inline]
    pub(super) fn push<H: Host + ?Sized>(&mut self, done: Done, host: &mut H) -> Result<(), Stop> {
        match self.pending.replace(done) {
            Some(before) => host.done(before.with_more()),
            None => Ok(()),
        }
    }

    /// Something else than a DONE is to be sent.
    pub(super) fn flush<H: Host + ?Sized>(&mut self, host: &mut H) -> Result<(), Stop> {
        match self.pending.take() {
            Some(before) => host.done(before.with_more()),
            None => Ok(()),
        }
    }

    /// The last DONE: the one that waits, or this one.
    pub(super) fn finish<H: Host + ?Sized>(&mut self, otherwise: Done, host: &mut H) -> Result<(), Stop> {
        let last = self.pending.take().unwrap_or(otherwise);
        host.done(last)
    }

    /// No one reads on.
    pub(super) fn drop_pending(&mut self) {
        self.pending = None;
    }
}
