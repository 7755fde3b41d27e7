//! Many sessions, and how they end.

use std::io::Read;

use selenite_server::Status;
use selenite_tds::EncryptionMode;

use super::client::{Client, Mode};
use super::fixture::Fixture;

#[test]
fn two_hundred_sessions_are_served_at_a_time() {
    let mut fixture = Fixture::of(EncryptionMode::Optional);
    let modes = [Mode::Plain, Mode::Off, Mode::On, Mode::Strict];
    let mut clients: Vec<Client> = std::thread::scope(|scope| {
        let fixture = &fixture;
        let connecting: Vec<_> = modes
            .iter()
            .map(|&mode| scope.spawn(move || (0..50).map(|_| fixture.client(mode)).collect::<Vec<_>>()))
            .collect();
        connecting
            .into_iter()
            .flat_map(|thread| thread.join().unwrap())
            .collect()
    });
    assert_eq!(clients.len(), 200);
    for client in &mut clients {
        client.ask("row").unwrap();
    }
    for client in &mut clients {
        assert_eq!(client.answer().unwrap().rows().len(), 1);
    }
    let sessions = fixture.running().instance().registry().sessions();
    let spids: Vec<u16> = sessions.iter().map(|session| session.spid()).collect();
    assert_eq!(spids, (51..251).collect::<Vec<_>>());
    fixture.stop();
    for client in &mut clients {
        client.wait_for_end();
    }
}

#[test]
fn kill_ends_a_session_that_sleeps_and_one_that_runs() {
    let fixture = Fixture::new();
    let registry = fixture.running().instance().registry();
    assert!(!registry.kill(51));
    for request in [None, Some("wait"), Some("endless")] {
        let mut client = fixture.client(Mode::On);
        if let Some(request) = request {
            client.ask(request).unwrap();
            while registry.session(51).unwrap().status() == Status::Sleeping {
                std::thread::yield_now();
            }
        }
        assert!(registry.kill(51));
        client.wait_for_end();
        while !registry.sessions().is_empty() {
            std::thread::yield_now();
        }
    }
    assert!(fixture.client(Mode::On).works());
}

/// `writes-wait-for-the-client`: the client does not read, and so nothing is written, until the session is ended.
#[test]
fn a_client_that_does_not_read_stops_its_own_query_and_no_other() {
    for mode in [Mode::Plain, Mode::On] {
        let fixture = Fixture::of(EncryptionMode::Optional);
        let registry = fixture.running().instance().registry();
        let mut deaf = fixture.client(mode);
        deaf.ask("endless").unwrap();
        let session = registry.session(51).unwrap();
        // It has stopped when the system's buffers are full: then its thread costs nothing any more.
        let mut before = u64::MAX;
        let mut same = 0;
        while same < 100 {
            let written = session.traffic().bytes_written;
            same = if written == before { same + 1 } else { 0 };
            before = written;
            assert!(fixture.client(mode).works());
        }
        assert!(before < 64 << 20, "{before} bytes are held for one who does not read");
        assert!(registry.kill(51));
        while registry.session(51).is_some() {
            std::thread::yield_now();
        }
        // What was on its way still came.
        let mut rest = Vec::new();
        let _ = deaf.socket.read_to_end(&mut rest);
        assert!(!rest.is_empty());
    }
}

#[test]
fn a_client_that_leaves_ends_what_it_has_running() {
    let fixture = Fixture::new();
    let registry = fixture.running().instance().registry();
    for request in ["wait", "endless", "row"] {
        let mut client = fixture.client(Mode::On);
        client.ask(request).unwrap();
        drop(client);
        while !registry.sessions().is_empty() {
            std::thread::yield_now();
        }
    }
}

#[test]
fn stopping_ends_sessions_that_run_sleep_or_have_not_logged_in() {
    let mut fixture = Fixture::new();
    let mut idle = fixture.client(Mode::On);
    let mut waits = fixture.client(Mode::On);
    waits.ask("wait").unwrap();
    let mut deaf = fixture.client(Mode::On);
    deaf.ask("endless").unwrap();
    let mut stranger = fixture.connect(Mode::On);
    let silent = Client::open(fixture.address()).unwrap();
    let running = fixture.running.take().unwrap();
    let (address, instance) = (running.address(), running.instance().clone());
    running.stop();
    assert!(instance.registry().sessions().is_empty());
    for client in [&mut idle, &mut waits, &mut deaf, &mut stranger] {
        client.wait_for_end();
    }
    drop(silent);
    assert!(Client::open(address).is_err());
}

#[test]
fn a_front_that_ends_a_session_or_panics_ends_its_connection_and_no_other() {
    let mut fixture = Fixture::new();
    let mut other = fixture.client(Mode::On);
    for word in ["fatal", "panic"] {
        let mut client = fixture.client(Mode::On);
        client.ask(word).unwrap();
        client.wait_for_end();
        while fixture.running().instance().registry().sessions().len() > 1 {
            std::thread::yield_now();
        }
    }
    assert!(other.works());
    assert!(fixture.has_said("ended by an error"));
    fixture.stop();
}
