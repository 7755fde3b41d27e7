use std::time::Duration;

use super::*;

const NOW: i64 = 1_800_000_000;
const LIMITS: AttemptLimits = AttemptLimits {
    per_login: 5,
    per_address: 100,
};

fn from(address: &str) -> Attempt {
    Attempt {
        account: Account::Login(1),
        address: address.parse().unwrap(),
    }
}

fn try_at(lockout: &Lockout, attempt: Attempt, now: i64) -> Result<Reservation<'_>, Blocked> {
    lockout.reserve(attempt, || now, Instant::now())
}

fn blocked(lockout: &Lockout, attempt: Attempt, now: i64) -> Option<Blocked> {
    try_at(lockout, attempt, now).err()
}

fn fail(lockout: &Lockout, attempt: Attempt, count: u32, now: i64) -> Option<Attempts> {
    let failures = (0..count).map(|_| try_at(lockout, attempt, now).unwrap().failed(now));
    failures.last().unwrap()
}

fn succeed(lockout: &Lockout, attempt: Attempt, now: i64) -> Option<Attempts> {
    try_at(lockout, attempt, now).unwrap().succeeded()
}

#[test]
fn five_failures_lock_for_a_minute_and_then_for_longer_up_to_fifteen() {
    let lockout = Lockout::new(LIMITS);
    let unknown = Attempt {
        account: lockout.unknown("nobody"),
        ..from("192.0.2.1")
    };
    for attempt in [from("192.0.2.1"), unknown] {
        let mut now = NOW;
        for seconds in [60, 120, 240, 480, 900, 900, 900] {
            fail(&lockout, attempt, 4, now);
            assert_eq!(blocked(&lockout, attempt, now), None);
            fail(&lockout, attempt, 1, now);
            assert_eq!(blocked(&lockout, attempt, now), Some(Blocked::Locked));
            assert_eq!(blocked(&lockout, attempt, now + seconds - 1), Some(Blocked::Locked));
            now += seconds;
            assert_eq!(blocked(&lockout, attempt, now), None);
        }
        // An hour later all is forgotten.
        now += 3601;
        fail(&lockout, attempt, 5, now);
        assert_eq!(blocked(&lockout, attempt, now + 60), None);
    }
}

#[test]
fn attempts_without_an_outcome_count_and_are_given_back() {
    let lockout = Lockout::new(LIMITS);
    let stranger = from("192.0.2.1");
    fail(&lockout, stranger, 2, NOW);
    let pending: Vec<_> = (0..3).map(|_| try_at(&lockout, stranger, NOW).unwrap()).collect();
    // It is not locked, but one more could be one too many.
    assert_eq!(blocked(&lockout, stranger, NOW), Some(Blocked::Crowded));
    let mut pending = pending.into_iter();
    // No password was tried.
    drop(pending.next());
    let again = try_at(&lockout, stranger, NOW).unwrap();
    assert_eq!(blocked(&lockout, stranger, NOW), Some(Blocked::Crowded));
    // A right one gives all others their chances back.
    assert_eq!(again.succeeded(), Some(Attempts::default()));
    assert_eq!(blocked(&lockout, stranger, NOW), None);
    for attempt in pending {
        attempt.failed(NOW);
    }
    assert_eq!(blocked(&lockout, from("192.0.2.2"), NOW), None);
}

#[test]
fn who_waits_is_let_in_or_locked_by_the_outcome_of_the_others() {
    let lockout = Lockout::new(LIMITS);
    let stranger = from("192.0.2.1");
    fail(&lockout, stranger, 4, NOW);
    let later = Instant::now() + Duration::from_secs(60);
    for (succeeds, outcome) in [(true, None), (false, Some(Blocked::Locked))] {
        // Another network each time: one that has logged in has a counter of its own.
        let stranger = Attempt {
            account: Account::Login(2),
            ..from(if succeeds { "192.0.2.2" } else { "192.0.2.3" })
        };
        fail(&lockout, stranger, 4, NOW);
        let last = try_at(&lockout, stranger, NOW).unwrap();
        let waited = std::thread::scope(|scope| {
            let waits = scope.spawn(|| lockout.reserve(stranger, || NOW, later).err());
            match succeeds {
                true => last.succeeded(),
                false => last.failed(NOW),
            };
            waits.join().unwrap()
        });
        assert_eq!(waited, outcome);
    }
}

#[test]
fn an_address_has_a_limit_for_all_logins_that_is_restored_by_the_minute() {
    let lockout = Lockout::new(LIMITS);
    let login = |number: u32, address: &str| Attempt {
        account: lockout.unknown(&format!("name-{number}")),
        ..from(address)
    };
    for number in 0..100 {
        assert_eq!(fail(&lockout, login(number, "192.0.2.1"), 1, NOW), None);
    }
    let last = login(1000, "192.0.2.1");
    assert_eq!(blocked(&lockout, last, NOW + 59), Some(Blocked::Address));
    assert_eq!(blocked(&lockout, login(1000, "192.0.2.2"), NOW), None);
    // What was pending when the limit is near has to be waited for.
    let pending = try_at(&lockout, last, NOW + 60).unwrap();
    assert_eq!(
        blocked(&lockout, login(1001, "192.0.2.1"), NOW + 60),
        Some(Blocked::Crowded)
    );
    pending.succeeded();
    fail(&lockout, last, 1, NOW + 60);
    assert_eq!(blocked(&lockout, last, NOW + 119), Some(Blocked::Address));
    assert_eq!(blocked(&lockout, last, NOW + 120), None);
    // Neither a clock that was set back nor this machine is limited for ever.
    assert_eq!(blocked(&lockout, last, NOW - 86_400), None);
    for number in 0..300 {
        fail(&lockout, login(number, "127.0.0.1"), 1, NOW);
    }
}

#[test]
fn what_strangers_do_keeps_out_strangers_and_not_who_is_known() {
    let lockout = Lockout::new(LIMITS);
    let (owner, stranger, other) = (from("192.0.2.1"), from("198.51.100.7"), from("203.0.113.9"));
    assert_eq!(succeed(&lockout, owner, NOW), None);
    assert!(fail(&lockout, stranger, 5, NOW).is_some());
    assert_eq!(blocked(&lockout, stranger, NOW), Some(Blocked::Locked));
    assert_eq!(blocked(&lockout, other, NOW), Some(Blocked::Locked));
    for free in ["192.0.2.1", "127.0.0.1", "127.8.8.8", "::1", "::ffff:192.0.2.1"] {
        assert_eq!(blocked(&lockout, from(free), NOW), None, "{free:?}");
    }
    // Who is known is locked out by himself alone, and what he does right helps no stranger.
    assert_eq!(succeed(&lockout, owner, NOW), None);
    assert_eq!(blocked(&lockout, stranger, NOW), Some(Blocked::Locked));
    assert_eq!(fail(&lockout, owner, 5, NOW), None);
    assert_eq!(blocked(&lockout, owner, NOW), Some(Blocked::Locked));
    assert_eq!(blocked(&lockout, from("::1"), NOW), None);
    assert_eq!(fail(&lockout, from("::1"), 5, NOW), None);
    assert_eq!(blocked(&lockout, from("127.0.0.1"), NOW), Some(Blocked::Locked));
    lockout.forgive(1);
    for free in ["192.0.2.1", "127.0.0.1", "198.51.100.7"] {
        assert_eq!(blocked(&lockout, from(free), NOW), None, "{free:?}");
    }
}

#[test]
fn a_stranger_who_comes_in_is_known_and_clears_what_was_counted() {
    let lockout = Lockout::new(LIMITS);
    let (stranger, neighbour) = (from("2001:db8::1"), from("2001:db8::ffff:1"));
    fail(&lockout, stranger, 4, NOW);
    assert_eq!(succeed(&lockout, neighbour, NOW), Some(Attempts::default()));
    fail(&lockout, from("192.0.2.1"), 5, NOW);
    assert_eq!(blocked(&lockout, stranger, NOW), None);
    lockout.forgive(1);
    assert_eq!(blocked(&lockout, from("192.0.2.1"), NOW), None);
}

#[test]
fn a_login_that_gets_the_id_of_another_has_none_of_its_past() {
    let lockout = Lockout::new(LIMITS);
    let (owner, stranger) = (from("192.0.2.1"), from("198.51.100.7"));
    succeed(&lockout, owner, NOW);
    fail(&lockout, stranger, 5, NOW);
    lockout.forget(1);
    assert_eq!(blocked(&lockout, stranger, NOW), None);
    fail(&lockout, stranger, 5, NOW);
    assert_eq!(blocked(&lockout, owner, NOW), Some(Blocked::Locked));
}

#[test]
fn a_lock_outlives_the_server_but_not_a_clock_that_was_set_back() {
    let lockout = Lockout::new(LIMITS);
    let kept = Attempts {
        failure_count: 5,
        failure_last: NOW,
        locked_until: NOW + 60,
    };
    lockout.recall(1, kept);
    let stranger = from("192.0.2.1");
    assert_eq!(blocked(&lockout, stranger, NOW), Some(Blocked::Locked));
    assert_eq!(blocked(&lockout, stranger, NOW - 86_400), None);
    lockout.forgive(1);
    lockout.recall(1, kept);
    assert_eq!(blocked(&lockout, stranger, NOW), None);
}
