//! The write queue of a database: one session writes at a time, in the order of arrival.
//!
//! - `wait-cycle-is-refused`: a session waits in one queue at a time, for the session that is first
//!   in it. So the waits form chains, and a session whose wait would make a chain a cycle gets
//!   an error instead of waiting: no other session could end that wait. A cycle is always completed
//!   by its last wait, and each session checks before it waits, under one lock. Waits for locks that clients name
//!   themselves, which may be for several sessions, count like those of the queues.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::registry::{WaitType, own};

/// Which session waits in which queue or for which others, for all databases of a server.
#[derive(Default)]
pub struct Waits(Mutex<HashMap<u16, WaitsFor>>);

/// What a session waits for.
enum WaitsFor {
    /// The first in a queue.
    First(Arc<WriteQueue>),
    /// Each of these sessions.
    Sessions(Vec<u16>),
}

impl WaitsFor {
    fn sessions(&self) -> Vec<u16> {
        match self {
            Self::First(write_queue) => write_queue.first().map(|(_, first)| first).into_iter().collect(),
            Self::Sessions(sessions) => sessions.clone(),
        }
    }
}

/// The queue of the sessions that write to one database.
#[derive(Default)]
pub struct WriteQueue {
    /// The database's id: what others see of the queue contains it.
    database_id: i32,
    queue: Mutex<Queue>,
    moved: Condvar,
}

#[derive(Default)]
struct Queue {
    next: u64,
    /// Number and session, in the order of arrival; the first writes.
    waiting: VecDeque<(u64, u16)>,
}

/// The right to write, until it is dropped.
pub struct WritePermit {
    write_queue: Arc<WriteQueue>,
    number: u64,
}

/// Why a session does not get its turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoPermit<E> {
    /// It took too long.
    TimedOut,
    /// The poll returned a reason to stop.
    Stopped(E),
    /// The first in the queue waits, through however many others, for the session that would wait here.
    Deadlock,
}

impl WriteQueue {
    /// The queue of a database.
    pub fn of(database_id: i32) -> Arc<Self> {
        Arc::new(Self {
            database_id,
            ..Self::default()
        })
    }

    /// Waits as `session` for its turn, `timeout` at most, and calls `poll` meanwhile every few milliseconds.
    ///
    /// # Errors
    /// [`NoPermit`].
    pub fn enter<E>(
        self: &Arc<Self>,
        (session, waits): (u16, &Waits),
        timeout: Duration,
        poll: impl FnMut() -> Result<(), E>,
    ) -> Result<WritePermit, NoPermit<E>> {
        let mut queue = self.lock();
        let number = queue.next;
        queue.next += 1;
        queue.waiting.push_back((number, session));
        let is_first = queue.waiting.len() == 1;
        drop(queue);
        let permit = WritePermit {
            write_queue: self.clone(),
            number,
        };
        if is_first {
            own::note_lock(self.database_id, true);
            return Ok(permit);
        }
        if !waits.begin((session, number), self) {
            return Err(NoPermit::Deadlock);
        }
        own::note_lock(self.database_id, false);
        let waited = self.wait(number, timeout, poll);
        waits.end(session);
        waited.map(|()| {
            own::note_lock(self.database_id, true);
            permit
        })
    }

    fn wait<E>(
        &self,
        number: u64,
        timeout: Duration,
        mut poll: impl FnMut() -> Result<(), E>,
    ) -> Result<(), NoPermit<E>> {
        let until = Instant::now() + timeout;
        let wait = own::begin_wait(WaitType::LockExclusive);
        let mut queue = self.lock();
        while let Some((first, session)) = queue.waiting.front().copied()
            && first != number
        {
            wait.blocked_by(session);
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(NoPermit::TimedOut);
            }
            let left = left.min(LOOK);
            let waited = self
                .moved
                .wait_timeout(queue, left)
                .unwrap_or_else(PoisonError::into_inner);
            drop(waited);
            poll().map_err(NoPermit::Stopped)?;
            queue = self.lock();
        }
        Ok(())
    }

    /// The number and the session whose turn it is.
    fn first(&self) -> Option<(u64, u16)> {
        self.lock().waiting.front().copied()
    }

    /// How many wait or write.
    #[cfg(test)]
    fn count(&self) -> usize {
        self.lock().waiting.len()
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waits {
    /// Notes that a session waits for the turn of its number; false if it would wait for itself
    /// (`wait-cycle-is-refused`).
    fn begin(&self, (session, number): (u16, u64), write_queue: &Arc<WriteQueue>) -> bool {
        let mut waits = self.lock();
        // Once: the session before it may leave at any time.
        let first = write_queue.first();
        if first.is_some_and(|(first, _)| first == number) {
            // It does not wait at all.
            return true;
        }
        if leads_to(&waits, first.map(|(_, first)| first).into_iter().collect(), session) {
            return false;
        }
        waits.insert(session, WaitsFor::First(write_queue.clone()));
        true
    }

    /// Notes that a session waits for others; false if it would wait for itself (`wait-cycle-is-refused`).
    pub fn begin_behind(&self, session: u16, others: Vec<u16>) -> bool {
        let mut waits = self.lock();
        if leads_to(&waits, others.clone(), session) {
            return false;
        }
        waits.insert(session, WaitsFor::Sessions(others));
        true
    }

    /// A session waits no longer.
    pub fn end(&self, session: u16) {
        self.lock().remove(&session);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u16, WaitsFor>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether one of these sessions is `session`, or waits for it through however many others.
fn leads_to(waits: &HashMap<u16, WaitsFor>, mut next: Vec<u16>, session: u16) -> bool {
    let mut followed = Vec::new();
    while let Some(one) = next.pop() {
        if one == session {
            return true;
        }
        if !followed.contains(&one) {
            followed.push(one);
            next.extend(waits.get(&one).map(WaitsFor::sessions).unwrap_or_default());
        }
    }
    false
}

impl Drop for WritePermit {
    fn drop(&mut self) {
        own::forget_lock(self.write_queue.database_id);
        self.write_queue
            .lock()
            .waiting
            .retain(|(number, _)| *number != self.number);
        self.write_queue.moved.notify_all();
    }
}

/// ATTENTION is to be answered within 50 ms.
const LOOK: Duration = Duration::from_millis(10);

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(3600);

    fn free() -> Result<(), ()> {
        Ok(())
    }

    #[test]
    fn turns_come_in_the_order_of_coming() {
        let write_queue = Arc::new(WriteQueue::default());
        let waits = Waits::default();
        let order = Arc::new(Mutex::new(Vec::new()));
        let first = write_queue.enter((50, &waits), LONG, free).unwrap();
        std::thread::scope(|scope| {
            for number in 0..5_u16 {
                let (others, order, waits) = (write_queue.clone(), order.clone(), &waits);
                scope.spawn(move || {
                    let permit = others.enter((51 + number, waits), LONG, free).unwrap();
                    order.lock().unwrap().push(number);
                    drop(permit);
                });
                while write_queue.count() < usize::from(number) + 2 {
                    std::thread::yield_now();
                }
            }
            drop(first);
        });
        assert_eq!(*order.lock().unwrap(), [0, 1, 2, 3, 4]);
        assert_eq!(write_queue.count(), 0);
    }

    #[test]
    fn turns_that_pass_while_a_session_comes_are_no_cycle() {
        let write_queue = Arc::new(WriteQueue::default());
        let waits = Waits::default();
        std::thread::scope(|scope| {
            for session in 50..52_u16 {
                let (write_queue, waits) = (write_queue.clone(), &waits);
                scope.spawn(move || {
                    for turn in 0..50_000 {
                        let permit = write_queue.enter((session, waits), LONG, free);
                        assert!(permit.is_ok(), "session {session}, turn {turn}");
                        // Leaves at each moment of the other's coming.
                        (0..turn % 64).for_each(|_| std::hint::spin_loop());
                    }
                });
            }
        });
        assert_eq!(write_queue.count(), 0);
    }

    #[test]
    fn a_session_that_became_first_does_not_wait() {
        let write_queue = Arc::new(WriteQueue::default());
        let waits = Waits::default();
        write_queue.lock().waiting.push_back((7, 50));
        assert!(waits.begin((50, 7), &write_queue));
        assert!(!waits.begin((50, 8), &write_queue));
    }

    #[test]
    fn a_session_that_times_out_or_is_interrupted_leaves_the_queue() {
        let write_queue = Arc::new(WriteQueue::default());
        let waits = Waits::default();
        let first = write_queue.enter((50, &waits), LONG, free).unwrap();
        let late = write_queue.enter((51, &waits), Duration::ZERO, free);
        assert!(matches!(late, Err(NoPermit::TimedOut)));
        let told = write_queue.enter((51, &waits), LONG, || Err("attention"));
        assert!(matches!(told, Err(NoPermit::Stopped("attention"))));
        assert_eq!(write_queue.count(), 1);
        assert!(waits.lock().is_empty());
        drop(first);
        assert!(write_queue.enter((51, &waits), Duration::ZERO, free).is_ok());
    }

    #[test]
    fn a_wait_that_would_complete_a_cycle_is_refused() {
        let queues: Vec<Arc<WriteQueue>> = (0..3).map(|_| Arc::default()).collect();
        let waits = Waits::default();
        let turns: Vec<WritePermit> = (0..3_u16)
            .zip(&queues)
            .map(|(session, write_queue)| write_queue.enter((session, &waits), LONG, free).unwrap())
            .collect();
        std::thread::scope(|scope| {
            for session in 0..2_u16 {
                let (next, waits) = (queues[usize::from(session) + 1].clone(), &waits);
                scope.spawn(move || next.enter((session, waits), LONG, free).map(drop));
                while waits.lock().len() < usize::from(session) + 1 {
                    std::thread::yield_now();
                }
            }
            let cycle = queues[0].enter((2, &waits), LONG, free);
            assert!(matches!(cycle, Err(NoPermit::Deadlock)));
            drop(turns);
        });
        assert!(waits.lock().is_empty());
    }
}
