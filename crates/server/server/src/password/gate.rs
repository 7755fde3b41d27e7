//! How many passwords are stretched at a time.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Instant;

use super::PasswordFault;

/// Lets a bounded number in at a time.
pub struct PasswordGate {
    free: Mutex<usize>,
    came_free: Condvar,
}

/// A place, given back when it is dropped.
pub struct PasswordPlace<'a>(&'a PasswordGate);

impl PasswordGate {
    /// A gate with so many places, at least one.
    pub fn new(place_count: usize) -> Self {
        Self {
            free: Mutex::new(place_count.max(1)),
            came_free: Condvar::new(),
        }
    }

    /// Waits for a place, but not beyond `deadline`.
    ///
    /// # Errors
    /// [`PasswordFault::Crowded`].
    pub fn enter(&self, deadline: Instant) -> Result<PasswordPlace<'_>, PasswordFault> {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        while *free == 0 {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(PasswordFault::Crowded);
            }
            let waited = self.came_free.wait_timeout(free, left);
            free = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        *free -= 1;
        Ok(PasswordPlace(self))
    }
}

impl Drop for PasswordPlace<'_> {
    fn drop(&mut self) {
        *self.0.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.came_free.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn who_finds_no_place_until_the_deadline_is_sent_away() {
        let gate = PasswordGate::new(1);
        let place = gate.enter(Instant::now()).unwrap();
        assert_eq!(gate.enter(Instant::now()).err(), Some(PasswordFault::Crowded));
        std::thread::scope(|scope| {
            let later = Instant::now() + Duration::from_secs(60);
            let gate = &gate;
            let waits = scope.spawn(move || gate.enter(later).map(drop));
            drop(place);
            assert_eq!(waits.join().unwrap(), Ok(()));
        });
    }
}
