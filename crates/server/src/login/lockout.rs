//! Who may not try passwords for a while.
//!
//! L1. Five wrong passwords in a row lock a login for a minute; five more for two, then four, eight, and fifteen minutes at most. While it
//!     is locked no password is tried, and trying makes it no longer.
//! L2. A stranger must not keep the owner out: an address from which a login has come in since the server started counts for itself,
//!     and so does this machine. What others do wrong is counted for all others together, and kept in master.db.
//! L3. What is remembered is bounded; a failure of yesterday is forgotten.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};

use crate::master::Attempts;

/// Failed logins, by login and by where they came from.
#[derive(Default)]
pub struct Lockout {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// From everywhere else.
    strangers: HashMap<i64, Attempts>,
    /// From places that the login has come in from. A value says also when it was last used.
    known: HashMap<(i64, IpAddr), (Attempts, i64)>,
}

/// A login and a place, as failures are counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Visit {
    /// The login's id.
    pub login: i64,
    /// Where the client is.
    pub address: IpAddr,
}

impl Lockout {
    /// What was kept of a login when the server stopped. Only what came before the first failure counts.
    pub fn recall(&self, login: i64, attempts: Attempts) {
        self.lock().strangers.entry(login).or_insert(attempts);
    }

    /// Whether no password is to be tried now. Times are seconds since 1970-01-01 UTC.
    pub fn is_locked(&self, visit: Visit, now: i64) -> bool {
        let state = self.lock();
        let until = state.attempts(visit.placed()).locked_until;
        // A clock that was set back must not lock for longer than it could have been.
        now < until && until <= now + LOCK_SECONDS_MAX
    }

    /// Counts a failure. Answers what is to be kept in master.db, if it is of a stranger.
    pub fn failed(&self, visit: Visit, now: i64) -> Option<Attempts> {
        let mut state = self.lock();
        let place = visit.placed();
        let mut attempts = state.attempts(place);
        if now > attempts.failure_last + MEMORY_SECONDS {
            attempts = Attempts::default();
        }
        attempts.failure_count = attempts.failure_count.saturating_add(1);
        attempts.failure_last = now;
        if attempts.failure_count.is_multiple_of(FAILURE_COUNT) {
            let doublings = (attempts.failure_count / FAILURE_COUNT - 1).min(DOUBLING_COUNT_MAX);
            attempts.locked_until = now + LOCK_SECONDS_MAX.min(LOCK_SECONDS << doublings);
        }
        state.keep(place, attempts, now)
    }

    /// A login came in: its place is known from now on. Answers what is to be kept in master.db, if it was a stranger that had failed.
    pub fn succeeded(&self, visit: Visit, now: i64) -> Option<Attempts> {
        let mut state = self.lock();
        let place = visit.placed();
        let was_known = state.is_known(place);
        if !was_known && state.known.len() >= KNOWN_COUNT_MAX {
            state.forget_one();
        }
        state
            .known
            .insert((place.login, place.address), (Attempts::default(), now));
        if was_known {
            return None;
        }
        let before = state.strangers.insert(place.login, Attempts::default());
        before
            .is_some_and(|before| before.failure_count > 0)
            .then(Attempts::default)
    }

    /// Forgets all failures of a login: ALTER LOGIN .. UNLOCK, a new password, a login that is gone.
    pub fn forgive(&self, login: i64) {
        let mut state = self.lock();
        state.strangers.insert(login, Attempts::default());
        for ((_, _), (attempts, _)) in state.known.iter_mut().filter(|((id, _), _)| *id == login) {
            *attempts = Attempts::default();
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn is_known(&self, place: Visit) -> bool {
        place.address.is_loopback() || self.known.contains_key(&(place.login, place.address))
    }

    fn attempts(&self, place: Visit) -> Attempts {
        let known = self
            .known
            .get(&(place.login, place.address))
            .map(|(attempts, _)| *attempts);
        match known {
            Some(attempts) => attempts,
            None if place.address.is_loopback() => Attempts::default(),
            None => self.strangers.get(&place.login).copied().unwrap_or_default(),
        }
    }

    fn keep(&mut self, place: Visit, attempts: Attempts, now: i64) -> Option<Attempts> {
        if self.is_known(place) {
            self.known.insert((place.login, place.address), (attempts, now));
            return None;
        }
        self.strangers.insert(place.login, attempts);
        Some(attempts)
    }

    /// Makes room: the place goes that was not used for the longest time.
    fn forget_one(&mut self) {
        let oldest = self
            .known
            .iter()
            .min_by_key(|(_, (_, used))| *used)
            .map(|(place, _)| *place);
        if let Some(oldest) = oldest {
            self.known.remove(&oldest);
        }
    }
}

impl Visit {
    /// Addresses that are one place: this machine is 127.0.0.1, whatever it is called, and of IPv6 the first 64 bits count, as a client
    /// has all that are behind them.
    fn placed(self) -> Self {
        let address = match self.address.to_canonical() {
            address if address.is_loopback() => IpAddr::from([127, 0, 0, 1]),
            IpAddr::V4(address) => address.into(),
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
            }
        };
        Self { address, ..self }
    }
}

const FAILURE_COUNT: u32 = 5;
const LOCK_SECONDS: i64 = 60;
const LOCK_SECONDS_MAX: i64 = 15 * 60;
/// 2^4 minutes are more than the longest lock.
const DOUBLING_COUNT_MAX: u32 = 4;
/// A day.
const MEMORY_SECONDS: i64 = 86_400;
/// 4096 places of all logins together: 400 KiB.
const KNOWN_COUNT_MAX: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_800_000_000;

    fn visit(address: &str) -> Visit {
        Visit {
            login: 1,
            address: address.parse().unwrap(),
        }
    }

    fn fail(lockout: &Lockout, visit: Visit, count: u32, now: i64) -> Option<Attempts> {
        (0..count).map(|_| lockout.failed(visit, now)).last().unwrap()
    }

    #[test]
    fn five_failures_lock_for_a_minute_and_then_for_longer_up_to_fifteen() {
        let lockout = Lockout::default();
        let stranger = visit("192.0.2.1");
        let mut now = NOW;
        for seconds in [60, 120, 240, 480, 900, 900, 900] {
            fail(&lockout, stranger, 4, now);
            assert!(!lockout.is_locked(stranger, now));
            let kept = fail(&lockout, stranger, 1, now).unwrap();
            assert_eq!(kept.locked_until, now + seconds);
            assert!(lockout.is_locked(stranger, now));
            assert!(lockout.is_locked(stranger, now + seconds - 1));
            now += seconds;
            assert!(!lockout.is_locked(stranger, now));
        }
        assert_eq!(lockout.failed(stranger, now + 86_401).unwrap().failure_count, 1);
    }

    #[test]
    fn what_strangers_do_keeps_out_strangers_and_not_who_is_known() {
        let lockout = Lockout::default();
        let (owner, stranger, other) = (visit("192.0.2.1"), visit("198.51.100.7"), visit("203.0.113.9"));
        assert_eq!(lockout.succeeded(owner, NOW), None);
        assert!(fail(&lockout, stranger, 5, NOW).is_some());
        assert!(lockout.is_locked(stranger, NOW));
        assert!(lockout.is_locked(other, NOW));
        for free in [
            owner,
            visit("127.0.0.1"),
            visit("127.8.8.8"),
            visit("::1"),
            visit("::ffff:192.0.2.1"),
        ] {
            assert!(!lockout.is_locked(free, NOW), "{free:?}");
        }
        // Who is known is locked out by himself alone, and what he does right helps no stranger.
        assert_eq!(lockout.succeeded(owner, NOW), None);
        assert!(lockout.is_locked(stranger, NOW));
        assert_eq!(fail(&lockout, owner, 5, NOW), None);
        assert!(lockout.is_locked(owner, NOW));
        assert!(!lockout.is_locked(visit("::1"), NOW));
        assert_eq!(fail(&lockout, visit("::1"), 5, NOW), None);
        assert!(lockout.is_locked(visit("127.0.0.1"), NOW));
    }

    #[test]
    fn a_stranger_who_comes_in_is_known_and_clears_what_was_counted() {
        let lockout = Lockout::default();
        let (stranger, neighbour) = (visit("2001:db8::1"), visit("2001:db8::ffff:1"));
        fail(&lockout, stranger, 4, NOW);
        assert_eq!(lockout.succeeded(neighbour, NOW), Some(Attempts::default()));
        fail(&lockout, visit("192.0.2.1"), 5, NOW);
        assert!(!lockout.is_locked(stranger, NOW));
        lockout.forgive(1);
        assert!(!lockout.is_locked(visit("192.0.2.1"), NOW));
    }

    #[test]
    fn a_lock_outlives_the_server_but_not_a_clock_that_was_set_back() {
        let lockout = Lockout::default();
        let kept = Attempts {
            failure_count: 5,
            failure_last: NOW,
            locked_until: NOW + 60,
        };
        lockout.recall(1, kept);
        let stranger = visit("192.0.2.1");
        assert!(lockout.is_locked(stranger, NOW));
        assert!(!lockout.is_locked(stranger, NOW - 86_400));
        lockout.forgive(1);
        lockout.recall(1, kept);
        assert!(!lockout.is_locked(stranger, NOW));
    }

    #[test]
    fn places_that_are_remembered_are_bounded() {
        let lockout = Lockout::default();
        for number in 0..5000_u32 {
            let address = IpAddr::from(number.to_be_bytes());
            lockout.succeeded(Visit { login: 1, address }, NOW + i64::from(number));
        }
        let state = lockout.lock();
        assert_eq!(state.known.len(), KNOWN_COUNT_MAX);
        let newest = IpAddr::from(4999_u32.to_be_bytes());
        assert!(state.known.contains_key(&(1, newest)));
    }
}
