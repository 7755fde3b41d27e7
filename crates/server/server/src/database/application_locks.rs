//! Locks that clients name themselves: sp_getapplock.
//!
//! - `lock-is-of-a-name`: a lock is that of a name, a database and a principal of it. Names are compared by their
//!   characters alone, as SQL Server compares them whatever the collation is.
//! - `owner-is-session-or-transaction`: it is held until it is released as often as it was taken, and no longer than
//!   its owner lasts.
//! - `waits-in-order`: who comes later waits for those who wait before, unless it holds the lock already.
//! - `wait-cycle-is-refused`: [`Waits`] knows these waits, too.

use std::collections::{HashMap, HashSet};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::database::write_queue::Waits;
use crate::registry::{WaitType, own};

/// What is locked.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct LockName {
    /// The database.
    pub database_id: i32,
    /// The principal of the database whose lock it is.
    pub principal: i32,
    /// The name, as the client wrote it.
    pub resource: String,
}

/// How it is locked; a mode is compatible with some others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LockMode {
    /// IS
    IntentShared,
    /// S
    Shared,
    /// U
    Update,
    /// IX
    IntentExclusive,
    /// SIX: what S and IX are together.
    SharedIntentExclusive,
    /// UIX: what U and IX are together.
    UpdateIntentExclusive,
    /// X
    Exclusive,
}

/// Who holds it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LockOwner {
    /// The session's open transaction.
    Transaction,
    /// The session.
    Session,
}

/// Who asks: session and owner.
type Holder = (u16, LockOwner);

/// A lock that is held or waited for.
#[derive(Clone, Debug)]
pub struct SeenLock {
    /// What is locked.
    pub name: LockName,
    /// How.
    pub mode: LockMode,
    /// The session.
    pub session: u16,
    /// The owner.
    pub owner: LockOwner,
    /// Whether it is held.
    pub is_granted: bool,
}

/// Why a lock was not granted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NotLocked<E> {
    /// It took too long.
    TimedOut,
    /// The wait would have been for itself.
    Deadlock,
    /// The poll returned a reason to stop.
    Stopped(E),
}

/// All of them.
#[derive(Default)]
pub struct ApplicationLocks {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    next: u64,
    locks: HashMap<LockName, Lock>,
    /// The names of the locks that each holder has: a transaction that ends looks at no others.
    held: HashMap<Holder, HashSet<LockName>>,
}

#[derive(Default)]
struct Lock {
    /// Holder, mode, and how often it was taken.
    held: Vec<(Holder, LockMode, u32)>,
    /// In the order of arrival.
    waiting: Vec<(u64, Holder, LockMode)>,
}

impl LockMode {
    /// The modes that a client can name.
    const NAMED: [(&'static str, Self); 5] = [
        ("IntentShared", Self::IntentShared),
        ("Shared", Self::Shared),
        ("Update", Self::Update),
        ("IntentExclusive", Self::IntentExclusive),
        ("Exclusive", Self::Exclusive),
    ];

    /// The mode of a word.
    pub fn of_word(word: &str) -> Option<Self> {
        let found = Self::NAMED.iter().find(|(known, _)| known.eq_ignore_ascii_case(word));
        found.map(|(_, mode)| *mode)
    }

    /// What APPLOCK_MODE calls it.
    pub fn word(self) -> &'static str {
        match self {
            Self::IntentShared => "IntentShared",
            Self::Shared => "Shared",
            Self::Update => "Update",
            Self::IntentExclusive => "IntentExclusive",
            Self::SharedIntentExclusive => "SharedIntentExclusive",
            Self::UpdateIntentExclusive => "UpdateIntentExclusive",
            Self::Exclusive => "Exclusive",
        }
    }

    /// What `sys.dm_tran_locks` calls it.
    pub fn letters(self) -> &'static str {
        match self {
            Self::IntentShared => "IS",
            Self::Shared => "S",
            Self::Update => "U",
            Self::IntentExclusive => "IX",
            Self::SharedIntentExclusive => "SIX",
            Self::UpdateIntentExclusive => "UIX",
            Self::Exclusive => "X",
        }
    }

    /// The elementary modes that it consists of, as bits: IS, S, U, IX, X.
    fn bits(self) -> u8 {
        match self {
            Self::IntentShared => IS,
            Self::Shared => S,
            Self::Update => U,
            Self::IntentExclusive => IX,
            Self::SharedIntentExclusive => S | IX,
            Self::UpdateIntentExclusive => U | IX,
            Self::Exclusive => X,
        }
    }

    /// Whether another session may have it as `other` meanwhile.
    fn is_compatible(self, other: Self) -> bool {
        let excluded = |bits: u8| {
            let by = |bit: u8, excluded: u8| if bits & bit == 0 { 0 } else { excluded };
            by(IS, X) | by(S, IX | X) | by(U, U | IX | X) | by(IX, S | U | X) | by(X, IS | S | U | IX | X)
        };
        excluded(self.bits()) & other.bits() == 0
    }

    /// The mode that is both.
    fn with(self, other: Self) -> Self {
        let bits = self.bits() | other.bits();
        match bits {
            bits if bits & X != 0 => Self::Exclusive,
            bits if bits & IX != 0 && bits & U != 0 => Self::UpdateIntentExclusive,
            bits if bits & IX != 0 && bits & S != 0 => Self::SharedIntentExclusive,
            bits if bits & IX != 0 => Self::IntentExclusive,
            bits if bits & U != 0 => Self::Update,
            bits if bits & S != 0 => Self::Shared,
            _ => Self::IntentShared,
        }
    }
}

impl LockOwner {
    /// The owner of a word.
    pub fn of_word(word: &str) -> Option<Self> {
        [("Transaction", Self::Transaction), ("Session", Self::Session)]
            .into_iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(word))
            .map(|(_, owner)| owner)
    }
}

impl Lock {
    fn mode_of(&self, holder: Holder) -> Option<LockMode> {
        let found = self.held.iter().find(|(held, _, _)| *held == holder);
        found.map(|(_, mode, _)| *mode)
    }

    /// The sessions that a request waits for: those that hold the lock, and those that wait before `number`.
    fn blockers(&self, session: u16, wanted: LockMode, number: Option<u64>) -> Vec<u16> {
        let held = self.held.iter().map(|((other, _), mode, _)| (*other, *mode));
        let before = self
            .waiting
            .iter()
            .filter(|(other, _, _)| number.is_some_and(|number| *other < number));
        let before = before.map(|(_, (other, _), mode)| (*other, *mode));
        let blocks =
            |(other, mode): (u16, LockMode)| (other != session && !wanted.is_compatible(mode)).then_some(other);
        let mut found: Vec<u16> = held.chain(before).filter_map(blocks).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    fn take(&mut self, holder: Holder, mode: LockMode) {
        match self.held.iter_mut().find(|(held, _, _)| *held == holder) {
            Some((_, held, count)) => {
                *held = held.with(mode);
                *count = count.saturating_add(1);
            }
            None => self.held.push((holder, mode, 1)),
        }
    }
}

impl State {
    fn take(&mut self, name: &LockName, holder: Holder, mode: LockMode) {
        self.locks.entry(name.clone()).or_default().take(holder, mode);
        self.held.entry(holder).or_default().insert(name.clone());
    }

    /// A holder has a lock no more.
    fn forget(&mut self, name: &LockName, holder: Holder) {
        if let Some(names) = self.held.get_mut(&holder) {
            names.remove(name);
            if names.is_empty() {
                self.held.remove(&holder);
            }
        }
    }

    /// Forgets a lock that no one has.
    fn tidy(&mut self, name: &LockName) {
        let is_unused = |lock: &Lock| lock.held.is_empty() && lock.waiting.is_empty();
        if self.locks.get(name).is_some_and(is_unused) {
            self.locks.remove(name);
        }
    }
}

impl ApplicationLocks {
    /// Takes a lock; returns whether it had to be waited for. Without a `timeout` the wait has no end.
    ///
    /// # Errors
    /// [`NotLocked`].
    pub fn take<E>(
        &self,
        name: &LockName,
        (holder, mode): (Holder, LockMode),
        (waits, timeout): (&Waits, Option<Duration>),
        mut poll: impl FnMut() -> Result<(), E>,
    ) -> Result<bool, NotLocked<E>> {
        let session = holder.0;
        let mut state = self.lock();
        let number = state.next;
        state.next += 1;
        let lock = state.locks.entry(name.clone()).or_default();
        // Who has the lock already is not made to wait for those who wait for it to go.
        let place = lock
            .held
            .iter()
            .all(|((held, _), _, _)| *held != session)
            .then_some(number);
        if lock.blockers(session, mode, place).is_empty() {
            state.take(name, holder, mode);
            return Ok(false);
        }
        lock.waiting.push((number, holder, mode));
        drop(state);
        let until = timeout.map(|timeout| Instant::now() + timeout);
        let wait = own::begin_wait(WaitType::LockExclusive);
        let waited = loop {
            let mut state = self.lock();
            let lock = state.locks.entry(name.clone()).or_default();
            let blockers = lock.blockers(session, mode, place);
            let Some(first) = blockers.first().copied() else {
                state.take(name, holder, mode);
                break Ok(true);
            };
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                break Err(NotLocked::TimedOut);
            }
            if !waits.begin_behind(session, blockers) {
                break Err(NotLocked::Deadlock);
            }
            wait.blocked_by(first);
            let waited = self.changed.wait_timeout(state, left.unwrap_or(LOOK).min(LOOK));
            drop(waited.unwrap_or_else(PoisonError::into_inner));
            if let Err(stop) = poll() {
                break Err(NotLocked::Stopped(stop));
            }
        };
        waits.end(session);
        let mut state = self.lock();
        if let Some(lock) = state.locks.get_mut(name) {
            lock.waiting.retain(|(other, _, _)| *other != number);
        }
        state.tidy(name);
        self.wake(state);
        waited
    }

    /// Releases a lock once; false if the owner does not hold it.
    pub fn release(&self, name: &LockName, holder: Holder) -> bool {
        let mut state = self.lock();
        let Some(lock) = state.locks.get_mut(name) else {
            return false;
        };
        let Some(at) = lock.held.iter().position(|(held, _, _)| *held == holder) else {
            return false;
        };
        if let Some((_, _, count)) = lock.held.get_mut(at) {
            *count -= 1;
            if *count == 0 {
                lock.held.swap_remove(at);
                state.forget(name, holder);
            }
        }
        state.tidy(name);
        self.wake(state);
        true
    }

    /// The transaction, or else the session, has ended.
    pub fn release_all(&self, session: u16, with_session: bool) {
        let mut state = self.lock();
        let mut is_released = false;
        let owners = [LockOwner::Transaction, LockOwner::Session];
        for owner in owners.into_iter().take(if with_session { 2 } else { 1 }) {
            let holder = (session, owner);
            for name in state.held.remove(&holder).unwrap_or_default() {
                if let Some(lock) = state.locks.get_mut(&name) {
                    lock.held.retain(|(held, _, _)| *held != holder);
                }
                state.tidy(&name);
                is_released = true;
            }
        }
        if is_released {
            self.wake(state);
        }
    }

    /// The mode in which an owner holds a lock.
    pub fn mode(&self, name: &LockName, holder: Holder) -> Option<LockMode> {
        self.lock().locks.get(name).and_then(|lock| lock.mode_of(holder))
    }

    /// Whether a lock would be granted at once.
    pub fn would_grant(&self, name: &LockName, (session, _): Holder, mode: LockMode) -> bool {
        let state = self.lock();
        let Some(lock) = state.locks.get(name) else {
            return true;
        };
        let holds = lock.held.iter().any(|((held, _), _, _)| *held == session);
        lock.blockers(session, mode, (!holds).then_some(u64::MAX)).is_empty()
    }

    /// All that are held or waited for.
    pub fn seen(&self) -> Vec<SeenLock> {
        let state = self.lock();
        let mut seen = Vec::new();
        for (name, lock) in &state.locks {
            let held = lock.held.iter().map(|(holder, mode, _)| (*holder, *mode, true));
            let waiting = lock.waiting.iter().map(|(_, holder, mode)| (*holder, *mode, false));
            seen.extend(
                held.chain(waiting)
                    .map(|((session, owner), mode, is_granted)| SeenLock {
                        name: name.clone(),
                        mode,
                        session,
                        owner,
                        is_granted,
                    }),
            );
        }
        seen.sort_by(|one, other| {
            one.session
                .cmp(&other.session)
                .then_with(|| one.name.resource.cmp(&other.name.resource))
        });
        seen
    }

    /// Wakes those that wait.
    fn wake(&self, state: MutexGuard<'_, State>) {
        drop(state);
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const IS: u8 = 1;
const S: u8 = 2;
const U: u8 = 4;
const IX: u8 = 8;
const X: u8 = 16;
/// ATTENTION is to be answered within 50 ms.
const LOOK: Duration = Duration::from_millis(10);

#[cfg(test)]
mod tests {
    use super::LockMode::{Exclusive, IntentExclusive, IntentShared, Shared, SharedIntentExclusive, Update};
    use super::*;

    fn name() -> LockName {
        LockName {
            database_id: 5,
            principal: 0,
            resource: "r".to_owned(),
        }
    }

    fn take(locks: &ApplicationLocks, session: u16, mode: LockMode) -> Result<bool, NotLocked<()>> {
        let waits = Waits::default();
        let zero = Some(Duration::ZERO);
        locks.take(
            &name(),
            ((session, LockOwner::Session), mode),
            (&waits, zero),
            || Ok(()),
        )
    }

    #[test]
    fn modes_exclude_each_other_as_documented() {
        let compatible = [
            (IntentShared, IntentShared),
            (IntentShared, Shared),
            (IntentShared, Update),
            (IntentShared, IntentExclusive),
            (Shared, Shared),
            (Shared, Update),
            (IntentExclusive, IntentExclusive),
        ];
        let all = [IntentShared, Shared, Update, IntentExclusive, Exclusive];
        for one in all {
            for other in all {
                let expected = compatible.contains(&(one, other)) || compatible.contains(&(other, one));
                assert_eq!(one.is_compatible(other), expected, "{one:?} {other:?}");
            }
        }
        assert_eq!(Shared.with(IntentExclusive), SharedIntentExclusive);
    }

    #[test]
    fn a_lock_is_held_until_it_is_released_as_often_as_it_was_taken() {
        let locks = ApplicationLocks::default();
        let first = (51, LockOwner::Session);
        assert_eq!(take(&locks, 51, Exclusive), Ok(false));
        assert_eq!(take(&locks, 51, Shared), Ok(false));
        assert_eq!(take(&locks, 52, Shared), Err(NotLocked::TimedOut));
        assert_eq!(locks.mode(&name(), first), Some(Exclusive));
        assert!(!locks.would_grant(&name(), (52, LockOwner::Session), IntentShared));
        assert!(locks.release(&name(), first) && !locks.would_grant(&name(), (52, LockOwner::Session), Shared));
        assert!(locks.release(&name(), first) && !locks.release(&name(), first));
        assert_eq!(take(&locks, 52, Shared), Ok(false));
        locks.release_all(52, false);
        assert_eq!(locks.seen().len(), 1);
        locks.release_all(52, true);
        assert!(locks.seen().is_empty());
    }
}
