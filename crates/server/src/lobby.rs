//! What comes before the login, where anybody can be.
//!
//! B1. There is a bounded number of places. Whoever comes when all are taken gets that of who has been here longest without sending a
//!     login: so no crowd of half-open connections keeps anybody out. Only if all have sent one is the newcomer sent away.
//! B2. Nobody stays beyond the login's time, however little of it each byte takes.
//! B3. Whoever is here holds two buffers of TLS's size, a thread, and what TLS keeps: far less than 1 MiB, and may send 1 MiB.

mod greeting;

use std::collections::BTreeMap;
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

pub use greeting::{Arrival, greet};

/// The places before the login.
pub struct Lobby {
    guests: Mutex<Guests>,
    max: usize,
}

#[derive(Default)]
struct Guests {
    next: u64,
    /// In the order of coming.
    here: BTreeMap<u64, Guest>,
}

struct Guest {
    socket: Weak<TcpStream>,
    /// Whether its login has come, and is being looked at.
    has_sent: bool,
}

/// A place, given back when it is dropped.
pub struct LobbyPlace {
    lobby: Arc<Lobby>,
    number: u64,
}

/// A place was found.
pub struct Entered {
    /// The place.
    pub place: LobbyPlace,
    /// Whether somebody was sent away for it.
    pub was_taken: bool,
}

impl Lobby {
    /// A lobby with so many places.
    pub fn new(max: usize) -> Self {
        Self {
            guests: Mutex::default(),
            max,
        }
    }

    /// A place for a connection (B1).
    pub fn enter(self: &Arc<Self>, socket: &Arc<TcpStream>) -> Option<Entered> {
        let mut guests = self.guests();
        let was_taken = guests.here.len() >= self.max;
        if was_taken {
            let oldest = guests.here.iter().find(|(_, guest)| !guest.has_sent);
            let number = oldest.map(|(number, _)| *number)?;
            let guest = guests.here.remove(&number)?;
            if let Some(socket) = guest.socket.upgrade() {
                // One that its peer has closed needs none of it.
                let _ = socket.shutdown(Shutdown::Both);
            }
        }
        let number = guests.next;
        guests.next += 1;
        let guest = Guest {
            socket: Arc::downgrade(socket),
            has_sent: false,
        };
        guests.here.insert(number, guest);
        let place = LobbyPlace {
            lobby: self.clone(),
            number,
        };
        Some(Entered { place, was_taken })
    }

    fn guests(&self) -> MutexGuard<'_, Guests> {
        self.guests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LobbyPlace {
    /// Its login has come: it keeps the place until that is answered. False if the place is somebody else's by now.
    pub fn keep(&self) -> bool {
        let mut guests = self.lobby.guests();
        let guest = guests.here.get_mut(&self.number);
        guest.map(|guest| guest.has_sent = true).is_some()
    }
}

impl Drop for LobbyPlace {
    fn drop(&mut self) {
        self.lobby.guests().here.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::TcpListener;

    use super::*;

    /// Both ends of a connection.
    fn connection(listener: &TcpListener) -> (Arc<TcpStream>, TcpStream) {
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (Arc::new(near), listener.accept().unwrap().0)
    }

    #[test]
    fn places_are_given_back() {
        let listener = crate::loopback::listener();
        let (socket, _far) = connection(&listener);
        let lobby = Arc::new(Lobby::new(2));
        let (one, two) = (lobby.enter(&socket).unwrap(), lobby.enter(&socket).unwrap());
        assert!(one.place.keep() && two.place.keep());
        assert!(lobby.enter(&socket).is_none());
        drop(one);
        assert!(lobby.enter(&socket).is_some_and(|entered| !entered.was_taken));
    }

    #[test]
    fn who_has_waited_longest_without_a_login_makes_room() {
        let listener = crate::loopback::listener();
        let pairs: Vec<_> = (0..3).map(|_| connection(&listener)).collect();
        let lobby = Arc::new(Lobby::new(2));
        let first = lobby.enter(&pairs[0].0).unwrap();
        let second = lobby.enter(&pairs[1].0).unwrap();
        assert!(first.place.keep());
        let third = lobby.enter(&pairs[2].0).unwrap();
        assert!(third.was_taken);
        assert!(!second.place.keep());
        assert_eq!((&pairs[1].1).read(&mut [0]).unwrap(), 0);
        // Who has gone already takes no place with it.
        drop(second);
        assert!(third.place.keep());
        assert!(lobby.enter(&pairs[1].0).is_none());
    }
}
