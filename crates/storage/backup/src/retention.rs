//! Decides which archives are kept, and why, without a clock or a destination.
//!
//! - chains-stay-whole: the bases of a kept archive are kept, down to a full backup. The remaining
//!   archives can therefore always be restored.
//! - newest-is-kept: the newest backup that can be restored is never removed, nor are its bases. If
//!   the manifest of any archive cannot be read, nothing is removed: it may be based on any other.
//!   A backup that lacks pages does not replace a complete one, and one of unknown origin does not
//!   replace one proved to be made by a holder of the database's master key: the rules are also
//!   applied separately to the complete ones, and to those of known origin.
//! - rules-only-keep: a rule only keeps archives: an additional or larger rule never removes more.
//!   Without any rule every backup is kept.
//! - clocks-are-not-trusted: times come from clocks that may be wrong. A backup from the future is
//!   kept, does not replace another in a rule, and is not the newest: a clock that once was ahead
//!   must neither cause all others to be removed, nor hide them. `within` counts back from the
//!   newest backup, not from now, so that the clock of the pruning machine has no influence.
//! - dependents-first: an archive is removed before its base: an interrupted removal leaves
//!   complete chains.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// An archive as the input of retention.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Candidate<Id> {
    /// The id of the archive.
    pub id: Id,
    /// The state of the archive.
    pub state: ArchiveState<Id>,
}

/// The state of an archive.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ArchiveState<Id> {
    /// It has a manifest, which was read.
    Complete {
        /// The time of the database's state: seconds since 1970-01-01 UTC.
        made: u64,
        /// The base; `None` for a full backup.
        base: Option<Id>,
        /// Whether a process may be writing its log.
        is_followed: bool,
        /// Whether pages are missing in it that were not authentic when it was made.
        lacks_pages: bool,
        /// Whether origin MACs prove that a holder of the database's master key made it. A recipient can make others.
        is_own: bool,
    },
    /// It has a manifest, which was read, but not all listed objects exist.
    Incomplete {
        /// The base; `None` for a full backup.
        base: Option<Id>,
    },
    /// It has no manifest.
    Unfinished {
        /// Whether it is certain that no process is writing it.
        is_stale: bool,
    },
    /// Its manifest cannot be read.
    Unreadable,
}

/// The rules that keep archives. By default all are kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Rules {
    /// Keeps this many of the newest.
    pub last: Option<u32>,
    /// Keeps the newest of each of the last hours that have one, for this many hours.
    pub hourly: Option<u32>,
    /// The same for days, in UTC.
    pub daily: Option<u32>,
    /// The same for weeks, which begin on Monday.
    pub weekly: Option<u32>,
    /// The same for months.
    pub monthly: Option<u32>,
    /// The same for years.
    pub yearly: Option<u32>,
    /// Keeps all that are younger than this, in seconds.
    pub within: Option<u64>,
}

/// Why a backup is kept.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Reason {
    /// It is the newest one.
    Newest,
    /// There is no rule.
    NoRule,
    /// `--keep-last`.
    Last,
    /// `--keep-hourly`.
    Hourly,
    /// `--keep-daily`.
    Daily,
    /// `--keep-weekly`.
    Weekly,
    /// `--keep-monthly`.
    Monthly,
    /// `--keep-yearly`.
    Yearly,
    /// `--keep-within`.
    Within,
    /// Its time is in the future.
    Future,
    /// Its base is missing: it does not replace another backup, and may be removed manually.
    Broken,
    /// Some of its objects are missing: it does not replace another backup, and may be removed manually.
    Incomplete,
    /// It has no manifest, and a process may be writing it.
    Unfinished,
    /// Its manifest cannot be read.
    Unreadable,
    /// An archive whose manifest cannot be read may be based on it.
    PossibleBase,
    /// A process may be writing its log.
    Followed,
    /// The next incremental backup is based on it, and may be in progress.
    NextBase,
    /// It is the base of a kept archive.
    Base,
}

/// The result of the rules.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Decision<Id> {
    /// The kept archives, and the reasons.
    pub kept: BTreeMap<Id, BTreeSet<Reason>>,
    /// The archives to remove, in this order (dependents-first).
    pub removed: Vec<Id>,
}

impl Rules {
    /// Whether there are no rules.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Applies the rules. `now` is in seconds since 1970-01-01 UTC. Of two backups with equal times
    /// the one with the higher id is the newer. `next_bases` are the backups on which an
    /// incremental backup may be based that is begun now.
    #[must_use]
    pub fn decide<Id: Ord + Clone>(&self, archives: &[Candidate<Id>], next_bases: &[Id], now: u64) -> Decision<Id> {
        let chains = Chains::of(archives);
        let mut kept = KeptArchives::default();
        // newest-is-kept.
        let has_unreadable = archives.iter().any(|archive| archive.state == ArchiveState::Unreadable);
        let mut past: Vec<Past<'_, Id>> = Vec::new();
        for Candidate { id, state } in archives {
            match state {
                ArchiveState::Unreadable => kept.add(id, Reason::Unreadable),
                ArchiveState::Complete { .. } if !chains.is_whole(id) => {
                    // Whether a backup can be restored is unknown if its chain ends in an archive
                    // that cannot be read.
                    if !chains.ends_unreadable(id) {
                        kept.add(id, Reason::Broken);
                    }
                }
                ArchiveState::Complete { made, .. } if *made > now.saturating_add(SKEW_SECONDS) => {
                    kept.add(id, Reason::Future)
                }
                &ArchiveState::Complete {
                    made,
                    lacks_pages,
                    is_own,
                    ..
                } => past.push(Past {
                    made,
                    id,
                    lacks_pages,
                    is_own,
                }),
                ArchiveState::Incomplete { .. } => kept.add(id, Reason::Incomplete),
                ArchiveState::Unfinished { is_stale: false } => kept.add(id, Reason::Unfinished),
                ArchiveState::Unfinished { is_stale: true } => {}
            }
            if matches!(state, ArchiveState::Complete { is_followed: true, .. }) {
                kept.add(id, Reason::Followed);
            }
            if has_unreadable && *state != ArchiveState::Unreadable {
                kept.add(id, Reason::PossibleBase);
            }
        }
        for id in next_bases.iter().filter(|id| chains.0.contains_key(id)) {
            kept.add(id, Reason::NextBase);
        }
        past.sort_unstable_by(|one, other| (other.made, other.id).cmp(&(one.made, one.id)));
        for (only_sound, only_own) in [(false, false), (true, false), (false, true), (true, true)] {
            let counts = |backup: &&Past<'_, Id>| !(only_sound && backup.lacks_pages || only_own && !backup.is_own);
            let counted = past.iter().filter(counts);
            let backups: Vec<(u64, &Id)> = counted.map(|backup| (backup.made, backup.id)).collect();
            self.keep(&backups, &mut kept);
        }
        chains.keep_bases(&mut kept);
        let removed = chains.dependents_first(&kept);
        Decision { kept: kept.0, removed }
    }

    /// Applies the rules to backups, which are ordered from the newest to the oldest.
    fn keep<Id: Ord + Clone>(&self, past: &[(u64, &Id)], kept: &mut KeptArchives<Id>) {
        let Some((newest_made, newest)) = past.first() else {
            return;
        };
        kept.add(newest, Reason::Newest);
        if self.is_empty() {
            past.iter().for_each(|(_, id)| kept.add(id, Reason::NoRule));
        }
        for (_, id) in past.iter().take(number(self.last)) {
            kept.add(id, Reason::Last);
        }
        let periods: [Period; 5] = [
            (self.hourly, Reason::Hourly, |seconds| seconds / HOUR),
            (self.daily, Reason::Daily, |seconds| seconds / DAY),
            // 1970-01-01 was a Thursday.
            (self.weekly, Reason::Weekly, |seconds| (seconds / DAY + 3) / 7),
            (self.monthly, Reason::Monthly, month),
            (self.yearly, Reason::Yearly, |seconds| month(seconds) / 12),
        ];
        for (count, reason, period) in periods {
            let mut taken = BTreeSet::new();
            for (made, id) in past {
                if taken.len() < number(count) && taken.insert(period(*made)) {
                    kept.add(id, reason);
                }
            }
        }
        if let Some(within) = self.within {
            let young = past.iter().take_while(|(made, _)| newest_made - made <= within);
            young.for_each(|(_, id)| kept.add(id, Reason::Within));
        }
    }
}

/// A backup that can be restored, and is not from the future.
struct Past<'a, Id> {
    made: u64,
    id: &'a Id,
    lacks_pages: bool,
    is_own: bool,
}

/// The archives kept so far.
struct KeptArchives<Id>(BTreeMap<Id, BTreeSet<Reason>>);

impl<Id> Default for KeptArchives<Id> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<Id: Ord + Clone> KeptArchives<Id> {
    fn add(&mut self, id: &Id, reason: Reason) {
        self.0.entry(id.clone()).or_default().insert(reason);
    }
}

/// The bases of all archives.
struct Chains<'a, Id>(BTreeMap<&'a Id, Link<'a, Id>>);

/// The role of an archive in a chain.
enum Link<'a, Id> {
    Full,
    On(&'a Id),
    /// An incomplete backup: archives based on it cannot be restored, but its own base may still be useful.
    Incomplete(Option<&'a Id>),
    /// An archive that cannot be read.
    Unreadable,
    /// No backup: archives based on it cannot be restored.
    Nothing,
}

impl<'a, Id> Link<'a, Id> {
    fn base(&self) -> Option<&'a Id> {
        match *self {
            Self::On(base) | Self::Incomplete(Some(base)) => Some(base),
            Self::Incomplete(None) | Self::Full | Self::Unreadable | Self::Nothing => None,
        }
    }
}

impl<'a, Id: Ord + Clone> Chains<'a, Id> {
    fn of(archives: &'a [Candidate<Id>]) -> Self {
        let link = |archive: &'a Candidate<Id>| match &archive.state {
            ArchiveState::Complete { base, .. } => base.as_ref().map_or(Link::Full, Link::On),
            ArchiveState::Incomplete { base } => Link::Incomplete(base.as_ref()),
            ArchiveState::Unreadable => Link::Unreadable,
            ArchiveState::Unfinished { .. } => Link::Nothing,
        };
        Self(archives.iter().map(|archive| (&archive.id, link(archive))).collect())
    }

    /// Whether all bases exist, down to a full backup. A cyclic chain is not complete.
    fn is_whole(&self, id: &Id) -> bool {
        matches!(self.end(id), Some(Link::Full))
    }

    /// Whether the chain ends in an archive that cannot be read.
    fn ends_unreadable(&self, id: &Id) -> bool {
        matches!(self.end(id), Some(Link::Unreadable))
    }

    /// The last archive of the chain; `None` if one is missing or the chain is cyclic.
    fn end(&self, id: &Id) -> Option<&Link<'a, Id>> {
        let mut next = id;
        for _ in 0..self.0.len() {
            match self.0.get(next)? {
                Link::On(base) => next = base,
                end @ (Link::Full | Link::Incomplete(_) | Link::Unreadable | Link::Nothing) => return Some(end),
            }
        }
        None
    }

    /// Enforces `chains-stay-whole`.
    fn keep_bases(&self, kept: &mut KeptArchives<Id>) {
        let mut next: Vec<Id> = kept.0.keys().cloned().collect();
        while let Some(id) = next.pop() {
            if let Some(base) = self.0.get(&id).and_then(Link::base)
                && self.0.contains_key(base)
                && kept.0.entry(base.clone()).or_default().insert(Reason::Base)
            {
                next.push(base.clone());
            }
        }
    }

    /// `dependents-first`: the archives to remove, each before its base.
    fn dependents_first(mut self, kept: &KeptArchives<Id>) -> Vec<Id> {
        self.0.retain(|id, _| !kept.0.contains_key(*id));
        let mut removed = Vec::with_capacity(self.0.len());
        loop {
            let bases: BTreeSet<&Id> = self.0.values().filter_map(|link| link.base()).collect();
            let free: Vec<&Id> = self.0.keys().copied().filter(|id| !bases.contains(id)).collect();
            if free.is_empty() {
                // Cyclic chains are broken, and kept.
                return removed;
            }
            for id in free {
                self.0.remove(id);
                removed.push(id.clone());
            }
        }
    }
}

fn number(count: Option<u32>) -> usize {
    count.map_or(0, |count| usize::try_from(count).unwrap_or(usize::MAX))
}

/// Months since year 0: by Howard Hinnant's `civil_from_days`, in which a year begins in March.
fn month(seconds: u64) -> u64 {
    let days = seconds / DAY + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    (year_of_era + era * 400) * 12 + month_from_march + 2
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Newest => "newest",
            Self::NoRule => "no --keep rule given",
            Self::Last => "last",
            Self::Hourly => "hourly",
            Self::Daily => "daily",
            Self::Weekly => "weekly",
            Self::Monthly => "monthly",
            Self::Yearly => "yearly",
            Self::Within => "within",
            Self::Future => "from the future",
            Self::Broken => "its base is missing",
            Self::Incomplete => "incomplete",
            Self::Unfinished => "unfinished, and perhaps being written",
            Self::Unreadable => "can't be read",
            Self::PossibleBase => "what can't be read may be based on it",
            Self::Followed => "followed",
            Self::NextBase => "the next incremental depends on it",
            Self::Base => "base",
        })
    }
}

const HOUR: u64 = 3600;
const DAY: u64 = 86_400;
/// The clocks of two machines may differ by a minute.
const SKEW_SECONDS: u64 = 60;

/// The number of periods, the reason, and the function from a time to its period.
type Period = (Option<u32>, Reason, fn(u64) -> u64);

#[cfg(test)]
mod tests;
