//! Connections before their login, which anyone can open.
//!
//! - `longest-without-login-makes-room`: the number of places is bounded. A connection that comes
//!   when all are taken gets the place of the one that has been here longest without sending a
//!   login: so half-open connections, however many, keep no client out. The new connection is
//!   refused only if all have sent a login.
//! - `login-time-is-absolute`: no connection stays beyond the login's time, however little of it
//!   each byte takes.
//! - `bounded-memory`: each connection here holds two buffers of TLS's size, a thread, and what TLS
//!   keeps: far less than 1 MiB, and may send 1 MiB.
//! - `quarter-per-address`: one address has a quarter of the places at most. If it has them all,
//!   its connection that has been here longest makes room.
//! - `eighth-is-reserved`: an eighth is reserved for loopback, which `quarter-per-address` does not
//!   limit, and for addresses from which a login has succeeded since the server started. Such a
//!   connection makes room only for another such connection, and only if no other connection can.

use std::collections::BTreeMap;
use std::net::{IpAddr, Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::lockout::{RecentMap, network};

/// The places before the login.
pub struct PendingLogins {
    guests: Mutex<Guests>,
    max: usize,
}

struct Guests {
    next: u64,
    /// In the order of arrival.
    here: BTreeMap<u64, Guest>,
    /// The networks from which a login has succeeded.
    known: RecentMap<IpAddr, ()>,
}

struct Guest {
    socket: Weak<TcpStream>,
    network: IpAddr,
    /// Whether it may take a reserved place (`eighth-is-reserved`).
    is_known: bool,
    /// Whether its login has arrived, and is being checked.
    has_sent: bool,
}

/// A place, which is released when it is dropped.
pub struct PendingLogin {
    pending_logins: Arc<PendingLogins>,
    number: u64,
}

/// A place was found.
pub struct Entered {
    /// The place.
    pub place: PendingLogin,
    /// Whether another connection was closed for it.
    pub was_taken: bool,
}

impl PendingLogins {
    /// Room for so many connections.
    pub fn new(max: usize) -> Self {
        Self {
            guests: Mutex::new(Guests {
                next: 0,
                here: BTreeMap::new(),
                known: RecentMap::new(KNOWN_GENERATION_SIZE),
            }),
            max,
        }
    }

    /// A place for a connection from this address (`longest-without-login-makes-room`, `quarter-per-address`,
    /// `eighth-is-reserved`).
    pub fn enter(self: &Arc<Self>, socket: &Arc<TcpStream>, address: IpAddr) -> Option<Entered> {
        let mut guests = self.guests();
        let network = network(address);
        let is_loopback = network.is_loopback();
        let is_known = is_loopback || guests.known.find(&network).is_some();
        let is_same = |guest: &Guest| guest.network == network;
        let is_stranger = |guest: &Guest| !guest.is_known;
        let has_own_full = !is_loopback && guests.count(is_same) >= self.of_address_max();
        let was_taken = if has_own_full {
            guests.send_away(is_same)?;
            true
        } else if !is_known && guests.count(is_stranger) >= self.of_strangers_max() {
            guests.send_away(is_stranger)?;
            true
        } else if guests.here.len() >= self.max {
            guests
                .send_away(is_stranger)
                .or_else(|| guests.send_away(|guest| is_known && guest.is_known))?;
            true
        } else {
            false
        };
        let number = guests.next;
        guests.next += 1;
        let guest = Guest {
            socket: Arc::downgrade(socket),
            network,
            is_known,
            has_sent: false,
        };
        guests.here.insert(number, guest);
        let place = PendingLogin {
            pending_logins: self.clone(),
            number,
        };
        Some(Entered { place, was_taken })
    }

    /// A login from this address has succeeded.
    pub fn note_login(&self, address: IpAddr) {
        let network = network(address);
        if !network.is_loopback() {
            self.guests().known.entry(network);
        }
    }

    /// How many places one address may have.
    fn of_address_max(&self) -> usize {
        (self.max / 4).max(1)
    }

    /// How many places there are for addresses without an earlier login.
    fn of_strangers_max(&self) -> usize {
        (self.max - self.max / 8).max(1)
    }

    fn guests(&self) -> MutexGuard<'_, Guests> {
        self.guests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Guests {
    fn count(&self, is_counted: impl Fn(&Guest) -> bool) -> usize {
        self.here.values().filter(|guest| is_counted(guest)).count()
    }

    /// Closes that of these connections which has been here longest without sending a login. `None` if there is no
    /// such connection.
    fn send_away(&mut self, may_go: impl Fn(&Guest) -> bool) -> Option<()> {
        let mut waiting = self.here.iter().filter(|(_, guest)| !guest.has_sent && may_go(guest));
        let number = waiting.next().map(|(number, _)| *number)?;
        let guest = self.here.remove(&number)?;
        if let Some(socket) = guest.socket.upgrade() {
            // A socket that its peer has closed need not be shut down.
            let _ = socket.shutdown(Shutdown::Both);
        }
        Some(())
    }
}

impl PendingLogin {
    /// Its login has arrived: it keeps the place until that is answered. False if another connection has the place by
    /// now.
    pub fn keep(&self) -> bool {
        let mut guests = self.pending_logins.guests();
        let guest = guests.here.get_mut(&self.number);
        guest.map(|guest| guest.has_sent = true).is_some()
    }
}

impl Drop for PendingLogin {
    fn drop(&mut self) {
        self.pending_logins.guests().here.remove(&self.number);
    }
}

/// 1,024 networks, or twice as many: some 100 KiB.
const KNOWN_GENERATION_SIZE: usize = 1024;

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::{Ipv4Addr, TcpListener};

    use super::*;

    /// Both ends of a connection.
    fn connection(listener: &TcpListener) -> (Arc<TcpStream>, TcpStream) {
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (Arc::new(near), listener.accept().unwrap().0)
    }

    const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

    fn address(number: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, number])
    }

    /// Takes places from an address until none is free; each has sent a login.
    fn fill(pending_logins: &Arc<PendingLogins>, socket: &Arc<TcpStream>, address: IpAddr) -> Vec<PendingLogin> {
        let mut places = Vec::new();
        while let Some(entered) = pending_logins.enter(socket, address) {
            assert!(!entered.was_taken && entered.place.keep());
            places.push(entered.place);
        }
        places
    }

    #[test]
    fn an_address_has_a_quarter_and_strangers_leave_an_eighth() {
        let listener = crate::loopback::listener();
        let (socket, _far) = connection(&listener);
        let pending_logins = Arc::new(PendingLogins::new(16));
        pending_logins.note_login(address(7));
        let mut taken = Vec::new();
        for number in 1..=3 {
            let places = fill(&pending_logins, &socket, address(number));
            assert_eq!(places.len(), 4);
            taken.extend(places);
        }
        // Addresses without an earlier login have 14 of the 16.
        assert_eq!(fill(&pending_logins, &socket, address(4)).len(), 2);
        let rest = fill(&pending_logins, &socket, address(4));
        assert!(pending_logins.enter(&socket, address(5)).is_none());
        let known = pending_logins.enter(&socket, address(7)).unwrap();
        assert!(known.place.keep());
        assert!(
            pending_logins
                .enter(&socket, LOOPBACK)
                .is_some_and(|entered| !entered.was_taken)
        );
        // Loopback alone may have all.
        drop((taken, rest, known));
        assert_eq!(fill(&pending_logins, &socket, LOOPBACK).len(), 16);
    }

    #[test]
    fn who_waits_makes_room_for_its_own_address_and_for_known_ones() {
        let listener = crate::loopback::listener();
        let (socket, _far) = connection(&listener);
        let pending_logins = Arc::new(PendingLogins::new(16));
        let enter = |address| pending_logins.enter(&socket, address).unwrap();
        let own: Vec<Entered> = (0..4).map(|_| enter(address(1))).collect();
        let other = enter(address(2));
        // Its own connection, even though there are places.
        let fifth = enter(address(1));
        assert!(fifth.was_taken && !own[0].place.keep() && own[1].place.keep() && other.place.keep());
        // A network of IPv6 is one address.
        let of_network = |last: u16| IpAddr::from([0x2001, 0xdb8, 0, 1, 0, 0, 0, last]);
        let six: Vec<Entered> = (0..4).map(|last| enter(of_network(last))).collect();
        assert!(enter(of_network(9)).was_taken && !six[0].place.keep());
        drop((own, other, fifth, six));
        // If all places are taken, a waiting connection without an earlier login makes room for loopback before
        // loopback does.
        let local: Vec<Entered> = (0..15).map(|_| enter(LOOPBACK)).collect();
        let stranger = enter(address(3));
        assert!(enter(LOOPBACK).was_taken && !stranger.place.keep() && local[0].place.keep());
        let places: Vec<Entered> = local.into_iter().chain([enter(LOOPBACK)]).collect();
        // And loopback never for such a connection.
        assert!(pending_logins.enter(&socket, address(3)).is_none());
        assert!(enter(LOOPBACK).was_taken && !places[1].place.keep());
    }

    #[test]
    fn places_are_given_back() {
        let listener = crate::loopback::listener();
        let (socket, _far) = connection(&listener);
        let pending_logins = Arc::new(PendingLogins::new(2));
        let (one, two) = (
            pending_logins.enter(&socket, LOOPBACK).unwrap(),
            pending_logins.enter(&socket, LOOPBACK).unwrap(),
        );
        assert!(one.place.keep() && two.place.keep());
        assert!(pending_logins.enter(&socket, LOOPBACK).is_none());
        drop(one);
        assert!(
            pending_logins
                .enter(&socket, LOOPBACK)
                .is_some_and(|entered| !entered.was_taken)
        );
    }

    #[test]
    fn who_has_waited_longest_without_a_login_makes_room() {
        let listener = crate::loopback::listener();
        let pairs: Vec<_> = (0..3).map(|_| connection(&listener)).collect();
        let pending_logins = Arc::new(PendingLogins::new(2));
        let first = pending_logins.enter(&pairs[0].0, LOOPBACK).unwrap();
        let second = pending_logins.enter(&pairs[1].0, LOOPBACK).unwrap();
        assert!(first.place.keep());
        let third = pending_logins.enter(&pairs[2].0, LOOPBACK).unwrap();
        assert!(third.was_taken);
        assert!(!second.place.keep());
        assert_eq!((&pairs[1].1).read(&mut [0]).unwrap(), 0);
        // Dropping a place that was taken over frees no other place.
        drop(second);
        assert!(third.place.keep());
        assert!(pending_logins.enter(&pairs[1].0, LOOPBACK).is_none());
    }
}
