//! What comes before the login, where anybody can be.
//!
//! B1. There is a bounded number of places; who finds none is sent away.
//! B2. Nobody stays beyond the login's time, however little of it each byte takes.
//! B3. Whoever is here holds two buffers of TLS's size, a thread, and what TLS keeps: far less than 1 MiB, and may send 1 MiB.

mod greeting;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

pub use greeting::{Arrival, greet};

/// The places before the login.
pub struct Lobby {
    taken: AtomicUsize,
    max: usize,
}

/// A place, given back when it is dropped.
pub struct LobbyPlace(Arc<Lobby>);

impl Lobby {
    /// A lobby with so many places.
    pub fn new(max: usize) -> Self {
        Self {
            taken: AtomicUsize::new(0),
            max,
        }
    }

    /// A place, if one is free.
    pub fn enter(self: &Arc<Self>) -> Option<LobbyPlace> {
        let more = |taken| (taken < self.max).then_some(taken + 1);
        let entered = self.taken.fetch_update(Ordering::AcqRel, Ordering::Acquire, more);
        entered.is_ok().then(|| LobbyPlace(self.clone()))
    }
}

impl Drop for LobbyPlace {
    fn drop(&mut self) {
        self.0.taken.fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_given_back() {
        let lobby = Arc::new(Lobby::new(2));
        let (one, two) = (lobby.enter(), lobby.enter());
        assert!(one.is_some() && two.is_some());
        assert!(lobby.enter().is_none());
        drop(one);
        assert!(lobby.enter().is_some());
    }
}
