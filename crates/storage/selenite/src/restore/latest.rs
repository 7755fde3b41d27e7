//! Chooses among several backups the one that reaches the latest moment.
//!
//! - followed-may-be-later: a backup that is followed reaches later moments than its name says:
//!   others may have been made meanwhile, by hand, or by a follower that was stopped before it
//!   recorded the destination of the new one.
//! - recently-written-are-asked: read are the backups that were written to, by the destination's
//!   clock, after the newest by name was made, or up to a day before. Of each, the manifest and a
//!   few objects of the log are read, by binary search: `made` never decreases (FORMAT 12.6). An
//!   object behind a gap does not count, as it is unreachable.
//! - log-length-within-a-second: manifests have times in seconds. Within one second, the length of
//!   the log decides, if it is the same log.

use selenite_backup::{ArchiveName, Backup, BackupError, Destination, Entry, LogObject, StoreErrorKind};
use selenite_format::archive::{LogFacts, LogPosition};

use crate::DAY_SECONDS;

/// Of `newest` and the `others` that were begun before it, the one that reaches the latest moment
/// up to `until`, in milliseconds since 1970-01-01 UTC.
///
/// # Errors
/// The errors of opening a backup and an object of its log.
pub fn latest<'a>(
    destination: &dyn Destination,
    newest: Backup,
    others: impl Iterator<Item = &'a Entry>,
    until: u64,
    opened: &dyn Fn(&ArchiveName) -> Result<Backup, BackupError>,
) -> Result<Backup, BackupError> {
    let since = newest.facts.made.saturating_sub(DAY_SECONDS);
    let (mut own, mut contested) = (0, Vec::new());
    for entry in others {
        if entry.name == *newest.name() {
            own = entry.log_whole;
        } else if entry.name < *newest.name() && entry.log_whole > 0 && entry.modified >= since {
            contested.push(entry);
        }
    }
    if contested.is_empty() {
        return Ok(newest);
    }
    let mut point = RecoveryPoint::of(destination, &newest, own, until)?;
    let mut found = newest;
    for entry in contested {
        let backup = match opened(&entry.name) {
            // It is of other keys, or was removed meanwhile.
            Err(BackupError::Key { .. } | BackupError::NotThere { .. } | BackupError::Unfinished { .. }) => continue,
            backup => backup?,
        };
        if backup.facts.made.saturating_mul(1000) > until {
            continue;
        }
        let other = match RecoveryPoint::of(destination, &backup, entry.log_whole, until) {
            Err(BackupError::Store(error)) if error.kind == StoreErrorKind::Missing => continue,
            other => other?,
        };
        if other.is_after(&point) {
            (found, point) = (backup, other);
        }
    }
    Ok(found)
}

/// The last moment that the log of a backup reaches, in milliseconds since 1970-01-01 UTC; `None`
/// without a log. The modification time of an object could be that of a copy.
///
/// # Errors
/// The errors of opening an object of the log.
pub fn followed_until(
    destination: &dyn Destination,
    backup: &Backup,
    log_count: u32,
) -> Result<Option<u64>, BackupError> {
    Ok(RecoveryPoint::of(destination, backup, log_count, u64::MAX)?.millis)
}

/// The last moment that a backup reaches.
struct RecoveryPoint {
    seconds: u64,
    /// From its log, if it has one.
    millis: Option<u64>,
    position: Option<LogPosition>,
}

impl RecoveryPoint {
    fn of(destination: &dyn Destination, backup: &Backup, log_count: u32, until: u64) -> Result<Self, BackupError> {
        let turn = last_turn(log_count, until, |number| {
            let archive = &backup.archive;
            let place = (&archive.key, archive.begun.database_id, backup.name());
            LogObject::fetch(destination, place, number).map(|object| object.facts)
        })?;
        Ok(match turn {
            Some(facts) => Self {
                seconds: facts.made / 1000,
                millis: Some(facts.made),
                position: Some(facts.to.position),
            },
            None => Self {
                seconds: backup.facts.made,
                millis: None,
                position: backup.facts.log,
            },
        })
    }

    /// Enforces `log-length-within-a-second`.
    fn is_after(&self, other: &Self) -> bool {
        if self.seconds != other.seconds {
            return self.seconds > other.seconds;
        }
        match (self.position, other.position, self.millis, other.millis) {
            (Some(own), Some(others), _, _) if own.salts == others.salts => own.frames > others.frames,
            (_, _, Some(own), Some(others)) => own > others,
            _ => false,
        }
    }
}

/// `recently-written-are-asked`: the facts of the last object of the last complete turn up to
/// `until`.
fn last_turn(
    count: u32,
    until: u64,
    facts_of: impl Fn(u32) -> Result<LogFacts, BackupError>,
) -> Result<Option<LogFacts>, BackupError> {
    let (mut low, mut high) = (0, count);
    while low < high {
        // The last object first: it is usually the wanted one.
        let middle = if high == count {
            count - 1
        } else {
            low + (high - low) / 2
        };
        if facts_of(middle)?.made <= until {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    // A turn that was interrupted does not count.
    for number in (0..low).rev() {
        let facts = facts_of(number)?;
        if facts.is_last {
            return Ok(Some(facts));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use selenite_format::archive::LogEnd;

    use super::*;

    #[test]
    fn the_last_whole_turn_is_found_by_halves() {
        let end = LogEnd {
            position: LogPosition {
                salts: [1; 8],
                frames: 1,
            },
            checksum: [0; 8],
        };
        // Turns of one to three objects, each turn with one time.
        let mut log: Vec<LogFacts> = Vec::new();
        for turn in 1..=40_u64 {
            for object in 0..=turn % 3 {
                log.push(LogFacts {
                    previous: [0; 32],
                    made: turn * 10,
                    from: end,
                    to: end,
                    page_count: 1,
                    is_first: object == 0,
                    is_last: object == turn % 3,
                });
            }
        }
        for count in 0..=u32::try_from(log.len()).unwrap() {
            let there = &log[..usize::try_from(count).unwrap()];
            for until in 0..=410 {
                let expected = there.iter().rfind(|facts| facts.is_last && facts.made <= until);
                let found = last_turn(count, until, |number| Ok(there[usize::try_from(number).unwrap()])).unwrap();
                assert_eq!(
                    found.map(|facts| facts.made),
                    expected.map(|facts| facts.made),
                    "{count} {until}"
                );
            }
        }
    }
}
