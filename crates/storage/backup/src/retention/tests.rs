use proptest::prelude::*;

use super::*;

type Archive = Candidate<u32>;

fn full(id: u32, made: u64) -> Archive {
    let state = ArchiveState::Complete {
        made,
        base: None,
        is_followed: false,
        lacks_pages: false,
        is_own: true,
    };
    Candidate { id, state }
}

fn on(base: u32, id: u32, made: u64) -> Archive {
    let state = ArchiveState::Complete {
        made,
        base: Some(base),
        is_followed: false,
        lacks_pages: false,
        is_own: true,
    };
    Candidate { id, state }
}

fn unfinished(id: u32, is_stale: bool) -> Archive {
    let state = ArchiveState::Unfinished { is_stale };
    Candidate { id, state }
}

/// 2026-11-22 01:00 UTC, a Sunday.
const NOW: u64 = 1_795_309_200;

fn kept(rules: Rules, archives: &[Archive]) -> Vec<u32> {
    rules.decide(archives, &[], NOW).kept.into_keys().collect()
}

fn last(count: u32) -> Rules {
    Rules {
        last: Some(count),
        ..Rules::default()
    }
}

#[test]
fn the_newest_of_each_recent_period_is_kept() {
    // Two backups for each of 400 days, at noon and an hour later.
    let archives: Vec<Archive> = (0..400)
        .flat_map(|day| {
            let noon = NOW - 13 * HOUR - u64::from(day) * DAY;
            [full(day * 2 + 1, noon), full(day * 2, noon + HOUR)]
        })
        .collect();
    let rule = |rules: Rules| kept(rules, &archives);
    let nothing = Rules::default();
    assert_eq!(rule(nothing).len(), 800);
    assert_eq!(rule(last(3)), [0, 1, 2]);
    assert_eq!(
        rule(Rules {
            hourly: Some(3),
            ..nothing
        }),
        [0, 1, 2]
    );
    assert_eq!(
        rule(Rules {
            daily: Some(3),
            ..nothing
        }),
        [0, 2, 4]
    );
    // The newest is of Saturday the 21st; the previous weeks end on Sundays, the 15th and the 8th.
    assert_eq!(
        rule(Rules {
            weekly: Some(3),
            ..nothing
        }),
        [0, 12, 26]
    );
    // October has 31 days.
    assert_eq!(
        rule(Rules {
            monthly: Some(3),
            ..nothing
        }),
        [0, 42, 104]
    );
    // The last day of 2025 is the 325th before the 21st of November.
    assert_eq!(
        rule(Rules {
            yearly: Some(5),
            ..nothing
        }),
        [0, 650]
    );
    assert_eq!(
        rule(Rules {
            within: Some(DAY),
            ..nothing
        }),
        [0, 1, 2]
    );
    let both = Rules {
        daily: Some(2),
        monthly: Some(2),
        ..nothing
    };
    assert_eq!(rule(both), [0, 2, 42]);
}

#[test]
fn a_month_is_distinct_in_every_year() {
    for (seconds, months) in [
        (0, 1970 * 12),
        (951_782_399, 2000 * 12 + 1),
        (951_782_400, 2000 * 12 + 1),
        (951_868_800, 2000 * 12 + 2),
        (1_767_225_599, 2025 * 12 + 11),
        (1_767_225_600, 2026 * 12),
        (NOW, 2026 * 12 + 10),
    ] {
        assert_eq!(month(seconds), months, "{seconds}");
    }
}

#[test]
fn the_base_of_a_kept_archive_is_kept_with_that_reason() {
    let archives = [
        full(1, NOW - 500),
        on(1, 2, NOW - 400),
        full(3, NOW - 300),
        on(2, 4, NOW - 200),
    ];
    let decision = last(1).decide(&archives, &[], NOW);
    assert_eq!(decision.removed, [3]);
    assert_eq!(decision.kept[&1], BTreeSet::from([Reason::Base]));
    assert_eq!(decision.kept[&4], BTreeSet::from([Reason::Newest, Reason::Last]));
}

#[test]
fn an_archive_is_removed_before_its_base() {
    let archives = [full(1, 10), on(1, 2, 20), on(2, 3, 30), on(1, 5, 35), full(4, 40)];
    assert_eq!(last(1).decide(&archives, &[], NOW).removed, [3, 5, 2, 1]);
}

#[test]
fn the_next_base_is_kept_with_its_chain() {
    let archives = [full(1, 10), on(1, 2, 20), full(3, 30)];
    let decision = last(1).decide(&archives, &[2], NOW);
    assert_eq!(decision.removed, [0_u32; 0]);
    assert_eq!(decision.kept[&2], BTreeSet::from([Reason::NextBase]));
    assert_eq!(last(1).decide(&archives, &[9], NOW).removed, [2, 1]);
}

#[test]
fn an_archive_with_an_unreadable_base_is_not_reported_as_broken() {
    let closed = Candidate {
        id: 1,
        state: ArchiveState::Unreadable,
    };
    let archives = [closed, on(1, 2, 20), on(2, 3, 30), on(9, 4, 40)];
    let decision = last(1).decide(&archives, &[], NOW);
    assert_eq!(decision.removed, [0_u32; 0]);
    assert_eq!(decision.kept[&3], BTreeSet::from([Reason::PossibleBase]));
    assert_eq!(
        decision.kept[&4],
        BTreeSet::from([Reason::PossibleBase, Reason::Broken])
    );
}

#[test]
fn a_followed_archive_is_kept_with_its_chain() {
    let mut archives = [full(1, 10), on(1, 2, 20), full(3, 30)];
    let ArchiveState::Complete { is_followed, .. } = &mut archives[1].state else {
        unreachable!("it is complete")
    };
    *is_followed = true;
    let decision = last(1).decide(&archives, &[], NOW);
    assert_eq!(decision.removed, [0_u32; 0]);
    assert_eq!(decision.kept[&2], BTreeSet::from([Reason::Followed]));
}

#[test]
fn a_backup_from_the_future_replaces_no_other() {
    let archives = [full(1, NOW - 200), full(2, NOW - 100), full(9, NOW + 10 * DAY)];
    let decision = last(1).decide(&archives, &[], NOW);
    assert_eq!(decision.removed, [1]);
    assert_eq!(decision.kept[&9], BTreeSet::from([Reason::Future]));
    assert!(decision.kept[&2].contains(&Reason::Newest));
    let within = Rules {
        within: Some(50),
        ..Rules::default()
    };
    assert_eq!(kept(within, &archives), [2, 9]);
    // The clock of the pruning machine was set ahead by a year: the same archives are kept.
    assert_eq!(within.decide(&archives[..2], &[], NOW + 400 * DAY).removed, [1]);
}

#[test]
fn a_backup_that_can_not_be_restored_replaces_no_other() {
    let archives = [full(1, 10), on(7, 2, 20), on(2, 3, 30)];
    let decision = last(1).decide(&archives, &[], NOW);
    assert_eq!(decision.removed, [0_u32; 0]);
    assert!(decision.kept[&1].contains(&Reason::Newest));
    assert!(decision.kept[&3].contains(&Reason::Broken) && decision.kept[&2].contains(&Reason::Broken));
    // A cyclic chain is not a backup.
    let circle = [full(1, 10), on(3, 2, 20), on(2, 3, 30)];
    assert_eq!(kept(last(1), &circle), [1, 2, 3]);
}

/// Checks `newest-is-kept`.
#[test]
fn a_backup_that_lacks_pages_replaces_no_complete_one() {
    let lacking = |id, made| {
        let state = ArchiveState::Complete {
            made,
            base: None,
            is_followed: false,
            lacks_pages: true,
            is_own: true,
        };
        Candidate { id, state }
    };
    let archives = [full(1, 10), full(2, 20), lacking(3, 30), lacking(4, 40)];
    let decision = last(1).decide(&archives, &[], NOW);
    assert_eq!(decision.removed, [1, 3]);
    assert!(decision.kept[&2].contains(&Reason::Newest));
    // If there is no complete one, they are treated like any other.
    assert_eq!(last(1).decide(&archives[2..], &[], NOW).removed, [3]);
}

/// `newest-is-kept`: otherwise a recipient with write access to the destination, and no right to
/// delete, could cause an owner's pruning to remove the other backups.
#[test]
fn a_backup_of_unknown_origin_replaces_none_of_known_origin() {
    let unknown = |id, made| {
        let state = ArchiveState::Complete {
            made,
            base: None,
            is_followed: false,
            lacks_pages: false,
            is_own: false,
        };
        Candidate { id, state }
    };
    let archives = [full(1, 10), full(2, 20), unknown(3, 30), unknown(4, 40)];
    let decision = last(1).decide(&archives, &[], NOW);
    assert_eq!(decision.removed, [1, 3]);
    assert!(decision.kept[&2].contains(&Reason::Newest));
    // Those made before origin MACs existed are pruned among themselves.
    assert_eq!(last(1).decide(&archives[2..], &[], NOW).removed, [3]);
}

#[test]
fn an_incomplete_backup_is_kept_and_replaces_no_other() {
    let incomplete = Candidate {
        id: 4,
        state: ArchiveState::Incomplete { base: Some(2) },
    };
    let archives = [full(1, 10), full(2, 20), full(3, 30), incomplete, on(4, 5, 50)];
    let decision = last(1).decide(&archives, &[], NOW);
    assert_eq!(decision.removed, [1]);
    assert_eq!(decision.kept[&2], BTreeSet::from([Reason::Base]));
    assert!(decision.kept[&3].contains(&Reason::Newest));
    assert_eq!(decision.kept[&4], BTreeSet::from([Reason::Incomplete, Reason::Base]));
    assert_eq!(decision.kept[&5], BTreeSet::from([Reason::Broken]));
}

#[test]
fn nothing_is_removed_if_one_archive_can_not_be_read() {
    let unreadable = Candidate {
        id: 3,
        state: ArchiveState::Unreadable,
    };
    let archives = [full(1, 10), full(2, 20), unreadable, unfinished(4, true)];
    let decision = last(1).decide(&archives, &[], NOW);
    assert_eq!(decision.removed, [0_u32; 0]);
    assert_eq!(decision.kept[&1], BTreeSet::from([Reason::PossibleBase]));
}

#[test]
fn an_unfinished_archive_is_removed_when_it_is_stale_and_no_base() {
    let archives = [
        unfinished(1, true),
        unfinished(2, false),
        unfinished(3, true),
        on(3, 4, 10),
    ];
    let decision = Rules::default().decide(&archives, &[], NOW);
    assert_eq!(decision.removed, [1]);
    assert_eq!(decision.kept[&2], BTreeSet::from([Reason::Unfinished]));
    // A backup whose manifest is gone cannot be restored, and is kept for an investigation.
    assert!(decision.kept[&3].contains(&Reason::Base) && decision.kept[&4].contains(&Reason::Broken));
}

/// Up to 40 archives over about two years, a few of them in the future, based on any earlier or
/// later one, or on a missing one.
fn archives() -> impl Strategy<Value = Vec<Archive>> {
    let made = prop_oneof![8 => NOW - 2 * 365 * DAY..NOW, 1 => NOW..NOW + 9 * DAY, 1 => Just(u64::MAX)];
    let base = prop_oneof![3 => Just(None), 4 => (0_u32..42).prop_map(Some)];
    let complete = (made, base.clone(), prop::bool::weighted(0.2), prop::bool::weighted(0.8)).prop_map(
        |(made, base, lacks_pages, is_own)| ArchiveState::Complete {
            made,
            base,
            is_followed: false,
            lacks_pages,
            is_own,
        },
    );
    let incomplete = base.prop_map(|base| ArchiveState::Incomplete { base });
    let state = prop_oneof![9 => complete, 1 => incomplete, 1 => any::<bool>().prop_map(|is_stale| ArchiveState::Unfinished { is_stale })];
    prop::collection::vec(state, 0..40).prop_map(|states| {
        let ids = 0_u32..;
        ids.zip(states).map(|(id, state)| Candidate { id, state }).collect()
    })
}

fn rules() -> impl Strategy<Value = Rules> {
    let count = || prop::option::of(0_u32..6);
    let counts = (count(), count(), count(), count(), count(), count());
    (counts, prop::option::of(0..90 * DAY)).prop_map(|((last, hourly, daily, weekly, monthly, yearly), within)| Rules {
        last,
        hourly,
        daily,
        weekly,
        monthly,
        yearly,
        within,
    })
}

fn left(archives: &[Archive], decision: &Decision<u32>) -> Vec<Archive> {
    let is_kept = |archive: &&Archive| decision.kept.contains_key(&archive.id);
    archives.iter().filter(is_kept).cloned().collect()
}

fn whole(archives: &[Archive]) -> BTreeSet<u32> {
    let chains = Chains::of(archives);
    let ids = archives.iter().map(|archive| archive.id);
    ids.filter(|id| chains.is_whole(id)).collect()
}

/// Rules that keep at least as much as either.
fn more(one: Rules, other: Rules) -> Rules {
    Rules {
        last: one.last.max(other.last),
        hourly: one.hourly.max(other.hourly),
        daily: one.daily.max(other.daily),
        weekly: one.weekly.max(other.weekly),
        monthly: one.monthly.max(other.monthly),
        yearly: one.yearly.max(other.yearly),
        within: one.within.max(other.within),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn everything_is_kept_or_removed_and_never_both(archives in archives(), rules in rules()) {
        let decision = rules.decide(&archives, &[], NOW);
        let mut all: Vec<u32> = decision.kept.keys().copied().chain(decision.removed.iter().copied()).collect();
        all.sort_unstable();
        prop_assert_eq!(all, archives.iter().map(|archive| archive.id).collect::<Vec<_>>());
        prop_assert!(decision.kept.values().all(|reasons| !reasons.is_empty()));
    }

    /// This holds after every step of the removal, too.
    #[test]
    fn nothing_kept_lacks_its_chain(archives in archives(), rules in rules()) {
        let decision = rules.decide(&archives, &[], NOW);
        let before = whole(&archives);
        let mut rest = archives.clone();
        for removed in &decision.removed {
            rest.retain(|archive| archive.id != *removed);
            let still = whole(&rest);
            prop_assert!(rest.iter().all(|archive| !before.contains(&archive.id) || still.contains(&archive.id)));
        }
    }

    #[test]
    fn pruning_twice_is_the_same_as_once(archives in archives(), rules in rules()) {
        let once = left(&archives, &rules.decide(&archives, &[], NOW));
        let again = rules.decide(&once, &[], NOW);
        prop_assert_eq!(again.removed, Vec::<u32>::new());
    }

    #[test]
    fn more_rules_never_remove_more(archives in archives(), one in rules(), other in rules()) {
        prop_assume!(!one.is_empty());
        let few: BTreeSet<u32> = one.decide(&archives, &[], NOW).removed.into_iter().collect();
        let none: BTreeSet<u32> = more(one, other).decide(&archives, &[], NOW).removed.into_iter().collect();
        prop_assert!(none.is_subset(&few));
    }

    #[test]
    fn the_newest_restorable_backup_is_kept(archives in archives(), rules in rules()) {
        let before = whole(&archives);
        let decision = rules.decide(&archives, &[], NOW);
        for (is_sound, of_own) in [(false, false), (true, false), (false, true), (true, true)] {
            let made = |archive: &Archive| match archive.state {
                ArchiveState::Complete { made, lacks_pages, is_own, .. } => {
                    let counts = before.contains(&archive.id) && made <= NOW && !(is_sound && lacks_pages) && (is_own || !of_own);
                    counts.then_some((made, archive.id))
                }
                ArchiveState::Incomplete { .. } | ArchiveState::Unfinished { .. } | ArchiveState::Unreadable => None,
            };
            let newest = archives.iter().filter_map(made).max();
            prop_assert!(newest.is_none_or(|(_, id)| decision.kept.contains_key(&id)));
        }
    }
}
