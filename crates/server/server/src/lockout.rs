//! Failed logins, and which logins and addresses are locked out for a while.
//!
//! - `reserved-before-hashed`: an attempt is counted before its password is hashed, and given back when the
//!   password was right. However many attempts run at once, no more passwords are tried than one after the other: an
//!   attempt that could exceed the limit waits for the ones before it.
//! - `lock-of-a-login`: `attempts_per_login` wrong passwords in a row (5) lock a login for a minute; as many more
//!   for two, then four, eight, and fifteen minutes at most. While it is locked no password is tried, and attempts do
//!   not prolong the lock.
//! - `unknown-as-known`: a login that does not exist is counted and locked as one that does.
//! - `owner-not-locked-out`: an address from which a login has succeeded since the server started has a counter of
//!   its own, and so has loopback. Failures from all other addresses are counted together, and kept in master.db.
//! - `limit-of-an-address`: an address has `attempts_per_address` wrong passwords (100) for all logins together;
//!   one is forgiven each minute. Loopback is not limited.
//! - `bounded`: what is remembered of addresses and unknown logins is bounded; a failure is forgotten an hour after
//!   the last one.

mod recent_map;

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

pub use recent_map::RecentMap;

use crate::config::AttemptLimits;
use crate::master::{Attempts, folded};

/// Failed logins, by login and by address.
pub struct Lockout {
    limits: AttemptLimits,
    /// Names of unknown logins are kept as hashes under a key of this process.
    hasher: RandomState,
    state: Mutex<LockoutCounters>,
    settled: Condvar,
}

/// The account whose password is tried.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Account {
    /// A login, by its id.
    Login(i64),
    /// A name that no login has, as [`Lockout::unknown`] hashes it.
    Unknown(u64),
}

/// A login that is attempted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Attempt {
    /// The account.
    pub account: Account,
    /// The client's address.
    pub address: IpAddr,
}

/// Why no password is tried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Blocked {
    /// The login is locked.
    Locked,
    /// Too many wrong passwords from this address.
    Address,
    /// Too many attempts are waiting for too long.
    Crowded,
}

/// An attempt that is counted. Dropped without an outcome it is given back: no password was tried.
pub struct Reservation<'a> {
    lockout: &'a Lockout,
    attempt: Attempt,
    counter: CounterKey,
}

struct LockoutCounters {
    /// Known logins, from addresses without an earlier success of theirs.
    strangers: HashMap<i64, Counter>,
    /// Known logins, from addresses with an earlier success of theirs.
    known: RecentMap<(i64, IpAddr), Counter>,
    /// Unknown logins, from loopback or not.
    unknown: RecentMap<(u64, bool), Counter>,
    addresses: RecentMap<IpAddr, AddressCounter>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum CounterKey {
    Stranger(i64),
    Known(i64, IpAddr),
    Unknown(u64, bool),
}

#[derive(Clone, Copy, Default)]
struct Counter {
    attempts: Attempts,
    /// Reserved, and without an outcome yet.
    pending_count: u32,
}

#[derive(Clone, Copy, Default)]
struct AddressCounter {
    failure_count: u32,
    /// When the last one was forgiven.
    forgiven: i64,
    pending_count: u32,
}

#[derive(PartialEq, Eq)]
enum Room {
    /// A password may be tried.
    Free,
    /// Perhaps, when attempts before this one have ended.
    Taken,
    /// None may be tried.
    Blocked,
}

impl Lockout {
    /// There were no failures yet.
    pub fn new(limits: AttemptLimits) -> Self {
        Self {
            limits,
            hasher: RandomState::new(),
            state: Mutex::new(LockoutCounters {
                strangers: HashMap::new(),
                known: RecentMap::new(KNOWN_GENERATION_SIZE),
                unknown: RecentMap::new(UNKNOWN_GENERATION_SIZE),
                addresses: RecentMap::new(ADDRESS_GENERATION_SIZE),
            }),
            settled: Condvar::new(),
        }
    }

    /// The account of a name that no login has.
    pub fn unknown(&self, name: &str) -> Account {
        Account::Unknown(self.hasher.hash_one(folded(name)))
    }

    /// What was stored of a login when the server stopped. Only what came before its first attempt counts.
    pub fn recall(&self, login: i64, attempts: Attempts) {
        let counter = Counter {
            attempts,
            pending_count: 0,
        };
        self.lock().strangers.entry(login).or_insert(counter);
    }

    /// Counts an attempt before its password is hashed. `now` is in seconds since 1970-01-01 UTC. An attempt that
    /// could be one too many waits for the outcome of those before it, until `deadline`.
    ///
    /// # Errors
    /// [`Blocked`]: no password is to be tried.
    pub fn reserve(
        &self,
        attempt: Attempt,
        now: impl Fn() -> i64,
        deadline: Instant,
    ) -> Result<Reservation<'_>, Blocked> {
        let attempt = attempt.of_network();
        let mut state = self.lock();
        loop {
            let (key, now) = (state.key(attempt), now());
            // The address first: a client without attempts left learns nothing about a login.
            let address = state.room_of_address(attempt.address, self.limits.per_address, now);
            if address == Room::Blocked {
                return Err(Blocked::Address);
            }
            let login = state.counter(key).room(self.limits.per_login, now);
            if login == Room::Blocked {
                // A password is hashed for this, too: an address has no more of these than of others.
                if self.is_limited(attempt.address) {
                    let address = state.addresses.entry(attempt.address);
                    address.failure_count = address.failure_count.saturating_add(1);
                }
                return Err(Blocked::Locked);
            }
            if address == Room::Free && login == Room::Free {
                state.counter(key).pending_count += 1;
                if self.is_limited(attempt.address) {
                    state.addresses.entry(attempt.address).pending_count += 1;
                }
                return Ok(Reservation {
                    lockout: self,
                    attempt,
                    counter: key,
                });
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Blocked::Crowded);
            }
            let waited = self.settled.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Forgets all failures of a login: ALTER LOGIN .. UNLOCK, or a new password.
    pub fn forgive(&self, login: i64) {
        let mut state = self.lock();
        state.strangers.entry(login).or_default().attempts = Attempts::default();
        for (_, counter) in state.known.entries_mut().filter(|((id, _), _)| *id == login) {
            counter.attempts = Attempts::default();
        }
        self.settled.notify_all();
    }

    /// Forgets a login that was dropped, with the addresses that it came from: another may get its id.
    pub fn forget(&self, login: i64) {
        let mut state = self.lock();
        state.strangers.remove(&login);
        state.known.retain(|(id, _)| *id != login);
    }

    fn is_limited(&self, address: IpAddr) -> bool {
        self.limits.per_address > 0 && !address.is_loopback()
    }

    fn lock(&self) -> MutexGuard<'_, LockoutCounters> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reservation<'_> {
    /// The password was wrong. Returns what is to be stored in master.db of a known login.
    pub fn failed(self, now: i64) -> Option<Attempts> {
        let per_login = self.lockout.limits.per_login;
        let mut state = self.lockout.lock();
        if self.lockout.is_limited(self.attempt.address) {
            let address = state.addresses.entry(self.attempt.address);
            address.forgive(now);
            address.failure_count = address.failure_count.saturating_add(1);
        }
        let attempts = state.counter(self.counter).fail(per_login, now);
        match self.counter {
            CounterKey::Stranger(_) => Some(attempts),
            CounterKey::Known(..) | CounterKey::Unknown(..) => None,
        }
    }

    /// The password was right: the login's failures are forgotten, and its address is known from now on. Returns what
    /// is to be stored in master.db if it had failed.
    pub fn succeeded(self) -> Option<Attempts> {
        let mut state = self.lockout.lock();
        let counter = state.counter(self.counter);
        let had_failed = std::mem::take(&mut counter.attempts).failure_count > 0;
        match (self.counter, self.attempt.account) {
            (CounterKey::Stranger(login), _) => {
                state.known.entry((login, self.attempt.address));
                had_failed.then(Attempts::default)
            }
            (CounterKey::Known(..) | CounterKey::Unknown(..), _) => None,
        }
    }
}

/// Whatever its outcome: it is pending no longer.
impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        let mut state = self.lockout.lock();
        let counter = state.counter(self.counter);
        counter.pending_count = counter.pending_count.saturating_sub(1);
        if self.lockout.is_limited(self.attempt.address) {
            let address = state.addresses.entry(self.attempt.address);
            address.pending_count = address.pending_count.saturating_sub(1);
        }
        self.lockout.settled.notify_all();
    }
}

impl LockoutCounters {
    fn key(&self, attempt: Attempt) -> CounterKey {
        let address = attempt.address;
        match attempt.account {
            Account::Unknown(name) => CounterKey::Unknown(name, address.is_loopback()),
            Account::Login(login) => {
                let is_known = address.is_loopback() || self.known.find(&(login, address)).is_some();
                match is_known {
                    true => CounterKey::Known(login, address),
                    false => CounterKey::Stranger(login),
                }
            }
        }
    }

    fn counter(&mut self, key: CounterKey) -> &mut Counter {
        match key {
            CounterKey::Stranger(login) => self.strangers.entry(login).or_default(),
            CounterKey::Known(login, address) => self.known.entry((login, address)),
            CounterKey::Unknown(name, is_loopback) => self.unknown.entry((name, is_loopback)),
        }
    }

    fn room_of_address(&mut self, address: IpAddr, limit: u32, now: i64) -> Room {
        if limit == 0 || address.is_loopback() {
            return Room::Free;
        }
        let counter = self.addresses.entry(address);
        counter.forgive(now);
        if counter.failure_count >= limit {
            Room::Blocked
        } else if counter.failure_count + counter.pending_count >= limit {
            Room::Taken
        } else {
            Room::Free
        }
    }
}

impl Counter {
    fn room(&self, per_login: u32, now: i64) -> Room {
        let Attempts {
            failure_count,
            locked_until,
            ..
        } = self.attempts;
        // A clock that was set back must not lock for longer than it could have been.
        if now < locked_until && locked_until <= now + LOCK_SECONDS_MAX {
            return Room::Blocked;
        }
        match failure_count % per_login + self.pending_count < per_login {
            true => Room::Free,
            false => Room::Taken,
        }
    }

    fn fail(&mut self, per_login: u32, now: i64) -> Attempts {
        let attempts = &mut self.attempts;
        if now > attempts.failure_last + MEMORY_SECONDS {
            *attempts = Attempts::default();
        }
        attempts.failure_count = attempts.failure_count.saturating_add(1);
        attempts.failure_last = now;
        if attempts.failure_count.is_multiple_of(per_login) {
            let doublings = (attempts.failure_count / per_login - 1).min(DOUBLING_COUNT_MAX);
            attempts.locked_until = now + LOCK_SECONDS_MAX.min(LOCK_SECONDS << doublings);
        }
        *attempts
    }
}

impl AddressCounter {
    fn forgive(&mut self, now: i64) {
        // A clock that was set back forgives from now on.
        let elapsed = (now - self.forgiven).max(0) / FORGIVEN_SECONDS;
        self.failure_count = self
            .failure_count
            .saturating_sub(u32::try_from(elapsed).unwrap_or(u32::MAX));
        self.forgiven = match self.failure_count {
            0 => now,
            _ => (self.forgiven + elapsed * FORGIVEN_SECONDS).min(now),
        };
    }
}

impl Attempt {
    fn of_network(self) -> Self {
        Self {
            address: network(self.address),
            ..self
        }
    }
}

/// Addresses that count as one: loopback is 127.0.0.1, whatever it is called, and of IPv6 the first 64 bits count, as
/// a client has all addresses with that prefix.
pub fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        address if address.is_loopback() => IpAddr::from([127, 0, 0, 1]),
        IpAddr::V4(address) => address.into(),
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
    }
}

const LOCK_SECONDS: i64 = 60;
const LOCK_SECONDS_MAX: i64 = 15 * 60;
/// 2^4 minutes are more than the longest lock.
const DOUBLING_COUNT_MAX: u32 = 4;
/// An hour: four of the longest locks. What is remembered of unknown logins must outlast it.
const MEMORY_SECONDS: i64 = 3600;
/// A minute.
const FORGIVEN_SECONDS: i64 = 60;
/// Up to 4096 addresses of all logins together: 400 KiB.
const KNOWN_GENERATION_SIZE: usize = 2048;
/// Up to 131,072 unknown logins: 10 MiB. To make the server forget one that is locked for fifteen minutes, as many
/// others have to be tried meanwhile, and some 80 passwords a second are hashed: 72,000.
const UNKNOWN_GENERATION_SIZE: usize = 65_536;
/// Up to 32,768 addresses: 2 MiB.
const ADDRESS_GENERATION_SIZE: usize = 16_384;

#[cfg(test)]
mod tests;
