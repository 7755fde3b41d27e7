//! Who may write to a database: one session at a time, in the order of coming.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::registry::{WaitType, own};

/// The queue of those who write to one database.
#[derive(Default)]
pub struct Turnstile {
    /// Which: what others see of the queue says so.
    database_id: i32,
    queue: Mutex<Queue>,
    moved: Condvar,
}

#[derive(Default)]
struct Queue {
    next: u64,
    /// In the order of coming; the first writes.
    waiting: VecDeque<Place>,
}

/// A place in the queue.
#[derive(Clone, Copy)]
struct Place {
    number: u64,
    /// Whose it is; 0 of a thread without a session.
    spid: u16,
}

/// The right to write, until it is dropped.
pub struct Turn {
    turnstile: Arc<Turnstile>,
    number: u64,
}

/// Why it is nobody's turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoTurn<E> {
    /// It took too long.
    TimedOut,
    /// Whoever was asked meanwhile says so.
    Stopped(E),
}

impl Turnstile {
    /// That of a database.
    pub fn of(database_id: i32) -> Arc<Self> {
        Arc::new(Self {
            database_id,
            ..Self::default()
        })
    }

    /// Waits for its turn, `patience` at most, and asks `poll` meanwhile every few milliseconds.
    ///
    /// # Errors
    /// [`NoTurn`].
    pub fn enter<E>(
        self: &Arc<Self>,
        patience: Option<Duration>,
        mut poll: impl FnMut() -> Result<(), E>,
    ) -> Result<Turn, NoTurn<E>> {
        let until = patience.map(|patience| Instant::now() + patience);
        let mut queue = self.lock();
        let number = queue.next;
        queue.next += 1;
        queue.waiting.push_back(Place {
            number,
            spid: own::spid(),
        });
        let turn = Turn {
            turnstile: self.clone(),
            number,
        };
        let mut wait = None;
        while let Some(first) = queue.waiting.front().copied()
            && first.number != number
        {
            let wait = wait.get_or_insert_with(|| {
                own::note_lock(self.database_id, false);
                own::begin_wait(WaitType::LockExclusive)
            });
            wait.blocked_by(first.spid);
            if until.is_some_and(|until| Instant::now() >= until) {
                drop(queue);
                drop(turn);
                return Err(NoTurn::TimedOut);
            }
            let left = until.map_or(LOOK, |until| until.saturating_duration_since(Instant::now()).min(LOOK));
            let waited = self
                .moved
                .wait_timeout(queue, left)
                .unwrap_or_else(PoisonError::into_inner);
            drop(waited);
            if let Err(stop) = poll() {
                drop(turn);
                return Err(NoTurn::Stopped(stop));
            }
            queue = self.lock();
        }
        drop(queue);
        drop(wait);
        own::note_lock(self.database_id, true);
        Ok(turn)
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

impl Drop for Turn {
    fn drop(&mut self) {
        own::forget_lock(self.turnstile.database_id);
        let mut queue = self.turnstile.lock();
        queue.waiting.retain(|place| place.number != self.number);
        drop(queue);
        self.turnstile.moved.notify_all();
    }
}

/// ATTENTION is to be answered within 50 ms.
const LOOK: Duration = Duration::from_millis(10);

#[cfg(test)]
mod tests {
    use super::*;

    fn free() -> Result<(), ()> {
        Ok(())
    }

    #[test]
    fn turns_come_in_the_order_of_coming() {
        let turnstile = Arc::new(Turnstile::default());
        let order = Arc::new(Mutex::new(Vec::new()));
        let first = turnstile.enter(None, free).unwrap();
        std::thread::scope(|scope| {
            for number in 0..5 {
                let (others, order) = (turnstile.clone(), order.clone());
                scope.spawn(move || {
                    let turn = others.enter(None, free).unwrap();
                    order.lock().unwrap().push(number);
                    drop(turn);
                });
                while turnstile.count() < number + 2 {
                    std::thread::yield_now();
                }
            }
            drop(first);
        });
        assert_eq!(*order.lock().unwrap(), [0, 1, 2, 3, 4]);
        assert_eq!(turnstile.count(), 0);
    }

    #[test]
    fn who_waits_too_long_or_is_told_to_stop_leaves_the_queue() {
        let turnstile = Arc::new(Turnstile::default());
        let first = turnstile.enter(None, free).unwrap();
        let late = turnstile.enter(Some(Duration::ZERO), free);
        assert!(matches!(late, Err(NoTurn::TimedOut)));
        let told = turnstile.enter(None, || Err("attention"));
        assert!(matches!(told, Err(NoTurn::Stopped("attention"))));
        assert_eq!(turnstile.count(), 1);
        drop(first);
        assert!(turnstile.enter(Some(Duration::ZERO), free).is_ok());
    }
}
