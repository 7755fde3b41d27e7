//! Which archives are kept, and why: pure, without a clock or a destination.
//!
//! - chains-stay-whole: what a kept archive needs is kept: its base, that one's base, and so on to
//!   a full backup. So what is left always opens.
//! - newest-is-kept: the newest backup that can be restored is never removed, nor what it needs.
//!   Where the facts of one archive can't be read nothing is removed: it may be based on any other.
//!   One that lacks pages takes no sound one's place, and one of unknown origin takes none of one
//!   that a holder of the database's master key made: the rules are asked of the sound ones alone,
//!   too, and of those with a known maker.
//! - rules-only-keep: a rule only ever keeps: with one more, or a larger one, no more is removed.
//!   Without any rule every backup is kept.
//! - clocks-are-not-trusted: a time is a clock's word. A backup from the future is kept, takes no
//!   other's place in a rule, and is not the newest: a clock that jumped ahead once must not have
//!   all others removed, nor hide them. `within` counts back from the newest backup, not from now:
//!   nor must the clock of who prunes.
//! - dependents-first: what is based on another archive goes before it: a kill in the middle leaves
//!   chains that are whole.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// An archive, as retention sees it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Candidate<Id> {
    /// Which.
    pub id: Id,
    /// What is known of it.
    pub state: State<Id>,
}

/// What is known of an archive.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum State<Id> {
    /// It has a manifest, which was read.
    Complete {
        /// When the database was so: seconds since 1970-01-01 UTC.
        made: u64,
        /// What it is based on; nothing for a full backup.
        base: Option<Id>,
        /// Whether someone may be following the database from it.
        is_followed: bool,
        /// Whether pages are missing in it, that were not authentic when it was made.
        lacks_pages: bool,
        /// Whether origin MACs show that a holder of the database's master key made it. A recipient can make others.
        is_own: bool,
    },
    /// It has a manifest, which was read, and not all that this lists is there.
    Incomplete {
        /// What it is based on; nothing for a full backup.
        base: Option<Id>,
    },
    /// It has no manifest.
    Unfinished {
        /// Whether no one can be writing it any more.
        is_stale: bool,
    },
    /// What it says can't be read.
    Unreadable,
}

/// What is to be kept. By default, all.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Rules {
    /// The last so many.
    pub last: Option<u32>,
    /// The last of each of the last so many hours that have one.
    pub hourly: Option<u32>,
    /// The same by days, in UTC.
    pub daily: Option<u32>,
    /// The same by weeks, which begin on Monday.
    pub weekly: Option<u32>,
    /// The same by months.
    pub monthly: Option<u32>,
    /// The same by years.
    pub yearly: Option<u32>,
    /// All that are younger, in seconds.
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
    /// What it is based on is not there: it takes no other's place, and anyone who knows why may remove it.
    Broken,
    /// Not all of its objects are there: it takes no other's place, and anyone who knows why may remove it.
    Incomplete,
    /// It has no manifest, and may be being written.
    Unfinished,
    /// What it says can't be read.
    Unreadable,
    /// What can't be read may be based on it.
    PerhapsBase,
    /// Someone follows the database from it: what is written to its log goes there.
    Followed,
    /// The next incremental backup rests on it, and may be being made.
    NextBase,
    /// One that is kept is based on it.
    Base,
}

/// What becomes of archives.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Decision<Id> {
    /// What is kept, and why.
    pub kept: BTreeMap<Id, BTreeSet<Reason>>,
    /// What is removed, in that order (dependents-first).
    pub removed: Vec<Id>,
}

impl Rules {
    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Decides. `now` is in seconds since 1970-01-01 UTC. Of two backups of one time the one with
    /// the higher id is the newer. `next_bases`: those on which an incremental backup may rest that
    /// is begun now.
    #[must_use]
    pub fn decide<Id: Ord + Clone>(&self, archives: &[Candidate<Id>], next_bases: &[Id], now: u64) -> Decision<Id> {
        let chains = Chains::of(archives);
        let mut kept = Kept::default();
        // newest-is-kept.
        let is_blind = archives.iter().any(|archive| archive.state == State::Unreadable);
        let mut past: Vec<Past<'_, Id>> = Vec::new();
        for Candidate { id, state } in archives {
            match state {
                State::Unreadable => kept.add(id, Reason::Unreadable),
                State::Complete { .. } if !chains.is_whole(id) => {
                    // Of what rests on one that can't be read it is unknown whether it can be restored.
                    if !chains.is_closed(id) {
                        kept.add(id, Reason::Broken);
                    }
                }
                State::Complete { made, .. } if *made > now.saturating_add(SKEW_SECONDS) => {
                    kept.add(id, Reason::Future)
                }
                &State::Complete {
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
                State::Incomplete { .. } => kept.add(id, Reason::Incomplete),
                State::Unfinished { is_stale: false } => kept.add(id, Reason::Unfinished),
                State::Unfinished { is_stale: true } => {}
            }
            if matches!(state, State::Complete { is_followed: true, .. }) {
                kept.add(id, Reason::Followed);
            }
            if is_blind && *state != State::Unreadable {
                kept.add(id, Reason::PerhapsBase);
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

    /// Says what is kept of backups, the newest first.
    fn keep<Id: Ord + Clone>(&self, past: &[(u64, &Id)], kept: &mut Kept<Id>) {
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

/// What is kept so far.
struct Kept<Id>(BTreeMap<Id, BTreeSet<Reason>>);

impl<Id> Default for Kept<Id> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<Id: Ord + Clone> Kept<Id> {
    fn add(&mut self, id: &Id, reason: Reason) {
        self.0.entry(id.clone()).or_default().insert(reason);
    }
}

/// What is based on what.
struct Chains<'a, Id>(BTreeMap<&'a Id, Link<'a, Id>>);

/// What an archive is in a chain.
enum Link<'a, Id> {
    Full,
    On(&'a Id),
    /// Not all of a backup: what is based on it can't be restored, and what it is based on may be of use.
    Cut(Option<&'a Id>),
    /// It is unknown what it is.
    Closed,
    /// No backup: what is based on it can't be restored.
    Nothing,
}

impl<'a, Id> Link<'a, Id> {
    fn base(&self) -> Option<&'a Id> {
        match *self {
            Self::On(base) | Self::Cut(Some(base)) => Some(base),
            Self::Cut(None) | Self::Full | Self::Closed | Self::Nothing => None,
        }
    }
}

impl<'a, Id: Ord + Clone> Chains<'a, Id> {
    fn of(archives: &'a [Candidate<Id>]) -> Self {
        let link = |archive: &'a Candidate<Id>| match &archive.state {
            State::Complete { base, .. } => base.as_ref().map_or(Link::Full, Link::On),
            State::Incomplete { base } => Link::Cut(base.as_ref()),
            State::Unreadable => Link::Closed,
            State::Unfinished { .. } => Link::Nothing,
        };
        Self(archives.iter().map(|archive| (&archive.id, link(archive))).collect())
    }

    /// Whether all that it needs is there. A chain that leads back to itself is none.
    fn is_whole(&self, id: &Id) -> bool {
        matches!(self.end(id), Some(Link::Full))
    }

    /// Whether it rests on one that can't be read.
    fn is_closed(&self, id: &Id) -> bool {
        matches!(self.end(id), Some(Link::Closed))
    }

    /// The first that rests on nothing, or not on what it should.
    fn end(&self, id: &Id) -> Option<&Link<'a, Id>> {
        let mut next = id;
        for _ in 0..self.0.len() {
            match self.0.get(next)? {
                Link::On(base) => next = base,
                end @ (Link::Full | Link::Cut(_) | Link::Closed | Link::Nothing) => return Some(end),
            }
        }
        None
    }

    /// Enforces `chains-stay-whole`.
    fn keep_bases(&self, kept: &mut Kept<Id>) {
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

    /// `dependents-first`: the backups to remove, each before the one that it is based on.
    fn dependents_first(mut self, kept: &Kept<Id>) -> Vec<Id> {
        self.0.retain(|id, _| !kept.0.contains_key(*id));
        let mut removed = Vec::with_capacity(self.0.len());
        loop {
            let bases: BTreeSet<&Id> = self.0.values().filter_map(|link| link.base()).collect();
            let free: Vec<&Id> = self.0.keys().copied().filter(|id| !bases.contains(id)).collect();
            if free.is_empty() {
                // Chains that lead back to themselves are broken, and kept.
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
            Self::PerhapsBase => "what can't be read may be based on it",
            Self::Followed => "followed",
            Self::NextBase => "the next incremental depends on it",
            Self::Base => "base",
        })
    }
}

const HOUR: u64 = 3600;
const DAY: u64 = 86_400;
/// Two machines' clocks may differ by a minute.
const SKEW_SECONDS: u64 = 60;

/// How many of a period are kept, why, and which period a moment is in.
type Period = (Option<u32>, Reason, fn(u64) -> u64);

#[cfg(test)]
mod tests;
