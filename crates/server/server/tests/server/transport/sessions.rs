//! Many sessions, and how they end.

use std::io::Read;

use selenite_server::Status;
use selenite_tds::EncryptionMode;

use super::bench::Bench;
use super::client::{Client, Mode};

#[test]
fn two_hundred_sessions_are_served_at_a_time() {
    let mut bench = Bench::of(EncryptionMode::Optional);
    let modes = [Mode::Plain, Mode::Off, Mode::On, Mode::Strict];
    let mut clients: Vec<Client> = std::thread::scope(|scope| {
        let bench = &bench;
        let connecting: Vec<_> = modes
            .iter()
            .map(|&mode| scope.spawn(move || (0..50).map(|_| bench.client(mode)).collect::<Vec<_>>()))
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
    let sessions = bench.running().instance().registry().sessions();
    let spids: Vec<u16> = sessions.iter().map(|session| session.spid()).collect();
    assert_eq!(spids, (51..251).collect::<Vec<_>>());
    bench.stop();
    for client in &mut clients {
        client.wait_for_end();
    }
}

#[test]
fn kill_ends_a_session_that_sleeps_and_one_that_runs() {
    let bench = Bench::new();
    let registry = bench.running().instance().registry();
    assert!(!registry.kill(51));
    for request in [None, Some("wait"), Some("endless")] {
        let mut client = bench.client(Mode::On);
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
    assert!(bench.client(Mode::On).works());
}

/// `writes-wait-for-the-client`: the client does not read, and so nothing is written, until the session is ended.
#[test]
fn a_client_that_does_not_read_stops_its_own_query_and_no_other() {
    for mode in [Mode::Plain, Mode::On] {
        let bench = Bench::of(EncryptionMode::Optional);
        let registry = bench.running().instance().registry();
        let mut deaf = bench.client(mode);
        deaf.ask("endless").unwrap();
        let session = registry.session(51).unwrap();
        // It has stopped when the system's buffers are full: then its thread costs nothing any more.
        let mut before = u64::MAX;
        let mut same = 0;
        while same < 100 {
            let written = session.traffic().bytes_written;
            same = if written == before { same + 1 } else { 0 };
            before = written;
            assert!(bench.client(mode).works());
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
    let bench = Bench::new();
    let registry = bench.running().instance().registry();
    for request in ["wait", "endless", "row"] {
        let mut client = bench.client(Mode::On);
        client.ask(request).unwrap();
        drop(client);
        while !registry.sessions().is_empty() {
            std::thread::yield_now();
        }
    }
}

#[test]
fn stopping_ends_sessions_that_run_sleep_or_have_not_logged_in() {
    let mut bench = Bench::new();
    let mut idle = bench.client(Mode::On);
    let mut waits = bench.client(Mode::On);
    waits.ask("wait").unwrap();
    let mut deaf = bench.client(Mode::On);
    deaf.ask("endless").unwrap();
    let mut stranger = bench.connect(Mode::On);
    let silent = Client::open(bench.address()).unwrap();
    let running = bench.running.take().unwrap();
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
    let mut bench = Bench::new();
    let mut other = bench.client(Mode::On);
    for word in ["fatal", "panic"] {
        let mut client = bench.client(Mode::On);
        client.ask(word).unwrap();
        client.wait_for_end();
        while bench.running().instance().registry().sessions().len() > 1 {
            std::thread::yield_now();
        }
    }
    assert!(other.works());
    assert!(bench.has_said("ended by an error"));
    bench.stop();
}
