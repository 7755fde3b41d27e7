use std::net::{SocketAddr, TcpStream};
use std::time::SystemTime;

use selenite_tds::{PacketSize, TdsVersion};

use super::*;

fn facts(address: SocketAddr) -> SessionFacts {
    SessionFacts {
        login: "sa".to_owned(),
        sid: [1; 16],
        is_administrator: false,
        host: "host".to_owned(),
        program: "test".to_owned(),
        library: "library".to_owned(),
        client_version: 7,
        client_process: 1,
        peer: address,
        local: address,
        is_encrypted: false,
        tds_version: TdsVersion::V7_4,
        packet_size: PacketSize::DEFAULT,
        connected: SystemTime::now(),
    }
}

fn enter(registry: &Registry) -> Option<Presence<'_>> {
    enter_as(registry, 1, false).ok()
}

fn enter_as(registry: &Registry, login: u8, is_administrator: bool) -> Result<Presence<'_>, NoPlace> {
    let listener = crate::loopback::listener();
    let address = listener.local_addr().unwrap();
    let socket = Arc::new(TcpStream::connect(address).unwrap());
    let facts = SessionFacts {
        sid: [login; 16],
        is_administrator,
        ..facts(address)
    };
    registry.enter(facts, Arc::default(), Arc::new(CancelHandle::new(&socket)))
}

fn limits(max: usize, per_login: usize, administrators: usize) -> SessionLimits {
    SessionLimits {
        max,
        per_login,
        administrators,
    }
}

#[test]
fn a_login_has_its_share_and_an_administrator_a_place_when_all_are_taken() {
    let registry = Registry::new(limits(3, 2, 1));
    let mut places = vec![
        enter_as(&registry, 1, false).unwrap(),
        enter_as(&registry, 1, false).unwrap(),
    ];
    assert_eq!(enter_as(&registry, 1, false).err(), Some(NoPlace::Login(2)));
    places.push(enter_as(&registry, 2, false).unwrap());
    assert_eq!(enter_as(&registry, 3, false).err(), Some(NoPlace::Server(3)));
    places.push(enter_as(&registry, 4, true).unwrap());
    assert_eq!(enter_as(&registry, 4, true).err(), Some(NoPlace::Server(3)));
    drop(places);
    let places: Vec<_> = (0..4).map(|_| enter_as(&registry, 4, true).unwrap()).collect();
    assert_eq!(places.len(), 4);
}

#[test]
fn the_lowest_number_that_is_free_is_given_from_51_up() {
    let registry = Registry::new(limits(3, 3, 0));
    let places: Vec<_> = (0..3).map(|_| enter(&registry).unwrap()).collect();
    let spids: Vec<u16> = places.iter().map(|place| place.entry().spid()).collect();
    assert_eq!(spids, [51, 52, 53]);
    assert!(enter(&registry).is_none());
    let mut places = places.into_iter();
    drop(places.next());
    assert_eq!(enter(&registry).unwrap().entry().spid(), 51);
    drop(places);
    assert!(registry.sessions().is_empty());
}

#[test]
fn there_are_no_more_sessions_than_numbers() {
    assert_eq!(
        Registry::new(limits(usize::MAX, usize::MAX, 1)).limits(),
        limits(32_716, 32_716, 1)
    );
}

#[test]
fn what_a_thread_has_cost_is_counted_after_its_end() {
    let registry = Registry::new(limits(3, 3, 0));
    let switches = std::thread::scope(|scope| {
        let session = scope.spawn(|| {
            let place = enter(&registry).unwrap();
            place.entry().wake();
            let (begin, begins) = std::sync::mpsc::channel::<()>();
            let other = scope.spawn({
                let entry = place.entry().clone();
                move || {
                    let _own = entry.adopt_this_thread();
                    // No one sends: it gives its processor up until this thread has seen that it did.
                    begins.recv().unwrap_err();
                }
            });
            while place.entry().figures().switches < 1 {
                std::thread::yield_now();
            }
            drop(begin);
            other.join().unwrap();
            let figures = place.entry().figures();
            place.entry().rest();
            assert_eq!(place.entry().status(), Status::Sleeping);
            figures.switches
        });
        session.join().unwrap()
    });
    assert!(switches >= 1);
    assert!(registry.context_switches() >= switches);
    assert!(!registry.cpu().is_zero());
}

#[test]
fn a_session_that_is_killed_knows_it() {
    let registry = Registry::new(limits(3, 3, 0));
    let place = enter(&registry).unwrap();
    assert!(!place.entry().is_ending());
    assert!(!registry.kill(52));
    assert!(registry.kill(51));
    assert!(place.entry().is_ending());
    assert_eq!(place.entry().cancel_handle().cancelled(), Some(CancelReason::Killed));
}
