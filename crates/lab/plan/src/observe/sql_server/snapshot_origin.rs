//! The server and the time of the snapshots, which performance counters and connections have to share.
//!
//! What the snapshots or the other source do not say can't be compared: a note says so.

use super::super::delimited::Row;
use super::super::snapshot::check_same;
use super::{INT_RANGE, START, Snapshot, moment};
use crate::PlanError;

/// A time from one moment to another, in seconds of some clock.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Span {
    pub start: f64,
    pub end: f64,
}

/// Of the snapshots of files.
pub(super) struct SnapshotOrigin {
    /// The first row of the last snapshot, which has the columns about the server.
    head: Row,
    /// Since the start of the computer.
    ticks: Span,
    /// By the server's clock, in UTC.
    utc: Option<Span>,
    /// Seconds that local time is ahead of UTC.
    offset: f64,
}

impl Span {
    pub(super) fn seconds(self) -> f64 {
        self.end - self.start
    }

    pub(super) fn moved(self, seconds: f64) -> Self {
        Self {
            start: self.start + seconds,
            end: self.end + seconds,
        }
    }

    /// Refuses a source of rates whose time is not that of the snapshots.
    fn check_same_time(self, place: &str, snapshots: Self) -> Result<(), PlanError> {
        let overlap = self.end.min(snapshots.end) - self.start.max(snapshots.start);
        if overlap * TIME_RATIO_MAX >= self.seconds().max(snapshots.seconds()) {
            return Ok(());
        }
        let reason = format!(
            "it covers {:.0} s, and the snapshots of files {:.0} s, of which they share {:.0} s: both must be of the \
             same time",
            self.seconds(),
            snapshots.seconds(),
            overlap.max(0.0)
        );
        Err(PlanError::input(place, reason))
    }
}

impl SnapshotOrigin {
    pub(super) fn of(first: &Snapshot, last: &Snapshot, seconds: f64) -> Result<Self, PlanError> {
        let start = first.sample_ms as f64 / 1000.0;
        let utc = |snapshot: &Snapshot| {
            let parse = |text: &str| {
                let refuse = || PlanError::input(snapshot.head.place_of(UTC), format!("{text:?} is no time"));
                moment::of_view(text).ok_or_else(refuse)
            };
            snapshot.head.optional(UTC).map(parse).transpose()
        };
        let utc = match (utc(first)?, utc(last)?) {
            (Some(start), Some(end)) => Some(Span { start, end }),
            (None, _) | (_, None) => None,
        };
        let offset = last.head.optional(OFFSET).map(|text| {
            let refuse = || PlanError::input(last.head.place_of(OFFSET), format!("{text:?} is no number of minutes"));
            let minutes = text.parse::<i16>().ok().filter(|minutes| minutes.abs() <= OFFSET_MAX);
            minutes.map(|minutes| f64::from(minutes) * 60.0).ok_or_else(refuse)
        });
        Ok(Self {
            head: last.head.clone(),
            ticks: Span {
                start,
                end: start + seconds,
            },
            utc,
            offset: offset.transpose()?.unwrap_or(0.0),
        })
    }

    /// Refuses the row of another source that is of another server.
    pub(super) fn check_server(&self, row: &Row) -> Result<(), PlanError> {
        for column in [SERVER, START] {
            if let (Some(here), Some(there)) = (self.head.optional(column), row.optional(column)) {
                check_same(&row.place(), column, here, there)?;
            }
        }
        Ok(())
    }

    /// Refuses counters of another computer or instance. False if it is not known.
    pub(super) fn check_computer(&self, place: &str, computer: &str) -> Result<bool, PlanError> {
        // That of the node in a cluster; otherwise the server's name begins with the computer's.
        let own = self.head.optional(COMPUTER).or_else(|| Some(self.server()?.0));
        let Some(own) = own else { return Ok(false) };
        if name_of(own) == name_of(computer) {
            return Ok(true);
        }
        let reason = format!("it is of the computer {computer}, and the snapshots of files are of {own}");
        Err(PlanError::input(place, reason))
    }

    /// Refuses counters of another instance; none is the default one.
    pub(super) fn check_instance(&self, place: &str, instance: Option<&str>) -> Result<(), PlanError> {
        let Some((_, own)) = self.server() else { return Ok(()) };
        let is_same = match (own, instance) {
            (Some(own), Some(instance)) => own.eq_ignore_ascii_case(instance),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        if is_same {
            return Ok(());
        }
        let [own, instance] = [own, instance].map(|name| name.unwrap_or(DEFAULT_INSTANCE));
        let reason = format!("it is of the instance {instance}, and the snapshots of files are of {own}");
        Err(PlanError::input(place, reason))
    }

    /// Refuses counters of another time. `bias` are the seconds to add to their time for UTC, if they say so.
    /// False if the time of the snapshots is not known.
    pub(super) fn check_time(&self, place: &str, local: Span, bias: Option<f64>) -> Result<bool, PlanError> {
        let span = local.moved(bias.unwrap_or(-self.offset));
        match self.utc {
            Some(utc) => span.check_same_time(place, utc).map(|()| true),
            None => {
                let start = self.ticks.start - span.start;
                span.moved(start).check_same_time(place, self.ticks).map(|()| false)
            }
        }
    }

    /// Refuses a source of another time, which is in seconds since the start of the computer.
    pub(super) fn check_ticks(&self, place: &str, span: Span) -> Result<(), PlanError> {
        let range = INT_RANGE as f64 / 1000.0;
        let is_int = self.ticks.start < range;
        // Where sample_ms is an int that wraps, the one that is nearest.
        let turns = if is_int {
            ((self.ticks.start - span.start) / range).round()
        } else {
            0.0
        };
        span.moved(turns * range).check_same_time(place, self.ticks)
    }

    /// The computer and the instance of the server's name.
    fn server(&self) -> Option<(&str, Option<&str>)> {
        let name = self.head.optional(SERVER)?;
        Some(
            name.split_once('\\')
                .map_or((name, None), |(computer, instance)| (computer, Some(instance))),
        )
    }
}

/// The NetBIOS name of a computer, by which counters call it, from that or a name of the DNS; an address as it is.
fn name_of(computer: &str) -> String {
    let is_address = computer.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let label = match computer.split_once('.') {
        Some((label, _)) if !is_address => label,
        Some(_) | None => computer,
    };
    label.chars().take(NAME_MAX).collect::<String>().to_uppercase()
}

pub(super) const SERVER: &str = "server_name";
pub(super) const COMPUTER: &str = "computer_name";
pub(super) const UTC: &str = "snapshot_utc";
pub(super) const OFFSET: &str = "utc_offset_minutes";
const DEFAULT_INSTANCE: &str = "SQLServer (the default one)";
/// Time zones are at most 14 hours from UTC.
const OFFSET_MAX: i16 = 14 * 60;
/// Characters of a NetBIOS name.
const NAME_MAX: usize = 15;
/// Commands are started by hand one after the other; a rate of a much longer time is another rate.
const TIME_RATIO_MAX: f64 = 1.25;
